//! What is on disk: the layout, the journal with its one writer, the locks.

pub mod at_work;
mod changes;
pub mod files;
mod fitness;
mod inbox;
mod index;
mod journal;
mod layout;
mod limits;
mod lock;
#[cfg(target_os = "linux")]
mod notices;
mod places;
mod ports;
mod record;
mod seal;
mod sizes;
mod task_dir;

pub use changes::{Changes, Woken};
pub use fitness::{Unfit, can_lock, fit};
pub use inbox::{Inbox, Watch};
pub use index::{Index, Stamp};
pub use journal::{Journal, JournalError, Reader, note, read, read_sealed};
pub use layout::{Home, RepoDir};
pub use limits::{AccountKey, ProbeLock, SharedLimit, SharedLimits};
pub use lock::{Lock, LockError, LockTarget, WorkspaceLock};
pub(crate) use places::Bell;
pub use places::{Held, Places, Seat, Taken, Ticket};
pub use ports::{PORTS, PortLease, Ports};
pub use record::{Fault, Faults, Record};
pub use sizes::{Size, disk_usage, keep_sizes, measure, sizes};
pub use task_dir::{CreateError, OpenError, TaskDir};
