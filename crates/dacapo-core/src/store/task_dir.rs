//! The directory of one task.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::integrity::SpecDoubt;
use super::journal::doubt_of_spec;
use super::{Inbox, JournalError, Lock, LockError, LockTarget, Ports, RenameRecord, files};
use crate::event::Event;
use crate::process::{PidNamespace, Swept, end_stopped_guards};
use crate::spec::{SPEC_FORMAT, TaskSpec};

/// No spec is longer; its prompt and plan are the most of it.
const LONGEST_SPEC: u64 = 256 << 20;

/// A task's directory: `spec.json`, `journal.jsonl`, `turns/`, `lock`; `name.json` of one that was renamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskDir(PathBuf);

/// A task could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// The name is taken.
    #[error("Task '{0}' already exists")]
    Exists(String),
    /// The file system says no.
    #[error("cannot create {path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    /// The lock of a brand new task cannot be had.
    #[error(transparent)]
    Lock(#[from] LockError),
}

/// A task's spec cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no such task.
    #[error("no task at {0}")]
    NotFound(PathBuf),
    /// It is there and does not read.
    #[error("cannot read {path}: {message}")]
    Unreadable { path: PathBuf, message: String },
    /// An older Dacapo wrote it, in a format that was given up.
    #[error("{path} was written by an older Dacapo (format {found}; this one reads {SPEC_FORMAT})")]
    Older { path: PathBuf, found: u32 },
    /// It is not what the journal vouches for.
    #[error("{doubt} ({path})")]
    Doubtful { path: PathBuf, doubt: SpecDoubt },
}

impl TaskDir {
    /// The task at `path`, there or not.
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn name(&self) -> String {
        self.0.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Whether there is such a task.
    pub fn exists(&self) -> bool {
        self.spec_path().exists()
    }

    pub fn spec_path(&self) -> PathBuf {
        self.0.join("spec.json")
    }

    pub fn journal_path(&self) -> PathBuf {
        self.0.join("journal.jsonl")
    }

    /// Commands to the process that drives the task.
    pub fn inbox(&self) -> Inbox {
        Inbox::at(self.0.join("inbox"))
    }

    /// What the process of a task in the background says to nobody.
    pub fn runner_log_path(&self) -> PathBuf {
        self.0.join("runner.log")
    }

    /// What the process that drives the task has locked: the directory, and the journal where there is one.
    pub fn lock_target(&self) -> LockTarget {
        let (journal, holder) = (self.journal_path(), self.0.join("lock"));
        if journal.symlink_metadata().is_ok() {
            LockTarget::dir_and_file(self.0.clone(), journal, holder)
        } else {
            LockTarget::dir(self.0.clone(), holder)
        }
    }

    /// Whether anything is in its journal.
    pub fn has_begun(&self) -> bool {
        self.journal_path().symlink_metadata().is_ok_and(|found| found.len() > 0)
    }

    /// Whether its agent has had a turn.
    pub(crate) fn has_turns(&self) -> bool {
        fs::read_dir(self.0.join("turns")).is_ok_and(|mut turns| turns.next().is_some())
    }

    /// A file of a turn: `raw`, `idx`, `err`, `prompt`.
    pub fn turn_path(&self, turn: u32, extension: &str) -> PathBuf {
        self.0.join("turns").join(format!("{turn:04}.{extension}"))
    }

    /// Where an agent reports what a call used, in a directory that it may write. Calls are named as their other files.
    pub(crate) fn usage_path(&self, call: &str) -> PathBuf {
        self.0.join("usage").join(call).join("used")
    }

    /// The output of a check.
    pub fn check_path(&self, run: u64) -> PathBuf {
        self.0.join("checks").join(format!("{run:04}.raw"))
    }

    /// The output of a command that made the worktree usable.
    pub(crate) fn setup_path(&self, run: u64) -> PathBuf {
        self.0.join("setup").join(format!("{run:04}.raw"))
    }

    /// What counted beside the commits when the task started, for its proofs.
    pub(crate) fn start_path(&self) -> PathBuf {
        self.0.join("start")
    }

    /// Lists of files that were untracked before the task, each named by its hash.
    pub(crate) fn untracked_path(&self) -> PathBuf {
        self.0.join("untracked")
    }

    /// How git's own settings and those of the project looked before the first turn.
    pub(crate) fn settings_files_path(&self) -> PathBuf {
        self.0.join("settings-files.json")
    }

    /// The data of the repository that this task is of.
    pub(crate) fn repo_path(&self) -> PathBuf {
        // HOME/repos/REPO/tasks/NAME
        self.0.ancestors().nth(2).unwrap_or(&self.0).to_owned()
    }

    /// What tasks of this machine share of its ports: `leases` of the data directory that this task is in.
    pub(crate) fn ports(&self) -> Ports {
        // HOME/repos/REPO/tasks/NAME
        let home = self.0.ancestors().nth(4).unwrap_or(&self.0);
        Ports::at(home.join("leases"))
    }

    /// Makes the task and takes its lock. The directory appears under its name complete and locked or not at all, and of
    /// two that want one name at the same instant one wins (K2).
    pub fn create(&self, spec: &TaskSpec) -> Result<Lock, CreateError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| CreateError::Io { path, source }
        };
        let tasks = self.0.parent().unwrap_or(Path::new("."));
        files::make_dir(tasks).map_err(io(tasks))?;
        let staging = tempfile::Builder::new().prefix(".new-").tempdir_in(tasks).map_err(io(tasks))?;
        let new = TaskDir::at(staging.path().to_owned());
        files::make_dir(&new.0).map_err(io(&new.0))?;
        files::make_dir(&new.0.join("turns")).map_err(io(&new.0))?;
        files::make_dir(&new.0.join("checks")).map_err(io(&new.0))?;
        let json = serde_json::to_vec_pretty(spec).map_err(|error| io(&new.spec_path())(error.into()))?;
        files::replace(&new.spec_path(), &json).map_err(io(&new.spec_path()))?;
        // Locked while it still has its temporary name. The lock is on the inodes, so it goes with the directory when
        // that is renamed, and nobody can meet the task unlocked.
        let mut lock = new.lock()?;
        // RENAME_NOREPLACE makes the claim of the name atomic: a check followed by a rename would let two starters
        // win.
        match rename_new(&new.0, &self.0) {
            Ok(()) => {
                let _ = staging.keep();
                lock.is_now_at(&self.lock_target());
                Ok(lock)
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty
                ) =>
            {
                Err(CreateError::Exists(self.name()))
            }
            Err(error) => Err(io(&self.0)(error)),
        }
    }

    /// Reads what was asked, with the name and the place that the task has now. Good enough to show: whoever acts on it reads
    /// the [`TaskDir::vouched_spec`].
    pub fn spec(&self) -> Result<TaskSpec, OpenError> {
        self.spec_and_hash().map(|(spec, _)| spec)
    }

    /// The same, if it is what the journal vouches for: nobody has changed it since the task was created (R4).
    pub fn vouched_spec(&self) -> Result<TaskSpec, OpenError> {
        let (spec, sha256) = self.spec_and_hash()?;
        self.vouch_for(&sha256)?;
        Ok(spec)
    }

    /// An error: a `spec.json` with this hash is not the one that the journal vouches for.
    pub(crate) fn vouch_for(&self, spec_sha256: &str) -> Result<(), OpenError> {
        let unread = |error: JournalError| OpenError::Unreadable {
            path: self.journal_path(),
            message: error.to_string(),
        };
        match doubt_of_spec(self, spec_sha256).map_err(unread)? {
            None => Ok(()),
            Some(doubt) => Err(OpenError::Doubtful { path: self.spec_path(), doubt }),
        }
    }

    /// What was asked, and the hash of the file that says so.
    pub(crate) fn spec_and_hash(&self) -> Result<(TaskSpec, String), OpenError> {
        let bytes = self.spec_bytes()?;
        let spec = self.spec_now(&bytes)?;
        if spec.v < SPEC_FORMAT {
            return Err(OpenError::Older { path: self.spec_path(), found: spec.v });
        }
        Ok((spec, sha256(&bytes)))
    }

    /// What was asked, as far as it reads, of a task that an older Dacapo made: enough to put it away.
    pub fn spec_of_any_format(&self) -> Result<TaskSpec, OpenError> {
        self.spec_now(&self.spec_bytes()?)
    }

    /// The hash of `spec.json` as it is.
    pub(crate) fn spec_sha256(&self) -> Result<String, OpenError> {
        self.spec_bytes().map(|bytes| sha256(&bytes))
    }

    fn spec_now(&self, bytes: &[u8]) -> Result<TaskSpec, OpenError> {
        let mut spec = TaskSpec::read(bytes)
            .map_err(|error| OpenError::Unreadable { path: self.spec_path(), message: error.to_string() })?;
        if let Some(record) = self.rename_record()? {
            record.now(&self.0).apply_to(&mut spec);
        }
        Ok(spec)
    }

    /// The newest rename of the task; none: it still has its first name.
    pub fn rename_record(&self) -> Result<Option<RenameRecord>, OpenError> {
        RenameRecord::read(&self.0).map_err(|error| OpenError::Unreadable {
            path: RenameRecord::path(&self.0),
            message: error.to_string(),
        })
    }

    /// A rename that was interrupted: the task has its new name, worktree and branch may still have the old one.
    pub fn unfinished_rename(&self) -> Option<RenameRecord> {
        self.rename_record().ok().flatten().filter(|record| record.is_unfinished(&self.0))
    }

    /// Keeps a rename; the caller holds the lock. On disk when this returns.
    pub(crate) fn write_rename_record(&self, record: &RenameRecord) -> io::Result<()> {
        record.write(&self.0)
    }

    /// Forgets a rename that did not happen.
    pub(crate) fn remove_rename_record(&self) -> io::Result<()> {
        fs::remove_file(RenameRecord::path(&self.0))
    }

    /// `spec.json` as it is.
    pub(crate) fn spec_bytes(&self) -> Result<Vec<u8>, OpenError> {
        let path = self.spec_path();
        match files::read_own(&path, LONGEST_SPEC) {
            Ok(bytes) => Ok(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(OpenError::NotFound(self.0.clone())),
            Err(error) => Err(OpenError::Unreadable { path, message: error.to_string() }),
        }
    }

    /// Takes the lock of a task that nobody drives. Refused in the middle of a rename: worktree and branch may not be where
    /// the spec says.
    pub fn lock(&self) -> Result<Lock, LockError> {
        let lock = self.lock_to_rename()?;
        self.has_no_unfinished_rename()?;
        Ok(lock)
    }

    /// The same, for who finishes the rename.
    pub fn lock_to_rename(&self) -> Result<Lock, LockError> {
        self.close_to_others()?;
        self.make_journal()?;
        self.end_stopped_guards();
        Lock::take(&self.lock_target())
    }

    /// As [`TaskDir::lock`], for a few writes: whoever wants to drive the task waits for that long.
    pub fn lock_briefly(&self) -> Result<Lock, LockError> {
        self.make_journal()?;
        let lock = Lock::take_briefly(&self.lock_target())?;
        self.has_no_unfinished_rename()?;
        Ok(lock)
    }

    /// Ends the guards of a runner that is gone, with all that they watch over, where somebody has stopped them: they would hold
    /// the lock for ever (R1).
    pub fn end_stopped_guards(&self) -> Swept {
        if self.is_driven().is_ok_and(|driven| driven) && self.holder().is_none() {
            return end_stopped_guards(&self.0);
        }
        Swept::default()
    }

    fn has_no_unfinished_rename(&self) -> Result<(), LockError> {
        match self.unfinished_rename() {
            None => Ok(()),
            Some(RenameRecord { from, to, .. }) => {
                Err(LockError::RenameUnfinished { from: from.name.to_string(), to: to.name.to_string() })
            }
        }
    }

    /// Whoever takes the lock is going to write: what an older version left open to others is closed first (R0).
    fn close_to_others(&self) -> Result<(), LockError> {
        let below = ["turns", "checks", "setup", "inbox"].map(|name| self.0.join(name));
        // HOME/repos/REPO/tasks/NAME: what is above is ours by its name alone, never HOME or anything beyond it.
        let named = |nth: usize, name: &str| {
            self.0.ancestors().nth(nth).filter(|path| path.file_name().is_some_and(|found| found == name))
        };
        let above = named(1, "tasks").zip(named(3, "repos")).map_or(&[][..], |_| &[1, 2, 3]);
        let above = above.iter().filter_map(|nth| self.0.ancestors().nth(*nth)).map(Path::to_owned);
        for path in above.chain([self.0.clone()]).chain(below) {
            files::close_dir(&path).map_err(|source| LockError::Io { path, source })?;
        }
        Ok(())
    }

    /// The lock is on the journal, so there must be one. One that is gone is not made again: the task would seem to have
    /// done nothing yet.
    fn make_journal(&self) -> Result<(), LockError> {
        let path = self.journal_path();
        if path.symlink_metadata().is_ok() || self.has_turns() {
            return Ok(());
        }
        files::append(&path).map(drop).map_err(|source| LockError::Io { path, source })
    }

    /// The process that drives the task: by its own word or by the journal's, and seen to have its lock.
    pub fn holder(&self) -> Option<rustix::process::Pid> {
        Lock::holder(&self.lock_target(), self.last_driver())
    }

    /// The process that drove the task last, by its journal.
    pub fn last_driver(&self) -> Option<rustix::process::Pid> {
        let mut last = None;
        // What does not read names nobody.
        let _ = super::read(&self.journal_path(), |line| {
            if let Event::TaskStarted { pid, .. } | Event::Resumed { pid, .. } = line.event {
                last = Some(pid);
            }
        });
        rustix::process::Pid::from_raw(i32::try_from(last?).ok()?)
    }

    /// Moves the task's directory to a name that must not exist; who holds its lock holds it there too.
    pub(crate) fn move_to(&self, to: &Path) -> io::Result<Self> {
        rename_new(&self.0, to)?;
        Ok(Self(to.to_owned()))
    }

    /// Whether some process drives the task, or is still clearing up behind it.
    pub fn is_driven(&self) -> io::Result<bool> {
        Lock::is_held(&self.lock_target())
    }

    /// Whether it is driven by a process that is not known to be in this pid namespace.
    pub fn is_driven_outside(&self, own: Option<PidNamespace>) -> io::Result<bool> {
        Lock::is_held_outside(&self.lock_target(), own)
    }

    /// Removes the record of a task that never did anything.
    pub fn discard(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.0)
    }
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hmac_sha256::Hash::hash(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Renames a directory to a name that must not exist.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // Some file systems cannot; a plain rename onto a directory that is not empty fails as well.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {}
            done => return Ok(done?),
        }
    }
    fs::rename(from, to)
}
