//! SIGKILL while a slow git of the runner is under way, and a resume that does not wait for it.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;

use super::*;
use crate::support::wait_for;

/// Stands in for git. Call N of the runner kills the runner, before or after git did its work; the work, or the end of
/// the call, then waits until somebody resumes.
const SLOW_GIT: &str = r#"#!/bin/sh
bin=$(dirname "$0")
PATH=${PATH#"$bin":}
if [ -z "$RUNNER_DIES_AT" ]; then exec git "$@"; fi
turn=$bin/../calls
n=0
while ! mkdir "$turn/$n" 2>/dev/null; do n=$((n + 1)); done
# Between the runner and us there can be a guard, and a git that has called this one.
linger() {
    runner=$PPID
    while [ "$runner" -gt 1 ]; do
        case $(cat /proc/$runner/comm) in dacapo-guard) ;; dacapo*) break ;; esac
        runner=$(cut -d' ' -f4 /proc/$runner/stat)
    done
    if [ "$runner" -gt 1 ]; then kill -9 $runner; fi
    while [ ! -e "$turn/resumed" ]; do sleep 0.01; done
    sleep 0.05
}
if [ "$RUNNER_DIES_AT" = "before:$n" ]; then linger; fi
git "$@"
code=$?
if [ "$RUNNER_DIES_AT" = "after:$n" ]; then linger; fi
exit $code
"#;

fn world_with_slow_git() -> World {
    let world = World::new();
    world_for_slow_git(&world);
    world
}

pub(crate) fn world_for_slow_git(world: &World) {
    world.program("git", SLOW_GIT);
    fs::create_dir(world.scratch("calls")).unwrap();
}

/// How many git calls an undisturbed run makes.
fn calls(words: &[&str]) -> usize {
    let world = world_with_slow_git();
    let mut command = world.command(&[&["exec"], words].concat());
    let _ = Ran::from(command.env("RUNNER_DIES_AT", "never").output().unwrap()).expect(0);
    fs::read_dir(world.scratch("calls")).unwrap().count()
}

fn walk(words: &[&str], walked: &[usize], check: impl Fn(&World) + Sync) {
    let plans: Vec<String> =
        walked.iter().flat_map(|call| [format!("before:{call}"), format!("after:{call}")]).collect();
    for_each(&plans, |plan| {
        let world = world_with_slow_git();
        let mut command = world.command(&[&["exec"], words].concat());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.env("RUNNER_DIES_AT", plan).status().unwrap();
        assert_eq!(status.signal(), Some(SIGKILL), "{plan}");
        if world.tasks().iter().all(|name| name != "t") {
            // It died before there was a task: the same words start it now, and nothing is in their way.
            fs::write(world.scratch("calls/resumed"), "").unwrap();
            let _ = world.run(&[&["exec"], words].concat()).expect(0);
        } else if !world.status("t")["outcome"].is_null() {
            // The task was over: what git did then was only to see whether its branch would conflict.
            fs::write(world.scratch("calls/resumed"), "").unwrap();
        } else {
            let resume = world
                .command(&["resume", "t", "--json"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn();
            let resume = resume.unwrap();
            // From here on the dead runner's git goes on, beside the one that resumes.
            fs::write(world.scratch("calls/resumed"), "").unwrap();
            let _ = Ran::from(resume.wait_with_output().unwrap()).expect(0);
        }
        check(&world);
        wait_for("the tasks directory to hold nothing half-made", || world.tasks() == ["t"]);
    });
}

#[test]
fn r1_sigkill_inside_every_git_call_then_resume_at_once() {
    let words = [&["--agent-cmd", AGENT], &FIVE[..]].concat();
    let calls = calls(&words);
    assert!(calls > 5 * 5, "{calls}");
    let walked: Vec<usize> = (0..calls).collect();
    walk(&words, &walked, |world| world.assert_five("t", "main"));
}

#[test]
fn r1_sigkill_inside_the_git_calls_that_make_a_worktree_and_prove_its_commit() {
    let words = [&["--worktree", "--agent-cmd", AGENT], &FIVE[..]].concat();
    let calls = calls(&words);
    let walked: Vec<usize> = (0..calls).filter(|call| *call < 8 || call + 16 >= calls).collect();
    walk(&words, &walked, |world| {
        world.assert_five("t", "dacapo/t");
        assert_eq!(world.git(&["worktree", "list"]).lines().count(), 1, "a proof makes no worktree");
        assert_eq!(world.status("t")["verified"], true);
    });
}
