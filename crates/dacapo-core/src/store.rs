//! What is on disk: the layout, the journal with its one writer, the locks.

mod changes;
mod inbox;
mod journal;
mod layout;
mod limits;
mod lock;
mod places;
mod task_dir;

pub use changes::{Changes, Woken};
pub use inbox::{Inbox, Watch};
pub use journal::{Journal, JournalError, Reader, note, read};
pub use layout::{Home, RepoDir};
pub use limits::{AccountKey, ProbeLock, SharedLimit, SharedLimits};
pub use lock::{Lock, LockError, WorkspaceLock};
pub use places::{Held, Places, Seat, Ticket};
pub use task_dir::{CreateError, OpenError, TaskDir};
