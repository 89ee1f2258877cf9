//! What is remembered: sessions, and what fits into the model's window.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use dacapo_core::event::{AgentEvent, FailureKind};
use serde_json::json;

use super::desk::{APIS, Desk};
use crate::model_server::{Call, CallKind, Failure, ModelServer, Reply, Said, ToolUse, in_order};

#[test]
fn l13_a_session_goes_on_where_it_was() {
    for api in APIS {
        let server = ModelServer::start(in_order(vec![
            Reply::call(ToolUse::new("shell", json!({"command": "echo 42 > answer"}))).into(),
            Reply::say("The answer is 42.").into(),
            Reply::say("As I said.").into(),
        ]));
        let desk = Desk::new(api, &server.url());
        let told = desk.session("What is the answer?", &[]).ended("end_turn");
        let AgentEvent::Session { id } = &told.events[0] else { panic!("{told:?}") };
        assert_eq!(id.len(), 36);
        let file = desk.sessions().join(format!("{id}.json"));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

        let again = desk.session("Once more?", &["--session", id]).ended("end_turn");
        assert_eq!(again.events[0], told.events[0]);
        let calls = server.calls(CallKind::Main);
        let heard = &calls[2].said[1..];
        assert_eq!(heard[0], Said::User("What is the answer?".into()));
        assert!(heard.contains(&Said::Result("[exit code 0]".into())), "{heard:?}");
        assert_eq!(
            heard[heard.len() - 2..],
            [Said::Model("The answer is 42.".into()), Said::User("Once more?".into())]
        );
        assert_eq!(fs::read_dir(desk.sessions()).unwrap().count(), 1);
    }
}

#[test]
fn l13_an_id_can_be_chosen_and_survives_a_turn_that_failed() {
    let server =
        ModelServer::start(in_order(vec![Failure::UNAUTHORIZED.into(), Reply::say("Hello.").into()]));
    let desk = Desk::new("openai", &server.url());
    let told = desk.session("Hello?", &["--new-session", "my-own_id"]);
    told.failed(FailureKind::Permanent);
    assert_eq!(told.events[0], AgentEvent::Session { id: "my-own_id".into() });
    let _ = desk.session("Hello again?", &["--session", "my-own_id"]).ended("end_turn");
    let calls = server.calls(CallKind::Main);
    assert_eq!(
        calls[1].said[1..],
        [Said::User("Hello again?".into())],
        "what was never answered is not repeated"
    );
}

#[test]
fn l13_a_session_that_cannot_be_continued_says_so_before_any_call() {
    let server = ModelServer::start(|_: &Call| Reply::say("no").into());
    let desk = Desk::new("anthropic", &server.url());
    fs::create_dir(desk.sessions()).unwrap();
    fs::write(desk.sessions().join("torn.json"), "{\"v\":1,\"mess").unwrap();
    fs::write(desk.sessions().join("new.json"), "{\"v\":99}").unwrap();
    for (id, why) in [("gone", "there is no session gone"), ("torn", "is broken"), ("new", "format 99")] {
        let told = desk.session("x", &["--session", id]);
        assert!(told.failed(FailureKind::Permanent).contains(why), "{told:?}");
    }
    let told = desk.session("x", &["--new-session", "torn"]);
    assert!(told.failed(FailureKind::Permanent).contains("exists already"), "{told:?}");
    assert_eq!(server.requests().len(), 0);
    let told = desk.session("x", &["--session", "../../etc/passwd"]);
    assert_eq!(told.code, Some(2), "{told:?}");
    assert!(told.stderr.contains("no session id"), "{told:?}");
}

#[test]
fn a6_a_long_turn_stays_within_the_window_and_keeps_its_prompt() {
    for api in APIS {
        let server = ModelServer::start(move |call: &Call| match call.number {
            0..60 => Reply::call(ToolUse::new(
                "shell",
                json!({"command": format!("echo step {}; head -c 3000 /dev/zero | tr '\\0' x", call.number)}),
            ))
            .into(),
            _ => Reply::say("Done.").into(),
        });
        let desk = Desk::new(api, &server.url()).with(&["--context-tokens", "8000"]);
        let prompt = format!("Begin. {} End.", "p".repeat(4000));
        let told = desk.session(&prompt, &["--new-session", "s"]).ended("end_turn");
        assert_eq!(told.answers().len(), 60);
        let requests = server.requests();
        assert_eq!(requests.len(), 61);
        for recorded in &requests {
            assert!(recorded.request.body.len() < 8000 * 4, "{}", recorded.request.body.len());
            let call = recorded.call.as_ref().unwrap();
            let prompts =
                call.said.iter().filter(|said| matches!(said, Said::User(text) if text.contains(&prompt)));
            assert_eq!(prompts.count(), 1, "the prompt is there, whole");
            let results = call.said.iter().filter(|said| matches!(said, Said::Result(_))).count();
            let called = call.said.iter().filter(|said| matches!(said, Said::Called(..))).count();
            assert_eq!(results, called, "calls and answers go together");
        }
        let last = &requests[60].call.as_ref().unwrap().said;
        let newest = last.iter().rfind(|said| matches!(said, Said::Result(_))).unwrap();
        assert!(
            matches!(newest, Said::Result(text) if text.starts_with("step 59\nxxx") && text.len() > 3000)
        );
        assert!(last.iter().any(|said| matches!(said, Said::User(text) if text.contains("were left out"))));
        // A later turn makes its own prompt the one that stays.
        let _ = desk.session("And now?", &["--session", "s"]).ended("end_turn");
    }
}

#[test]
fn a_prompt_larger_than_the_window_is_refused_before_any_call() {
    let server = ModelServer::start(|_: &Call| Reply::say("no").into());
    for arguments in [&[][..], &["--complete"]] {
        let desk = Desk::new("openai", &server.url()).with(&["--context-tokens", "2000"]);
        let told = desk.turn(&"x".repeat(10_000), arguments);
        assert!(
            told.failed(FailureKind::Permanent).contains("does not fit into the model's window"),
            "{told:?}"
        );
    }
    assert_eq!(server.requests().len(), 0);
}
