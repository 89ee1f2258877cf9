//! The loop: a pure machine decides, the driver acts and writes the journal.
//!
//! [`machine`] is what a kind of task is to the driver, [`stop`] why loops go on or end. [`Driver`] carries effects out,
//! one at a time; [`turn`](Driver) and checks run as children while it listens to them, to signals and to the clock.

pub(crate) mod checks;
mod driver;
mod durability;
mod identity;
mod inspect;
mod left_locks;
mod limits;
pub mod machine;
mod mirroring;
mod orders;
mod overheard;
mod own_branch;
mod own_worktree;
mod planted;
mod proof;
pub(crate) mod proving;
mod reader;
mod setup;
mod standing;
pub mod stop;
mod surroundings;
mod talk;
mod talker;
mod tampering;
pub(crate) mod turn;
mod turn_end;
mod vigil;
mod voice;
mod watch;
mod workspace;
mod writing;

pub use driver::Driver;
pub use own_branch::astray;
pub use standing::Row;
pub use surroundings::{Activity, Answers, Control, DriverError, Reply, Setting, Sink};
pub use watch::{Step, Watch, WatchError};
