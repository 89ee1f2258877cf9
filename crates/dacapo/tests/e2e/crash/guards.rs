//! Kills aimed at the runner, at its guards, and at both at once.

use std::fs;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use super::*;
use crate::support::wait_for;

/// Waits in iteration 2, with children that left its session, until it is killed; the second time it does its work.
const WAITS: &str = "echo $DACAPO_ITERATION.$DACAPO_TURN >> log
if [ $DACAPO_ITERATION = 2 ] && mkdir \"$MARKS/turn\" 2>/dev/null; then
    setsid sleep 1000 & setsid sh -c 'trap \"\" TERM; sleep 1001' &
    touch \"$MARKS/turn/ready\"; sleep 1002
fi
if [ $DACAPO_ITERATION = 4 ]; then echo '<promise>COMPLETE</promise>'; fi";

/// The same, in the check of iteration 2.
const CHECK_WAITS: &str = "if grep -q ^2 log && mkdir \"$MARKS/check\" 2>/dev/null; then
    setsid sleep 1003 & touch \"$MARKS/check/ready\"; sleep 1004
fi
tail -n 1 log | tr 0-9 a-j; grep -q ^4 log";

/// What is killed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Aim {
    Runner,
    Both,
    BothGuardsFirst,
}

impl Aim {
    /// Kills the runner, and its guards where they are meant too.
    pub(crate) fn strike(self, runner: u32) {
        let guards = guards(runner);
        assert!(!guards.is_empty());
        match self {
            Aim::Runner => kill(runner, Signal::KILL),
            Aim::Both => {
                kill(runner, Signal::KILL);
                guards.iter().for_each(|guard| kill(*guard, Signal::KILL));
            }
            // Stopped first, or it would clear up behind its guards.
            Aim::BothGuardsFirst => {
                kill(runner, Signal::STOP);
                guards.iter().for_each(|guard| kill(*guard, Signal::KILL));
                kill(runner, Signal::KILL);
            }
        }
    }
}

pub(crate) fn kill(pid: u32, signal: Signal) {
    // One that is gone already is what was wanted.
    let _ = kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal);
}

/// The guards of a runner: its children that are its own program.
pub(crate) fn guards(runner: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if parent == Some(runner) && words.split(|byte| *byte == 0).nth(1) == Some(b"__guard") {
            found.push(pid);
        }
    }
    found
}

fn start(world: &World, stage: &str) -> Child {
    let marks = world.scratch("marks");
    fs::create_dir(&marks).unwrap();
    // The stage that is not meant does not wait.
    for other in ["turn", "check"].iter().filter(|other| **other != stage) {
        fs::create_dir(marks.join(other)).unwrap();
    }
    let words = ["--name", "t", "--max-iterations", "5", "--until", "<promise>COMPLETE</promise>"];
    let more = ["--agent-cmd", WAITS, "--check", CHECK_WAITS, "--json", "work"];
    let mut command = world.command(&[&["exec"], &words[..], &more].concat());
    command.env("MARKS", &marks).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    wait_for("the stage", || marks.join(stage).join("ready").exists());
    child
}

#[test]
fn r1_kills_of_runner_and_guard_leave_nothing_and_resume_goes_on() {
    let aims = [Aim::Runner, Aim::Both, Aim::BothGuardsFirst];
    let cases: Vec<(&str, Aim)> =
        ["turn", "check"].into_iter().flat_map(|stage| aims.map(|aim| (stage, aim))).collect();
    for_each(&cases, |(stage, aim)| {
        let world = World::new();
        let mut runner = start(&world, stage);
        aim.strike(runner.id());
        runner.wait().unwrap();
        if *aim == Aim::Runner {
            wait_for("the tree to be gone without a resume", || world.processes("t").is_empty());
        }
        let mut resume = world.command(&["resume", "t", "--json"]);
        let resumed = Ran::from(resume.env("MARKS", world.scratch("marks")).output().unwrap()).expect(0);
        assert_eq!(resumed.result()["outcome"], "completed", "{stage} {aim:?}");
        world.assert_five("t", "main");
    });
}

#[test]
fn r1_a_runner_goes_on_when_its_guards_are_killed() {
    for_each(&["turn", "check"], |stage| {
        let world = World::new();
        let mut runner = start(&world, stage);
        guards(runner.id()).iter().for_each(|guard| kill(*guard, Signal::KILL));
        assert_eq!(runner.wait().unwrap().code(), Some(0), "{stage}");
        let finished = world.events("t", "iteration_finished");
        let successes: Vec<&Value> = finished.iter().map(|event| &event["success"]).collect();
        assert_eq!(finished.len(), 5);
        if *stage == "turn" {
            assert_eq!(successes, [true, true, false, true, true], "it counts as a failed iteration");
            let error = finished[2]["error"].as_str().unwrap();
            assert!(error.contains("guard"), "{error}");
            assert!(finished[2]["commit_id"].is_string(), "what it had done is kept");
        } else {
            assert_eq!(successes, [true; 5], "a check that was lost has not passed; the agent's work has");
            assert_eq!(finished[2]["checks"][0]["passed"], false);
        }
        world.assert_in_order("t");
    });
}

#[test]
fn r1_a_stopped_guard_of_a_killed_runner_does_not_keep_the_task_from_going_on() {
    for words in [&["status", "t"][..], &["resume", "t", "--json"]] {
        let world = World::new();
        let mut runner = start(&world, "turn");
        guards(runner.id()).iter().for_each(|guard| kill(*guard, Signal::STOP));
        kill(runner.id(), Signal::KILL);
        runner.wait().unwrap();
        let mut command = world.command(words);
        let ran = Ran::from(command.env("MARKS", world.scratch("marks")).output().unwrap()).expect(0);
        world.assert_nothing_left("t");
        match words[0] {
            "status" => assert!(ran.stdout.contains("interrupted"), "{}", ran.stdout),
            _ => world.assert_five("t", "main"),
        }
    }
}

#[test]
fn l4_a_proof_whose_guard_is_killed_says_so_and_blames_no_file() {
    let world = World::new();
    let marks = world.scratch("marks");
    fs::create_dir(&marks).unwrap();
    world.write("ignored.txt", "a file that is not in the commit\n");
    // The second run of the check is the proof's.
    let check = "if ! mkdir \"$MARKS/first\" 2>/dev/null; then touch \"$MARKS/ready\"; sleep 1005; fi";
    let words = ["exec", "--name", "t", "--iter", "1", "--check", check, "--no-baseline"];
    let mut command = world.command(&[&words[..], &["--agent-cmd", "echo > new", "--json", "work"]].concat());
    command.env("MARKS", &marks).stdout(Stdio::null()).stderr(Stdio::null());
    let mut runner = command.spawn().unwrap();
    wait_for("the proof", || marks.join("ready").exists());
    guards(runner.id()).iter().for_each(|guard| kill(*guard, Signal::KILL));
    runner.wait().unwrap();
    let status: serde_json::Value =
        serde_json::from_str(&world.run(&["status", "t", "--json"]).expect(0).stdout).unwrap();
    assert_eq!(status["verified"], false);
    let proof = status["result"]["proof_state"].to_string();
    assert!(proof.contains("something killed the guard process of"), "{proof}");
    assert!(world.events("t", "proof_failed").is_empty());
    world.assert_nothing_left("t");
}
