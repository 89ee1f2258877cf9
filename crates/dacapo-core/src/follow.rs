//! Follows tasks that other processes drive: what they write down, what their agents do, and when they come to rest.
//!
//! One [`Hub`] a process: one thread and one inotify instance, however many tasks are followed by however many clients. A
//! [`Follow`] is a client's place in one task; whoever asks it reads and parses, so that nothing is queued for somebody who
//! does not ask. What clients can rely on is in docs/design/follow.md.

use std::io;
use std::path::PathBuf;

use serde::Serialize;

use crate::engine::Activity;
use crate::event::{AgentEvent, Envelope, TaskResult};
use crate::git::Oid;
use crate::spec::Writing;
use crate::store::{JournalError, OpenError};

mod followed;
mod hub;
mod merge;
mod pages;
mod position;
mod reading;
mod stream;
mod tape;
mod turn;

pub use followed::{Bell, Watched, WatchedRecord};
pub use hub::{Hub, WatchedDirectory};
pub use pages::{PageReader, Pages, Read, Side};
pub use position::{Mark, NoPosition, Position};
pub use reading::Group;
pub use stream::{Canceller, Follow};

/// Where a client begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opening {
    /// At the first event.
    Start,
    /// Behind what it was given last.
    After(Position),
    /// With all events, which are few, but of what agents did only with so many things, the last of the turn at work.
    Tail(usize),
    /// With all events, and never anything of what agents did.
    Events,
}

/// Which of an agent's streams something came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// What it prints.
    Stdout,
    /// Where some agents say that they try a model call again.
    Stderr,
}

/// What a client is told. As JSON one flat object: `item` says what it is, an event has the fields of its line in the journal.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "item", rename_all = "snake_case")]
pub enum Item {
    /// An event is in the journal.
    Event(Box<Envelope>),
    /// The agent did something.
    Agent {
        /// In which turn.
        turn: u32,
        /// Where it said so.
        stream: Stream,
        /// Where the line begins that says so; together with turn and stream it names it.
        offset: u64,
        /// What.
        event: AgentEvent,
    },
    /// This goes on now. It is no part of the record: who comes back is told what goes on then.
    Activity(Doing),
    /// All that was on file has been delivered; from now on it is news. Once a client.
    CaughtUp,
    /// Nobody drives the task, and all that it said has been delivered. It may be taken up again: then more comes.
    Over(Rest),
}

/// How a task came to rest.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "rest", rename_all = "snake_case")]
pub enum Rest {
    /// It has ended.
    Ended(Box<TaskResult>),
    /// Its process is gone without a word.
    Interrupted,
    /// Its directory was put away, renamed or removed: nothing will ever come any more.
    Gone,
}

/// What goes on between two events, by the task's own machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "doing", rename_all = "snake_case")]
pub enum Doing {
    /// A check runs.
    Check { command: String },
    /// A checkout of this commit is made, to prove it there.
    Proving { commit: Oid },
    /// A model writes about the iteration.
    Writing {
        /// What.
        what: Writing,
        /// Which one.
        by: String,
    },
    /// What the iteration left is being committed.
    Committing,
}

impl Doing {
    /// As the driver says it.
    pub fn activity(&self) -> Activity<'_> {
        match self {
            Self::Check { command } => Activity::Check(command),
            Self::Proving { commit } => Activity::Proving(commit),
            Self::Writing { what, by } => Activity::Writing { what: *what, by },
            Self::Committing => Activity::Committing,
        }
    }
}

/// A task cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// Its spec.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Its journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// What its agent prints.
    #[error("cannot read {}: {source}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Whether it is driven cannot be found out.
    #[error("cannot see whether it is driven: {0}")]
    Lock(io::Error),
    /// The position is one of another task, which had the same name.
    #[error("the position {0} is not one of this task: begin at its start")]
    OtherTask(Position),
    /// What the position is behind is not there any more: a power cut took it, or somebody has changed the files.
    #[error("the task has no position {0} any more: begin at its start")]
    Lost(Position),
}

#[cfg(test)]
mod tests;
