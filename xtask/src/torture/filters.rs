//! Filters that hang in the middle of a git command, as LFS does without a network: whoever ends the task then is not kept
//! waiting, and nobody is left.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::case::{Case, LOOK, WORK};
use super::invariants;
use super::processes;
use super::tally::Fault;
use super::task::look;
use super::world::{self, Checkout};
use crate::Outcome;

/// How long a task may take to end once it was told to.
const TO_END: Duration = Duration::from_secs(25);

/// How a task whose git hangs is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Terminate,
    TerminateTwice,
    Command,
    Kill,
}

pub(super) fn run(case: &mut Case) -> Outcome {
    let which = case.random.pick(&["clean", "clean", "smudge", "process"]);
    let end = case.random.pick(&[End::Terminate, End::TerminateTwice, End::Command, End::Kill, End::Kill]);
    case.log(&format!("a {which} filter hangs, ended by {end:?}"));
    case.tally.count("filters");
    ready(case, which)?;
    let hang = case.path("desk/hang");
    // It hangs from the end of the first turn on: a smudge filter then hangs in the checkout of the proof.
    let agent = format!(
        "cat > /dev/null; echo $DACAPO_ITERATION > x$DACAPO_ITERATION.bin; echo ok > ok.txt; touch {}; echo did it",
        hang.display()
    );
    let words = ["exec", "--name", "t", "--worktree", "--max-iterations", "3", "--check", "test -e ok.txt"];
    let started = case.start(case.dacapo(&[&words[..], &["--agent-cmd", &agent, "work"]].concat()))?;
    let hangs = wait_for(&case.path("desk/hanging"));
    if !hangs {
        case.tally.remark("a filter was not used before the task ended");
    }
    thread::sleep(Duration::from_millis(case.random.next() % 400));
    match end {
        End::Terminate => drop(processes::send(started.pid(), Signal::TERM)),
        End::TerminateTwice => {
            processes::send(started.pid(), Signal::TERM);
            thread::sleep(Duration::from_millis(case.random.next() % 1500));
            processes::send(started.pid(), Signal::TERM);
        }
        End::Command => drop(case.run(TO_END, &["kill", "t"])?),
        End::Kill => {
            processes::kill(started.pid());
            case.tally.count("killed-runner");
        }
    }
    case.finish(started, TO_END)?;
    if end == End::Kill {
        look(case, "t")?;
    }
    invariants::nobody_left(case);
    goes_on(case)
}

/// A filter as the user has it, and files for it.
fn ready(case: &mut Case, which: &str) -> Outcome {
    world::make(case, Checkout::Clean)?;
    let desk = case.path("desk").display().to_string();
    // Hangs while `hang` is there; says once that it does.
    let script = format!("if test -e {desk}/hang; then touch {desk}/hanging; sleep 1000; fi; cat\n");
    let slow = case.write("desk/slow.sh", script)?.display().to_string();
    let settings = match which {
        "clean" => format!("clean = \"sh {slow}\"\n\tsmudge = cat\n"),
        "smudge" => format!("clean = cat\n\tsmudge = \"sh {slow}\"\n"),
        _ => format!("process = \"sh {slow}\"\n\tclean = \"sh {slow}\"\n\tsmudge = cat\n"),
    };
    case.add_git_settings(&format!("[filter \"slow\"]\n\t{settings}"))?;
    case.write("repo/.gitattributes", "*.bin filter=slow\n")?;
    case.write("repo/first.bin", "first\n")?;
    case.git(&["add", "-A"])?;
    case.git(&["commit", "-qm", "filtered"]).map(drop)
}

/// With a filter that works again the task comes to its end, and is proven.
fn goes_on(case: &mut Case) -> Outcome {
    let hang = case.path("desk/hang");
    // The agent makes it hang again, so the filter itself must not look any more.
    std::fs::write(case.path("desk/slow.sh"), "cat\n")
        .map_err(|e| format!("cannot repair the filter: {e}"))?;
    let _ = std::fs::remove_file(&hang);
    for _ in 0..3 {
        match invariants::word(case.status("t")?.as_ref()) {
            "completed" => break,
            "none" => return Ok(()),
            _ => drop(case.run(WORK, &["resume", "t"])?),
        }
    }
    let status = case.status("t")?;
    if invariants::word(status.as_ref()) != "completed" {
        let word = invariants::word(status.as_ref()).to_owned();
        case.fault(Fault::State, format!("with a filter that works again the task is {word}"));
    }
    if let Some(status) = status {
        invariants::proof(case, &status)?;
    }
    invariants::no_locks(case);
    invariants::nobody_left(case);
    Ok(())
}

fn wait_for(path: &std::path::Path) -> bool {
    let start = Instant::now();
    while !path.exists() && start.elapsed() < LOOK / 4 {
        // A filter says so by a file; nothing of it can be waited on from here.
        thread::sleep(Duration::from_millis(20));
    }
    path.exists()
}
