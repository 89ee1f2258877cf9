//! Clean checkouts, and what all worktrees of a repository share.
//!
//! Git's own bookkeeping of worktrees is not safe against itself (1 of 40 parallel removals died, 2 of 40 adds):
//! all of it happens under one lock file in the directory that the worktrees share.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use super::error::GitError;
use super::private::base_ref;
use super::regular;
use super::worktree_admin::settled;
use super::{DiscoverError, Oid, Repo};

/// Why a worktree could not be made or removed.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// There is a branch of this name.
    #[error("branch '{0}' already exists")]
    BranchExists(String),
    /// A branch of the name of a directory above it (`dacapo` for `dacapo/x`), or below it.
    #[error("git cannot create branch '{wanted}' while there is a branch '{existing}'")]
    BranchConflict {
        /// The name asked for.
        wanted: String,
        /// The branch that is in the way.
        existing: String,
    },
    /// There is something at the path.
    #[error("{} already exists", .0.display())]
    PathExists(PathBuf),
    /// Git will come back to the branch by its name.
    #[error("a rebase, am or bisect is in progress in {}", .0.display())]
    InOperation(PathBuf),
    /// The branch has moved while it was being set aside.
    #[error("someone else has just moved branch '{0}'")]
    BranchMoved(String),
    /// The branch is checked out in another place too.
    #[error("branch '{branch}' is checked out at {}", at.display())]
    CheckedOut {
        /// The branch, by its short name.
        branch: String,
        at: PathBuf,
    },
    /// A directory can only be renamed within a file system.
    #[error("{} and {} are on different file systems", from.display(), to.display())]
    OtherFileSystem { from: PathBuf, to: PathBuf },
    /// Another process has held the lock of the repository for too long.
    #[error("another process has locked the worktrees of this repository ({})", .0.display())]
    Busy(PathBuf),
    /// The new worktree could not be opened.
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    #[error(transparent)]
    Git(#[from] GitError),
}

const LOCK_PATIENCE: Duration = Duration::from_secs(120);
const LOCK_LOOK: Duration = Duration::from_millis(20);
const CLEAN_PREFIX: &str = "dacapo-clean-";

/// A checkout of one commit in a directory of its own. Removed by [`CleanCheckout::remove`]; what a crash
/// leaves is removed by the next [`Repo::export_clean`].
#[derive(Debug)]
pub struct CleanCheckout {
    pub repo: Repo,
    /// Held as long as the checkout is used: who can take it may remove the checkout.
    lock: File,
}

impl Repo {
    /// Runs `act` with the repository's lock held. The kernel releases it on any death.
    pub(super) fn locked<T>(
        &self,
        act: impl FnOnce() -> Result<T, WorktreeError>,
    ) -> Result<T, WorktreeError> {
        let path = self.common_dir().join("dacapo.lock");
        let file = open_lock(&path)?;
        let start = Instant::now();
        // With a deadline, which waiting for a lock has not: somebody may sit on it for good.
        loop {
            match file.try_lock() {
                // `file` stays open, and so the lock held, until `act` has returned.
                Ok(()) => return act(),
                Err(TryLockError::WouldBlock) if start.elapsed() > LOCK_PATIENCE => {
                    return Err(WorktreeError::Busy(path));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_LOOK),
                Err(TryLockError::Error(error)) => return Err(GitError::io("lock", &path)(error).into()),
            }
        }
    }

    /// Git keeps refs as files: `a` and `a/b` cannot both be.
    pub(super) fn conflicting_branch(&self, branch: &str) -> Result<Option<String>, GitError> {
        let mut above = branch;
        while let Some((shorter, _)) = above.rsplit_once('/') {
            above = shorter;
            if self.read_ref(&format!("refs/heads/{above}"))?.is_some() {
                return Ok(Some(above.to_owned()));
            }
        }
        let below = format!("refs/heads/{branch}/");
        let call =
            self.call("look for a branch").args(["for-each-ref", "--count=1", "--format=%(refname:strip=2)"]);
        let out = call.arg(below).stdout()?;
        let name = String::from_utf8_lossy(&out).trim().to_owned();
        Ok(Some(name).filter(|name| !name.is_empty()))
    }

    /// Deletes a task's branch (full name) that still stands where it was made, and the ref that keeps its base.
    pub fn delete_branch_at(&self, branch: &str, at: &Oid) -> Result<(), WorktreeError> {
        self.locked(|| self.delete_branch_unlocked(branch, at))
    }

    /// The caller holds the repository's lock.
    pub(super) fn delete_branch_unlocked(&self, branch: &str, at: &Oid) -> Result<(), WorktreeError> {
        let orders = format!("delete {branch} {at}\ndelete {}\n", base_ref(branch));
        let call = self.call("delete a branch").args(["update-ref", "--no-deref", "--stdin"]);
        Ok(call.stdin(orders.into_bytes()).stdout().map(drop)?)
    }

    /// Removes a task's worktree with its own repository, whatever is in it. The caller has kept what is worth keeping.
    pub fn remove_worktree(&self, path: &Path) -> Result<(), WorktreeError> {
        match fs::remove_dir_all(path) {
            Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound) => {
                Err(GitError::io("remove a worktree", path)(error).into())
            }
            _ => Ok(()),
        }
    }

    fn remove_unlocked(&self, path: &Path) -> Result<(), WorktreeError> {
        // Twice `--force`: also one that somebody locked.
        let call =
            self.call("remove a worktree").args(["worktree", "remove", "--force", "--force", "--"]).arg(path);
        let removed = call.stdout();
        // With submodules in it, or half removed, git refuses: then by hand.
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(GitError::io("remove a worktree", path)(error).into());
            }
            _ => {}
        }
        if removed.is_err() { self.forget_worktree(path) } else { Ok(()) }
    }

    /// Removes git's record of one worktree. Not `git worktree prune`: that forgets every worktree whose directory is not
    /// there at the moment, and the user may have some on a disk that is not mounted.
    fn forget_worktree(&self, path: &Path) -> Result<(), WorktreeError> {
        while let Some(record) = self.record_of(path)? {
            fs::remove_dir_all(&record).map_err(GitError::io("remove a worktree", &record))?;
        }
        Ok(())
    }

    /// Checks `commit` out, detached, into a new directory below `parent`.
    pub fn export_clean(&self, commit: &Oid, parent: &Path) -> Result<CleanCheckout, WorktreeError> {
        const OPERATION: &str = "make a clean checkout";
        let parent = parent.canonicalize().map_err(GitError::io(OPERATION, parent))?;
        let (path, lock) = self.locked(|| {
            self.drop_left_checkouts()?;
            let made = tempfile::Builder::new().prefix(CLEAN_PREFIX).tempdir_in(&parent);
            let path = made.map_err(GitError::io(OPERATION, &parent))?.keep();
            let call = self.call(OPERATION).args(["worktree", "add", "-q", "--detach", "--"]).arg(&path);
            call.arg(commit.as_str()).stdout()?;
            let record = self.common_dir().join("worktrees").join(path.file_name().unwrap_or(OsStr::new("")));
            let lock = open_lock(&record.join("dacapo.lock"))?;
            flock(&lock, FlockOperation::NonBlockingLockExclusive)
                .map_err(|error| GitError::io(OPERATION, &record)(error.into()))?;
            Ok((path, lock))
        })?;
        Ok(CleanCheckout { repo: self.beside(&path)?, lock })
    }

    /// Removes the checkouts of runs that died.
    pub(crate) fn remove_left_checkouts(&self) -> Result<(), WorktreeError> {
        self.locked(|| self.drop_left_checkouts())
    }

    /// Checkouts that runs left which died.
    pub(crate) fn left_checkouts(&self) -> Result<Vec<PathBuf>, WorktreeError> {
        let mut left = Vec::new();
        self.locked(|| {
            self.each_left_checkout(|path| {
                left.push(path.to_owned());
                Ok(())
            })
        })?;
        Ok(left)
    }

    fn drop_left_checkouts(&self) -> Result<(), WorktreeError> {
        self.each_left_checkout(|path| self.remove_unlocked(path))
    }

    /// Their lock is free.
    fn each_left_checkout(
        &self,
        mut act: impl FnMut(&Path) -> Result<(), WorktreeError>,
    ) -> Result<(), WorktreeError> {
        let Ok(records) = fs::read_dir(self.common_dir().join("worktrees")) else { return Ok(()) };
        for record in records.flatten() {
            if !record.file_name().as_encoded_bytes().starts_with(CLEAN_PREFIX.as_bytes()) {
                continue;
            }
            let Ok(lock) = open_lock(&record.path().join("dacapo.lock")) else { continue };
            // Somebody works in it. The lock of the repository is held here, so nobody can begin to between this look
            // and `act`.
            if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            use std::os::unix::ffi::OsStrExt;
            let Ok(gitdir) = regular::read(&record.path().join("gitdir")) else { continue };
            // Relative to the record, where the user's git is told to write it so.
            let dot_git = record.path().join(OsStr::from_bytes(gitdir.trim_ascii_end()));
            if let Some(path) = dot_git.parent() {
                act(&settled(path))?;
            }
        }
        Ok(())
    }
}

impl CleanCheckout {
    /// Removes it. `of` is the repository it was made from.
    pub fn remove(self, of: &Repo) -> Result<(), WorktreeError> {
        of.locked(|| of.remove_unlocked(self.repo.toplevel()))?;
        // Last: a checkout whose lock is free counts as left behind, and another process would remove it at the same
        // time.
        drop(self.lock);
        Ok(())
    }
}

fn open_lock(path: &Path) -> Result<File, GitError> {
    let opened = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    opened.map_err(GitError::io("lock the repository", path))
}
