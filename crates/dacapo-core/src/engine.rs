//! The loop: a pure machine decides, the driver acts and writes the journal.
//!
//! [`Kind`] is what a kind of task is to it, [`machine`] what decides for such a task, [`stop`] why loops go on or end. [`Driver`] carries effects out,
//! one at a time; [`turn`](Driver) and checks run as children while it listens to them, to signals and to the clock.

mod acp_process;
mod acp_stdin;
mod acp_turn;
mod admission;
pub(crate) mod checks;
pub(crate) mod confinement;
mod context;
mod driver;
mod durability;
mod earlier;
mod git_ended;
mod identity;
mod inspect;
mod kind;
mod kind_view;
mod left_locks;
mod listen;
mod litter;
pub mod machine;
mod mailbox;
pub mod mirroring;
mod moved_refs;
mod orders;
mod own_branch;
mod own_worktree;
mod planted;
mod proof;
pub(crate) mod proving;
pub(crate) mod reader;
mod room_layout;
mod room_policy;
mod secrets;
mod setup;
mod spec_file;
mod stderr_events;
mod step;
pub mod stop;
mod tampering;
mod task_journal;
pub(crate) mod turn;
mod turn_end;
mod untracked;
mod usage_limits;
mod watchdog;
mod work;
mod workspace;
pub(crate) mod writing;

pub use admission::QueueEntry;
pub use confinement::try_room;
pub use context::{Activity, Answers, Control, DriverContext, DriverError, GuardedPlaces, Reply, Sink};
pub use driver::Driver;
pub use kind::{Kind, Kinds, NotThatKind};
pub use kind_view::{Counts, KindView, Purpose};
pub use own_branch::astray;
pub use secrets::masker;
pub use setup::PORT_VARIABLE;
#[cfg(test)]
pub(crate) use step::Planned;
pub use untracked::untracked_before;
