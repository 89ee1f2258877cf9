//! Claude Code 2.1.325 and some older versions.

use dacapo_core::agent::{Ending, ParserSetting, adapter};
use dacapo_core::event::{AgentEvent, FailureKind, TurnEnd, Usage};
use dacapo_core::spec::OutputFormat;

use crate::replay::{
    Turn, call, ended, failed_result, limit, output, permanent, refused, result, retry, session,
    session_lost, text, transient, used, words,
};

/// All fixtures but those of a chosen id have this one.
const SESSION: &str = "00000000-0000-4000-8000-000000000001";

/// Whose login is missing.
const HOW: &str = "claude";

fn turn(name: &str) -> Turn {
    Turn::of(OutputFormat::Claude, &output("claude", name), Usage::default())
}

fn paid(input: u64, output: u64, cached: u64, cost: f64) -> Usage {
    Usage { cost_usd: Some(cost), ..used(input, output, cached) }
}

/// An output without the fields of these names.
fn without(name: &str, fields: &[&str]) -> Vec<u8> {
    let mut lines = Vec::new();
    for line in output("claude", name).split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let mut line: serde_json::Map<_, _> = serde_json::from_slice(line).unwrap();
        line.retain(|name, _| !fields.contains(&name.as_str()));
        lines.push(serde_json::to_string(&line).unwrap());
    }
    lines.join("\n").into_bytes()
}

const SHELL: &str = "cat hello.txt && echo shell-ran > shell.txt && pwd";

#[test]
fn a3_two_tools_and_a_word() {
    let multi = turn("multi");
    let usage = |calls: u64| AgentEvent::Usage(used(1334 * calls, calls, 100 * calls));
    assert_eq!(
        multi.events,
        [
            session("11111111-2222-4333-8444-555555555555"),
            text("Let me use a tool."),
            usage(1),
            call("toolu_mock0002", "Write", "hello.txt"),
            result(
                "toolu_mock0002",
                "File created successfully at: hello.txt (file state is current in your context — no need to \
                 Read it back)"
            ),
            text("Let me use a tool."),
            usage(2),
            call("toolu_mock0003", "Bash", SHELL),
            result("toolu_mock0003", "hello from mock\n/project"),
            text("All done: wrote hello.txt and ran the shell."),
            usage(3),
            AgentEvent::Usage(paid(4002, 168, 300, 0.018228)),
            ended("end_turn"),
        ]
    );
    assert_eq!(multi.exit(0), TurnEnd::Done);
    assert_eq!(multi.seen().closing, "All done: wrote hello.txt and ran the shell.");
}

#[test]
fn l10_a_resumed_turn_is_charged_for_itself_alone() {
    let earlier = paid(4002, 168, 300, 0.018228);
    let this = paid(1334, 56, 100, 0.006_076_000_000_000_001);
    let resumed = Turn::of(OutputFormat::Claude, &output("claude", "resume"), earlier);
    assert_eq!(resumed.seen().usage, this);
    // Some versions (2.1.280 is one) give the total of the conversation and not what came on top of it.
    let total_alone = without("resume", &["model_usage_since_last_result"]);
    let seen = Turn::of(OutputFormat::Claude, &total_alone, earlier).seen().usage;
    assert_eq!((seen.input, seen.output, seen.cached), (1334, 56, 100));
    assert!((seen.cost_usd.unwrap() - 0.006_076).abs() < 1e-9, "{seen:?}");
}

#[test]
fn l10_older_versions_count_from_the_start_of_their_process() {
    // Their total is of this run, however much earlier ones used; side models are in it.
    let earlier = paid(4002, 168, 300, 0.018);
    let seen = Turn::of(OutputFormat::Claude, &output("claude", "v2.0.60-multi"), earlier).seen().usage;
    let alone = turn("v2.0.60-multi").seen().usage;
    assert_eq!(seen, alone);
    assert!(seen.input > 3 * 1300 && seen.cost_usd.is_some(), "{seen:?}");
    // The oldest name the tokens of the last call only.
    let oldest = turn("v1.0.110-multi").seen().usage;
    assert_eq!((oldest.input, oldest.cached), (1225 + 1226 + 1228 + 3 * 107, 300));
    assert_eq!(oldest.cost_usd, Some(0.015_945_349_999_999_997));
}

#[test]
fn l7_a_helper_does_not_speak_for_the_agent_and_work_in_the_background_wakes_it_up_again() {
    let both = turn("subagent");
    let launched = "Async agent launched successfully. (This tool result is internal metadata — never quote or paste \
                    any [cut]";
    let first = paid(3606 + 321, 156, 300, 0.017_709_000_000_000_003);
    let again = Usage { input: first.input + 1311, output: first.output + 1, cached: 400, ..first };
    let last = paid(first.input + 1311, 210, 400, 0.023_660_000_000_000_004);
    assert_eq!(
        both.events,
        [
            session(SESSION),
            call("toolu_m00010", "Agent", "a sub task"),
            AgentEvent::Usage(used(1308, 1, 100)),
            result("toolu_m00010", launched),
            AgentEvent::Usage(used(1308 + 1309, 2, 200)),
            text("sub-agent said so"),
            AgentEvent::Usage(used(1308 + 1309 + 1310, 3, 300)),
            AgentEvent::Usage(first),
            text("\n\nthe background work is done"),
            AgentEvent::Usage(again),
            AgentEvent::Usage(last),
            ended("end_turn"),
        ]
    );
    assert_eq!(both.exit(0), TurnEnd::Done);
    let background = turn("background");
    assert_eq!(background.exit(0), TurnEnd::Done);
    assert_eq!(background.seen().usage, paid(3618 + 321, 168, 300, 0.017997));
}

#[test]
fn k5_a_turn_that_was_cut_after_its_first_result_has_not_ended() {
    let whole = output("claude", "subagent");
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let cut = |lines: &[&[u8]]| Turn::of(OutputFormat::Claude, &lines.concat(), Usage::default());
    assert_eq!(cut(&lines[..11]).end(&Ending::Unwatched), TurnEnd::Done, "up to the result");
    assert_eq!(cut(&lines[..12]).end(&Ending::Unwatched), TurnEnd::Interrupted, "it was at work again");
}

#[test]
fn a_thought_is_not_said() {
    let seen = turn("thinking");
    let thought = AgentEvent::Thinking { text: "hmm, let me see".into() };
    assert_eq!(seen.events.iter().filter(|event| **event == thought).count(), 2);
    assert_eq!(seen.seen().closing, "");
    assert_eq!(seen.exit(0), TurnEnd::Done);
}

#[test]
fn l8_a_refused_login_is_permanent_and_says_how_to_log_in() {
    let tries = turn("e401");
    let mut expected = vec![session(SESSION)];
    expected.extend((0..7).map(|_| retry(Some(401), "HTTP 401 (authentication_failed)")));
    assert_eq!(tries.events, expected);

    let refused = turn("e401-noretry");
    let message = format!("not logged in: Failed to authenticate. API Error: 401 mock says 401; {HOW}");
    let error = AgentEvent::Error { failure: FailureKind::Permanent, fault: message.clone().into() };
    let nothing = AgentEvent::Usage(paid(0, 0, 0, 0.0));
    assert_eq!(refused.events, [session(SESSION), nothing, error]);
    for code in [0, 1] {
        assert_eq!(refused.exit(code), permanent(&message), "exit {code}");
    }
    assert_eq!(turn("not-logged-in").exit(1), permanent(&format!("not logged in; {HOW}")));
    let TurnEnd::Failed { failure, fault: message } = turn("v1.0.110-e401").exit(1) else { panic!() };
    assert_eq!(failure, FailureKind::Permanent);
    assert!(words(&message).ends_with(HOW), "{message:?}");
}

#[test]
fn l8_what_only_a_person_can_heal() {
    assert_eq!(turn("credit").exit(1), permanent("payment required: Credit balance is too low"));
    let model = "There's an issue with the selected model (claude-opus-5-5). It may not exist or you may not have \
                 access to it. Run --model to pick a different model.";
    assert_eq!(turn("model-missing").exit(1), permanent(model));
    assert_eq!(turn("e400").exit(1), permanent("API Error: 400 mock says 400"));
    let gone = "claude no longer has this conversation (No conversation found with session ID: \
                11111111-2222-4333-8444-000000000000)";
    assert_eq!(turn("resume-missing").exit(1), session_lost(gone));
}

#[test]
fn l9_a_limit_with_and_without_its_reset_time() {
    let known = turn("limit");
    let message = "You've hit your 5-hour limit · resets 12:08am (UTC)";
    let reset = "2026-11-16T00:08:10Z".parse().unwrap();
    let event = AgentEvent::Limit { message: message.into(), resets_at: Some(reset) };
    let nothing = AgentEvent::Usage(paid(0, 0, 0, 0.0));
    assert_eq!(known.events, [session(SESSION), nothing, event]);
    assert_eq!(known.exit(1), limit(message, Some("2026-11-16T00:08:10Z")));

    let tries = turn("e429");
    let message = "API Error: Request rejected (429) · mock says 429";
    assert_eq!(tries.events[1], retry(Some(429), "HTTP 429 (rate_limit)"));
    assert_eq!((tries.events.len(), tries.exit(1)), (13, limit(message, None)));
    assert!(matches!(turn("v2.0.60-e429").exit(1), TurnEnd::Limit { resets_at: None, .. }));

    let old = br#"{"is_error":true,"result":"Claude AI usage limit reached|1794787690","subtype":"success","type":"result"}"#;
    let old = Turn::of(OutputFormat::Claude, old, Usage::default());
    assert_eq!(old.exit(1), limit("Claude AI usage limit reached|1794787690", Some("2026-11-16T00:08:10Z")));
}

#[test]
fn l9_a_long_sleep_of_its_own_is_a_limit_at_once() {
    let line = |status: u16, delay: u64| {
        format!(
            r#"{{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":{delay},"error_status":{status},"error":"rate_limit"}}"#
        )
    };
    let limits = |status, delay| {
        let turn = Turn::of(OutputFormat::Claude, line(status, delay).as_bytes(), Usage::default());
        turn.events
            .iter()
            .filter(|event| matches!(event, AgentEvent::Limit { resets_at: Some(_), .. }))
            .count()
    };
    for (status, delay, expected) in
        [(429, 3_600_000, 1), (529, 300_000, 1), (429, 36_786, 0), (503, 3_600_000, 0)]
    {
        assert_eq!(limits(status, delay), expected, "{status} {delay}");
    }
}

#[test]
fn l9_older_versions_tell_the_time_in_words_alone() {
    let now = "2026-11-15T23:08:00+00:00[UTC]".parse().unwrap();
    let setting = ParserSetting { now, ..ParserSetting::default() };
    for (name, message) in [
        ("v2.0.60-limit", "Limit reached · resets 12:08am (UTC)"),
        ("v1.0.110-limit", "Spending cap reached resets 12:08am"),
    ] {
        let turn = Turn::with(OutputFormat::Claude, &output("claude", name), setting.clone());
        assert_eq!(turn.exit(1), limit(message, Some("2026-11-16T00:09:00Z")));
    }
}

#[test]
fn l9_a_warning_or_a_word_about_limits_is_none() {
    let near = turn("limit-near");
    assert_eq!(near.exit(0), TurnEnd::Done);
    let talk = br#"{"type":"assistant","message":{"content":[{"type":"text","text":"API Error: 429. You've hit your limit, usage limit reached|1794787690"}]}}
{"type":"result","subtype":"success","is_error":false,"result":"API Error: 429. You've hit your limit, usage limit reached|1794787690"}"#;
    assert_eq!(Turn::of(OutputFormat::Claude, talk, Usage::default()).exit(0), TurnEnd::Done);
}

#[test]
fn l8_what_passes_is_transient() {
    let none = "no answer from the model server";
    let refused = "API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)";
    let unreachable = turn("unreachable");
    assert_eq!(unreachable.events[1..11], vec![retry(None, none); 10]);
    assert_eq!(unreachable.exit(1), transient(refused));
    assert_eq!(turn("hang-timeout5s").exit(1), transient("Request timed out"));
    let overloaded = "API Error: Server error mid-response. The response above may be incomplete.";
    assert_eq!(turn("overloaded").exit(1), transient(overloaded));
    assert_eq!(turn("maxturns").exit(1), transient("Reached maximum number of turns (1)"));
    assert_eq!(turn("maxbudget").exit(1), transient("Reached maximum budget ($0.007)"));
    // The budget was found exceeded between two calls; the usage of both counts.
    assert_eq!(turn("maxbudget").seen().usage, paid(2668, 112, 200, 0.012152));
}

#[test]
fn l12_a_server_that_hangs_is_no_end() {
    let hang = turn("hang");
    assert_eq!(hang.events, [session(SESSION), retry(None, "no answer from the model server")]);
    assert_eq!(hang.end(&Ending::TimedOut("idle".into())), transient("idle"));
}

#[test]
fn a_cut_stream_that_healed_is_no_failure() {
    let cut = turn("cut");
    assert_eq!(
        cut.events,
        [
            session(SESSION),
            retry(None, "no answer from the model server"),
            text("pong"),
            AgentEvent::Usage(used(1334, 56, 100)),
            // The calls that were cut were paid for, too.
            AgentEvent::Usage(paid(4002, 58, 300, 0.016028)),
            ended("end_turn"),
        ]
    );
    assert_eq!(cut.exit(0), TurnEnd::Done);
}

#[test]
fn l14_our_own_signal_is_a_cancel_and_a_foreign_one_a_failure() {
    let interrupted = turn("sigint");
    assert_eq!(interrupted.end(&Ending::Cancelled), TurnEnd::Cancelled);
    assert_eq!(interrupted.exit(0), transient("claude was interrupted (aborted_tools)"), "exit 0 is none");
    assert_eq!(interrupted.seen().usage, paid(1334, 56, 100, 0.006_076_000_000_000_001));

    let ended = turn("sigterm");
    let sleep = "echo $$ > sleep.pid; sleep 987";
    assert_eq!(
        ended.events,
        [
            session(SESSION),
            text("Let me use a tool."),
            AgentEvent::Usage(used(1334, 1, 100)),
            call("toolu_mock0025", "Bash", sleep),
            failed_result("toolu_mock0025", "Exit code 137"),
        ]
    );
    assert_eq!(ended.end(&Ending::Cancelled), TurnEnd::Cancelled);
    assert_eq!(ended.exit(143), transient("the agent exited with code 143"));
    assert_eq!(turn("sigkill").end(&Ending::Signalled(9)), transient("the agent was ended by signal 9"));
}

#[test]
fn a8_what_was_refused_is_named_once() {
    let refusals = |name: &str| {
        let all = turn(name).events.into_iter();
        all.filter(|event| matches!(event, AgentEvent::Refused { .. })).collect::<Vec<_>>()
    };
    let write = refused("Write (hello.txt)");
    let shell = refused(&format!("Bash ({SHELL})"));
    assert_eq!(refusals("perm-default"), [write, shell.clone()]);
    assert_eq!(refusals("perm-dontask"), [shell]);
    assert_eq!(turn("perm-default").exit(0), TurnEnd::Done);
    // Older versions list refusals at the end alone.
    let kept = without("perm-default", &["tool_use_id"]);
    let at_the_end = Turn::of(OutputFormat::Claude, &kept, Usage::default()).seen().refused;
    assert!(at_the_end.contains(&"Write (hello.txt)".to_owned()), "{at_the_end:?}");
}

#[test]
fn what_standard_error_says_where_the_stream_says_nothing() {
    let claude = adapter(OutputFormat::Claude).unwrap();
    let end = |code, stderr: &str| match claude.diagnose(code, stderr) {
        Some(AgentEvent::Error { failure, fault }) => {
            TurnEnd::Failed { failure, fault: words(&fault).into() }
        }
        other => panic!("{other:?}"),
    };
    let root = "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons";
    assert_eq!(
        end(1, &format!("{root}\n")),
        permanent(&format!("{root}; set IS_SANDBOX=1 where that is what you want"))
    );
    let gone = "No conversation found with session ID: x";
    let message = format!("claude no longer has this conversation ({gone})");
    assert_eq!(end(1, gone), session_lost(&message));
    assert_eq!(
        end(1, "Error: Session ID x is already in use.\n\n"),
        transient("claude exited with code 1: Session ID x is already in use.")
    );
    assert_eq!(claude.diagnose(1, ""), None);
    assert_eq!(claude.diagnose(0, "some warning"), None);
}
