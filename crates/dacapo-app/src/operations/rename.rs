//! Gives a task another name, with its worktree and branch (S17).

use std::path::{Path, PathBuf};

use dacapo_core::dropped::DropReason;
use dacapo_core::git::{Repo, WorktreeError};
use dacapo_core::recovery::end_leftovers_of;
use dacapo_core::renaming::{RenameError, Renaming};
use dacapo_core::spec::TaskName;
use dacapo_core::store::{LockError, RenameRecord, RepoDir, TaskDir, TaskLocation};

use crate::App;
use crate::error::{Failure, Kind};
use crate::inside_task;
use crate::messages::{Messages, Text, command, say};
use crate::note::Note;
use crate::operations::tasks::{still_finishing, vouched_spec};
use crate::present::errors::{self, InWords as _};

/// What every refusal keeps.
fn unrenamed() -> Text {
    say(|m| m.kept_nothing_renamed())
}

/// A task that has its new name.
#[derive(Debug)]
pub struct Renamed {
    pub dir: TaskDir,
    /// What it was called before, and is now.
    pub record: RenameRecord,
}

impl App {
    /// Renames a task that is not running. One that was cut short is finished.
    pub fn rename(&self, name: &str, new_name: &str) -> Result<Renamed, Failure> {
        rename(self, name, new_name)
    }
}

fn rename(app: &App, name: &str, new_name: &str) -> Result<Renamed, Failure> {
    let (repo, data) = app.repository()?;
    if let Some((dir, record)) = unfinished_rename(&data, name, new_name) {
        finish(app, &repo, &data, &dir, &record)?;
        return Ok(Renamed { dir, record });
    }
    let (_, dir) = app.task(Some(name)).map_err(|failure| failure.kept(unrenamed()))?;
    let to = TaskName::parse(new_name).map_err(|error| {
        let close = TaskName::from_prompt(new_name);
        Failure::usage(say(|m| m.task_invalid_name(new_name)))
            .kept(unrenamed())
            .hint(command(format_args!("rename {name} {close}")))
            .caused_by(error)
    })?;
    let from = dir.name();
    if from == to.as_str() {
        return Err(Failure::usage(say(|m| m.rename_same_name(&from)))
            .kept(unrenamed())
            .hint(command(format_args!("rename {from} NEW"))));
    }
    let lock = dir.lock().map_err(|error| match error {
        LockError::Held => Failure::usage(say(|m| m.task_still_running(&from)))
            .kept(unrenamed())
            .hint(say(|m| m.kill_it_first(&from)))
            .hint(say(|m| m.rename_wait(&from))),
        LockError::Lingering => still_finishing(&from).kept(unrenamed()),
        LockError::Io { .. } | LockError::RenameUnfinished { .. } => {
            Failure::failed(errors::text(&error)).kept(unrenamed())
        }
    })?;
    app.tell_of_leftovers(&dir, &end_leftovers_of(&dir, &lock, app.kinds));
    let spec = vouched_spec(&dir).map_err(|failure| {
        failure.kept(unrenamed()).hint(say(|m| m.hint_look_at(&dir.path().display().to_string())))
    })?;
    is_outside(app, &repo, &[&TaskLocation::of(&spec)], &spec.top, &format!("rename {from} {to}"))?;
    let _at_work = app.at_work(&repo, &data);
    match Renaming::of(&repo, &data, app.kinds).rename(&dir, &lock, &to) {
        Ok((dir, record)) => {
            drop(lock);
            Ok(Renamed { dir, record })
        }
        Err(error) => {
            let came_to = match data.task(&to).unfinished_rename() {
                Some(_) => CameTo::Unfinished,
                None => CameTo::Nothing,
            };
            Err(not_renamed((&from, to.as_str()), error, came_to))
        }
    }
}

/// The rename that is asked for, where it was cut short before.
fn unfinished_rename(data: &RepoDir, name: &str, new_name: &str) -> Option<(TaskDir, RenameRecord)> {
    let dir = data.task(&TaskName::parse(new_name).ok()?);
    let record = dir.unfinished_rename().filter(|record| record.from.name.as_str() == name)?;
    Some((dir, record))
}

/// The shell of somebody who is in the worktree would be in a directory that is gone.
fn is_outside(
    app: &App,
    repo: &Repo,
    places: &[&TaskLocation],
    top: &Path,
    again: &str,
) -> Result<(), Failure> {
    let here = app.here()?.to_owned();
    let here = [here.canonicalize().unwrap_or(here), repo.toplevel().to_owned()];
    let is_in = |worktree: &PathBuf| {
        let worktree = worktree.canonicalize().unwrap_or_else(|_| worktree.clone());
        here.iter().any(|here| here.starts_with(&worktree))
    };
    match places.iter().find(|place| place.worktree.as_ref().is_some_and(|own| is_in(&own.path))) {
        Some(place) => Err(Failure::usage(say(|m| m.rename_inside_worktree(place.name.as_str())))
            .kept(unrenamed())
            .hint(say(|m| m.rename_from(&top.display().to_string(), &m.command(again))))),
        None => Ok(()),
    }
}

/// Finishes a rename that was cut short.
fn finish(
    app: &App,
    repo: &Repo,
    data: &RepoDir,
    dir: &TaskDir,
    record: &RenameRecord,
) -> Result<(), Failure> {
    let (from, to) = (record.from.name.as_str(), record.to.name.as_str());
    let top = dir.spec().map(|spec| spec.top).unwrap_or_default();
    is_outside(app, repo, &[&record.from, &record.to], &top, &format!("rename {from} {to}"))?;
    // `lock` itself refuses a task in the middle of a rename.
    let lock = dir.lock_to_rename().map_err(|error| match error {
        LockError::Held => {
            Failure::usage(say(|m| m.rename_under_way(to))).kept(say(|m| m.rename_kept_goes_on()))
        }
        LockError::Lingering => still_finishing(to),
        LockError::Io { .. } | LockError::RenameUnfinished { .. } => Failure::failed(errors::text(&error)),
    })?;
    let _at_work = app.at_work(repo, data);
    let done = Renaming::of(repo, data, app.kinds).finish(dir, &lock);
    done.map(drop).map_err(|error| not_renamed((from, to), error, CameTo::Unfinished))
}

/// Finishes a rename of this task that was cut short, if there is one. Where that is not possible, commands that only look go
/// on; the others do not get the task's lock.
pub(crate) fn finish_begun(app: &App, repo: &Repo, data: &RepoDir, dir: &TaskDir) -> bool {
    let Some(record) = dir.unfinished_rename() else { return false };
    // Not for agents, which may look at tasks.
    if inside_task::is_inside(app).unwrap_or(true) {
        return false;
    }
    match finish(app, repo, data, dir, &record) {
        Ok(()) => {
            let (from, to) = (record.from.name.to_string(), record.to.name.to_string());
            app.note(&Note::RenameFinished { from, to });
            true
        }
        Err(failure) => {
            app.note(&Note::RenameUnfinished { failure: say(|m| failure.shown(m).to_string()) });
            false
        }
    }
}

/// Finishes all renames of the repository that were cut short; whether there was any.
pub(crate) fn finish_all(app: &App, repo: &Repo, data: &RepoDir) -> bool {
    let tasks = data.tasks().unwrap_or_default();
    tasks.iter().filter(|dir| finish_begun(app, repo, data, dir)).count() > 0
}

/// The current name of the task that was called `name` before it was renamed.
pub(crate) fn renamed_to(data: &RepoDir, name: &str) -> Option<String> {
    let tasks = data.tasks().unwrap_or_default();
    let was = |dir: &TaskDir| {
        let record = dir.rename_record().ok().flatten()?;
        (record.from.name.as_str() == name && dir.name() != name).then(|| dir.name())
    };
    tasks.iter().find_map(was)
}

/// How far a rename came that failed.
#[derive(Clone, Copy)]
enum CameTo {
    Nothing,
    /// The task has its new name, worktree and branch may not.
    Unfinished,
}

fn not_renamed((from, to): (&str, &str), error: RenameError, came_to: CameTo) -> Failure {
    let again = format!("rename {from} {to}");
    let failure = match came_to {
        CameTo::Nothing => Failure::usage(say(|m| reason(&error, to, m))).kept(unrenamed()),
        CameTo::Unfinished => Failure::failed(say(|m| m.rename_unfinished(to, &reason(&error, to, m))))
            .kept(say(|m| m.rename_kept_unfinished(from, to))),
    };
    // What stands in the way, where another name would do as well.
    let or_choose = |todo: &dyn Fn(Messages) -> String| match came_to {
        CameTo::Nothing => say(|m| m.rename_do_or_choose(&todo(m))),
        CameTo::Unfinished => say(|m| m.rename_do_then_finish(&todo(m), &m.command(&again))),
    };
    let then_again =
        |todo: &dyn Fn(Messages) -> String| say(|m| m.rename_do_then(&todo(m), &m.command(&again)));
    match &error {
        RenameError::NameTaken(name) => failure.hint(say(|m| m.rename_choose_other(name))),
        RenameError::NameFixed { .. } => failure.hint(say(|m| m.rename_start_anew())),
        RenameError::Kind(_) => failure.hint(say(|m| m.rename_newer_version())),
        RenameError::PutAway(kept) => match kept.why {
            DropReason::Dropped => failure
                .hint(say(|m| m.rename_drop_continues(from)))
                .hint(say(|m| m.rename_undo_takes_back(from))),
            DropReason::Merged { .. } => failure
                .hint(say(|m| m.rename_merge_continues(from)))
                .hint(say(|m| m.rename_undo_takes_back(from))),
        },
        RenameError::Worktree(worktree) => match worktree {
            WorktreeError::PathExists(path) => {
                failure.hint(or_choose(&|m| m.rename_move(&path.display().to_string())))
            }
            WorktreeError::BranchExists(branch) => {
                failure.hint(or_choose(&|m| m.rename_branch_or_delete(branch)))
            }
            WorktreeError::BranchConflict { existing, .. } => {
                failure.hint(or_choose(&|_| format!("git branch -m {existing} OTHER")))
            }
            WorktreeError::CheckedOut { at, .. } => {
                failure.hint(then_again(&|m| m.rename_switch(&at.display().to_string())))
            }
            WorktreeError::InOperation(path) => {
                failure.hint(then_again(&|m| m.rename_finish_operation(&path.display().to_string())))
            }
            WorktreeError::BranchMoved(_)
            | WorktreeError::OtherFileSystem { .. }
            | WorktreeError::Busy(_)
            | WorktreeError::Discover(_)
            | WorktreeError::Git(_) => failed(failure).hint(then_again(&|m| m.fix_the_cause())),
        },
        RenameError::Dropped(_)
        | RenameError::Record(_)
        | RenameError::Journal(_)
        | RenameError::File { .. } => failed(failure).hint(then_again(&|m| m.fix_the_cause())),
    }
    .caused_by(error)
}

fn failed(failure: Failure) -> Failure {
    Failure { kind: Kind::Failed, ..failure }
}

fn reason(error: &RenameError, to: &str, messages: Messages) -> String {
    match error {
        RenameError::Worktree(WorktreeError::PathExists(_)) => messages.rename_worktree_exists(to),
        RenameError::PutAway(_)
        | RenameError::NameTaken(_)
        | RenameError::NameFixed { .. }
        | RenameError::Kind(_)
        | RenameError::Worktree(_)
        | RenameError::Dropped(_)
        | RenameError::Record(_)
        | RenameError::Journal(_)
        | RenameError::File { .. } => error.in_words(messages),
    }
}
