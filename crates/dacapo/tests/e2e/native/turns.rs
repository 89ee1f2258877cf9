//! Turns that go well: tools, approval, one plain answer.

use dacapo_core::event::{AgentEvent, Usage};
use serde_json::json;

use super::desk::{APIS, Desk, KEY};
use crate::model_server::{Call, CallKind, Last, ModelServer, Reply, Said, ToolUse, in_order};

fn tool(name: &str, arguments: serde_json::Value) -> Reply {
    Reply::call(ToolUse::new(name, arguments))
}

fn usage(of: crate::model_server::Usage) -> Usage {
    Usage { input: of.input, output: of.output, cached: of.cached, ..Usage::default() }
}

#[test]
fn a6_tools_do_the_work_and_the_model_hears_of_it() {
    for api in APIS {
        let server = ModelServer::start(in_order(vec![
            tool("write_file", json!({"path": "src/hello.txt", "content": "hallo\n"})).into(),
            tool("edit_file", json!({"path": "src/hello.txt", "old": "hallo", "new": "hello"})).into(),
            tool("shell", json!({"command": "cat src/hello.txt; echo key=$MY_KEY; exit 3"})).into(),
            tool("read_file", json!({"path": "src/hello.txt"})).into(),
            tool("search", json!({"pattern": "hel+o"})).into(),
            Reply::say("All is done.").into(),
        ]));
        let desk = Desk::new(api, &server.url());
        let told = desk.turn("Say hello in a file", &[]).ended("end_turn");
        assert_eq!(desk.world.read("src/hello.txt"), "hello\n");
        assert_eq!(
            told.answers(),
            [
                (false, "created src/hello.txt, 6 bytes"),
                (false, "changed src/hello.txt at line 1"),
                (false, "hello\nkey=\n[exit code 3]"),
                (false, "hello\n"),
                (false, "src/hello.txt:1: hello\nREADME.md:1: hello\n"),
            ]
        );
        assert!(told.said().ends_with("All is done."), "{}", told.said());
        assert_eq!(told.usage(), usage(server.usage(CallKind::Main)));
        let calls = server.calls(CallKind::Main);
        assert_eq!(calls.len(), 6);
        assert_eq!(calls[0].tools, ["shell", "read_file", "search", "edit_file", "write_file"]);
        let heard: Vec<&Said> = calls[5].said.iter().filter(|said| matches!(said, Said::Result(_))).collect();
        assert_eq!(heard.len(), 5);
        assert_eq!(heard[2], &Said::Result("hello\nkey=\n[exit code 3]".into()));
        assert!(
            matches!(&calls[0].said[0], Said::System(text) if text.contains("Dacapo, which runs you, commits"))
        );
        assert!(server.unknown().is_empty(), "{:?}", server.unknown());
    }
}

#[test]
fn a6_the_request_says_what_was_configured() {
    for api in APIS {
        let server = ModelServer::start(in_order(vec![Reply::say("ok").into()]));
        let _ = Desk::new(api, &server.url()).turn("x", &["--max-output-tokens", "999"]).ended("end_turn");
        let requests = server.requests();
        let [recorded] = &requests[..] else { panic!("{requests:?}") };
        let (name, value) = match api {
            "openai" => ("authorization", format!("Bearer {KEY}")),
            _ => ("x-api-key", KEY.to_owned()),
        };
        assert_eq!(recorded.request.header(name), Some(value.as_str()));
        assert_eq!(recorded.body["model"], "qwen-max", "no meaning is read into a model's name");
        assert_eq!(recorded.body["max_tokens"], 999);
        assert!(recorded.body.get("reasoning_effort").is_none() && recorded.body.get("thinking").is_none());
        assert_eq!(recorded.body["stream"], true);
    }
}

#[test]
fn a6_an_endpoint_without_a_key_gets_none() {
    let server = ModelServer::start(in_order(vec![Reply::say("ok").into()]));
    let desk = Desk::new("openai", "unused");
    let url = server.url();
    let mut command =
        desk.world.command(&["__native", "--api", "openai", "--model", "m", "--base-url", &url]);
    command.env("OPENAI_API_KEY", KEY).stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let _ = super::desk::tell(command, b"x").ended("end_turn");
    assert_eq!(server.requests()[0].request.header("authorization"), None);
}

#[test]
fn a6_several_tools_at_once_are_answered_at_once() {
    for api in APIS {
        let two =
            ["one", "two"].map(|word| ToolUse::new("shell", json!({"command": format!("echo {word}")})));
        let both = Reply { text: String::new(), calls: two.to_vec(), usage: None };
        let server = ModelServer::start(in_order(vec![both.into(), Reply::say("ok").into()]));
        let told = Desk::new(api, &server.url()).turn("x", &[]).ended("end_turn");
        assert_eq!(told.answers(), [(false, "one\n[exit code 0]"), (false, "two\n[exit code 0]")]);
        let calls = server.calls(CallKind::Main);
        let results = calls[1].said.iter().filter(|said| matches!(said, Said::Result(_))).count();
        assert_eq!(results, 2);
    }
}

#[test]
fn a8_without_approval_nothing_is_changed_and_that_is_told() {
    let server = ModelServer::start(in_order(vec![
        tool("write_file", json!({"path": "x", "content": "x"})).into(),
        tool("shell", json!({"command": "touch y"})).into(),
        Reply::say("I could not.").into(),
    ]));
    let desk = Desk::new("openai", &server.url());
    let told = desk.turn("x", &["--approval", "read-only"]).ended("end_turn");
    let refused: Vec<&AgentEvent> =
        told.events.iter().filter(|event| matches!(event, AgentEvent::Refused { .. })).collect();
    assert_eq!(
        refused,
        [
            &AgentEvent::Refused { what: "write_file x".into() },
            &AgentEvent::Refused { what: "shell touch y".into() }
        ]
    );
    assert_eq!(server.calls(CallKind::Main)[0].tools, ["read_file", "search"]);
    assert_eq!(desk.world.git(&["status", "--porcelain"]), "");
}

#[test]
fn what_the_model_gets_wrong_it_is_told() {
    for api in APIS {
        let server = ModelServer::start(in_order(vec![
            tool("teleport", json!({"to": "mars"})).into(),
            tool("read_file", json!({"file": "README.md"})).into(),
            tool("read_file", json!({"path": "../home/.gitconfig"})).into(),
            Reply::say("I give up.").into(),
        ]));
        let told = Desk::new(api, &server.url()).turn("x", &[]).ended("end_turn");
        let answers = told.answers();
        assert!(answers.iter().all(|(failed, _)| *failed), "{answers:?}");
        assert!(answers[0].1.contains("there is no tool `teleport`"), "{answers:?}");
        assert!(answers[1].1.contains("missing field `path`"), "{answers:?}");
        assert!(answers[2].1.contains("not inside the workspace"), "{answers:?}");
    }
}

#[test]
fn a_model_that_goes_round_in_circles_is_stopped() {
    let circle = |_: &Call| tool("read_file", json!({"path": "README.md"})).into();
    let server = ModelServer::start(circle);
    let desk = Desk::new("openai", &server.url());
    let _ = desk.turn("x", &[]).ended("max_steps");
    assert_eq!(server.calls(CallKind::Main).len(), 200);
    let _ = desk.turn("x", &["--max-steps", "3"]).ended("max_steps");
    assert_eq!(server.calls(CallKind::Main).len(), 203);
}

#[test]
fn c5_a_plain_question_gets_a_plain_answer() {
    for api in APIS {
        let server = ModelServer::start_for_all(|call: &Call| match call.last() {
            Last::Prompt("Summarise: x") => Reply::say("It is x.").into(),
            other => panic!("{other:?}"),
        });
        let told = Desk::new(api, &server.url()).turn("Summarise: x", &["--complete"]).ended("end_turn");
        let usage = usage(server.usage(CallKind::Side));
        assert_eq!(
            told.events,
            [
                AgentEvent::Text { text: "It is x.".into() },
                AgentEvent::Usage(usage),
                AgentEvent::End { reason: "end_turn".into() }
            ]
        );
        let [recorded] = &server.requests()[..] else { panic!() };
        assert!(recorded.body.get("tools").is_none() && recorded.body.get("system").is_none());
    }
}

#[test]
fn a_prompt_of_a_megabyte_arrives_whole() {
    let server = ModelServer::start(in_order(vec![Reply::say("ok").into()]));
    let prompt = "繼續 {x} \"q\"\n".repeat(70_000);
    let desk = Desk::new("openai", &server.url());
    let _ = desk.turn(&prompt, &["--context-tokens", "1000000"]).ended("end_turn");
    let calls = server.calls(CallKind::Main);
    assert_eq!(calls[0].said[1], Said::User(prompt));
}
