//! What a project's file may set without being asked about (R6).

use super::*;
use crate::config::brought::Sensitivity;
use crate::config::shape;
use crate::messages::Messages;

#[test]
fn r6_every_setting_is_classified() {
    let one_of_each = |_: &crate::config::path::KeyPath| vec!["x".to_owned()];
    let (mut harmless, mut unclassified) = (Vec::new(), Vec::new());
    for path in shape::root().leaves(&one_of_each) {
        match shape::root().leaf(&path).unwrap().sensitivity {
            Sensitivity::Harmless => harmless.push(path.to_string()),
            Sensitivity::For(_) | Sensitivity::Tighten | Sensitivity::Add | Sensitivity::Own => {}
            Sensitivity::Unclassified => unclassified.push(path.to_string()),
        }
    }
    assert_eq!(
        unclassified,
        [] as [String; 0],
        "say with x-trust in types.rs what a project could do with it"
    );
    // Whoever adds to this list has made sure that it runs nothing, names no address and no credential, and tells agents nothing.
    assert_eq!(
        harmless,
        [
            "language",
            "glyphs",
            "mouse",
            "keep_awake",
            // A project can only make it stricter.
            "main_branch",
            "agents.x.loop_enabled",
            "agents.x.max_iterations",
            "agents.x.completion_promise",
            "agents.x.session",
            "agents.x.model",
            "agents.x.context_tokens",
            "spawn_task.max_concurrent",
            "spawn_task.context_passing.enabled",
            "spawn_task.context_passing.auto_commit",
            "spawn_task.context_passing.generate_summary",
            "spawn_task.context_passing.summary_max_tokens",
            "spawn_task.context_passing.context_max_tokens",
            "spawn_task.context_passing.commit_message_model",
            "spawn_task.context_passing.summary_model",
            "worktree.setup_timeout",
            "worktree.git_timeout",
            "milestone.max_iterations_per_milestone",
            "milestone.call_timeout",
            "milestone.max_consecutive_rejections",
        ]
    );
}

#[test]
fn r6_what_a_project_sets_counts_only_when_it_is_confirmed() {
    let project = "language = 'zh-TW'\nchecks = ['theirs']\n[agents.x]\nmodel = 'm'\ncommand = ['theirs']\n";
    let mut case = Case::new("checks = ['mine']\neditor = 'mine'\n", project, &[("DACAPO_EDITOR", "env")]);
    let loaded = case.unconfirmed();
    assert_eq!(loaded.config.checks, Some(vec!["mine".to_owned()]));
    assert_eq!(loaded.config.agents["x"].command, None);
    assert_eq!(loaded.config.agents["x"].model.as_deref(), Some("m"));
    assert_eq!(loaded.config.language, Language::TraditionalChinese);
    let Project::Unconfirmed { brought, then } = loaded.project else { panic!("{:?}", loaded.project) };
    let keys: Vec<&str> = brought.entries.iter().map(|entry| entry.key.as_str()).collect();
    assert_eq!(keys, ["agents.x.command", "checks"]);
    case.sources.confirmed.0.insert(brought.hash.clone());
    let loaded = case.unconfirmed();
    assert_eq!(loaded, *then);
    assert_eq!(loaded.project, Project::Confirmed(brought));
    assert_eq!(loaded.config.checks, Some(vec!["theirs".to_owned()]));
    assert_eq!(loaded.config.editor.as_deref(), Some("env"));
    assert_eq!(Case::user("checks = ['mine']").unconfirmed().project, Project::Harmless);
}

#[test]
fn r6_a_hash_stands_for_the_sensitive_settings_alone() {
    let hash = |project: &str| match Case::new("", project, &[]).unconfirmed().project {
        Project::Unconfirmed { brought, .. } => brought.hash,
        other => panic!("{other:?}"),
    };
    let settings = "checks = ['a', 'b']\n[notify]\ncommand = 'x'\n";
    // Part of the interface: with another one everybody would have to confirm everything anew.
    assert_eq!(hash(settings), "f6273191826edb7e55910010e69f427c8f4cd49d97d57fa2eb21f2b7a5edfd7e");
    let same =
        "# comment\nlanguage = 'en'\nnotify.command = \"\"\"x\"\"\"\nchecks = [\n  \"a\",\n  \"b\",\n]\n";
    assert_eq!(hash(same), hash(settings));
    for other in [
        "checks = ['a', 'b']\n",
        "checks = ['b', 'a']\n[notify]\ncommand = 'x'\n",
        "checks = ['a\", \"b']\n[notify]\ncommand = 'x'\n",
        "checks = ['a', 'b']\n[notify]\ncommand = 'x '\n",
        "checks = ['a', 'b']\n[notify]\ncommand = 'x'\ndesktop = true\n",
    ] {
        assert_ne!(hash(other), hash(settings), "{other}");
    }
}

#[test]
fn r6_unconfirmed_settings_are_shown_and_marked() {
    let case = Case::new(
        "",
        "checks = ['theirs']\nlanguage = 'en'\n[notify]\nwebhook = 'https://a.example/x'\n",
        &[],
    );
    let shown = case.plain(&render(&case.unconfirmed(), Messages::ENGLISH));
    let lines: Vec<&str> = shown.lines().filter(|line| line.contains("project")).collect();
    let trimmed: Vec<String> =
        lines.iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        trimmed,
        [
            "checks = [\"theirs\"] # project /c/project.toml:1, not trusted: no effect (dacapo trust)",
            "language = \"en\" # project /c/project.toml:2",
            "notify.webhook = \"***\" # project /c/project.toml:4, not trusted: no effect (dacapo trust)",
        ]
    );
}

#[test]
fn r6_a_project_can_tighten_and_add_but_not_loosen() {
    let mode = |user: &str, project: &str| {
        let loaded = Case::new(user, project, &[]).unconfirmed();
        assert_eq!(loaded.project, Project::Harmless);
        (loaded.config.tests.mode, loaded.warnings.len())
    };
    let (free, locked) = ("tests.mode = 'free'\n", "tests.mode = 'locked'\n");
    assert_eq!(mode("", free), (TestsMode::Original, 1), "the default is the user's, too");
    assert_eq!(mode("", locked), (TestsMode::Locked, 0));
    assert_eq!(mode(locked, free), (TestsMode::Locked, 1));
    assert_eq!(mode(free, "tests.mode = 'original'\n"), (TestsMode::Original, 0));
    assert_eq!(mode(free, free), (TestsMode::Free, 0));
    let room = |project: &str| Case::new("", project, &[]).unconfirmed().config.room;
    assert_eq!((room("room = 'none'"), room("room = 'strict'")), (RoomChoice::Guarded, RoomChoice::Strict));
    let case = Case::new("tests.protect = ['a', 'b']\n", "tests.protect = ['b', 'c']\n", &[]);
    assert_eq!(case.unconfirmed().config.tests.protect, ["a", "b", "c"]);
}
