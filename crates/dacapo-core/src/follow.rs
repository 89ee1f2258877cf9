//! Follows tasks that other processes drive: what they write down, what their agents do, and when they come to rest.
//!
//! One [`Hub`] a process: one thread and one inotify instance, however many tasks are followed by however many clients. A
//! [`Follow`] is a client's place in one task; whoever asks it reads and parses, so that nothing is queued for somebody who
//! does not ask. What clients can rely on is in docs/design/follow.md.

use std::io;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::engine::Activity;
use crate::event::{AgentEvent, Envelope, FORMAT, TaskResult};
use crate::git::Oid;
use crate::spec::Writing;
use crate::store::{JournalError, OpenError};

mod followed;
mod hub;
mod interleave;
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
    /// With all events, which are few, but with only the last this many things that the agent did in the current turn.
    Tail(usize),
    /// With all events, and never anything of what agents did.
    Events,
}

/// Which of an agent's streams something came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// What the agent prints.
    Stdout,
    /// Some agents say there that they repeat a model call.
    Stderr,
}

/// What a client is told. As JSON it is one flat object.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(remote = "Self", tag = "item", rename_all = "snake_case")]
#[schemars(rename = "FollowItem")]
pub enum Item {
    /// An event is in the journal.
    Event(Box<Envelope>),
    /// The agent did something. `turn`, `stream` and `offset` together identify it.
    Agent {
        /// The turn's number.
        turn: u32,
        /// Where the agent said so.
        stream: Stream,
        /// Where in that stream the line begins that says so, in bytes.
        offset: u64,
        /// What the agent did.
        event: AgentEvent,
    },
    /// What goes on now. It is not recorded: a client that connects later gets what is current then.
    Activity(Doing),
    /// Everything that was on file has been delivered. What follows is new. Once for each client.
    CaughtUp,
    /// Nobody drives the task, and everything that it said has been delivered. If it is resumed, more follows.
    Over(Rest),
}

impl Serialize for Item {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Line<'a> {
            v: u32,
            #[serde(flatten, serialize_with = "plain")]
            item: &'a Item,
        }
        fn plain<S: Serializer>(item: &&Item, serializer: S) -> Result<S::Ok, S::Error> {
            Item::serialize(item, serializer)
        }
        match self {
            // It has the version of its line.
            Self::Event(_) => plain(&self, serializer),
            Self::Agent { .. } | Self::Activity(_) | Self::CaughtUp | Self::Over(_) => {
                Line { v: FORMAT, item: self }.serialize(serializer)
            }
        }
    }
}

/// How a task came to rest.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "rest", rename_all = "snake_case")]
pub enum Rest {
    /// It has ended.
    Ended(Box<TaskResult>),
    /// Its process is gone without a word.
    Interrupted,
    /// Its directory was removed, renamed or dropped: nothing more follows.
    Gone,
}

/// What goes on between two events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "doing", rename_all = "snake_case")]
pub enum Doing {
    /// A check runs.
    Check {
        /// The check's command.
        command: String,
    },
    /// A checkout of a commit is made, to prove it there.
    Proving {
        /// The commit.
        #[serde(rename = "commit_id")]
        commit: Oid,
    },
    /// A model writes about the iteration.
    Writing {
        /// What it writes.
        what: Writing,
        /// The model, or the agent if its model has no name.
        by: String,
    },
    /// What the iteration changed is being committed.
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
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// What its agent prints.
    #[error("cannot read {}: {source}", path.display())]
    Output { path: PathBuf, source: io::Error },
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
