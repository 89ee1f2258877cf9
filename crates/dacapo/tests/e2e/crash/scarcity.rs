//! A machine that starts no more threads: said as what it is, and the task can go on (R2).

use std::fs;

use super::*;

/// No thread gets a stack of this size, as under `ulimit -u` or `ulimit -v`.
const NO_STACK: &str = "140737488355328";

fn without_threads(world: &World, words: &[&str]) -> Ran {
    let mut command = world.command(words);
    let ran = Ran::from(command.env("RUST_MIN_STACK", NO_STACK).stdin(Stdio::null()).output().unwrap());
    assert!(!ran.stderr.contains("panicked"), "{words:?}: {}", ran.stderr);
    ran
}

#[test]
fn r2_a_thread_that_cannot_be_started_is_an_error_and_no_panic() {
    let world = World::new();
    let agent = "echo 1 > f; echo did it";
    without_threads(&world, &["exec", "--worktree", "--name", "t", "--agent-cmd", agent, "go"])
        .expect(1)
        .says("Resource temporarily unavailable")
        .says("dacapo resume t");
    let _ = world.run(&["resume", "t"]).expect(0);
    world.assert_nothing_left("t");
    let main = world.git(&["rev-parse", "main"]);
    without_threads(&world, &["merge", "t"])
        .expect(1)
        .says("cannot start a thread: Resource temporarily unavailable")
        .says("everything; nothing was merged")
        .says("ulimit -u");
    assert_eq!(world.git(&["rev-parse", "main"]), main);
    let _ = without_threads(&world, &["list", "--size"]).expect(0);
    let _ = without_threads(&world, &["doctor"]);
    let _ = world.run(&["merge", "t"]).expect(0);
}

/// What has used up all threads may be the very task that is to end.
#[test]
fn s8_kill_needs_no_thread() {
    let world = World::new();
    let mark = world.scratch("at-work");
    let agent = format!("touch {}; sleep 1000", mark.display());
    let running = world.start(&["exec", "--name", "t", "--agent-cmd", &agent, "go"]);
    world.wait_for_file("at-work");
    let _ = without_threads(&world, &["kill", "t"]).expect(0);
    let _ = running.end();
    assert_eq!(world.status("t")["status"], "cancelled");
    assert!(fs::exists(mark).unwrap());
    world.assert_nothing_left("t");
}
