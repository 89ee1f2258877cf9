//! Stopping by hand, in every phase (L14): recorded, committed, and no further turn; then taken up again.

use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::{Begin, Effect, Input};
use crate::engine::stop::{Facts, verdict};
use crate::event::{CheckPhase, Ended, Event, Outcome, StopDetail, StopReason, TurnEnd, WaitReason};
use crate::spec::{Cap, TaskSpec};

struct Case {
    name: &'static str,
    spec: TaskSpec,
    turns: Vec<Turn>,
    nth: u32,
    when: fn(&Effect) -> bool,
    /// Attempted, succeeded, failed; and turns that were run.
    counts: (u32, u32, u32),
    ran: usize,
}

fn case(
    name: &'static str,
    nth: u32,
    when: fn(&Effect) -> bool,
    counts: (u32, u32, u32),
    ran: usize,
) -> Case {
    Case { name, spec: iter(3), turns: vec![done()], nth, when, counts, ran }
}

fn cases() -> Vec<Case> {
    let in_check =
        |effect: &Effect| matches!(effect, Effect::RunCheck(plan) if plan.phase == CheckPhase::Iteration);
    let in_backoff = |effect: &Effect| matches!(effect, Effect::Sleep { why: WaitReason::Backoff, .. });
    let in_wait = |effect: &Effect| matches!(effect, Effect::Sleep { why: WaitReason::Limit, .. });
    vec![
        case("workspace", 0, |effect| *effect == Effect::PrepareWorkspace, (0, 0, 0), 0),
        Case {
            spec: checked(3, &["a", "b"]),
            ..case("baseline", 1, |effect| matches!(effect, Effect::RunCheck(_)), (0, 0, 0), 0)
        },
        case("before the first turn", 0, |effect| matches!(effect, Effect::BeginTurn(_)), (0, 0, 0), 0),
        case("in a turn", 1, |effect| matches!(effect, Effect::RunTurn(_)), (2, 1, 1), 2),
        case("while committing", 1, |effect| matches!(effect, Effect::PrepareCommit(_)), (2, 2, 0), 2),
        case("while landing", 1, |effect| matches!(effect, Effect::Land(_)), (2, 2, 0), 2),
        Case { spec: checked(3, &["a", "b"]), ..case("in a check", 3, in_check, (2, 2, 0), 2) },
        case("between", 1, |effect| matches!(effect, Effect::BeginTurn(_)), (1, 1, 0), 1),
        Case { turns: vec![done(), failed()], ..case("in a backoff", 0, in_backoff, (2, 1, 1), 2) },
        Case { turns: vec![done(), limited(None)], ..case("in a limit wait", 0, in_wait, (2, 1, 1), 2) },
        Case {
            turns: vec![done(), limited(None)],
            ..case("before a limit wait", 0, |effect| matches!(effect, Effect::ShareLimit(_)), (2, 1, 1), 2)
        },
        Case {
            turns: vec![ended(TurnEnd::Interrupted), done()],
            ..case("before another attempt", 1, |effect| matches!(effect, Effect::BeginTurn(_)), (1, 0, 1), 1)
        },
    ]
}

#[test]
fn l14_a_stop_in_any_phase_is_recorded_and_starts_no_turn() {
    for case in cases() {
        let name = case.name;
        let world = World::new(case.spec).turns(&case.turns).stop(case.nth, case.when).run();
        let (attempted, succeeded, failed) = case.counts;
        let wanted = (Outcome::Cancelled, StopReason::Cancelled, attempted, succeeded, failed);
        assert_eq!(world.end(), wanted, "{name}");
        assert_eq!(world.result().outcome.exit_code(), 130, "{name}");
        assert_eq!(world.turns.len(), case.ran, "{name}");
        assert_eq!(world.count(|event| matches!(event, Event::StopRequested { .. })), 1, "{name}");
        assert_eq!(
            world.commits.len(),
            attempted as usize,
            "{name}: every iteration that began is committed"
        );
        let stop = world.journal.iter().position(|line| matches!(line.event, Event::StopRequested { .. }));
        let later = &world.journal[stop.unwrap()..];
        assert!(!later.iter().any(|line| matches!(line.event, Event::TurnStarted { .. })), "{name}");
        if failed > 0 && name != "in a backoff" {
            assert_eq!(world.records().last().unwrap().outcome, Ended::Cancelled, "{name}");
            assert!(world.commits.last().unwrap().message.ends_with("Dacapo-Outcome: cancelled\n"), "{name}");
        }
    }
}

#[test]
fn l14_a_stopped_task_is_resumed_with_the_next_iteration() {
    for case in cases() {
        let name = case.name;
        let checks = case.spec.policy.checks.len();
        let world = World::new(case.spec).turns(&case.turns).stop(case.nth, case.when).run();
        let (attempted, ran) = (world.result().iterations_attempted, world.turns.len());
        let mut world = world.on_turn(|_| done()).resume(None, None);
        assert_eq!(world.turns[ran].iteration, attempted, "{name}");
        assert_eq!(world.result().iterations_attempted, 3, "{name}: the cap is what it was");
        assert_eq!(world.count(|event| matches!(event, Event::WorkspaceReady { .. })), 1, "{name}");
        let baseline = world.checks.iter().filter(|plan| plan.phase == CheckPhase::Baseline).count();
        assert!(baseline >= checks, "{name}: the baseline is made up for");
        let before: Vec<_> = world.result().proof.iter().map(|proof| proof.before).collect();
        assert_eq!(before, vec![Some(false); checks], "{name}");
        // What came before is the same to a process that reads it all from the journal.
        let journal = std::mem::take(&mut world.journal);
        assert_eq!(format!("{:?}", fold(&world.spec, &journal)), format!("{:?}", world.machine), "{name}");
    }
}

#[test]
fn l14_a_stop_then_a_crash_then_a_resume_goes_on() {
    for case in cases() {
        let name = case.name;
        let mut world = World::new(case.spec).turns(&case.turns).stop(case.nth, case.when);
        world.begin(Begin::default());
        while world.count(|event| matches!(event, Event::StopRequested { .. })) == 0 {
            world.step();
        }
        // Killed right after the request was written.
        let stop = world.journal.iter().position(|line| matches!(line.event, Event::StopRequested { .. }));
        world.journal.truncate(stop.unwrap() + 1);
        world.because.truncate(stop.unwrap() + 1);
        world.machine = fold(&world.spec, &world.journal);
        let started = world.count(|event| matches!(event, Event::IterationStarted { .. }));
        let mut world = world.on_turn(|_| done()).resume(None, None);
        assert_eq!(world.result().iterations_attempted, 3, "{name}");
        assert_ne!(world.result().outcome, Outcome::Cancelled, "{name}");
        assert_eq!(
            world.count(|event| matches!(event, Event::IterationStarted { .. })),
            3,
            "{name} {started}"
        );
        assert_eq!(world.count(|event| matches!(event, Event::Committed { .. })), 3, "{name}");
        world.turns.clear();
    }
}

#[test]
fn l14_a_stop_between_the_start_of_a_turn_and_its_agent_never_starts_the_agent() {
    let mut world = World::new(iter(3));
    world.begin(Begin::default());
    while !matches!(world.machine.effect(), Some(Effect::RunTurn(_))) {
        world.step();
    }
    world.input(&Input::Stop { by: "SIGTERM".into() }, None);
    assert_eq!(world.machine.effect(), Some(Effect::Settle), "not the turn");
    world.drive();
    assert!(world.turns.is_empty());
    assert_eq!(world.end(), (Outcome::Cancelled, StopReason::Cancelled, 1, 0, 1));
    assert_eq!(world.result().detail, Some(StopDetail::by("SIGTERM")));
}

#[test]
fn l14_a_limit_hit_while_stopping_does_not_wait() {
    let mut world = World::new(iter(3));
    world.begin(Begin::default());
    while !matches!(world.machine.effect(), Some(Effect::RunTurn(_))) {
        world.step();
    }
    let Some(Effect::RunTurn(plan)) = world.machine.effect() else { unreachable!() };
    world.input(&Input::Stop { by: "SIGTERM".into() }, None);
    let record = world.turn_record(&plan, &limited(None));
    world.input(&Input::TurnEnded(record), None);
    world.drive();
    assert!(world.sleeps.is_empty());
    assert_eq!(world.end(), (Outcome::Cancelled, StopReason::Cancelled, 1, 0, 1));
}

#[test]
fn l14_what_was_asked_for_is_there_though_somebody_stopped_it_at_that_moment() {
    let world = World::new(until(5, "DONE"))
        .turns(&[promised()])
        .stop(0, |effect| matches!(effect, Effect::PrepareCommit(_)))
        .run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 1, 1, 0));
    let world = World::new(until(5, "DONE")).stop(0, |effect| matches!(effect, Effect::Land(_))).run();
    assert_eq!(world.end(), (Outcome::Cancelled, StopReason::Cancelled, 1, 1, 0));
}

#[test]
fn l14_a_second_stop_says_nothing_new() {
    let mut world = World::new(iter(3));
    world.begin(Begin::default());
    world.step();
    world.input(&Input::Stop { by: "SIGINT".into() }, None);
    let lines = world.journal.len();
    world.input(&Input::Stop { by: "SIGINT".into() }, None);
    assert_eq!(world.journal.len(), lines);
    world.drive();
    world.input(&Input::Stop { by: "SIGINT".into() }, None);
    assert_eq!(world.result().outcome, Outcome::Cancelled);
}

#[test]
fn l14_a_stopped_loop_takes_no_offer_to_start_a_turn() {
    let mut world = World::new(iter(3)).turns(&[failed()]);
    world.begin(Begin::default());
    while world.records().is_empty() {
        world.step();
    }
    world.input(&Input::Stop { by: "SIGINT".into() }, None);
    let lines = world.journal.len();
    world.input(&Input::TurnBegins { head: None, session: None }, None);
    world.input(&Input::Settle { now: world.now }, None);
    world.input(&Input::WaitOver, None);
    assert_eq!(world.journal.len(), lines, "neither a turn nor a pause");
}

#[test]
fn l10_a_single_run_that_was_given_more_iterations_keeps_to_its_budget() {
    let mut policy = spec().policy;
    policy.max_tokens = Some(10);
    let facts = Facts { success: true, finished: 1, succeeded: 1, unmetered_in_row: 2, ..Facts::default() };
    let outcome =
        |iterations| verdict(&policy, Some(Cap::by_iter(iterations)), &facts).map(|end| end.outcome);
    assert_eq!(outcome(1), Some(Outcome::Completed), "what was asked for is there");
    assert_eq!(outcome(3), Some(Outcome::BudgetExhausted), "no further one starts that nobody can count");
}
