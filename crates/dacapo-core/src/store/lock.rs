//! Locks that the kernel releases with the last process that holds them (K2).
//!
//! The descriptor is handed down to the guard and to the engine's own git on purpose, and never to an agent: a free lock
//! then means that the tree is empty and that no commit is under way. So a lock can outlive the process that took it, by
//! the moment in which those finish; its file names that process, and a starter that finds it gone waits for them.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::FdFlags;

/// `list` and friends probe locks for an instant, and what a dead process started holds its lock until it is done; a
/// starter that meets either tries again for so long.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Descriptors that a process starts with have low numbers.
const HANDED_DOWN: i32 = 256;

/// A lock was not to be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else has it.
    #[error("locked by another process")]
    Held,
    /// The process that took it is gone, but a git or a guard that it started is still at work.
    #[error("something that a process which is gone has started is still at work")]
    Lingering,
    /// The file system says no.
    #[error("cannot lock {path}: {source}")]
    Io {
        /// The lock's file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A lock that this process holds.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock at `path`. A holder that stays is told from a probe that passes, and from what a dead holder has
    /// left, by a few tries.
    pub fn take(path: &Path) -> Result<Self, LockError> {
        let io = |source| LockError::Io { path: path.to_owned(), source };
        let mut lock = Self::win(path)?;
        lock.file.set_len(0).map_err(io)?;
        writeln!(lock.file, "{}", std::process::id()).map_err(io)?;
        // Children inherit it from here on; see the module's head.
        rustix::io::fcntl_setfd(&lock.file, FdFlags::empty()).map_err(|errno| io(errno.into()))?;
        Ok(lock)
    }

    /// The lock, which names nobody yet.
    fn win(path: &Path) -> Result<Self, LockError> {
        let io = |source| LockError::Io { path: path.to_owned(), source };
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { file }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(source)) => return Err(io(source)),
            }
            // A shared lock succeeds beside a probe but not beside a holder: no need to wait for one that lives.
            let held = file.try_lock_shared().is_err();
            let _ = file.unlock();
            if held && read_lines(path).0.is_some_and(is_alive) {
                return Err(LockError::Held);
            }
            if start.elapsed() > PATIENCE {
                return Err(if held { LockError::Lingering } else { LockError::Held });
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// As [`Lock::take`], of something that is there already. What was moved away while we waited is not there any more:
    /// its lock, under our name now, may belong to another.
    pub fn take_of(path: &Path) -> Result<Self, LockError> {
        Self::take(path)?.if_still_at(path)
    }

    /// As [`Lock::take_of`], for a moment: it names nobody, so whoever wants it meanwhile waits for it, and is not told
    /// that somebody is at work.
    pub fn take_briefly(path: &Path) -> Result<Self, LockError> {
        Self::win(path)?.if_still_at(path)
    }

    fn if_still_at(self, path: &Path) -> Result<Self, LockError> {
        use std::os::unix::fs::MetadataExt as _;
        let is_it = || -> io::Result<bool> {
            let (ours, there) = (self.file.metadata()?, std::fs::metadata(path)?);
            Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino()))
        };
        match is_it() {
            Ok(true) => Ok(self),
            Ok(false) => Err(LockError::Held),
            Err(source) => Err(LockError::Io { path: path.to_owned(), source }),
        }
    }

    /// Gives it up while this process lives on, which therefore must not be taken for its holder any more.
    pub fn give_up(self) {
        // A name that stays costs somebody a second try.
        let _ = self.file.set_len(0);
    }

    /// The lock at `path` that whoever started this process took and handed down; none: it was not.
    ///
    /// To be called once, before anything else could open a file of its own at that place.
    #[expect(unsafe_code, reason = "a descriptor that was inherited has no owner in this process yet")]
    pub fn inherited(path: &Path) -> io::Result<Option<Self>> {
        use std::os::fd::FromRawFd as _;
        use std::os::unix::fs::MetadataExt as _;
        let wanted = std::fs::metadata(path)?;
        let is_it = |number: &i32| {
            let open = std::fs::metadata(format!("/dev/fd/{number}"));
            open.is_ok_and(|open| (open.dev(), open.ino()) == (wanted.dev(), wanted.ino()))
        };
        let found = (3..HANDED_DOWN).find(is_it);
        // SAFETY: it is open, came with the process, and nothing here knows of it but the lock that is made now.
        Ok(found.map(|number| Self { file: unsafe { File::from_raw_fd(number) } }))
    }

    /// Says in the lock's file that we have it: it was inherited, so somebody else took it.
    pub fn name_holder(path: &Path) -> io::Result<()> {
        std::fs::write(path, format!("{}\n", std::process::id()))
    }

    /// The process that has the lock at `path`, by its own word.
    pub fn holder(path: &Path) -> Option<rustix::process::Pid> {
        let held = Self::is_held(path).is_ok_and(|held| held);
        read_lines(path).0.filter(|_| held).and_then(rustix::process::Pid::from_raw)
    }

    /// Children that are started from now on do not inherit it: one that is not ours to end could keep it for ever.
    pub fn keep_from_children(&self) -> io::Result<()> {
        Ok(rustix::io::fcntl_setfd(&self.file, FdFlags::CLOEXEC)?)
    }

    /// Children that are started from now on inherit it again.
    pub fn hand_to_children(&self) -> io::Result<()> {
        Ok(rustix::io::fcntl_setfd(&self.file, FdFlags::empty())?)
    }

    /// Whether some process holds the lock at `path`.
    pub fn is_held(path: &Path) -> io::Result<bool> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Sleeps until nobody holds the lock at `path`.
    pub fn wait_until_free(path: &Path) -> io::Result<()> {
        match File::open(path) {
            Ok(file) => file.lock_shared(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// One loop per workspace (S7): a lock in the workspace's own git directory, which names its holder.
#[derive(Debug)]
pub struct WorkspaceLock {
    lock: Lock,
}

impl WorkspaceLock {
    /// Takes the workspace for a task, or says which task has it.
    pub fn take(git_dir: &Path, task: &str) -> Result<Self, (LockError, Option<String>)> {
        let dir = git_dir.join("dacapo");
        let path = dir.join("lock");
        let io = |source| (LockError::Io { path: path.clone(), source }, None);
        std::fs::create_dir_all(&dir).map_err(io)?;
        match Lock::take(&path) {
            Ok(lock) => {
                let mut taken = Self { lock };
                taken.name(task).map_err(io)?;
                Ok(taken)
            }
            Err(error) => Err((error, read_lines(&path).1)),
        }
    }

    /// Says that we have it for a task: it was inherited.
    pub fn name_holder(git_dir: &Path, task: &str) -> io::Result<()> {
        let text = format!("{}\n{task}", std::process::id());
        std::fs::write(git_dir.join("dacapo").join("lock"), text)
    }

    /// The lock itself.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    /// Names the holder: a task may get its final name only after it has the workspace.
    pub fn name(&mut self, task: &str) -> io::Result<()> {
        self.lock.file.set_len(0)?;
        self.lock.file.rewind()?;
        write!(self.lock.file, "{}\n{task}", std::process::id())
    }
}

/// Who took the lock, and for which task.
fn read_lines(path: &Path) -> (Option<i32>, Option<String>) {
    let mut text = String::new();
    if File::open(path).and_then(|file| file.take(200).read_to_string(&mut text)).is_err() {
        return (None, None);
    }
    let mut lines = text.lines();
    let pid = lines.next().and_then(|line| line.parse().ok());
    (pid, lines.next().filter(|name| !name.is_empty()).map(str::to_owned))
}

/// One that has ended and that nobody has waited for yet does nothing any more.
fn is_alive(pid: i32) -> bool {
    let Some(pid) = rustix::process::Pid::from_raw(pid) else { return false };
    let zombie = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        stat.is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z")))
    };
    rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH) && !zombie()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// A lock that a child holds in our place, as a guard or git does.
    fn handed_down(path: &Path) -> std::process::Child {
        let lock = Lock::take(path).unwrap();
        let child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        drop(lock);
        child
    }

    #[test]
    fn k2_a_holder_that_lives_is_told_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let _lock = Lock::take(&path).unwrap();
        assert!(matches!(Lock::take(&path), Err(LockError::Held)));
    }

    #[test]
    fn k2_a_lock_that_is_held_for_a_moment_is_waited_for_though_its_holder_lives() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        Lock::take(&path).unwrap().give_up();
        let brief = Lock::take_briefly(&path).unwrap();
        let taking = std::thread::spawn({
            let path = path.clone();
            move || Lock::take_of(&path).map(drop)
        });
        drop(brief);
        taking.join().unwrap().unwrap();
    }

    #[test]
    fn s7_a_workspace_names_its_holder_by_its_final_name() {
        let dir = tempfile::tempdir().unwrap();
        let mut taken = WorkspaceLock::take(dir.path(), "fix-tests").unwrap();
        taken.name("fix-tests-2").unwrap();
        let (error, holder) = WorkspaceLock::take(dir.path(), "other").unwrap_err();
        assert!(matches!(error, LockError::Held));
        assert_eq!(holder.as_deref(), Some("fix-tests-2"));
    }

    #[test]
    fn k2_what_a_dead_holder_started_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let mut child = handed_down(&path);
        let mut gone = Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        std::fs::write(&path, format!("{}\n", gone.id())).unwrap();
        let taking = std::thread::spawn({
            let path = path.clone();
            move || Lock::take(&path).map(drop)
        });
        drop(child.stdin.take());
        child.wait().unwrap();
        taking.join().unwrap().unwrap();
    }

    #[test]
    fn r1_one_that_ended_and_was_not_waited_for_is_not_alive() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        assert!(is_alive(pid));
        drop(child.stdin.take());
        let start = Instant::now();
        while is_alive(pid) {
            assert!(start.elapsed() < Duration::from_secs(60));
            std::thread::sleep(LOOK_EVERY);
        }
        child.wait().unwrap();
        assert!(!is_alive(pid));
    }
}
