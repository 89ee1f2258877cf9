//! The guards that live below this process.
//!
//! Orphans of a lost guard become children of the process as a whole, so the list of children that are not orphans has to
//! be the process's too.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::ancestry::{self, HomeId};
use super::guard::ARGUMENT;
use super::tree::{self, Adopt};

static LIVE: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// The list, locked: no guard is started while someone looks at it.
pub(super) fn live() -> MutexGuard<'static, BTreeSet<u32>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A guard that waits for its order, or carries it out.
#[derive(Debug)]
pub(super) struct GuardProcess {
    pub(super) child: Child,
    pub(super) socket: UnixStream,
    /// When it started, to tell its orphans from older children.
    pub(super) started: u64,
    pub(super) program: PathBuf,
}

impl GuardProcess {
    /// Starts a guard that waits for its order.
    ///
    /// No work between fork and exec, so that it is started without copying this process's page tables. No environment:
    /// a guard must not carry the tag of a run, or a sweep would take it for the run's.
    ///
    /// The data directory is on its command line, which nobody below it can change: see `ancestry`.
    pub(super) fn start(exe: &Path, home: Option<HomeId>) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let mut command = Command::new(exe);
        command.arg(ARGUMENT).args(home.map(|home| home.to_string())).env_clear();
        command
            .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // The lock is held from before the fork until the id is on the list. Otherwise `end_orphans` could see the
        // new guard as a child of this process that is on no list, and kill it as an orphan.
        let mut live = live();
        // Inside the lock, because the last guard to go switches it off under the same lock.
        tree::adopt(Adopt::Orphans)?;
        if let Some(home) = home {
            ancestry::show_as_runner(home);
        }
        let child = command.spawn()?;
        live.insert(child.id());
        // Ids are reused; id and start time together are not.
        let started = tree::identity(child.id()).unwrap_or(0);
        Ok(Self { child, socket, started, program: exe.to_owned() })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// False when it has died while it waited.
    pub(super) fn is_there(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

/// The place for a guard that waits for the next job.
#[derive(Debug, Default)]
pub(super) struct Spare(Mutex<Option<GuardProcess>>);

impl Spare {
    /// Puts a guard there; gives it back where there is one already.
    pub(super) fn put(&self, guard: GuardProcess) -> Option<GuardProcess> {
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if place.is_some() {
            return Some(guard);
        }
        *place = Some(guard);
        None
    }

    /// Takes the guard that waits, if it is alive.
    pub(super) fn take(&self) -> Option<GuardProcess> {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        waiting.and_then(|mut guard| guard.is_there().then_some(guard))
    }
}

/// Ends it, by the end of its socket, and waits until it has gone.
impl Drop for GuardProcess {
    fn drop(&mut self) {
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        // The end of its socket makes the guard kill its tree; that it has exited means that the tree is empty. Its
        // id stays on the list until then, so that it is not taken for an orphan meanwhile.
        let _ = self.child.wait();
        let mut live = live();
        live.remove(&self.child.id());
        // A process that lives long must not collect what has nothing to do with its guards.
        if live.is_empty() {
            let _ = tree::adopt(Adopt::Nobody);
            // Nor is whoever it starts from now on inside a task.
            ancestry::show_as_no_runner();
        }
        tree::reap_adopted(&live);
    }
}
