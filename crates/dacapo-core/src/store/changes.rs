//! Wakes whoever watches a task that another process drives: its journal or what its agent prints has grown, or nobody
//! drives it any more.

use std::io::{self, PipeReader};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

#[cfg(target_os = "linux")]
use super::notices::Notices;
use super::{Lock, TaskDir};

/// Where the system cannot tell of changed files: a look now and then.
const LOOK_EVERY: Duration = Duration::from_millis(300);

/// Tells of changes to a task. Nothing is queued: however much happens between two looks, it costs no memory.
#[derive(Debug)]
pub struct Changes {
    dir: TaskDir,
    /// None where there is no such thing, or too many are in use already.
    files: Option<Notices>,
    over: PipeReader,
}

/// Why a wait is over; neither: its time is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Woken {
    /// Nobody drives the task any more: all that it will ever say now is on file.
    pub over: bool,
    /// One of the other descriptors has something to say.
    pub other: bool,
}

impl Changes {
    /// Begins to watch: whatever happens from now on ends the next wait.
    pub fn of(dir: &TaskDir) -> io::Result<Self> {
        let (over, held) = io::pipe()?;
        let lock = dir.lock_target();
        std::thread::Builder::new().name("lock".into()).spawn(move || {
            let _ = Lock::wait_until_free(&lock);
            // Its end is the message.
            drop(held);
        })?;
        let mut changes = Self { dir: dir.clone(), files: Notices::new().ok(), over };
        changes.watch();
        Ok(changes)
    }

    /// Sleeps until something has changed, one of `others` can be read, or the time is over.
    pub fn wait(&mut self, others: &[BorrowedFd<'_>], at_most: Option<Duration>) -> io::Result<Woken> {
        let at_most = match (&self.files, at_most) {
            (Some(_), at_most) => at_most,
            (None, at_most) => Some(at_most.map_or(LOOK_EVERY, |time| time.min(LOOK_EVERY))),
        };
        let timeout = at_most.and_then(|time| Timespec::try_from(time).ok());
        let mut wanted = vec![PollFd::new(&self.over, PollFlags::IN)];
        wanted.extend(others.iter().map(|other| PollFd::new(other, PollFlags::IN)));
        if let Some(files) = &self.files {
            wanted.push(PollFd::new(files, PollFlags::IN));
        }
        match poll(&mut wanted, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        let woken = Woken { over: ready(&wanted[0]), other: wanted[1..=others.len()].iter().any(ready) };
        let grown = wanted.get(others.len() + 1).is_some_and(ready);
        drop(wanted);
        if grown {
            self.files.iter().for_each(Notices::drain);
        }
        // Its directories may have been made, or made again, since.
        self.watch();
        Ok(woken)
    }

    #[cfg(target_os = "linux")]
    fn watch(&mut self) {
        use rustix::fs::inotify::WatchFlags;
        let Some(files) = &self.files else { return };
        let wanted = WatchFlags::MODIFY | WatchFlags::CREATE | WatchFlags::MOVED_TO;
        let task = files.of(self.dir.path(), wanted);
        // One that is not there says so by being made.
        let _ = files.of(&self.dir.path().join("turns"), wanted);
        if task.is_err() {
            self.files = None;
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn watch(&mut self) {}
}

/// Where the system tells of no files.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
struct Notices(std::convert::Infallible);

#[cfg(not(target_os = "linux"))]
impl Notices {
    fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn drain(&self) {}
}

#[cfg(not(target_os = "linux"))]
impl std::os::fd::AsFd for Notices {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self.0 {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd as _;
    use std::time::Instant;

    /// Far longer than anything here takes: a wait that ends by it has failed.
    const LONG: Duration = Duration::from_secs(60);

    fn task() -> (tempfile::TempDir, TaskDir) {
        let dir = tempfile::tempdir().unwrap();
        let task = TaskDir::at(dir.path().to_owned());
        std::fs::create_dir(dir.path().join("turns")).unwrap();
        (dir, task)
    }

    /// Waits until `done` holds, by wakes alone.
    fn wakes_until(changes: &mut Changes, mut done: impl FnMut(Woken) -> bool) {
        let start = Instant::now();
        loop {
            let woken = changes.wait(&[], Some(LONG)).unwrap();
            assert!(start.elapsed() < LONG, "not woken");
            if done(woken) {
                return;
            }
        }
    }

    #[test]
    fn what_grows_and_what_appears_wakes() {
        let (dir, task) = task();
        let _lock = task.lock().unwrap();
        let mut changes = Changes::of(&task).unwrap();
        for name in ["journal.jsonl", "turns/0000.raw"] {
            let path = dir.path().join(name);
            std::fs::write(&path, "x").unwrap();
            wakes_until(&mut changes, |woken| !woken.over && path.exists());
        }
        // The directory itself is removed and made anew, as an agent may do.
        std::fs::remove_dir_all(dir.path().join("turns")).unwrap();
        std::fs::create_dir(dir.path().join("turns")).unwrap();
        wakes_until(&mut changes, |woken| !woken.over);
        std::fs::write(dir.path().join("turns/0001.raw"), "x").unwrap();
        wakes_until(&mut changes, |woken| !woken.over && dir.path().join("turns/0001.raw").exists());
    }

    #[test]
    fn a_lock_that_is_let_go_wakes_for_good() {
        let (_dir, task) = task();
        let lock = task.lock().unwrap();
        let mut changes = Changes::of(&task).unwrap();
        drop(lock);
        wakes_until(&mut changes, |woken| woken.over);
        assert!(changes.wait(&[], Some(LONG)).unwrap().over);
    }

    #[test]
    fn others_are_listened_to_meanwhile() {
        let (_dir, task) = task();
        let _lock = task.lock().unwrap();
        let mut changes = Changes::of(&task).unwrap();
        let (key, mut press) = io::pipe().unwrap();
        io::Write::write_all(&mut press, b"d").unwrap();
        let woken = changes.wait(&[key.as_fd()], Some(LONG)).unwrap();
        assert_eq!(woken, Woken { over: false, other: true });
    }
}
