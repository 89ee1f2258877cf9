//! What people want of a loop while it runs (S2).

use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::{Begin, Effect, Input, Machine};
use crate::event::{Command, Ended, Event, Notice, Outcome, StopReason, TurnEnd, WaitReason};

fn at(world: &mut World, nth: usize, when: fn(&Effect) -> bool) {
    let mut seen = 0;
    loop {
        let effect = world.machine.effect().expect("it comes to that");
        if when(&effect) {
            if seen == nth {
                return;
            }
            seen += 1;
        }
        world.step();
    }
}

fn begun(spec: crate::spec::TaskSpec) -> World {
    let mut world = World::new(spec);
    world.begin(Begin::default());
    world
}

fn give(world: &mut World, wanted: Command) {
    world.input(&Input::Command(command(wanted)), None);
}

const PAUSE: Command = Command::Pause { now: false };

#[test]
fn s2_a_pause_waits_for_the_end_of_the_iteration() {
    let mut world = begun(iter(3));
    at(&mut world, 1, |effect| matches!(effect, Effect::RunTurn(_)));
    give(&mut world, PAUSE);
    assert!(!world.machine.ends_now(), "the turn at work goes on");
    world.drive();
    assert_eq!(world.end(), (Outcome::Paused, StopReason::NeedsPerson, 2, 2, 0));
    assert_eq!(world.result().outcome.exit_code(), 4);
    assert_eq!(world.count(|event| matches!(event, Event::Paused { .. })), 1);
    let world = world.resume(None, None);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 3, 3, 0), "the cap is what it was");
}

#[test]
fn s2_a_pause_now_ends_the_turn_and_keeps_what_it_did() {
    let mut world = begun(iter(3));
    at(&mut world, 1, |effect| matches!(effect, Effect::RunTurn(_)));
    let Some(Effect::RunTurn(plan)) = world.machine.effect() else { panic!("a turn is at work") };
    give(&mut world, Command::Pause { now: true });
    assert!(world.machine.ends_now());
    let record = world.turn_record(&plan, &ended(TurnEnd::Cancelled));
    world.input(&Input::TurnEnded(record), None);
    world.drive();
    assert_eq!(world.end(), (Outcome::Paused, StopReason::NeedsPerson, 2, 1, 1));
    assert_eq!(world.records().last().unwrap().outcome, Ended::Cancelled);
    assert_eq!(world.commits.len(), 2);
    let world = world.resume(None, None);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 3, 2, 1));
}

#[test]
fn s2_a_pause_in_a_limit_wait_keeps_the_iteration_and_its_number() {
    let mut world = begun(iter(2)).turns(&[done(), limited(None), done()]);
    at(&mut world, 0, |effect| matches!(effect, Effect::Sleep { why: WaitReason::Limit, .. }));
    give(&mut world, PAUSE);
    world.drive();
    assert_eq!(world.end(), (Outcome::Paused, StopReason::NeedsPerson, 2, 1, 0));
    assert_eq!(world.commits.len(), 1, "nothing is committed of an iteration that goes on");
    let world = world.resume(None, None);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 2, 2, 0));
    assert_eq!(world.turns.last().unwrap().iteration, 1);
}

#[test]
fn s2_a_pause_before_the_first_iteration_begins_with_it_later() {
    for when in [
        |effect: &Effect| *effect == Effect::PrepareWorkspace,
        |effect: &Effect| matches!(effect, Effect::RunCheck(_)),
        |effect: &Effect| matches!(effect, Effect::BeginTurn(_)),
    ] {
        let mut world = begun(checked(2, &["a"])).check(|_, iteration, _| i32::from(iteration.is_none()));
        at(&mut world, 0, when);
        give(&mut world, PAUSE);
        assert!(world.machine.ends_now());
        world.drive();
        assert_eq!(world.end(), (Outcome::Paused, StopReason::NeedsPerson, 0, 0, 0));
        let world = world.resume(None, None);
        assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 1, 1, 0));
        assert!(world.result().verified, "the run before the first iteration was made up for");
    }
}

#[test]
fn s2_a_pause_does_not_renew_a_budget() {
    let mut spec = iter(10);
    spec.policy.max_tokens = Some(40);
    let mut world = begun(spec);
    at(&mut world, 1, |effect| matches!(effect, Effect::RunTurn(_)));
    give(&mut world, PAUSE);
    world.drive();
    assert_eq!(world.result().outcome, Outcome::Paused);
    let world = world.resume(None, None);
    assert_eq!(world.end(), (Outcome::BudgetExhausted, StopReason::Budget, 3, 3, 0));
}

#[test]
fn s8_a_kill_after_a_pause_ends_it() {
    let mut world = begun(iter(2)).turns(&[limited(None)]);
    at(&mut world, 0, |effect| matches!(effect, Effect::Sleep { why: WaitReason::Limit, .. }));
    give(&mut world, PAUSE);
    give(&mut world, Command::Kill);
    world.drive();
    assert_eq!(world.end(), (Outcome::Cancelled, StopReason::Cancelled, 1, 0, 1));
}

#[test]
fn s2_limits_change_while_it_runs() {
    let mut world = begun(iter(3));
    at(&mut world, 1, |effect| matches!(effect, Effect::RunTurn(_)));
    give(&mut world, Command::Set { key: "iter".into(), value: "+2".into() });
    world.drive();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 5, 5, 0));

    let mut world = begun(iter(9));
    at(&mut world, 2, |effect| matches!(effect, Effect::RunTurn(_)));
    give(&mut world, Command::Set { key: "iter".into(), value: "1".into() });
    world.drive();
    let end = (Outcome::Completed, StopReason::Iterations, 3, 3, 0);
    assert_eq!(world.end(), end, "the one at work is finished, and no other begins");

    let mut world = begun(iter(9));
    at(&mut world, 2, |effect| matches!(effect, Effect::BeginTurn(_)));
    give(&mut world, Command::Set { key: "iter".into(), value: "2".into() });
    world.drive();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 2, 2, 0));

    let mut world = begun(iter(9));
    give(&mut world, Command::Set { key: "turn_timeout".into(), value: "7m".into() });
    at(&mut world, 0, |effect| matches!(effect, Effect::RunTurn(_)));
    let Some(Effect::RunTurn(plan)) = world.machine.effect() else { panic!("a turn is at work") };
    assert_eq!(plan.hard_limit, Some(std::time::Duration::from_secs(420)));
}

#[test]
fn s2_what_is_told_in_the_last_iteration_is_said_to_be_unheard_and_kept_for_resume() {
    for standing in [true, false] {
        let mut world = begun(iter(2));
        at(&mut world, 0, |effect| matches!(effect, Effect::RunTurn(_)));
        give(&mut world, Command::Tell { text: "be brief".into(), standing: true });
        world.step();
        at(&mut world, 0, |effect| matches!(effect, Effect::RunTurn(_)));
        give(&mut world, Command::Tell { text: "use tabs".into(), standing });
        world.drive();
        assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 2, 2, 0));
        let noted = |event: &Event| matches!(event, Event::Notice(Notice::NotTold { texts }) if *texts == ["use tabs"]);
        assert_eq!(world.count(noted), 1, "once, and not what was heard");
        let world = world.resume(Some(1), None);
        let prompt = &world.turns.last().unwrap().prompt;
        assert!(prompt.contains("use tabs") && !prompt.contains("be brief"), "{prompt}");
        assert_eq!(world.count(noted), 1);
    }
}

#[test]
fn s2_what_is_told_to_a_task_that_ended_is_heard_when_it_goes_on() {
    let mut world = World::new(iter(1)).run();
    world.input(&Input::Command(tell("use tabs")), None);
    assert_eq!(world.machine.effect(), None, "words alone start nothing");
    let world = world.resume(Some(1), None);
    assert!(world.turns.last().unwrap().prompt.contains("use tabs"));
}
