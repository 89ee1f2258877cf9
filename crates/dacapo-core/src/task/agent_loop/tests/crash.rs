//! A process that is killed at any line of its journal, and another that takes the task up (R1, L14).

use std::collections::BTreeMap;

use jiff::SignedDuration;

use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::{Begin, Effect};
use crate::event::{CheckPhase, Envelope, Event, KnownLimit, Outcome, TurnEnd, WaitReason};
use crate::spec::TaskSpec;

/// Five iterations with everything in them: a failure and its pause, a limit, one that another task found and then tries
/// whether it is over, models that write about it, checks that turn green at the end.
fn busy() -> TaskSpec {
    let mut spec = checked(9, &["a", "b"]);
    spec.policy.proof.setup.commands = vec!["install".into()];
    spec.context.summary_by = Some(agent("summer"));
    spec.context.message_by = Some(agent("worder"));
    spec
}

fn script(world: World) -> World {
    let mut limited_once = false;
    world
        .on_turn(move |plan| match plan.iteration {
            1 => failed(),
            2 if !std::mem::replace(&mut limited_once, true) => limited(None),
            _ => done(),
        })
        .look(|_, now| {
            let (from, until) =
                (start() + SignedDuration::from_secs(59), start() + SignedDuration::from_secs(300));
            let tried = until + SignedDuration::from_secs(10);
            let until = (now < until).then_some(until);
            let limit = KnownLimit {
                agent: "one".into(),
                message: "limit reached".into(),
                by: "other".into(),
                until,
                guesses: 0,
            };
            (from <= now && now < tried).then_some(limit)
        })
        .commit(|plan| if plan.iteration == 3 { changes_nothing(plan) } else { changes(plan) })
        .check(|phase, iteration, index| match (phase, iteration) {
            (CheckPhase::Baseline, _) => 1,
            (_, Some(4)) => 0,
            _ => i32::from(index == 1),
        })
}

/// The branch as it is after these lines.
fn head_after(journal: &[Envelope]) -> Option<crate::git::Oid> {
    let commits = journal.iter().rev();
    let newest = commits.filter_map(|line| match &line.event {
        Event::Committed { commit, .. } => Some(commit.clone()),
        _ => None,
    });
    newest.take(1).next().or_else(|| Some(base()))
}

/// A new process at line `at`; `landed`: a move of the branch was carried out, but not written down.
fn killed_at(world: &World, at: usize, landed: bool) -> World {
    let mut next = script(World::new(busy()));
    next.journal = world.journal[..at].to_vec();
    next.because = world.because[..at].to_vec();
    next.machine = fold(&next.spec, &next.journal);
    next.head = head_after(&next.journal);
    next.now = world.journal[at.saturating_sub(1)].at;
    next.active = std::time::Duration::from_millis(world.journal[at.saturating_sub(1)].elapsed_ms);
    if let (true, Some(Effect::Land(landing))) = (landed, next.machine.effect()) {
        next.head = Some(landing.commit);
    }
    next
}

/// Takes the task up. A turn in flight was interrupted, or its output was whole.
fn take_up(mut world: World, interrupted: bool) -> World {
    world.begin(Begin::default());
    if let Some(effect @ Effect::RunTurn(_)) = world.machine.effect() {
        let Effect::RunTurn(plan) = &effect else { unreachable!() };
        world.turns.push(plan.clone());
        let turn = if interrupted { ended(TurnEnd::Interrupted) } else { (world.on_turn)(plan) };
        let record = world.turn_record(plan, &turn);
        world.input(&crate::engine::machine::Input::TurnEnded(record), Some(&effect));
    }
    world
}

fn assert_nothing_lost(world: &World, what: &str) {
    let result = world.result();
    assert_eq!((result.outcome, result.verified), (Outcome::Completed, true), "{what}");
    let counts = (result.iterations_attempted, result.iterations_succeeded, result.iterations_failed);
    assert_eq!(counts, (5, 4, 1), "{what}");
    let iterations: Vec<u32> = world.records().iter().map(|record| record.iteration).collect();
    assert_eq!(iterations, [0, 1, 2, 3, 4], "{what}");
    let mut settled: BTreeMap<u32, u32> = BTreeMap::new();
    let mut starts = BTreeMap::new();
    let mut turns = Vec::new();
    for line in &world.journal {
        match &line.event {
            Event::Committed { iteration, commit, .. } => {
                assert_eq!(*commit, commit_of(*iteration), "{what}");
                *settled.entry(*iteration).or_default() += 1;
            }
            Event::NoCommit(planned) => *settled.entry(planned.iteration).or_default() += 1,
            Event::IterationStarted { iteration, start_commit } => {
                assert!(starts.insert(*iteration, start_commit.clone()).is_none(), "{what}: started twice");
            }
            Event::TurnStarted { turn, .. } => turns.push(*turn),
            _ => {}
        }
    }
    assert_eq!(settled, (0..5).map(|iteration| (iteration, 1)).collect(), "{what}");
    let (committed, unchanged) = (|n: u32| Some(commit_of(n)), Some(commit_of(2)));
    let wanted = [Some(base()), committed(0), committed(1), committed(2), unchanged];
    assert_eq!(starts.into_values().collect::<Vec<_>>(), wanted, "{what}");
    assert_eq!(turns, (0..turns.len() as u32).collect::<Vec<_>>(), "{what}: no turn twice");
    assert_eq!(world.head, Some(commit_of(4)), "{what}");
}

#[test]
fn r1_every_prefix_of_a_journal_folds_to_the_effect_that_was_in_flight() {
    let world = script(World::new(busy())).run();
    assert_nothing_lost(&world, "without a crash");
    for why in [WaitReason::Limit, WaitReason::Probe, WaitReason::Backoff] {
        let waits = |event: &Event| matches!(event, Event::Waiting { cause, .. } if cause.reason() == why);
        assert!(world.count(waits) > 0, "{why:?}");
    }
    for at in 0..world.journal.len() {
        let machine = fold(&world.spec, &world.journal[..at]);
        if let Some(effect) = &world.because[at] {
            assert_eq!(machine.effect().as_ref(), Some(effect), "before {:?}", world.journal[at].event);
        }
    }
    assert_eq!(fold(&world.spec, &world.journal).effect(), None);
}

#[test]
fn r1_killed_at_any_line_nothing_is_lost_and_nothing_done_twice() {
    let world = script(World::new(busy())).run();
    for at in 1..world.journal.len() {
        for (landed, interrupted) in [(false, false), (false, true), (true, true)] {
            let mut next = take_up(killed_at(&world, at, landed), interrupted);
            next.drive();
            assert_nothing_lost(&next, &format!("killed at {at} ({landed}, {interrupted})"));
        }
    }
}

#[test]
fn r1_killed_at_any_line_and_again_at_any_later_one() {
    let world = script(World::new(busy())).run();
    for first in (1..world.journal.len()).step_by(3) {
        let mut next = take_up(killed_at(&world, first, false), true);
        next.drive();
        for second in (first + 1..next.journal.len()).step_by(2) {
            let mut last = take_up(killed_at(&next, second, true), true);
            last.drive();
            assert_nothing_lost(&last, &format!("killed at {first} and at {second}"));
        }
    }
}

#[test]
fn l14_an_interrupted_iteration_keeps_its_number_and_its_start() {
    let mut world = World::new(iter(2)).turns(&[done()]);
    world.begin(Begin::default());
    while !matches!(world.machine.effect(), Some(Effect::RunTurn(plan)) if plan.iteration == 1) {
        world.step();
    }
    // The dead turn had committed by itself.
    world.head = Some(oid(42));
    let mut world = take_up(world, true);
    world.drive();
    let attempts: Vec<_> = world.turns.iter().map(|turn| (turn.iteration, turn.attempt)).collect();
    assert_eq!(attempts, [(0, 0), (1, 0), (1, 1)]);
    assert_eq!(world.commits[1].start, Some(commit_of(0)));
    assert_eq!(world.commits[1].tip, Some(commit_of(0)));
    assert_eq!(world.end().2, 2);
    assert_eq!(world.records()[1].usage.input, 20, "what the dead turn used counts");
}

#[test]
fn l14_killed_at_any_line_then_stopped_at_once_the_iteration_is_wrapped_up() {
    let world = script(World::new(busy())).run();
    for at in 1..world.journal.len() {
        let mut next = killed_at(&world, at, false);
        next.begin(Begin::default());
        next.input(&crate::engine::machine::Input::Stop { by: "SIGINT".into() }, None);
        next.drive();
        let result = next.result();
        let all = result.iterations_succeeded + result.iterations_failed;
        assert_eq!(result.iterations_attempted, all, "killed at {at}");
        assert_eq!(next.records().len(), all as usize, "killed at {at}");
        assert!(next.turns.is_empty(), "killed at {at}");
    }
}
