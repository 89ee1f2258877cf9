//! Turns: sessions, iterations, attempts, endings, the prompt, and the demo.

use dacapo_core::event::{AgentEvent, FailureKind, Usage};

use super::stage::{Stage, finish};

#[test]
fn a_turn_says_what_it_does_in_the_common_vocabulary() {
    let played = Stage::new(
        r#"
- say: "task {task}, iteration {iteration}, attempt {attempt}"
- think: hm
- plan: [a, b]
- tool: { name: Edit, summary: a.rs, output: ok, failed: true }
- usage: { input: 1200, output: 300, cached: 10, cost_usd: 0.02 }
"#,
    )
    .play()
    .ok();
    let events = played.events();
    let AgentEvent::Session { id } = &events[0] else { panic!("{:?}", events[0]) };
    assert_eq!(id.len(), 36);
    assert_eq!(
        events[1..],
        [
            AgentEvent::Text { text: "task task1, iteration 0, attempt 0".into() },
            AgentEvent::Thinking { text: "hm".into() },
            AgentEvent::Plan { steps: vec!["a".into(), "b".into()] },
            AgentEvent::ToolCall { id: "call-1".into(), name: "Edit".into(), summary: "a.rs".into() },
            AgentEvent::ToolResult { id: "call-1".into(), failed: true, output: "ok".into() },
            AgentEvent::Usage(Usage {
                input: 1200,
                output: 300,
                cached: 10,
                cost_usd: Some(0.02),
                ..Usage::default()
            }),
            AgentEvent::End { reason: "end_turn".into() },
        ]
    );
}

#[test]
fn a_turn_tells_what_it_tries_again_and_what_it_may_not_do() {
    let script =
        "- retry: { status: 503, message: busy, times: 2, pause: 1ms }\n- retry: gone\n- refuse: write a\n";
    let played = Stage::new(script).play().ok();
    let busy = AgentEvent::Retry { message: "busy".into(), status: Some(503) };
    assert_eq!(
        played.events()[1..],
        [
            busy.clone(),
            busy,
            AgentEvent::Retry { message: "gone".into(), status: None },
            AgentEvent::Refused { what: "write a".into() },
            AgentEvent::End { reason: "end_turn".into() },
        ]
    );
}

#[test]
fn a_session_is_resumed_by_its_id_or_absent() {
    let stage = Stage::new("- say: a");
    let mut command = stage.command();
    command.args(["--session", "mine"]);
    assert_eq!(finish(command, b"").ok().events()[0], AgentEvent::Session { id: "mine".into() });
    let without = Stage::script("session: false\niterations:\n  - - say: a\n").play().ok();
    assert_eq!(without.events().len(), 2);
}

#[test]
fn the_last_iteration_repeats() {
    let stage = Stage::script("iterations:\n  - - say: first\n  - - say: later {iteration}\n");
    assert_eq!(stage.turn(0, 0, "").ok().said(), ["first"]);
    assert_eq!(stage.turn(1, 0, "").ok().said(), ["later 1"]);
    assert_eq!(stage.turn(9, 0, "").ok().said(), ["later 9"]);
}

#[test]
fn a_limit_says_when_it_ends_and_the_next_attempt_goes_on() {
    let stage = Stage::new("- say: before\n- limit: { resets_in: 2s, attempts: 2 }\n- say: after");
    let before = jiff::Timestamp::now();
    for attempt in 0..2 {
        let played = stage.turn(0, attempt, "");
        assert_eq!(played.code(), 1);
        let Some(AgentEvent::Limit { message, resets_at: Some(at) }) = played.events().pop() else {
            panic!("{}", played.stdout());
        };
        assert_eq!(message, "usage limit reached");
        assert!((1..60).contains(&at.duration_since(before).as_secs()));
    }
    assert_eq!(stage.turn(0, 2, "").ok().said(), ["after"]);
    let silent = Stage::new("- limit: come back later").play();
    assert_eq!(
        silent.events().pop(),
        Some(AgentEvent::Limit { message: "come back later".into(), resets_at: None })
    );
}

#[test]
fn failures_tell_whether_trying_again_helps() {
    let stage = Stage::new("- fail: { message: no luck, code: 7, attempts: 1 }\n- say: on");
    let played = stage.play();
    assert_eq!(played.code(), 7);
    assert!(played.ended("error"));
    let failure = FailureKind::Transient;
    assert!(played.events().contains(&AgentEvent::Error { failure, fault: "no luck".into() }));
    assert_eq!(stage.turn(0, 1, "").ok().said(), ["on"]);
    let played = Stage::new("- fail: { message: not logged in, permanent: true }").play();
    let failure = FailureKind::Permanent;
    assert!(played.events().contains(&AgentEvent::Error { failure, fault: "not logged in".into() }));
}

#[test]
fn it_may_die_without_a_word() {
    let played = Stage::new("- say: a\n- exit: 3\n- say: b").play();
    assert_eq!(played.code(), 3);
    assert_eq!(played.said(), ["a"]);
    assert!(!played.ended("end_turn"));
}

#[test]
fn it_claims_what_the_prompt_asks_for() {
    let stage = Stage::new("- lie: true\n- lie: false\n- done: All set.");
    let said = stage.prompt("When done say <promise>SHIPPED</promise>.").ok().said();
    assert_eq!(said, ["Everything is done.\n<promise>SHIPPED</promise>", "All set."]);
    assert_eq!(stage.prompt("Just work.").ok().said()[0], "Everything is done.");
}

#[test]
fn the_prompt_is_kept_byte_for_byte_shown_and_checked() {
    let stage =
        Stage::new("- echo_prompt: true\n- expect: needle\n- save_prompt: ../p-{iteration}-{attempt}");
    let prompt = b"\xff needle \r\n\0 end";
    let played = finish(stage.command(), prompt).ok();
    assert!(played.answers()[0].1.contains("needle \r\n"));
    assert_eq!(std::fs::read(stage.outside().join("p-0-0")).unwrap(), prompt);
    stage.prompt("hay").refused("the prompt does not contain `needle`");
}

#[test]
fn it_may_not_read_its_prompt_at_all() {
    let stage = Stage::script("reads_prompt: false\niterations:\n  - - say: a\n");
    // More than a pipe holds: whoever waits for this to be taken waits for ever.
    stage.prompt(&"x".repeat(1024 * 1024)).ok();
}

#[test]
fn what_cannot_be_played_is_said_clearly() {
    let stage = Stage::new("- sya: a");
    let played = stage.play();
    assert_eq!(played.code(), 2);
    assert!(played.stderr().contains("r.yaml:2:7: there is no step `sya`; did you mean `say`?"));
    assert!(matches!(played.events()[..], [AgentEvent::Error { failure: FailureKind::Permanent, .. }]));
    assert!(Stage::script("iterations: []").play().stderr().contains("there are no iterations"));
    for (arguments, why) in [
        (&[][..], "no script is given"),
        (&["-"], "the prompt's place"),
        (&["/nonexistent/r.yaml"], "cannot read the rehearsal script /nonexistent/r.yaml"),
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dacapo"));
        let out = command.arg("__rehearse").args(arguments).output().unwrap();
        assert_eq!(out.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&out.stderr).contains(why), "{arguments:?}");
    }
    let stage = Stage::new("- say: a");
    let mut command = stage.command();
    command.env("DACAPO_ITERATION", "one");
    let played = finish(command, b"");
    assert_eq!(played.code(), 2);
    assert!(played.stderr().contains("DACAPO_ITERATION is no number: one"));
}

#[test]
fn the_demo_lies_stumbles_and_then_keeps_its_word() {
    for retried in [false, true] {
        let stage = Stage::script(dacapo::rehearsal::DEMO);
        for (path, content) in dacapo::rehearsal::demo_files() {
            std::fs::write(stage.work().join(path), content).unwrap();
        }
        let green = || {
            let mut check = std::process::Command::new("sh");
            check.arg("test.sh").current_dir(stage.work()).output().unwrap().status.success()
        };
        let prompt = "Fix greet.sh. Say <promise>COMPLETE</promise> when it works.";
        assert!(!green());
        let lie = stage.turn(0, 0, prompt).ok();
        assert!(lie.said().concat().contains("<promise>COMPLETE</promise>"));
        assert!(!green(), "the claim is false");
        assert!(stage.turn(1, 0, prompt).ended("error"));
        if retried {
            stage.turn(1, 1, prompt).ok();
        }
        assert!(!green());
        let done = stage.turn(2, 0, prompt).ok();
        assert!(done.said().concat().contains("<promise>COMPLETE</promise>"));
        assert!(green(), "the claim is true");
    }
}
