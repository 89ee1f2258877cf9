//! The index as a file: whose it is, who locks it, and what to do when it cannot be used.
//!
//! In a worktree of our own a lock that is there after the agent's processes are dead is nobody's. In place it
//! may be the user's own git at work: it is waited for shortly, then the commit is made with a copy *beside*
//! the index, which takes the index's place as soon as the lock has gone. Otherwise the user would see the
//! reverse of every commit as staged.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::error::GitError;
use super::{Head, Notice, Repo};

/// How long the user's own git may hold the index before the copy is used.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);
const LOCK_LOOK: Duration = Duration::from_millis(10);

/// A copy of the index that nobody else sees; gone with the value.
pub(super) struct ScratchIndex {
    _dir: tempfile::TempDir,
    pub(super) file: PathBuf,
}

impl Repo {
    fn index_file(&self) -> PathBuf {
        self.git_dir().join("index")
    }

    fn index_lock(&self) -> PathBuf {
        self.git_dir().join("index.lock")
    }

    fn index_beside(&self) -> PathBuf {
        self.git_dir().join("dacapo.index")
    }

    /// In a worktree of our own, with all processes of the agent dead: what locks are left are nobody's.
    pub(super) fn clear_stale_locks(&self, branch: Option<&str>) -> Result<Vec<Notice>, GitError> {
        let mut locks = vec![self.index_lock(), self.git_dir().join("HEAD.lock")];
        locks.extend(branch.map(|name| self.common_dir().join(format!("{name}.lock"))));
        let mut notices = Vec::new();
        for lock in locks {
            match fs::remove_file(&lock) {
                Ok(()) => notices.push(Notice::StaleLockRemoved(lock)),
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
                Err(error) => return Err(GitError::io("remove a stale lock", &lock)(error)),
            }
        }
        Ok(notices)
    }

    /// A lock that is there now, in place: somebody's.
    pub(super) fn locked_index(&self) -> Option<PathBuf> {
        Some(self.index_lock()).filter(|lock| fs::symlink_metadata(lock).is_ok())
    }

    /// The index to look at: the copy beside it where an earlier commit had to use one and the lock is still there.
    pub(super) fn index_to_read(&self, landed: bool) -> Result<Option<PathBuf>, GitError> {
        let beside = self.index_beside();
        if fs::symlink_metadata(&beside).is_err() {
            return Ok(None);
        }
        if !landed {
            // What it describes is not what HEAD is any more.
            fs::remove_file(&beside).map_err(GitError::io("remove an old index", &beside))?;
            return Ok(None);
        }
        Ok(if self.adopt_index_beside()? { None } else { Some(beside) })
    }

    /// The index to stage into when the lock is there or has just been met: waits, then makes the copy.
    pub(super) fn index_past_lock(&self, notices: &mut Vec<Notice>) -> Result<Option<PathBuf>, GitError> {
        let start = Instant::now();
        while let Some(lock) = self.locked_index() {
            if start.elapsed() < LOCK_PATIENCE {
                // Git has no way to wait for its lock files: they are made and removed, not locked.
                std::thread::sleep(LOCK_LOOK);
                continue;
            }
            let removed = self.clear_locks_of_killed_git()?;
            if !removed.is_empty() {
                notices.extend(removed);
                continue;
            }
            let beside = self.index_beside();
            if fs::symlink_metadata(&beside).is_err() {
                // An index without the file is that of an empty repository.
                copy_if_there(&self.index_file(), &beside)?;
            }
            notices.push(Notice::IndexLocked(lock));
            return Ok(Some(beside));
        }
        Ok(None)
    }

    /// Puts the copy in the index's place by git's own protocol: create the lock, rename it. False while
    /// somebody else holds the lock.
    pub(super) fn adopt_index_beside(&self) -> Result<bool, GitError> {
        const OPERATION: &str = "bring the index up to date";
        let (beside, lock) = (self.index_beside(), self.index_lock());
        if same_file(&beside, &self.index_file()) {
            // Adopted before a crash, all but for this name. To rename one name of a file to another of the same file does
            // nothing: the lock would stay.
            fs::remove_file(&beside).map_err(GitError::io(OPERATION, &beside))?;
            return Ok(true);
        }
        // A link appears complete or not at all, and fails if the lock is there: the same as git's own O_EXCL.
        match fs::hard_link(&beside, &lock) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            // Not every file system has hard links.
            Err(_) => {
                let mut made = match fs::File::create_new(&lock) {
                    Ok(made) => made,
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
                    Err(error) => return Err(GitError::io(OPERATION, &lock)(error)),
                };
                let mut from = fs::File::open(&beside).map_err(GitError::io(OPERATION, &beside))?;
                io::copy(&mut from, &mut made).map_err(GitError::io(OPERATION, &lock))?;
            }
        }
        // The rename is also the release of the lock, as with git itself.
        fs::rename(&lock, self.index_file()).map_err(GitError::io(OPERATION, &lock))?;
        fs::remove_file(&beside).map_err(GitError::io(OPERATION, &beside))?;
        Ok(true)
    }

    /// A private copy of the index as it is.
    pub(super) fn scratch_index(&self) -> Result<ScratchIndex, GitError> {
        let dir = tempfile::Builder::new()
            .prefix("dacapo-scratch-")
            .tempdir_in(self.git_dir())
            .map_err(GitError::io("copy the index", self.git_dir()))?;
        let file = dir.path().join("index");
        copy_if_there(&self.index_file(), &file)?;
        Ok(ScratchIndex { _dir: dir, file })
    }

    /// A missing index would make every tracked file look removed: it is made again from HEAD.
    pub(super) fn heal_missing_index(&self, head: &Head) -> Result<Option<Notice>, GitError> {
        if head.commit.is_none() || fs::symlink_metadata(self.index_file()).is_ok() {
            return Ok(None);
        }
        self.index_from_head()?;
        Ok(Some(Notice::IndexRebuilt(None)))
    }

    /// Whether this failure means that the index itself cannot be read.
    pub(super) fn is_broken_index(error: &GitError) -> bool {
        let said = error.stderr();
        let about_index = [
            "index file corrupt",
            "bad index file",
            "index file smaller",
            "bad signature 0x",
            "unordered stage entries",
        ];
        about_index.iter().any(|part| said.contains(part))
    }

    /// Puts a broken index aside and makes it again from HEAD.
    pub(super) fn heal_broken_index(&self, head: &Head) -> Result<Notice, GitError> {
        let kept = self.git_dir().join("index.broken");
        fs::rename(self.index_file(), &kept).map_err(GitError::io("put the broken index aside", &kept))?;
        if head.commit.is_some() {
            self.index_from_head()?;
        }
        Ok(Notice::IndexRebuilt(Some(kept)))
    }

    fn index_from_head(&self) -> Result<(), GitError> {
        self.call("make the index again").args(["read-tree", "HEAD"]).stdout().map(drop)
    }
}

fn same_file(one: &Path, other: &Path) -> bool {
    let inode = |path| fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()));
    inode(one).is_ok_and(|one| inode(other).is_ok_and(|other| one == other))
}

fn copy_if_there(from: &Path, to: &Path) -> Result<(), GitError> {
    match fs::copy(from, to) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(GitError::io("copy the index", from)(error)),
    }
}
