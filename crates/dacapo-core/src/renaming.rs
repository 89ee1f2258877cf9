//! Renaming a task (S17): its record, its worktree, its branch, and what a merge put away of it.
//!
//! ```text
//! name.json: from, to ─► the task's directory is renamed ─► `renamed` in the journal
//!   ─► worktree and branch (git/relocate.rs) ─► dropped.json of what was put away ─► name.json: done
//! ```
//!
//! The task has its new name as soon as its directory has it (`store/rename_record.rs`). Killed before that, nothing has
//! changed, and the record that was left has no effect. Killed after it, the rest is done by whoever gives the same order
//! again or names the task next; until then nobody else gets the task's lock. Each step leaves alone what it finds done.
//!
//! Lines of the journal, commits, refs below `refs/dacapo/rescue/` and the branch of a pull request keep the old name: they
//! say what happened, and other records refer to them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::dropped::{DropError, Dropped, DroppedRecord};
use crate::engine::{Kinds, NotThatKind};
use crate::event::Event;
use crate::files::FileAction;
use crate::git::{BranchWorktree, EndedRun, GitError, LONGEST_LIST, Repo, SettingsFiles, WorktreeError};
use crate::spec::{TaskName, TaskSpec};
use crate::store::{
    JournalError, Lock, OpenError, OwnWorktree, RenameRecord, RepoDir, TaskDir, TaskLocation, files,
    keep_sizes, note, read, sizes,
};
use crate::view::{TaskView, ViewError};

/// One attempt takes less time than this.
const TRY: Duration = Duration::from_secs(5 * 60);

/// Why a task could not be renamed.
#[derive(Debug, thiserror::Error)]
pub enum RenameError {
    /// Another task has the name.
    #[error("Task '{0}' already exists")]
    NameTaken(String),
    /// Its name says more than how it is called.
    #[error("Task '{name}' is a {kind}: it is named by {file}")]
    NameFixed {
        name: String,
        kind: String,
        /// The file that fixes the name.
        file: String,
    },
    /// Nobody here knows what its name is good for.
    #[error(transparent)]
    Kind(#[from] NotThatKind),
    /// A drop, or the end of a merge, was cut short.
    #[error("'{}' was being put away when that was cut short", .0.name)]
    PutAway(Box<DroppedRecord>),
    /// Its worktree or branch could not be renamed.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// What was put away of it.
    #[error(transparent)]
    Dropped(#[from] DropError),
    /// Its record cannot be read.
    #[error(transparent)]
    Record(#[from] ViewError),
    /// Its journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("cannot {what} {}: {source}", path.display())]
    File { what: FileAction, path: PathBuf, source: io::Error },
}

impl From<OpenError> for RenameError {
    fn from(error: OpenError) -> Self {
        Self::Record(error.into())
    }
}

fn file(what: FileAction, path: &Path) -> impl FnOnce(io::Error) -> RenameError {
    let path = path.to_owned();
    move |source| RenameError::File { what, path, source }
}

/// Renames tasks of one repository.
#[derive(Debug, Clone, Copy)]
pub struct Renaming<'a> {
    repo: &'a Repo,
    data: &'a RepoDir,
    kinds: Kinds,
}

type Step<T> = fn(&T) -> Result<(), RenameError>;

/// A task whose directory has its new name.
struct Begun<'a> {
    repo: &'a Repo,
    data: &'a RepoDir,
    kinds: Kinds,
    dir: &'a TaskDir,
    held: &'a Lock,
    record: RenameRecord,
    spec: TaskSpec,
}

impl<'a> Renaming<'a> {
    /// `repo` may be any working tree of the repository but the task's own.
    pub fn of(repo: &'a Repo, data: &'a RepoDir, kinds: Kinds) -> Self {
        Self { repo, data, kinds }
    }

    /// Renames a task whose lock the caller holds. What is refused has changed nothing; what fails later can be finished.
    pub fn rename(
        &self,
        dir: &TaskDir,
        held: &Lock,
        to: &TaskName,
    ) -> Result<(TaskDir, RenameRecord), RenameError> {
        self.repo.hand_down(held);
        let before = dir.rename_record()?;
        let record = self.look(dir, to)?;
        self.clear_locks_of_task(dir, &record)?;
        let new = self.data.task(to);
        // On disk before the directory is renamed: the new name alone does not say what the old one was.
        dir.write_rename_record(&record).map_err(file(FileAction::Write, dir.path()))?;
        if let Err(error) = dir.move_to(new.path()) {
            // It has no effect where it is, but nothing is to be left behind.
            let _ = match before {
                Some(before) => dir.write_rename_record(&before),
                None => dir.remove_rename_record(),
            };
            return Err(match error.kind() {
                io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => {
                    RenameError::NameTaken(to.to_string())
                }
                _ => file(FileAction::Rename, dir.path())(error),
            });
        }
        // Before anything moves that may be on another file system.
        let tasks = self.data.tasks_path();
        files::sync_dir(&tasks).map_err(file(FileAction::Write, &tasks))?;
        let record = self.finish(&new, held)?.unwrap_or(record);
        Ok((new, record))
    }

    /// Finishes a rename that was interrupted; none: there is nothing to finish. The caller holds the task's lock
    /// ([`TaskDir::lock_to_rename`]).
    pub fn finish(&self, dir: &TaskDir, held: &Lock) -> Result<Option<RenameRecord>, RenameError> {
        self.repo.hand_down(held);
        let Some(begun) = self.begun(dir, held)? else { return Ok(None) };
        Begun::STEPS.iter().try_for_each(|step| step(&begun))?;
        Ok(Some(begun.record))
    }

    fn begun<'b>(&self, dir: &'b TaskDir, held: &'b Lock) -> Result<Option<Begun<'b>>, RenameError>
    where
        'a: 'b,
    {
        let Some(record) = dir.unfinished_rename() else { return Ok(None) };
        let Self { repo, data, kinds } = *self;
        Ok(Some(Begun { repo, data, kinds, dir, held, record, spec: dir.spec()? }))
    }

    /// Whether the task can have the name, as far as can be seen beforehand.
    fn look(&self, dir: &TaskDir, to: &TaskName) -> Result<RenameRecord, RenameError> {
        let new = self.data.task(to);
        if fs::symlink_metadata(new.path()).is_ok() {
            return Err(RenameError::NameTaken(to.to_string()));
        }
        let spec = dir.spec()?;
        let kind = self.kinds.find(&spec.kind);
        let kind = kind.ok_or_else(|| NotThatKind::Unknown(spec.kind.clone()))?;
        if let Some(file) = kind.named_by(&spec) {
            let (name, kind) = (spec.name.to_string(), spec.kind);
            return Err(RenameError::NameFixed { name, kind, file });
        }
        // A journal that does not read cannot be appended to.
        TaskView::fold(dir, self.kinds)?;
        let dropped = Dropped::of(self.repo, self.data, self.kinds);
        let unfinished =
            dropped.unfinished(&spec).map_err(file(FileAction::Read, &self.data.dropped_path()))?;
        if let Some(kept) = unfinished {
            return Err(RenameError::PutAway(Box::new(kept)));
        }
        let record = RenameRecord::begin(TaskLocation::of(&spec), to);
        if let (Some(from), Some(to)) = (&record.from.worktree, &record.to.worktree) {
            self.repo.can_relocate(names(from), names(to))?;
        }
        Ok(record)
    }

    /// The task may have been killed while its git held locks.
    fn clear_locks_of_task(&self, dir: &TaskDir, record: &RenameRecord) -> Result<(), RenameError> {
        let view = TaskView::fold(dir, self.kinds)?;
        let (began, ended) = (view.created_at, view.last_at.unwrap_or(view.created_at));
        let at_work = (SystemTime::from(began), SystemTime::from(ended) + TRY);
        Ok(clear_left_locks(self.repo, &[&record.from], at_work).map_err(WorktreeError::from)?)
    }
}

impl Begun<'_> {
    /// In this order; each leaves alone what it finds done.
    const STEPS: [Step<Self>; 5] =
        [Self::put_on_record, Self::relocate, Self::rename_what_was_put_away, Self::keep_size, Self::settle];

    fn put_on_record(&self) -> Result<(), RenameError> {
        // Of a task that never began there is nothing to write behind.
        if !self.dir.has_begun() {
            return Ok(());
        }
        let RenameRecord { from, to, .. } = &self.record;
        let renamed = Event::Renamed {
            from: from.name.to_string(),
            to: to.name.to_string(),
            worktree: to.worktree.as_ref().map(|own| own.path.display().to_string()),
            branch: to.worktree.as_ref().map(|own| own.branch.clone()),
        };
        let mut last = None;
        read(&self.dir.journal_path(), |line| {
            if let Event::Renamed { .. } = line.event {
                last = Some(line.event);
            }
        })?;
        // Written before a crash: once is enough.
        if last.as_ref() == Some(&renamed) {
            return Ok(());
        }
        Ok(note(self.dir, self.held, renamed)?)
    }

    fn relocate(&self) -> Result<(), RenameError> {
        let (Some(from), Some(to)) = (&self.record.from.worktree, &self.record.to.worktree) else {
            return Ok(());
        };
        let began = SystemTime::from(self.record.at);
        let RenameRecord { from: was, to: is, .. } = &self.record;
        clear_left_locks(self.repo, &[was, is], (began, began + TRY)).map_err(WorktreeError::from)?;
        let before = SettingsFiles::of(self.repo, &self.spec.top, None);
        let old = self.data.task(&self.record.from.name);
        self.repo.relocate(names(from), names(to), || {
            old.spec().is_ok_and(|spec| TaskLocation::of(&spec).worktree.as_ref() == Some(from))
        })?;
        self.follow_settings(&before);
        Ok(())
    }

    /// The settings of the branch are in git's config: that they have moved is no agent's doing.
    fn follow_settings(&self, before: &SettingsFiles) {
        let path = self.dir.settings_files_path();
        let seen = files::read(&path, LONGEST_LIST)
            .ok()
            .and_then(|bytes| serde_json::from_slice::<SettingsFiles>(&bytes).ok());
        let Some(mut seen) = seen else { return };
        let known = seen.clone();
        seen.follow(before, SettingsFiles::of(self.repo, &self.spec.top, Some(before)));
        if seen != known {
            // Without it somebody reads that the file has changed.
            let _ = serde_json::to_vec(&seen).map(|bytes| files::replace(&path, &bytes));
        }
    }

    fn rename_what_was_put_away(&self) -> Result<(), RenameError> {
        let RenameRecord { from, to, .. } = &self.record;
        Ok(Dropped::of(self.repo, self.data, self.kinds).rename(&self.spec.tag, from, to)?)
    }

    /// What was measured is the same under the new name.
    fn keep_size(&self) -> Result<(), RenameError> {
        let size = sizes(self.data).remove(self.record.from.name.as_str());
        let own = size.filter(|size| size.task_created_at == self.spec.created_at);
        if let Some(size) = own {
            // Whoever wants to know measures it again.
            let _ = keep_sizes(self.data, [(self.record.to.name.to_string(), size)]);
        }
        Ok(())
    }

    fn settle(&self) -> Result<(), RenameError> {
        self.dir
            .write_rename_record(&self.record.finished())
            .map_err(file(FileAction::Write, self.dir.path()))
    }
}

fn names(own: &OwnWorktree) -> BranchWorktree<'_> {
    BranchWorktree { path: &own.path, branch: &own.branch }
}

/// The caller holds the task's lock, so a git that left something locked here is dead.
fn clear_left_locks(
    repo: &Repo,
    own: &[&TaskLocation],
    at_work: (SystemTime, SystemTime),
) -> Result<(), GitError> {
    for location in own {
        let Some(own) = &location.worktree else { continue };
        repo.clear_locks_of_task(&EndedRun {
            worktree: Some(&own.path),
            branch: Some(&own.branch),
            rescue: &format!("refs/dacapo/rescue/{}", location.name),
            commit: None,
            at_work,
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
