//! Readers that stop reading, or go: they never hold a loop up (R8).

use std::io::{self, BufRead as _, Write as _};
use std::os::fd::AsFd as _;
use std::process::{Child, Stdio};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{World, wait_for};

/// How many things the agent says in a turn.
const SAID: usize = 8000;

/// A world whose `claude` says far more than any pipe holds, then does `last`.
fn flooded(last: impl FnOnce(&World) -> String) -> World {
    let world = World::new();
    let last = last(&world);
    let said = format!(
        r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"1","name":"{}","input":{{}}}}]}}}}"#,
        "n".repeat(100)
    );
    let result = r#"{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.1}"#;
    world.program(
        "claude",
        &format!(
            "#!/bin/sh\ncat > /dev/null\nyes '{said}' | head -n {SAID}\necho $$ >> f\n{last}\necho '{result}'\n"
        ),
    );
    world
}

/// Starts `dacapo` with a standard output that nobody reads.
fn unread(world: &World, words: &[&str]) -> Child {
    world.command(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

fn exit_code(child: &mut Child) -> Option<i32> {
    wait_for("the end of the command", || child.try_wait().unwrap().is_some());
    child.wait().unwrap().code()
}

fn terminate(child: &Child) {
    kill_process(Pid::from_child(child), Signal::TERM).unwrap();
}

fn happened(world: &World, kind: &str) -> bool {
    world.task_dir_or_none("t").is_some() && !world.events("t", kind).is_empty()
}

#[test]
fn r8_limits_hold_while_nobody_reads() {
    for json in [&["--json"][..], &[]] {
        let world = flooded(|_| "sleep 1000".into());
        let words = ["exec", "--name", "t", "--agent", "claude", "--iter", "1", "--turn-timeout", "2s"];
        let mut child = unread(&world, &[&words[..], json, &["go"]].concat());
        assert_eq!(exit_code(&mut child), Some(1), "{json:?}");
        assert!(happened(&world, "task_finished"));
        world.assert_nothing_left("t");
    }
}

#[test]
fn r8_the_first_signal_stops_the_loop_while_nobody_reads() {
    for json in [&["--json"][..], &[]] {
        let world = flooded(|world| format!("touch {}; sleep 1000", world.scratch("printed").display()));
        let words = ["exec", "--name", "t", "--agent", "claude", "--iter", "5"];
        let mut child = unread(&world, &[&words[..], json, &["go"]].concat());
        wait_for("the agent to have said all", || world.scratch("printed").exists());
        terminate(&child);
        assert_eq!(exit_code(&mut child), Some(130), "{json:?}");
        world.assert_nothing_left("t");
    }
}

#[test]
fn r8_a_reader_that_comes_back_misses_agent_events_alone_and_is_told() {
    let world = flooded(|_| String::new());
    let words = ["exec", "--name", "t", "--agent", "claude", "--iter", "2", "--json", "go"];
    let mut child = unread(&world, &words);
    wait_for("a turn that nobody watches", || happened(&world, "iteration_finished"));
    let lines = io::BufReader::new(child.stdout.take().unwrap()).lines();
    let lines: Vec<Value> = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert_eq!(exit_code(&mut child), Some(0));
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
    let (said, dropped) = (of("agent_event"), of("agent_events_dropped"));
    assert!(!dropped.is_empty() && dropped.iter().all(|line| line["seq"].is_u64()), "{dropped:?}");
    let missed: u64 = dropped.iter().map(|line| line["count"].as_u64().unwrap()).sum();
    // What was said, and what each turn used and how it ended.
    assert!(said.len() as u64 + missed >= 2 * SAID as u64, "{} and {missed}", said.len());
    let events: Vec<&Value> = lines
        .iter()
        .filter(|line| line["type"] != "agent_event" && line["type"] != "agent_events_dropped")
        .collect();
    let journal = world.journal("t");
    // The task is created before anybody is shown anything.
    let first = journal.iter().position(|line| line["seq"] == events[0]["seq"]).unwrap();
    assert_eq!(events, journal[first..].iter().collect::<Vec<_>>(), "all of the journal, in order");
}

#[test]
fn r8_a_reader_that_goes_does_not_fail_the_task() {
    for json in [&["--json"][..], &[]] {
        let world = flooded(|_| String::new());
        let words = ["exec", "--name", "t", "--agent", "claude", "--iter", "1"];
        let mut child = unread(&world, &[&words[..], json, &["go"]].concat());
        drop(child.stdout.take());
        assert_eq!(exit_code(&mut child), Some(0), "{json:?}");
        assert_eq!(world.status("t")["outcome"], "completed");
    }
}

/// A pipe that nobody reads and that takes nothing more.
fn full_pipe() -> (io::PipeReader, io::PipeWriter) {
    let (reader, mut full) = io::pipe().unwrap();
    let flags = rustix::fs::fcntl_getfl(full.as_fd()).unwrap();
    rustix::fs::fcntl_setfl(full.as_fd(), flags | OFlags::NONBLOCK).unwrap();
    while full.write(&[b'x'; 4096]).is_ok() {}
    rustix::fs::fcntl_setfl(full.as_fd(), flags).unwrap();
    (reader, full)
}

#[test]
fn r8_a_full_log_does_not_hold_the_loop_up() {
    let world = flooded(|_| String::new());
    let (_reader, full) = full_pipe();
    let words = ["exec", "--name", "t", "--agent", "claude", "--iter", "2", "--quiet", "go"];
    let mut command = world.command(&words);
    command.env("DACAPO_LOG", "trace").stdout(Stdio::null()).stderr(full);
    let mut child = command.spawn().unwrap();
    drop(command);
    assert_eq!(exit_code(&mut child), Some(0));
    // What goes wrong is told there, too, and nobody is waited for.
    let (_reader, full) = full_pipe();
    let mut command = world.command(&["exec", "--iter", "0", "go"]);
    let mut child = command.stdout(Stdio::null()).stderr(full).spawn().unwrap();
    drop(command);
    assert_eq!(exit_code(&mut child), Some(2));
}

#[test]
fn r8_an_attached_terminal_that_stands_still_can_be_ended() {
    let world =
        flooded(|world| format!("while [ ! -e {} ]; do sleep 0.05; done", world.scratch("go").display()));
    let words = ["spawn", "--name", "t", "--agent", "claude", "--iter", "1", "go"];
    world.run(&words).expect(0);
    let mut attached = unread(&world, &["attach", "t", "--json"]);
    let raw = || world.task_dir("t").join("turns/0000.raw");
    wait_for("output that nobody reads", || raw().metadata().is_ok_and(|raw| raw.len() > 1_000_000));
    // What it prints is printed after it has begun to listen to signals.
    let unread_yet = attached.stdout.as_ref().unwrap();
    wait_for("something to read", || rustix::io::ioctl_fionread(unread_yet).unwrap() > 0);
    terminate(&attached);
    assert_eq!(exit_code(&mut attached), Some(130));
    let mut attached = unread(&world, &["attach", "t"]);
    std::fs::write(world.scratch("go"), "").unwrap();
    wait_for("the end of the task", || happened(&world, "task_finished"));
    assert!(exit_code(&mut attached).is_some());
    world.run(&["wait", "t"]).expect(0);
}
