//! Conversations: one for each turn, one for all of them, and one that has to be taken up again.

use super::*;
use crate::support::wait_for;

#[test]
fn a2_a_live_session_serves_many_turns_and_each_has_its_own_record() {
    let world = World::new();
    world.acp(&three_turns(&json!({ "modes": ["default", "yolo"] })));
    let words =
        ["--name", "t", "--agent", "bot", "--iter", "3", "--session", "resume", "--json", "add a line"];
    let ran = world.exec(&words).expect(0);
    assert_eq!(
        world.methods("bot"),
        [
            "initialize",
            "session/new",
            "session/set_mode",
            "session/prompt",
            "session/prompt",
            "session/prompt"
        ]
    );
    assert_eq!(world.talkers("bot").len(), 1, "one process");
    assert_eq!(world.prompts("bot"), ["add a line", "add a line\n\nContinue.", "add a line\n\nContinue."]);
    let subjects = ["[iter-2] Wrote line 3", "[iter-1] Wrote line 2", "[iter-0] Wrote line 1", "first"];
    assert_eq!(world.subjects(), subjects);
    // Counted over the process by the agent, over the turn by us.
    let turns = world.events("t", "turn_finished");
    let usage: Vec<_> =
        turns.iter().map(|turn| (&turn["tokens"]["input"], &turn["tokens"]["output"])).collect();
    assert_eq!(usage, [(&json!(100), &json!(10)); 3]);
    assert_eq!(ran.result()["tokens"], json!({ "input": 300, "output": 30, "cached": 0 }));
    let session = format!("s-{}", world.talkers("bot")[0]);
    assert!(turns.iter().all(|turn| turn["session_id"] == session), "{turns:?}");
    for (turn, record) in turns.iter().enumerate() {
        let raw = world.run(&["logs", "t", "--turn", &turn.to_string()]).expect(0).stdout;
        assert_eq!(raw.matches("stopReason").count(), 1, "{raw}");
        assert!(raw.contains(&format!("Wrote line {}", turn + 1)), "{raw}");
        assert_eq!(raw.contains("protocolVersion"), turn == 0, "{raw}");
        assert_eq!(record["output_bytes"].as_u64().unwrap(), raw.len() as u64);
        assert_eq!(world.prompt("t", u32::try_from(turn).unwrap()), world.prompts("bot")[turn]);
    }
    world.assert_nothing_left("t");
}

#[test]
fn l13_a_fresh_session_is_a_process_a_turn_and_its_tree_is_dead_before_anything_is_staged() {
    let world = World::new();
    let turn = json!([
        { "write": ["log", "line\n"] },
        { "child": "while :; do echo late >> late; sleep 0.01; done" },
        { "say": "done" },
    ]);
    world.acp(&json!({ "stays": true, "turns": [turn] }));
    let ran = world.exec(&["--name", "t", "--agent", "bot", "--iter", "2", "add"]).expect(0);
    let one = ["initialize", "session/new", "session/prompt"];
    assert_eq!(world.methods("bot"), [one, one].concat());
    assert_eq!(world.talkers("bot").len(), 2);
    assert_eq!(world.tree("HEAD"), ["README.md", "late", "log"], "{}", ran.stdout);
    assert_eq!(world.git(&["status", "--porcelain"]), "", "nobody wrote on after the commit");
    world.assert_nothing_left("t");
}

#[test]
fn a2_checks_run_beside_the_live_agent_under_a_guard_of_their_own() {
    let world = World::unconfined();
    world.acp(&three_turns(&json!({})));
    // The agent of the task is alive while its check runs.
    let alive = format!(
        "kill -0 $(tail -n 1 {:?} | tr -dc '0-9,' | cut -d, -f1) && wc -l < log | grep 3",
        world.acp_log("bot")
    );
    let words =
        ["--name", "t", "--agent", "bot", "--session", "resume", "--no-baseline", "--check", &alive, "go"];
    let _ = world.exec(&words).expect(0);
    assert_eq!(world.talkers("bot").len(), 1);
    assert_eq!(world.subjects().len(), 4);
    world.assert_nothing_left("t");
}

/// The agent ends after its first turn; the second one takes the conversation up again.
fn dying(more: &Value) -> Value {
    let mut first = working(1);
    // The answer comes first, as that of an agent that breaks down afterwards.
    let stop = first.as_array_mut().unwrap().pop().unwrap()["stop"].clone();
    let answer = json!({ "jsonrpc": "2.0", "id": 6, "result": stop });
    first.as_array_mut().unwrap().push(json!({ "last_words": [answer.to_string(), 3] }));
    let mut script = three_turns(more);
    script["turns"][0] = first;
    script
}

/// The process that was told something last, for the shell.
fn last_talker(world: &World) -> String {
    format!("$(tail -n 1 {:?} | sed 's/.*\"pid\":\\([0-9]*\\).*/\\1/')", world.acp_log("bot"))
}

#[test]
fn l13_a_process_that_died_between_two_turns_is_reopened_by_resume() {
    let world = World::unconfined();
    world.acp(&three_turns(&json!({ "resume": true, "load": true })));
    let kill = format!("[ $(wc -l < log) -gt 1 ] || kill -9 {}; false", last_talker(&world));
    let words = [
        "--name",
        "t",
        "--agent",
        "bot",
        "--iter",
        "3",
        "--session",
        "resume",
        "--no-baseline",
        "--check",
        &kill,
        "add",
    ];
    let _ = world.exec(&words).expect(3);
    let reopened = ["initialize", "session/resume", "session/prompt", "session/prompt"];
    assert_eq!(
        world.methods("bot"),
        [&["initialize", "session/new", "session/prompt"], &reopened[..]].concat()
    );
    let turns = world.events("t", "turn_finished");
    let sessions: Vec<_> = turns.iter().map(|turn| turn["session_id"].clone()).collect();
    assert_eq!(sessions, vec![json!(format!("s-{}", world.talkers("bot")[0])); 3]);
    assert_eq!(world.notices("t"), ["the process of bot ended between two turns"]);
    // A new process counts from nothing again: its first turn reports 200, and all of it is its own.
    let usage: Vec<_> = turns.iter().map(|turn| turn["tokens"]["input"].clone()).collect();
    assert_eq!(usage, [100, 200, 100]);
    world.assert_nothing_left("t");
}

#[test]
fn l7_a_history_that_is_told_again_is_not_what_the_agent_says_now() {
    for late in [false, true] {
        let world = World::new();
        let more = json!({
            "load": true,
            "late_history": late,
            "modes": ["default", "yolo"],
            "history": ["add a line; say ALL DONE when it is done", "ALL DONE"],
        });
        world.acp(&dying(&more));
        let words = [
            "--name",
            "t",
            "--agent",
            "bot",
            "--max-iterations",
            "3",
            "--session",
            "resume",
            "--until",
            "ALL DONE",
            "add",
        ];
        let _ = world.exec(&words).expect(3);
        assert!(world.methods("bot").contains(&"session/load".to_owned()));
        let turns = world.events("t", "turn_finished");
        assert_eq!(turns.iter().filter(|turn| turn["promise"] == true).count(), 0, "late: {late}");
        assert_eq!(turns[1]["summary"], "Wrote line 2.");
        world.assert_nothing_left("t");
    }
}

#[test]
fn l13_a_conversation_that_cannot_be_taken_up_again_ends_the_loop_with_an_error() {
    let not_found = json!({ "code": -32601, "message": "Method not found" });
    let gone =
        json!({ "code": -32603, "message": "Internal error", "data": { "details": "No previous sessions" } });
    for (more, opens) in [
        (json!({}), vec![]),
        (json!({ "load": true, "errors": { "session/load": gone } }), vec!["session/load"]),
        (json!({ "resume": true, "errors": { "session/resume": not_found } }), vec!["session/resume"]),
        (
            json!({ "resume": true, "load": true, "errors": { "session/resume": not_found, "session/load": gone } }),
            vec!["session/resume", "session/load"],
        ),
    ] {
        let world = World::new();
        world.acp(&dying(&more));
        let words = ["--name", "t", "--agent", "bot", "--iter", "5", "--session", "resume", "--json", "add"];
        let ran = world.exec(&words).expect(1);
        let result = ran.result();
        assert_eq!(
            (&result["outcome"], &result["stop_reason"]),
            (&json!("failed"), &json!("permanent_error"))
        );
        let message = result["detail"]["message"].as_str().unwrap();
        assert!(message.contains("Failed to get session ID for loop follow-up (task t): "), "{message}");
        let first = vec!["initialize", "session/new", "session/prompt"];
        assert_eq!(world.methods("bot"), [first, vec!["initialize"], opens].concat(), "no new conversation");
        assert_eq!(world.subjects().len(), 2, "the work of the first turn is kept");
        world.assert_nothing_left("t");
    }
}

#[test]
fn l13_resume_that_is_advertised_and_not_there_falls_back_to_load() {
    let world = World::new();
    let not_found = json!({ "code": -32601, "message": "Method not found" });
    let more = json!({ "resume": true, "load": true, "errors": { "session/resume": not_found } });
    world.acp(&dying(&more));
    let _ =
        world.exec(&["--name", "t", "--agent", "bot", "--iter", "2", "--session", "resume", "add"]).expect(0);
    let methods = world.methods("bot");
    assert_eq!(methods[3..], ["initialize", "session/resume", "session/load", "session/prompt"]);
    world.assert_nothing_left("t");
}

#[test]
fn l9_when_another_agent_takes_over_the_live_one_is_ended() {
    let world = World::new();
    let limit =
        json!([{ "error": { "code": -32603, "message": "no", "data": { "errorKind": "rate_limit" } } }]);
    let first = json!({ "turns": [working(1), limit] });
    let second =
        json!({ "turns": [[{ "write": ["log", "by second\n"] }, { "say": "Done by the second." }]] });
    world.config(&format!("{}{}", world.acp_agent("first", &first), world.acp_agent("second", &second)));
    // The first one is gone when the second one is at work.
    let words = ["--name", "t", "--agent", "first,second", "--iter", "2", "--session", "resume", "go"];
    let _ = world.exec(&words).expect(0);
    assert_eq!(world.talkers("first").len(), 1);
    assert_eq!(world.methods("second"), ["initialize", "session/new", "session/prompt"]);
    assert_eq!(world.events("t", "agent_changed").len(), 1);
    assert_eq!(world.subjects(), ["[iter-1] Done by the second", "[iter-0] Wrote line 1", "first"]);
    world.assert_nothing_left("t");
}

#[test]
fn l9_a_limit_keeps_the_live_session_and_the_number_of_the_iteration() {
    let world = World::new();
    let limit = json!([{ "error": { "code": 429, "message": "slow down" } }]);
    world.acp(&json!({ "turns": [working(1), limit, working(2)] }));
    let started =
        world.start(&["exec", "--name", "t", "--agent", "bot", "--iter", "2", "--session", "resume", "go"]);
    wait_for("two prompts", || world.prompts("bot").len() == 2);
    wait_for("the limit", || !world.events("t", "waiting").is_empty());
    let waiting = world.events("t", "waiting");
    assert_eq!((&waiting[0]["why"], &waiting[0]["message"]), (&json!("limit"), &json!("slow down")));
    assert_eq!(world.processes("t").len(), 1, "the agent waits too");
    drop(started);
    world.assert_nothing_left("t");
    assert_eq!(world.events("t", "iteration_started").len(), 2);
}
