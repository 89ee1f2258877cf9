//! Worktrees: a task's own, and clean checkouts for checks.
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
use super::regular;
use super::worktree_admin::settled;
use super::{DiscoverError, Head, Oid, Repo};

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
    /// There is nothing at the path, but git has a record of a worktree there.
    #[error("git still has a worktree registered at {}", .0.display())]
    Registered(PathBuf),
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
    /// Somebody has locked the worktree (`git worktree lock`).
    #[error("worktree {} is locked{}", path.display(), if reason.is_empty() { String::new() } else { format!(": {reason}") })]
    Locked {
        path: PathBuf,
        /// Empty if none was given.
        reason: String,
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

    /// Makes a worktree at `path` on a new branch (short name) that starts at `start`.
    pub fn add_worktree(&self, path: &Path, branch: &str, start: &Oid) -> Result<Self, WorktreeError> {
        self.locked(|| {
            let full = format!("refs/heads/{branch}");
            if self.read_ref(&full)?.is_some() {
                return Err(WorktreeError::BranchExists(branch.to_owned()));
            }
            if let Some(existing) = self.conflicting_branch(branch)? {
                return Err(WorktreeError::BranchConflict { wanted: branch.to_owned(), existing });
            }
            if fs::symlink_metadata(path).is_ok() {
                return Err(WorktreeError::PathExists(path.to_owned()));
            }
            let call =
                self.call("add a worktree").args(["worktree", "add", "-q", "--no-track", "-b", branch, "--"]);
            call.arg(path).arg(start.as_str()).stdout()?;
            Ok(())
        })?;
        Ok(self.beside(path)?)
    }

    /// Makes a worktree whose directory somebody has removed again at `path`, on its branch (short name). None: the branch
    /// is gone too.
    pub(crate) fn add_worktree_again(
        &self,
        path: &Path,
        branch: &str,
    ) -> Result<Option<Self>, WorktreeError> {
        let there = self.locked(|| {
            if self.read_ref(&format!("refs/heads/{branch}"))?.is_none() {
                return Ok(false);
            }
            // Twice `--force`: git still has a record of the one that was removed, and it may be locked.
            let call = self
                .call("make a worktree again")
                .args(["worktree", "add", "-q", "--force", "--force", "--"]);
            call.arg(path).arg(branch).stdout()?;
            Ok(true)
        })?;
        Ok(if there { Some(self.beside(path)?) } else { None })
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

    /// Deletes a branch (full name) that still stands where it was made.
    pub fn delete_branch_at(&self, branch: &str, at: &Oid) -> Result<(), WorktreeError> {
        self.locked(|| {
            self.call("delete a branch").args(["update-ref", "-d", branch, at.as_str()]).stdout()?;
            Ok(())
        })
    }

    /// Removes a worktree and git's record of it, whatever is in it. The caller has kept what is worth keeping.
    pub fn remove_worktree(&self, path: &Path) -> Result<(), WorktreeError> {
        self.locked(|| self.remove_unlocked(path))
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

    /// Makes the files of a linked worktree again at `home` when its directory has been removed. What was not
    /// committed is lost with the directory; nothing else is.
    pub fn restore_worktree(&self, home: &Head) -> Result<(), GitError> {
        const OPERATION: &str = "make the worktree again";
        let Some(link) = &self.link else {
            return Err(GitError::unexpected(OPERATION, b"a repository in the removed directory itself"));
        };
        fs::create_dir_all(self.toplevel()).map_err(GitError::io(OPERATION, self.toplevel()))?;
        let file = self.toplevel().join(".git");
        fs::write(&file, link).map_err(GitError::io(OPERATION, &file))?;
        if let Some(tip) = &home.commit {
            self.call(OPERATION).args(["read-tree", "--reset", "-u", tip.as_str()]).stdout()?;
        }
        Ok(())
    }
}

impl CleanCheckout {
    /// Removes it. `of` is the repository it was made from.
    pub fn remove(self, of: &Repo) -> Result<(), WorktreeError> {
        of.remove_worktree(self.repo.toplevel())?;
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
