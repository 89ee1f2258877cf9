//! The guards that live below this process.
//!
//! Orphans of a lost guard become children of the process as a whole, so the list of children that are not orphans has to
//! be the process's too.

use std::collections::BTreeSet;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, sendmsg};

use super::ancestry::{self, HomeId};
use super::guard::{ARGUMENT, MOST_DESCRIPTORS};
use super::tree::{self, Adopt, LostGuard, Members, Swept};
use super::wire::{Order, QUIETLY, send_all};

static LIVE: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// The list, locked: no guard is started while someone looks at it.
pub(super) fn live() -> MutexGuard<'static, BTreeSet<u32>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where guards come from: one that waits, or a new one. Clones share the one that waits.
#[derive(Debug, Clone)]
pub struct Guards {
    exe: PathBuf,
    home: Option<HomeId>,
    /// Tasks run under them, and not only commands of our own: orders that come from below this process are refused.
    of_runner: bool,
    pub(super) spare: Arc<Spare>,
}

impl Guards {
    /// `exe` is the program whose `main` knows [`ARGUMENT`]. Where that is the one that runs here, pass `/proc/self/exe` on
    /// Linux: it stays the same program when the file is replaced.
    pub fn new(exe: PathBuf) -> Self {
        Self { exe, home: None, of_runner: false, spare: Arc::default() }
    }

    /// Names the data directory that they work for. Orders for it that come from below them are refused; a guard without a
    /// name counts for every data directory.
    #[must_use]
    pub fn for_home(mut self, home: &Path) -> Self {
        self.home = HomeId::of(home).ok();
        self
    }

    /// The same guards, for jobs of tasks.
    pub(super) fn of_runner(mut self) -> Self {
        self.of_runner = true;
        self
    }

    /// Starts one now, unless one waits. Failing is not fatal: it is tried again when one is needed.
    pub(super) fn prepare(&self) {
        match self.spare.take().map_or_else(|| GuardProcess::start(&self.exe, self.home), Ok) {
            Ok(guard) => drop(self.spare.put(guard)),
            Err(error) => tracing::debug!(%error, "no spare guard"),
        }
    }

    /// Gives the order to the guard that waits, or to a new one if there is none or it has died.
    pub(super) fn give(
        &self,
        order: &Order,
        streams: &[OwnedFd; 3],
        holds: &[OwnedFd],
    ) -> io::Result<GuardProcess> {
        if streams.len() + holds.len() > MOST_DESCRIPTORS {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many descriptors to hold"));
        }
        let descriptors: Vec<BorrowedFd<'_>> = streams.iter().chain(holds).map(AsFd::as_fd).collect();
        if let Some(spare) = self.spare.take() {
            // Somebody may have stopped it.
            spare.wake();
            self.show_runner();
            // A spare that died after it was last looked at gives EPIPE here. It has started nothing, so the same
            // order can go to a new guard without running twice.
            if send_order(&spare.socket, order, &descriptors).is_ok() {
                return Ok(spare);
            }
        }
        let guard = GuardProcess::start(&self.exe, self.home)?;
        self.show_runner();
        send_order(&guard.socket, order, &descriptors)?;
        Ok(guard)
    }
}

impl Guards {
    /// Called while a guard of ours lives: the last one to go takes the name back.
    fn show_runner(&self) {
        if let Some(home) = self.home.filter(|_| self.of_runner) {
            ancestry::show_as_runner(home);
        }
    }
}

fn send_order(socket: &UnixStream, order: &Order, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let (header, body) = order.encode();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(descriptors));
    // Five bytes go at once or not at all.
    sendmsg(socket, &[IoSlice::new(&header)], &mut control, QUIETLY)?;
    send_all(socket, &body)
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
        let child = command.spawn()?;
        live.insert(child.id());
        // Ids are reused; id and start time together are not.
        let started = tree::identity(child.id()).unwrap_or(0);
        Ok(Self { child, socket, started, program: exe.to_owned() })
    }

    /// Clears up after one that was killed, or that does not answer: ends what it watched over.
    pub(super) fn clear_up(&mut self, job: u32, tag: Option<&str>, seen: &Members) -> Swept {
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        // Only when it has really gone, its children have become ours. One that is stuck must not live on either.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Without orphans of our own, the group of the job is all that can be reached.
        if cfg!(not(target_os = "linux")) {
            tree::signal_group(job, rustix::process::Signal::KILL);
        }
        let lost = LostGuard { tag, started: self.started, seen, program: &self.program };
        let swept = tree::end_orphans(&lost, live);
        tracing::warn!(guard = self.pid(), killed = swept.killed.len(), "a guard was lost");
        swept
    }

    /// Lets one go on that somebody has stopped.
    pub(super) fn wake(&self) {
        if let Some(pid) = rustix::process::Pid::from_raw(self.pid().cast_signed()) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::CONT);
        }
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
        // One that somebody has stopped hears of nothing, and would be waited for in vain.
        self.wake();
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
