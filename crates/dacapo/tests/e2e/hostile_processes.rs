//! Agents that hang, refuse to end, leave something running, or turn on those who started them.

use std::fs::{self, File};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::misdeed::{agent, play, runs};
use crate::support::{World, wait_for};

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn l12_an_agent_that_hangs_is_ended_for_want_of_life() {
    let world = World::new();
    play(&world, &["--idle-timeout", "3s"], "sleep 1000")
        .expect(0)
        .says("no output and no activity for --idle-timeout (3s)")
        .says("waiting until ");
    world.status_text().says("no output and no activity for --idle-timeout (3s)");
    assert_eq!(world.changed("HEAD~1"), ["f1"], "what it did before is kept");
    world.ended("completed", [3, 2, 1]);
}

#[test]
fn l12_a_busy_agent_is_ended_by_the_hard_limit() {
    let world = World::new();
    play(&world, &["--turn-timeout", "6s"], "while :; do echo x; done")
        .expect(0)
        .says("not finished within --turn-timeout (6s)");
    world.status_text().says("not finished within --turn-timeout (6s)");
    world.ended("completed", [3, 2, 1]);
}

#[test]
fn l12_an_agent_that_ignores_term_is_killed_at_its_limit() {
    let world = World::new();
    play(&world, &["--turn-timeout", "6s"], "trap '' TERM; while :; do sleep 1; done")
        .expect(0)
        .says("not finished within --turn-timeout (6s)");
    world.ended("completed", [3, 2, 1]);
}

#[test]
fn l14_ctrl_c_ends_an_agent_that_ignores_it() {
    let world = World::new();
    let agent = agent("trap '' TERM INT HUP; touch up; while :; do sleep 1; done");
    let log = world.scratch("log");
    let words = ["exec", "--name", "t", "--iter", "3", "--agent-cmd", &agent, "go"];
    let mut child = world.command(&words).stdout(File::create(&log).unwrap()).spawn().unwrap();
    wait_for("the agent to be stubborn", || world.repo().join("up").exists());
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let said = fs::read_to_string(&log).unwrap();
    assert!(said.contains("stopping (Ctrl-C); all work is kept"), "{said}");
    assert!(said.contains("■ cancelled · 2 iterations · 1 failed"), "{said}");
    assert_eq!(world.changed("HEAD"), ["f1", "up"]);
    assert!(world.git(&["log", "-1", "--format=%B"]).contains("Dacapo-Outcome: cancelled"));
    world.ended("cancelled", [2, 1, 1]);
    let _ = world.run(&["resume", "t"]).expect(0);
    assert_eq!(world.subjects()[0], "[iter-2] did it 2");
    world.ended("completed", [3, 2, 1]);
}

#[test]
fn l14_the_second_ctrl_c_ends_it_at_once() {
    let world = World::new();
    let agent = agent("trap '' TERM INT HUP; while test ! -e ../enough; do touch up; sleep 0.1; done");
    let words = ["exec", "--name", "t", "--iter", "3", "--agent-cmd", &agent, "go"];
    let mut child = world.command(&words).stdout(Stdio::null()).spawn().unwrap();
    wait_for("the agent to be stubborn", || world.repo().join("up").exists());
    signal(&child, Signal::INT);
    wait_for("the first to be heard", || !world.events("t", "stop_requested").is_empty());
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    world.assert_nothing_left("t");
    assert_eq!(world.read("f1"), "1\n", "its files are there");
    fs::write(world.scratch("enough"), "").unwrap();
    let _ = world.run(&["resume", "t"]).expect(0);
    world.assert_nothing_left("t");
    assert_eq!(world.subjects()[0], "[iter-2] did it 2");
}

#[test]
fn r1_a_child_in_a_session_of_its_own_ends_with_its_agent() {
    let world = World::new();
    let pid = world.scratch("pid");
    let misdeed = format!(
        "setsid sh -c 'echo $$ > {0}.new; mv {0}.new {0}; sleep 1000' stray-child & \
         while ! test -s {0}; do sleep 0.01; done",
        pid.display()
    );
    play(&world, &[], &misdeed).expect(0).says("left running");
    world.status_text().says("left running");
    assert!(!runs(&fs::read_to_string(&pid).unwrap(), "stray-child"));
    world.ended("completed", [3, 3, 0]);
}

#[test]
fn r1_a_daemon_with_an_empty_environment_that_holds_the_output_open_ends_too() {
    let world = World::new();
    let pid = world.scratch("pid");
    let misdeed = format!(
        "(setsid env -i sh -c 'trap \"\" TERM HUP; echo $$ > {0}.new; mv {0}.new {0}; \
         while :; do sleep 1; echo still here; done' stray-daemon &); \
         while ! test -s {0}; do sleep 0.01; done",
        pid.display()
    );
    play(&world, &[], &misdeed).expect(0).says("left running");
    assert!(!runs(&fs::read_to_string(&pid).unwrap(), "stray-daemon"));
    world.ended("completed", [3, 3, 0]);
}

#[test]
fn r1_files_do_not_change_after_the_agent_has_exited() {
    let world = World::new();
    // The child would write for ever; a half-written file is committed as it was when all was dead.
    let misdeed = "(while :; do date +%N > late; done) & while ! test -s late; do sleep 0.01; done";
    play(&world, &[], misdeed).expect(0).says("left running");
    assert_eq!(world.git(&["status", "--porcelain"]), "", "nobody wrote after the commit");
    assert_eq!(world.changed("HEAD~1"), ["f1", "late"]);
    world.ended("completed", [3, 3, 0]);
}

#[test]
fn r1_an_agent_that_kills_its_guard_fails_and_leaves_nothing() {
    let world = World::unconfined();
    let pid = world.scratch("pid");
    let misdeed = format!(
        "setsid sh -c 'echo $$ > {0}.new; mv {0}.new {0}; sleep 1000' stray-orphan & \
         while ! test -s {0}; do sleep 0.01; done; kill -9 $PPID; sleep 1000",
        pid.display()
    );
    play(&world, &[], &misdeed)
        .expect(0)
        .says("the agent's guard process was killed; everything it had started was ended");
    world.status_text().says("the agent's guard process was killed; everything it had started was ended");
    assert!(!runs(&fs::read_to_string(&pid).unwrap(), "stray-orphan"));
    assert_eq!(world.changed("HEAD~1"), ["f1"]);
    world.ended("completed", [3, 2, 1]);
}

/// The guard's parent is the runner.
const RUNNER: &str = "$(cut -d' ' -f4 /proc/$PPID/stat)";

#[test]
fn r1_an_agent_that_kills_the_runner_dies_with_it_and_resume_goes_on() {
    let world = World::unconfined();
    let once = format!("if test ! -e ../tried; then touch ../tried; kill -9 {RUNNER}; sleep 1000; fi");
    assert_eq!(play(&world, &[], &once).code, -1);
    world.assert_nothing_left("t");
    world.status_text().says("t · interrupted · 1 iteration of 3 done").says("next: dacapo resume t");
    world.run(&["resume", "t"]).expect(0).says("the last turn was interrupted: the iteration runs again");
    assert_eq!(world.subjects(), ["[iter-2] did it 2", "[iter-1] did it 1", "[iter-0] did it 0", "first"]);
    world.ended("completed", [3, 3, 0]);
}

#[test]
fn r1_an_agent_that_terminates_the_runner_is_stopped_like_by_a_person() {
    let world = World::unconfined();
    play(&world, &[], &format!("kill -TERM {RUNNER}; sleep 1000"))
        .expect(130)
        .says("stopping (SIGTERM); all work is kept")
        .says("■ cancelled");
    world.ended("cancelled", [2, 1, 1]);
}

#[test]
fn l8_an_agent_that_does_nothing_is_seen() {
    let world = World::new();
    let words = ["--name", "t", "--until", "DONE", "--agent-cmd", "true", "go"];
    world
        .exec(&words)
        .expect(3)
        .says("● 1  no changes  No significant actions in this iteration.  0 files")
        .says("■ stopped: no progress · 3 iterations");
    assert_eq!(world.subjects(), ["first"]);
    world.ended("stopped", [3, 3, 0]);
}

#[test]
fn k11_an_agent_that_never_reads_its_prompt_is_not_waited_for() {
    let world = World::new();
    let prompt = world.scratch("prompt");
    fs::write(&prompt, "繼續 ".repeat(150_000)).unwrap();
    let words =
        ["--name", "t", "--iter", "2", "--agent-cmd", "echo hi > f$DACAPO_ITERATION", "--prompt-file"];
    let words: Vec<&str> = words.into_iter().chain([prompt.to_str().unwrap()]).collect();
    let _ = world.exec(&words).expect(0);
    assert_eq!(world.subjects().len(), 3);
    world.ended("completed", [2, 2, 0]);
}

#[test]
fn k11_an_agent_that_closes_its_output_early_is_waited_for() {
    let world = World::new();
    let _ = play(&world, &[], "exec >&- 2>&-; sleep 1; echo late > late").expect(0);
    assert_eq!(world.changed("HEAD~1"), ["f1", "late"]);
    world.ended("completed", [3, 3, 0]);
}

#[test]
fn a5_the_scripted_agent_at_its_worst_leaves_nothing() {
    let world = World::new();
    let agent = world.rehearsal(
        "iterations:\n  - - write: { path: a, text: \"a\\n\" }\n    - ignore_signals: true\n    \
         - leak: { for: 10m, setsid: true, daemon: true, hold_stdout: true, ignore_signals: true, count: 3 }\n    \
         - hang: true\n",
    );
    world.config(&format!("agent = '{agent}'\n"));
    world
        .exec(&["--name", "t", "--iter", "1", "--turn-timeout", "6s", "go"])
        .expect(1)
        .says("not finished within --turn-timeout (6s)")
        .says("left running");
    assert_eq!(world.changed("HEAD"), ["a"]);
    world.ended("failed", [1, 0, 1]);
}
