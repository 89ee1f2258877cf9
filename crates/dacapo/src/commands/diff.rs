//! `dacapo diff`: what a task changed, by the user's own git.

use std::process::Command;

use dacapo_app::messages::{Messages, say};
use dacapo_app::operations::diff::Diff;
use dacapo_core::event::UntrackedFate;
use dacapo_core::git::{ChangeKind, display_path};
use dacapo_core::view::TaskView;
use serde_json::json;

use crate::args::Diff as Args;
use crate::commands::Console;
use crate::error::Failure;
use crate::output::{report, untracked, words};

pub(super) fn run(app: &Console, args: &Args) -> Result<u8, Failure> {
    let diff = app.diff(args.name.as_deref(), args.iteration)?;
    let files = if args.json { diff.files()? } else { Vec::new() };
    let Diff { repo, view, from, to } = diff;
    let Some(to) = to else {
        if args.json {
            app.print(&json!({"task": view.name, "files": []}).to_string());
        } else {
            app.print(&app.messages.diff_nothing());
        }
        return Ok(0);
    };
    if args.json {
        let files: Vec<_> = files
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
        let mut shown = json!({"task": view.name, "from": from, "to": to, "files": files});
        if !view.untracked.touched.is_empty() {
            shown["untracked_before"] = json!(view.untracked.touched);
        }
        app.print(&shown.to_string());
        return Ok(0);
    }
    tell_of_untracked(args, &view, app.messages);
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
    let status = status.map_err(|error| Failure::failed(say(|m| m.diff_no_git(&error.to_string()))))?;
    // A pager that was left early is no failure.
    Ok(if status.success() || status.code().is_none() { 0 } else { 1 })
}

/// Of a file that was untracked before the task all of it is new to git: that is not what the task did to it.
fn tell_of_untracked(args: &Args, view: &TaskView, messages: Messages) {
    let wanted = args.iteration.map(|number| number.saturating_sub(1));
    let files = view.untracked.touched.iter().filter(|touched| {
        touched.file.fate == UntrackedFate::Committed && (wanted.is_none() || touched.iteration == wanted)
    });
    for text in
        untracked::touched(files.map(|file| (file.iteration, &file.file)), report::unit(view), messages)
    {
        complain!("{}{}", messages.label_remark(), words::line(&text, words::WHOLE));
    }
}

fn empty_tree(repo: &dacapo_core::git::Repo) -> Result<String, Failure> {
    let output = Command::new("git")
        .arg("-C")
        .arg(repo.toplevel())
        .args(["hash-object", "-t", "tree", "/dev/null"])
        .output()
        .map_err(|error| Failure::failed(say(|m| m.diff_no_git(&error.to_string()))))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
