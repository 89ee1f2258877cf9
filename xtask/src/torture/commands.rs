//! Deaths in the commands around a task: merge, drop, undo, prune, rename, kill and their like, each given again afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::case::{Case, LOOK, Ran, WORK};
use super::clone;
use super::invariants::{self, journal};
use super::tally::Fault;
use super::task::{AGENT, Kind, Suffered, Task, look, settle};
use super::tracer::Plan;
use super::world::{self, Checkout, Users};
use crate::Outcome;

/// An agent that stays at work until the case lets it go on, or was ended itself.
const PATIENT: &str = "cat > /dev/null; echo $DACAPO_ITERATION > f$DACAPO_ITERATION.txt; touch DESK/up; \
                       n=0; while ! test -e DESK/go && test $n -lt 4000; do sleep 0.05; n=$((n + 1)); done; \
                       echo did it";

pub(super) fn run(case: &mut Case) -> Outcome {
    match case.random.below(10) {
        0 => drop_and_undo(case),
        1 => undo(case),
        2 | 3 => merge(case, &["merge", "t", "--no-agent"]),
        4 => merge(case, &["merge", "t", "--squash", "--no-agent"]),
        5 => prune(case),
        6 => end_a_running_one(case),
        7 | 8 => rename(case),
        _ => steer_a_running_one(case),
    }
}

/// A task that has come to its end, in its worktree with things that no commit holds.
struct Done {
    users: Users,
    task: Task,
    /// What it is called by now.
    name: &'static str,
    tip: String,
    worktree: PathBuf,
    files: Files,
}

/// Every file below a directory: its bytes and its mode.
type Files = BTreeMap<PathBuf, (u32, Vec<u8>)>;

fn done(case: &mut Case, checkout: Checkout) -> Outcome<Done> {
    let users = world::make(case, checkout)?;
    let task = Task::with_agent(case, Kind::WorktreeChecked, AGENT)?;
    let ran = case.run(WORK, &task.words)?;
    if ran.code != 0 {
        return Err(format!("an undisturbed task failed: {}", ran.said()));
    }
    let status = case.status("t")?.ok_or("no status of a task that has ended")?;
    let worktree = PathBuf::from(status["worktree"].as_str().unwrap_or_default());
    // What the user put there afterwards.
    let script = worktree.join("results/keep.sh");
    fs::write(&script, "echo kept\n")
        .and_then(|()| fs::set_permissions(&script, fs::Permissions::from_mode(0o750)))
        .map_err(|e| format!("cannot write {}: {e}", script.display()))?;
    let tip = case.git(&["rev-parse", "dacapo/t"])?;
    let files = files(&worktree)?;
    Ok(Done { users, task, name: "t", tip, worktree, files })
}

fn files(dir: &Path) -> Outcome<Files> {
    let mut found = Files::new();
    let mut todo = vec![dir.to_owned()];
    while let Some(next) = todo.pop() {
        let entries = fs::read_dir(&next).map_err(|e| format!("cannot read {}: {e}", next.display()))?;
        for entry in entries.flatten() {
            let path = entry.path();
            // How git finds its way back is not part of the user's work.
            if path.file_name().is_some_and(|name| name == ".git") {
                continue;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                todo.push(path);
            } else if kind.is_file() {
                let mode = entry.metadata().map_or(0, |meta| meta.permissions().mode());
                let bytes = fs::read(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
                let name = path.strip_prefix(dir).map_or(path.clone(), Path::to_path_buf);
                found.insert(name, (mode, bytes));
            }
        }
    }
    Ok(found)
}

/// Gives a command until it says that it is done, or that there is nothing left to do for it.
fn again(case: &mut Case, words: &[&str], over: &[&str]) -> Outcome<Option<Ran>> {
    let mut last = None;
    for _ in 0..3 {
        let ran = case.run(WORK, words)?;
        let said = format!("{}{}", ran.out, ran.err);
        if ran.code == 0 || over.iter().any(|text| said.contains(text)) {
            return Ok(Some(ran));
        }
        last = Some(ran);
    }
    let said = last.map(|ran| ran.said()).unwrap_or_default();
    let fault = if said.contains(".lock") { Fault::StaleLock } else { Fault::State };
    case.fault(fault, format!("after a death `{}` does not come to its end: {said}", words.join(" ")));
    Ok(None)
}

fn strike(case: &mut Case, calls: usize, words: &[&str]) -> Outcome {
    let plan = Plan::death(&mut case.random, calls);
    case.tally.count(&format!("command-{}", words[0]));
    case.struck(&plan, words)?;
    if case.random.percent(40) {
        look(case, "t")?;
    }
    Ok(())
}

/// The task is back as it was, bit for bit.
fn is_back(case: &mut Case, done: &Done) -> Outcome {
    match case.git(&["rev-parse", &format!("dacapo/{}", done.name)]) {
        Ok(tip) if tip == done.tip => {}
        other => {
            case.fault(Fault::Lost, format!("the branch of the task was at {}, and is {other:?}", done.tip));
        }
    }
    match files(&done.worktree) {
        Ok(now) if now == done.files => {}
        Ok(now) => {
            let gone: Vec<&PathBuf> = done
                .files
                .iter()
                .filter(|(path, was)| now.get(*path) != Some(was))
                .map(|(path, _)| path)
                .collect();
            let new: Vec<&PathBuf> = now.keys().filter(|path| !done.files.contains_key(*path)).collect();
            case.fault(
                Fault::Lost,
                format!("the worktree is not what it was: other or gone {gone:?}, new {new:?}"),
            );
        }
        Err(why) => case.fault(Fault::Lost, format!("the worktree is not back: {why}")),
    }
    if let Err(why) = case.git_in(&done.worktree, &["status", "--porcelain"]) {
        case.fault(Fault::Lost, format!("git does not know the worktree any more: {why}"));
    }
    match case.status(done.name)? {
        Some(status) => {
            if let Some(dir) = case.task_dir(done.name) {
                let events = journal(&dir);
                invariants::in_sequence(case, &events);
                invariants::nothing_lost(case, &done.task, &events)?;
            }
            invariants::proof(case, &status)
        }
        None => {
            case.fault(Fault::Lost, "the task is not back");
            Ok(())
        }
    }
}

fn closing(case: &mut Case, done: &Done) -> Outcome {
    look(case, done.name)?;
    invariants::no_locks(case);
    invariants::nobody_left(case);
    done.users.check(case)
}

/// Nothing of the task is in the user's way any more.
fn is_away(case: &mut Case, done: &Done) -> Outcome {
    let left = case.git(&["branch", "--list", "dacapo/*", "--format=%(refname)"])?;
    if !left.is_empty() {
        case.fault(Fault::State, format!("the branch of the task that was put away is left: {left}"));
    }
    if done.worktree.exists() {
        case.fault(Fault::State, "the worktree of the task that was put away is left");
    }
    let worktrees = case.git(&["worktree", "list", "--porcelain"])?;
    if worktrees.lines().filter(|line| line.starts_with("worktree ")).count() != 1 {
        case.fault(Fault::State, format!("worktrees are left: {worktrees}"));
    }
    Ok(())
}

fn drop_and_undo(case: &mut Case) -> Outcome {
    let done = done(case, Checkout::Changed)?;
    strike(case, 90, &["drop", "t"])?;
    again(case, &["drop", "t"], &["not found", "already"])?;
    is_away(case, &done)?;
    again(case, &["undo", "t"], &[])?;
    is_back(case, &done)?;
    closing(case, &done)
}

fn undo(case: &mut Case) -> Outcome {
    let done = done(case, Checkout::Changed)?;
    again(case, &["drop", "t"], &[])?;
    strike(case, 70, &["undo", "t"])?;
    again(case, &["undo", "t"], &["already", "not found", "nothing"])?;
    is_back(case, &done)?;
    closing(case, &done)
}

fn merge(case: &mut Case, words: &[&str]) -> Outcome {
    let done = done(case, Checkout::Clean)?;
    let kept = commit_of_another(case, &done)?;
    strike(case, 240, words)?;
    again(case, words, &["not found", "already merged", "nothing to merge"])?;
    is_away(case, &done)?;
    for path in ["f0.txt", "f1.txt", "f2.txt"] {
        if case.git(&["cat-file", "-e", &format!("main:{path}")]).is_err() {
            case.fault(Fault::Lost, format!("main has no {path} after the merge"));
        }
    }
    let commits: u64 = case.git(&["rev-list", "--count", &format!("{kept}..main")])?.parse().unwrap_or(0);
    if commits > 5 {
        case.fault(Fault::Doubled, format!("the merge has put {commits} commits on main"));
    }
    main_is_green(case)?;
    let ran = again(case, &["undo", "t"], &[])?;
    if ran.is_some() {
        is_back(case, &done)?;
    }
    closing(case, &done)
}

/// Half of the merges are of a branch that is behind.
fn commit_of_another(case: &mut Case, done: &Done) -> Outcome<String> {
    if case.random.percent(50) {
        case.write("repo/other.txt", "by somebody else\n")?;
        case.git(&["add", "other.txt"])?;
        case.git(&["commit", "-qm", "other work", "--", "other.txt"])?;
    }
    let mut users = done.users.clone();
    users.committed(case)?;
    Ok(users.main)
}

/// A clone of main passes the task's check.
fn main_is_green(case: &mut Case) -> Outcome {
    let main = case.git(&["rev-parse", "main"])?;
    case.tally.count("proofs");
    if let Err(why) = clone::is_green(case, &main, super::task::CHECK)? {
        case.fault(Fault::FalseProof, format!("main is red after a merge: {why}"));
    }
    Ok(())
}

fn rename(case: &mut Case) -> Outcome {
    let mut done = done(case, Checkout::Changed)?;
    strike(case, 75, &["rename", "t", "u"])?;
    if case.task_dir("u").is_some() && case.random.percent(40) {
        // Whoever names the task next finishes it, too.
        again(case, &["tell", "u", "be quick"], &[])?;
    } else {
        again(case, &["rename", "t", "u"], &["it was renamed to 'u'"])?;
    }
    done.name = "u";
    done.worktree = done.worktree.with_file_name("u");
    is_renamed(case, &done)?;
    is_back(case, &done)?;
    match case.random.below(3) {
        // Its old name is free, and it can have that back.
        0 => {
            again(case, &["rename", "u", "t"], &[])?;
            done.name = "t";
            done.worktree = done.worktree.with_file_name("t");
        }
        1 => {
            again(case, &["drop", "u"], &[])?;
            is_away(case, &done)?;
            again(case, &["undo", "u"], &[])?;
        }
        _ => {}
    }
    is_back(case, &done)?;
    closing(case, &done)
}

/// Nothing has the old name, and what was proven still is.
fn is_renamed(case: &mut Case, done: &Done) -> Outcome {
    if case.task_dir("t").is_some() || done.worktree.with_file_name("t").exists() {
        case.fault(Fault::State, "something of the renamed task still has its old name");
    }
    let branches = case.git(&["branch", "--list", "dacapo/*", "--format=%(refname)"])?;
    if branches != "refs/heads/dacapo/u" {
        case.fault(Fault::State, format!("the branches of the renamed task are {branches}"));
    }
    let worktrees = case.git(&["worktree", "list", "--porcelain"])?;
    if worktrees.lines().any(|line| line.starts_with("locked")) {
        case.fault(Fault::StaleLock, format!("the worktree is locked: {worktrees}"));
    }
    if case.status(done.name)?.is_none_or(|status| status["verified"] != true) {
        case.fault(Fault::Lost, "the renamed task is proven no more");
    }
    Ok(())
}

fn prune(case: &mut Case) -> Outcome {
    let done = done(case, Checkout::Changed)?;
    again(case, &["drop", "t"], &[])?;
    strike(case, 60, &["prune", "--dropped"])?;
    again(case, &["prune", "--dropped"], &[])?;
    let held =
        case.git(&["for-each-ref", "--contains", &done.tip, "--format=%(refname)"]).unwrap_or_default();
    if held.is_empty() {
        case.fault(Fault::Lost, format!("after `prune` no ref holds the task's commit {}", done.tip));
    }
    is_away(case, &done)?;
    closing(case, &done)
}

/// A task whose agent is at work, in the background.
fn at_work(case: &mut Case) -> Outcome<(Users, Task)> {
    let users = world::make(case, Checkout::Changed)?;
    let desk = case.path("desk");
    let agent = PATIENT.replace("DESK", &desk.display().to_string());
    let task = Task::with_agent(case, Kind::Spawned, &agent)?;
    let ran = case.run(WORK, &task.words)?;
    if ran.code != 0 {
        return Err(format!("an undisturbed task did not start: {}", ran.said()));
    }
    let up = case.path("desk/up");
    let start = std::time::Instant::now();
    while !up.exists() && start.elapsed() < LOOK {
        // The agent says so by a file; nothing of it can be waited on from here.
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    Ok((users, task))
}

fn end_a_running_one(case: &mut Case) -> Outcome {
    let (users, task) = at_work(case)?;
    strike(case, 60, &["kill", "t"])?;
    again(case, &["kill", "t"], &["not running", "is cancelled", "already"])?;
    let status = case.status("t")?;
    if !matches!(invariants::word(status.as_ref()), "cancelled" | "interrupted") {
        case.fault(Fault::State, format!("killed, and it is {}", invariants::word(status.as_ref())));
    }
    invariants::nobody_left(case);
    case.write("desk/go", "")?;
    end(case, &task, &users)
}

fn steer_a_running_one(case: &mut Case) -> Outcome {
    let (users, task) = at_work(case)?;
    let orders: [&[&str]; 4] =
        [&["pause", "t"], &["tell", "t", "be quick"], &["set", "t", "max-cost=5"], &["wait", "t"]];
    for _ in 0..2 {
        let words = case.random.pick(&orders);
        if words[0] == "wait" {
            // It waits as long as the task works: a death of its own is all that can end it.
            let started = case.start(case.dacapo(words))?;
            std::thread::sleep(std::time::Duration::from_millis(case.random.next() % 200));
            super::processes::kill(started.pid());
            case.tally.count("killed-command");
            case.finish(started, WORK)?;
        } else {
            strike(case, 20, words)?;
        }
    }
    case.write("desk/go", "")?;
    end(case, &task, &users)
}

fn end(case: &mut Case, task: &Task, users: &Users) -> Outcome {
    super::task::wait(case, task)?;
    if let Some(status) = settle(case, task)? {
        invariants::check(case, task, &status, Suffered::More)?;
    }
    users.check(case)
}
