//! Merge, precedence, errors and display, through the public functions.

use std::ffi::OsString;
use std::fs;

use tempfile::TempDir;

use super::*;
use crate::error::Failure;
use crate::messages::Messages;

mod edit;
mod properties;
mod trust;

/// A user file, a project file and an environment, and nothing of the machine the test runs on.
struct Case {
    dir: TempDir,
    sources: Sources,
}

impl Case {
    fn new(user: impl AsRef<[u8]>, project: impl AsRef<[u8]>, env: &[(&str, &str)]) -> Case {
        let dir = tempfile::tempdir().unwrap();
        let (user_file, project_file) = (dir.path().join("user.toml"), dir.path().join("project.toml"));
        fs::write(&user_file, user).unwrap();
        fs::write(&project_file, project).unwrap();
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))).collect();
        Case {
            dir,
            sources: Sources {
                user_file: Some(user_file),
                project_file: Some(project_file),
                env,
                ..Sources::default()
            },
        }
    }

    fn user(text: &str) -> Case {
        Case::new(text, "", &[])
    }

    fn env(env: &[(&str, &str)]) -> Case {
        Case::new("", "", env)
    }

    fn load(&self) -> Loaded {
        self.unconfirmed().as_written().clone()
    }

    /// As it is for somebody who has confirmed nothing.
    fn unconfirmed(&self) -> Loaded {
        load(&self.sources).unwrap()
    }

    fn problems(&self) -> String {
        self.plain(&load(&self.sources).unwrap_err().to_string())
    }

    fn plain(&self, text: &str) -> String {
        text.replace(&format!("{}{}", self.dir.path().display(), std::path::MAIN_SEPARATOR), "/c/")
    }
}

#[test]
fn nothing_set_gives_the_defaults() {
    let loaded = load(&Sources::default()).unwrap();
    assert_eq!(loaded.config, Config::default());
    assert_eq!(loaded.warnings, [""; 0]);
    assert!(loaded.origins.values().all(|origin| *origin == Origin::Default));
    let missing = Sources {
        user_file: Some("/nonexistent/a.toml".into()),
        project_file: Some("/dev/null/b.toml".into()),
        ..Sources::default()
    };
    assert_eq!(load(&missing).unwrap(), loaded);
}

#[test]
fn the_example_of_the_formats_page_loads() {
    let loaded = Case::user(
        r#"
agent = "claude, codex"
checks = ["cargo test"]
language = "zh-TW"
glyphs = "ascii"
keep_awake = false
main_branch = "main"
editor = "vim -u NONE"
[agents.copilot]
loop_enabled = true
max_iterations = 7
completion_promise = "<promise>COMPLETE</promise>"
session = "resume"
[agents.mybot]
command = ["mybot", "--headless"]
prompt = "stdin"
output = "text"
resume = ["--resume", "{session}"]
model = "m"
env = { A = "b" }
[agents.rehearsal]
script = "demo.yaml"
[prices."gpt-5.5"]
input = 1.25
output = 10
[spawn_task]
max_concurrent = 2
[spawn_task.context_passing]
enabled = false
loop_prompt = "go on"
[worktree]
setup = ["npm ci"]
[proof]
keep = ["build-cache"]
[milestone]
call_timeout = "1h30m"
[notify]
desktop = false
webhook = "https://example.com/x"
[pr]
cli = "glab"
"#,
    )
    .load();
    let profile = AgentProfile::default;
    let strings = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let copilot = AgentProfile {
        loop_enabled: true,
        max_iterations: 7,
        completion_promise: Some("<promise>COMPLETE</promise>".to_owned()),
        session: Some(Session::Resume),
        ..profile()
    };
    let mybot = AgentProfile {
        command: Some(strings(&["mybot", "--headless"])),
        prompt: Some(PromptInput::Stdin),
        output: Some(OutputFormat::Text),
        resume: Some(strings(&["--resume", "{session}"])),
        model: Some("m".to_owned()),
        env: [("A".to_owned(), "b".to_owned())].into(),
        ..profile()
    };
    let rehearsal = AgentProfile { script: Some("demo.yaml".into()), ..profile() };
    let expected = Config {
        agent: Some("claude, codex".to_owned()),
        checks: Some(strings(&["cargo test"])),
        language: Language::TraditionalChinese,
        glyphs: GlyphSet::Ascii,
        keep_awake: false,
        main_branch: Some("main".to_owned()),
        editor: Some("vim -u NONE".to_owned()),
        agents: [
            ("copilot".to_owned(), copilot),
            ("mybot".to_owned(), mybot),
            ("rehearsal".to_owned(), rehearsal),
        ]
        .into(),
        prices: [("gpt-5.5".to_owned(), Price { input: 1.25, output: 10.0, cached: None })].into(),
        spawn_task: SpawnTask {
            max_concurrent: 2,
            context_passing: ContextPassing {
                enabled: false,
                loop_prompt: Some("go on".to_owned()),
                ..ContextPassing::default()
            },
        },
        worktree: Worktree { setup: strings(&["npm ci"]), ..Worktree::default() },
        proof: Proofs { keep: strings(&["build-cache"]) },
        milestone: Milestone { call_timeout: Timespan::from_secs(5400), ..Milestone::default() },
        notify: Notify {
            desktop: false,
            webhook: Some("https://example.com/x".to_owned()),
            ..Notify::default()
        },
        pr: PullRequests { cli: Some(PlatformCli::Glab) },
    };
    assert_eq!(loaded.config, expected);
    assert_eq!(loaded.config.agent_order(), ["claude", "codex"]);
    assert_eq!(
        loaded.config.agent_profile("copilot").loop_settings(),
        Some(LoopSettings {
            max_iterations: 7,
            completion_promise: Some("<promise>COMPLETE</promise>".to_owned()),
            follow_up: "繼續".to_owned(),
            session: Some(Session::Resume),
        })
    );
    // A7: without loop_enabled the others count for nothing; an agent no file names has the defaults.
    assert_eq!(loaded.config.agent_profile("mybot").loop_settings(), None);
    assert_eq!(loaded.config.agent_profile("nobody"), AgentProfile::default());
}

#[test]
fn each_layer_beats_the_ones_below_key_by_key() {
    let case = Case::new(
        "agent = 'user'\nmain_branch = 'user'\nkeep_awake = false\n[agents.x]\nmodel = 'user'\nfollow_up = 'user'\n",
        "agent = 'project'\nmain_branch = 'project'\n[agents.x]\nmodel = 'project'\n",
        &[("DACAPO_MAIN_BRANCH", "env"), ("DACAPO_AGENT", "env"), ("DACAPO_AGENTS_X_MAX_ITERATIONS", "9")],
    );
    let mut layers = Layers::read(&case.sources).unwrap();
    layers.set_flag("--agent", "agent", "flag").unwrap();
    let loaded = layers.load().unwrap();
    let (user, project) = (case.dir.path().join("user.toml"), case.dir.path().join("project.toml"));
    let set: Vec<_> = loaded.origins.iter().filter(|(_, origin)| **origin != Origin::Default).collect();
    assert_eq!(
        set,
        [
            (&"agent".to_owned(), &Origin::Flag { name: "--agent".to_owned() }),
            (&"agents.x.follow_up".to_owned(), &Origin::User { path: user.clone(), line: 6 }),
            (
                &"agents.x.max_iterations".to_owned(),
                &Origin::Env { name: "DACAPO_AGENTS_X_MAX_ITERATIONS".to_owned() }
            ),
            (&"agents.x.model".to_owned(), &Origin::Project { path: project, line: 4 }),
            (&"keep_awake".to_owned(), &Origin::User { path: user, line: 3 }),
            (&"main_branch".to_owned(), &Origin::Env { name: "DACAPO_MAIN_BRANCH".to_owned() }),
        ]
    );
    let x = AgentProfile {
        model: Some("project".to_owned()),
        follow_up: "user".to_owned(),
        max_iterations: 9,
        ..AgentProfile::default()
    };
    let expected = Config {
        agent: Some("flag".to_owned()),
        main_branch: Some("env".to_owned()),
        keep_awake: false,
        agents: [("x".to_owned(), x)].into(),
        ..Config::default()
    };
    assert_eq!(loaded.config, expected);
}

#[test]
fn the_environment_is_read_by_the_type_of_the_setting() {
    let loaded = Case::new(
        "[prices.'gpt-5.5']\ninput = 1\noutput = 2\n[agents.my-bot]\nmodel = 'm'\n",
        "",
        &[
            ("DACAPO_SPAWN_TASK_CONTEXT_PASSING_SUMMARY_MAX_TOKENS", "300"),
            ("DACAPO_CHECKS", "cargo test --workspace"),
            ("DACAPO_WORKTREE_SETUP", "['npm ci', 'make']"),
            ("DACAPO_KEEP_AWAKE", "0"),
            ("DACAPO_PRICES_GPT_5_5_INPUT", "3.5"),
            ("DACAPO_AGENTS_MY_BOT_SESSION", "fresh"),
            ("DACAPO_AGENTS_MY_BOT_ENV_MODEL", "x"),
            ("DACAPO_AGENTS_CLAUDE_LOOP_ENABLED", "true"),
            ("DACAPO_MAIN_BRANCH", ""),
            ("DACAPO_HOME", "/x"),
            ("DACAPO_TASK", "t"),
            ("PATH", "/bin"),
        ],
    )
    .load();
    let mut expected = Config {
        checks: Some(vec!["cargo test --workspace".to_owned()]),
        keep_awake: false,
        worktree: Worktree { setup: vec!["npm ci".to_owned(), "make".to_owned()], ..Worktree::default() },
        prices: [("gpt-5.5".to_owned(), Price { input: 3.5, output: 2.0, cached: None })].into(),
        ..Config::default()
    };
    expected.spawn_task.context_passing.summary_max_tokens = 300;
    let my_bot = AgentProfile {
        model: Some("m".to_owned()),
        session: Some(Session::Fresh),
        env: [("MODEL".to_owned(), "x".to_owned())].into(),
        ..AgentProfile::default()
    };
    let claude = AgentProfile { loop_enabled: true, ..AgentProfile::default() };
    expected.agents = [("my-bot".to_owned(), my_bot), ("claude".to_owned(), claude)].into();
    assert_eq!(loaded.config, expected);
    assert_eq!(loaded.warnings, [""; 0]);
}

#[test]
fn what_does_not_count_is_said_and_does_not_stop() {
    let case = Case::new(
        "[agents.a]\nmax_iterations = 500\n[agents.b]\nmax_iterations = -1\n[agents.c]\nmax_iterations = 0\n",
        "[agents.c]\nmax_iterations = 3\n",
        &[("DACAPO_AGNET", "x"), ("DACAPO_ZZZ", "x"), ("DACAPO_AGENTS_NEW_BOT_MODEL", "m")],
    );
    let loaded = case.load();
    insta::assert_snapshot!(case.plain(&loaded.warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")), @r"
    DACAPO_AGENTS_NEW_BOT_MODEL is read as 'agents.new_bot.model'; to set a name with other characters, define it in a config file first
    unknown variable DACAPO_AGNET is ignored; did you mean DACAPO_AGENT?
    unknown variable DACAPO_ZZZ is ignored
    'agents.a.max_iterations' in /c/user.toml:2:1 is outside 1…100: using 100
    'agents.b.max_iterations' in /c/user.toml:4:1 is outside 1…100: using 1
    ");
    let iterations = ["a", "b", "c"].map(|name| loaded.config.agent_profile(name).max_iterations);
    assert_eq!(iterations, [100, 1, 3]);
}

#[test]
fn all_mistakes_of_all_files_come_at_once() {
    let case = Case::new(
        r#"
chekcs = ["x"]
max_concurrent = 3
[agents.copilot]
  max_iteration = 5
  session = "resum"
  command = []
  '繼' = 1
[spawn_task]
max_concurrent = 0
checks = ["below a table"]
[zebra]
"#,
        "agent = 3\nchecks = 'x'\nagents = 1\n[[milestone]]\n[notify]\nwebhook = 'ftp://secret'\n",
        &[("DACAPO_SPAWN_TASK_MAX_CONCURRENT", "many")],
    );
    insta::assert_snapshot!(case.problems(), @r#"
    unknown key 'chekcs' in /c/user.toml:2:1; did you mean 'checks'?
    unknown key 'max_concurrent' in /c/user.toml:3:1; did you mean 'spawn_task.max_concurrent'?
    unknown key 'max_iteration' in /c/user.toml:5:3; did you mean 'max_iterations'?
    invalid value for 'agents.copilot.session' in /c/user.toml:6:13: expected one of fresh, resume, found 'resum'; did you mean 'resume'?
    invalid value for 'agents.copilot.command' in /c/user.toml:7:13: expected a non-empty list of text, found an empty list
    unknown key '繼' in /c/user.toml:8:3
    invalid value for 'spawn_task.max_concurrent' in /c/user.toml:10:18: expected a whole number from 1 to 1000, found 0
    unknown key 'checks' in /c/user.toml:11:1; it belongs at the top of the file, before the first [table]
    unknown key 'zebra' in /c/user.toml:12:2
    invalid value for 'agent' in /c/project.toml:1:9: expected non-empty text, found a whole number
    invalid value for 'checks' in /c/project.toml:2:10: expected a list of non-empty text, found text
    invalid value for 'agents' in /c/project.toml:3:10: expected a table, found a whole number
    invalid value for 'milestone' in /c/project.toml:4:1: expected a table, found a list
    invalid value for 'notify.webhook' in /c/project.toml:6:11: expected an address that begins with http:// or https://, found another address
    invalid value for 'spawn_task.max_concurrent' in DACAPO_SPAWN_TASK_MAX_CONCURRENT: expected a whole number from 1 to 1000, found 'many'
    "#);
    let failure = Failure::from(load(&case.sources).unwrap_err());
    assert_eq!(failure.exit_code(), 2);
}

#[test]
fn c11_a_summary_has_room_for_words() {
    let set = |tokens: u32| format!("[spawn_task.context_passing]\nsummary_max_tokens = {tokens}\n");
    let case = Case::new(set(19), "", &[("DACAPO_SPAWN_TASK_CONTEXT_PASSING_SUMMARY_MAX_TOKENS", "8")]);
    insta::assert_snapshot!(case.problems(), @r#"
    invalid value for 'spawn_task.context_passing.summary_max_tokens' in /c/user.toml:2:22: expected a whole number from 20 to 100000, found 19
    invalid value for 'spawn_task.context_passing.summary_max_tokens' in DACAPO_SPAWN_TASK_CONTEXT_PASSING_SUMMARY_MAX_TOKENS: expected a whole number from 20 to 100000, found 8
    "#);
    let loaded = load(&Case::user(&set(20)).sources).unwrap();
    assert_eq!(loaded.config.spawn_task.context_passing.summary_max_tokens, 20);
}

#[test]
fn one_mistake_as_a_person_sees_it() {
    let case = Case::user("[agents.copilot]\n  max_iteration = 5\n");
    let failure = Failure::from(load(&case.sources).unwrap_err());
    insta::assert_snapshot!(case.plain(&failure.to_string()), @r#"
    error: unknown key 'max_iteration' in /c/user.toml:2:3; did you mean 'max_iterations'?
      kept: everything; nothing was started
      do:   correct it (dacapo config schema lists every key), then run the command again
    "#);
}

#[test]
fn files_that_are_no_config() {
    let table: [(&str, Vec<u8>); 7] = [
        ("bad TOML", b"agent = \"a\"\n\nchecks = [1,\n".to_vec()),
        ("twice", b"agent = 'a'\nagent = 'b'\n".to_vec()),
        ("not UTF-8", b"agent = 'a'\nx = '\xff'\n".to_vec()),
        ("too big", vec![b'#'; 1024 * 1024 + 1]),
        ("deep", [b"x = ".to_vec(), vec![b'['; 100_000]].concat()),
        ("half a price", b"[prices.x]\noutput = 1\n".to_vec()),
        ("script", b"[agents.claude]\nscript = 'x'\n".to_vec()),
    ];
    let shown: Vec<String> = table
        .into_iter()
        .map(|(name, bytes)| format!("{name}: {}", Case::new(bytes, "", &[]).problems()))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    bad TOML: not valid TOML in /c/user.toml:3:13: unclosed array, expected `]`
    twice: not valid TOML in /c/user.toml:2:1: duplicate key
    not UTF-8: not UTF-8 text in /c/user.toml:2:6
    too big: /c/user.toml is larger than 1024 KiB, the most a config may be
    deep: not valid TOML in /c/user.toml:1:85: cannot recurse further; max recursion depth met
    half a price: missing key 'input' in [prices.x] at /c/user.toml:2:1
    script: 'agents.claude.script' in /c/user.toml:2:1 is only for the built-in agent 'rehearsal'
    "#);

    let case = Case::user("");
    let sources = Sources { user_file: Some(case.dir.path().to_owned()), ..Sources::default() };
    let problem = load(&sources).unwrap_err().to_string();
    assert_eq!(problem, format!("cannot read {}: it is not a file", case.dir.path().display()));
}

#[test]
fn a_megabyte_of_keys_takes_no_minutes() {
    let lines: String = (0..90_000).map(|n| format!("k{n} = 1\n")).collect();
    assert_eq!(load(&Case::user(&lines).sources).unwrap_err().problems.len(), 90_000);
    let one_line: String = (0..90_000).map(|n| format!("K{n}='',")).collect();
    let loaded = Case::user(&format!("[agents.x]\nenv = {{{one_line}}}\n")).load();
    assert_eq!(loaded.config.agents["x"].env.len(), 90_000);
}

#[test]
fn a_bom_and_windows_line_ends_are_fine() {
    let loaded = Case::user("\u{feff}agent = 'a'\r\nmain_branch = 'b'\r\n").load();
    assert_eq!(loaded.config.main_branch.as_deref(), Some("b"));
    let case = Case::user("\u{feff}agnt = 'a'\r\n\tmain_branc = 'b'\r\n");
    insta::assert_snapshot!(case.problems(), @r#"
    unknown key 'agnt' in /c/user.toml:1:1; did you mean 'agent'?
    unknown key 'main_branc' in /c/user.toml:2:2; did you mean 'main_branch'?
    "#);
}

#[test]
fn flags_are_checked_like_everything_else() {
    let mut layers = Layers::default();
    layers.set_flag("--no-commit", "spawn_task.context_passing.auto_commit", false).unwrap();
    layers.set_flag("--price", "prices.\"gpt-5.5\".input", 1.0).unwrap();
    let error = layers.clone().load().unwrap_err().to_string();
    assert_eq!(error, "missing key 'output' in [prices.\"gpt-5.5\"] at --price");
    let wrong = layers.set_flag("--iter", "agents.x.max_iterations", "many").unwrap_err().to_string();
    assert_eq!(
        wrong,
        "invalid value for 'agents.x.max_iterations' in --iter: expected a whole number from 1 to 100, found text"
    );
    let unknown = layers.set_flag("--x", "agnt", "y").unwrap_err().to_string();
    assert_eq!(unknown, "unknown key 'agnt' in --x; did you mean 'agent'?");
    assert!(layers.set_flag("--x", "spawn_task", "y").is_err());
}

#[test]
fn every_setting_is_shown_with_its_origin() {
    let case = Case::new(
        "[agents.x]\nenv = { API_KEY = 'sk-123' }\n[prices.'gpt-5.5']\ninput = 1.25\noutput = 10\n",
        "checks = ['cargo test', \"say \\\"hi\\\"\"]\n[notify]\nwebhook = 'https://hooks.example/T0/secret'\n",
        &[("DACAPO_LANGUAGE", "zh-CN")],
    );
    let loaded = case.load();
    let shown = render(&loaded, Messages::ENGLISH);
    insta::assert_snapshot!(case.plain(&shown), @r#"
    # agent =                                              # not set
    checks = ["cargo test", "say \"hi\""]                  # project /c/project.toml:1
    language = "zh-CN"                                     # env DACAPO_LANGUAGE
    glyphs = "auto"                                        # default
    keep_awake = true                                      # default
    # main_branch =                                        # not set
    # editor =                                             # not set
    agents.x.loop_enabled = false                          # default
    agents.x.max_iterations = 5                            # default
    # agents.x.completion_promise =                        # not set
    agents.x.follow_up = "繼續"                            # default
    # agents.x.session =                                   # not set
    # agents.x.command =                                   # not set
    # agents.x.prompt =                                    # not set
    # agents.x.output =                                    # not set
    # agents.x.resume =                                    # not set
    # agents.x.script =                                    # not set
    # agents.x.model =                                     # not set
    # agents.x.api =                                       # not set
    # agents.x.base_url =                                  # not set
    # agents.x.key_env =                                   # not set
    # agents.x.context_tokens =                            # not set
    agents.x.env.API_KEY = "***"                           # user /c/user.toml:2
    prices."gpt-5.5".input = 1.25                          # user /c/user.toml:4
    prices."gpt-5.5".output = 10.0                         # user /c/user.toml:5
    # prices."gpt-5.5".cached =                            # not set
    spawn_task.max_concurrent = 5                          # default
    spawn_task.context_passing.enabled = true              # default
    spawn_task.context_passing.auto_commit = true          # default
    spawn_task.context_passing.generate_summary = true     # default
    spawn_task.context_passing.summary_max_tokens = 500    # default
    spawn_task.context_passing.context_max_tokens = 8000   # default
    # spawn_task.context_passing.commit_message_model =    # not set
    # spawn_task.context_passing.summary_model =           # not set
    # spawn_task.context_passing.loop_prompt =             # not set
    worktree.setup = []                                    # default
    worktree.setup_timeout = "15m"                         # default
    proof.keep = []                                        # default
    milestone.max_iterations_per_milestone = 20            # default
    milestone.call_timeout = "10m"                         # default
    milestone.max_consecutive_rejections = 3               # default
    notify.desktop = true                                  # default
    notify.webhook = "***"                                 # project /c/project.toml:3
    # notify.command =                                     # not set
    notify.command_timeout = "1m"                          # default
    # pr.cli =                                             # not set
    "#);
    // It is a config file itself: all but the hidden ones can be read back as they are.
    let hidden = ["***", "sk-123", "secret"].map(|text| shown.contains(text));
    assert_eq!(hidden, [true, false, false]);
    let again = Case::user(&shown.replace("\"***\"", "\"https://hooks.example/T0/secret\"")).load().config;
    let mut expected = loaded.config.clone();
    expected
        .agents
        .get_mut("x")
        .unwrap()
        .env
        .insert("API_KEY".to_owned(), "https://hooks.example/T0/secret".to_owned());
    assert_eq!(again, expected);

    let json = serde_json::to_value(object(&loaded)).unwrap();
    assert_eq!(json["settings"][1]["value"], serde_json::json!(["cargo test", "say \"hi\""]));
    assert_eq!(json["settings"][2]["origin"], serde_json::json!({"kind": "env", "name": "DACAPO_LANGUAGE"}));
    assert!(!json.to_string().contains("secret") && !json.to_string().contains("sk-123"));
}

#[test]
fn the_schema_describes_every_key() {
    fn check(at: &str, schema: &serde_json::Value) {
        for (key, value) in schema["properties"].as_object().into_iter().flatten() {
            let at = format!("{at}.{key}");
            assert!(value["title"].is_string() && value["description"].is_string(), "{at}");
            assert!(value["type"].is_string(), "{at}: {}", value["type"]);
            if matches!(value["type"].as_str(), Some("integer" | "number")) {
                assert!(value["minimum"].is_number() && value["maximum"].is_number(), "{at}");
            }
            check(&at, value);
            check(&at, &value["additionalProperties"]);
        }
        if schema["properties"].is_object() {
            assert_eq!(schema["additionalProperties"], false, "{at}");
        }
    }
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["title"], "Dacapo settings");
    check("", &schema);
    assert!(!schema.to_string().contains("null"));
}
