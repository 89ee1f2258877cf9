//! The yardstick of every proof: a fresh clone, set up and checked by somebody who has nothing else of the case.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::case::{Case, WORK};
use super::tally::Fault;
use crate::Outcome;

/// What nobody else would have: the agent's worktrees, the user's checkout, and both temporary directories.
const OUT_OF_REACH: [&str; 3] = ["data", "repo", "tmp"];

/// Whether the check holds in a fresh clone of a commit; else why not.
pub(super) fn is_green(case: &mut Case, commit: &str, check: &str) -> Outcome<Result<(), String>> {
    Ok(judge(case, commit, check)?.map(drop))
}

/// What the check says in a fresh clone of a commit where it holds; else why it does not.
pub(super) fn judge(case: &mut Case, commit: &str, check: &str) -> Outcome<Result<String, String>> {
    let Some(clone) = fresh(case, commit)? else { return Ok(Err("it cannot be cloned".to_owned())) };
    for name in OUT_OF_REACH {
        rename(&case.path(name), &case.path(&format!("away-{name}")))?;
    }
    let judged = set_up_and_check(case, &clone, check);
    for name in OUT_OF_REACH {
        rename(&case.path(&format!("away-{name}")), &case.path(name))?;
    }
    let judged = judged?;
    if judged.is_ok() {
        fs::remove_dir_all(&clone).map_err(|e| format!("cannot remove {}: {e}", clone.display()))?;
    }
    Ok(judged)
}

/// If `main` has moved, a clone of it must pass the check.
pub(super) fn main_is_green(case: &mut Case, before: &str, check: &str) -> Outcome {
    let main = case.git(&["rev-parse", "main"])?;
    if main == before {
        return Ok(());
    }
    case.tally.count("merged");
    if let Err(why) = is_green(case, &main, check)? {
        case.fault(Fault::FalseProof, format!("merged into main, and `{check}` there: {why}"));
    }
    Ok(())
}

fn set_up_and_check(case: &mut Case, clone: &Path, check: &str) -> Outcome<Result<String, String>> {
    let mut said = String::new();
    for command in [case.setup.clone(), vec![check.to_owned()]].concat() {
        let mut shell = Command::new("sh");
        case.dress_as_stranger(&mut shell)?;
        shell.args(["-c", &command]).current_dir(clone);
        let started = case.start(shell)?;
        let ran = case.finish(started, WORK)?;
        if ran.code != 0 {
            return Ok(Err(format!("`{command}` in a fresh clone: {}", ran.said())));
        }
        said = format!("{}\n{}", ran.out, ran.err);
    }
    Ok(Ok(said))
}

/// A checkout of a commit as anybody would get it; every object in it is what its name says.
fn fresh(case: &mut Case, commit: &str) -> Outcome<Option<PathBuf>> {
    let clone = case.path("clone");
    for old in [&clone, &case.path("stranger")] {
        let _ = fs::remove_dir_all(old);
    }
    let (repo, there) = (case.repo().display().to_string(), clone.display().to_string());
    let words: [&[&str]; 3] = [
        &["clone", "-q", "--no-local", "--no-checkout", &repo, &there],
        // Commits of a task may be held by a ref that a clone does not take along.
        &["-C", &there, "fetch", "-q", "origin", "+refs/*:refs/torture/*"],
        &["-C", &there, "checkout", "-q", "--detach", commit],
    ];
    for words in words {
        let mut git = Command::new("git");
        case.dress_as_stranger(&mut git)?;
        git.args(words);
        let started = case.start(git)?;
        if case.finish(started, WORK)?.code != 0 {
            return Ok(None);
        }
    }
    Ok(Some(clone))
}

fn rename(from: &Path, to: &Path) -> Outcome {
    fs::rename(from, to).map_err(|e| format!("cannot move {}: {e}", from.display()))
}
