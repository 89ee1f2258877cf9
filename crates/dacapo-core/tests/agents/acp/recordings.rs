//! What real agents said, read event by event.

use super::*;
use crate::replay;
use dacapo_core::event::{Fault, Notice};

/// All that happened in a turn, and how it is weighed.
fn check(turn: &Turn, expected: &[&str], end: &TurnEnd) {
    assert_eq!(turn.lines(), expected);
    assert_eq!(turn.end(), *end);
}

fn cancelled(turn: &Turn) {
    assert_eq!(turn.methods().last().map(String::as_str), Some("session/cancel"));
    assert_eq!(turn.lines().last().map(String::as_str), Some("end cancelled"));
    assert_eq!(weigh(&Ending::Cancelled, &turn.observed(""), true), TurnEnd::Cancelled);
}

#[test]
fn a2_our_side_says_what_the_recorded_client_said() {
    for agent in ["claude", "codex", "copilot", "gemini", "opencode"] {
        for name in ["session", "session-load", "err-e401", "err-e429"] {
            for (number, turn) in play(&format!("{agent}-{name}"), Approval::Auto).iter().enumerate() {
                // The other client set no modes; where it could not load it went on all the same.
                let ours = turn.said.iter().filter(|said| said["id"].as_u64().is_none_or(|id| id % 16 != 5));
                let ours: Vec<&Value> = ours.collect();
                for (said, expected) in ours.iter().zip(&turn.expected) {
                    let of = |message: &Value| match message["method"].as_str() {
                        Some("initialize") => (message["id"].clone(), json!("initialize"), Value::Null),
                        _ => (message["id"].clone(), message["method"].clone(), message["params"].clone()),
                    };
                    assert_eq!(of(said), of(expected), "{agent} {name} {number}");
                    assert_eq!(said["result"], expected["result"], "{agent} {name} {number}");
                }
                let unheard = turn.expected.len() - ours.len();
                assert_eq!(
                    unheard,
                    usize::from(agent == "gemini" && name == "session-load"),
                    "{agent} {name}"
                );
            }
        }
    }
}

#[test]
fn gemini() {
    let turns = play("gemini-session", Approval::Auto);
    check(
        &turns[0],
        &[
            "session 975cc3fe-e489-4467-90be-9937eac6e7d8",
            "text \"Let me use a tool.\"",
            "call write_file__fc_1349 edit: /project/hello.txt",
            "result write_file__fc_1349: \"\"",
            "text \"Let me use a tool.\"",
            "call run_shell_command__fc_1352 execute: cat hello.txt && echo shell-ran > shell.txt && pwd",
            "result run_shell_command__fc_1352: \"\"",
            "text \"All done: wrote hello.txt and ran the shell.\"",
            "usage 3702 168 0",
            "end end_turn",
        ],
        &TurnEnd::Done,
    );
    let modes = |turn: &Turn| {
        turn.said
            .iter()
            .filter_map(|said| said["params"]["modeId"].as_str().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    assert_eq!(modes(&turns[0]), ["yolo"]);
    assert_eq!(modes(&play("gemini-session", Approval::Edits)[0]), ["autoEdit"]);
    check(&turns[1], &["text \"pong\"", "usage 1234 56 0", "end end_turn"], &TurnEnd::Done);
    cancelled(&turns[2]);
    assert_eq!(turns[0].observed("All done: wrote").closing, "All done: wrote hello.txt and ran the shell.");
}

#[test]
fn copilot_counts_over_its_process() {
    let turns = play("copilot-session", Approval::Auto);
    check(
        &turns[0],
        &[
            "session adc4c5d5-e79c-4297-a5b0-b0853d573af7",
            "text \"Let\"",
            "text \" me use a tool.\"",
            "call call_568 edit: /project/hello.txt",
            "text \"Info: /project/hello.txt\"",
            "result call_568: \"Created file /project/hello.txt with 16 characters\"",
            "text \"Let\"",
            "text \" me use a tool.\"",
            "call call_569 execute: cat hello.txt && echo shell-ran > shell.txt && pwd",
            "result call_569: \"hello from mock\\n/project\\n<shellId: s1 completed with exit code 0>\"",
            "text \"All\"",
            "text \" done: wrote hello.txt and ran the shell.\"",
            "usage 3702 168 300",
            "end end_turn",
        ],
        &TurnEnd::Done,
    );
    check(&turns[1], &["text \"pon\"", "text \"g\"", "usage 1234 56 100", "end end_turn"], &TurnEnd::Done);
    assert_eq!(turns[2].usage(), Usage { input: 1234, output: 56, cached: 100, ..Usage::default() });
    cancelled(&turns[2]);
}

#[test]
fn opencode_says_what_its_last_call_used_and_what_all_of_it_cost() {
    let turns = play("opencode-session", Approval::Auto);
    check(
        &turns[0],
        &[
            "session ses_e1f845080ffeJSLHzzM8Qzm4Kq",
            "text \"Let\"",
            "text \" me use a tool.\"",
            "call call_1281 edit: /project/hello.txt",
            "result call_1281: \"Wrote file successfully.\"",
            "text \"Let\"",
            "text \" me use a tool.\"",
            "call call_1284 execute: cat hello.txt && echo shell-ran > shell.txt && pwd",
            "result call_1284: \"hello from mock\\n/project\\n\"",
            "text \"All\"",
            "text \" done: wrote hello.txt and ran the shell.\"",
            "usage 0 0 0 $0.012726",
            "usage 1234 56 100 $0.012726",
            "end end_turn",
        ],
        &TurnEnd::Done,
    );
    assert_eq!(turns[0].notes, [Notice::UsageOfLastCallOnly { agent: "bot".into() }]);
    let second = [
        "text \"pon\"",
        "text \"g\"",
        "usage 0 0 0 $0.004242",
        "usage 1234 56 100 $0.004242",
        "end end_turn",
    ];
    check(&turns[1], &second, &TurnEnd::Done);
    assert_eq!(turns[2].usage().cost_usd, Some(0.0));
    cancelled(&turns[2]);
    // Its mode is an option of its configuration.
    let read_only = &play("opencode-session", Approval::ReadOnly)[0];
    assert_eq!(read_only.said[2]["params"]["value"], "plan", "{:?}", read_only.said[2]);
}

#[test]
fn claude_is_charged_for_side_calls_too() {
    let turns = play("claude-session", Approval::Auto);
    check(
        &turns[0],
        &[
            "session c6e179e1-a568-4d81-a176-c2ea29df5225",
            "text \"Let me us\"",
            "text \"e a tool.\"",
            "call toolu_mock0696 Write: /project/hello.txt",
            "result toolu_mock0696: \"File created successfully at: /project/hello.txt (file state is current in your context — no need to Read it back)\"",
            "text \"Let me us\"",
            "text \"e a tool.\"",
            "call toolu_mock0699 Bash: cat hello.txt && echo shell-ran > shell.txt && pwd",
            "result toolu_mock0699: \"```console\\nhello from mock\\n/project\\n```\"",
            "text \"All done: wrote hello.\"",
            "text \"txt and ran the shell.\"",
            "usage 0 0 0 $0.024304",
            "usage 5336 224 400 $0.024304",
            "end end_turn",
        ],
        &TurnEnd::Done,
    );
    assert_eq!(turns[1].usage().cost_usd.map(|cost| (cost * 1e6).round()), Some(12152.0));
    cancelled(&turns[2]);
}

#[test]
fn codex() {
    let turns = play("codex-session", Approval::Auto);
    check(
        &turns[0],
        &[
            "session 01a1e07b-3593-7781-b86e-030b2ad6eb14",
            "text \"Let\"",
            "text \" me use a tool.\"",
            "call call_1069 edit: Editing files",
            "result call_1069: \"\"",
            "text \"Let\"",
            "text \" me use a tool.\"",
            "call call_1071 exec_command: cat hello.txt && echo shell-ran > shell.txt && pwd",
            "result call_1071: \"\"",
            "text \"All\"",
            "text \" done: wrote hello.txt and ran the shell.\"",
            "usage 3702 168 300",
            "end end_turn",
        ],
        &TurnEnd::Done,
    );
    assert_eq!(turns[1].usage(), Usage { input: 1234, output: 56, cached: 100, ..Usage::default() });
    cancelled(&turns[2]);
}

#[test]
fn l8_a_refused_login_is_for_good_whatever_way_it_is_said() {
    for (agent, words) in [
        ("claude", "not logged in: Authentication required"),
        ("codex", "; codex"),
        ("copilot", "; copilot"),
        ("gemini", "not logged in: mock says 401; gemini"),
        ("opencode", "; opencode"),
    ] {
        let turn = play(&format!("{agent}-err-e401"), Approval::Auto).remove(0);
        let TurnEnd::Failed { failure: FailureKind::Permanent, fault: message } = turn.end() else {
            panic!("{agent}: {:?}", turn.lines());
        };
        let message = replay::words(&message);
        assert!(message.contains(words), "{agent}: {message}");
    }
}

#[test]
fn l9_a_limit_is_a_limit_whatever_way_it_is_said() {
    for agent in ["claude", "codex", "copilot", "gemini", "opencode"] {
        let turn = play(&format!("{agent}-err-e429"), Approval::Auto).remove(0);
        assert!(matches!(turn.end(), TurnEnd::Limit { .. }), "{agent}: {:?}", turn.lines());
    }
    let codex = play("codex-err-e429", Approval::Auto).remove(0);
    let retries =
        codex.events.iter().filter(|event| matches!(event, AgentEvent::Retry { status: Some(429), .. }));
    assert_eq!(retries.count(), 5, "what it tries by itself is seen");
}

#[test]
fn l13_a_conversation_of_an_earlier_process_is_taken_up() {
    for (agent, way, usage) in [
        ("claude", "session/resume", (1334, 56)),
        ("codex", "session/resume", (1234, 56)),
        // It counts from nothing again.
        ("copilot", "session/load", (1234, 56)),
        ("opencode", "session/resume", (1234, 56)),
    ] {
        let turn = play(&format!("{agent}-session-load"), Approval::Auto).remove(0);
        assert_eq!(turn.methods()[1], way, "{agent}");
        assert_eq!((turn.usage().input, turn.usage().output), usage, "{agent}");
        let texts = turn.lines().into_iter().filter(|line| line.starts_with("text ")).collect::<Vec<_>>();
        assert_eq!(texts.len(), 2, "{agent}: its history is not said now: {texts:?}");
        assert_eq!(turn.observed("pong").closing, "pong", "{agent}");
        assert_eq!(turn.end(), TurnEnd::Done);
    }
    let gemini = play("gemini-session-load", Approval::Auto).remove(0);
    let TurnEnd::Failed { failure: FailureKind::SessionLost, fault: message } = gemini.end() else {
        panic!("{:?}", gemini.lines());
    };
    assert!(
        matches!(&message, Fault::SessionNotTakenUp { follow_up_of, .. } if follow_up_of == "t"),
        "{message:?}"
    );
    assert_eq!(gemini.methods(), ["initialize", "session/load"], "no prompt into the void");
}
