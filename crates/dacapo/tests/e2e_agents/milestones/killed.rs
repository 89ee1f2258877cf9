//! `kill -9` of Dacapo in the middle of a round, and then `dacapo milestone resume` (M9).

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::pair::{MEMORY, Pair};
use super::script::{Asked, ID, Role};
use super::{assert_history, assert_mirrors, completed_in_five_rounds};
use crate::agents::{Agent, CLAUDE, CODEX, COPILOT_ACP, GEMINI_ACP};
use crate::model_server::{Call, CallKind, Failure, Recorded};
use crate::running::{PATIENCE, Running};
use crate::scripts::Switch;
use crate::support::wait_for;

/// In round 2, so many tools of `role` have answered and the model says nothing more: then Dacapo is killed. Resumed, it
/// ends as if nothing had happened, and both were told.
fn killed_in_round_two(
    developer: &'static Agent,
    acceptor: &'static Agent,
    (role, tools): (Role, usize),
) -> Pair {
    let resumed = Switch::default();
    let is_there =
        move |asked: &Asked<'_>| asked.role == role && asked.round == 2 && asked.results.len() == tools;
    let pair = Pair::with(developer, acceptor, {
        let resumed = resumed.clone();
        move |players, asked| {
            if is_there(asked) && !resumed.is_on() { Failure::Hang.into() } else { players.answer(asked) }
        }
    });
    let running = pair.start();
    let hangs = |one: &Recorded| {
        one.is(CallKind::Main)
            && one.call.as_ref().and_then(Asked::read).is_some_and(|asked| is_there(&asked))
    };
    assert!(
        pair.server.wait(PATIENCE, |all| all.iter().any(hangs)),
        "round 2 never came to where it is to hang"
    );
    let calls = pair.server.calls(CallKind::Main).len();
    kill_process(Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap(), Signal::KILL).unwrap();
    drop(running);
    wait_for("the agents to end with their task", || pair.world.processes(ID).is_empty());
    pair.assert_main_untouched();

    resumed.turn_on();
    let ran = pair.ends(Running::start(pair.command(&["resume", ID])), 0);
    completed_in_five_rounds(&ran.result());
    let rounds: Vec<Value> =
        pair.world.events(ID, "iteration_finished").iter().map(|round| round["iteration"].clone()).collect();
    assert_eq!(rounds, [0, 1, 2, 3, 4], "none is lost, and none counted twice");
    assert_history(&pair);
    assert_mirrors(&pair);
    pair.assert_main_untouched();
    pair.world.assert_nothing_left(ID);

    // Each is told once, in its first turn since; a clean-up before that is told of it, too.
    for role in [Role::Developer, Role::Acceptor] {
        let after = pair.server.calls(CallKind::Main).split_off(calls);
        let cleans = |asked: &Asked<'_>| asked.prompt.contains("## First put the tree in order");
        let (clean_ups, turns): (Vec<_>, Vec<_>) = first_of_turns(&after, role).partition(cleans);
        assert!(clean_ups.iter().all(assert_told), "{role:?}");
        let told: Vec<bool> = turns.iter().map(assert_told).collect();
        assert_eq!(told.iter().position(|told| *told), Some(0), "{role:?}");
        assert_eq!(told.iter().filter(|told| **told).count(), 1, "{role:?}");
    }
    pair
}

fn first_of_turns(calls: &[Call], role: Role) -> impl Iterator<Item = Asked<'_>> {
    calls.iter().filter_map(Asked::read).filter(move |asked| asked.role == role && asked.results.is_empty())
}

/// Whether it was told of an interruption, and then all that belongs to it.
fn assert_told(asked: &Asked<'_>) -> bool {
    let told = asked.prompt.contains("## After an interruption");
    let done = match asked.round - 1 {
        1 => "Round 1 had been finished.".to_owned(),
        many => format!("Rounds 1 to {many} had been finished."),
    };
    let parts = [&done, "feat: file 1", MEMORY];
    for part in parts.iter().filter(|_| told) {
        assert!(asked.prompt.contains(part), "'{part}' is not in\n{}", asked.prompt);
    }
    told
}

/// The Developer has written a file and not committed it.
#[test]
fn m9_killed_while_codex_builds() {
    let pair = killed_in_round_two(&CODEX, &COPILOT_ACP, (Role::Developer, 1));
    // A thread of its counts all that was ever used in it.
    pair.assert_accounts();
    let again = &pair.turns_of(Role::Developer)[2];
    let asked = Asked::read(again).unwrap();
    assert_eq!((asked.round, asked.times), (2, 3), "the round goes on, in the same conversation");
    for part in ["## First put the tree in order", "These paths are not committed", "feature-2.txt"] {
        assert!(asked.prompt.contains(part), "'{part}' is not in\n{}", asked.prompt);
    }
}

/// It has committed, and not said so yet.
#[test]
fn m9_killed_before_claude_reports() {
    let pair = killed_in_round_two(&CLAUDE, &COPILOT_ACP, (Role::Developer, 2));
    let again = &pair.turns_of(Role::Developer)[2];
    let told = Asked::read(again).unwrap().prompt;
    assert!(told.contains(" feat: file 2\n") && !told.contains("## First put the tree in order"), "{told}");
    // Two calls were answered, and only the last word of a turn says how much a call has written and what all cost.
    pair.assert_accounts_but_for(Role::Developer, 2);
}

#[test]
fn m9_killed_while_claude_judges() {
    let pair = killed_in_round_two(&COPILOT_ACP, &CLAUDE, (Role::Acceptor, 1));
    assert_eq!(pair.turns_of(Role::Developer).len(), 5, "it is not asked again for what it reported");
    // Only in its last word it says how much a call has written and what all cost: it is killed before that.
    pair.assert_accounts_but_for(Role::Acceptor, 2);
}

#[test]
fn m9_killed_while_copilot_builds_over_acp() {
    let pair = killed_in_round_two(&COPILOT_ACP, &CODEX, (Role::Developer, 1));
    let again = &pair.turns_of(Role::Developer)[2];
    assert_eq!(Asked::read(again).unwrap().times, 3, "the same conversation, loaded by another process");
    // Nothing at all is said before the end of a turn.
    pair.assert_accounts_but_for(Role::Developer, 2);
}

/// It cannot load what it had over ACP: it begins anew, with the full context. A version that can goes on.
#[test]
fn m9_killed_while_gemini_judges_over_acp() {
    let pair = killed_in_round_two(&CODEX, &GEMINI_ACP, (Role::Acceptor, 1));
    let turns = pair.turns_of(Role::Acceptor);
    let again = Asked::read(&turns[2]).unwrap();
    assert_eq!(again.round, 2);
    assert!(
        again.prompt.contains("## Accepted by") && again.prompt.contains("feature-2.txt is there"),
        "{}",
        again.prompt
    );
    let greeted = pair.greetings(Role::Acceptor);
    assert_eq!(
        greeted.iter().rev().take(3).sum::<usize>(),
        0,
        "and then one process for the rest: {greeted:?}"
    );
    assert_eq!(pair.turns_of(Role::Developer).len(), 5, "it is not asked again for what it reported");
    pair.assert_accounts_but_for(Role::Acceptor, 2);
}
