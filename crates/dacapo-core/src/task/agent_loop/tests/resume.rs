//! Tasks that are taken up again after their end (S10).

use std::time::Duration;

use super::super::DEFAULT_PROMISE;
use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::{Begin, Effect};
use crate::event::{CheckPhase, Event, Outcome, StopReason, Usage};
use crate::spec::SessionMode;

#[test]
fn s10_more_iterations() {
    let world = World::new(until(2, "DONE")).run();
    assert_eq!(world.result().outcome, Outcome::MaxReached);
    let world = world.resume(Some(3), None);
    assert_eq!(world.end(), (Outcome::MaxReached, StopReason::Iterations, 5, 5, 0));
    assert!(world.prompts()[2].contains("\nIteration: 3 of 5\n"), "{}", world.prompts()[2]);
    assert!(world.prompts()[4].contains("\nIteration: 5 of 5\n"));
}

#[test]
fn s10_without_a_number_a_used_up_loop_gets_as_many_as_at_first() {
    let world = World::new(until(2, "DONE")).run().resume(None, None);
    assert_eq!(world.end(), (Outcome::MaxReached, StopReason::Iterations, 4, 4, 0));
    let world = World::new(until(5, "DONE")).turns(&[promised(), done()]).run().resume(None, Some("and Y"));
    assert_eq!(world.end().2, 5, "what is left of it, where something is");
    let world = World::new(spec()).run().resume(None, None);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 2, 2, 0), "a single run: one more");
    let world = world.resume(Some(3), None);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 5, 5, 0));
}

#[test]
fn s10_a_task_without_a_cap_gets_one() {
    let mut spec = iter(1);
    spec.policy.cap = None;
    spec.policy.time = Some(Duration::from_secs(100));
    let world = World::new(spec).run();
    assert_eq!(world.end().1, StopReason::Time);
    let world = world.resume(Some(1), None);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 3, 3, 0));
}

#[test]
fn s10_a_follow_up_is_heard_in_every_later_iteration() {
    let world = World::new(until(2, "DONE")).run().resume(Some(2), Some("Also write docs."));
    for prompt in &world.prompts()[2..] {
        assert!(prompt.contains("The user adds:\nAlso write docs."), "{prompt}");
    }
    assert!(!world.prompts()[1].contains("docs"));
}

#[test]
fn s10_all_allowances_begin_anew() {
    let mut spec = until(100, "DONE");
    spec.policy.time = Some(Duration::from_secs(100));
    let world = World::new(spec).run();
    assert_eq!((world.end().1, world.end().2), (StopReason::Time, 2));
    let world = world.resume(None, None);
    assert_eq!((world.end().1, world.end().2), (StopReason::Time, 4));

    let mut spec = until(100, "DONE");
    spec.policy.max_cost = Some(1.0);
    let cost = Usage { cost_usd: Some(0.5), ..Usage::default() };
    let world = World::new(spec).turns(&[Turn { usage: cost, ..done() }]).run().resume(None, None);
    assert_eq!((world.end().1, world.end().2), (StopReason::Budget, 4));
    assert_eq!(world.result().cost_usd, Some(2.0), "the result counts all of it");

    let mut spec = until(100, "DONE");
    spec.policy.stall = 2;
    let world = World::new(spec).commit(changes_nothing).run().resume(None, None);
    assert_eq!((world.end().1, world.end().2), (StopReason::Stall, 4));

    let mut spec = until(100, "DONE");
    spec.policy.max_failures = 2;
    let world = World::new(spec).turns(&[failed()]).run().resume(None, None);
    assert_eq!(world.end(), (Outcome::Failed, StopReason::Failures, 4, 0, 4));
    let seconds: Vec<u64> = world.sleeps.iter().map(|sleep| sleep.as_secs_f64().round() as u64).collect();
    assert_eq!(seconds, [1, 1], "nor does the first turn after it wait");
}

#[test]
fn l4_checks_that_an_earlier_round_made_green_prove_nothing_about_a_follow_up() {
    let world =
        World::new(checked(5, &["a"])).check(|phase, _, _| i32::from(phase == CheckPhase::Baseline)).run();
    assert_eq!((world.end().1, world.end().2), (StopReason::Checks, 1));
    assert!(world.result().verified);
    let world = world.on_turn(|plan| if plan.turn == 2 { promised() } else { done() });
    let world = world.resume(None, Some("And X."));
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 3, 3, 0));
    assert!(world.result().verified, "stayed green with the promise");
    assert!(world.prompts()[1].contains(DEFAULT_PROMISE));
}

#[test]
fn l4_a_conversation_that_goes_on_hears_of_the_new_rule_once() {
    let mut spec = checked(9, &["a"]);
    spec.policy.session = SessionMode::Resume;
    spec.agents = vec![resumable("one")];
    let world = World::new(spec)
        .on_turn(|plan| Turn { session: Some("s1".into()), promise: plan.turn == 3, ..done() })
        .check(|phase, _, _| i32::from(phase == CheckPhase::Baseline))
        .run();
    let world = world.resume(None, Some("And X."));
    assert_eq!(world.end().2, 4);
    assert!(world.prompts()[1].contains(DEFAULT_PROMISE));
    assert_eq!(world.prompts()[2], "Build the feature\n\nThe user adds:\nAnd X.\n\n繼續");
}

#[test]
fn l4_a_check_that_could_not_be_run_is_measured_again() {
    let mut found = false;
    let world = World::new(checked(3, &["a"]))
        .check(move |phase, _, _| match phase {
            CheckPhase::Baseline if !std::mem::replace(&mut found, true) => 127,
            CheckPhase::Baseline => 0,
            _ => 0,
        })
        .on_turn(|plan| if plan.turn == 1 { promised() } else { done() })
        .run();
    assert_eq!(world.end().1, StopReason::SetupFailed);
    let world = world.resume(None, None);
    assert_eq!(
        world.end(),
        (Outcome::Completed, StopReason::Checks, 2, 2, 0),
        "green then: the promise is needed"
    );
    assert_eq!(world.result().proof[0].before, Some(true));
}

#[test]
fn s10_what_head_is_after_a_pause_is_the_users_own_doing() {
    let mut world = World::new(until(1, "DONE")).run();
    world.head = Some(oid(77));
    let world = world.resume(Some(1), None);
    let plan = &world.commits[1];
    assert_eq!((&plan.start, &plan.tip), (&Some(oid(77)), &Some(oid(77))));
}

#[test]
fn s10_a_follow_up_given_after_a_crash_at_the_very_end_is_not_lost() {
    let mut world = World::new(until(1, "DONE"));
    world.begin(Begin::default());
    while !matches!(world.machine.effect(), Some(Effect::Finish { .. })) {
        world.step();
    }
    let world = world.resume(Some(2), Some("More."));
    assert_eq!(world.end().2, 3);
    assert!(world.prompts()[1].contains("More."));
}

#[test]
fn s10_a_follow_up_given_in_the_middle_of_an_iteration_is_heard_before_the_loop_is_done() {
    let mut world = World::new(until(5, "DONE")).turns(&[promised()]);
    world.begin(Begin::default());
    while !matches!(world.machine.effect(), Some(Effect::RunTurn(_))) {
        world.step();
    }
    let before = world.machine.effect();
    world.begin(Begin { follow_up: Some("And X.".into()), ..Begin::default() });
    assert_eq!(world.machine.effect(), before, "the turn in flight stays what it was");
    world.drive();
    assert_eq!(world.end().2, 2, "done is only what heard all of the task");
    assert!(world.prompts()[1].contains("And X."));
}

#[test]
fn l14_a_resumed_event_says_what_was_asked_for() {
    let world = World::new(iter(1)).run().resume(Some(2), Some("More."));
    assert_eq!(world.count(|event| matches!(event, Event::TaskStarted { .. })), 1);
    let resumed = world.count(|event| {
        matches!(event, Event::Resumed { more_iterations: Some(2), follow_up: Some(text), .. } if text == "More.")
    });
    assert_eq!(resumed, 1);
}
