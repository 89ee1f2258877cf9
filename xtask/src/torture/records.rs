//! Journals and other files of the store that are damaged, forged or replaced, and everything that reads them.

use std::fs;
use std::path::{Path, PathBuf};

use super::case::{Case, WORK};
use super::invariants::{self, Kept};
use super::mutation::{Edit, Swap, fifo};
use super::tally::Fault;
use super::task::{AGENT, Kind, Task, look, settle};
use super::tracer::Plan;
use super::world::{self, Checkout, Users};
use crate::Outcome;

/// A task that is over, or that died on the way.
fn some_task(case: &mut Case) -> Outcome<(Users, Task)> {
    let kind = case.random.pick(&[Kind::InPlaceChecked, Kind::Worktree, Kind::WorktreeChecked]);
    let checkout = Checkout::of(case, kind);
    let users = world::make(case, checkout)?;
    let task = Task::with_agent(case, kind, AGENT)?;
    if case.random.percent(50) {
        case.run(WORK, &task.words)?;
    } else {
        let mut plan = Plan::runner_dies(&mut case.random, kind.calls());
        plan.class = "runner";
        plan.call += 25;
        case.struck(&plan, &task.words)?;
    }
    Ok((users, task))
}

/// All that can be done with a task. It may be refused; it may not hang, panic, or take the user's files along.
fn everything(case: &mut Case, task: &Task) -> Outcome {
    look(case, &task.name)?;
    let name = task.name.as_str();
    let acts: [&[&str]; 8] = [
        &["resume", name],
        &["kill", name],
        &["tell", name, "hello"],
        &["merge", name, "--no-agent", "--dry-run"],
        &["prune", "--dry-run"],
        &["drop", name],
        &["undo", name],
        &["resume", name, "--iter", "1"],
    ];
    let first = case.random.below(acts.len());
    for words in acts.iter().cycle().skip(first).take(3) {
        let ran = case.run(WORK, words)?;
        if !matches!(ran.code, 0..=4 | 130) {
            case.fault(Fault::State, format!("`{}`: {}", words.join(" "), ran.said()));
        }
        if ran.code != 0 && ran.err.trim().is_empty() && ran.out.trim().is_empty() {
            case.fault(
                Fault::State,
                format!("`{}` ends with {} and says nothing", words.join(" "), ran.code),
            );
        }
    }
    look(case, name)
}

pub(super) fn journals(case: &mut Case) -> Outcome {
    let (users, task) = some_task(case)?;
    let Some(dir) = case.task_dir("t") else { return users.check(case) };
    let path = dir.join("journal.jsonl");
    let bytes = fs::read(&path).unwrap_or_default();
    if bytes.iter().filter(|byte| **byte == b'\n').count() < 3 {
        return users.check(case);
    }
    let edit = case.random.pick(&Edit::ALL);
    case.tally.count("mutated");
    case.log(&format!("the journal gets {edit:?}"));
    let edited = edit.apply(&mut case.random, &bytes);
    fs::write(&path, edited).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    let mut kept = Kept::of(&dir);
    if let Some(status) = case.status("t")? {
        if edit.breaks_the_record() && status["verified"] == true {
            let text = format!("{edit:?}, and the task is still called verified");
            case.fault(Fault::FalseProof, text);
        }
        invariants::proof(case, &status)?;
    }
    everything(case, &task)?;
    if case.task_dir("t").is_some() {
        kept.check(case);
        if let Some(status) = case.status("t")? {
            invariants::proof(case, &status)?;
        }
    }
    // A last line that a newer version wrote, or that a power cut tore, is in nobody's way.
    if matches!(edit, Edit::UnknownEvent | Edit::CutInside) && case.task_dir("t").is_some() {
        settle(case, &task)?;
    }
    no_number_twice(case, &task)?;
    invariants::nobody_left(case);
    users.check(case)
}

/// Whatever a journal says, no iteration has two commits.
fn no_number_twice(case: &mut Case, task: &Task) -> Outcome {
    let format = "--format=%(trailers:key=Dacapo-Iteration,valueonly,separator=%x2C)";
    let Ok(log) = case.git(&["log", "--reverse", format, &task.branch()]) else { return Ok(()) };
    let numbers: Vec<u64> = log.lines().filter_map(|line| line.trim().parse().ok()).collect();
    if !numbers.is_sorted_by(|a, b| a < b) {
        case.fault(Fault::Doubled, format!("commits on {} are of iterations {numbers:?}", task.branch()));
    }
    Ok(())
}

/// Files below the data directory, but for checkouts, in an order that is always the same.
fn store_files(case: &Case) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![case.path("data")];
    while let Some(dir) = todo.pop() {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(&dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            let checkout = path.ends_with("worktrees") || path.ends_with("proof");
            if path.is_dir() && !checkout {
                todo.push(path.clone());
            }
            if !checkout && !path.ends_with("repos") {
                found.push(path);
            }
        }
    }
    found
}

pub(super) fn store(case: &mut Case) -> Outcome {
    let (users, task) = some_task(case)?;
    let mut precious = false;
    for _ in 0..1 + case.random.below(2) {
        if case.random.percent(30) {
            plant(case)?;
            continue;
        }
        let files = store_files(case);
        if files.is_empty() {
            break;
        }
        let path = files[case.random.below(files.len())].clone();
        let swap = case.random.pick(&Swap::ALL);
        case.tally.count("mutated");
        case.log(&format!("{} becomes {swap:?}", path.display()));
        precious |= is_precious(&path);
        swap.apply(case, &path)?;
    }
    everything(case, &task)?;
    // What can be made again is in nobody's way.
    if !precious && case.task_dir("t").is_some() && case.status("t")?.is_some() {
        settle(case, &task)?;
    }
    if let Some(status) = case.status("t")? {
        invariants::proof(case, &status)?;
    }
    no_number_twice(case, &task)?;
    invariants::nobody_left(case);
    users.check(case)
}

/// Without these a task cannot go on, and that may be said.
fn is_precious(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let parts =
        ["spec.json", "journal.jsonl", "tasks", "t", "turns", "checks", "inbox", "leases", "slots", "limits"];
    parts.contains(&name.as_str()) || name.starts_with("repo-")
}

/// Things that nobody put there on purpose.
fn plant(case: &mut Case) -> Outcome {
    let Some(dir) = case.task_dir("t") else { return Ok(()) };
    let what = case.random.below(6);
    case.tally.count("planted");
    case.log(&format!("plant {what}"));
    let failed = |e: std::io::Error| format!("cannot plant: {e}");
    let letter = case.path("home/letter.txt");
    match what {
        0 => {
            let inbox = dir.join("inbox");
            fs::create_dir_all(&inbox).map_err(failed)?;
            for number in 0..1000 {
                fs::write(inbox.join(format!("{number:05}.json")), "{ junk").map_err(failed)?;
            }
        }
        1 => fifo(&dir.join("inbox/00000000.json")).or(Ok(())).map_err(failed)?,
        2 => {
            for turn in 0..8 {
                let _ = fifo(&dir.join(format!("turns/{turn:04}.raw")));
            }
        }
        3 => {
            for turn in 0..8 {
                let _ = std::os::unix::fs::symlink(&letter, dir.join(format!("turns/{turn:04}.prompt")));
            }
        }
        4 => {
            let limits = case.path("data/limits");
            fs::create_dir_all(&limits).map_err(failed)?;
            let _ = fifo(&limits.join("0123456789abcdef.json"));
        }
        _ => {
            let link = std::os::unix::fs::symlink(&letter, dir.join("checks/9999.raw"));
            link.or(Ok(())).map_err(failed)?;
            fs::write(dir.join("surprise"), case.random.bytes(100)).map_err(failed)?;
        }
    }
    Ok(())
}
