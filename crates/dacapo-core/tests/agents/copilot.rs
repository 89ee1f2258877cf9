use dacapo_core::agent::{Ending, ParserSetting, Patience};
use dacapo_core::event::{AgentEvent, FailureKind, TurnEnd, Usage};
use dacapo_core::spec::OutputFormat;
use std::time::Duration;

use crate::replay::{
    call, end_of, ended, error, events, events_with, failed_result, output, path, permanent, refused, result,
    retry, session, text, transient, usage,
};

const COPILOT: OutputFormat = OutputFormat::Copilot;

fn read(name: &str) -> Vec<AgentEvent> {
    events(COPILOT, &output("copilot", name), usize::MAX)
}

fn ends(name: &str, code: i32) -> TurnEnd {
    end_of(COPILOT, &read(name), &Ending::Exited(code))
}

const SHELL: &str = "cat hello.txt && echo shell-ran > shell.txt && pwd";

#[test]
fn a3_tools_and_words_of_a_turn_each_once() {
    assert_eq!(
        read("multi"),
        [
            text("Let me use a tool."),
            call("call_63", "create", "hello.txt"),
            result("call_63", "Created file hello.txt with 16 characters"),
            text("Let me use a tool."),
            call("call_64", "bash", SHELL),
            result("call_64", "hello from mock\n.\n<shellId: s1 completed with exit code 0>"),
            text("All done: wrote hello.txt and ran the shell."),
            session("bc492a92-8777-4dd0-90dc-3dc45598be36"),
            ended("completed"),
        ]
    );
    assert_eq!(ends("multi", 0), TurnEnd::Done);
    let pong = [text("pong"), session("b411af2c-7423-4c64-85c6-a9b9f8e98460"), ended("completed")];
    assert_eq!(read("text"), pong);
}

#[test]
fn l10_usage_is_that_of_this_turn_though_the_file_counts_over_the_conversation() {
    let used = |name: &str, earlier: Usage| {
        let setting = ParserSetting {
            earlier,
            usage_file: Some(path("copilot", &format!("{name}.usage.json"))),
            ..ParserSetting::default()
        };
        events_with(setting, COPILOT, &output("copilot", name), usize::MAX)
    };
    let fresh = "11111111-2222-4333-8444-000000000001";
    let expected = [text("pong"), session(fresh), ended("completed"), usage(1234, 56, 100, None)];
    assert_eq!(used("sessionid-new", Usage::default()), expected);

    let earlier = Usage { input: 3702, output: 168, cached: 300, ..Usage::default() };
    assert_eq!(used("resume", earlier).last(), Some(&usage(1234, 56, 100, None)));
    assert_eq!(used("resume", Usage::default()).last(), Some(&usage(4936, 224, 400, None)));
    let more = Usage { input: 9000, ..earlier };
    assert_eq!(used("resume", more).last(), Some(&usage(4936, 224, 400, None)), "it has begun to count anew");
}

#[test]
fn l8_a_refused_login_is_given_up_at_its_second_attempt() {
    let attempt = retry(Some(401), "status 401: mock says 401");
    let message = "not logged in: Authentication failed with provider at http://127.0.0.1:1/e401/v1 (HTTP 401). \
        Check your COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN.; copilot";
    let session = session("011bf571-bc94-4b1b-90cb-c4a9e2cc8539");
    let events = read("e401");
    let refusal = error(permanent(message));
    assert_eq!(events, [attempt.clone(), attempt.clone(), attempt, session, refusal]);
    assert_eq!(ends("e401", 1), permanent(message));

    let mut patience = Patience::new(std::time::Duration::from_secs(86_400));
    assert_eq!(patience.see(&events[0], Duration::ZERO, None), None);
    assert!(patience.see(&events[1], Duration::ZERO, None).is_some());
}

#[test]
fn l9_a_limit_is_one_whether_or_not_its_end_is_named() {
    let message = "Failed to get response from the AI model; retried 5 times \
        (total retry wait time: 5.47 seconds) Last error: 429 mock says 429";
    assert_eq!(ends("e429", 1), TurnEnd::Limit { message: message.into(), resets_at: None });
    assert_eq!(read("e429")[..6], vec![retry(Some(429), "status 429: mock says 429"); 6]);

    let resets_at = Some("2026-11-16T00:14:49Z".parse().unwrap());
    let message = "429 The usage limit has been reached".into();
    assert_eq!(ends("limit", 1), TurnEnd::Limit { message, resets_at });
}

fn ended_by(error: &str) -> TurnEnd {
    let lines = format!(
        r#"{{"timestamp":"2026-04-16T12:00:00.500Z","data":{error},"type":"session.error"}}
{{"exitCode":1,"type":"result","sessionId":"s"}}"#
    );
    let setting =
        ParserSetting { now: "2026-04-16T14:00:00[+02:00]".parse().expect("a time"), ..Default::default() };
    let events = events_with(setting, COPILOT, lines.as_bytes(), usize::MAX);
    end_of(COPILOT, &events, &Ending::Exited(1))
}

#[test]
fn l9_the_end_of_githubs_own_limits_is_in_their_words() {
    for (words, expected) in [
        (
            "Sorry, you've hit a rate limit. Please try again in 51 hours. Please review",
            "2026-04-18T15:00:00.5Z",
        ),
        (
            "Sorry, you've exceeded your 5 hour session limits. Please retry after 2733 seconds.",
            "2026-04-16T12:45:33.5Z",
        ),
        (
            "You've reached your weekly rate limit. Please wait for your limit to reset on April 20, 2026 at 2:00 AM.",
            "2026-04-20T00:01:00Z",
        ),
    ] {
        let error = format!(r#"{{"errorType":"rate_limit","message":"{words}"}}"#);
        let resets_at = Some(expected.parse().unwrap());
        assert_eq!(ended_by(&error), TurnEnd::Limit { message: words.into(), resets_at });
    }
}

#[test]
fn l8_the_type_of_an_error_goes_before_its_status() {
    let kind = |error: &str| match ended_by(error) {
        TurnEnd::Failed { failure: FailureKind::Permanent, .. } => "permanent",
        TurnEnd::Failed { failure: FailureKind::Transient, .. } => "transient",
        TurnEnd::Limit { .. } => "limit",
        other => panic!("{other:?}"),
    };
    for (error, expected) in [
        (r#"{"errorType":"quota","errorCode":"quota_exceeded","statusCode":429}"#, "permanent"),
        (r#"{"errorType":"quota","errorCode":"session_quota_exceeded"}"#, "limit"),
        (r#"{"errorType":"authorization","statusCode":403}"#, "permanent"),
        (r#"{"errorType":"policy"}"#, "permanent"),
        (r#"{"errorType":"query","statusCode":402}"#, "permanent"),
        (r#"{"errorType":"query","statusCode":404}"#, "permanent"),
        (r#"{"errorType":"query","statusCode":429}"#, "limit"),
        (r#"{"errorType":"query","statusCode":502}"#, "transient"),
        (r#"{"errorType":"context_limit"}"#, "transient"),
        (r#"{"errorType":7,"message":["rate limit"]}"#, "transient"),
    ] {
        assert_eq!(kind(error), expected, "{error}");
    }
}

#[test]
fn l8_what_may_heal_is_transient() {
    let cut = "Failed to get response from the AI model; retried 5 times (total retry wait time: 5.00 seconds) \
        Last error: Failed to finalize chat-completions stream: missing finish_reason for choice 0";
    assert_eq!(ends("cut", 1), transient(cut));
    // What came of a cut answer is not what the agent says, and no sign of an answer either.
    assert!(!read("cut").iter().any(|event| matches!(event, AgentEvent::Text { .. })));
    let unreachable = "Could not connect to local model provider at http://127.0.0.1:9/v1. \
        Check that the service is running and the port is correct.";
    assert_eq!(ends("unreachable", 1), transient(unreachable));
    assert_eq!(ends("e400", 1), permanent("400 mock says 400"));
}

#[test]
fn an_interrupted_turn_is_none_though_it_ends_with_0() {
    let tool = [text("Let me use a tool."), call("call_84", "bash", "echo $$ > sleep.pid; sleep 987")];
    let stopped = error(transient("copilot was interrupted (user_initiated)"));
    let failed_tool = |events: &[AgentEvent]| {
        events
            .iter()
            .filter(|event| !matches!(event, AgentEvent::ToolResult { .. }))
            .cloned()
            .collect::<Vec<_>>()
    };
    let session = session("e9bc19c6-e886-494f-8212-170f9d566e90");
    assert_eq!(failed_tool(&read("native-sigterm")), [&tool[..], &[session, stopped]].concat());
    assert_eq!(ends("native-sigterm", 0), transient("copilot was interrupted (user_initiated)"));
    assert_eq!(ends("native-sigint", 0), transient("copilot was interrupted (user_abort)"));
    assert_eq!(end_of(COPILOT, &read("native-sigterm"), &Ending::Cancelled), TurnEnd::Cancelled);
    assert_eq!(end_of(COPILOT, &read("sigkill"), &Ending::Unwatched), TurnEnd::Interrupted);
    assert_eq!(read("hang"), []);
}

#[test]
fn what_was_not_allowed_is_named() {
    let no = "Permission denied because no interactive user response was available. Retry in an interactive session \
        so the user can approve it, or try an alternative that does not require this permission.";
    assert_eq!(
        read("perm-default"),
        [
            text("Let me use a tool."),
            call("call_71", "create", "hello.txt"),
            refused("create (hello.txt)"),
            failed_result("call_71", no),
            text("Let me use a tool."),
            call("call_72", "bash", SHELL),
            refused(&format!("bash ({SHELL})")),
            failed_result("call_72", no),
            text("All done: wrote hello.txt and ran the shell."),
            session("b1de2da5-ea71-43b8-98ba-d847f581070a"),
            ended("completed"),
        ]
    );
}

#[test]
fn l7_a_sub_agents_words_are_not_the_agents_own() {
    assert_eq!(
        read("sub-agent"),
        [
            text("Using a tool."),
            call("call_79", "task", "sub"),
            result("call_79", "sub says DONE"),
            text("pong"),
            session("51d1e78d-d54f-42c9-8c2f-0d68cc853477"),
            ended("completed"),
        ]
    );
}

#[test]
fn an_error_that_copilot_got_over_is_none() {
    let lines = br#"{"type":"session.error","data":{"errorType":"rate_limit","message":"switching","eligibleForAutoSwitch":true}}
{"type":"assistant.message","data":{"content":"done with another model"}}
{"type":"result","exitCode":0}
"#;
    assert_eq!(events(COPILOT, lines, usize::MAX), [text("done with another model"), ended("completed")]);
    let lines = br#"{"type":"session.error","data":{"errorType":"authentication","message":"no"}}
{"type":"result","exitCode":0}
"#;
    let end = end_of(COPILOT, &events(COPILOT, lines, usize::MAX), &Ending::Exited(0));
    assert!(matches!(end, TurnEnd::Failed { failure: FailureKind::Permanent, .. }), "{end:?}");
}
