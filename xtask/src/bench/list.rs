//! `dacapo list` over a thousand tasks that have ended, against `git branch --list` over as many branches.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::report::Row;
use super::stats::{median, range};
use super::{Bench, iteration, journal, process};
use crate::Outcome;

/// A list remembers nothing of a journal that changed within the last seconds; those of tasks that ended are older.
pub(super) const OLD_ENOUGH: Duration = Duration::from_secs(4);

/// The name of the task that all others are copies of: long enough to be in no other word.
const SEED: &str = "the-seed-of-all-tasks";

pub(super) fn measure(bench: &Bench) -> Outcome<Vec<Row>> {
    let count = bench.size(1000, 100);
    let repo = bench.scratch.repository("list-repo", 3)?;
    bench.scratch.data_home()?;
    copies(bench, &repo, count)?;
    branches(bench, &repo, count)?;
    std::thread::sleep(OLD_ENOUGH);
    let ours = || {
        let mut command = Command::new(&bench.program);
        bench.scratch.clean(command.arg("list").current_dir(&repo));
        command
    };
    let theirs = || {
        let mut command = Command::new("git");
        bench.scratch.clean(command.args(["branch", "--list"]).current_dir(&repo));
        command
    };
    // A side that shows less is no faster. This also warms both up.
    for command in [&mut ours(), &mut theirs()] {
        let output =
            command.output().map_err(|e| format!("cannot start {}: {e}", crate::shell::shown(command)))?;
        let lines = output.stdout.split(|&byte| byte == b'\n').count();
        if !output.status.success() || lines < count {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{} showed {lines} lines: {}", crate::shell::shown(command), said.trim()));
        }
    }
    let (mut our_times, mut their_times, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..bench.size(15, 3) {
        let (mut our_block, mut their_block) = (Vec::new(), Vec::new());
        for _ in 0..bench.size(20, 5) {
            our_block.push(process::timed_bare(&mut ours())? * 1e3);
            their_block.push(process::timed_bare(&mut theirs())? * 1e3);
        }
        ratios.extend(median(&our_block).zip(median(&their_block)).map(|(ours, theirs)| ours / theirs));
        our_times.extend(our_block);
        their_times.extend(their_block);
    }
    let none = || "nothing was measured".to_owned();
    let (our_time, their_time) =
        (median(&our_times).ok_or_else(none)?, median(&their_times).ok_or_else(none)?);
    Ok(vec![Row::ratio(
        format!("`dacapo list`, {count} tasks that have ended"),
        format!("{our_time:.2} ms"),
        format!("`git branch --list`, {count} branches, packed: {their_time:.2} ms"),
        range(&ratios).ok_or_else(none)?,
        2.0,
    )])
}

/// One task that really ran, and copies of it under other names.
pub(super) fn copies(bench: &Bench, repo: &Path, count: usize) -> Outcome {
    let agent = bench.scratch.trivial_agent()?;
    let mut run = iteration::exec(bench, repo, &agent, 3);
    process::timed(run.args(["--worktree", "--name", SEED]))?;
    let seed = journal::find(&bench.scratch.path("data"))?.parent().map(Path::to_owned).unwrap_or_default();
    let tasks = seed.parent().map(Path::to_owned).unwrap_or_default();
    for number in 1..count {
        let name = format!("task-{number:04}");
        let copy = tasks.join(&name);
        fs::create_dir(&copy).map_err(|e| format!("cannot make {}: {e}", copy.display()))?;
        for file in ["spec.json", "journal.jsonl", "lock"] {
            let Ok(text) = fs::read_to_string(seed.join(file)) else { continue };
            let path = copy.join(file);
            fs::write(&path, text.replace(SEED, &name))
                .map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        }
    }
    Ok(())
}

/// Branches as `git gc` leaves them, all in one file: the harder side to be compared with.
fn branches(bench: &Bench, repo: &Path, count: usize) -> Outcome {
    let git = |words: &[&str], input: &str| -> Outcome {
        let mut command = Command::new("git");
        bench.scratch.clean(command.args(words).current_dir(repo)).stdin(Stdio::piped());
        let mut child = command.spawn().map_err(|e| format!("cannot start git: {e}"))?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes()).map_err(|e| format!("git does not listen: {e}"))?;
        }
        let status = child.wait().map_err(|e| format!("lost git: {e}"))?;
        status.success().then_some(()).ok_or_else(|| format!("git {} failed", words.join(" ")))
    };
    let refs: String =
        (0..count).map(|number| format!("create refs/heads/topic/task-{number:04} HEAD\n")).collect();
    git(&["update-ref", "--stdin"], &refs)?;
    git(&["pack-refs", "--all"], "")
}
