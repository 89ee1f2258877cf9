//! L14: Ctrl-C, SIGTERM and SIGHUP, once and twice, whatever the task is doing.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Child;

use rustix::process::Signal;

use super::guards::kill;
use super::*;
use crate::support::wait_for;

/// Every iteration that began is finished and nothing is left, though the loop was ended in the middle.
fn assert_ended_well(world: &World) {
    let started: Vec<Value> =
        world.events("t", "iteration_started").iter().map(|event| event["iteration"].clone()).collect();
    let finished = world.events("t", "iteration_finished");
    assert_eq!(started, finished.iter().map(|event| event["iteration"].clone()).collect::<Vec<_>>());
    assert_eq!(world.journal("t").last().unwrap()["type"], "task_finished");
    let recorded: Vec<&str> = finished.iter().filter_map(|event| event["commit_id"].as_str()).collect();
    let there = world.git(&["log", "--reverse", "--format=%H"]);
    assert_eq!(recorded, there.lines().skip(1).collect::<Vec<_>>());
    world.assert_in_order("t");
}

#[test]
fn l14_ctrl_c_at_every_event_ends_in_good_order_and_resume_starts_the_next_iteration() {
    let words = [&["exec", "--agent-cmd", AGENT], &FIVE[..]].concat();
    let events: Vec<usize> = (0..40).collect();
    for_each(&events, |event| {
        let world = World::new();
        let (_, ran) = world.run_to(At::Signal(*event), &words);
        let completed = ran.code == 0;
        // Only what was as good as done may still be done.
        assert!(ran.code == 130 || completed && *event > 34, "{event}: {}\n{}", ran.code, ran.stderr);
        assert_ended_well(&world);
        let done = world.events("t", "iteration_finished").len();
        if completed {
            return;
        }
        assert_eq!(world.status("t")["outcome"], "cancelled");
        let _ = world.run(&["resume", "t", "--iter", "2", "--json"]);
        assert_ended_well(&world);
        let finished = world.events("t", "iteration_finished");
        assert!(finished.len() > done, "{event}");
        let numbers: Vec<u64> = finished.iter().map(|event| event["iteration"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
    });
}

/// Works, then waits where `STAGE` says so.
const AGENT_WAITS: &str = "echo $DACAPO_ITERATION >> log
if [ \"$STAGE\" = turn ]; then setsid sleep 1000 & touch \"$READY\"; sleep 1001; fi
if [ \"$STAGE\" = deaf ]; then trap '' TERM INT HUP; setsid sleep 1002 & touch \"$READY\"; sleep 1003; sleep 1004; fi";
const CHECK_WAITS: &str = "if [ \"$STAGE\" = baseline ] || { [ \"$STAGE\" = check ] && [ -e log ]; }; then
    touch \"$READY\"; sleep 1005
fi; false";

fn start(world: &World, stage: &str) -> Child {
    let words = ["exec", "--name", "t", "--max-iterations", "5", "--stall", "0", "--agent-cmd", AGENT_WAITS];
    let mut command = world.command(&[&words[..], &["--check", CHECK_WAITS, "--json", "work"]].concat());
    let ready = world.scratch("ready");
    command.env("STAGE", stage).env("READY", &ready).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    wait_for("the stage", || ready.exists());
    child
}

#[test]
fn l14_each_signal_in_each_phase_ends_the_tree_and_commits_what_it_left() {
    let phases = ["baseline", "turn", "deaf", "check"];
    let signals = [Signal::INT, Signal::TERM, Signal::HUP];
    let cases: Vec<(&str, Signal)> =
        phases.into_iter().flat_map(|phase| signals.map(|signal| (phase, signal))).collect();
    for_each(&cases, |(phase, signal)| {
        let world = World::new();
        let mut child = start(&world, phase);
        kill(child.id(), *signal);
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(130), "{phase} {signal:?}: {status:?}");
        assert_eq!(world.processes("t"), Vec::<u32>::new(), "gone before Dacapo is");
        assert_ended_well(&world);
        let finished = world.events("t", "iteration_finished");
        match *phase {
            "baseline" => assert_eq!(finished.len(), 0),
            "turn" | "deaf" => {
                assert_eq!((finished.len(), &finished[0]["success"]), (1, &json!(false)));
                assert_eq!(finished[0]["outcome"], "cancelled");
                let outcome = "--format=%(trailers:key=Dacapo-Outcome,valueonly,separator=%x2C)";
                assert_eq!(world.git(&["log", "-1", outcome]), "cancelled");
                assert_eq!(world.git(&["show", "HEAD:log"]), "0");
            }
            _ => {
                assert_eq!(finished.len(), 1);
                assert_eq!(finished[0]["success"], true, "the agent's turn was over");
            }
        }
        let _ = world.run(&["resume", "t", "--iter", "1", "--json"]).expect(3);
        assert_eq!(world.read("log").lines().count(), finished.len() + 1, "one more, under the next number");
        assert_ended_well(&world);
    });
}

#[test]
fn l14_ctrl_c_during_a_backoff_ends_it() {
    let world = World::new();
    let words = [
        "exec",
        "--name",
        "t",
        "--iter",
        "3",
        "--agent-cmd",
        "echo $DACAPO_ITERATION >> log; exit 1",
        "--json",
        "x",
    ];
    // Created, started, ready, iteration, turn, turn, room, intent, commit, iteration, waiting.
    let (_, ran) = world.run_to(At::Signal(10), &words);
    let _ = ran.expect(130);
    assert_eq!(world.events("t", "waiting").len(), 1);
    assert_eq!(world.events("t", "wait_over").len(), 0);
    assert_eq!(world.events("t", "iteration_finished").len(), 1);
    assert_ended_well(&world);
}

#[test]
fn l14_ctrl_c_during_a_usage_limit_cancels_the_iteration_and_keeps_its_work() {
    let world = World::new();
    let agent = world.rehearsal(
        "iterations: [[{write: {path: a, text: \"{iteration}\"}}, {limit: {resets_in: 1h, attempts: 1}}, {say: done}], [{say: done}]]",
    );
    // Created, started, ready, iteration, turn, turn, room, waiting.
    let (_, ran) = world
        .run_to(At::Signal(7), &["exec", "--name", "t", "--iter", "2", "--agent", &agent, "--json", "x"]);
    let _ = ran.expect(130);
    assert_eq!(world.events("t", "waiting").len(), 1);
    assert_eq!(world.events("t", "iteration_finished")[0]["outcome"], "cancelled");
    assert_eq!(world.git(&["show", "HEAD:a"]), "0");
    assert_ended_well(&world);
    let _ = world.run(&["resume", "t", "--json"]);
    assert_eq!(world.events("t", "iteration_started")[1]["iteration"], 1);
}

#[test]
fn l14_a_second_signal_ends_at_once_and_resume_goes_on_with_the_iteration() {
    let signals = [(Signal::INT, Signal::INT), (Signal::TERM, Signal::INT), (Signal::INT, Signal::HUP)];
    for_each(&signals, |(first, second)| {
        let world = World::new();
        let mut child = start(&world, "deaf");
        kill(child.id(), *first);
        wait_for("the first to be heard", || !world.events("t", "stop_requested").is_empty());
        kill(child.id(), *second);
        let status = child.wait().unwrap();
        // Deaf as the agent is, it would have had three seconds; it may have used them on a slow machine.
        assert_eq!((status.code(), status.signal()), (Some(130), None));
        world.assert_nothing_left("t");
        let cut = world.events("t", "iteration_finished").is_empty();
        let ran = world.run(&["resume", "t", "--json"]).expect(3);
        assert_eq!(ran.result()["iterations_attempted"], 5);
        if cut {
            assert_eq!(
                world.events("t", "iteration_started").len(),
                5,
                "the cut one went on under its number"
            );
        }
        assert_ended_well(&world);
    });
}
