//! Forces commits and the journal to disk beside the next turn (K5): git by default forces nothing, and waiting for it in
//! the loop would cost half as much again.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use super::DriverError;
use crate::event::Notice;
use crate::files::FileAction;
use crate::git::{Carried, Found, GitError, Repo, WorktreeError, durable};
use crate::store::{Journal, TaskDir};

/// What is to be forced to disk, in this order: new objects, then the refs that name them, then the journal.
#[derive(Default)]
pub(super) struct Order {
    /// The object directory.
    pub(super) objects: PathBuf,
    /// Files of loose refs.
    pub(super) refs: Vec<PathBuf>,
    /// Then what is new is carried into the user's repository.
    load: Option<Load>,
}

impl Order {
    pub(super) fn of(objects: PathBuf, refs: Vec<PathBuf>) -> Self {
        Self { objects, refs, load: None }
    }
}

/// Carries what a task commits in its own repository into the user's (S3).
#[derive(Debug, Clone)]
pub(super) struct Carrier {
    pub(super) user: Repo,
    /// The task's.
    pub(super) own: Repo,
    /// The task's branch, by its full name.
    pub(super) branch: String,
    /// Where its rescue refs are.
    pub(super) rescue: String,
    /// Where links to the task's objects wait: the agent of the next turn can remove its whole worktree at once.
    pub(super) stage: PathBuf,
}

/// What is to be carried.
struct Load {
    carrier: Carrier,
    found: Result<Found, GitError>,
}

impl Carrier {
    /// What is not carried yet, from the task's repository itself.
    pub(super) fn carry(&self) -> Result<Carried, WorktreeError> {
        self.user.carry_now(self.own.toplevel(), &self.branch, &self.rescue)
    }

    /// Removes the links, when nobody works there any more.
    pub(super) fn clear_stage(&self) {
        // What stays only takes room.
        let _ = std::fs::remove_dir_all(&self.stage);
    }

    fn stage(&self, since: SystemTime) -> Result<Found, GitError> {
        self.own.link_objects((&self.branch, &self.rescue), &self.stage, since)
    }

    fn carry_staged(&self, found: &Found) -> Result<Carried, WorktreeError> {
        let names = (self.branch.as_str(), self.rescue.as_str());
        self.user.carry_staged(&self.own, (found, &self.stage), names)
    }

    /// Forces what was carried to disk, objects before the ref that names them.
    fn force(&self, since: SystemTime) -> io::Result<()> {
        durable::sync(&durable::written_since(&self.user.objects_dir(), since))?;
        durable::sync(&self.user.ref_files(Some(&self.branch)))
    }
}

/// File systems keep the time of their last tick, which may be a little before our own clock's.
const TICK: Duration = Duration::from_millis(20);

/// The thread that does it.
pub(super) struct Durability {
    orders: Option<Sender<Order>>,
    answers: Receiver<Vec<Notice>>,
    under_way: bool,
    carrier: Option<Carrier>,
    /// From when on objects of the task's repository may not have been carried.
    uncarried: SystemTime,
    began: SystemTime,
    /// What the next order will say.
    next: Order,
    thread: Option<JoinHandle<()>>,
}

impl Durability {
    pub(super) fn start(dir: &TaskDir, journal: &Journal) -> Result<Self, DriverError> {
        let path = dir.journal_path();
        let file = journal.file().map_err(|source| DriverError::File {
            what: FileAction::Open,
            path: path.clone(),
            source,
        })?;
        let (orders, ordered) = mpsc::channel::<Order>();
        let (answer, answers) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("durability".into())
            .stack_size(256 << 10)
            .spawn(move || {
                // There is all of a turn's time for it; the turn itself comes first. (Of the thread, and so of its gits.)
                #[cfg(target_os = "linux")]
                let _ = rustix::process::setpriority_process(None, 10);
                let mut since = SystemTime::now();
                while let Ok(order) = ordered.recv() {
                    let now = SystemTime::now();
                    // After a jump of the clock nothing is known of what is new: then everything is.
                    let from = if now < since { SystemTime::UNIX_EPOCH } else { since - TICK };
                    // Taken before the files are listed, so that what is written meanwhile is found by the next order
                    // as well.
                    since = now;
                    if answer.send(force(order, from, &file)).is_err() {
                        break;
                    }
                }
            })
            .map_err(|source| DriverError::File { what: FileAction::StartThread, path, source })?;
        Ok(Self {
            orders: Some(orders),
            answers,
            under_way: false,
            carrier: None,
            uncarried: SystemTime::UNIX_EPOCH,
            began: SystemTime::now() - TICK,
            next: Order::default(),
            thread: Some(thread),
        })
    }

    /// Sets by whom each order carries what is new; none: nothing is to be carried.
    pub(super) fn carry(&mut self, carrier: Option<Carrier>) {
        self.carrier = carrier;
    }

    pub(super) fn carrier(&self) -> Option<&Carrier> {
        self.carrier.as_ref()
    }

    /// Sets what the next order forces to disk.
    pub(super) fn set(&mut self, order: Order) {
        self.next = order;
    }

    /// Starts to force what has been added, and the journal as it is now.
    pub(super) fn begin(&mut self) {
        let now = SystemTime::now();
        let load = self.carrier.clone().map(|carrier| {
            let found = carrier.stage(self.uncarried);
            // What was linked stays linked until it is carried.
            if found.is_ok() {
                self.uncarried = now - TICK;
            }
            Load { carrier, found }
        });
        let order = Order { load, ..std::mem::take(&mut self.next) };
        self.under_way = self.orders.as_ref().is_some_and(|orders| orders.send(order).is_ok());
    }

    /// Waits for the order under way; says what went wrong.
    pub(super) fn wait(&mut self) -> Vec<Notice> {
        if !std::mem::take(&mut self.under_way) {
            return Vec::new();
        }
        self.answers.recv().unwrap_or_default()
    }

    /// Everything is on disk when this returns, as far as the disk can be believed.
    pub(super) fn finish(&mut self) {
        self.wait();
        // What was left is carried by now.
        if let Some(carrier) = self.carrier.take() {
            let _ = carrier.force(self.began);
        }
        self.begin();
        self.wait();
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn force(order: Order, since: SystemTime, journal: &File) -> Vec<Notice> {
    // A ref on disk that names an object which is not would be a corrupt repository after a power cut; a journal that
    // names a commit which is gone would be a task that cannot be resumed.
    let done = durable::sync(&durable::written_since(&order.objects, since))
        .and_then(|()| durable::sync(&order.refs))
        .and_then(|()| journal.sync_data());
    let not_durable = |error: io::Error| Notice::NotDurable { error: error.to_string() };
    let mut notices: Vec<Notice> = done.err().map(not_durable).into_iter().collect();
    if let Some(Load { carrier, found }) = order.load {
        match found.map_err(WorktreeError::from).and_then(|found| carrier.carry_staged(&found)) {
            Ok(_) => notices.extend(carrier.force(since).err().map(not_durable)),
            Err(error) => notices.push(Notice::NotCarried { error: error.to_string() }),
        }
    }
    notices
}
