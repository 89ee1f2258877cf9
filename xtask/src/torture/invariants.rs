//! What must hold of a task after whatever was done to it ("Never broken" in AGENTS.md).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::case::{Case, LOOK};
use super::clone;
use super::processes::{self, Process};
use super::tally::Fault;
use super::task::{ITERATIONS, Suffered, Task};
use crate::Outcome;

/// What SIGKILL of the runner may leave alive for a moment. R1 says 5 s, of which a busy machine takes its share.
const UNTIL_GONE: Duration = Duration::from_secs(20);

/// A journal as far as it can be read: whole lines, each of which is JSON.
pub(super) fn journal(dir: &Path) -> Vec<Value> {
    let bytes = bytes_of(&dir.join("journal.jsonl"));
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

/// What a file holds; nothing where it is no file. Another thing may lie there, and reading a pipe would never end.
pub(super) fn bytes_of(path: &Path) -> Vec<u8> {
    let is_file = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    if is_file { fs::read(path).unwrap_or_default() } else { Vec::new() }
}

/// The commit that an event names.
pub(super) fn commit_of(event: &Value) -> Option<&str> {
    event["commit_id"].as_str()
}

/// Nothing that the program started is alive. Where guard and runner died together that is so after the next command
/// that finds the task interrupted, and not before.
pub(super) fn nobody_left(case: &mut Case) {
    let left = processes::wait_until(UNTIL_GONE, <[Process]>::is_empty);
    for process in &left {
        case.fault(Fault::Orphan, format!("still alive: {} {}", process.pid, process.command));
        processes::kill(process.pid);
    }
}

/// All that can be asked of a task that has come to its end.
pub(super) fn check(case: &mut Case, task: &Task, status: &Value, suffered: Suffered) -> Outcome {
    let Some(dir) = case.task_dir(&task.name) else {
        case.fault(Fault::Lost, format!("the directory of task {} is gone", task.name));
        return Ok(());
    };
    let events = journal(&dir);
    in_sequence(case, &events);
    iterations(case, task, &events, suffered)?;
    nothing_lost(case, task, &events)?;
    workspace(case, task, status);
    proof(case, status)?;
    ending(case, task, status)?;
    no_locks(case);
    panics_in_background(case, &dir);
    nobody_left(case);
    Ok(())
}

/// Lines are numbered from 0 without a gap.
pub(super) fn in_sequence(case: &mut Case, events: &[Value]) {
    for (line, event) in events.iter().enumerate() {
        if event["seq"].as_u64() != u64::try_from(line).ok() {
            let text = format!("line {line} of the journal has seq {}: {event}", event["seq"]);
            case.fault(Fault::Doubled, text);
            return;
        }
    }
}

/// Iterations are finished once each and in order, and each has one commit at most.
fn iterations(case: &mut Case, task: &Task, events: &[Value], suffered: Suffered) -> Outcome {
    let of_type = |wanted: &'static str| events.iter().filter(move |event| event["type"] == wanted);
    let finished: Vec<u64> =
        of_type("iteration_finished").filter_map(|event| event["iteration"].as_u64()).collect();
    let in_order: Vec<u64> = (0..finished.len() as u64).collect();
    if finished != in_order {
        case.fault(Fault::Doubled, format!("iterations were finished in the order {finished:?}"));
    }
    if task.kind.is_milestone() {
        return milestone(case, task, suffered);
    }
    let exact = suffered == Suffered::RunnerOnly || !task.kind.is_checked();
    if exact && finished.len() as u64 != ITERATIONS {
        case.fault(Fault::State, format!("{} iterations, where {ITERATIONS} were asked for", finished.len()));
    }
    let format = "--format=%(trailers:key=Dacapo-Iteration,valueonly,separator=%x2C)";
    let base = case.git(&["rev-list", "--max-parents=0", "main"])?;
    let range = format!("{base}..{}", task.branch());
    let trailers = case.git(&["log", "--reverse", format, &range]).unwrap_or_default();
    let numbers: Vec<u64> = trailers.lines().filter_map(|line| line.trim().parse().ok()).collect();
    if !numbers.is_sorted_by(|a, b| a < b) {
        case.fault(Fault::Doubled, format!("commits on {} are of iterations {numbers:?}", task.branch()));
    }
    if suffered == Suffered::RunnerOnly && numbers != in_order {
        case.fault(Fault::Lost, format!("iterations {finished:?} were finished, and {numbers:?} committed"));
    }
    Ok(())
}

/// Its three commits once each.
fn milestone(case: &mut Case, task: &Task, suffered: Suffered) -> Outcome {
    let subjects = case.git(&["log", "--format=%s", &format!("main..{}", task.branch())]).unwrap_or_default();
    let all: Vec<&str> = subjects.lines().collect();
    let once: BTreeSet<&str> = all.iter().copied().collect();
    if once.len() != all.len() {
        case.fault(Fault::Doubled, format!("the milestone's commits are {all:?}"));
    }
    if suffered == Suffered::RunnerOnly && all != ["fix: two", "feat: two", "feat: one"] {
        case.fault(Fault::Lost, format!("the milestone's commits are {all:?}"));
    }
    if case.git(&["log", "-1", "--format=%s", "main"])? != "plan" {
        case.fault(Fault::State, "a milestone that nobody merged moved main");
    }
    Ok(())
}

/// Every commit that the journal names is there, and some branch or rescue ref holds it; and what an agent wrote in an
/// iteration is in that iteration's commit.
pub(super) fn nothing_lost(case: &mut Case, task: &Task, events: &[Value]) -> Outcome {
    let landed = |event: &&Value| event["type"] == "committed" || event["type"] == "iteration_finished";
    let named: BTreeSet<&str> = events.iter().filter(landed).filter_map(commit_of).collect();
    for commit in named {
        let held = case.git(&["for-each-ref", "--contains", commit, "--format=%(refname)"]);
        match held {
            Ok(refs) if !refs.is_empty() => {}
            Ok(_) => {
                case.fault(Fault::Lost, format!("no ref holds commit {commit}, which the journal names"));
            }
            Err(why) => case.fault(Fault::Lost, format!("commit {commit}, which the journal names: {why}")),
        }
    }
    if task.kind.is_milestone() {
        return Ok(());
    }
    let successful = |event: &&Value| event["type"] == "iteration_finished" && event["outcome"] == "success";
    for event in events.iter().filter(successful) {
        let (Some(commit), Some(iteration)) = (commit_of(event), event["iteration"].as_u64()) else {
            continue;
        };
        if case.git(&["cat-file", "-e", &format!("{commit}:f{iteration}.txt")]).is_err() {
            case.fault(
                Fault::Lost,
                format!("what iteration {iteration} wrote is not in its commit {commit}"),
            );
        }
    }
    Ok(())
}

/// All that the agent left is committed.
fn workspace(case: &mut Case, task: &Task, status: &Value) {
    let dir = match status["worktree"].as_str() {
        Some(worktree) => PathBuf::from(worktree),
        None if task.kind.is_in_place() => case.repo(),
        None => return case.fault(Fault::Lost, "the task in a worktree names none"),
    };
    match case.git_in(&dir, &["status", "--porcelain", "--untracked-files=all"]) {
        Ok(text) => {
            let users = [" draft.txt", " src/main.txt", "papers/plan b.txt\"", "?? diary.txt"];
            let own = |line: &&str| !users.iter().any(|path| line.ends_with(path));
            let left: Vec<&str> = text.lines().filter(own).collect();
            if !left.is_empty() {
                case.fault(Fault::State, format!("at the end {} is not clean: {left:?}", dir.display()));
            }
        }
        Err(why) => case.fault(Fault::Lost, format!("the workspace {}: {why}", dir.display())),
    }
}

/// A task that says it is proven: a fresh clone of its commit passes its checks.
pub(super) fn proof(case: &mut Case, status: &Value) -> Outcome {
    if status["verified"] != true {
        return Ok(());
    }
    case.tally.count("proofs");
    let checks: BTreeSet<String> = status["checks"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|check| check["command"].as_str().map(str::to_owned))
        .collect();
    let Some(commit) = status["last_commit"].as_str().map(str::to_owned) else {
        case.fault(Fault::FalseProof, "verified, and no commit is named");
        return Ok(());
    };
    if checks.is_empty() {
        case.fault(Fault::FalseProof, "verified, and no check is named");
    }
    for check in &checks {
        if let Err(why) = clone::is_green(case, &commit, check)? {
            case.fault(Fault::FalseProof, format!("verified, and `{check}` on {commit}: {why}"));
        }
    }
    Ok(())
}

/// State, outcome and exit code say the same.
pub(super) fn ending(case: &mut Case, task: &Task, status: &Value) -> Outcome {
    let (state, outcome) =
        (status["status"].as_str().unwrap_or(""), status["outcome"].as_str().unwrap_or(""));
    let wanted = match state {
        "completed" => 0,
        "failed" => 1,
        "stopped" => 3,
        "paused" => 4,
        "cancelled" => 130,
        _ => return Ok(()),
    };
    let agree = match outcome {
        "completed" => wanted == 0,
        "failed" => wanted == 1,
        "max_reached" | "time_elapsed" | "budget_exhausted" | "stalled" => wanted == 3,
        "cancelled" => wanted == 130,
        _ => wanted == 4,
    };
    let waited = case.run(LOOK, &["wait", &task.name])?;
    if !agree || waited.code != wanted {
        let text = format!("status {state}, outcome {outcome}, and `wait` ends with {}", waited.said());
        case.fault(Fault::State, text);
    }
    let notices = status["notices"].to_string();
    // A disk without space holds neither the seal nor what a proof needs; then it is said, and claimed by nobody.
    // The proof's own reason quotes the system, or git that quotes it: in the words of the errors that are struck.
    let proof = status["result"]["proof_state"].to_string();
    let struck = ["os error", "No space left on device", "Disk quota exceeded", "Input/output error"];
    let lost = proof.contains("killed the guard process");
    let said = lost
        || ["cannot seal", "cannot prove"].iter().any(|why| notices.contains(why))
        || struck.iter().any(|why| proof.contains(why));
    if task.kind.is_checked() && state == "completed" && status["verified"] != true && !said {
        case.fault(Fault::State, format!("completed with checks, and not verified: {notices}"));
    }
    Ok(())
}

/// No lock of git is left behind anywhere.
pub(super) fn no_locks(case: &mut Case) {
    let mut left = Vec::new();
    locks_below(&case.repo().join(".git"), &mut left);
    for lock in left {
        case.fault(Fault::StaleLock, format!("{} is left", lock.display()));
    }
}

/// Locks of git. Our own are held by the kernel, so their files say nothing by being there, and scratch folders of a dead
/// command are in nobody's way.
pub(super) fn locks_below(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let own = entry.file_name().to_string_lossy().starts_with("dacapo");
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if !path.ends_with("objects") && !own {
                locks_below(&path, found);
            }
        } else if path.extension().is_some_and(|end| end == "lock") && !own {
            found.push(path);
        }
    }
}

fn panics_in_background(case: &mut Case, dir: &Path) {
    let said = bytes_of(&dir.join("runner.log"));
    let said = String::from_utf8_lossy(&said);
    if said.contains("panicked at") {
        case.fault(Fault::Panic, format!("in runner.log: {said}"));
    }
}

/// Lines of a journal are only ever added to. What was whole before is there now, in front; a last line that was cut
/// short may go.
pub(super) struct Kept {
    dir: PathBuf,
    bytes: Vec<u8>,
}

impl Kept {
    pub(super) fn of(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), bytes: whole(dir) }
    }

    pub(super) fn check(&mut self, case: &mut Case) {
        let now = whole(&self.dir);
        if !now.starts_with(&self.bytes) {
            case.fault(Fault::Lost, "the journal does not begin any more with what it held");
        }
        self.bytes = now;
    }
}

fn whole(dir: &Path) -> Vec<u8> {
    let mut bytes = bytes_of(&dir.join("journal.jsonl"));
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    bytes.truncate(end);
    bytes
}

/// The state of a task in one word.
pub(super) fn word(status: Option<&Value>) -> &str {
    status.and_then(|status| status["status"].as_str()).unwrap_or("none")
}

/// Kinds whose end is told by `wait` alone.
pub(super) fn is_over(status: Option<&Value>) -> bool {
    matches!(word(status), "completed" | "failed" | "stopped" | "cancelled")
}
