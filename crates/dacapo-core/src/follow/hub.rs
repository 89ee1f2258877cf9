//! One thread and one inotify instance for all tasks that a process follows.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use self::directories::Directories;
use self::notices::{Change, Notices};
use super::followed::{Bell, Followed, Interest, Watched, WatchedRecord};
use super::interleave::Interleave;
use super::pages::{Pages, Side};
use super::stream::Follow;
use super::turn::Tapes;
use super::{FollowError, Opening};
use crate::engine::Kinds;
use crate::store::TaskDir;

mod directories;
mod notices;

pub use directories::WatchedDirectory;

/// How often a task is looked at of which the kernel tells us nothing.
const LOOK_EVERY: Duration = Duration::from_millis(300);

/// The lock of a task without a journal is on its directory alone, and the kernel does not tell when that is let go: it is
/// looked at so often. Nobody has such a task but who deleted its journal.
const LOOK_WITHOUT_JOURNAL: Duration = Duration::from_secs(1);

/// The kernel tells of a file's closing just before it gives up the lock on it: what looks still held may be free after
/// these moments. After the last one it was another descriptor that was closed.
const AFTER_CLOSING: [Duration; 6] = [
    Duration::ZERO,
    Duration::from_millis(1),
    Duration::from_millis(2),
    Duration::from_millis(5),
    Duration::from_millis(20),
    Duration::from_millis(100),
];

/// How many tapes are kept for clients that come back, beside those in use.
const TAPES_KEPT: usize = 8;

/// Follows tasks. Cheap to clone; it ends with the last clone and the last client.
#[derive(Debug, Clone)]
pub struct Hub(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    core: Arc<Core>,
    /// A byte makes the thread look again, its end makes it end.
    nudge: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Core {
    /// None where there is no such thing, or too many are in use already.
    notices: Option<Notices>,
    tasks: Mutex<Tasks>,
}

#[derive(Debug, Default)]
struct Tasks {
    next: u64,
    all: HashMap<u64, Task>,
    by_path: HashMap<PathBuf, u64>,
    by_watch: HashMap<i32, Vec<(u64, WatchedDir)>>,
    /// Locks that are to be looked at: when, of which task, and how often that was done already.
    looks: BTreeSet<(Instant, u64, usize)>,
    /// Why some are only looked at now and then.
    trouble: Option<String>,
    tapes: Shelf,
    /// Who hears of what is made in other directories than those of tasks, by watch.
    directories: Directories,
}

#[derive(Debug)]
struct Task {
    followed: Arc<Followed>,
    users: usize,
    watches: Vec<i32>,
    /// The kernel tells of it.
    told: bool,
    /// Somebody wants to hear what its agents print.
    output: bool,
}

/// Which directory of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WatchedDir {
    Task,
    Turns,
}

/// The tapes that are in use, and the last few that were.
#[derive(Default)]
struct Shelf {
    all: HashMap<(String, u32), Weak<Tapes>>,
    kept: VecDeque<Arc<Tapes>>,
}

impl std::fmt::Debug for Shelf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shelf").field("all", &self.all.len()).finish_non_exhaustive()
    }
}

impl Hub {
    pub fn new() -> io::Result<Self> {
        Self::with(Notices::new())
    }

    /// Where the kernel tells of nothing.
    #[cfg(test)]
    pub(super) fn without_notices() -> Self {
        Self::with(Err(io::ErrorKind::Unsupported.into())).unwrap()
    }

    fn with(notices: io::Result<Notices>) -> io::Result<Self> {
        let (nudge, nudged) = UnixStream::pair()?;
        nudge.set_nonblocking(true)?;
        nudged.set_nonblocking(true)?;
        let mut tasks = Tasks::default();
        let notices = notices.map_err(|error| tasks.trouble = Some(no_notices(&error))).ok();
        let core = Arc::new(Core { notices, tasks: Mutex::new(tasks) });
        let thread = {
            let core = Arc::clone(&core);
            std::thread::Builder::new().name("follow".into()).spawn(move || core.run(&nudged))?
        };
        Ok(Self(Arc::new(Shared { core, nudge: Some(nudge), thread: Some(thread) })))
    }

    /// Begins to follow a task.
    pub fn open(&self, dir: &TaskDir, kinds: Kinds, opening: Opening) -> Result<Follow, FollowError> {
        // Told of changes before the first look, so that none is missed.
        let watched = self.watch(dir).map_err(FollowError::Lock)?;
        Follow::open(watched, kinds, opening)
    }

    /// What an agent printed in one turn, at any place; none: there was no such turn.
    pub fn pages(
        &self,
        dir: &TaskDir,
        kinds: Kinds,
        turn: u32,
        side: Side,
    ) -> Result<Option<Pages>, FollowError> {
        match side {
            Side::Told => Ok(Interleave::new(self.clone(), dir, kinds)?.tapes_of(turn)?.map(Pages::told)),
            Side::Raw => Ok(Some(Pages::plain(dir.turn_path(turn, "raw")))),
            Side::Stderr => Ok(Some(Pages::plain(dir.turn_path(turn, "err")))),
        }
    }

    /// Begins to watch whether something is new in a task, without reading it.
    pub fn watch(&self, dir: &TaskDir) -> io::Result<Watched> {
        self.watch_for(dir, Interest::All)
    }

    /// Begins to watch the record of a task alone: agents may print as much as they like. The bell rings from now on.
    pub fn watch_record(&self, dir: &TaskDir, bell: &Bell) -> io::Result<WatchedRecord> {
        Ok(WatchedRecord::new(self.watch_for(dir, Interest::Record)?, bell))
    }

    fn watch_for(&self, dir: &TaskDir, interest: Interest) -> io::Result<Watched> {
        let core = &self.0.core;
        // Watched before the first look, so that a driver that ends in between is heard of.
        let (id, followed) = core.add(dir, interest);
        let watched = Watched::new(self.clone(), Arc::clone(&followed));
        let driven = followed.look()?;
        let mut tasks = core.lock();
        let told = tasks.all.get(&id).is_some_and(|task| task.told);
        if driven && told && !dir.journal_path().exists() {
            tasks.looks.insert((Instant::now() + LOOK_WITHOUT_JOURNAL, id, AFTER_CLOSING.len()));
        }
        drop(tasks);
        self.nudge();
        Ok(watched)
    }

    /// Why some tasks are not followed by what the kernel tells but by a look now and then; none: all are.
    pub fn trouble(&self) -> Option<String> {
        self.0.core.lock().trouble.clone()
    }

    /// How many tasks are followed now.
    pub fn tasks(&self) -> usize {
        self.0.core.lock().all.len()
    }

    fn nudge(&self) {
        if let Some(mut nudge) = self.0.nudge.as_ref() {
            // Full: it will look anyway.
            let _ = nudge.write(&[1]);
        }
    }

    pub(super) fn let_go(&self, followed: &Arc<Followed>) {
        self.0.core.let_go(followed);
    }

    /// The tapes of a turn: those that others have already, or new ones.
    pub(super) fn tapes(&self, tag: &str, turn: u32, make: impl FnOnce() -> Tapes) -> Arc<Tapes> {
        let mut tasks = self.0.core.lock();
        let shelf = &mut tasks.tapes;
        let key = (tag.to_owned(), turn);
        let tapes = match shelf.all.get(&key).and_then(Weak::upgrade) {
            Some(tapes) => tapes,
            None => {
                shelf.all.retain(|_, tapes| tapes.strong_count() > 0);
                let tapes = Arc::new(make());
                shelf.all.insert(key, Arc::downgrade(&tapes));
                tapes
            }
        };
        shelf.kept.retain(|kept| !Arc::ptr_eq(kept, &tapes));
        shelf.kept.push_back(Arc::clone(&tapes));
        if shelf.kept.len() > TAPES_KEPT {
            shelf.kept.pop_front();
        }
        tapes
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.nudge = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn no_notices(error: &io::Error) -> String {
    format!(
        "the kernel tells of no more files (inotify: {error}); tasks are looked at 3 times a second instead"
    )
}

impl Core {
    fn lock(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, dir: &TaskDir, interest: Interest) -> (u64, Arc<Followed>) {
        let mut tasks = self.lock();
        let known = tasks.by_path.get(dir.path()).copied();
        if let Some(id) = known
            && let Some(task) = tasks.all.get_mut(&id)
            && !task.followed.is_gone()
            // A directory of the same name may be another task by now: its inode tells.
            && task.followed.is_there()
        {
            task.users += 1;
            let followed = Arc::clone(&task.followed);
            if interest == Interest::All && !std::mem::replace(&mut task.output, true) {
                let told = task.told && self.tell_of(&mut tasks, id, WatchedDir::Turns);
                tasks.all.get_mut(&id).into_iter().for_each(|task| task.told = told);
            }
            return (id, followed);
        }
        tasks.next += 1;
        let id = tasks.next;
        let followed = Arc::new(Followed::new(dir));
        tasks.by_path.insert(dir.path().to_owned(), id);
        let output = interest == Interest::All;
        let task =
            Task { followed: Arc::clone(&followed), users: 1, watches: Vec::new(), told: false, output };
        tasks.all.insert(id, task);
        let told =
            self.tell_of(&mut tasks, id, WatchedDir::Task) && self.tell_of(&mut tasks, id, WatchedDir::Turns);
        if let Some(task) = tasks.all.get_mut(&id) {
            task.told = told;
        }
        (id, followed)
    }

    /// Has the kernel tell of a directory of a task. False: it does not.
    fn tell_of(&self, tasks: &mut Tasks, id: u64, place: WatchedDir) -> bool {
        let (Some(notices), Some(task)) = (&self.notices, tasks.all.get_mut(&id)) else { return false };
        if place == WatchedDir::Turns && !task.output {
            return true;
        }
        let path = match place {
            WatchedDir::Task => task.followed.dir.path().to_owned(),
            WatchedDir::Turns => task.followed.dir.path().join("turns"),
        };
        // inotify gives the same number for a directory that is watched already, so several tasks or surfaces can
        // share one.
        match notices.tell_of(&path) {
            Ok(watch) => {
                if !task.watches.contains(&watch) {
                    task.watches.push(watch);
                }
                let who = tasks.by_watch.entry(watch).or_default();
                if !who.contains(&(id, place)) {
                    who.push((id, place));
                }
                true
            }
            // One that is not there yet says so by being made.
            Err(error) if error.kind() == io::ErrorKind::NotFound => place == WatchedDir::Turns,
            Err(error) => {
                task.told = false;
                if tasks.trouble.is_none() {
                    let trouble = no_notices(&error);
                    tracing::warn!("{trouble}");
                    tasks.trouble = Some(trouble);
                }
                false
            }
        }
    }

    fn let_go(&self, followed: &Arc<Followed>) {
        let mut guard = self.lock();
        let tasks = &mut *guard;
        let Some((&id, task)) = tasks.all.iter_mut().find(|(_, task)| Arc::ptr_eq(&task.followed, followed))
        else {
            return;
        };
        task.users -= 1;
        if task.users > 0 {
            return;
        }
        let watches = std::mem::take(&mut task.watches);
        tasks.all.remove(&id);
        if tasks.by_path.get(followed.dir.path()) == Some(&id) {
            tasks.by_path.remove(followed.dir.path());
        }
        tasks.looks.retain(|(_, of, _)| *of != id);
        for watch in watches {
            let Some(who) = tasks.by_watch.get_mut(&watch) else { continue };
            who.retain(|(of, _)| *of != id);
            if who.is_empty() {
                tasks.by_watch.remove(&watch);
                if tasks.directories.has(watch) {
                    continue;
                }
                self.notices.iter().for_each(|notices| notices.forget(watch));
            }
        }
    }

    fn run(&self, nudged: &UnixStream) {
        loop {
            let timeout = self.sleep().and_then(|time| Timespec::try_from(time).ok());
            let mut ready = vec![PollFd::new(nudged, PollFlags::IN)];
            ready.extend(self.notices.as_ref().map(|notices| PollFd::new(notices, PollFlags::IN)));
            match poll(&mut ready, timeout.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                // A kernel that cannot poll tells nobody anything.
                Err(_) => return,
            }
            let mut bytes = [0_u8; 64];
            // End of file: the last `Hub` is gone. A nudge that carries bytes only ends the sleep.
            if (&*nudged).read(&mut bytes).is_ok_and(|count| count == 0) {
                return;
            }
            if let Some(notices) = &self.notices {
                notices.take(|watch, change| self.heard(watch, change));
            }
            self.look_at_locks();
            self.look_at_untold();
        }
    }

    fn sleep(&self) -> Option<Duration> {
        let tasks = self.lock();
        let untold = tasks.all.values().any(|task| !task.told).then_some(LOOK_EVERY);
        let next = tasks.looks.first().map(|(at, ..)| at.saturating_duration_since(Instant::now()));
        untold.into_iter().chain(next).min()
    }

    fn heard(&self, watch: i32, change: Change<'_>) {
        let mut tasks = self.lock();
        if change == Change::Missed {
            // Whatever it was, all are asked.
            // The kernel's queue was full and events are lost, which ones nobody knows.
            let all: Vec<u64> = tasks.all.keys().copied().collect();
            for id in all {
                self.tell_of(&mut tasks, id, WatchedDir::Turns);
                tasks.look_soon(id);
                tasks.ring(id);
            }
            tasks.directories.ring_all();
            return;
        }
        tasks.directories.heard(watch, change);
        if change == Change::Forgotten {
            let who = tasks.by_watch.remove(&watch).unwrap_or_default();
            for (id, _) in who {
                if let Some(task) = tasks.all.get_mut(&id) {
                    task.watches.retain(|own| *own != watch);
                }
                tasks.ring(id);
            }
            return;
        }
        for (id, place) in tasks.by_watch.get(&watch).cloned().unwrap_or_default() {
            match (place, change) {
                (WatchedDir::Task, Change::Moved) => {
                    if let Some(task) = tasks.all.get(&id) {
                        task.followed.set_gone();
                    }
                }
                (WatchedDir::Task, Change::Made(b"turns")) => {
                    self.tell_of(&mut tasks, id, WatchedDir::Turns);
                    tasks.ring(id);
                }
                (WatchedDir::Task, Change::Closed(b"journal.jsonl" | b"lock")) => tasks.look_soon(id),
                (WatchedDir::Task, Change::Grown(b"journal.jsonl") | Change::Made(b"journal.jsonl")) => {
                    // Somebody writes to it: perhaps it is taken up again.
                    if tasks.all.get(&id).is_some_and(|task| !task.followed.is_driven()) {
                        tasks.look_soon(id);
                    }
                    tasks.ring(id);
                }
                (WatchedDir::Turns, Change::Grown(name) | Change::Made(name))
                    if name.ends_with(b".raw") || name.ends_with(b".err") =>
                {
                    if let Some(task) = tasks.all.get(&id) {
                        task.followed.ring_output();
                    }
                }
                _ => {}
            }
        }
    }

    /// Looks at the locks that may have been let go.
    fn look_at_locks(&self) {
        loop {
            let mut tasks = self.lock();
            let now = Instant::now();
            let Some(&due) = tasks.looks.first().filter(|(at, ..)| *at <= now) else { return };
            tasks.looks.remove(&due);
            let (_, id, nth) = due;
            let Some(followed) = tasks.all.get(&id).map(|task| Arc::clone(&task.followed)) else { continue };
            drop(tasks);
            // Without the hub's lock, because a look at a file lock can take time on a network file system. An error
            // counts as still driven: a client that is told of an end it cannot trust would stop too early.
            if !followed.look().unwrap_or(true) {
                continue;
            }
            let again = match AFTER_CLOSING.get(nth + 1) {
                Some(again) => Some(*again),
                None => (!followed.dir.journal_path().exists()).then_some(LOOK_WITHOUT_JOURNAL),
            };
            if let Some(again) = again {
                self.lock().looks.insert((now + again, id, nth + 1));
            }
        }
    }

    /// Looks at the tasks of which nobody tells us anything.
    fn look_at_untold(&self) {
        let untold: Vec<Arc<Followed>> = {
            let tasks = self.lock();
            let untold = tasks.all.values().filter(|task| !task.told);
            untold.map(|task| Arc::clone(&task.followed)).collect()
        };
        for followed in untold {
            if followed.is_gone() {
                continue;
            }
            if followed.is_there() {
                let _ = followed.look();
                followed.ring();
            } else {
                followed.set_gone();
            }
        }
    }
}

impl Tasks {
    fn ring(&self, id: u64) {
        if let Some(task) = self.all.get(&id) {
            task.followed.ring();
        }
    }

    fn look_soon(&mut self, id: u64) {
        // A look that is due already is made anew: its moments are counted from the newest closing.
        self.looks.retain(|(_, of, nth)| *of != id || *nth >= AFTER_CLOSING.len());
        self.looks.insert((Instant::now() + AFTER_CLOSING[0], id, 0));
    }
}
