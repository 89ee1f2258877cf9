//! What is around the driver: who is shown what it does, who can tell it what to do, what it is given, what it cannot do.

use std::path::PathBuf;
use std::time::Duration;

use super::admission::QueueEntry;
use super::kind::{Kinds, NotThatKind};
use super::mailbox::{Message, Outbox, Report};
use crate::agent::acp::Question;
use crate::env::Env;
use crate::event::{AgentEvent, Envelope, WorkspaceProblem, words};
use crate::files::FileAction;
use crate::git::{GitError, Oid, WorktreeError};
use crate::process::{LaunchError, Supervision};
use crate::spec::{ProofPolicy, Writing};
use crate::store::{InheritedLocks, JournalError, OpenError, SharedLimits};

/// What people and programs are shown. Called from the driver's own thread, in order.
pub trait Sink {
    /// An event is in the journal.
    fn event(&mut self, line: &Envelope);

    /// The agent did something; `after` is the event before it, `sub` counts from there.
    fn agent(&mut self, after: &Envelope, sub: u64, event: &AgentEvent);

    /// Something began that is no event yet.
    fn activity(&mut self, activity: &Activity<'_>);

    /// How often it wants to be called when nothing happens, to show that time passes.
    fn tick_every(&self) -> Option<Duration> {
        None
    }

    /// Called regularly, so that a clock on the screen can move on.
    fn tick(&mut self) {}

    /// A person is to decide; the answer goes to `reply`, whenever it comes. False: there is nobody to ask.
    fn ask(&mut self, question: &Question, reply: &Reply) -> bool {
        let _ = (question, reply);
        false
    }

    /// What was asked last needs no answer any more.
    fn withdraw(&mut self) {}
}

/// Takes a person's answer to a [`Question`], from any thread.
#[derive(Debug, Clone)]
pub struct Reply {
    outbox: Outbox,
    number: u64,
}

impl Reply {
    pub(super) fn new(outbox: Outbox, question: &Question) -> Self {
        Self { outbox, number: question.number }
    }

    /// The choice with this place in the question; none: it is refused. An answer that comes too late changes nothing.
    pub fn choose(&self, choice: Option<usize>) {
        self.outbox.report(Report::Answer { number: self.number, choice });
    }
}

/// Something that takes time has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity<'a> {
    /// A command makes the fresh worktree usable.
    Setup(&'a str),
    Check(&'a str),
    /// A checkout of this commit is made, to prove it there.
    Proving(&'a Oid),
    /// A model writes about the iteration.
    Writing {
        /// A commit message or a summary.
        what: Writing,
        /// The model.
        by: &'a str,
    },
    /// What the iteration left is being committed.
    Committing,
    /// The agent is being stopped.
    Stopping,
}

/// What Dacapo itself could not do. The task stays as it is and can be resumed.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// What was asked for does not read, or is not what the journal vouches for.
    #[error(transparent)]
    Spec(#[from] OpenError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error("cannot {what} {}: {source}", path.display())]
    File { what: FileAction, path: PathBuf, source: std::io::Error },
    /// The kind of task.
    #[error(transparent)]
    Kind(#[from] NotThatKind),
    /// The row of tasks that wait for a place.
    #[error("cannot wait for a slot: {source}")]
    Queue { source: std::io::Error },
    /// The place to work in is not what it was.
    #[error("{}", words::workspace(.0))]
    Workspace(WorkspaceProblem),
    /// The state does not change, whatever is done.
    #[error(
        "the journal of task '{task}' is inconsistent: it asks for the same step over and over. Nothing more was \
         started; its branch and files are unchanged"
    )]
    NoProgress { task: String },
}

impl DriverError {
    /// A git was ended because the task is to end.
    pub(super) fn is_by_stop(&self) -> bool {
        match self {
            Self::Git(error) | Self::Worktree(WorktreeError::Git(error)) => error.is_by_stop(),
            Self::Journal(_)
            | Self::Spec(_)
            | Self::Worktree(_)
            | Self::Launch(_)
            | Self::File { .. }
            | Self::Kind(_)
            | Self::Queue { .. }
            | Self::Workspace(_)
            | Self::NoProgress { .. } => false,
        }
    }

    /// The command that removes a lock of git's which is in the way.
    pub fn unlock_command(&self) -> Option<String> {
        match self {
            Self::Git(error) | Self::Worktree(WorktreeError::Git(error)) => error.unlock_command(),
            Self::Journal(_)
            | Self::Spec(_)
            | Self::Worktree(_)
            | Self::Launch(_)
            | Self::File { .. }
            | Self::Kind(_)
            | Self::Queue { .. }
            | Self::Workspace(_)
            | Self::NoProgress { .. } => None,
        }
    }
}

/// Who answers what the agent asks a person for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// Whoever the sink can ask.
    Here,
    /// Anybody, by a command, whenever it comes.
    FromAfar,
}

/// Where that is which decides about tasks, and which their agents may not change.
#[derive(Debug, Clone)]
pub struct GuardedPlaces {
    /// The data directory.
    pub home: PathBuf,
    /// The directory of the user's settings; none: there is none.
    pub settings: Option<PathBuf>,
}

/// What the driver is given by the program around it.
#[derive(Debug)]
pub struct DriverContext {
    /// Our own program, run again as guard and as scripted agent.
    pub program: PathBuf,
    pub env: Env,
    /// How git is kept from running for ever, and where guards come from; what stops it is the driver's.
    pub supervision: Supervision,
    /// The locks that the task's git and guards hold together with whoever drives it: the task's own, and that of a
    /// checkout that it works in.
    pub locks: InheritedLocks,
    /// The user's own settings and confirmations: files, and directories of files. Whoever changes them during a turn is named.
    pub user_settings: Vec<PathBuf>,
    /// The places that no command of a task may change; none: they are not confined.
    pub guarded: Option<GuardedPlaces>,
    /// What this process is called in the journal.
    pub version: String,
    /// Where tasks of this machine leave word of usage limits.
    pub limits: SharedLimits,
    /// More iterations, for a task that is taken up again.
    pub more_iterations: Option<u32>,
    /// What a person adds to the prompt of a task that is taken up again.
    pub follow_up: Option<String>,
    /// How commits are proven from now on, where that changes.
    pub proof: Option<ProofPolicy>,
    /// The kinds of task that are known.
    pub kinds: Kinds,
    /// Whether commands may answer what a turn asks where nobody is at hand.
    pub answers: Answers,
    /// The queue of those of which one is at work in the repository (M2), waited for first; none: it need not wait.
    pub repo_slot: Option<QueueEntry>,
    /// The queue of those who want to work at once on this machine; none: it need not wait.
    pub machine_slot: Option<QueueEntry>,
}

/// Tells a driver what to do from another thread.
#[derive(Debug, Clone)]
pub struct Control(pub(super) Outbox);

impl Control {
    /// The task is to end: its agent is stopped, what it left is committed. False: it has ended already.
    pub fn stop(&self, by: &str) -> bool {
        self.0.send(Message::Stop { by: by.to_owned() })
    }
}
