//! What makes a fresh worktree usable, before anything else (S3).

use super::specs::checked;
use super::world::World;
use crate::engine::Planned as _;
use crate::engine::machine::{Begin, Effect};
use crate::event::{CheckPhase, Event, Exit, Outcome, StopDetail, StopReason};
use crate::spec::{Place, Setup, TaskSpec};

fn with_setup(commands: &[&str]) -> TaskSpec {
    let setup = Setup { commands: commands.iter().map(|text| (*text).into()).collect(), ..Setup::default() };
    let mut spec = checked(3, &["a"]);
    spec.place = Place::Worktree {
        path: "/worktree".into(),
        branch: "refs/heads/dacapo/x".into(),
        with_changes: false,
        base: None,
        setup,
    };
    spec
}

#[test]
fn s3_the_setup_runs_in_order_before_the_first_check() {
    let world = World::new(with_setup(&["one", "two"]))
        .check(|phase, _, _| i32::from(phase == CheckPhase::Baseline))
        .run();
    assert_eq!(world.setups, ["one", "two"]);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 1, 1, 0));
    let kinds: Vec<&str> = world
        .journal
        .iter()
        .filter_map(|line| match &line.event {
            Event::WorkspaceReady { .. } => Some("ready"),
            Event::SetupFinished(_) => Some("setup"),
            Event::CheckFinished(_) => Some("check"),
            Event::IterationStarted { .. } => Some("iteration"),
            _ => None,
        })
        .collect();
    assert_eq!(
        kinds,
        ["ready", "setup", "setup", "check", "iteration", "check", "check"],
        "here, and in the proof"
    );
    assert_eq!(world.result().failed_setup, None);
}

#[test]
fn s3_a_setup_that_fails_ends_it_before_any_turn_and_goes_on_from_there() {
    for code in [3, -1] {
        let mut world = World::new(with_setup(&["one", "two", "three"]))
            .check(|phase, _, _| i32::from(phase == CheckPhase::Baseline));
        world.on_setup = Box::new(move |run| if run == 1 { code } else { 0 });
        let world = world.run();
        assert_eq!(world.end(), (Outcome::Failed, StopReason::SetupFailed, 0, 0, 0));
        assert_eq!(world.setups, ["one", "two"]);
        assert_eq!(world.result().failed_setup.as_deref(), Some("two"));
        let Some(StopDetail::Setup { command, exit, tail }) = world.result().detail.clone() else {
            panic!("{:?}", world.result())
        };
        let how = Exit { exit_code: (code > 0).then_some(3), timed_out: code < 0 };
        assert_eq!((command.as_str(), exit), ("two", how));
        assert!(tail.starts_with("line 12\n") && tail.ends_with("line 19"), "{tail}");

        let world = world.resume(None, None);
        assert_eq!(world.setups, ["one", "two", "two", "three"]);
        assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 1, 1, 0));
    }
}

#[test]
fn s3_a_stop_during_the_setup_is_taken_back_by_resume() {
    let world = World::new(with_setup(&["one", "two"]))
        .check(|phase, _, _| i32::from(phase == CheckPhase::Baseline))
        .stop(1, |effect| matches!(effect, Effect::RunSetup(_)))
        .run();
    assert_eq!(world.end(), (Outcome::Cancelled, StopReason::Cancelled, 0, 0, 0));
    assert_eq!(world.setups, ["one"]);
    let world = world.resume(None, None);
    assert_eq!(world.setups, ["one", "two"]);
    assert_eq!(world.end().0, Outcome::Completed);
}

#[test]
fn r1_after_a_crash_the_command_that_was_under_way_runs_again() {
    let mut world = World::new(with_setup(&["one", "two"]));
    world.begin(Begin::default());
    while !matches!(world.machine.effect(), Some(Effect::RunSetup(plan)) if plan.index == 1) {
        world.step();
    }
    let before = world.machine.effect();
    world.begin(Begin::default());
    assert_eq!(world.machine.effect(), before);
}
