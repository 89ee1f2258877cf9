//! A task that is followed: what is known of it without reading it, and who is woken when that changes.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use super::hub::Hub;
use crate::store::TaskDir;

/// Rings when something may be new in one of the tasks it was given to. Rung is rung: however much happens, it is one byte.
#[derive(Debug, Clone)]
pub struct Bell(Arc<Ringer>);

#[derive(Debug)]
struct Ringer {
    ring: UnixStream,
    heard: UnixStream,
}

impl Bell {
    pub fn new() -> io::Result<Self> {
        let (ring, heard) = UnixStream::pair()?;
        ring.set_nonblocking(true)?;
        heard.set_nonblocking(true)?;
        Ok(Self(Arc::new(Ringer { ring, heard })))
    }

    /// Rings it: whoever waits for it has something to look at.
    pub fn ring(&self) {
        self.0.ring();
    }

    /// Makes it silent. To be called before looking what is new, so that nothing is missed.
    pub fn silence(&self) {
        let mut bytes = [0_u8; 64];
        while (&self.0.heard).read(&mut bytes).is_ok_and(|count| count == bytes.len()) {}
    }
}

impl Ringer {
    fn ring(&self) {
        // Full: it rings already.
        let _ = (&self.ring).write(&[1]);
    }
}

/// Can be read, and so waited for, while it rings.
impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.heard.as_fd()
    }
}

/// What somebody wants to hear of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interest {
    /// What is on record, and whether anybody drives the task.
    Record,
    /// What agents print, too.
    All,
}

/// Shared by all who follow the task.
#[derive(Debug)]
pub(super) struct Followed {
    pub(super) dir: TaskDir,
    inode: Option<(u64, u64)>,
    signals: Mutex<Signals>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Signals {
    /// Counts whatever may be new.
    news: u64,
    /// Counts what may be new on record alone.
    record_news: u64,
    driven: bool,
    gone: bool,
    bells: Vec<(Interest, Weak<Ringer>)>,
}

fn inode(path: &Path) -> Option<(u64, u64)> {
    path.symlink_metadata().ok().map(|found| (found.dev(), found.ino()))
}

impl Followed {
    pub(super) fn new(dir: &TaskDir) -> Self {
        Self {
            dir: dir.clone(),
            inode: inode(dir.path()),
            signals: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Signals> {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, mut signals: MutexGuard<'_, Signals>) {
        signals.record_news += 1;
        self.tell_those(signals, |_| true);
    }

    fn tell_those(&self, mut signals: MutexGuard<'_, Signals>, wanted: impl Fn(Interest) -> bool) {
        signals.news += 1;
        signals.bells.retain(|(interest, bell)| match bell.upgrade() {
            Some(bell) => {
                if wanted(*interest) {
                    bell.ring();
                }
                true
            }
            None => false,
        });
        drop(signals);
        self.changed.notify_all();
    }

    /// Something may be new.
    pub(super) fn ring(&self) {
        self.tell(self.lock());
    }

    /// An agent has printed something.
    pub(super) fn ring_output(&self) {
        self.tell_those(self.lock(), |interest| interest == Interest::All);
    }

    /// Looks whether anybody drives the task, and tells who follows it when that has changed. The look is made under the
    /// lock: two that come at once cannot leave behind what the earlier one saw.
    pub(super) fn look(&self) -> io::Result<bool> {
        let mut signals = self.lock();
        let driven = self.dir.is_driven()?;
        let changed = signals.driven != driven;
        signals.driven = driven;
        if changed {
            self.tell(signals);
        }
        Ok(driven)
    }

    /// As of the last look.
    pub(super) fn is_driven(&self) -> bool {
        self.lock().driven
    }

    /// Whether the directory is still the one that was followed first.
    pub(super) fn is_there(&self) -> bool {
        self.inode == inode(self.dir.path())
    }

    /// It was put away, renamed or removed.
    pub(super) fn is_gone(&self) -> bool {
        self.lock().gone
    }

    pub(super) fn set_gone(&self) {
        let mut signals = self.lock();
        signals.gone = true;
        self.tell(signals);
    }

    pub(super) fn news(&self) -> u64 {
        self.lock().news
    }

    fn record_news(&self) -> u64 {
        self.lock().record_news
    }

    /// Sleeps until there is other news than `seen`, or `ended` says so, or the time is over.
    pub(super) fn wait(&self, seen: u64, deadline: Option<Instant>, ended: impl Fn() -> bool) -> bool {
        let mut signals = self.lock();
        // `seen` was taken before the client read. News that came since make it return at once, so none falls between
        // the last read and the sleep.
        while signals.news == seen && !ended() {
            signals = match deadline {
                None => self.changed.wait(signals).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    self.changed.wait_timeout(signals, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        true
    }

    pub(super) fn wake_all(&self) {
        // Under the lock, so that it does not fall between a look and the sleep after it.
        let _signals = self.lock();
        self.changed.notify_all();
    }

    pub(super) fn add_bell(&self, bell: &Bell, interest: Interest) {
        let mut signals = self.lock();
        signals.bells.push((interest, Arc::downgrade(&bell.0)));
        // What is there already is news to whoever just begins to listen.
        bell.0.ring();
    }
}

/// A task of which only changes are wanted: that something may be new, and whether anybody drives it.
#[derive(Debug)]
pub struct Watched {
    pub(super) followed: Arc<Followed>,
    pub(super) hub: Hub,
    seen: u64,
}

impl Watched {
    pub(super) fn new(hub: Hub, followed: Arc<Followed>) -> Self {
        let seen = followed.news();
        Self { followed, hub, seen }
    }

    /// Whether anybody drives the task. Once false it is false for all that was on file when it was asked.
    pub fn is_driven(&self) -> bool {
        self.followed.is_driven()
    }

    /// Sleeps until something may be new; false when the time is over first.
    pub fn wait(&mut self, deadline: Option<Instant>) -> bool {
        let woken = self.followed.wait(self.seen, deadline, || false);
        self.seen = self.followed.news();
        woken
    }

    /// Sleeps until nobody drives the task.
    pub fn wait_until_at_rest(&mut self) {
        while self.is_driven() {
            self.wait(None);
        }
    }

    /// Rings this bell from now on, too.
    pub fn ring(&self, bell: &Bell) {
        self.followed.add_bell(bell, Interest::All);
    }
}

/// A task of whose record alone changes are wanted: events, whether anybody drives it, and that it goes.
#[derive(Debug)]
pub struct WatchedRecord {
    watched: Watched,
    seen: Option<u64>,
}

impl WatchedRecord {
    pub(super) fn new(watched: Watched, bell: &Bell) -> Self {
        watched.followed.add_bell(bell, Interest::Record);
        Self { watched, seen: None }
    }

    /// Whether something may be new since this was asked last; the first time it is.
    pub fn is_new(&mut self) -> bool {
        let news = self.watched.followed.record_news();
        self.seen.replace(news) != Some(news)
    }

    /// Whether the task is not there any more: put away, renamed or removed.
    pub fn is_gone(&self) -> bool {
        self.watched.followed.is_gone() || !self.watched.followed.is_there()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.hub.let_go(&self.followed);
    }
}
