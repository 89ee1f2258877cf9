//! The directory of one task.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Inbox, Lock, LockError, Ports};
use crate::proof::Pool;
use crate::spec::{SPEC_FORMAT, TaskSpec};

/// A task's directory: `spec.json`, `journal.jsonl`, `turns/`, `lock`.
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
    Io {
        /// What.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
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
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
}

impl TaskDir {
    /// The task at `path`, there or not.
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The task's name.
    pub fn name(&self) -> String {
        self.0.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Whether there is such a task.
    pub fn exists(&self) -> bool {
        self.spec_path().exists()
    }

    /// What was asked.
    pub fn spec_path(&self) -> PathBuf {
        self.0.join("spec.json")
    }

    /// Every event.
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

    /// Held by the process that drives the task.
    pub fn lock_path(&self) -> PathBuf {
        self.0.join("lock")
    }

    /// A file of a turn: `raw`, `idx`, `err`, `prompt`.
    pub fn turn_path(&self, turn: u32, extension: &str) -> PathBuf {
        self.0.join("turns").join(format!("{turn:04}.{extension}"))
    }

    /// The output of a check.
    pub fn check_path(&self, run: u64) -> PathBuf {
        self.0.join("checks").join(format!("{run:04}.raw"))
    }

    /// The output of a command that made the worktree usable.
    pub fn setup_path(&self, run: u64) -> PathBuf {
        self.0.join("setup").join(format!("{run:04}.raw"))
    }

    /// What counted beside the commits when the task started, for its proofs.
    pub fn start_path(&self) -> PathBuf {
        self.0.join("start")
    }

    /// How git's own settings and those of the project looked before the first turn.
    pub fn settings_files_path(&self) -> PathBuf {
        self.0.join("settings-files.json")
    }

    /// The checkouts in which commits of this repository are proven.
    pub fn proofs(&self) -> Pool {
        // HOME/repos/REPO/tasks/NAME
        Pool::at(self.0.ancestors().nth(2).unwrap_or(&self.0).join("proof"))
    }

    /// What tasks of this machine share of its ports: `leases` of the data directory that this task is in.
    pub fn ports(&self) -> Ports {
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
        fs::create_dir_all(tasks).map_err(io(tasks))?;
        let staging = tempfile::Builder::new().prefix(".new-").tempdir_in(tasks).map_err(io(tasks))?;
        let new = TaskDir::at(staging.path().to_owned());
        fs::create_dir(new.0.join("turns")).map_err(io(&new.0))?;
        fs::create_dir(new.0.join("checks")).map_err(io(&new.0))?;
        let json = serde_json::to_vec_pretty(spec).map_err(|error| io(&new.spec_path())(error.into()))?;
        fs::write(new.spec_path(), json).map_err(io(&new.spec_path()))?;
        let lock = Lock::take(&new.lock_path())?;
        match rename_new(&new.0, &self.0) {
            Ok(()) => {
                let _ = staging.keep();
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

    /// Reads what was asked.
    pub fn spec(&self) -> Result<TaskSpec, OpenError> {
        let path = self.spec_path();
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(OpenError::NotFound(self.0.clone()));
            }
            Err(error) => return Err(OpenError::Unreadable { path, message: error.to_string() }),
        };
        let spec: TaskSpec = serde_json::from_slice(&bytes)
            .map_err(|error| OpenError::Unreadable { path: path.clone(), message: error.to_string() })?;
        if spec.v > SPEC_FORMAT {
            let message = format!("written by a newer Dacapo (format {})", spec.v);
            return Err(OpenError::Unreadable { path, message });
        }
        Ok(spec)
    }

    /// Takes the lock of a task that nobody drives.
    pub fn lock(&self) -> Result<Lock, LockError> {
        Lock::take_of(&self.lock_path())
    }

    /// The same for a few writes: whoever wants to drive the task waits for that long.
    pub fn lock_briefly(&self) -> Result<Lock, LockError> {
        Lock::take_briefly(&self.lock_path())
    }

    /// Moves the task's directory to a name that must not exist; who holds its lock holds it there too.
    pub(crate) fn move_to(&self, to: &Path) -> io::Result<Self> {
        rename_new(&self.0, to)?;
        Ok(Self(to.to_owned()))
    }

    /// Whether some process drives the task, or is still clearing up behind it.
    pub fn is_driven(&self) -> io::Result<bool> {
        Lock::is_held(&self.lock_path())
    }

    /// Removes the record of a task that never did anything.
    pub fn discard(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.0)
    }
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
