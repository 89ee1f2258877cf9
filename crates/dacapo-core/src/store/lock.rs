//! Locks that the kernel releases with the last process that holds them (K2, R4).
//!
//! A lock is on what its holder writes: the directory itself and the file in it that matters, by inode. There is no lock
//! file that could be deleted: who removes or replaces the file still meets the lock on the directory, and who renames the
//! directory takes the lock along.
//!
//! The descriptors close on exec, and are handed by number ([`super::InheritedLocks`]) to the guard, to the engine's own git and to the
//! process of a task in the background; never to an agent, nor to whatever another thread starts meanwhile: a free lock
//! then means that the tree is empty and that no commit is under way. So a lock can outlive the process that took it, by
//! the moment in which those finish. A small file beside it names that process, so that a starter that finds it gone waits
//! for them. That file is a hint: anybody can change it, and nothing but words and waiting depends on it.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, FdFlags};
use rustix::process::Pid;

use super::files;
use crate::inherited_locks::{Descriptors, hand_down};
use crate::process::{PidNamespace, is_runner};

/// `list` and friends probe locks for an instant, and what a dead process started holds its lock until it is done; a
/// starter that meets either tries again for so long.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A lock was not to be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds it.
    #[error("locked by another process")]
    Held,
    /// The process that took it is gone, but a git or a guard that it started is still at work.
    #[error("its process is gone, but something that it started is still running")]
    Lingering,
    /// It is free, but a rename of the task was interrupted and must be finished first.
    #[error("Task '{to}' is not completely renamed (it was '{from}')")]
    RenameUnfinished {
        /// The task's old name.
        from: String,
        /// The task's new name.
        to: String,
    },
    /// The file system says no.
    #[error("cannot lock {path}: {source}")]
    Io {
        /// What was to be locked.
        path: PathBuf,
        source: io::Error,
    },
}

/// What a lock is on.
#[derive(Debug, Clone)]
pub struct LockTarget {
    dir: PathBuf,
    /// The file in it that its holder writes.
    file: Option<PathBuf>,
    /// The file that says who holds the lock.
    holder: PathBuf,
}

impl LockTarget {
    /// A directory; `holder` is the file that names who has it.
    pub fn dir(dir: PathBuf, holder: PathBuf) -> Self {
        Self { dir, file: None, holder }
    }

    /// A directory and a file in it, which must be there.
    pub(crate) fn dir_and_file(dir: PathBuf, file: PathBuf, holder: PathBuf) -> Self {
        Self { dir, file: Some(file), holder }
    }

    fn io(&self, source: io::Error) -> LockError {
        LockError::Io { path: self.dir.clone(), source }
    }

    /// What is there now, each by a descriptor of its own.
    fn open(&self) -> io::Result<Vec<File>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = File::from(rustix::fs::open(&self.dir, flags, Mode::empty())?);
        let mut all = vec![dir];
        if let Some(file) = &self.file {
            all.push(files::append_existing(file)?);
        }
        Ok(all)
    }

    /// The same for a look, which writes nothing. A file that is gone is not looked at: the directory is there.
    fn open_to_look(&self) -> io::Result<Vec<File>> {
        let mut all = vec![File::open(&self.dir)?];
        match self.file.as_deref().map(files::open) {
            Some(Ok(file)) => all.push(file),
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Some(Err(_)) | None => {}
        }
        // It is locked where directories cannot be, and by older versions.
        all.extend(files::open(&self.holder));
        Ok(all)
    }
}

/// A lock that this process holds.
#[derive(Debug)]
pub struct Lock {
    held: Arc<Vec<File>>,
    holder: PathBuf,
}

impl Descriptors for Lock {
    fn descriptors(&self) -> &Arc<Vec<File>> {
        &self.held
    }
}

impl Lock {
    /// Takes the lock. A holder that stays is told from a probe that passes, and from what a dead holder has left, by a few
    /// tries. What was moved away or replaced while we waited is not ours: what is under its name now may belong to another.
    pub fn take(target: &LockTarget) -> Result<Self, LockError> {
        // Between `open` and the lock the task may have been dropped, renamed or made anew: the lock would then be on
        // an inode that no name leads to, and keep nobody out.
        let lock = Self::win(target)?.if_still_at(target)?;
        // Only now: who names himself before he has the lock would be taken for its holder.
        name(&target.holder, "").map_err(|source| target.io(source))?;
        Ok(lock)
    }

    /// As [`Lock::take`], for a moment: it names nobody, so whoever wants it meanwhile waits for it, and is not told
    /// that somebody is at work.
    pub(crate) fn take_briefly(target: &LockTarget) -> Result<Self, LockError> {
        Self::win(target)?.if_still_at(target)
    }

    /// The lock, which names nobody yet.
    fn win(target: &LockTarget) -> Result<Self, LockError> {
        let files = target.open().map_err(|source| target.io(source))?;
        let start = Instant::now();
        loop {
            let mut held = Vec::with_capacity(files.len());
            let mut busy = None;
            // Always in the same order, the directory first, and on a conflict all are given up: two starters cannot
            // each hold one half for good.
            for file in &files {
                match try_lock(file) {
                    Ok(Locking::Won) => held.push(file),
                    Ok(Locking::Impossible) => {}
                    Ok(Locking::Busy) => {
                        busy = Some(file);
                        break;
                    }
                    Err(source) => return Err(target.io(source)),
                }
            }
            let Some(busy) = busy else { return Self::keep(files, target) };
            // A shared lock succeeds beside a probe but not beside a holder: no need to wait for one that lives.
            let held_by_another = busy.try_lock_shared().is_err();
            for file in held.into_iter().chain([busy]) {
                let _ = file.unlock();
            }
            if held_by_another && read_lines(&target.holder).0.is_some_and(is_alive) {
                return Err(LockError::Held);
            }
            if start.elapsed() > PATIENCE {
                return Err(if held_by_another { LockError::Lingering } else { LockError::Held });
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Some file systems lock files and no directories (NFS); then the file that names the holder stands for the directory.
    fn keep(mut files: Vec<File>, target: &LockTarget) -> Result<Self, LockError> {
        if files.len() == 1 && !can_be_locked(&files[0]).map_err(|source| target.io(source))? {
            let file = files::open_or_create(&target.holder).map_err(|source| target.io(source))?;
            match file.try_lock() {
                Ok(()) => files = vec![file],
                Err(TryLockError::WouldBlock) => return Err(LockError::Held),
                Err(TryLockError::Error(source)) => return Err(target.io(source)),
            }
        }
        Ok(Self { held: Arc::new(files), holder: target.holder.clone() })
    }

    fn if_still_at(self, target: &LockTarget) -> Result<Self, LockError> {
        let inode = |file: &File| file.metadata().map(|found| (found.dev(), found.ino()));
        let is_it = || -> io::Result<bool> {
            let there = target.open()?;
            for (ours, there) in self.held.iter().zip(&there).filter(|(ours, _)| !is_hint(ours, target)) {
                if inode(ours)? != inode(there)? {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        match is_it() {
            Ok(true) => Ok(self),
            Ok(false) => Err(LockError::Held),
            Err(source) => Err(target.io(source)),
        }
    }

    /// Called after the locked directory was renamed.
    pub(super) fn is_now_at(&mut self, target: &LockTarget) {
        self.holder.clone_from(&target.holder);
    }

    /// Gives it up while this process lives on, which therefore must not be taken for its holder any more.
    pub fn give_up(self) {
        // A name that stays costs somebody a second try.
        let _ = files::open_or_create(&self.holder).and_then(|file| file.set_len(0));
    }

    /// Hands it to a child, and gives what the child has to be told: by which numbers it has it ([`Lock::inherited`]).
    pub fn hand_to(&self, command: &mut Command) -> String {
        let descriptors: Vec<_> = self.held.iter().map(File::as_fd).collect();
        hand_down(command, &descriptors);
        let numbers: Vec<String> = self.held.iter().map(|file| file.as_raw_fd().to_string()).collect();
        numbers.join(",")
    }

    /// The lock that whoever started this process took and handed to it by these numbers ([`Lock::hand_to`]), which names us
    /// from now on. None: these are not the lock.
    ///
    /// To be called once, before anything was opened here: a number then says what was meant.
    #[expect(unsafe_code, reason = "a descriptor that was inherited has no owner in this process yet")]
    pub fn inherited(target: &LockTarget, numbers: &str) -> io::Result<Option<Self>> {
        use std::os::fd::FromRawFd as _;
        let mut held = Vec::new();
        for number in numbers.split(',').map(str::parse::<i32>) {
            let Some(number) = number.ok().filter(|number| *number > 2) else { return Ok(None) };
            // SAFETY: only looked at; a number that is not open is an error of the call.
            let open = unsafe { BorrowedFd::borrow_raw(number) };
            if rustix::io::fcntl_setfd(open, FdFlags::CLOEXEC).is_err() {
                return Ok(None);
            }
            // SAFETY: it is open, came with the process, and nothing here knows of it but the lock that is made now.
            held.push(unsafe { File::from_raw_fd(number) });
        }
        let inode = |file: &File| file.metadata().map(|found| (found.dev(), found.ino()));
        let ours: Vec<_> = held.iter().map(inode).collect::<io::Result<_>>()?;
        // What is written must be locked. Where directories cannot be, the file that names the holder stands for it.
        let wanted = match &target.file {
            Some(file) => inode(&files::open(file)?)?,
            None => inode(&File::open(&target.dir)?)?,
        };
        let stands_for_it = || files::open(&target.holder).and_then(|file| inode(&file)).ok();
        let is_it = ours.contains(&wanted)
            || target.file.is_none() && stands_for_it().is_some_and(|hint| ours.contains(&hint));
        if !is_it {
            return Ok(None);
        }
        let lock = Self { held: Arc::new(held), holder: target.holder.clone() };
        name(&lock.holder, "")?;
        Ok(Some(lock))
    }

    /// The process that has the lock: the one that is named, or the one of `others` of which it can be seen.
    pub(crate) fn holder(target: &LockTarget, others: impl IntoIterator<Item = Pid>) -> Option<Pid> {
        if !Self::is_held(target).is_ok_and(|held| held) {
            return None;
        }
        let named = read_lines(&target.holder).0.and_then(Pid::from_raw);
        named.into_iter().chain(others).find(|pid| has_open(*pid, target))
    }

    /// Whether the lock is held by a process that is not known to be in this pid namespace.
    pub(crate) fn is_held_outside(target: &LockTarget, own: Option<PidNamespace>) -> io::Result<bool> {
        let inside = own.is_some() && read_namespace(&target.holder) == own;
        Ok(!inside && Self::is_held(target)?)
    }

    /// Whether some process holds the lock.
    pub(crate) fn is_held(target: &LockTarget) -> io::Result<bool> {
        let files = match target.open_to_look() {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        for file in &files {
            if is_locked(file)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Sleeps until nobody holds the lock.
    pub fn wait_until_free(target: &LockTarget) -> io::Result<()> {
        let files = match target.open_to_look() {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        for file in files {
            wait_for(&file)?;
        }
        Ok(())
    }
}

enum Locking {
    Won,
    Busy,
    /// This file system cannot lock such a thing.
    Impossible,
}

fn try_lock(file: &File) -> io::Result<Locking> {
    match file.try_lock() {
        Ok(()) => Ok(Locking::Won),
        Err(TryLockError::WouldBlock) => Ok(Locking::Busy),
        Err(TryLockError::Error(error)) if file.metadata()?.is_dir() && is_no_lock(&error) => {
            Ok(Locking::Impossible)
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn is_no_lock(error: &io::Error) -> bool {
    let errors = [Errno::BADF, Errno::INVAL, Errno::NOTSUP, Errno::NOLCK, Errno::NOSYS, Errno::ISDIR];
    error.raw_os_error().is_some_and(|number| errors.contains(&Errno::from_raw_os_error(number)))
}

fn can_be_locked(held: &File) -> io::Result<bool> {
    Ok(match try_lock(held)? {
        Locking::Won | Locking::Busy => true,
        Locking::Impossible => false,
    })
}

/// Whether it is the file that stands for a directory that cannot be locked.
fn is_hint(ours: &File, target: &LockTarget) -> bool {
    target.file.is_none() && ours.metadata().is_ok_and(|found| found.is_file())
}

pub(super) fn is_locked(file: &File) -> io::Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) if is_no_lock(&error) && file.metadata()?.is_dir() => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

pub(super) fn wait_for(file: &File) -> io::Result<()> {
    match file.lock_shared() {
        Err(error) if is_no_lock(&error) && file.metadata()?.is_dir() => Ok(()),
        done => done,
    }
}

/// One loop per workspace (S7): a lock on the workspace's own git directory, and a file in it that names its holder.
#[derive(Debug)]
pub struct WorkspaceLock {
    lock: Lock,
}

impl WorkspaceLock {
    fn target(git_dir: &Path) -> LockTarget {
        LockTarget::dir(git_dir.to_owned(), git_dir.join("dacapo").join("lock"))
    }

    /// Takes the workspace for a task, or says which task has it.
    pub fn take(git_dir: &Path, task: &str) -> Result<Self, (LockError, Option<String>)> {
        let target = Self::target(git_dir);
        let io = |source| (target.io(source), None);
        std::fs::create_dir_all(git_dir.join("dacapo")).map_err(io)?;
        match Lock::take(&target) {
            Ok(lock) => {
                let mut taken = Self { lock };
                taken.name(task).map_err(io)?;
                Ok(taken)
            }
            Err(error) => Err((error, read_lines(&target.holder).1)),
        }
    }

    /// The one that was handed to this process by these numbers, for a task: see [`Lock::inherited`].
    pub fn inherited(git_dir: &Path, task: &str, numbers: &str) -> io::Result<Option<Self>> {
        let Some(lock) = Lock::inherited(&Self::target(git_dir), numbers)? else { return Ok(None) };
        let mut taken = Self { lock };
        taken.name(task)?;
        Ok(Some(taken))
    }

    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    /// Names the holder: a task may get its final name only after it has the workspace.
    pub fn name(&mut self, task: &str) -> io::Result<()> {
        name(&self.lock.holder, task)
    }
}

/// Writes who has a lock, and for which task. Not by replacing it: the file may be what is locked.
fn name(holder: &Path, task: &str) -> io::Result<()> {
    // It only tells others who has the lock: what somebody planted in its place keeps nobody out.
    if holder.symlink_metadata().is_ok_and(|found| !found.is_file())
        && let Some((what, aside)) = files::set_aside(holder)?
    {
        tracing::warn!("{what} was at {}; it was moved to {}", holder.display(), aside.display());
    }
    let mut file = files::open_or_create(holder)?;
    file.set_len(0)?;
    file.rewind()?;
    let namespace = PidNamespace::own().map_or_else(String::new, |own| own.to_string());
    write!(file, "{}\n{task}\n{namespace}", std::process::id())
}

/// Who took the lock, and for which task.
fn read_lines(path: &Path) -> (Option<i32>, Option<String>) {
    let text = read_text(path);
    let mut lines = text.lines();
    let pid = lines.next().and_then(|line| line.parse().ok());
    (pid, lines.next().filter(|name| !name.is_empty()).map(str::to_owned))
}

/// The pid namespace of who took the lock.
fn read_namespace(path: &Path) -> Option<PidNamespace> {
    read_text(path).lines().nth(2).and_then(|line| line.parse().ok())
}

fn read_text(path: &Path) -> String {
    let mut text = String::new();
    match files::open(path).and_then(|file| file.take(300).read_to_string(&mut text)) {
        Ok(_) => text,
        Err(_) => String::new(),
    }
}

/// Whether a process has open what the lock is on: whoever holds a lock has. A name alone could be anybody's.
#[cfg(target_os = "linux")]
fn has_open(pid: Pid, target: &LockTarget) -> bool {
    let Ok(files) = target.open_to_look() else { return false };
    let inodes: Vec<(u64, u64)> = files
        .iter()
        .filter_map(|file| file.metadata().ok())
        .map(|found| (found.dev(), found.ino()))
        .collect();
    let open = std::fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero()));
    // One that keeps its memory to itself does not show what it has open; it does show what it calls itself.
    if open.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied) {
        let pid = pid.as_raw_nonzero().get();
        return is_alive(pid) && is_runner(pid.cast_unsigned());
    }
    open.into_iter().flatten().flatten().any(|entry| {
        std::fs::metadata(entry.path()).is_ok_and(|found| inodes.contains(&(found.dev(), found.ino())))
    })
}

/// There is no way to see it; that it lives must do.
#[cfg(not(target_os = "linux"))]
fn has_open(pid: Pid, _: &LockTarget) -> bool {
    is_alive(pid.as_raw_nonzero().get())
}

/// One that has ended and that nobody has waited for yet does nothing any more.
fn is_alive(pid: i32) -> bool {
    let Some(pid) = Pid::from_raw(pid) else { return false };
    let zombie = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        stat.is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z")))
    };
    rustix::process::test_kill_process(pid) != Err(Errno::SRCH) && !zombie()
}

#[cfg(test)]
mod tests;
