//! One milestone per repository at a time (M2).

use std::fs;

use super::{ACCEPTS, BUILDS};
use crate::support::{World, wait_for};

/// A Developer that waits for a file before it does anything.
fn waiting_for(world: &World, file: &str) -> String {
    let (began, go) = (world.scratch(&format!("{file}-began")), world.scratch(file));
    format!("echo > {}; while ! test -e {}; do sleep 0.02; done\n{BUILDS}", began.display(), go.display())
}

fn begun(world: &World, file: &str) {
    let began = world.scratch(&format!("{file}-began"));
    wait_for("the Developer to begin", || began.exists());
}

#[test]
fn m2_one_works_the_others_are_queued_and_in_the_foreground_refused() {
    let world = World::new();
    world.config("[spawn_task]\nmax_concurrent = 2\n");
    world.make(world.milestone("first", &waiting_for(&world, "go"), ACCEPTS));
    world.make(world.milestone("second", BUILDS, ACCEPTS));
    world.make(world.milestone("killed", BUILDS, ACCEPTS));
    world.make(world.milestone("paused", BUILDS, ACCEPTS));
    let mut foreground = world.milestone("here", BUILDS, ACCEPTS);
    foreground["foreground"] = true.into();
    world.make(foreground);
    for name in ["first", "second", "killed", "paused"] {
        let _ = world.run(&["resume", name]).expect(0);
    }
    begun(&world, "go");
    for name in ["second", "killed", "paused"] {
        wait_for("its place in the row", || world.status(name)["status"] == "queued");
    }
    let refused = world.run(&["resume", "here"]).expect(2);
    let said = "'first' is running; a repository can run one milestone at a time";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    assert!(world.task_dir_or_none("here").is_none(), "nothing was started");

    // Who waits for its turn has no place on the machine, of which there is one more.
    world.spawned("other", 1, crate::spawned::AGENT);
    let _ = world.wait("other").expect(0);

    let _ = world.run(&["kill", "killed"]).expect(0);
    assert_eq!(world.status("killed")["status"], "cancelled");
    let _ = world.run(&["pause", "paused"]).expect(0);
    let _ = world.wait("paused").expect(4);
    assert_eq!(world.status("second")["status"], "queued");
    fs::write(world.scratch("go"), "").unwrap();
    for name in ["first", "second"] {
        let _ = world.wait(name).expect(0);
        assert_eq!(world.status(name)["status"], "completed", "{name}");
    }
    let _ = world.run(&["resume", "here"]).expect(0);
    let _ = world.run(&["resume", "paused"]).expect(0);
    let _ = world.wait("paused").expect(0);
    for name in ["first", "second", "killed", "paused", "here"] {
        world.assert_nothing_left(name);
    }
}

#[test]
fn m2_a_milestone_that_waits_for_a_limit_keeps_its_turn_and_gives_its_place_up() {
    let world = World::new();
    let script = "iterations:\n  - - limit: { resets_in: 1h, attempts: 9 }\n";
    world.config(&format!("[spawn_task]\nmax_concurrent = 1\n{}", world.scripted("limited", script)));
    let mut limited = world.milestone("limited", BUILDS, ACCEPTS);
    let _ = world.spawn("scripted", &["--iter", "1", "--agent", "limited"]).expect(0);
    let _ = world.run(&["kill", "scripted"]).expect(0);
    let scripted = fs::read(world.task_dir("scripted").join("spec.json")).unwrap();
    let scripted: serde_json::Value = serde_json::from_slice(&scripted).unwrap();
    limited["agents"][0] = scripted["agents"][0].clone();
    world.make(limited);
    world.make(world.milestone("next", BUILDS, ACCEPTS));
    let _ = world.run(&["resume", "limited"]).expect(0);
    wait_for("the limit", || world.status("limited")["status"] == "waiting");
    let _ = world.run(&["resume", "next"]).expect(0);
    wait_for("the row", || world.status("next")["status"] == "queued");
    world.spawned("other", 1, crate::spawned::AGENT);
    let _ = world.wait("other").expect(0);
    assert_eq!(world.status("next")["status"], "queued");
    let _ = world.run(&["pause", "limited", "--now"]).expect(0);
    let _ = world.wait("limited").expect(4);
    // Paused, it has no turn: the next one's has come.
    let _ = world.wait("next").expect(0);
    for name in ["limited", "next"] {
        world.assert_nothing_left(name);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn m2_a_turn_is_free_when_all_that_works_in_it_is_gone() {
    let world = World::new();
    world.make(world.milestone("first", &waiting_for(&world, "go"), ACCEPTS));
    world.make(world.milestone("second", BUILDS, ACCEPTS));
    let _ = world.run(&["resume", "first"]).expect(0);
    begun(&world, "go");
    let _ = world.run(&["resume", "second"]).expect(0);
    wait_for("the row", || world.status("second")["status"] == "queued");
    let pid = world.status("first")["pid"].as_i64().unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let _ = world.wait("second").expect(0);
    assert_eq!(world.status("first")["status"], "interrupted");
    fs::write(world.scratch("go"), "").unwrap();
    let _ = world.run(&["resume", "first"]).expect(0);
    let _ = world.wait("first").expect(0);
    for name in ["first", "second"] {
        world.assert_nothing_left(name);
    }
}
