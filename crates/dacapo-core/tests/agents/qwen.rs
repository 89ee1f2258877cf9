//! Qwen Code 0.15.10.

use dacapo_core::agent::adapter;
use dacapo_core::event::{AgentEvent, TurnEnd, Usage};
use dacapo_core::spec::OutputFormat;

use crate::replay::{
    Turn, call, ended, failed_result, output, permanent, refused, result, session, session_lost, text,
    transient, used, words,
};

/// Whose login is missing.
const HOW: &str = "qwen";

fn turn(name: &str) -> Turn {
    Turn::of(OutputFormat::Qwen, &output("qwen", name), Usage::default())
}

fn printed(lines: &str) -> Turn {
    Turn::of(OutputFormat::Qwen, lines.as_bytes(), Usage::default())
}

/// All fixtures have this one.
const SESSION: &str = "00000000-0000-4000-8000-000000000001";

const SHELL: &str = "cat hello.txt && echo shell-ran > shell.txt && pwd";

#[test]
fn a3_two_tools_and_a_word() {
    let multi = turn("multi");
    assert_eq!(
        multi.events,
        [
            session(SESSION),
            text("Let me use a tool."),
            call("call_m00290", "write_file", "hello.txt"),
            AgentEvent::Usage(used(1329, 79, 100)),
            result("call_m00290", "Successfully created and wrote to new file: hello.txt."),
            text("Let me use a tool."),
            call("call_m00300", "run_shell_command", SHELL),
            AgentEvent::Usage(used(2659, 159, 200)),
            result("call_m00300", "hello from mock\n/project"),
            text("All done: wrote hello.txt and ran the shell."),
            AgentEvent::Usage(used(3990, 240, 300)),
            ended("success"),
        ]
    );
    assert_eq!(multi.exit(0), TurnEnd::Done);
}

#[test]
fn l10_the_total_of_a_resumed_conversation_is_taken_apart() {
    let first = turn("multi").seen().usage;
    let resumed = Turn::of(OutputFormat::Qwen, &output("qwen", "resume"), first);
    let said = used(1332, 82, 100);
    // The server counted one call more than the stream shows.
    let all = used(1332 + 1333, 82 + 83, 200);
    assert_eq!(
        resumed.events,
        [session(SESSION), text("pong"), AgentEvent::Usage(said), AgentEvent::Usage(all), ended("success"),]
    );
    assert_eq!(resumed.exit(0), TurnEnd::Done);
}

#[test]
fn l7_a_helper_does_not_speak_for_the_agent() {
    let sub = turn("subagent");
    assert_eq!(
        sub.events,
        [
            session(SESSION),
            call("call_m00340", "agent", "a sub task"),
            AgentEvent::Usage(used(1334, 84, 100)),
            result("call_m00340", "pong"),
            text("sub-agent said so"),
            AgentEvent::Usage(used(2670, 170, 200)),
            AgentEvent::Usage(used(4005, 255, 300)),
            ended("success"),
        ]
    );
}

#[test]
fn a_helper_that_fails_does_not_end_the_turn() {
    let failed = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"usage":{"input_tokens":0,"output_tokens":0},"error":{"message":"helper broke"}}
"#;
    let whole = String::from_utf8(output("qwen", "subagent")).unwrap();
    let mut lines: Vec<&str> = whole.split_inclusive('\n').collect();
    lines.insert(3, failed);
    assert_eq!(printed(&lines.concat()).events, turn("subagent").events);
    lines.truncate(4);
    assert_eq!(printed(&lines.concat()).exit(1), transient("helper broke"), "unless nothing follows");
}

#[test]
fn a3_its_list_of_steps_is_a_plan() {
    let steps = vec!["first step".to_owned(), "second step".to_owned()];
    assert!(turn("plan").events.contains(&AgentEvent::Plan { steps }));
    let thought = AgentEvent::Thinking { text: "hmm, let me see".into() };
    assert!(turn("thinking").events.contains(&thought));
    assert_eq!(turn("failing-tool").exit(0), TurnEnd::Done);
}

#[test]
fn l8_an_error_that_is_said_and_exits_0_is_a_failure() {
    let refused = turn("e401");
    let message = format!("not logged in: 401 mock says 401; {HOW}");
    assert_eq!(refused.exit(0), permanent(&message));
    assert_eq!(refused.seen().closing, "", "an error is not what the agent says");
    assert_eq!(turn("e400").exit(0), permanent("400 mock says 400"));
    assert_eq!(turn("e403").exit(0), permanent("403 mock says 403"));

    let cut = turn("cut");
    assert_eq!(cut.exit(0), transient("terminated (cause: other side closed)"));
    assert_eq!(cut.seen().closing, "po", "what came before the cut");

    let TurnEnd::Failed { fault: message, .. } = turn("not-logged-in").exit(1) else { panic!() };
    let message = words(&message);
    assert!(
        message.starts_with("not logged in: No auth type is selected.") && message.ends_with(HOW),
        "{message}"
    );
}

#[test]
fn l9_a_limit_is_told_by_its_status_and_never_by_talk() {
    let said = |text: &str, tokens: u32| {
        let text = serde_json::to_string(text).unwrap();
        printed(&format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":{text}}}],"usage":{{"input_tokens":{tokens},"output_tokens":{tokens}}}}}}}
{{"type":"result","subtype":"success","is_error":false,"result":{text},"usage":{{"input_tokens":{tokens},"output_tokens":{tokens}}}}}"#
        ))
    };
    let error = "[API Error: 429 slow down]\nPossible quota limitations in place or slow response times detected. \
                 Please wait and try again later.";
    let limit = TurnEnd::Limit { message: "429 slow down".into(), resets_at: None };
    assert_eq!(said(error, 0).exit(0), limit);
    let talk = said(&format!("I saw this: {error}"), 7);
    assert_eq!(talk.exit(0), TurnEnd::Done, "the model used tokens to say it");
    assert_eq!(said("[API Error: 429 slow down] is what I saw", 0).exit(0), TurnEnd::Done);
    let exhausted = "[API Error: Quota exceeded (Status: RESOURCE_EXHAUSTED)]";
    assert!(matches!(said(exhausted, 0).exit(0), TurnEnd::Limit { .. }));
}

#[test]
fn l8_newer_versions_say_that_an_error_is_one() {
    let newer = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"[API Error: 500 oh no]"}}"#;
    assert_eq!(printed(newer).exit(1), transient("500 oh no"));
    let silent = r#"{"type":"result","subtype":"error_during_execution","is_error":true}"#;
    assert_eq!(printed(silent).exit(1), transient("qwen ended with error_during_execution"));
}

#[test]
fn a8_what_was_refused_is_named() {
    let shell = format!("run_shell_command ({SHELL})");
    assert_eq!(turn("perm-edits").seen().refused, [shell.as_str()]);
    assert_eq!(turn("perm-default").seen().refused, ["write_file (hello.txt)", &shell]);
    let declined = "Qwen Code requires permission to use \"run_shell_command\", but that permission was declined. \
                    Matching deny rule: \"run_shell_command\".";
    let told = turn("perm-edits").events;
    assert!(told.contains(&failed_result("call_m00520", declined)), "{told:?}");
    assert!(told.contains(&refused(&format!("run_shell_command ({SHELL})"))));
}

#[test]
fn what_standard_error_says_where_the_stream_says_nothing() {
    let qwen = adapter(OutputFormat::Qwen).unwrap();
    let end = |code, stderr: &str| match qwen.diagnose(code, stderr) {
        Some(AgentEvent::Error { failure, fault }) => {
            TurnEnd::Failed { failure, fault: words(&fault).into() }
        }
        other => panic!("{other:?}"),
    };
    let gone = "No saved session found with ID x. Run `qwen --resume` without an ID to choose from existing sessions.";
    let message = format!("qwen no longer has this conversation ({gone})");
    assert_eq!(end(1, gone), session_lost(&message));
    assert_eq!(
        end(1, "Error: Session Id x is already in use.\n"),
        transient("qwen exited with code 1: Session Id x is already in use.")
    );
    assert_eq!(end(41, "no"), permanent(&format!("not logged in: no; {HOW}")));
    assert_eq!(qwen.diagnose(1, ""), None);
}
