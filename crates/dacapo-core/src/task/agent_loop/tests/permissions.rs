//! A turn that was refused its tools and did nothing has not done its turn (item 2 of the truth about a turn's end).

use super::world::*;
use crate::event::{Ended, Fault, NotAllowed, Outcome, StopDetail, StopReason};

fn not_allowed() -> NotAllowed {
    NotAllowed { agent: "one".into(), tools: vec!["write".into()], argument: Some("--yes".into()) }
}

fn refused() -> Turn {
    Turn { not_allowed: Some(not_allowed()), ..done() }
}

#[test]
fn refused_and_nothing_changed_is_a_failure_that_cannot_heal() {
    let world = World::new(iter(5)).turns(&[refused()]).commit(changes_nothing).run();
    assert_eq!(world.end(), (Outcome::Failed, StopReason::PermanentError, 1, 0, 1));
    let record = world.records()[0];
    assert_eq!(
        (record.success, record.outcome, &record.faults[..]),
        (false, Ended::Failure, &[Fault::NotAllowed(not_allowed())][..])
    );
    assert_eq!(
        world.result().detail,
        Some(StopDetail::fault(&Fault::NotAllowed(not_allowed()))),
        "with the flag that would have helped"
    );
}

#[test]
fn refused_here_and_there_but_something_changed_is_a_success() {
    let world = World::new(iter(2)).turns(&[refused()]).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 2, 2, 0));
    assert_eq!(world.records()[0].faults, []);
    assert!(world.commits[0].message.ends_with("Dacapo-Outcome: success\n"));
}

#[test]
fn a_refusal_does_not_outlive_its_turn() {
    // The first turn of the iteration was refused and ran into a limit; the second did its work.
    let limited = Turn { not_allowed: Some(not_allowed()), ..limited(None) };
    let world = World::new(iter(1)).turns(&[limited, done()]).commit(changes_nothing).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 1, 1, 0));
}

#[test]
fn nothing_changed_and_nothing_refused_is_a_success() {
    let world = World::new(iter(2)).commit(changes_nothing).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 2, 2, 0));
}

#[test]
fn l8_a_failed_turn_that_was_refused_too_fails_for_its_own_reason() {
    let both = Turn { not_allowed: Some(not_allowed()), ..failed() };
    let world = World::new(iter(2)).turns(&[both]).commit(changes_nothing).run();
    assert_eq!(crate::context::faults(&world.records()[0].faults).as_deref(), Some("exit 1"));
    assert_eq!(world.end().2, 2, "it may heal");
}

#[test]
fn l3_a_promise_of_one_that_was_refused_does_not_complete_the_loop() {
    let turn = Turn { promise: true, ..refused() };
    let world = World::new(until(5, "DONE")).turns(&[turn]).commit(changes_nothing).run();
    assert_eq!(world.end(), (Outcome::Failed, StopReason::PermanentError, 1, 0, 1));
}
