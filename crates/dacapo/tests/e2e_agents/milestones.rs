//! Whole milestones with two real agents, one of them over the Agent Client Protocol (M2–M5, M8, M9).

mod killed;
mod pair;
mod script;

use serde_json::{Value, json};

use self::pair::Pair;
use self::script::{Asked, ID, Role, commits_in};
use crate::agents::{Agent, CLAUDE, CODEX, COPILOT_ACP};

/// Three features, the second of which is sent back once; then the final acceptance.
fn completed(developer: &'static Agent, acceptor: &'static Agent) -> Pair {
    let pair = Pair::new(developer, acceptor);
    let ran = pair.ends(pair.start(), 0);
    completed_in_five_rounds(&ran.result());
    assert_history(&pair);
    assert_conversations(&pair);
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
    for role in [Role::Developer, Role::Acceptor] {
        let turns = pair.turns_of(role);
        let told: Vec<(usize, u32)> = turns
            .iter()
            .map(|call| Asked::read(call).unwrap())
            .map(|asked| (asked.times, asked.round))
            .collect();
        assert_eq!(told, [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)], "{role:?}");
        let sessions: Vec<Value> = pair.recorded(role).iter().map(|turn| turn["session"].clone()).collect();
        assert_eq!(sessions, vec![sessions[0].clone(); 5], "{role:?}");
        assert!(sessions[0].is_string(), "{role:?}");
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
