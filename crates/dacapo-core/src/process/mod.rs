//! Children: guard, stream, stop ladder, whole-tree kill, liveness by evidence.
//!
//! Every foreign command (agent, check, setup) is a [`Job`] that a [`Launcher`] starts under a guard:
//!
//! ```text
//!   runner ──socket──► guard ──► job ──► whatever it starts
//!     ▲  one thread a job: pipes → mask → raw file ◄── Follower (parser, log, replay)
//!     └── done(Finished), once, when the tree is empty and the output is on file
//! ```
//!
//! - [`guard`]: the process that ends the whole tree whoever dies: job, runner, or both.
//! - [`launcher`](Launcher), `pump`: start, stop and see a job to its end.
//! - [`stream`]: raw files, written and followed. [`mask`]: no secret gets into one.
//! - [`Room`]: the part of the machine that a job sees.
//! - [`liveness`]: is it still at work?
//! - [`Supervision`]: short commands of our own, with a limit, under a guard where they can start others.
//! - [`sweep`]: after runner and guard were both killed.
//! - [`tasks_above`]: do we run below a guard or a runner, and whose?
//!
//! What a caller has to do:
//!
//! - `main` calls [`guard::main`] first thing when its first argument is [`guard::ARGUMENT`].
//! - Put `DACAPO_RUN=<tag>` ([`TAG_VARIABLE`]) into [`Job::env`]: `sweep` finds by it.
//! - Give the task's locks to [`Launcher::holding`], or a duplicate in [`Job::holds`]: the guard of a job has them until its
//!   tree is empty. The job never gets them, and nothing else that is started here does: all descriptors close on exec.
//! - Leave SIGPIPE ignored, as Rust's runtime does: a job may close its standard input early.
//!
//! A guard may be started from any thread: it does not ask for a signal on its parent's death (that would be the
//! *thread's*), it watches its socket.

mod ancestry;
pub mod guard;
mod guards;
mod job;
mod launcher;
pub mod liveness;
pub mod mask;
mod memory;
mod namespace;
#[cfg(target_os = "linux")]
mod procfs;
mod pump;
mod room;
mod signals;
mod ssh;
mod start;
pub mod stream;
mod supervised;
mod tree;
mod wire;

pub use crate::inherited_locks::hand_down;
pub(crate) use ancestry::is_runner;
pub use ancestry::{HomeId, HomeMark, TaskAbove, WorksFor, tasks_above};
pub use guards::Guards;
pub use job::{Exit, Finished, Job, LaunchError, Outputs, Stderr, Stdin, Stop, Unreachable};
pub use launcher::{Launcher, Running};
pub use liveness::TreeSample;
pub use mask::{Content, Masker, SecretScan, StreamMask, is_secret_name};
pub(crate) use memory::keep_memory_to_ourselves;
pub use namespace::PidNamespace;
pub use room::{
    Otherwise, Place, Processes, Room, RoomMade, RoomRefused, RoomStep, Shows, Trial, Trials, Walls,
};
pub use signals::{keep_descriptors_to_ourselves, survive_file_size_limit};
pub(crate) use ssh::ssh_settings_for_rooms;
pub(crate) use start::{Group, With};
pub use start::{RUNNER_ARGUMENT, leave};
pub use stream::{Follower, Progress, tail};
pub use supervised::{Cut, StopSignal, Supervision};
pub(crate) use supervised::{Ended, Reach, Reading, Supervised, Take};
pub use tree::{
    Swept, TAG_VARIABLE, can_see_processes, end_stopped_guards, guards_with_open, is_stopped, sweep,
    waits_for_git, wake,
};
pub(crate) use tree::{boot_time, file_may_be_in_use};
