//! `dacapo diff`: what a task changed, by the user's own git.

use std::process::Command;

use dacapo_core::git::{ChangeKind, Oid, display_path};
use dacapo_core::view::TaskView;
use serde_json::json;

use super::{print, task, view};
use crate::args::Diff;
use crate::error::Failure;

pub(super) fn run(args: &Diff) -> Result<u8, Failure> {
    let (repo, dir) = task(args.name.as_deref())?;
    let view = view(&dir)?;
    let (from, to) = range(args, &view)?;
    let Some(to) = to.filter(|to| Some(to) != from.as_ref()) else {
        if args.json {
            print(&json!({"task": view.name, "files": []}).to_string());
        } else {
            print("nothing was committed");
        }
        return Ok(0);
    };
    if args.json {
        let changed =
            repo.changed_between(from.as_ref(), &to).map_err(|error| Failure::failed(error.to_string()))?;
        let files: Vec<_> = changed
            .iter()
            .map(|change| {
                let kind = match change.kind {
                    ChangeKind::Added => "added",
                    ChangeKind::Modified => "modified",
                    ChangeKind::Deleted => "deleted",
                    ChangeKind::TypeChanged => "type_changed",
                };
                json!({"path": display_path(&change.path), "change": kind})
            })
            .collect();
        print(&json!({"task": view.name, "from": from, "to": to, "files": files}).to_string());
        return Ok(0);
    }
    let mut git = Command::new("git");
    git.arg("-C").arg(repo.toplevel()).arg("diff");
    if args.stat {
        git.arg("--stat");
    }
    match &from {
        Some(from) => git.arg(from.as_str()),
        // Everything is new: against the empty tree, whose id git itself knows.
        None => git.arg(empty_tree(&repo)?),
    };
    let status = git.arg(to.as_str()).arg("--").status();
    let status = status.map_err(|error| Failure::failed(format!("cannot run git diff: {error}")))?;
    // A pager that was left early is no failure.
    Ok(if status.success() || status.code().is_none() { 0 } else { 1 })
}

fn empty_tree(repo: &dacapo_core::git::Repo) -> Result<String, Failure> {
    let output = Command::new("git")
        .arg("-C")
        .arg(repo.toplevel())
        .args(["hash-object", "-t", "tree", "/dev/null"])
        .output()
        .map_err(|error| Failure::failed(format!("cannot run git: {error}")))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn range(args: &Diff, view: &TaskView) -> Result<(Option<Oid>, Option<Oid>), Failure> {
    let Some(number) = args.iteration else {
        return Ok((view.base_commit.clone(), view.last_commit.clone()));
    };
    let index = number.checked_sub(1).map(|index| index as usize);
    let Some(record) = index.and_then(|index| view.iterations.get(index)) else {
        return Err(Failure::usage(format!("task '{}' has no iteration {number}", view.name))
            .hint(format!("it has {}: --iteration 1 is the first", view.iterations.len())));
    };
    let before =
        view.iterations[..index.unwrap_or(0)].iter().rev().find_map(|record| record.commit_id.clone());
    Ok((before.or_else(|| view.base_commit.clone()), record.commit_id.clone()))
}
