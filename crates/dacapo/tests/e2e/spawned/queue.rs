//! Places and the row (S4).

use std::collections::HashSet;
use std::fs;

use super::AGENT;
use crate::support::{World, wait_for};

/// An agent that writes down when it comes and goes; appended lines have one order for all.
fn noting(world: &World) -> String {
    let log = world.scratch("log");
    let log = log.display();
    format!(
        "cat > /dev/null; echo \"+ $DACAPO_TASK\" >> {log}; sleep 0.1; echo \"- $DACAPO_TASK\" >> {log}; echo did it"
    )
}

/// How many were at work at once at most, and who came in which order.
fn seen(world: &World) -> (usize, Vec<String>) {
    let (mut now, mut most, mut order) = (HashSet::new(), 0, Vec::new());
    for line in fs::read_to_string(world.scratch("log")).unwrap().lines() {
        let (sign, name) = line.split_once(' ').unwrap();
        if sign == "+" {
            assert!(now.insert(name.to_owned()), "{name} twice");
            order.push(name.to_owned());
        } else {
            assert!(now.remove(name), "{name} was not there");
        }
        most = most.max(now.len());
    }
    assert!(now.is_empty(), "{now:?} never left");
    (most, order)
}

fn all_end_well(world: &World, names: &[String]) {
    for name in names {
        let _ = world.wait(name).expect(0);
        assert_eq!(world.status(name)["status"], "completed", "{name}");
    }
    for name in names {
        world.assert_nothing_left(name);
    }
}

#[test]
fn s4_ten_at_once_never_more_than_five_at_work() {
    let world = World::new();
    let agent = noting(&world);
    let names: Vec<String> = (0..10).map(|number| format!("t{number}")).collect();
    let starters: Vec<_> = names
        .iter()
        .map(|name| world.start(&["spawn", "--name", name, "--iter", "2", "--agent-cmd", &agent, "go"]))
        .collect();
    for starter in starters {
        let _ = starter.end().expect(0);
    }
    all_end_well(&world, &names);
    let (most, order) = seen(&world);
    assert!(most <= 5, "{most} at once");
    assert_eq!(order.len(), 20);
}

#[test]
fn s4_they_begin_in_the_order_in_which_they_were_started() {
    let world = World::new();
    world.config("[spawn_task]\nmax_concurrent = 1\n");
    let agent = noting(&world);
    let names: Vec<String> = (0..6).map(|number| format!("t{number}")).collect();
    for name in &names {
        world.spawned(name, 1, &agent);
    }
    all_end_well(&world, &names);
    assert_eq!(seen(&world), (1, names));
}

#[test]
fn s4_who_waits_is_queued_and_can_be_killed_and_paused() {
    let world = World::new();
    world.config("[spawn_task]\nmax_concurrent = 1\n");
    let go = world.scratch("go");
    let agent =
        format!("cat > /dev/null; while ! test -e {}; do sleep 0.02; done; echo did it", go.display());
    world.spawned("first", 1, &agent);
    for name in ["killed", "paused", "last"] {
        world.spawned(name, 1, AGENT);
        wait_for("its place in the row", || world.status(name)["status"] == "queued");
    }
    let _ = world.run(&["kill", "killed"]).expect(0);
    assert_eq!(world.status("killed")["status"], "cancelled");
    let _ = world.run(&["pause", "paused"]).expect(0);
    let _ = world.wait("paused").expect(4);
    // In the foreground nobody takes a place, so nobody waits for one.
    let _ = world.exec(&["--name", "exec", "--agent-cmd", AGENT, "go"]).expect(0);
    assert_eq!(world.status("last")["status"], "queued");
    let since = world.status("last")["elapsed_seconds"].as_f64().unwrap();
    fs::write(&go, "").unwrap();
    let _ = world.wait("last").expect(0);
    assert!(since < 60.0, "time in the row does not count");
    let _ = world.run(&["resume", "paused"]).expect(0);
    let _ = world.wait("paused").expect(0);
    for name in ["first", "killed", "paused", "last"] {
        world.assert_nothing_left(name);
    }
}

#[test]
fn s4_a_task_that_waits_for_a_limit_gives_its_place_up() {
    let world = World::new();
    let script = "iterations:\n  - - limit: { resets_in: 1h, attempts: 9 }\n";
    world.config(&format!("[spawn_task]\nmax_concurrent = 1\n{}", world.scripted("limited", script)));
    let _ = world.spawn("waits", &["--iter", "2", "--agent", "limited"]).expect(0);
    wait_for("the limit", || world.status("waits")["status"] == "waiting");
    world.spawned("works", 1, AGENT);
    let _ = world.wait("works").expect(0);
    assert_eq!(world.status("waits")["status"], "waiting");
    let _ = world.run(&["kill", "waits"]).expect(0);
    world.assert_nothing_left("waits");
}

#[test]
fn s4_two_hundred_are_queued_and_all_have_their_turn() {
    let world = World::new();
    let agent = noting(&world).replace("sleep 0.1; ", "");
    let names: Vec<String> = (0..200).map(|number| format!("t{number}")).collect();
    for name in &names {
        world.spawned(name, 1, &agent);
        // Others are shown meanwhile, whoever waits.
        if name.ends_with("50") {
            let _ = world.run(&["list"]).expect(0);
        }
    }
    all_end_well(&world, &names);
    let (most, order) = seen(&world);
    assert!(most <= 5, "{most} at once");
    assert_eq!(order.len(), 200);
    assert_eq!(world.git(&["branch", "--list", "dacapo/*"]).lines().count(), 200);
}
