//! `dacapo drop`: removes a task with its worktree and branch, and keeps all of it (S9).

use clap::Args;
use dacapo_core::dropped::{DropError, Dropped, Kept, Why};
use dacapo_core::git::WorktreeError;
use dacapo_core::recovery::end_leftovers_of;
use dacapo_core::spec::{Place, TaskName, TaskSpec};
use dacapo_core::store::{Lock, LockError, RepoDir, TaskDir};

use super::resume::still_finishing;
use super::{at_work, print, repository};
use crate::error::{Failure, suggest};
use crate::output::words::{DIM, paint};

/// Flags of `drop`.
#[derive(Debug, Args)]
pub struct Drop {
    /// The tasks: a,b
    #[arg(value_name = "NAME", required = true, value_delimiter = ',')]
    pub names: Vec<String>,
    /// Print what was dropped as JSON lines
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &Drop) -> Result<u8, Failure> {
    let (repo, data) = repository()?;
    let dropped = Dropped::of(&repo, &data);
    // All of them are looked at, and locked, before the first one goes: bad input changes nothing.
    let mut names: Vec<&str> = Vec::new();
    for name in args.names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut tasks = Vec::new();
    for name in names {
        let dir = find(name, &data, &dropped)?;
        let lock = take(&dir)?;
        super::tell_of_leftovers(&dir, &end_leftovers_of(&dir, &lock));
        let spec = dir.spec().map_err(|error| {
            Failure::failed(error.to_string())
                .kept("everything; nothing was dropped")
                .hint(format!("look at {}", dir.path().display()))
        })?;
        dropped.can_put_away(&spec).map_err(|error| not_put_away(&spec, error))?;
        tasks.push((dir, spec, lock));
    }
    if tasks.is_empty() {
        return Err(Failure::usage("which task?").hint("dacapo list shows the tasks of this repository"));
    }
    let _at_work = at_work(&repo, &data);
    let here = std::env::current_dir().ok();
    for (dir, spec, lock) in tasks {
        let kept = dropped.put_away(&dir, &spec, Why::Dropped).map_err(|error| not_put_away(&spec, error))?;
        std::mem::drop::<Lock>(lock);
        if args.json {
            print(&shown(&kept, &dropped).to_string());
            continue;
        }
        print(&said(&kept, &spec));
        let stood_in_it = kept.worktree.as_ref().zip(here.as_ref()).is_some_and(|(at, here)| {
            here.starts_with(at) || at.canonicalize().is_ok_and(|at| here.starts_with(at))
        });
        if stood_in_it {
            print(&paint(DIM, &format!("  this directory went with it: cd {}", spec.top.display())));
        }
    }
    Ok(0)
}

fn find(name: &str, data: &RepoDir, dropped: &Dropped<'_>) -> Result<TaskDir, Failure> {
    if let Some(dir) = TaskName::parse(name).ok().map(|name| data.task(&name)).filter(TaskDir::exists) {
        return Ok(dir);
    }
    let kept = dropped.all().unwrap_or_default();
    if kept.iter().any(|kept| kept.name == name && kept.why == Why::Dropped) {
        return Err(Failure::usage(format!("Task '{name}' is dropped already"))
            .hint(format!("dacapo undo {name} brings it back")));
    }
    let names: Vec<String> = data.tasks().unwrap_or_default().iter().map(TaskDir::name).collect();
    let failure = Failure::usage(format!("Task '{name}' not found")).kept("everything; nothing was dropped");
    Err(match suggest(name, names.iter().map(String::as_str)) {
        Some(close) => failure.hint(format!("did you mean '{close}'?")),
        None => failure.hint("dacapo list shows the tasks of this repository"),
    })
}

fn take(dir: &TaskDir) -> Result<Lock, Failure> {
    let name = dir.name();
    dir.lock().map_err(|error| match error {
        LockError::Held => Failure::usage(format!("Task '{name}' is still running."))
            .kept("everything; nothing was dropped")
            .hint(format!("dacapo kill {name}"))
            .hint(format!("dacapo wait {name}")),
        LockError::Lingering => still_finishing(&name),
        LockError::Io { .. } => Failure::failed(error.to_string()),
    })
}

/// Why a task could not be put away, and what would help.
pub(super) fn not_put_away(spec: &TaskSpec, error: DropError) -> Failure {
    let name = &spec.name;
    let failure =
        Failure::usage(format!("Task '{name}' cannot be dropped: {error}")).kept("all of it, where it was");
    match &error {
        DropError::Worktree(WorktreeError::CheckedOut { at, .. }) => {
            failure.hint(format!("git -C {} switch main, or another branch", at.display()))
        }
        DropError::Worktree(WorktreeError::Locked { path, .. }) => {
            failure.hint(format!("git worktree unlock {}", path.display()))
        }
        DropError::Worktree(WorktreeError::BranchMoved(_)) => {
            failure.hint("see who works there; then try again")
        }
        DropError::Worktree(WorktreeError::OtherFileSystem { to, .. }) => {
            let dropped = to.ancestors().nth(2).unwrap_or(to);
            failure.hint(format!("let {} be a directory where the worktrees are", dropped.display()))
        }
        DropError::Worktree(_) | DropError::File { .. } | DropError::Lock(_) | DropError::NameTaken(_) => {
            Failure { kind: crate::error::Kind::Failed, ..failure }
                .kept("all of it: what has moved is in dropped/ and under refs/dacapo/rescue/")
                .hint(format!(
                    "mend the cause, then dacapo drop {name} goes on, or dacapo undo {name} takes it back"
                ))
        }
    }
    .caused_by(error)
}

fn said(kept: &Kept, spec: &TaskSpec) -> String {
    let name = &kept.name;
    let what = match (&spec.place, &kept.tip, &kept.branch) {
        (Place::InPlace { .. }, _, _) => "its record; its commits stay where they are".to_owned(),
        (_, Some(tip), Some(branch)) => {
            let branch = branch.strip_prefix("refs/heads/").unwrap_or(branch);
            let merged = if kept.merged { "merged" } else { "not merged" };
            format!("worktree and branch {branch} at {} ({merged})", tip.short())
        }
        _ => "its record".to_owned(),
    };
    format!("dropped {name}: {what}\n{}", paint(DIM, &format!("  dacapo undo {name} brings it back")))
}

/// One that was put away, for programs.
pub(super) fn shown(kept: &Kept, dropped: &Dropped<'_>) -> serde_json::Value {
    let mut value = serde_json::to_value(kept).unwrap_or_default();
    if let Some(object) = value.as_object_mut() {
        object.remove("tag");
        object.insert("type".into(), "dropped".into());
        object.insert("path".into(), dropped.path(kept).display().to_string().into());
    }
    value
}
