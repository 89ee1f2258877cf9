//! Limits, failures, budgets and stall (L2, L8, L10, L11, L15).

use std::time::Duration;

use super::world::*;
use crate::engine::machine::Machine;
use crate::event::{
    CheckPhase, Ended, Event, Metered, Notice, Outcome, StopDetail, StopReason, TurnEnd, Usage, WaitCause,
};

fn time(seconds: u64) -> crate::spec::TaskSpec {
    let mut spec = iter(100);
    spec.policy.cap = None;
    spec.policy.time = Some(Duration::from_secs(seconds));
    spec
}

#[test]
fn l2_time_stops_the_next_iteration_and_never_cuts_one_short() {
    // A turn takes 60 s.
    let world = World::new(time(150)).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Time, 3, 3, 0));
    assert!(world.records().iter().all(|record| record.outcome == Ended::Success));
    let world = World::new(time(1)).turns(&[failed()]).run();
    assert_eq!(world.end(), (Outcome::Failed, StopReason::Time, 1, 0, 1));
    let mut spec = time(150);
    spec.policy.until = Some("DONE".into());
    let world = World::new(spec).run();
    assert_eq!(world.end(), (Outcome::TimeElapsed, StopReason::Time, 3, 3, 0));
}

#[test]
fn l2_of_both_limits_the_first_to_be_reached_ends_it() {
    for (cap, seconds, wanted) in [(2, 1000, StopReason::Iterations), (9, 70, StopReason::Time)] {
        let mut spec = time(seconds);
        spec.policy.cap = Some(crate::spec::Cap::by_iter(cap));
        let world = World::new(spec).run();
        assert_eq!(world.end(), (Outcome::Completed, wanted, 2, 2, 0));
    }
}

#[test]
fn l2_time_that_runs_out_in_a_backoff_ends_the_loop_without_another_turn() {
    // Two turns of 60 s, pauses of 1 s and 2 s: 121 s are over in the second pause.
    let world = World::new(time(122)).turns(&[failed()]).run();
    assert_eq!(world.end(), (Outcome::Failed, StopReason::Time, 2, 0, 2));
    assert_eq!(world.sleeps.len(), 2);
}

#[test]
fn l2_time_waiting_for_a_limit_counts() {
    let reset = start() + jiff::SignedDuration::from_hours(5);
    let world = World::new(time(3600)).turns(&[limited(Some(reset)), done()]).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Time, 1, 1, 0));
    assert_eq!(world.turns.len(), 2, "the iteration at work is not cut short");
}

#[test]
fn s2_the_last_words_of_a_failed_turn_are_in_its_record_and_in_the_result() {
    let said = || Some("API key invalid".to_owned());
    let world = World::new(iter(2)).turns(&[Turn { stderr_tail: said(), ..failed() }]).run();
    assert_eq!(
        world.records().iter().map(|record| record.stderr_tail.clone()).collect::<Vec<_>>(),
        [said(), said()]
    );
    assert_eq!(world.result().stderr_tail, said());
    let script = [Turn { stderr_tail: said(), ..failed() }, done()];
    let world = World::new(iter(2)).turns(&script).run();
    assert_eq!(world.result().stderr_tail, None, "what came later went well");
}

#[test]
fn l8_pauses_grow_with_failures_in_a_row_and_there_is_none_after_the_last() {
    let mut script = vec![failed(); 8];
    script.push(done());
    script.push(failed());
    let world = World::new(iter(10)).turns(&script).run();
    let seconds: Vec<u64> = world.sleeps.iter().map(|sleep| sleep.as_secs_f64().round() as u64).collect();
    assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60]);
    let waits = world.count(|event| matches!(event, Event::Waiting { cause: WaitCause::Backoff { .. }, .. }));
    assert_eq!(waits, 8);
}

#[test]
fn l8_so_many_failures_in_a_row_end_the_loop() {
    let mut spec = iter(20);
    spec.policy.max_failures = 3;
    let script = [failed(), failed(), done(), failed(), failed(), failed()];
    let world = World::new(spec).turns(&script).run();
    assert_eq!(world.end(), (Outcome::Failed, StopReason::Failures, 6, 1, 5));
    assert_eq!(world.result().outcome.exit_code(), 1);
    let world = World::new(iter(20)).turns(&[failed()]).run();
    assert_eq!(world.end(), (Outcome::Failed, StopReason::Iterations, 20, 0, 20), "0: never");
}

#[test]
fn l8_an_error_that_cannot_heal_ends_it_at_once() {
    let world = World::new(iter(5)).turns(&[done(), broken()]).run();
    assert_eq!(world.end(), (Outcome::Failed, StopReason::PermanentError, 2, 1, 1));
    assert_eq!(world.result().detail, Some(StopDetail::said("not logged in: run `one login`")));
    assert!(world.sleeps.is_empty());
    assert_eq!(world.count(|event| matches!(event, Event::Committed { .. })), 2, "what it left is committed");
}

fn spending(cost: f64) -> Usage {
    Usage { input: 100, output: 50, cached: 90, cost_usd: Some(cost), ..Usage::default() }
}

#[test]
fn l10_the_budget_is_judged_while_a_turn_runs() {
    let mut spec = iter(9);
    spec.policy.max_cost = Some(1.0);
    spec.policy.max_tokens = Some(1000);
    let mut world = World::new(spec).turns(&[Turn { usage: spending(0.75), ..done() }]);
    world.begin(crate::engine::machine::Begin::default());
    assert!(!world.machine.over_budget(&spending(0.5)));
    assert!(world.machine.over_budget(&spending(1.0)));
    while world.records().is_empty() {
        world.step();
    }
    assert!(world.machine.over_budget(&spending(0.25)), "with what was used before");
    assert!(!world.machine.over_budget(&spending(0.24)));
    assert!(world.machine.over_budget(&Usage { input: 850, ..Usage::default() }));
    assert!(!world.machine.over_budget(&Usage { input: 849, ..Usage::default() }));
}

#[test]
fn l10_a_turn_is_told_what_is_left() {
    let mut spec = iter(2);
    spec.policy.max_cost = Some(1.0);
    let told = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let heard = std::rc::Rc::clone(&told);
    let world = World::new(spec).on_turn(move |plan| {
        heard.borrow_mut().push(plan.budget);
        Turn { usage: spending(0.75), ..done() }
    });
    world.run();
    assert_eq!(*told.borrow(), [Some(1.0), Some(0.25)]);
}

#[test]
fn l10_a_turn_cut_by_the_budget_is_cancelled_and_its_work_committed() {
    let cut = Turn { usage: spending(1.5), ..ended(TurnEnd::Budget) };
    for (max_failures, looping) in [(0, true), (1, true), (0, false)] {
        let mut spec = iter(5);
        spec.policy.looping = looping;
        spec.policy.max_cost = Some(1.0);
        spec.policy.max_failures = max_failures;
        let world = World::new(spec).turns(std::slice::from_ref(&cut)).run();
        assert_eq!(world.end(), (Outcome::BudgetExhausted, StopReason::Budget, 1, 0, 1));
        assert_eq!(world.result().outcome.exit_code(), 3);
        let record = world.records()[0];
        assert_eq!((record.outcome, &record.commit_id), (Ended::Cancelled, &Some(commit_of(0))));
        assert!(world.commits[0].message.ends_with("Dacapo-Outcome: cancelled\n"));
        assert_eq!(world.result().cost_usd, Some(1.5));
    }
}

#[test]
fn l10_a_finished_turn_over_the_budget_ends_the_loop_unless_it_completes_it() {
    let mut spec = until(5, "DONE");
    spec.policy.max_tokens = Some(20);
    let world = World::new(spec.clone()).run();
    assert_eq!(world.end(), (Outcome::BudgetExhausted, StopReason::Budget, 2, 2, 0));
    assert_eq!((world.result().tokens.input, world.result().tokens.output), (20, 10));
    let world = World::new(spec).turns(&[done(), promised()]).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 2, 2, 0));
}

/// A turn that succeeded and does not say what it used.
fn silent() -> Turn {
    Turn { usage: Usage::default(), ..done() }
}

fn notices(world: &World) -> usize {
    world.count(|event| matches!(event, Event::Notice(Notice::UsageUnknown { .. })))
}

#[test]
fn l10_a_second_turn_in_a_row_of_unknown_usage_ends_the_loop() {
    let mut spec = iter(9);
    spec.policy.max_tokens = Some(1000);
    let world = World::new(spec.clone()).turns(&[done(), silent(), failed(), silent()]).run();
    assert_eq!(world.end(), (Outcome::BudgetExhausted, StopReason::Budget, 4, 3, 1), "failures do not count");
    assert_eq!(
        world.result().detail,
        Some(StopDetail::UsageUnknown { agent: "one".into(), amount: Metered::Tokens, turns: 2 })
    );
    assert_eq!(notices(&world), 1, "the first is a notice, the second the end");
    assert_eq!(world.result().outcome.exit_code(), 3);
    assert_eq!(world.count(|event| matches!(event, Event::Committed { .. })), 4, "the work is committed");

    let world = World::new(spec).turns(&[silent(), done(), silent(), done()]).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 9, 9, 0), "not in a row");
    assert_eq!(notices(&world), 2);
}

#[test]
fn l10_each_budget_needs_its_own_amount() {
    let priced = Usage { cost_usd: Some(0.01), ..Usage::default() };
    let counted = Usage { input: 1, ..Usage::default() };
    let flagged = |usage: Usage| Usage { tokens_unknown: true, cost_unknown: true, ..usage };
    for (max_cost, max_tokens, usage, ends) in [
        (None, None, Usage::default(), false),
        (Some(9.0), None, priced, false),
        (Some(9.0), None, counted, true),
        (None, Some(900), counted, false),
        (None, Some(900), priced, true),
        (Some(9.0), Some(900), priced, true),
        (Some(9.0), Some(900), Usage { cost_usd: Some(0.01), ..counted }, false),
        (Some(9.0), None, flagged(priced), true),
        (None, Some(900), flagged(counted), true),
    ] {
        let mut spec = iter(4);
        (spec.policy.max_cost, spec.policy.max_tokens) = (max_cost, max_tokens);
        let world = World::new(spec).turns(&[Turn { usage, ..done() }]).run();
        let expected = if ends {
            (Outcome::BudgetExhausted, StopReason::Budget, 2, 2, 0)
        } else {
            (Outcome::Completed, StopReason::Iterations, 4, 4, 0)
        };
        assert_eq!(world.end(), expected, "{max_cost:?} {max_tokens:?} {usage:?}");
    }
}

#[test]
fn l10_unknown_usage_does_not_undo_completion_and_a_new_allowance_begins_anew() {
    let mut spec = until(5, "DONE");
    spec.policy.max_cost = Some(1.0);
    let world = World::new(spec.clone()).turns(&[silent(), Turn { promise: true, ..silent() }]).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 2, 2, 0));
    assert_eq!(world.result().detail, None);
    let mut spec = spec;
    spec.policy.looping = false;
    spec.policy.until = None;
    let world = World::new(spec).turns(&[silent()]).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 1, 1, 0), "one turn is a notice");
    assert_eq!(notices(&world), 1);
}

#[test]
fn l10_a_budget_reached_in_the_last_allowed_iteration_is_budget_exhausted() {
    let mut spec = iter(2);
    spec.policy.max_tokens = Some(30);
    assert_eq!(World::new(spec).run().end(), (Outcome::BudgetExhausted, StopReason::Budget, 2, 2, 0));
    let mut spec = until(2, "DONE");
    spec.policy.max_tokens = Some(30);
    assert_eq!(World::new(spec.clone()).run().end(), (Outcome::BudgetExhausted, StopReason::Budget, 2, 2, 0));
    spec.policy.cap = None;
    spec.policy.time = Some(Duration::from_secs(120));
    assert_eq!(
        World::new(spec.clone()).run().end(),
        (Outcome::BudgetExhausted, StopReason::Budget, 2, 2, 0),
        "before time"
    );
    spec.policy.max_failures = 1;
    let world = World::new(spec).turns(&[done(), failed()]).run();
    assert_eq!(world.end(), (Outcome::BudgetExhausted, StopReason::Budget, 2, 1, 1), "before failures");
}

#[test]
fn l10_checks_still_judge_what_a_budget_cut_left() {
    let mut spec = checked(5, &["a"]);
    spec.policy.max_cost = Some(1.0);
    let world = World::new(spec)
        .turns(&[ended(TurnEnd::Budget)])
        .check(|phase, _, _| i32::from(phase == CheckPhase::Baseline));
    let world = world.run();
    assert_eq!(world.result().outcome, Outcome::BudgetExhausted, "an iteration that was cut never completes");
    assert_eq!(world.result().proof[0].after, Some(true));
}

fn stall(k: u32) -> crate::spec::TaskSpec {
    let mut spec = until(10, "DONE");
    spec.policy.stall = k;
    spec
}

#[test]
fn l11_iterations_without_a_change_end_the_loop() {
    let world = World::new(stall(3)).commit(changes_nothing).run();
    assert_eq!(world.end(), (Outcome::Stalled, StopReason::Stall, 3, 3, 0));
    assert_eq!(world.result().outcome.exit_code(), 3);
    let world = World::new(stall(0)).commit(changes_nothing).run();
    assert_eq!(world.result().outcome, Outcome::MaxReached, "0 = off");
    // A change starts the count anew.
    let world = World::new(stall(3))
        .commit(|plan| if plan.iteration == 2 { changes(plan) } else { changes_nothing(plan) })
        .run();
    assert_eq!(world.end().2, 6);
}

#[test]
fn l11_failed_iterations_neither_count_nor_reset() {
    let script = [done(), failed(), done(), failed(), failed(), done()];
    let world = World::new(stall(3)).turns(&script).commit(changes_nothing).run();
    assert_eq!(world.end(), (Outcome::Stalled, StopReason::Stall, 6, 3, 3));
    // Not even when a failed one changed something.
    let world = World::new(stall(3))
        .turns(&script)
        .commit(|plan| if plan.iteration == 1 { changes(plan) } else { changes_nothing(plan) })
        .run();
    assert_eq!(world.end().2, 6);
}

#[test]
fn l11_the_same_check_failing_the_same_way_ends_the_loop() {
    let mut spec = checked(10, &["a"]);
    spec.policy.stall = 3;
    let world = World::new(spec.clone()).turns(&[done(), failed(), done()]).run();
    assert_eq!(world.end(), (Outcome::Stalled, StopReason::Stall, 4, 3, 1));
    // Another failure each time is progress.
    let mut world = World::new(spec.clone());
    world.on_check = Box::new(|plan| (1, format!("failure {:?}", plan.iteration)));
    assert_eq!(world.run().result().outcome, Outcome::MaxReached);
    // A failed iteration's failure does not count, and does not come between.
    let mut world = World::new(spec).turns(&[done(), failed(), done()]);
    world.on_check =
        Box::new(|plan| (1, if plan.iteration == Some(1) { "other".into() } else { "same".into() }));
    assert_eq!(world.run().end().2, 4);
}

#[test]
fn l15_a_pure_loop_is_completed_if_any_iteration_succeeded() {
    let world = World::new(iter(3)).turns(&[failed(), done(), failed()]).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 3, 1, 2));
    assert_eq!(world.result().detail, None);
    assert!(!world.result().verified);
    let world = World::new(iter(2)).turns(&[failed()]).run();
    assert_eq!(world.end(), (Outcome::Failed, StopReason::Iterations, 2, 0, 2));
}

#[test]
fn l15_exit_codes() {
    let codes = [
        (Outcome::Completed, 0),
        (Outcome::Failed, 1),
        (Outcome::MaxReached, 3),
        (Outcome::TimeElapsed, 3),
        (Outcome::BudgetExhausted, 3),
        (Outcome::Stalled, 3),
        (Outcome::Paused, 4),
        (Outcome::Cancelled, 130),
    ];
    for (outcome, code) in codes {
        assert_eq!(outcome.exit_code(), code);
    }
}

#[test]
fn l16_the_result_says_it_all() {
    let world = World::new(checked(3, &["a"])).check(|_, iteration, _| i32::from(iteration != Some(1))).run();
    let result = serde_json::to_value(world.result()).unwrap();
    assert_eq!(result["outcome"], "completed");
    assert_eq!(result["stop_reason"], "checks");
    assert_eq!(result["verified"], true);
    assert_eq!(result["iterations_attempted"], 2);
    assert_eq!(result["tokens"]["input"], 20);
    assert_eq!(result["base_commit"], base().as_str());
    assert_eq!(result["last_commit"], commit_of(1).as_str());
    assert!(result["elapsed_seconds"].as_f64().unwrap() >= 120.0);
    assert!(result["cost_usd"].is_null());
}

#[test]
fn s3_a_workspace_that_cannot_be_made_ends_the_task() {
    let mut world = World::new(iter(3));
    world.begin(crate::engine::machine::Begin::default());
    world.input(&crate::engine::machine::Input::WorkspaceFailed(vec!["no worktree".into()]), None);
    world.drive();
    assert_eq!(world.end(), (Outcome::Failed, StopReason::SetupFailed, 0, 0, 0));
    assert_eq!(world.result().detail, Some(StopDetail::said("no worktree")));
    let world = world.resume(None, None);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 3, 3, 0), "it is tried again");
}
