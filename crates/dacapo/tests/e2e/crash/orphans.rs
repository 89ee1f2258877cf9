//! What outlives runner and guard when both are killed, and tasks whose processes are stopped or deaf.

use std::fs;

use rustix::process::Signal;

use super::guards::{Aim, guards, kill};
use super::*;
use crate::support::{is_gone, wait_for};

/// A grandchild in a session of its own, which says who it is.
const LEAVES: &str =
    "setsid sh -c 'echo $$ > $MARK.new; mv $MARK.new $MARK; sleep 1000' & while :; do sleep 0.05; done";

/// A task whose agent is at work, its runner, and the grandchild that it left.
fn at_work(world: &World) -> (std::process::Child, String) {
    let mark = world.scratch("grandchild");
    let mut command = world.command(&["exec", "--name", "t", "--agent-cmd", LEAVES, "work"]);
    command.env("MARK", &mark).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let runner = command.spawn().unwrap();
    wait_for("the grandchild", || mark.exists());
    (runner, fs::read_to_string(mark).unwrap().trim().to_owned())
}

#[test]
fn r1_the_next_command_that_finds_a_task_interrupted_ends_what_it_left() {
    let commands: [&[&str]; 6] =
        [&["list"], &["list", "--json"], &["status", "t"], &["logs", "t"], &["wait", "t"], &["diff", "t"]];
    for_each(&commands, |words| {
        let world = World::new();
        let (mut runner, grandchild) = at_work(&world);
        Aim::BothGuardsFirst.strike(runner.id());
        runner.wait().unwrap();
        assert!(!is_gone(&grandchild), "{words:?}");
        let ran = world.run(words);
        wait_for("the grandchild to be gone", || is_gone(&grandchild));
        assert!(ran.stderr.contains("left behind by task 't'"), "{words:?}: {}", ran.stderr);
        // Once: what is not there need not be looked for again.
        let again = world.run(words);
        assert!(!again.stderr.contains("left behind"), "{words:?}: {}", again.stderr);
        world.assert_nothing_left("t");
    });
}

#[test]
fn s8_a_stopped_runner_is_woken_and_ends_in_good_order() {
    let world = World::new();
    let (mut runner, grandchild) = at_work(&world);
    kill(runner.id(), Signal::STOP);
    let ran = world.run(&["kill", "t"]).expect(0);
    assert!(!ran.stderr.contains("has not ended yet"), "{}", ran.stderr);
    runner.wait().unwrap();
    wait_for("the grandchild to be gone", || is_gone(&grandchild));
    assert_eq!(world.status("t")["status"], "cancelled");
    world.assert_nothing_left("t");
}

#[test]
fn s8_a_stopped_guard_is_woken() {
    let world = World::new();
    let (mut runner, grandchild) = at_work(&world);
    guards(runner.id()).iter().for_each(|guard| kill(*guard, Signal::STOP));
    let ran = world.run(&["kill", "t"]).expect(0);
    assert!(!ran.stderr.contains("has not ended yet"), "{}", ran.stderr);
    runner.wait().unwrap();
    wait_for("the grandchild to be gone", || is_gone(&grandchild));
    assert_eq!(world.status("t")["status"], "cancelled");
    world.assert_nothing_left("t");
}

#[test]
fn s8_a_guard_that_is_stopped_when_its_runner_is_dead_is_ended_too() {
    let world = World::new();
    let (mut runner, grandchild) = at_work(&world);
    guards(runner.id()).iter().for_each(|guard| kill(*guard, Signal::STOP));
    kill(runner.id(), Signal::KILL);
    runner.wait().unwrap();
    let _ = world.run(&["kill", "t"]).expect(0);
    wait_for("the grandchild to be gone", || is_gone(&grandchild));
    assert_eq!(world.status("t")["status"], "cancelled");
    world.assert_nothing_left("t");
}

#[test]
fn s8_what_stays_deaf_is_killed() {
    let world = World::new();
    let (mut runner, grandchild) = at_work(&world);
    let all: Vec<u32> = guards(runner.id()).into_iter().chain([runner.id()]).collect();
    let over = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        // Whoever wakes them, they sleep again at once.
        scope.spawn(|| {
            while over.load(Ordering::Relaxed) == 0 {
                all.iter().for_each(|pid| kill(*pid, Signal::STOP));
            }
        });
        let ran = world.run(&["kill", "t"]);
        over.store(1, Ordering::Relaxed);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    });
    runner.wait().unwrap();
    wait_for("the grandchild to be gone", || is_gone(&grandchild));
    assert_eq!(world.status("t")["status"], "cancelled");
    world.assert_nothing_left("t");
}
