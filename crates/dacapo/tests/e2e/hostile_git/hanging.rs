//! A filter that never ends, such as that of LFS without a network: whoever ends the task, it ends, with git and the filter,
//! and what the agent left is still there (r06, r07).

use std::fs;
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;

use crate::crash::guards::kill;
use crate::support::{PATIENCE, Ran, World, is_gone, wait_for};

/// Passes content on, unless told to hang: then it says who it is and waits for ever.
const FILTER: &str = r#"#!/bin/sh
if [ -e "$(dirname "$0")/../hangs" ]; then
    echo $PPID $$ > "$(dirname "$0")/../started.new"
    mv "$(dirname "$0")/../started.new" "$(dirname "$0")/../started"
    trap '' TERM
    while :; do sleep 1000; done
fi
cat
"#;

/// A file that goes through the filter, from the first iteration on.
const AGENT: &str = "echo $DACAPO_ITERATION >> data.bin; echo did it";

/// A repository whose `*.bin` files go through the filter, which hangs.
fn world() -> World {
    let world = World::new();
    let filter = world.program("slow-filter", FILTER);
    world.write(".gitattributes", "*.bin filter=slow\n");
    world.git(&["config", "filter.slow.clean", &format!("{} %f", filter.display())]);
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "attributes"]);
    fs::write(world.scratch("hangs"), "").unwrap();
    world
}

/// The ids of the git and the filter that hang.
fn hanging(world: &World) -> [String; 2] {
    let mut found = None;
    wait_for("the filter to hang", || {
        let text = fs::read_to_string(world.scratch("started")).unwrap_or_default();
        let mut words = text.split_whitespace().map(str::to_owned);
        found = words.next().zip(words.next());
        found.is_some()
    });
    let (shell, filter) = found.unwrap();
    [shell, filter]
}

fn heal(world: &World) {
    fs::remove_file(world.scratch("hangs")).unwrap();
}

fn start(world: &World) -> Child {
    let words = ["exec", "--name", "t", "--iter", "2", "--agent-cmd", AGENT, "go"];
    world.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What the program printed, which must end.
fn ended(mut child: Child) -> Ran {
    let begun = std::time::Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            let ran = Ran::from(child.wait_with_output().unwrap());
            panic!("it does not end\n{}{}", ran.stdout, ran.stderr);
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    Ran::from(child.wait_with_output().unwrap())
}

fn run(world: &World, words: &[&str]) -> Ran {
    let mut command: Command = world.command(words);
    ended(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

fn assert_gone(processes: &[String]) {
    for process in processes {
        wait_for("git and its filter to end", || is_gone(process));
    }
}

/// What the agent left is committed once the filter works again.
fn assert_goes_on(world: &World) {
    heal(world);
    let _ = run(world, &["resume", "t", "--iter", "2"]).expect(0);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    assert_eq!(world.git(&["show", "HEAD:data.bin"]), world.read("data.bin").trim_end());
    world.assert_nothing_left("t");
}

#[test]
fn r06_the_first_sigterm_ends_a_task_whose_filter_hangs() {
    for signal in [Signal::TERM, Signal::INT] {
        let world = world();
        let child = start(&world);
        let processes = hanging(&world);
        kill(child.id(), signal);
        let ran = ended(child).expect(130);
        for process in &processes {
            assert!(is_gone(process), "gone before Dacapo is");
        }
        ran.says("nothing was committed").says("slow-filter").says("resume t");
        assert_eq!(world.read("data.bin"), "0\n", "what the agent left is there");
        assert_eq!(world.status("t")["outcome"], "cancelled");
        assert!(!world.repo().join(".git/index.lock").exists());
        assert_goes_on(&world);
    }
}

#[test]
fn r06_the_second_sigterm_ends_it_at_once() {
    let world = world();
    let child = start(&world);
    let processes = hanging(&world);
    kill(child.id(), Signal::TERM);
    kill(child.id(), Signal::TERM);
    let _ = ended(child).expect(130);
    assert_gone(&processes);
    assert_goes_on(&world);
}

#[test]
fn r06_kill_ends_a_task_whose_filter_hangs() {
    let world = world();
    let _ = run(&world, &["spawn", "--name", "t", "--iter", "2", "--agent-cmd", AGENT, "go"]).expect(0);
    let processes = hanging(&world);
    let _ = run(&world, &["kill", "t"]).expect(0);
    assert_gone(&processes);
    assert_eq!(world.status("t")["status"], "cancelled");
    world.assert_nothing_left("t");
}

#[test]
fn r07_sigkill_of_the_runner_ends_git_and_its_filter() {
    let world = world();
    let mut child = start(&world);
    let processes = hanging(&world);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_gone(&processes);
    wait_for("the task's lock to be free", || world.status("t")["status"] == "interrupted");
    assert_goes_on(&world);
}

#[test]
fn r07_kill_of_a_task_whose_runner_died_beside_a_filter_that_hangs() {
    let world = world();
    let mut child = start(&world);
    let processes = hanging(&world);
    child.kill().unwrap();
    child.wait().unwrap();
    let _ = run(&world, &["kill", "t"]).expect(0);
    assert_gone(&processes);
    assert_eq!(world.status("t")["status"], "cancelled");
    world.assert_nothing_left("t");
}

#[test]
fn r07_a_command_that_is_killed_leaves_no_filter_behind() {
    let world = world();
    heal(&world);
    world.write("data.bin", "first\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "data"]);
    // Of the same length, so that git has to look into it.
    world.write("data.bin", "other\n");
    fs::write(world.scratch("hangs"), "").unwrap();
    let mut child = start(&world);
    let processes = hanging(&world);
    assert_eq!(world.tasks(), Vec::<String>::new(), "it only looks whether the tree is clean");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_gone(&processes);
}

#[test]
fn r06_without_a_signal_a_deadline_fails_the_iteration_and_names_the_filter() {
    let world = world();
    world.config("[worktree]\ngit_timeout = \"1s\"\n");
    let ran = run(&world, &["exec", "--name", "t", "--iter", "1", "--agent-cmd", AGENT, "go"]).expect(1);
    ran.says("did not end within 1 s").says("slow-filter 'data.bin'").says("nothing was committed");
    assert_gone(&hanging(&world));
    assert_eq!(world.read("data.bin"), "0\n", "what the agent left is there");
    assert_goes_on(&world);
}
