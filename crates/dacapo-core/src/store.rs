//! What is on disk: the layout, the journal with its one writer, the locks.

pub mod at_work;
mod fitness;
mod inbox;
mod index;
mod integrity;
mod journal;
mod layout;
mod lock;
#[cfg(target_os = "linux")]
pub(crate) mod notices;
mod one_time;
mod ports;
mod rename_record;
mod seal;
mod sizes;
mod slots;
mod task_dir;
mod usage_limits;

pub use crate::files;
pub use crate::inherited_locks::InheritedLocks;
pub use fitness::{Unfit, can_lock, fit};
pub use inbox::{Inbox, InboxWatch};
pub use index::Index;
pub(crate) use index::Stamp;
pub use integrity::{Fault, Faults, Record, SpecDoubt};
pub(crate) use journal::read_beside;
pub use journal::{Journal, JournalError, Reader, note, read, read_sealed};
pub use layout::{Home, RepoDir};
pub use lock::{Lock, LockError, LockTarget, WorkspaceLock};
pub(crate) use ports::PortLease;
pub use ports::{PORTS, Ports};
pub use rename_record::{OwnWorktree, RenameRecord, TaskLocation};
pub use sizes::{Size, disk_usage, keep_sizes, measure, sizes};
pub(crate) use slots::Bell;
pub use slots::{Entered, QueueTicket, SlotLease, Slots, Taken};
pub(crate) use task_dir::sha256;
pub use task_dir::{CreateError, OpenError, TaskDir};
pub(crate) use usage_limits::ProbeLock;
pub use usage_limits::{AccountKey, SharedLimit, SharedLimits};
