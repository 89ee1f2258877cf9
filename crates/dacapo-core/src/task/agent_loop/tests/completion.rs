//! When a loop is done, and what that proves (L1, L3–L7, L15).

use super::super::DEFAULT_PROMISE;
use super::world::*;
use crate::event::{CheckPhase, Event, Exit, Outcome, StopDetail, StopReason};

#[test]
fn l8_five_iterations_are_attempted_when_the_second_fails() {
    let world = World::new(iter(5)).turns(&[done(), failed(), done()]).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 5, 4, 1));
    let success: Vec<bool> = world.records().iter().map(|record| record.success).collect();
    assert_eq!(success, [true, false, true, true, true]);
    assert_eq!(
        world.count(|event| matches!(event, Event::Committed { .. })),
        5,
        "what a failure left is kept"
    );
}

#[test]
fn l3_a_promise_in_iteration_2_of_5_ends_the_loop_after_2() {
    let world = World::new(until(5, "DONE")).turns(&[done(), promised()]).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 2, 2, 0));
    assert_eq!(world.result().outcome.exit_code(), 0);
    assert!(!world.result().verified, "a promise is a claim");
}

#[test]
fn l5_without_the_promise_all_3_are_used_up() {
    let world = World::new(until(3, "DONE")).run();
    assert_eq!(world.end(), (Outcome::MaxReached, StopReason::Iterations, 3, 3, 0));
    assert_eq!(world.result().outcome.exit_code(), 3);
    let profile = World::new(max(3)).run();
    assert_eq!(profile.result().outcome, Outcome::MaxReached, "a profile's cap without a promise (A7)");
}

#[test]
fn l1_without_loop_settings_there_is_one_run() {
    let world = World::new(spec()).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 1, 1, 0));
    assert_eq!(world.prompts(), ["Build the feature"]);
    let world = World::new(spec()).turns(&[failed()]).run();
    assert_eq!(world.end(), (Outcome::Failed, StopReason::Failures, 1, 0, 1));
    assert_eq!(world.result().detail, Some(StopDetail::said("exit 1")));
    assert!(world.sleeps.is_empty(), "no backoff before an end");
}

#[test]
fn l3_an_empty_promise_never_completes() {
    let world = World::new(until(2, "")).turns(&[promised()]).run();
    assert_eq!(world.end(), (Outcome::MaxReached, StopReason::Iterations, 2, 2, 0));
    assert!(world.prompts().iter().all(|prompt| !prompt.contains("really and completely done")));
}

#[test]
fn l6_a_promise_in_the_last_allowed_iteration_is_completed() {
    for (cap, turns) in [(1, vec![promised()]), (3, vec![done(), done(), promised()])] {
        let world = World::new(until(cap, "DONE")).turns(&turns).run();
        assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, cap, cap, 0));
    }
}

#[test]
fn l6_completion_beats_every_limit_at_once() {
    let mut spec = until(1, "DONE");
    spec.policy.time = Some(std::time::Duration::from_secs(1));
    spec.policy.max_tokens = Some(1);
    spec.policy.stall = 1;
    let world = World::new(spec).turns(&[promised()]).commit(changes_nothing).run();
    assert_eq!(world.result().outcome, Outcome::Completed);
}

#[test]
fn l6_the_order_of_the_limits() {
    let mut spec = until(1, "DONE");
    spec.policy.time = Some(std::time::Duration::from_secs(1));
    spec.policy.max_tokens = Some(1);
    spec.policy.stall = 1;
    let mut reasons = Vec::new();
    for relax in 0..4 {
        match relax {
            1 => spec.policy.max_tokens = None,
            2 => spec.policy.cap = None,
            3 => spec.policy.time = None,
            _ => {}
        }
        let world = World::new(spec.clone()).commit(changes_nothing).run();
        reasons.push((world.result().outcome, world.result().stop_reason));
    }
    assert_eq!(
        reasons,
        [
            (Outcome::BudgetExhausted, StopReason::Budget),
            (Outcome::MaxReached, StopReason::Iterations),
            (Outcome::TimeElapsed, StopReason::Time),
            (Outcome::Stalled, StopReason::Stall),
        ]
    );
}

#[test]
fn l3_all_conditions_must_hold_in_the_same_iteration() {
    // Promise in 0, checks green in 1, both in 2.
    let mut spec = checked(5, &["a", "b"]);
    spec.policy.until = Some("DONE".into());
    let world = World::new(spec)
        .turns(&[promised(), done(), promised()])
        .check(|_, iteration, index| match (iteration, index) {
            (Some(0), 0) | (Some(1 | 2), _) => 0,
            _ => 1,
        })
        .run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 3, 3, 0));
    assert!(world.result().verified);
}

#[test]
fn l3_a_failed_iteration_never_completes() {
    let mut spec = checked(2, &["a"]);
    spec.policy.until = Some("DONE".into());
    let world = World::new(spec)
        .turns(&[Turn { promise: true, ..failed() }])
        .check(|phase, _, _| i32::from(phase == CheckPhase::Baseline))
        .run();
    assert_eq!(world.end(), (Outcome::MaxReached, StopReason::Iterations, 2, 0, 2));
    assert!(!world.result().verified);
}

#[test]
fn l3_a_tree_in_disorder_is_a_failed_iteration() {
    let world = World::new(until(2, "DONE"))
        .turns(&[promised()])
        .commit(|plan| {
            let mut planned = changes(plan);
            planned.problems = if plan.iteration == 0 { vec!["a merge is half done".into()] } else { vec![] };
            planned
        })
        .run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 2, 1, 1));
    assert_eq!(crate::context::faults(&world.records()[0].faults).as_deref(), Some("a merge is half done"));
}

#[test]
fn l4_checks_run_before_the_first_and_after_every_iteration_failed_or_not() {
    let world = World::new(checked(3, &["a", "b"])).turns(&[done(), failed(), done()]).run();
    let ran: Vec<_> = world.checks.iter().map(|plan| (plan.phase, plan.iteration, plan.index)).collect();
    let mut wanted = vec![(CheckPhase::Baseline, None, 0), (CheckPhase::Baseline, None, 1)];
    for iteration in 0..3 {
        wanted.extend([
            (CheckPhase::Iteration, Some(iteration), 0),
            (CheckPhase::Iteration, Some(iteration), 1),
        ]);
    }
    assert_eq!(ran, wanted);
    let judged: Vec<_> = world.checks.iter().step_by(2).map(|plan| plan.commit.clone()).collect();
    assert_eq!(judged, [Some(base()), Some(commit_of(0)), Some(commit_of(1)), Some(commit_of(2))]);
    assert_eq!(world.records()[1].checks.len(), 2);
}

#[test]
fn l4_red_to_green_is_proof_without_a_promise() {
    let world = World::new(checked(5, &["a"])).check(|_, iteration, _| i32::from(iteration != Some(1))).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 2, 2, 0));
    let result = world.result();
    assert!(result.verified);
    assert_eq!((result.proof[0].before, result.proof[0].after), (Some(false), Some(true)));
    assert_eq!(
        (result.proof[0].last_line.as_str(), &result.proof[0].commit),
        ("ended 0", &Some(commit_of(1)))
    );
    assert!(!world.prompts()[0].contains(DEFAULT_PROMISE));
}

#[test]
fn l4_already_green_proves_nothing_so_the_promise_is_needed() {
    let world = World::new(checked(5, &["a"])).turns(&[done(), promised()]).check(|_, _, _| 0).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 2, 2, 0));
    let result = world.result();
    assert!(result.verified, "stayed green with the promise");
    assert_eq!((result.proof[0].before, result.proof[0].after), (Some(true), Some(true)));
    for turn in &world.turns {
        assert_eq!(turn.promise.as_deref(), Some(DEFAULT_PROMISE));
        assert!(turn.prompt.contains(DEFAULT_PROMISE));
    }
    let never = World::new(checked(2, &["a"])).check(|_, _, _| 0).run();
    assert_eq!(never.end(), (Outcome::MaxReached, StopReason::Iterations, 2, 2, 0));
}

#[test]
fn l4_the_users_own_promise_is_taken_where_checks_are_green() {
    let mut spec = checked(3, &["a"]);
    spec.policy.until = Some("FERTIG".into());
    let world = World::new(spec).turns(&[promised()]).check(|_, _, _| 0).run();
    assert!(world.result().verified);
    assert_eq!(world.turns[0].promise.as_deref(), Some("FERTIG"));
    assert!(!world.prompts()[0].contains(DEFAULT_PROMISE));
}

#[test]
fn l4_one_red_check_of_several_is_a_red_baseline() {
    let world = World::new(checked(3, &["a", "b"]))
        .check(|phase, _, index| i32::from(phase == CheckPhase::Baseline && index == 1))
        .run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 1, 1, 0));
    assert!(world.result().verified);
    let befores: Vec<_> = world.result().proof.iter().map(|proof| proof.before).collect();
    assert_eq!(befores, [Some(true), Some(false)]);
}

#[test]
fn l4_a_check_that_cannot_be_run_is_refused_before_the_first_iteration() {
    for code in [126, 127] {
        let world = World::new(checked(3, &["a", "b"])).check(move |_, _, _| code).run();
        assert_eq!(world.end(), (Outcome::Failed, StopReason::SetupFailed, 0, 0, 0));
        assert_eq!(
            world.result().detail,
            Some(StopDetail::Check {
                command: "a".into(),
                exit: Exit { exit_code: Some(code), timed_out: false },
                line: format!("ended {code}"),
            })
        );
        assert_eq!((world.checks.len(), world.turns.len()), (1, 0));
    }
}

#[test]
fn l4_no_baseline_skips_that_run() {
    let mut spec = checked(3, &["a"]);
    spec.policy.baseline = false;
    let world = World::new(spec.clone()).check(|_, _, _| 0).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 1, 1, 0));
    assert!(!world.result().verified, "never seen red, and no promise");
    assert_eq!(world.result().proof[0].before, None);
    let world = World::new(spec.clone()).check(|_, iteration, _| i32::from(iteration == Some(0))).run();
    assert!(world.result().verified, "seen red after iteration 0");
    spec.policy.until = Some("DONE".into());
    let world = World::new(spec).turns(&[promised()]).check(|_, _, _| 0).run();
    assert!(world.result().verified, "red before or green before: with the promise both are proof");
}

#[test]
fn l5_the_cap_of_iter_beside_a_condition_is_a_cap() {
    let mut spec = iter(2);
    spec.policy.until = Some("DONE".into());
    let world = World::new(spec).run();
    assert_eq!(world.end(), (Outcome::MaxReached, StopReason::Iterations, 2, 2, 0));
    let world = World::new(iter(1)).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 1, 1, 0));
    let world = World::new(max(100)).run();
    assert_eq!(world.end(), (Outcome::MaxReached, StopReason::Iterations, 100, 100, 0));
}

#[test]
fn l15_verified_needs_completion_by_checks() {
    // Green at last, but the loop had ended by its cap in a failed iteration.
    let world = World::new(checked(2, &["a"]))
        .turns(&[done(), failed()])
        .check(|_, iteration, _| i32::from(iteration != Some(1)))
        .run();
    assert_eq!(world.result().outcome, Outcome::MaxReached);
    assert!(!world.result().verified);
    assert_eq!(world.result().proof[0].after, Some(true), "the receipt still says what is");
}
