//! Usage limits that other tasks found (L9, K13).

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::{Begin, Effect, Input, Machine};
use crate::event::{
    ChangeCause, Event, KnownLimit, LimitSaid, Outcome, StopDetail, StopReason, WaitCause, WaitReason,
};
use crate::spec::TaskSpec;

fn hours(n: i64) -> Timestamp {
    start() + SignedDuration::from_hours(n)
}

fn known(agent: &str, until: Option<Timestamp>) -> KnownLimit {
    KnownLimit { agent: agent.into(), message: "limit reached".into(), by: "other".into(), until, guesses: 0 }
}

/// The limit of agent `one` is known until then.
fn one_until(until: Timestamp) -> impl FnMut(usize, Timestamp) -> Option<KnownLimit> + 'static {
    move |agent, now| (agent == 0 && now < until).then(|| known("one", Some(until)))
}

/// The first `times` looks at agent `one` find another task trying.
fn one_probed(times: u32) -> impl FnMut(usize, Timestamp) -> Option<KnownLimit> + 'static {
    let left = Cell::new(times);
    move |agent, _| {
        let probed = agent == 0 && left.get() > 0;
        left.set(left.get() - u32::from(probed));
        probed.then(|| known("one", None))
    }
}

fn agents(names: &[&str]) -> TaskSpec {
    let mut spec = iter(1);
    spec.agents = names.iter().map(|name| agent(name)).collect();
    spec
}

fn said(limit: &LimitSaid) -> String {
    let LimitSaid { message, found_by, probing } = limit;
    match found_by {
        Some(task) if *probing => format!("task {task} is checking whether it is over: {message}"),
        Some(task) => format!("found by task {task}: {message}"),
        None => message.clone(),
    }
}

/// `kind message` of everything about limits.
fn told(world: &World) -> Vec<String> {
    let lines = world.journal.iter().filter_map(|line| match &line.event {
        Event::LimitKnown(known) => Some(format!("known {}", known.agent)),
        Event::Waiting { cause, .. } => Some(match cause {
            WaitCause::Limit(limit) => format!("Limit {}", said(limit)),
            WaitCause::Probe(limit) => format!("Probe {}", said(limit)),
            WaitCause::Backoff { .. } => "Backoff".to_owned(),
        }),
        Event::AgentChanged { agent, cause } => Some(match cause {
            ChangeCause::Limit(limit) => format!("to {agent}: {}", said(limit)),
            ChangeCause::LimitOver => format!("to {agent}: its limit is over"),
        }),
        Event::TurnStarted { agent, .. } => Some(format!("turn of {agent}")),
        _ => None,
    });
    lines.collect()
}

#[test]
fn l9_a_limit_that_another_task_found_is_waited_for_without_a_turn() {
    let world = World::new(iter(2)).look(one_until(hours(3))).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 2, 2, 0));
    let wait = "Limit found by task other: limit reached";
    assert_eq!(told(&world), ["known one", wait, "turn of one", "turn of one"]);
    let waits = |line: &Event| matches!(line, Event::Waiting { until, .. } if *until == hours(3));
    assert_eq!(world.count(waits), 1);
    assert_eq!(world.shared, [], "nobody is told again what everybody knows");
    let started = world.journal.iter().position(|line| matches!(line.event, Event::IterationStarted { .. }));
    let waited = world.journal.iter().position(|line| matches!(line.event, Event::WaitOver));
    assert!(waited < started, "an iteration that cannot start is not begun");
}

#[test]
fn l9_max_wait_holds_for_what_others_found() {
    let mut spec = iter(2);
    spec.policy.max_wait = Duration::from_secs(3600);
    let world = World::new(spec).look(one_until(hours(3))).run();
    assert_eq!(world.end(), (Outcome::TimeElapsed, StopReason::LimitWait, 0, 0, 0));
    assert!(world.turns.is_empty() && world.sleeps.is_empty());
    let limit = LimitSaid { message: "limit reached".into(), found_by: Some("other".into()), probing: false };
    assert_eq!(world.result().detail, Some(StopDetail::LimitTooLong { limit }));
    // Who takes it up again is willing to wait again.
    let world = world.look(|_, _| None).resume(None, None);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 2, 2, 0));
}

#[test]
fn l9_the_next_agent_takes_over_without_a_turn_of_the_first() {
    let world = World::new(agents(&["one", "two"])).look(one_until(hours(3))).run();
    let change = "to two: found by task other: limit reached";
    assert_eq!(told(&world), ["known one", change, "turn of two"]);
    assert!(world.sleeps.is_empty());
}

#[test]
fn l9_the_agent_that_would_take_over_may_be_limited_by_another_task_too() {
    let two = |agent, now| match agent {
        1 if now < hours(1) => Some(known("two", Some(hours(1)))),
        _ => None,
    };
    let world = World::new(agents(&["one", "two"])).look(two).turns(&[limited(Some(hours(5))), done()]).run();
    let expected = [
        "turn of one",
        "to two: limit reached",
        "known two",
        "Limit found by task other: limit reached",
        "turn of two",
    ];
    assert_eq!(told(&world), expected, "it waits for the one that is free first");
    assert!(world.sleeps[0] <= Duration::from_secs(3600));
    assert_eq!(world.shared.len(), 1, "its own finding is for all");
}

#[test]
fn l9_at_the_reset_a_task_waits_for_the_one_that_tries() {
    let world = World::new(iter(1)).look(one_probed(1)).run();
    let wait = "Probe task other is checking whether it is over: limit reached";
    assert_eq!(told(&world), ["known one", wait, "turn of one"]);
    assert_eq!(world.sleeps, [Duration::from_secs(20)]);
}

#[test]
fn l9_the_one_that_tried_may_have_found_the_limit_again() {
    let looks = Cell::new(0);
    let world = World::new(iter(1))
        .look(move |_, _| {
            looks.set(looks.get() + 1);
            match looks.get() {
                1 => Some(known("one", None)),
                2 => Some(known("one", Some(hours(2)))),
                _ => None,
            }
        })
        .run();
    let probe = "Probe task other is checking whether it is over: limit reached";
    let wait = "Limit found by task other: limit reached";
    assert_eq!(told(&world), ["known one", probe, "known one", wait, "turn of one"]);
}

#[test]
fn l9_max_wait_bounds_waiting_for_others_who_try() {
    for (most, probes) in [(60, 3), (59, 3), (20, 1)] {
        let mut spec = iter(1);
        spec.policy.max_wait = Duration::from_secs(most);
        let world = World::new(spec).look(|_, _| Some(known("one", None))).run();
        assert_eq!(world.end(), (Outcome::TimeElapsed, StopReason::LimitWait, 0, 0, 0));
        assert_eq!(world.sleeps.len(), probes, "{most}: {:?}", world.sleeps);
        let waited: Duration = world.sleeps.iter().sum();
        assert!(waited <= Duration::from_secs(most), "{waited:?}");
    }
}

#[test]
fn l9_while_others_try_for_all_agents_the_loop_waits_and_does_not_run_in_circles() {
    let left = Rc::new(Cell::new(3));
    let tries = Rc::clone(&left);
    let world = World::new(agents(&["one", "two", "three"]))
        .look(move |agent, _| {
            let probed = tries.get() > 0;
            tries.set(tries.get() - i32::from(probed));
            probed.then(|| known(["one", "two", "three"][agent], None))
        })
        .run();
    let probed = "task other is checking whether it is over: limit reached";
    let expected = [
        "known one".to_owned(),
        format!("to two: {probed}"),
        "known two".to_owned(),
        format!("to three: {probed}"),
        "known three".to_owned(),
        format!("Probe {probed}"),
        "turn of three".to_owned(),
    ];
    assert_eq!(told(&world), expected);
}

#[test]
fn l9_what_another_task_is_trying_is_nearer_than_what_ends_later() {
    let mut probed = one_probed(2);
    let world = World::new(agents(&["one", "two"]))
        .look(move |agent, now| match agent {
            1 => Some(known("two", Some(hours(9)))),
            _ => probed(agent, now),
        })
        .run();
    assert_eq!(world.end().0, Outcome::Completed);
    assert_eq!(world.turns.iter().map(|turn| turn.agent).collect::<Vec<_>>(), [0]);
    assert_eq!(world.sleeps, [Duration::from_secs(20)], "not nine hours");
}

#[test]
fn l9_what_a_turn_ran_into_is_told_to_all_before_anything_else() {
    let reset = Some(hours(3));
    let world = World::new(agents(&["one", "two"])).turns(&[limited(reset), limited(None), done()]).run();
    let told: Vec<_> = world.shared.iter().map(|found| (found.agent, found.resets_at)).collect();
    assert_eq!(told, [(0, reset), (1, None)]);
    let finished =
        world.journal.iter().position(|line| matches!(line.event, Event::TurnFinished(_))).unwrap();
    let after = fold(&world.spec, &world.journal[..=finished]);
    assert!(
        matches!(after.effect(), Some(Effect::ShareLimit(_))),
        "also by the process that comes after a crash"
    );
}

#[test]
fn l9_guesses_grow_over_all_tasks() {
    let first = Cell::new(true);
    let world = World::new(iter(1))
        .look(move |_, now| {
            let known = KnownLimit { guesses: 3, ..known("one", Some(now + SignedDuration::from_mins(4))) };
            first.replace(false).then_some(known)
        })
        .turns(&[limited(None), done()])
        .run();
    let minutes = |wait: &Duration| (wait.as_secs_f64() / 60.0).round();
    assert_eq!(world.sleeps.iter().map(minutes).collect::<Vec<_>>(), [4.0, 8.0]);
    assert_eq!(world.shared.iter().map(|found| found.guesses).collect::<Vec<_>>(), [4]);
}

#[test]
fn l2_time_that_passes_before_an_iteration_starts_no_iteration() {
    let mut spec = iter(5);
    spec.policy.time = Some(Duration::from_secs(3600));
    let world = World::new(spec).look(one_until(hours(2))).run();
    assert_eq!(world.end(), (Outcome::Failed, StopReason::Time, 0, 0, 0));
    assert!(world.turns.is_empty());
}

#[test]
fn l14_a_task_that_waits_for_another_can_be_stopped_and_taken_up_again() {
    let world = World::new(iter(1))
        .look(one_probed(1))
        .stop(0, |effect| matches!(effect, Effect::AwaitProbe { .. }))
        .run();
    assert_eq!(world.end(), (Outcome::Cancelled, StopReason::Cancelled, 0, 0, 0));
    assert!(world.turns.is_empty());
    let world = world.resume(None, None);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 1, 1, 0));
}

#[test]
fn r1_killed_while_it_waits_for_another_it_waits_again() {
    let mut world = World::new(iter(1)).look(one_probed(1));
    world.begin(Begin::default());
    while !matches!(world.machine.effect(), Some(Effect::AwaitProbe { .. })) {
        world.step();
    }
    let effect = world.machine.effect();
    world.machine = fold(&world.spec, &world.journal);
    world.begin(Begin::default());
    assert_eq!(world.machine.effect(), effect);
    world.drive();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 1, 1, 0));
}

#[test]
fn a_limit_of_another_agent_or_in_the_middle_of_a_turn_is_none_of_its_business() {
    let mut world = World::new(agents(&["one", "two"]));
    world.begin(Begin::default());
    while !matches!(world.machine.effect(), Some(Effect::BeginTurn(_))) {
        world.step();
    }
    assert_eq!(world.machine.decide(&Input::LimitKnown(known("two", None))), []);
    world.step();
    assert!(matches!(world.machine.effect(), Some(Effect::RunTurn(_))));
    assert_eq!(world.machine.decide(&Input::LimitKnown(known("one", None))), []);
    let why = WaitReason::Probe;
    assert_eq!(serde_json::to_string(&why).unwrap(), "\"probe\"");
}
