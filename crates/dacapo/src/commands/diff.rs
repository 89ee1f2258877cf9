//! `dacapo diff`: what a task changed, by the user's own git.

use std::process::Command;

use dacapo_app::messages::{Messages, say};
use dacapo_app::operations::diff::Diff;
use dacapo_app::present::json::Object;
use dacapo_app::present::json::objects::{ChangedFile, Diff as DiffObject, FileChange};
use dacapo_core::event::UntrackedFate;
use dacapo_core::git::{Change, ChangeKind, Oid, display_path};
use dacapo_core::view::TaskView;

use crate::args::Diff as Args;
use crate::commands::Console;
use crate::error::Failure;
use crate::output::{report, untracked, words};

pub(super) fn run(app: &Console, args: &Args) -> Result<u8, Failure> {
    let diff = app.diff(args.name.as_deref(), args.part())?;
    let files = if args.json { diff.files()? } else { Vec::new() };
    let Diff { repo, view, from, to, paths } = diff;
    let Some(to) = to else {
        if args.json {
            app.print(&shown(&view, None, None, Vec::new()));
        } else {
            app.print(&if args.tests { app.messages.diff_no_tests() } else { app.messages.diff_nothing() });
        }
        return Ok(0);
    };
    if args.json {
        app.print(&shown(&view, from, Some(to), files.iter().map(changed).collect()));
        return Ok(0);
    }
    if !args.tests {
        tell_of_untracked(args, &view, app.messages);
    }
    let mut git = Command::new("git");
    crate::scrub(&mut git).arg("-C").arg(repo.toplevel()).args(["--literal-pathspecs", "diff"]);
    if args.stat {
        git.arg("--stat");
    }
    match &from {
        Some(from) => git.arg(from.as_str()),
        // Everything is new: against the empty tree, whose id git itself knows.
        None => git.arg(empty_tree(&repo)?),
    };
    let status = git.arg(to.as_str()).arg("--").args(paths).status();
    let status = status.map_err(|error| Failure::failed(say(|m| m.diff_no_git(&error.to_string()))))?;
    // A pager that was left early is no failure.
    Ok(if status.success() || status.code().is_none() { 0 } else { 1 })
}

fn shown(view: &TaskView, from: Option<Oid>, to: Option<Oid>, files: Vec<ChangedFile>) -> String {
    let diff = DiffObject {
        task: view.name.clone(),
        from_commit: from,
        to_commit: to,
        files,
        untracked_before: view.untracked.touched.clone(),
    };
    Object::Diff(diff).line()
}

fn changed(file: &Change) -> ChangedFile {
    let change = match file.kind {
        ChangeKind::Added => FileChange::Added,
        ChangeKind::Modified => FileChange::Modified,
        ChangeKind::Deleted => FileChange::Deleted,
        ChangeKind::TypeChanged => FileChange::TypeChanged,
    };
    ChangedFile { path: display_path(&file.path), change }
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
    let output = crate::scrub(&mut Command::new("git"))
        .arg("-C")
        .arg(repo.toplevel())
        .args(["hash-object", "-t", "tree", "/dev/null"])
        .output()
        .map_err(|error| Failure::failed(say(|m| m.diff_no_git(&error.to_string()))))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
