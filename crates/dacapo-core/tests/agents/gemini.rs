//! `gemini --output-format stream-json` (0.61).

use dacapo_core::agent::{self, Account, Adapter, Billing, Ending, UserEnv, Wish};
use dacapo_core::event::{AgentEvent, FailureKind, TurnEnd};
use dacapo_core::spec::{AgentCommand, Approval, OutputFormat, PromptBy, SessionNeed};

use crate::replay::{
    self, call, ended, error, failed_result, in_words, limit, output, permanent, refused, result, session,
    stderr, text, transient, usage, words,
};

/// Whose login is missing.
const LOG_IN: &str = "gemini";

fn adapter() -> &'static dyn Adapter {
    agent::adapter(OutputFormat::Gemini).unwrap()
}

fn events(name: &str) -> Vec<AgentEvent> {
    replay::events(OutputFormat::Gemini, &output("gemini", name), 4096)
}

fn end(name: &str, ending: &Ending) -> TurnEnd {
    replay::end(OutputFormat::Gemini, &output("gemini", name), ending)
}

fn argv(wish: &Wish<'_>) -> Vec<String> {
    match adapter().profile(wish).unwrap().command {
        AgentCommand::Argv(argv) => argv,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a1_two_tools_and_a_last_word() {
    let id = "f52ad396-afd1-4db6-9437-c783901c992f";
    let command = "cat hello.txt && echo shell-ran > shell.txt && pwd";
    let expected = vec![
        session(id),
        text("Let me use a tool."),
        call("write_file__fc_115", "write_file", "./hello.txt"),
        result("write_file__fc_115", ""),
        text("Let me use a tool."),
        call("run_shell_command__fc_120", "run_shell_command", command),
        result("run_shell_command__fc_120", "hello from mock\n/repo"),
        text("All done: wrote hello.txt and ran the shell."),
        usage(3702, 168, 300, None),
        ended("success"),
    ];
    assert_eq!(events("multi"), expected);
    assert_eq!(end("multi", &Ending::Exited(0)), TurnEnd::Done);
    assert_eq!(end("multi", &Ending::Unwatched), TurnEnd::Done, "it is not paid for twice");
}

#[test]
fn a1_a_conversation_goes_on_under_its_id_and_counts_anew() {
    let expected = vec![
        session("f52ad396-afd1-4db6-9437-c783901c992f"),
        text("pong"),
        usage(1234, 56, 100, None),
        ended("success"),
    ];
    assert_eq!(events("resume"), expected);
    assert_eq!(events("text")[1..], expected[1..]);
    let gone = adapter().diagnose(42, &stderr("gemini", "resume-missing")).map(in_words);
    let Some(AgentEvent::Error { failure: FailureKind::SessionLost, fault: message }) = gone else {
        panic!("{gone:?}")
    };
    assert!(words(&message).starts_with("the session is gone: "), "{message:?}");
}

#[test]
fn a3_what_it_thought_is_paid_for() {
    let thinking = r#"{"stats":{"cached":300,"output_tokens":168,"input_tokens":3702,"total_tokens":3891},"status":"success","type":"result"}"#;
    let expected = [usage(3702, 189, 300, None), ended("success")];
    assert_eq!(replay::events(OutputFormat::Gemini, thinking.as_bytes(), 7), expected);
}

#[test]
fn l8_a_refused_request_will_be_refused_again() {
    let told = format!("not logged in: mock says 401; {LOG_IN}");
    let expected = vec![
        session("af3f9be4-c7a4-4016-84b0-f87091d72b46"),
        usage(0, 0, 0, None),
        error(permanent(&told)),
        ended("error"),
    ];
    assert_eq!(events("e401"), expected);
    assert_eq!(end("e401", &Ending::Exited(145)), permanent(&told));
    assert_eq!(end("e400", &Ending::Exited(144)), permanent("mock says 400"));
    let key = format!("not logged in: API key not valid. Please pass a valid API key.; {LOG_IN}");
    assert_eq!(end("bad-key", &Ending::Exited(144)), permanent(&key));
}

#[test]
fn l9_a_limit_keeps_its_time() {
    let expected = vec![
        session("2d9165ea-8e07-4c48-be1c-43e85f380f71"),
        usage(0, 0, 0, None),
        error(limit("mock says 429", None)),
        ended("error"),
    ];
    assert_eq!(events("e429"), expected);
    assert_eq!(end("e429", &Ending::Exited(173)), limit("mock says 429", None));
    let TurnEnd::Limit { message, resets_at: Some(resets_at) } = end("limit-reset", &Ending::Exited(173))
    else {
        panic!("no limit with a time")
    };
    assert_eq!(message, "mock says 429 Suggested retry after 3600s.");
    let told = output("gemini", "limit-reset");
    let told = String::from_utf8(told).unwrap();
    let (_, said_at) = told.rsplit_once(r#""timestamp":""#).unwrap();
    let said_at: jiff::Timestamp = said_at.split('"').next().unwrap().parse().unwrap();
    assert_eq!(resets_at.duration_since(said_at), jiff::SignedDuration::from_hours(1));
}

#[test]
fn l8_exit_0_after_an_answer_that_broke_off_is_a_failure() {
    let expected = vec![
        session("58775ccf-5286-4e09-a8b6-0d9c2b4d94d3"),
        text("pong"),
        text("pong"),
        text("pong"),
        text("pong"),
        usage(4936, 224, 400, None),
        error(transient("Model stream ended without a finish reason.")),
        ended("error"),
    ];
    assert_eq!(events("cut"), expected);
    assert_eq!(end("cut", &Ending::Exited(0)), transient("Model stream ended without a finish reason."));
    assert_eq!(end("e500", &Ending::Exited(244)), transient("mock says 500"));
    let unreachable = "exception TypeError: fetch failed sending request";
    assert_eq!(end("unreachable", &Ending::Exited(1)), transient(unreachable));
}

#[test]
fn l14_our_own_signal_answered_with_exit_0_is_no_success() {
    let expected = vec![
        session("46c148b8-0d9b-41fc-97a7-7a6921f71c18"),
        text("Let me use a tool."),
        call("run_shell_command__fc_1540", "run_shell_command", "echo $$ > sleep.pid; sleep 987"),
    ];
    assert_eq!(events("sigterm"), expected);
    assert_eq!(end("sigterm", &Ending::Cancelled), TurnEnd::Cancelled);
    let silent = "the agent exited with code 0 without ending its turn";
    assert_eq!(end("sigterm", &Ending::Exited(0)), transient(silent), "somebody else's signal");
    assert_eq!(end("sigterm", &Ending::Unwatched), TurnEnd::Interrupted);
    assert_eq!(events("hang"), [session("b343bd07-8fb6-49f8-a7c5-204d05c2cc13")]);
    assert_eq!(end("hang", &Ending::TimedOut("no sign of life".into())), transient("no sign of life"));
}

#[test]
fn a8_what_it_may_not_use_is_named() {
    let (id, shell) =
        ("run_shell_command__run_shell_command", "cat hello.txt && echo shell-ran > shell.txt && pwd");
    let told: Vec<AgentEvent> =
        events("plan").into_iter().filter(|event| matches!(event, AgentEvent::Refused { .. })).collect();
    let what = format!("run_shell_command ({shell})");
    assert_eq!(told, [refused("write_file (hello.txt)"), refused(&what)]);
    let edits = events("auto-edit");
    let failed =
        edits.iter().position(|event| matches!(event, AgentEvent::ToolResult { failed: true, .. })).unwrap();
    let missing = r#"Tool "run_shell_command" not found. Did you mean one of: "update_topic", "grep_search", "replace"?"#;
    let AgentEvent::ToolResult { id: called, .. } = &edits[failed] else { unreachable!() };
    assert!(called.starts_with(id));
    assert_eq!(edits[failed..=failed + 1], [failed_result(called, missing), refused(&what)]);
    // A tool that it never had is the model's mistake.
    let invented = r#"{"type":"tool_use","tool_name":"magic","tool_id":"1","parameters":{}}
        {"type":"tool_result","tool_id":"1","status":"error","error":{"type":"tool_not_registered","message":"no"}}"#;
    let expected = [call("1", "magic", ""), failed_result("1", "no")];
    assert_eq!(replay::events(OutputFormat::Gemini, invented.as_bytes(), 50), expected);
}

#[test]
fn a8_a_command_that_offers_no_tools_is_known_by_its_arguments() {
    let mut spec = adapter().profile(&Wish { model: None, approval: Approval::Auto, as_root: true }).unwrap();
    assert!(!adapter().lacks_tools(&spec));
    for (argv, lacks) in [
        (&["gemini", "-o", "stream-json"][..], true),
        (&["gemini", "--approval-mode=yolo"], false),
        (&["gemini", "--approval-mode", "plan"], false),
        (&["gemini", "-y"], false),
    ] {
        spec.command = AgentCommand::Argv(argv.iter().map(|arg| (*arg).to_owned()).collect());
        assert_eq!(adapter().lacks_tools(&spec), lacks, "{argv:?}");
    }
    // The model says so, if anybody does.
    assert!(!events("perm-default").iter().any(|event| matches!(event, AgentEvent::Refused { .. })));
    assert_eq!(end("perm-default", &Ending::Exited(0)), TurnEnd::Done);
}

#[test]
fn a1_how_it_is_run() {
    let wish = Wish { model: Some("gemini-2.5-pro"), approval: Approval::Auto, as_root: false };
    let head = ["gemini", "--output-format", "stream-json"];
    assert_eq!(argv(&wish), [&head[..], &["--yolo", "--model", "gemini-2.5-pro"]].concat());
    let mode = |approval| argv(&Wish { model: None, approval, as_root: true })[3..].join(" ");
    assert_eq!(mode(Approval::Edits), "--approval-mode auto_edit");
    assert_eq!(mode(Approval::ReadOnly), "--approval-mode plan");
    let unable = adapter().profile(&Wish { approval: Approval::Ask, ..wish }).unwrap_err();
    assert_eq!((unable.approval, unable.acp_command), (Approval::Ask, &["gemini", "--acp"][..]));
    let spec = adapter().profile(&wish).unwrap();
    assert_eq!(
        (spec.prompt, spec.session_need(), spec.presets_session()),
        (PromptBy::Stdin, SessionNeed::Id, true)
    );
    assert_eq!(spec.model.as_deref(), Some("gemini-2.5-pro"));
    assert!(!adapter().reports_cost());
}

#[test]
fn l8_what_its_exit_code_means_where_it_says_nothing() {
    let diagnosed = |code, words: &str| adapter().diagnose(code, words).map(in_words);
    let login = diagnosed(41, &stderr("gemini", "no-login"));
    let told = format!("not logged in: Invalid auth method selected.; {LOG_IN}");
    assert_eq!(login, Some(error(permanent(&told))));
    let untrusted = diagnosed(55, &stderr("gemini", "untrusted"));
    assert!(matches!(untrusted, Some(AgentEvent::Error { .. })), "{untrusted:?}");
    let missing = diagnosed(1, &stderr("gemini", "not-found"));
    let Some(AgentEvent::Error { fault: message, .. }) = missing else { panic!("{missing:?}") };
    assert!(words(&message).starts_with("the model is not found: "), "{message:?}");
    assert_eq!(
        end("not-found", &Ending::Exited(1)),
        transient("mock says 404"),
        "the stream alone does not know"
    );
    assert_eq!(diagnosed(173, "no\n"), Some(error(limit("no", None))));
    assert_eq!(diagnosed(145, "no\n"), Some(error(permanent(&format!("not logged in: no; {LOG_IN}")))));
    assert_eq!(diagnosed(244, "no\n"), Some(error(transient("no"))));
    for unknown in [0, 1, 2, 130, 137, 143, 160, 255, -1] {
        assert_eq!(diagnosed(unknown, "no\n"), None, "{unknown}");
    }
}

#[test]
fn l12_what_it_tries_again_is_heard_on_standard_error() {
    for (name, expected) in [("retries-429", Some(429)), ("retries-unreachable", None)] {
        let mut parser = adapter().stderr_parser().unwrap();
        let mut statuses = Vec::new();
        let mut see = |event| match event {
            AgentEvent::Retry { status, .. } => statuses.push(status),
            other => panic!("{other:?}"),
        };
        parser.feed(stderr("gemini", name).as_bytes(), &mut see);
        parser.finish(&mut see);
        assert!(
            statuses.len() >= 6 && statuses.iter().all(|status| *status == expected),
            "{name}: {statuses:?}"
        );
    }
}

#[test]
fn a4_who_pays_is_told_by_files_and_variables() {
    let home = tempfile::tempdir().unwrap();
    let account = |more: &[(&str, &str)]| {
        let mut env = vec![("HOME".into(), home.path().as_os_str().to_owned())];
        env.extend(more.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        adapter().account(&UserEnv { env: &env })
    };
    let nothing = Account { logged_in: Some(false), ..Account::default() };
    assert_eq!(account(&[]), nothing);
    let by_key = Account {
        logged_in: Some(true),
        billing: Billing::ApiKey("GEMINI_API_KEY".into()),
        credential: Some("k".into()),
        base_url: None,
    };
    assert_eq!(account(&[("GEMINI_API_KEY", "k")]), by_key);
    let gateway = [("GEMINI_API_KEY", "k"), ("GOOGLE_GEMINI_BASE_URL", "http://gw")];
    assert_eq!(account(&gateway), Account { base_url: Some("http://gw".into()), ..by_key.clone() });
    let dir = home.path().join(".gemini");
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("settings.json"), r#"{"security":{"auth":{"selectedType":"gemini-api-key"}}}"#)
        .unwrap();
    assert_eq!(account(&[]).logged_in, Some(false), "chosen, but there is no key");
    std::fs::write(dir.join(".env"), "# mine\nexport GEMINI_API_KEY=\"k\"\n").unwrap();
    assert_eq!(account(&[]), by_key);
    std::fs::write(dir.join("settings.json"), r#"{"security":{"auth":{"selectedType":"oauth-personal"}}}"#)
        .unwrap();
    std::fs::write(dir.join("google_accounts.json"), r#"{"active":"me@example.org","old":[]}"#).unwrap();
    let subscribed = Account {
        logged_in: Some(true),
        billing: Billing::Subscription,
        credential: Some("me@example.org".into()),
        base_url: None,
    };
    assert_eq!(account(&[("GEMINI_API_KEY", "k")]), subscribed, "what is chosen counts");
}
