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
use crate::git::{Carried, Repo, WorktreeError, durable};
use crate::store::{Journal, TaskDir};

/// What is to be forced to disk, in this order: new objects, then the refs that name them, then the journal.
#[derive(Default)]
pub(super) struct Order {
    /// The object directory.
    pub(super) objects: PathBuf,
    /// Files of loose refs.
    pub(super) refs: Vec<PathBuf>,
    /// Then what is new is carried into the user's repository.
    carry: Option<Carrier>,
}

impl Order {
    pub(super) fn of(objects: PathBuf, refs: Vec<PathBuf>) -> Self {
        Self { objects, refs, carry: None }
    }
}

/// Carries what a task commits in its own repository into the user's (S3).
#[derive(Debug, Clone)]
pub(super) struct Carrier {
    pub(super) user: Repo,
    pub(super) worktree: PathBuf,
    /// The task's branch, by its full name.
    pub(super) branch: String,
    /// Where its rescue refs are.
    pub(super) rescue: String,
}

impl Carrier {
    pub(super) fn carry(&self) -> Result<Carried, WorktreeError> {
        self.user.carry_now(&self.worktree, &self.branch, &self.rescue)
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
                    if answer.send(force(&order, from, &file)).is_err() {
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
        let order = Order { carry: self.carrier.clone(), ..std::mem::take(&mut self.next) };
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
        self.begin();
        self.wait();
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn force(order: &Order, since: SystemTime, journal: &File) -> Vec<Notice> {
    // A ref on disk that names an object which is not would be a corrupt repository after a power cut; a journal that
    // names a commit which is gone would be a task that cannot be resumed.
    let done = durable::sync(&durable::written_since(&order.objects, since))
        .and_then(|()| durable::sync(&order.refs))
        .and_then(|()| journal.sync_data());
    let not_durable = |error: io::Error| Notice::NotDurable { error: error.to_string() };
    let mut notices: Vec<Notice> = done.err().map(not_durable).into_iter().collect();
    if let Some(carrier) = &order.carry {
        match carrier.carry() {
            Ok(_) => notices.extend(carrier.force(since).err().map(not_durable)),
            Err(error) => notices.push(Notice::NotCarried { error: error.to_string() }),
        }
    }
    notices
}
