use super::*;
use crate::tui::testing::Stage;
use dacapo_app::operations::diff::DiffPart;

fn read(line: &str) -> Result<Meaning, Failure> {
    let stage = Stage::new(80, 24);
    let place = Place { directory: None, selected: Some("auth".into()) };
    match parse(line)? {
        Line::Command(words) => meaning(&stage.services.app, &words, &place),
        Line::Text(text) => panic!("{text}"),
    }
}

fn started(line: &str) -> TaskRequest {
    match read(line).unwrap() {
        Meaning::Do(operations) => match operations.as_slice() {
            [Operation::Start { request }] => request.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn words_are_split_as_a_shell_splits_them() {
    let words = |line| split(line).unwrap();
    assert_eq!(words("a  b\tc"), ["a", "b", "c"]);
    assert_eq!(words(r#"--pr "Add auth" it's f'ine"#), ["--pr", "Add auth", "its fine"]);
    assert_eq!(words(r#"a\ b "c\"d\n" '\x' """#), ["a b", "c\"d\\n", "\\x", ""]);
    assert!(split("say 'no").is_err());
}

#[test]
fn s2_spawn_as_the_founding_document_writes_it() {
    let request = started("/spawn --name x --iter 5 fix the tests");
    assert_eq!((request.name.as_deref(), request.iter), (Some("x"), Some(5)));
    assert_eq!(request.prompt.as_deref(), Some("fix the tests"));
    assert_eq!(request.worktree, Some(true));
    let titled = started(r#"/spawn --pr "Add auth" --iter 2 build it"#);
    assert_eq!((titled.pr.as_deref(), titled.prompt.as_deref()), (Some("Add auth"), Some("build it")));
    assert_eq!(read("/spawn --list").unwrap(), Meaning::Home(Scope::Repository));
    assert_eq!(read("/spawn --list --all").unwrap(), Meaning::Home(Scope::Everywhere));
    assert_eq!(read("/spawn --status x").unwrap(), Meaning::Task(Some("x".into())));
    assert_eq!(read("/spawn --kill x").unwrap(), Meaning::Do(vec![Operation::Kill { task: "x".into() }]));
    assert_eq!(
        read("/spawn --drop a,b").unwrap(),
        Meaning::Do(vec![Operation::Drop { tasks: vec!["a".into(), "b".into()] }])
    );
    let pr = |task: &str| Operation::OpenPullRequest {
        task: task.into(),
        title: None,
        base: None,
        draft: false,
        allow_secret: false,
    };
    assert_eq!(read("/spawn --pr x").unwrap(), Meaning::Do(vec![pr("x")]));
}

#[test]
fn the_selected_task_is_meant_where_none_is_named() {
    let kill = |task: &str| Meaning::Do(vec![Operation::Kill { task: task.into() }]);
    assert_eq!(read("/kill").unwrap(), kill("auth"));
    assert_eq!(read("/kill x").unwrap(), kill("x"));
    let show = ["milestone", "show", "auth"].map(str::to_owned).to_vec();
    assert_eq!(read("/milestone show").unwrap(), Meaning::Show(show));
    assert_eq!(read("/diff").unwrap(), Meaning::Diff { task: Some("auth".into()), part: DiffPart::All });
    assert_eq!(read("/logs x").unwrap(), Meaning::Log(Some("x".into())));
    let resume =
        |task: &str| Operation::Resume { task: task.into(), iter: Some(3), prompt: None, proof: None };
    assert_eq!(read("/resume --iter 3").unwrap(), Meaning::Do(vec![resume("auth")]));
    assert_eq!(read("/resume a,b --iter 3").unwrap(), Meaning::Do(vec![resume("a"), resume("b")]));
}

#[test]
fn a_command_that_asks_in_a_shell_asks_here() {
    let kill = vec![Operation::Kill { task: "x".into() }];
    assert_eq!(read("/stop x").unwrap(), Meaning::Ask(kill));
}

#[test]
fn what_shows_something_is_shown_and_what_needs_the_terminal_gets_it() {
    assert_eq!(read("/doctor").unwrap(), Meaning::Show(vec!["doctor".into()]));
    assert_eq!(read("/list --json").unwrap(), Meaning::Show(vec!["list".into(), "--json".into()]));
    assert_eq!(read("/list --size").unwrap(), Meaning::Show(vec!["list".into(), "--size".into()]));
    assert_eq!(read("/config").unwrap(), Meaning::Settings);
    assert_eq!(read("/quit").unwrap(), Meaning::Quit);
    let attach = Meaning::Run { args: vec!["attach".into(), "auth".into()], pause: Pause::ForEnter };
    assert_eq!(read("/attach").unwrap(), attach);
    for (line, says) in [
        ("/help kill", "End a running task"),
        ("/help symbols", "proven"),
        ("/man kill", "End a running task"),
        ("/man", "Show the tasks of this repository"),
        ("/milestone", "Create the file of a milestone"),
        ("/notify", "Try out notifications"),
    ] {
        let Ok(Meaning::Text(help)) = read(line) else { panic!("{line}") };
        assert!(help.contains(says), "{line}: {help}");
    }
}

#[test]
fn u6_what_is_wrong_is_said_as_on_the_command_line() {
    let said = |line: &str| read(line).unwrap_err().to_string();
    assert!(said("/kil x").contains("unrecognized subcommand 'kil'"), "{}", said("/kil x"));
    assert!(said("/kil x").contains("'kill'"), "{}", said("/kil x"));
    let searched = said("/step 3");
    assert!(searched.contains("Ctrl-F searches") && !searched.contains("stop"), "{searched}");
    assert!(said("/spawn --itr 3 go").contains("--itr"), "{}", said("/spawn --itr 3 go"));
    assert!(said("/spawn --iter abc go").contains("Invalid loop condition: 'abc'"));
    assert!(said("/spawn -").contains("no standard input"), "{}", said("/spawn -"));
}

#[test]
fn kinds_bring_their_own_commands() {
    let Meaning::Do(operations) = read("/ms resume login --rounds 30").unwrap() else { panic!() };
    assert!(matches!(operations[..], [Operation::Own { .. }]), "{operations:?}");
    assert_eq!(
        read("/ms approve login R3").unwrap(),
        Meaning::Do(vec![Operation::Approve { task: "login".into(), choice: Some(3) }])
    );
    assert_eq!(read("/ms list").unwrap(), Meaning::Show(vec!["ms".into(), "list".into()]));
}
