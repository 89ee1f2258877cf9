//! What is on disk: the layout, the journal with its one writer, the locks.

mod fitness;
mod inbox;
mod journal;
mod layout;
mod limits;
mod lock;
mod occupied;
mod places;
mod ports;
mod task_dir;

pub use fitness::{Unfit, can_lock, fit};
pub use inbox::{Inbox, Watch};
pub use journal::{Journal, JournalError, Reader, note, read};
pub use layout::{Home, RepoDir};
pub use limits::{AccountKey, ProbeLock, SharedLimit, SharedLimits};
pub use lock::{Lock, LockError, WorkspaceLock};
pub use occupied::occupied;
pub use places::{Held, Places, Seat, Ticket};
pub use ports::{PORTS, PortLease, Ports};
pub use task_dir::{CreateError, OpenError, TaskDir};
