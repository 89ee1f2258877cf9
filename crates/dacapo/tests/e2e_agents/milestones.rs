//! Whole milestones with two real agents, one of them over the Agent Client Protocol (M2–M5, M8, M9).

mod killed;
mod pair;
mod script;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use self::pair::Pair;
use self::script::{Asked, ID, Role, commits_in};
use crate::agents::{Agent, CLAUDE, CODEX, COPILOT_ACP, GEMINI_ACP};
use crate::scripts::Switch;

/// Three features, the second of which is sent back once; then the final acceptance.
fn completed(developer: &'static Agent, acceptor: &'static Agent) -> Pair {
    let seen = Switch::default();
    let pair = Pair::with(developer, acceptor, {
        let seen = seen.clone();
        move |players, asked| {
            if asked.round == 2 {
                seen.wait();
            }
            players.answer(asked)
        }
    });
    assert_eq!(pair.standing(), "pending");
    let mut running = pair.start();
    running.wait_for("the second round", |event| {
        event["type"] == "iteration_started" && event["iteration"] == 1
    });
    assert_eq!(pair.standing(), "in_progress");
    let mirror = pair.mirror(&format!("milestones/{ID}.json"));
    assert_eq!((&mirror["status"], &mirror["rounds"]), (&json!("in_progress"), &json!(1)), "{mirror:#}");
    let state = pair.mirror("state.json");
    assert_eq!((&state["status"], &state["current_milestone"]), (&json!("awake"), &json!(ID)), "{state:#}");
    seen.turn_on();
    let ran = pair.ends(running, 0);
    assert_eq!(pair.standing(), "completed");
    completed_in_five_rounds(&ran.result());
    assert_history(&pair);
    assert_conversations(&pair);
    assert_mirrors(&pair);
    pair.assert_main_untouched();
    pair.assert_accounts();
    pair.world.assert_nothing_left(ID);
    pair
}

fn completed_in_five_rounds(result: &Value) {
    let counts =
        ["iterations_attempted", "iterations_succeeded", "iterations_failed"].map(|field| &result[field]);
    assert_eq!(
        (&result["outcome"], counts),
        (&json!("completed"), [&json!(5), &json!(4), &json!(1)]),
        "{result}"
    );
}

/// What the main checkout says of it (M8).
fn assert_mirrors(pair: &Pair) {
    let mirror = pair.mirror(&format!("milestones/{ID}.json"));
    let counts = ["iteration_count", "rounds", "consecutive_rejections"].map(|field| mirror[field].as_u64());
    assert_eq!((&mirror["status"], counts), (&json!("completed"), [Some(4), Some(5), Some(0)]), "{mirror:#}");
    assert_eq!(mirror["branch_name"], format!("milestone/{ID}"));
    assert_eq!(mirror["base_commit"], pair.world.git(&["rev-parse", "main"]));
    let state = pair.mirror("state.json");
    assert_eq!(
        (&state["status"], &state["current_milestone"]),
        (&json!("sleeping"), &Value::Null),
        "{state:#}"
    );
}

/// The branch is what was reported, and nothing else.
fn assert_history(pair: &Pair) {
    let log = pair.world.git(&["log", "--format=- %H: %s", &format!("main..milestone/{ID}")]);
    let subjects: Vec<&str> = log.lines().filter_map(|line| line.split(": ").nth(2)).collect();
    assert_eq!(subjects, ["file 3", "file 2", "file 2", "file 1"], "{log}");
    let last = pair.recorded(Role::Developer).pop().unwrap();
    assert_eq!(commits_in(last["reply"].as_str().unwrap()), log, "as reported in the end: {last}");
}

/// One conversation for each role, which grows: every turn remembers what went before. The two meet in the engine alone.
fn assert_conversations(pair: &Pair) {
    let mut both = BTreeSet::new();
    for role in [Role::Developer, Role::Acceptor] {
        let turns = pair.turns_of(role);
        let told: Vec<(usize, u32)> = turns
            .iter()
            .map(|call| Asked::read(call).unwrap())
            .map(|asked| (asked.times, asked.round))
            .collect();
        assert_eq!(told, [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)], "{role:?}");
        let sessions: Vec<Value> =
            pair.recorded(role).iter().map(|turn| turn["session_id"].clone()).collect();
        assert_eq!(sessions, vec![sessions[0].clone(); 5], "{role:?}");
        assert!(sessions[0].is_string() && both.insert(sessions[0].to_string()), "{role:?}");
        if pair.agent(role).config.contains("\"acp\"") {
            assert_eq!(
                pair.greetings(role),
                [1, 0, 0, 0, 0],
                "{role:?}: one process, for the whole milestone"
            );
        }
    }
    let repair = &pair.turns_of(Role::Developer)[2];
    let told = Asked::read(repair).unwrap().prompt;
    for part in [
        "## The last round was rejected",
        "the second file says too little",
        "- [R1] it has one line only",
        "- [R2] it has no title",
    ] {
        assert!(told.contains(part), "'{part}' is not in what the Developer was told:\n{told}");
    }
    let acceptor = pair.calls(Role::Acceptor).pop().unwrap().history();
    assert!(!acceptor.contains("I am proud of it."), "praise is none of the Acceptor's: {acceptor}");
}

#[test]
fn m4_codex_builds_and_copilot_judges_over_acp() {
    completed(&CODEX, &COPILOT_ACP);
}

#[test]
fn m4_copilot_builds_over_acp_and_claude_judges() {
    completed(&COPILOT_ACP, &CLAUDE);
}

/// Its shell hides the user's git config, and yet the commits are the user's.
#[test]
fn m4_gemini_builds_over_acp_and_claude_judges() {
    let pair = completed(&GEMINI_ACP, &CLAUDE);
    let authors = pair.world.git(&["log", "--format=%an %ae", &format!("main..milestone/{ID}")]);
    assert!(authors.lines().all(|author| author == "Test test@localhost"), "{authors}");
}

#[test]
fn m3_copilot_builds_and_gemini_judges_both_over_acp() {
    completed(&COPILOT_ACP, &GEMINI_ACP);
}

/// One agent for both roles has two conversations.
#[test]
fn m3_claude_builds_and_judges() {
    completed(&CLAUDE, &CLAUDE);
}

#[test]
fn m3_copilot_builds_and_judges_over_acp() {
    completed(&COPILOT_ACP, &COPILOT_ACP);
}
