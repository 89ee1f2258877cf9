use dacapo_core::agent::{Ending, ParserSetting, Patience};
use dacapo_core::event::{AgentEvent, LogIn, TurnEnd, Usage};
use dacapo_core::spec::OutputFormat;
use std::time::Duration;

use crate::replay::{
    call, end_of, ended, error, events, events_with, failed_result, output, permanent, refused, result,
    retry, session, text, transient, usage,
};

const CODEX: OutputFormat = OutputFormat::Codex;

fn read(name: &str) -> Vec<AgentEvent> {
    events(CODEX, &output("codex", name), usize::MAX)
}

fn ends(name: &str, code: i32) -> TurnEnd {
    end_of(CODEX, &read(name), &Ending::Exited(code))
}

#[test]
fn a3_tools_words_and_usage_of_a_turn() {
    let shell = "cat hello.txt && echo shell-ran > shell.txt && pwd";
    assert_eq!(
        read("multi-gpt55"),
        [
            session("01a1e074-c7fb-7092-9eda-4ee5a8cd13ef"),
            text("Let me use a tool."),
            call("item_1", "apply_patch", "hello.txt"),
            result("item_1", ""),
            text("Let me use a tool."),
            call("item_3", "shell", shell),
            result("item_3", "hello from mock\n.\n"),
            text("All done: wrote hello.txt and ran the shell."),
            usage(3702, 168, 300, None),
            ended("completed"),
        ]
    );
    assert_eq!(ends("multi-gpt55", 0), TurnEnd::Done);
    // With a warning about the model, and both files by the shell.
    let events = read("multi");
    assert_eq!(events.len(), 10);
    assert_eq!(events[2], call("item_2", "shell", "printf 'hello from mock\\\\n' > hello.txt"));
}

#[test]
fn l10_usage_is_that_of_this_turn_though_codex_counts_over_the_thread() {
    let earlier = Usage { input: 3702, output: 168, cached: 300, ..Usage::default() };
    let setting = ParserSetting { earlier, ..ParserSetting::default() };
    let found = events_with(setting, CODEX, &output("codex", "resume"), usize::MAX);
    let expected = [
        session("01a1e073-56d6-76c2-826e-0def3c0cb8b8"),
        text("pong"),
        usage(1234, 56, 100, None),
        ended("completed"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn l8_a_refused_login_is_given_up_at_its_second_attempt() {
    let refused =
        "unexpected status 401 Unauthorized: mock says 401, url: http://127.0.0.1:1/e401/v1/responses";
    let events = read("e401");
    let mut expected = vec![session("01a1e073-ec7e-76f1-a130-c2a7ed0c7296")];
    expected.extend(vec![retry(Some(401), refused); 6]);
    let message = format!("not logged in: {refused}; codex");
    expected.push(error(permanent(&message)));
    assert_eq!(events, expected);
    assert_eq!(ends("e401", 1), permanent(&message));

    let mut patience = Patience::new(std::time::Duration::from_secs(86_400));
    let log_in = LogIn::of("codex");
    let mut gives_up = |event| patience.see(event, Duration::ZERO, Some(&log_in)).is_some();
    assert_eq!(events[..3].iter().map(&mut gives_up).collect::<Vec<_>>(), [false, false, true]);
}

#[test]
fn l9_a_limit_is_one_whether_or_not_its_end_is_named() {
    let limited = "exceeded retry limit, last status: 429 Too Many Requests";
    for name in ["e429", "e429-noretry"] {
        assert_eq!(ends(name, 1), TurnEnd::Limit { message: limited.into(), resets_at: None }, "{name}");
    }
    let attempts = read("e429").iter().filter(|event| matches!(event, AgentEvent::Retry { .. })).count();
    assert_eq!(attempts, 6);

    let setting = ParserSetting { now: "2026-11-15T23:08:05[+01:00]".parse().unwrap(), ..Default::default() };
    let events = events_with(setting, CODEX, &output("codex", "limit"), usize::MAX);
    let TurnEnd::Limit { resets_at, .. } = end_of(CODEX, &events, &Ending::Exited(1)) else {
        panic!("{events:?}");
    };
    assert_eq!(resets_at, Some("2026-11-17T02:55:00+01:00".parse().unwrap()));
}

#[test]
fn l8_what_may_heal_is_transient() {
    let cut = "stream disconnected before completion: stream closed before response.completed";
    assert_eq!(ends("cut", 1), transient(cut));
    let busy = "We’re currently experiencing high demand, which may cause temporary errors.";
    assert_eq!(ends("e500-noretry", 1), transient(busy));
    assert_eq!(ends("e400", 1), permanent("the request was refused: mock says 400"));
}

#[test]
fn an_unreachable_server_makes_patience_count() {
    let events = read("unreachable");
    assert_eq!(events[1..], vec![retry(None, "Connection failed: error sending request"); 8]);
    // The times at which 0.166.0 says so: every minute in the end, and never anything else.
    let mut patience = Patience::new(std::time::Duration::from_secs(86_400));
    let mut gave_up = None;
    for minute in 0..15_u64 {
        gave_up =
            gave_up.or(patience.see(&events[1], Duration::from_secs(60 * minute), None).map(|_| minute));
    }
    assert_eq!(gave_up, Some(10));
}

#[test]
fn a_turn_that_was_stopped_has_no_end() {
    let shell = "echo $$ > sleep.pid; sleep 987";
    let expected = |id: &str| vec![session(id), text("Let me use a tool."), call("item_2", "shell", shell)];
    assert_eq!(read("sigterm"), expected("01a1e074-3d71-7162-93ca-4866755b0101"));
    assert_eq!(read("sigint"), expected("01a1e074-5386-78a1-adc1-32c42828f838"));
    assert_eq!(end_of(CODEX, &read("sigterm"), &Ending::Cancelled), TurnEnd::Cancelled);
    assert_eq!(
        end_of(CODEX, &read("sigterm"), &Ending::Signalled(15)),
        transient("the agent was ended by signal 15")
    );
    assert_eq!(ends("sigint", 1), transient("the agent exited with code 1"));
    assert_eq!(end_of(CODEX, &read("sigkill"), &Ending::Unwatched), TurnEnd::Interrupted);
    assert_eq!(read("hang"), [session("01a1e078-6878-7783-a62f-4368ed1aa4a8")]);
}

#[test]
fn a_tool_that_the_sandbox_refuses_at_once_leaves_no_trace() {
    assert_eq!(
        read("sandbox-default")[1..],
        [
            text("Let me use a tool."),
            text("\n\nLet me use a tool."),
            call("item_3", "shell", "cat hello.txt && echo shell-ran > shell.txt && pwd"),
            failed_result("item_3", "cat: hello.txt: No such file or directory\n"),
            text("All done: wrote hello.txt and ran the shell."),
            usage(3702, 168, 300, None),
            ended("completed"),
        ]
    );
}

#[test]
fn a_tool_that_was_declined_is_named() {
    let lines = br#"{"item":{"type":"command_execution","id":"1","command":"/bin/bash -lc 'rm -r x'","status":"declined"},"type":"item.completed"}
{"type":"item.completed","item":{"id":"2","type":"mcp_tool_call","server":"db","tool":"drop","arguments":{"query":"t"},"error":{"message":"user cancelled MCP tool call"},"status":"failed"}}
"#;
    assert_eq!(
        events(CODEX, lines, usize::MAX),
        [
            call("1", "shell", "rm -r x"),
            refused("shell (rm -r x)"),
            failed_result("1", ""),
            call("2", "db.drop", "t"),
            refused("db.drop (t)"),
            failed_result("2", "user cancelled MCP tool call"),
        ]
    );
}

#[test]
fn what_the_read_only_sandbox_forbids_is_named_where_codex_shows_the_tool() {
    let command = "echo from-mock-176 > n.txt";
    assert_eq!(
        read("sandbox-shown")[1..],
        [
            call("item_0", "shell", command),
            AgentEvent::Refused { what: format!("shell ({command})") },
            failed_result("item_0", "/bin/bash: line 1: n.txt: Read-only file system\n"),
            text("Wrote n.txt."),
            usage(2468, 112, 200, None),
            ended("completed"),
        ]
    );
}

#[test]
fn a_plan_is_shown_when_it_changes() {
    let todo = |kind: &str, done: bool| {
        format!(
            r#"{{"type":"item.{kind}","item":{{"id":"0","type":"todo_list","items":[{{"text":"first\nstep","completed":{done}}},{{"text":"second","completed":false}}]}}}}"#
        )
    };
    let lines = [todo("started", false), todo("updated", true), todo("completed", true)].join("\n");
    let plan = |first: &str| AgentEvent::Plan { steps: vec![first.into(), "[ ] second".into()] };
    assert_eq!(events(CODEX, lines.as_bytes(), usize::MAX), [plan("[ ] first step"), plan("[x] first step")]);
}

#[test]
fn an_error_that_nothing_follows_is_the_reason() {
    let lines = br#"{"type":"error","message":"Quota exceeded. Check your plan and billing details."}"#;
    let message = "payment required: Quota exceeded. Check your plan and billing details.";
    assert_eq!(end_of(CODEX, &events(CODEX, lines, usize::MAX), &Ending::Exited(1)), permanent(message));
    let lines = br#"{"type":"error","message":"Reconnecting... 1/5"}"#;
    assert_eq!(events(CODEX, lines, usize::MAX), [retry(None, "Reconnecting... 1/5")]);
}

#[test]
fn l7_words_about_limits_and_logins_are_words() {
    let lines = br#"{"type":"item.completed","item":{"id":"0","type":"agent_message","text":"unexpected status 401; You've hit your usage limit."}}
{"type":"turn.completed","usage":{"input_tokens":"many"}}
"#;
    let said = text("unexpected status 401; You've hit your usage limit.");
    let events = events(CODEX, lines, usize::MAX);
    let unknown = AgentEvent::Usage(Usage { tokens_unknown: true, ..Usage::default() });
    assert_eq!(events, [said, unknown, ended("completed")]);
    assert_eq!(end_of(CODEX, &events, &Ending::Exited(0)), TurnEnd::Done);
}
