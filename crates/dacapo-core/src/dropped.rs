//! Putting a task away so that it can be brought back bit for bit (S9): its worktree, its branch and its record.
//!
//! ```text
//! put away:    refs ─► dropped.json ─► worktree renamed, branch deleted ─► the task's directory renamed
//! bring back:  the task's directory ─► branch, worktree ─► dropped.json removed
//! ```
//!
//! Of a task that was merged only worktree and branch go, without what a build makes again; its record stays.
//!
//! The order of the one is the other's backwards, so whatever a crash leaves is the beginning of both: either can be
//! asked for again, and goes on from there.

mod record;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::engine::Kinds;
use crate::engine::machine::Whereabouts;
use crate::engine::mirroring;
use crate::event::Event;
use crate::files::FileAction;
use crate::git::{EndedRun, GitError, Ignored, Oid, Repo, SetAside, WorktreeError};
use crate::mirror;
use crate::spec::{Place, TaskSpec};
use crate::store::{Lock, LockError, RepoDir, TaskDir, TaskLocation, disk_usage, files, note};

pub use record::{DropReason, DroppedRecord};
use record::{PAPER, new_paper, read};

/// Counting files ends here; the number is for people.
const COUNTING: Duration = Duration::from_secs(30);
const TASK: &str = "task";
/// Begins the name of what is being removed.
const GONE: &str = ".gone-";
const TREE: &str = "tree";

/// Something could not be put away or brought back. What was there is still there.
#[derive(Debug, thiserror::Error)]
pub enum DropError {
    /// The worktree or the branch.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Another task has the name now.
    #[error("Task '{0}' already exists")]
    NameTaken(String),
    /// Another process works with the task.
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error("cannot {what} {}: {source}", path.display())]
    File { what: FileAction, path: PathBuf, source: io::Error },
}

impl From<GitError> for DropError {
    fn from(error: GitError) -> Self {
        Self::Worktree(error.into())
    }
}

fn file(what: FileAction, path: &Path) -> impl FnOnce(io::Error) -> DropError {
    let path = path.to_owned();
    move |source| DropError::File { what, path, source }
}

/// What was put away of one repository.
#[derive(Debug, Clone, Copy)]
pub struct Dropped<'a> {
    repo: &'a Repo,
    data: &'a RepoDir,
    kinds: Kinds,
}

impl<'a> Dropped<'a> {
    /// `repo` may be any working tree of the repository, also the one that is put away.
    pub fn of(repo: &'a Repo, data: &'a RepoDir, kinds: Kinds) -> Self {
        Self { repo, data, kinds }
    }

    pub fn path(&self, kept: &DroppedRecord) -> PathBuf {
        self.data.dropped_path().join(&kept.id)
    }

    /// How many bytes one of them occupies.
    pub fn size(&self, kept: &DroppedRecord) -> u64 {
        disk_usage(&self.path(kept), Instant::now() + COUNTING).0
    }

    /// All of them, the newest first. What is not ours, or of a newer Dacapo, is left alone.
    pub fn all(&self) -> io::Result<Vec<DroppedRecord>> {
        let entries = match fs::read_dir(self.data.dropped_path()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut all: Vec<DroppedRecord> = entries.flatten().filter_map(|entry| read(&entry.path())).collect();
        all.sort_by(|a, b| (b.at, &b.id).cmp(&(a.at, &a.id)));
        Ok(all)
    }

    /// A drop, or its undoing, or what follows a merge, of this very task that was cut short.
    pub(crate) fn unfinished(&self, spec: &TaskSpec) -> io::Result<Option<DroppedRecord>> {
        let is_it = |kept: &DroppedRecord| kept.tag == spec.tag && !self.is_complete(kept).unwrap_or(true);
        Ok(self.all()?.into_iter().find(is_it))
    }

    /// The task was renamed: what a merge put away of it comes back under its new name.
    pub(crate) fn rename(&self, tag: &str, from: &TaskLocation, to: &TaskLocation) -> Result<(), DropError> {
        let all = self.all().map_err(file(FileAction::Read, &self.data.dropped_path()))?;
        for mut kept in all.into_iter().filter(|kept| kept.tag == tag && kept.name == from.name.as_str()) {
            if let (Some(_), Some(to)) = (&from.worktree, &to.worktree) {
                kept.was_on = kept.was_on.or(kept.branch);
                (kept.worktree, kept.branch) = (Some(to.path.clone()), Some(to.branch.clone()));
            }
            kept.name = to.name.to_string();
            self.write(&kept)?;
        }
        Ok(())
    }

    /// What was begun for such a reason with this very task, and is neither finished nor taken back.
    fn begun(&self, spec: &TaskSpec, why: &DropReason) -> io::Result<Option<DroppedRecord>> {
        let same_reason = |kept: &DroppedRecord| match why {
            DropReason::Dropped => kept.why == DropReason::Dropped,
            DropReason::Merged { .. } => matches!(kept.why, DropReason::Merged { .. }),
        };
        let is_it = |kept: &DroppedRecord| {
            kept.tag == spec.tag && same_reason(kept) && !self.is_complete(kept).unwrap_or(true)
        };
        Ok(self.all()?.into_iter().find(is_it))
    }

    /// Whether all that was to go is away.
    fn is_complete(&self, kept: &DroppedRecord) -> Result<bool, GitError> {
        let away = self.path(kept);
        match (&kept.why, &kept.worktree, &kept.branch) {
            (DropReason::Dropped, _, _) => Ok(away.join(TASK).exists()),
            (DropReason::Merged { .. }, Some(worktree), Some(branch)) => {
                let is_there = fs::symlink_metadata(worktree).is_ok();
                if is_there && fs::symlink_metadata(away.join(TREE)).is_ok() {
                    // Its files are away: the ones at their place are somebody else's.
                    return Ok(true);
                }
                let tip = self.repo.read_ref(branch)?;
                Ok(!is_there && (tip.is_none() || tip != kept.tip))
            }
            (DropReason::Merged { .. }, _, _) => Ok(true),
        }
    }

    /// Whether nothing of it is away: a crash came before anything moved, or after all of it was back.
    pub(crate) fn is_empty(&self, kept: &DroppedRecord) -> bool {
        let is_paper = |entry: &fs::DirEntry| {
            let name = entry.file_name();
            name == PAPER || name.as_encoded_bytes().starts_with(b".new-")
        };
        fs::read_dir(self.path(kept))
            .is_ok_and(|mut entries| entries.all(|entry| entry.as_ref().is_ok_and(is_paper)))
    }

    /// Whether the task can be put away, as far as can be seen beforehand.
    pub fn can_put_away(&self, spec: &TaskSpec) -> Result<(), DropError> {
        match &spec.place {
            Place::InPlace { .. } => Ok(()),
            Place::Worktree { branch, .. } => Ok(self.repo.can_set_aside(branch)?),
        }
    }

    /// Puts a task away. The caller holds its lock.
    pub fn put_away(
        &self,
        dir: &TaskDir,
        spec: &TaskSpec,
        why: DropReason,
    ) -> Result<DroppedRecord, DropError> {
        let kept = self.prepare(spec, why)?;
        self.finish(dir, spec, kept)
    }

    /// The first half of [`Dropped::put_away`]: refs keep what git knows, and it is on disk what goes where.
    pub(crate) fn prepare(&self, spec: &TaskSpec, why: DropReason) -> Result<DroppedRecord, DropError> {
        self.can_put_away(spec)?;
        let begun = self.begun(spec, &why).map_err(file(FileAction::Read, &self.data.dropped_path()))?;
        let mut kept = begun.unwrap_or_else(|| new_paper(spec, why));
        self.clear_left_locks(&kept)?;
        if let Place::Worktree { path, branch, .. } = &spec.place {
            let now = self.repo.keep_under(&kept.prefix(), branch, path)?;
            // A branch that is gone went with an earlier try, which knew its tip.
            kept.tip = now.tip.or(kept.tip);
            for name in now.refs {
                if !kept.refs.contains(&name) {
                    kept.refs.push(name);
                }
            }
            kept.merged = self.is_merged(kept.tip.as_ref(), branch)?;
        }
        self.write(&kept)?;
        Ok(kept)
    }

    /// The second half: all of it goes.
    pub(crate) fn finish(
        &self,
        dir: &TaskDir,
        spec: &TaskSpec,
        kept: DroppedRecord,
    ) -> Result<DroppedRecord, DropError> {
        let away = self.path(&kept);
        if let Place::Worktree { path, branch, .. } = &spec.place {
            let held = SetAside { tip: kept.tip.clone(), refs: kept.refs.clone() };
            // The worktree before the task's directory: until that is away, the task is found under its name, and the
            // drop can be asked for again.
            self.repo.set_aside(path, branch, &away, &held)?;
        }
        if kept.why == DropReason::Dropped {
            let last_words = mirroring::documents(dir, spec, Whereabouts::Dropped, self.kinds);
            // The documents are made before, since the journal moves with the directory.
            dir.move_to(&away.join(TASK)).map_err(file(FileAction::Move, dir.path()))?;
            mirror::publish(spec, last_words, self.repo.env());
        }
        Ok(kept)
    }

    /// Brings back what was put away. Refused where its name, branch or directory is taken; then nothing has moved.
    pub fn bring_back(&self, kept: &DroppedRecord) -> Result<(), DropError> {
        let away = self.path(kept);
        let home = self.home(kept);
        let from = TaskDir::at(away.join(TASK));
        let mut moved = None;
        let lock = if from.exists() {
            // Locked where it lies; the lock goes with the directory when it is renamed.
            let lock = from.lock()?;
            match from.move_to(home.path()) {
                Ok(back) => moved = Some(back),
                Err(error) if is_taken(&error) => return Err(DropError::NameTaken(kept.name.clone())),
                Err(error) => return Err(file(FileAction::Move, from.path())(error)),
            }
            Some(lock)
        } else {
            self.lock_at_home(kept, &home)?
        };
        lock.iter().for_each(|lock| self.repo.hand_down(lock));
        self.clear_left_locks(kept)?;
        if let (Some(path), Some(branch)) = (&kept.worktree, &kept.branch) {
            let back = self.repo.bring_back(&away, path, branch, kept.tip.as_ref());
            if let Err(error) = back {
                // The name is given back, so that what is refused has changed nothing.
                if let Some(moved) = moved {
                    moved.move_to(from.path()).map_err(file(FileAction::Move, moved.path()))?;
                }
                return Err(error.into());
            }
            if let Some(old) = &kept.was_on {
                self.repo.take_new_branch(path, old, branch)?;
            }
        }
        if let (DropReason::Merged { into, .. }, Some(lock)) = (&kept.why, &lock) {
            let undone = note(&home, lock, Event::MergeUndone { into: into.clone() });
            undone.map_err(|error| file(FileAction::Write, &home.journal_path())(io::Error::other(error)))?;
        }
        self.forget(kept)?;
        if let Ok(spec) = home.spec() {
            let words = mirroring::documents(&home, &spec, Whereabouts::Here, self.kinds);
            mirror::publish(&spec, words, self.repo.env());
        }
        Ok(())
    }

    /// The caller holds the task's lock, so a git that left something locked here is dead: the task's, or one of an
    /// earlier try.
    fn clear_left_locks(&self, kept: &DroppedRecord) -> Result<(), GitError> {
        /// A try takes less.
        const TRY: Duration = Duration::from_secs(5 * 60);
        let Some(worktree) = &kept.worktree else { return Ok(()) };
        let begun = std::time::SystemTime::from(kept.at);
        self.repo.clear_locks_of_task(&EndedRun {
            worktree: Some(worktree),
            branch: kept.branch.as_deref(),
            rescue: &format!("refs/dacapo/rescue/{}", kept.name),
            commit: kept.tip.as_ref(),
            at_work: (begun, begun + TRY),
        })
    }

    fn home(&self, kept: &DroppedRecord) -> TaskDir {
        TaskDir::at(self.data.tasks_path().join(&kept.name))
    }

    /// The record is at its place already; nobody may drive the task meanwhile. One that is another task's stays what it
    /// is, and one that is gone needs no lock.
    fn lock_at_home(&self, kept: &DroppedRecord, home: &TaskDir) -> Result<Option<Lock>, DropError> {
        match home.spec() {
            Ok(spec) if spec.tag == kept.tag => Ok(Some(home.lock()?)),
            Ok(_) => Err(DropError::NameTaken(kept.name.clone())),
            Err(_) => Ok(None),
        }
    }

    /// Removes the paper and the refs of something that is back, or of which nothing is away. The paper goes last: as long as
    /// it is there, whoever was kept from it can go on.
    pub(crate) fn forget(&self, kept: &DroppedRecord) -> Result<(), DropError> {
        self.repo.forget_refs(&kept.refs)?;
        let path = self.path(kept);
        let removed =
            if self.is_empty(kept) { fs::remove_dir_all(&path) } else { fs::remove_file(path.join(PAPER)) };
        removed.map_err(file(FileAction::Remove, &path))
    }

    /// Whether a commit is part of a branch that is not a task's.
    fn is_merged(&self, tip: Option<&Oid>, own: &str) -> Result<bool, GitError> {
        Ok(tip.map(|tip| self.branch_with(tip, own)).transpose()?.flatten().is_some())
    }

    /// A branch that is not a task's and that a commit is part of.
    pub(crate) fn branch_with(&self, tip: &Oid, own: &str) -> Result<Option<String>, GitError> {
        let prefixes = self.kinds.branches();
        let is_a_tasks =
            |name: &String| name == own || prefixes.iter().any(|prefix| name.starts_with(prefix));
        Ok(self.repo.branches_with(tip)?.into_iter().find(|name| !is_a_tasks(name)))
    }

    /// Whether something of the task is still, or again, at its place.
    pub(crate) fn is_under_way(&self, kept: &DroppedRecord) -> Result<bool, GitError> {
        Ok(self.home(kept).spec().is_ok_and(|spec| spec.tag == kept.tag) && !self.is_complete(kept)?)
    }

    /// Whether the files that were put away are the ones of the branch's tip, those aside that a build makes again.
    pub(crate) fn is_clean(&self, kept: &DroppedRecord) -> Result<bool, GitError> {
        let tree = self.path(kept).join(TREE);
        if !tree.exists() {
            return Ok(true);
        }
        match &kept.tip {
            Some(tip) => Ok(self.repo.is_tree_of(&tree, tip)? && self.ignored(kept)?.others.is_empty()),
            None => Ok(false),
        }
    }

    /// What git ignores of the files that were put away.
    pub(crate) fn ignored(&self, kept: &DroppedRecord) -> Result<Ignored, GitError> {
        let tree = self.path(kept).join(TREE);
        if tree.exists() { self.repo.ignored_in(&tree, kept.tip.as_ref()) } else { Ok(Ignored::default()) }
    }

    /// What was being removed for good when a crash came.
    pub(crate) fn half_removed(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.data.dropped_path()).into_iter().flatten().flatten();
        entries
            .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(GONE.as_bytes()))
            .map(|entry| entry.path())
            .collect()
    }

    /// Removes what was put away. Its files, ignored ones and secrets aside, are under a ref first; the names of all refs
    /// that keep something of it are given back.
    pub(crate) fn remove_for_good(&self, kept: &DroppedRecord) -> Result<Vec<String>, DropError> {
        let away = self.path(kept);
        let from = TaskDir::at(away.join(TASK));
        // Nobody brings it back meanwhile.
        let lock = if from.exists() { Some(from.lock()?) } else { None };
        lock.iter().for_each(|lock| self.repo.hand_down(lock));
        let mut refs = kept.refs.clone();
        let tree = away.join(TREE);
        if tree.exists() && !self.is_clean(kept)? {
            refs.push(self.repo.keep_files(&kept.prefix(), &tree, kept.tip.as_ref())?.name);
        }
        let gone = self.data.dropped_path().join(format!("{GONE}{}", kept.id));
        // Out of sight at once: what a crash leaves of a removal must not be offered to be brought back.
        fs::rename(&away, &gone).map_err(file(FileAction::Move, &away))?;
        fs::remove_dir_all(&gone).map_err(file(FileAction::Remove, &gone))?;
        Ok(refs)
    }

    /// On disk before anything moves.
    fn write(&self, kept: &DroppedRecord) -> Result<(), DropError> {
        let dir = self.path(kept);
        files::make_dir(&dir).map_err(file(FileAction::Create, &dir))?;
        let json =
            serde_json::to_vec_pretty(kept).map_err(|error| file(FileAction::Write, &dir)(error.into()))?;
        let paper = dir.join(PAPER);
        files::replace_on_disk(&paper, &json).map_err(file(FileAction::Write, &paper))?;
        // The directory is new, too: without its name in the one above, a power cut takes the record with it.
        let above = dir.parent().unwrap_or(&dir);
        files::sync_dir(above).map_err(file(FileAction::Write, above))
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty)
}
