//! How turns end: well, badly, late, by us, and not at all.

use rustix::process::{Pid, Signal, kill_process};

use super::*;
use crate::support::wait_for;

fn failure(world: &World) -> (String, String) {
    let record = &world.events("t", "turn_finished")[0];
    let text = |field: &str| record[field].as_str().unwrap_or_default().to_owned();
    let said = if record["fault"].is_null() { &record["message"] } else { &record["fault"]["message"] };
    let message = said.as_str().unwrap_or_default().to_owned();
    (format!("{} {}", text("end"), text("failure")).trim().to_owned(), message)
}

/// One turn that is answered with an error; what is made of it.
fn failing(step: &Value) -> (World, String, String) {
    let world = World::new();
    world.acp(&json!({ "turns": [[step]] }));
    let _ = world.exec(&["--name", "t", "--agent", "bot", "--iter", "1", "--max-wait", "1s", "go"]);
    let (end, message) = failure(&world);
    world.assert_nothing_left("t");
    (world, end, message)
}

#[test]
fn l8_a_missing_login_ends_the_loop_at_once_and_says_how_to_log_in() {
    let world = World::new();
    world.acp(&json!({ "turns": [[{ "error": { "code": -32000, "message": "Authentication required" } }]] }));
    let ran = world.exec(&["--name", "t", "--agent", "bot", "--iter", "5", "--json", "go"]).expect(1);
    let result = ran.result();
    assert_eq!(
        (&result["stop_reason"], &result["iterations_attempted"]),
        (&json!("permanent_error"), &json!(1))
    );
    assert!(result["detail"]["message"].as_str().unwrap().contains("Run `scripted login`"), "{result}");
    let (_, end, message) = failing(&json!({ "error": { "code": 401, "message": "bad key" } }));
    assert_eq!((end.as_str(), message.contains("scripted login")), ("failed permanent", true), "{message}");
}

#[test]
fn the_end_of_a_turn_is_not_its_success() {
    for (step, expected) in [
        (json!({ "stop": { "stopReason": "refusal" } }), "failed transient"),
        (json!({ "stop": { "stopReason": "max_tokens" } }), "failed transient"),
        (json!({ "stop": { "stopReason": "cancelled" } }), "failed transient"),
        (json!({ "stop": { "stopReason": "something_new" } }), "done"),
        (json!({ "stop": null }), "done"),
        (json!({ "error": { "code": 503, "message": "down" } }), "failed transient"),
        (json!({ "error": { "code": 429, "message": "slow" } }), "limit"),
        (json!({ "say": "Error: Authentication failed (HTTP 401)" }), "failed permanent"),
        (json!({ "say": "Error: Last error: 429 slow down" }), "limit"),
        (json!({ "say": "I read that the API answers 429 at its rate limit." }), "done"),
        (json!({ "exit": 0 }), "failed transient"),
        (json!({ "exit": 3 }), "failed transient"),
    ] {
        let (_, end, message) = failing(&step);
        assert_eq!(end, expected, "{step}: {message}");
    }
}

#[test]
fn an_agent_that_cannot_be_opened_says_why() {
    for (script, words) in [
        (json!({ "errors": { "initialize": { "code": -32603, "message": "broken" } } }), "broken"),
        (json!({ "errors": { "session/new": { "code": -32000, "message": "x" } } }), "scripted login"),
        (json!({ "version": 2 }), "speaks version 2"),
    ] {
        let world = World::new();
        world.acp(&script);
        let _ = world.exec(&["--name", "t", "--agent", "bot", "go"]).expect(1);
        let (_, message) = failure(&world);
        assert!(message.contains(words), "{message}");
        world.assert_nothing_left("t");
    }
    let world = World::new();
    world.config("[agents.bot]\ncommand = [\"sh\", \"-c\", \"echo hello; echo unknown option >&2; exit 2\"]\noutput = \"acp\"\n");
    let _ = world.exec(&["--name", "t", "--agent", "bot", "go"]).expect(1);
    assert!(failure(&world).1.contains("exit 2): unknown option"), "{:?}", failure(&world));
}

#[test]
fn l12_silence_ends_a_turn_and_nothing_is_left() {
    for (script, words) in [
        (json!({ "silent": "initialize" }), "is output = \"acp\" right"),
        (json!({ "silent": "session/new" }), "no output and no activity"),
        (json!({ "turns": [[{ "child": "sleep 1000" }, { "hang": true }]] }), "no output and no activity"),
        (
            json!({ "turns": [[{ "child": "trap '' TERM; sleep 1000; sleep 1000" }, { "hang": "deaf" }]] }),
            "no output and no activity",
        ),
    ] {
        let world = World::new();
        world.acp(&script);
        let _ = world.exec(&["--name", "t", "--agent", "bot", "--idle-timeout", "3s", "go"]).expect(1);
        let (end, message) = failure(&world);
        assert_eq!((end.as_str(), message.contains(words)), ("failed transient", true), "{message}");
        world.assert_nothing_left("t");
    }
}

#[test]
fn l12_a_turn_timeout_is_a_cancel_first() {
    let world = World::new();
    world.acp(&json!({ "turns": [[{ "write": ["log", "x"] }, { "await_cancel": true }]] }));
    let words =
        ["--name", "t", "--agent", "bot", "--turn-timeout", "6s", "--iter", "2", "--session", "resume", "go"];
    let _ = world.exec(&words).expect(1);
    assert!(failure(&world).1.contains("--turn-timeout"), "{:?}", failure(&world));
    assert_eq!(world.methods("bot").iter().filter(|method| *method == "session/cancel").count(), 2);
    assert_eq!(world.talkers("bot").len(), 2, "what had to be cut short is not kept");
    world.assert_nothing_left("t");
}

#[test]
fn l14_ctrl_c_is_a_cancel_first_and_what_is_there_is_committed() {
    for last in [json!({ "await_cancel": true }), json!({ "hang": "deaf" })] {
        let world = World::new();
        let turn = json!([
            { "write": ["log", "so far\n"] },
            { "child": "trap '' TERM INT HUP; sleep 987; sleep 988" },
            { "touch": "ready" },
            last,
        ]);
        world.acp(&json!({ "turns": [turn] }));
        let words = ["exec", "--name", "t", "--agent", "bot", "--iter", "3", "--session", "resume", "go"];
        let mut child = world.command(&words).stdout(std::process::Stdio::null()).spawn().unwrap();
        world.wait_for_file("ready");
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{last}");
        assert_eq!(world.methods("bot").last().map(String::as_str), Some("session/cancel"), "{last}");
        assert_eq!(world.events("t", "iteration_finished")[0]["outcome"], "cancelled");
        assert_eq!(world.tree("HEAD"), ["README.md", "log"]);
        world.assert_nothing_left("t");
    }
}

#[test]
fn r3_a_flood_is_read_to_its_end_and_noise_is_none_of_ours() {
    let world = World::new();
    let turn = json!([
        { "line": "npm warn something" },
        { "line": "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\"}" },
        { "line": "[1,2" },
        { "line": "{\"id\":6}".replace('6', "7") },
        { "update": { "sessionUpdate": "from_the_future", "x": [1] } },
        { "flood": 20_000 },
        { "long_request": 9_000_000 },
        { "say": "ALL DONE" },
    ]);
    world.acp(&json!({ "turns": [turn] }));
    let ran = world.exec(&["--name", "t", "--agent", "bot", "--until", "ALL DONE", "--json", "go"]).expect(0);
    assert_eq!(ran.stdout.matches("\"text\":\"chunk ").count(), 20_000);
    assert!(ran.stdout.contains("told: -32601"), "the agent was not left waiting");
    world.assert_nothing_left("t");
}

#[test]
fn an_agent_that_never_reads_does_not_hang_anybody() {
    let world = World::new();
    // A prompt larger than the pipe is never read either: the script answers nothing after `initialize`.
    world.config(
        "[agents.deaf]\ncommand = [\"sh\", \"-c\", \"i=0; while :; do i=$((i+1)); echo '{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":'$i',\\\"method\\\":\\\"fs/read_text_file\\\",\\\"params\\\":{}}'; done\"]\noutput = \"acp\"\n",
    );
    let _ = world.exec(&["--name", "t", "--agent", "deaf", "go"]).expect(1);
    let (end, message) = failure(&world);
    assert_eq!(
        (end.as_str(), message.as_str()),
        ("failed transient", "the agent asks without reading the answers")
    );
    world.assert_nothing_left("t");
}

#[test]
fn a1_a_prompt_of_a_megabyte_arrives_whole() {
    let world = World::new();
    world.acp(&json!({ "turns": [[{ "say": "read it" }]] }));
    let prompt = "ä\"\\\n{x} ".repeat(100_000);
    fs::write(world.scratch("prompt"), &prompt).unwrap();
    let _ =
        world.exec(&["--agent", "bot", "--prompt-file", world.scratch("prompt").to_str().unwrap()]).expect(0);
    assert!(world.prompts("bot") == [prompt.as_str()], "{} bytes", prompt.len());
}

#[test]
fn r1_nothing_survives_a_kill_and_resume_takes_the_conversation_up() {
    for place in ["turn", "check"] {
        let world = World::new();
        let waits = json!([{ "write": ["log", "line 2\n"] }, { "child": "sleep 1000" }, { "touch": "ready" }, { "hang": true }]);
        let second = if place == "turn" { waits } else { working(2) };
        world.acp(&json!({ "resume": true, "turns": [working(1), second, working(3)] }));
        let check = format!(
            "test {place} = turn || [ $(wc -l < log) -lt 2 ] || [ -e {0:?} ] || {{ touch {0:?}; sleep 1000; }}; false",
            world.scratch("ready")
        );
        let words = [
            "exec",
            "--name",
            "t",
            "--agent",
            "bot",
            "--max-iterations",
            "3",
            "--stall",
            "0",
            "--session",
            "resume",
            "--no-baseline",
            "--check",
            &check,
            "go",
        ];
        let started = world.start(&words);
        world.wait_for_file("ready");
        // Dropping it is SIGKILL.
        drop(started);
        world.assert_nothing_left("t");
        let _ = world.run(&["resume", "t"]).expect(3);
        let methods = world.methods("bot");
        assert_eq!(
            methods.iter().filter(|method| *method == "session/new").count(),
            1,
            "{place}: {methods:?}"
        );
        assert_eq!(
            methods.iter().filter(|method| *method == "session/resume").count(),
            1,
            "{place}: {methods:?}"
        );
        let finished: Vec<_> =
            world.events("t", "iteration_finished").iter().map(|line| line["iteration"].clone()).collect();
        assert_eq!(finished, [0, 1, 2], "{place}");
        world.assert_nothing_left("t");
    }
}

#[test]
fn a_turn_that_was_over_when_dacapo_was_killed_is_not_paid_twice() {
    let world = World::new();
    // It has answered and does not leave: the program is killed while it waits for that.
    let turn = json!([{ "write": ["log", "x\n"] }, { "say": "Done." }, { "touch": "ready" }]);
    world.acp(&json!({ "deaf": true, "stays": true, "turns": [turn] }));
    let started = world.start(&["exec", "--name", "t", "--agent", "bot", "--iter", "1", "go"]);
    world.wait_for_file("ready");
    let raw = world.task_dir("t").join("turns/0000.raw");
    wait_for("the answer", || fs::read_to_string(&raw).unwrap_or_default().contains("stopReason"));
    drop(started);
    world.assert_nothing_left("t");
    // On a machine that is slow enough it had waited long enough for the agent; then there is nothing to resume.
    if world.events("t", "task_finished").is_empty() {
        let _ = world.run(&["resume", "t"]).expect(0);
    }
    assert_eq!(world.prompts("bot").len(), 1);
    assert_eq!(world.subjects(), ["[iter-0] Done", "first"]);
}

#[test]
fn l10_a_budget_ends_a_turn_by_a_cancel() {
    let world = World::new();
    let cost = |amount: f64| json!({ "update": { "sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": { "amount": amount, "currency": "USD" } } });
    let turn = json!([cost(0.4), cost(0.6), { "await_cancel": true }]);
    let mut config = world.acp_agent("bot", &json!({ "turns": [[cost(0.3)], turn] }));
    config.push_str("[prices.bot]\ninput = 1.0\noutput = 1.0\n");
    world.config(&config);
    let words = [
        "--name",
        "t",
        "--agent",
        "bot",
        "--iter",
        "5",
        "--session",
        "resume",
        "--max-cost",
        "0.5",
        "--json",
        "go",
    ];
    let ran = world.exec(&words).expect(3);
    let result = ran.result();
    // The conversation has cost 0.6 in all, of which the second turn is 0.3.
    assert_eq!((&result["outcome"], &result["cost_usd"]), (&json!("budget_exhausted"), &json!(0.6)));
    assert!(world.methods("bot").contains(&"session/cancel".to_owned()));
    world.assert_nothing_left("t");
}

#[test]
fn l10_a_budget_that_cannot_be_held_ends_the_loop() {
    let world = World::new();
    world.acp(&json!({ "turns": [[{ "say": "done" }]] }));
    let words = ["--name", "t", "--agent", "bot", "--iter", "5", "--max-tokens", "1000", "--json", "go"];
    let result = world.exec(&words).expect(3).result();
    assert_eq!(
        (&result["outcome"], &result["iterations_attempted"]),
        (&json!("budget_exhausted"), &json!(2))
    );
    let notices = world.notices("t");
    assert_eq!(notices.len(), 1);
    assert!(notices[0].starts_with("usage unknown: bot reported no usable tokens"), "{notices:?}");
}
