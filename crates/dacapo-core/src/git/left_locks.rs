//! Lock files that a git which was killed has left behind (R1).
//!
//! Git takes a lock by creating `NAME.lock` and removes it on every way out but SIGKILL, an OOM kill and a power cut; from
//! then on every git refuses to work. Which of these files may be removed depends on whose they are:
//!
//! - In a task's own repository, on its branch and below its rescue refs nobody works but the task. Once all that it
//!   started is dead, a lock there is nobody's.
//! - Anywhere else it may belong to the user's git or editor, so there has to be evidence: it holds the very commit that
//!   our git was about to put there, or it is older than all processes of this machine, or it was made while our run was
//!   at work, no process has it open, and no git is at work in this repository that could have made it.
//!
//! Whatever is left in doubt stays. The git that meets it fails, and its error names the file and how to remove it.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::error::GitError;
use super::regular;
use super::worktree_admin::settled;
use super::{Notice, Oid, Repo};
use crate::process::{boot_time, file_may_be_in_use};

/// Locks in the directory that all worktrees share which our own git can have taken.
const SHARED: [&str; 3] = ["packed-refs.lock", "config.lock", "shallow.lock"];
/// Locks of a checkout.
const OWN: [&str; 5] = ["index.lock", "HEAD.lock", "ORIG_HEAD.lock", "AUTO_MERGE.lock", "MERGE_RR.lock"];
/// Where the refs are that commands of ours make and delete.
const OUR_REFS: [&str; 3] = ["refs/dacapo", "refs/heads/dacapo", "refs/heads/milestone"];
/// A git that cannot be seen from here (it runs on the host of this container) is done with a lock within this time.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(20);
/// How far the clock of a file system may be behind.
const CLOCK_STEP: Duration = Duration::from_secs(2);

/// A run that is over, and may have left locks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndedRun<'a> {
    /// Its own worktree, in which nobody else works; none: it worked in the user's checkout.
    pub worktree: Option<&'a Path>,
    /// The branch that it worked on (full name).
    pub branch: Option<&'a str>,
    /// Where its rescue refs are: `refs/dacapo/rescue/NAME`.
    pub rescue: &'a str,
    /// The commit that the branch was about to be moved to.
    pub commit: Option<&'a Oid>,
    /// When it can have been at work, from and until.
    pub at_work: (SystemTime, SystemTime),
}

impl Repo {
    /// Removes the locks that a run left whose processes are all dead.
    pub(crate) fn clear_left_locks(&self, run: &EndedRun<'_>) -> Result<Vec<Notice>, GitError> {
        let mut removed = Vec::new();
        if let Some(worktree) = run.worktree {
            for lock in self.own_locks(run, worktree) {
                self.remove_lock(lock, &mut removed)?;
            }
        }
        for lock in self.doubtful_locks(run) {
            if self.is_left(&lock, run) {
                self.remove_lock(lock, &mut removed)?;
            }
        }
        Ok(removed)
    }

    /// The same in the user's repository and in the task's own, where it has one.
    pub(crate) fn clear_locks_of_task(&self, run: &EndedRun<'_>) -> Result<(), GitError> {
        let own = run.worktree.and_then(|path| self.private(path).ok());
        for repo in own.iter().chain([self]) {
            for notice in repo.clear_left_locks(run)? {
                tracing::info!("{notice:?}");
            }
        }
        Ok(())
    }

    /// Removes the locks of a checkout that a git of ours left which somebody killed while we lived on.
    pub(super) fn clear_locks_of_killed_git(&self) -> Result<Vec<Notice>, GitError> {
        let Some(since) = self.killed_since() else { return Ok(Vec::new()) };
        self.clear_left_locks(&EndedRun {
            worktree: None,
            branch: None,
            rescue: OUR_REFS[0],
            commit: None,
            at_work: (since, SystemTime::now()),
        })
    }

    /// Removes the locks that a command of ours left which was killed: it began at this moment, and may have worked on any
    /// task.
    pub fn clear_locks_of_command(&self, since: SystemTime) -> Result<Vec<Notice>, GitError> {
        let branch = self.head().ok().and_then(|head| head.branch);
        let mut removed = Vec::new();
        for refs in OUR_REFS {
            removed.extend(self.clear_left_locks(&EndedRun {
                worktree: None,
                branch: branch.as_deref(),
                rescue: refs,
                commit: None,
                at_work: (since, SystemTime::now()),
            })?);
        }
        Ok(removed)
    }

    /// Locks that only the task can have taken.
    fn own_locks(&self, run: &EndedRun<'_>, worktree: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        // All of its own repository is the task's; the user's is not.
        if self.private && settled(self.toplevel()) == settled(worktree) {
            let entries = fs::read_dir(self.git_dir()).into_iter().flatten().flatten();
            let is_gits = |path: &PathBuf| path.extension().is_some_and(|end| end == "lock");
            found.extend(entries.map(|entry| entry.path()).filter(is_gits));
            locks_below(&self.git_dir().join("refs"), &mut found);
            return found;
        }
        if let Some(branch) = run.branch {
            found.push(lock_of(&self.common_dir().join(branch)));
        }
        locks_below(&self.common_dir().join(run.rescue), &mut found);
        found
    }

    /// Locks that somebody else may have taken.
    fn doubtful_locks(&self, run: &EndedRun<'_>) -> Vec<PathBuf> {
        if self.private {
            return Vec::new();
        }
        let mut found: Vec<PathBuf> = SHARED.iter().map(|name| self.common_dir().join(name)).collect();
        if run.worktree.is_none() {
            found.extend(OWN.iter().map(|name| self.git_dir().join(name)));
            found.extend(run.branch.map(|branch| lock_of(&self.common_dir().join(branch))));
            locks_below(&self.common_dir().join(run.rescue), &mut found);
        }
        found
    }

    fn is_left(&self, lock: &Path, run: &EndedRun<'_>) -> bool {
        let Ok(meta) = fs::symlink_metadata(lock) else { return false };
        if !meta.is_file() {
            return false;
        }
        // The intent was in our journal before git began: nobody else had a reason to put that very commit there.
        if holds(lock, &meta, run.commit) {
            return true;
        }
        let Some((first, last)) = times(&meta) else { return false };
        // Whoever made it died with the machine.
        if boot_time().is_some_and(|boot| last + CLOCK_STEP < boot) {
            return true;
        }
        let (from, until) = run.at_work;
        let in_time = first + CLOCK_STEP >= from && last <= until + CLOCK_STEP;
        let places = [self.toplevel(), self.git_dir(), self.common_dir()];
        // The cheap tests first: the next looks at every process of the machine, and the last waits.
        in_time && !file_may_be_in_use(lock, last + CLOCK_STEP, &places) && stays(lock, &meta)
    }

    fn remove_lock(&self, lock: PathBuf, removed: &mut Vec<Notice>) -> Result<(), GitError> {
        match fs::remove_file(&lock) {
            Ok(()) => removed.push(Notice::StaleLockRemoved(lock)),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(error) => return Err(GitError::io("remove a stale lock", &lock)(error)),
        }
        Ok(())
    }
}

/// Whether nobody touches the lock for a while.
fn stays(lock: &Path, meta: &Metadata) -> bool {
    let look = |meta: &Metadata| (meta.ino(), meta.len(), meta.ctime(), meta.ctime_nsec());
    let start = Instant::now();
    loop {
        if !fs::symlink_metadata(lock).is_ok_and(|now| look(&now) == look(meta)) {
            return false;
        }
        if start.elapsed() >= PATIENCE {
            return true;
        }
        std::thread::sleep(LOOK);
    }
}

fn lock_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// All locks of refs below a directory.
fn locks_below(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => locks_below(&path, found),
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|end| end == "lock") => {
                found.push(path);
            }
            Ok(_) | Err(_) => {}
        }
    }
}

/// Whether a ref's lock holds the commit that our git was about to move it to.
fn holds(lock: &Path, meta: &Metadata, commit: Option<&Oid>) -> bool {
    let Some(commit) = commit else { return false };
    let fits = meta.len() as usize == commit.as_str().len() + 1;
    fits && regular::read(lock).is_ok_and(|bytes| bytes.trim_ascii_end() == commit.as_str().as_bytes())
}

/// The first and the last time at which the file can have been made: anybody can set the one, and nobody the other.
fn times(meta: &Metadata) -> Option<(SystemTime, SystemTime)> {
    let written = meta.modified().ok()?;
    let seconds = Duration::from_secs(u64::try_from(meta.ctime()).ok()?);
    let changed = SystemTime::UNIX_EPOCH + seconds;
    Some((written.min(changed), written.max(changed)))
}
