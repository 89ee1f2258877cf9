//! Removes a task with its worktree and branch, and keeps all of it (S9).

use dacapo_core::dropped::{DropError, DropReason, Dropped, DroppedRecord};
use dacapo_core::git::{Repo, WorktreeError};
use dacapo_core::recovery::end_leftovers_of;
use dacapo_core::spec::{TaskName, TaskSpec};
use dacapo_core::store::{Lock, LockError, RepoDir, TaskDir};
use dacapo_core::view::TaskView;

use super::rename::{finish_begun, renamed_to};
use crate::App;
use crate::error::{Failure, suggest};
use crate::messages::say;
use crate::operations::tasks::{distinct, still_finishing};
use crate::present::errors::{self, InWords as _};

/// A task that was put away.
#[derive(Debug)]
pub struct DroppedTask {
    /// What was kept of it.
    pub kept: DroppedRecord,
    pub spec: TaskSpec,
    /// Where what was untracked before it is still held.
    pub untracked: Vec<String>,
    /// Where everything is that is no part of git.
    pub path: String,
}

/// What came of a drop: tasks go one by one.
#[derive(Debug)]
pub struct Drops {
    pub done: Vec<DroppedTask>,
    /// Why the next one is not.
    pub failure: Option<Failure>,
}

impl App {
    /// Removes tasks with their worktrees and branches, and keeps all of it (S9). All of them are looked at, and locked, before
    /// the first one goes: bad input changes nothing.
    pub fn drop_tasks(&self, names: &[String]) -> Result<Drops, Failure> {
        let (repo, data) = self.repository()?;
        let dropped = Dropped::of(&repo, &data, self.kinds);
        let mut tasks = Vec::new();
        for name in distinct(names)? {
            let dir = find(self, name, &repo, &data)?;
            // All locks are held until the end: a task that is dropped last must not start while the first ones go.
            let lock = take(&dir)?;
            repo.hand_down(&lock);
            self.tell_of_leftovers(&dir, &end_leftovers_of(&dir, &lock, self.kinds));
            let spec = dir.spec_of_any_format().map_err(|error| {
                Failure::failed(errors::text(&error))
                    .kept(say(|m| m.kept_nothing_dropped()))
                    .hint(say(|m| m.hint_look_at(&dir.path().display().to_string())))
            })?;
            dropped.can_put_away(&spec).map_err(|error| not_put_away(&spec, error))?;
            tasks.push((dir, spec, lock));
        }
        // Marked only now, when git begins to change something: the mark says whose locks git may have left.
        let _at_work = self.at_work(&repo, &data);
        let mut drops = Drops { done: Vec::new(), failure: None };
        for (dir, spec, lock) in tasks {
            // What is wrong with its record is no reason to keep it.
            let untracked =
                TaskView::fold(&dir, self.kinds).map(|view| view.untracked.kept).unwrap_or_default();
            match dropped.put_away(&dir, &spec, DropReason::Dropped) {
                Ok(kept) => {
                    drop(lock);
                    let path = dropped.path(&kept).display().to_string();
                    drops.done.push(DroppedTask { kept, spec, untracked, path });
                }
                Err(error) => {
                    drops.failure = Some(not_put_away(&spec, error));
                    break;
                }
            }
        }
        Ok(drops)
    }
}

fn find(app: &App, name: &str, repo: &Repo, data: &RepoDir) -> Result<TaskDir, Failure> {
    if let Some(dir) = TaskName::parse(name).ok().map(|name| data.task(&name)).filter(TaskDir::exists) {
        finish_begun(app, repo, data, &dir);
        return Ok(dir);
    }
    let kept = Dropped::of(repo, data, app.kinds).all().unwrap_or_default();
    if kept.iter().any(|kept| kept.name == name && kept.why == DropReason::Dropped) {
        return Err(Failure::usage(say(|m| m.drop_already(name))).hint(say(|m| m.undo_brings_back(name))));
    }
    let names: Vec<String> = data.tasks().unwrap_or_default().iter().map(TaskDir::name).collect();
    let failure = Failure::usage(say(|m| m.task_not_found(name))).kept(say(|m| m.kept_nothing_dropped()));
    if let Some(now) = renamed_to(data, name) {
        return Err(failure.hint(say(|m| m.task_was_renamed(&now))));
    }
    Err(match suggest(name, names.iter().map(String::as_str)) {
        Some(close) => failure.hint(say(|m| m.hint_did_you_mean(close))),
        None => failure.hint(say(|m| m.hint_list_shows_tasks())),
    })
}

fn take(dir: &TaskDir) -> Result<Lock, Failure> {
    let name = dir.name();
    dir.lock().map_err(|error| match error {
        LockError::Held => Failure::usage(say(|m| m.task_still_running(&name)))
            .kept(say(|m| m.kept_nothing_dropped()))
            .hint(say(|m| m.kill_it_first(&name)))
            .hint(say(|m| m.hint_wait_waits(&name))),
        LockError::Lingering => still_finishing(&name),
        LockError::Io { .. } | LockError::RenameUnfinished { .. } => Failure::failed(errors::text(&error)),
    })
}

/// Why a task could not be put away, and what would help.
fn not_put_away(spec: &TaskSpec, error: DropError) -> Failure {
    let name = spec.name.as_str();
    let failure = Failure::usage(say(|m| m.drop_refused(name, &error.in_words(m))))
        .kept(say(|m| m.drop_kept_in_place()));
    match &error {
        DropError::Worktree(WorktreeError::CheckedOut { at, .. }) => {
            failure.hint(say(|m| m.drop_switch_branch(&at.display().to_string())))
        }
        DropError::Worktree(WorktreeError::BranchMoved(_)) => failure.hint(say(|m| m.drop_see_who_works())),
        DropError::Worktree(WorktreeError::OtherFileSystem { to, .. }) => {
            let dropped = to.ancestors().nth(2).unwrap_or(to);
            failure.hint(say(|m| m.drop_same_file_system(&dropped.display().to_string())))
        }
        DropError::Worktree(_) | DropError::File { .. } | DropError::Lock(_) | DropError::NameTaken(_) => {
            Failure { kind: crate::error::Kind::Failed, ..failure }
                .kept(say(|m| m.drop_kept_partly_moved()))
                .hint(say(|m| m.drop_fix_then_again(name)))
        }
    }
    .caused_by(error)
}
