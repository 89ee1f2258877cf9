//! `opencode run --format json` (1.18).

use dacapo_core::agent::{self, Account, Adapter, Billing, Ending, UserEnv, Wish};
use dacapo_core::event::{AgentEvent, TurnEnd, Usage};
use dacapo_core::spec::{AgentCommand, Approval, OutputFormat, PromptBy, SessionNeed};

use crate::replay::{
    self, call, ended, error, failed_result, in_words, limit, output, permanent, refused, result, session,
    session_lost, stderr, text, transient, usage,
};

/// Whose login is missing.
const LOG_IN: &str = "opencode";

fn adapter() -> &'static dyn Adapter {
    agent::adapter(OutputFormat::Opencode).unwrap()
}

fn events(name: &str) -> Vec<AgentEvent> {
    replay::events(OutputFormat::Opencode, &output("opencode", name), 4096)
}

fn end(name: &str, ending: &Ending) -> TurnEnd {
    replay::end(OutputFormat::Opencode, &output("opencode", name), ending)
}

fn cut_off() -> AgentEvent {
    let message = "the model's answer broke off, or ended for an unknown reason".into();
    AgentEvent::Retry { message, status: None }
}

#[test]
fn a1_two_tools_and_a_last_word_with_what_all_steps_cost() {
    let command = "cat hello.txt && echo shell-ran > shell.txt && pwd";
    let expected = vec![
        session("ses_e1f8899dfffexXaVKKtxXr3OEL"),
        text("Let me use a tool."),
        call("call_90", "write", "/repo/hello.txt"),
        result("call_90", "Wrote file successfully."),
        usage(1234, 56, 100, Some(0.004_242)),
        text("Let me use a tool."),
        call("call_91", "bash", command),
        result("call_91", "hello from mock\n/repo\n"),
        usage(2468, 112, 200, Some(0.008_484)),
        text("All done: wrote hello.txt and ran the shell."),
        usage(3702, 168, 300, Some(0.004_242 + 0.004_242 + 0.004_242)),
        ended("stop"),
    ];
    assert_eq!(events("multi"), expected);
    assert_eq!(end("multi", &Ending::Exited(0)), TurnEnd::Done);
    assert_eq!(end("multi", &Ending::Unwatched), TurnEnd::Done, "it is not paid for twice");
}

#[test]
fn a1_a_conversation_goes_on_under_its_id_and_counts_anew() {
    let expected = vec![
        session("ses_e1f8899dfffexXaVKKtxXr3OEL"),
        text("pong"),
        usage(1234, 56, 100, Some(0.004_242)),
        ended("stop"),
    ];
    assert_eq!(events("resume"), expected);
    assert_eq!(events("text")[1..], expected[1..]);
    let gone = adapter().diagnose(1, &stderr("opencode", "resume-missing")).map(in_words);
    let told = "the session is gone: opencode does not know it";
    assert_eq!(gone, Some(error(session_lost(told))));
}

/// A step that does not say what it used.
fn unknown_usage() -> AgentEvent {
    AgentEvent::Usage(Usage { tokens_unknown: true, cost_unknown: true, ..Usage::default() })
}

#[test]
fn l12_an_answer_that_breaks_off_for_ever_is_no_progress() {
    let free = usage(0, 0, 0, None);
    let expected = vec![
        session("ses_e1f870d63ffesuH46tQqLywM4v"),
        free.clone(),
        cut_off(),
        free.clone(),
        cut_off(),
        free,
        cut_off(),
        text("pon"),
    ];
    assert_eq!(events("cut"), expected, "the last words are kept, and no end");
    let silent = "the agent exited with code 0 without ending its turn";
    assert_eq!(end("cut", &Ending::Exited(0)), transient(silent));
    // What it did with tools is work, whatever the model's endpoint calls the end of the step.
    let worked = r#"{"type":"step_start"}
        {"type":"tool_use","part":{"tool":"bash","callID":"1","state":{"status":"completed","output":"ok"}}}
        {"type":"text","part":{"text":"on it"}}
        {"type":"step_finish","part":{"reason":"unknown"}}"#;
    let expected = [call("1", "bash", ""), result("1", "ok"), text("on it"), unknown_usage()];
    assert_eq!(replay::events(OutputFormat::Opencode, worked.as_bytes(), 9), expected);
}

#[test]
fn l8_an_error_says_what_can_be_done() {
    let told = format!("not logged in: mock says 401; {LOG_IN}");
    let expected = vec![session("ses_e1f87b4beffe53yQ6R6n4i00jc"), error(permanent(&told))];
    assert_eq!(events("e401"), expected);
    assert_eq!(end("e401", &Ending::Exited(1)), permanent(&told));
    assert_eq!(end("e400", &Ending::Exited(1)), permanent("mock says 400"));
    let unreachable = "Cannot connect to API: Unable to connect. Is the computer able to access the url?";
    assert_eq!(end("unreachable", &Ending::Exited(1)), transient(unreachable));
}

#[test]
fn l9_a_limit_keeps_its_time() {
    let waited = limit("mock says 429", Some("2026-11-15T18:30:01.759Z"));
    let expected = vec![session("ses_e1f870b0cffeV7BgQVs7TOq0l0"), error(waited.clone())];
    assert_eq!(events("e429"), expected);
    assert_eq!(end("e429", &Ending::Exited(1)), waited);
}

#[test]
fn l14_a_stopped_turn_has_not_ended_by_itself() {
    let expected = vec![session("ses_e1f8780d4ffeT5L89Z9tvgFFLu"), text("Let me use a tool.")];
    assert_eq!(events("sigterm"), expected);
    assert_eq!(end("sigterm", &Ending::Cancelled), TurnEnd::Cancelled);
    assert_eq!(end("sigterm", &Ending::Signalled(15)), transient("the agent was ended by signal 15"));
    assert_eq!(end("sigterm", &Ending::Unwatched), TurnEnd::Interrupted);
}

#[test]
fn a8_what_it_may_not_use_is_named() {
    let rejected = "The user rejected permission to use this specific tool call.";
    let expected = vec![
        session("ses_e1e72c395ffeC1MDEyjuq4m3ON"),
        text("Let me use a tool."),
        call("call_136", "write", "hello.txt"),
        failed_result("call_136", rejected),
        refused("write (hello.txt)"),
        usage(1234, 56, 100, Some(0.004_242)),
        ended("rejected"),
    ];
    assert_eq!(events("perm-ask"), expected);
    assert_eq!(end("perm-ask", &Ending::Exited(0)), TurnEnd::Done, "it says that it did what it could");
    let told: Vec<AgentEvent> =
        events("read-only").into_iter().filter(|event| matches!(event, AgentEvent::Refused { .. })).collect();
    assert_eq!(told, [refused("write"), refused("bash")]);
}

#[test]
fn a3_a_conversation_that_is_too_long_goes_on_shortened() {
    let overflow =
        r#"{"type":"error","error":{"name":"ContextOverflowError","data":{"message":"too long"}}}"#;
    let retry = AgentEvent::Retry { message: "too long".into(), status: None };
    let alone = replay::events(OutputFormat::Opencode, overflow.as_bytes(), 5);
    assert_eq!(alone, [retry.clone(), error(transient("too long"))]);
    let on = format!(
        "{overflow}\n{{\"type\":\"step_start\"}}\n{{\"part\":{{\"reason\":\"stop\"}},\"type\":\"step_finish\"}}"
    );
    let expected = [retry, unknown_usage(), ended("stop")];
    assert_eq!(replay::events(OutputFormat::Opencode, on.as_bytes(), 64), expected);
}

#[test]
fn a3_a_plan_is_its_steps() {
    let todos = r#"{"type":"tool_use","part":{"callID":"1","tool":"todowrite","state":{"status":"completed","input":{"todos":[{"content":"first","status":"pending"},{"content":"second"}]},"title":"2 todos"}}}"#;
    let plan = AgentEvent::Plan { steps: vec!["first".into(), "second".into()] };
    let expected = [call("1", "todowrite", "2 todos"), plan, result("1", "")];
    assert_eq!(replay::events(OutputFormat::Opencode, todos.as_bytes(), 1000), expected);
}

#[test]
fn k6_version_2_cannot_be_used() {
    for version in ["2.0.10", "3.0.0"] {
        assert!(adapter().unusable(version).is_some(), "{version}");
    }
    for version in ["1.18.33", "0.0.0-beta-19192", "local", ""] {
        assert!(adapter().unusable(version).is_none(), "{version}");
    }
}

#[test]
fn a1_how_it_is_run() {
    let wish = Wish { model: Some("x/y"), approval: Approval::Auto, as_root: false };
    let spec = adapter().profile(&wish).unwrap();
    let AgentCommand::Argv(argv) = &spec.command else { panic!("{:?}", spec.command) };
    let line =
        "opencode run --format json --thinking --auto --dir=. --print-logs --log-level ERROR --model x/y";
    assert_eq!(argv.join(" "), line);
    assert_eq!(
        (spec.prompt, spec.session_need(), spec.presets_session()),
        (PromptBy::Stdin, SessionNeed::Id, false)
    );
    assert_eq!(spec.env.iter().count(), 1, "the user's own rules stay");
    for (approval, edit) in [(Approval::Edits, "allow"), (Approval::ReadOnly, "deny")] {
        let spec = adapter().profile(&Wish { approval, ..wish }).unwrap();
        let (_, rules) = spec.env.iter().find(|(name, _)| *name == "OPENCODE_PERMISSION").unwrap();
        let rules: serde_json::Value = serde_json::from_str(rules).unwrap();
        assert_eq!((rules["edit"].as_str(), rules["bash"].as_str()), (Some(edit), Some("deny")));
    }
    let unable = adapter().profile(&Wish { approval: Approval::Ask, ..wish }).unwrap_err();
    assert_eq!((unable.approval, unable.acp_command), (Approval::Ask, &["opencode", "acp"][..]));
    assert!(adapter().reports_cost());
}

#[test]
fn l8_what_its_last_words_mean_where_it_says_nothing() {
    let log = "timestamp=1 level=ERROR message=failed error=\"ProviderModelNotFoundError: Model not found: foo/bar. \
               Did you mean: x?\" cause=\"…\"\n";
    let missing = adapter().diagnose(1, log).map(in_words);
    assert_eq!(missing, Some(error(permanent("the model is not found: foo/bar. Did you mean: x?"))));
    let config = "\u{1b}[91m\u{1b}[1mError: \u{1b}[0mConfiguration is invalid at OPENCODE_CONFIG_CONTENT\n↳ Expected\n";
    let expected = permanent("its configuration is invalid: OPENCODE_CONFIG_CONTENT");
    assert_eq!(adapter().diagnose(1, config).map(in_words), Some(error(expected)));
    assert_eq!(adapter().diagnose(0, log), None);
    assert_eq!(adapter().diagnose(1, "no idea"), None);
}

#[test]
fn a1_the_program_itself_is_run_where_npm_has_put_a_script() {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, bytes: &[u8]| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let script = write("node_modules/opencode-ai/bin/opencode", b"#!/usr/bin/env node\n");
    assert_eq!(adapter().native_program(&script), None, "nothing better is there");
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let native = write(&format!("node_modules/opencode-linux-{machine}/bin/opencode"), b"\x7fELF");
    assert_eq!(adapter().native_program(&script), Some(native));
    let installed = write("node_modules/opencode-ai/bin/opencode.exe", b"\x7fELF");
    assert_eq!(adapter().native_program(&installed), None, "it is the program already");
    let own = write("bin/opencode", b"#!/bin/sh\n");
    assert_eq!(adapter().native_program(&own), None, "somebody else's script");
}

#[test]
fn a4_who_pays_is_told_by_files_and_variables() {
    let home = tempfile::tempdir().unwrap();
    let account = |more: &[(&str, &str)]| {
        let mut env = vec![("HOME".into(), home.path().as_os_str().to_owned())];
        env.extend(more.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        adapter().account(&UserEnv { env: &env })
    };
    assert_eq!(account(&[]), Account::default(), "some models need no login");
    let by_key = Account {
        logged_in: Some(true),
        billing: Billing::ApiKey("OPENAI_API_KEY".into()),
        credential: Some("OPENAI_API_KEY=k".into()),
        base_url: None,
    };
    assert_eq!(account(&[("OPENAI_API_KEY", "k")]), by_key);
    let dir = home.path().join(".local/share/opencode");
    std::fs::create_dir_all(&dir).unwrap();
    let auth = r#"{"anthropic":{"type":"oauth","access":"changes","refresh":"too","accountId":"me"}}"#;
    std::fs::write(dir.join("auth.json"), auth).unwrap();
    let subscribed = Account {
        logged_in: Some(true),
        billing: Billing::Subscription,
        credential: Some("anthropic=me".into()),
        base_url: None,
    };
    assert_eq!(account(&[]), subscribed);
    let both = account(&[("OPENAI_API_KEY", "k")]);
    assert_eq!(both.billing, Billing::Unknown, "which one is used is not known here");
    let set = r#"{"model":"mine/m","provider":{"mine":{"options":{"baseURL":"http://gw","apiKey":"x"}}}}"#;
    assert_eq!(account(&[("OPENCODE_CONFIG_CONTENT", set)]).base_url.as_deref(), Some("http://gw"));
}
