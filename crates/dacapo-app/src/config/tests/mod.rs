//! Merge, precedence, errors and display, through the public functions.

use std::ffi::OsString;
use std::fs;

use tempfile::TempDir;

use super::*;
use crate::error::Failure;
use crate::messages::Messages;

mod edit;
mod mistakes;
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
mouse = true
keep_awake = false
room = "strict"
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
[tests]
mode = "locked"
protect = ["fixtures/**"]

[repos."~/src/shop"]
hidden_checks = ["sh ~/secret.sh"]

[proof]
cache = "none"
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
        mouse: true,
        keep_awake: false,
        room: RoomChoice::Strict,
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
        proof: Proofs { cache: ProofCaches::None },
        tests: Tests { mode: TestsMode::Locked, protect: vec!["fixtures/**".into()] },
        repos: [("~/src/shop".to_owned(), RepoSettings { hidden_checks: strings(&["sh ~/secret.sh"]) })]
            .into(),
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
    mouse = false                                          # default
    keep_awake = true                                      # default
    room = "guarded"                                       # default
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
    worktree.git_timeout = "10m"                           # default
    proof.cache = "base"                                   # default
    tests.mode = "original"                                # default
    tests.protect = []                                     # default
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
