//! The records inside events: what a turn, a commit and an iteration came to.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{CheckBrief, FailureKind, Fault, LeftFile, NotAllowed, Usage, WorkspaceProblem};
use crate::git::Oid;
use crate::spec::Writing;

/// How a turn ended, all evidence weighed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum TurnEnd {
    /// The agent did its turn.
    Done,
    /// It failed.
    Failed {
        /// Whether it may heal.
        failure: FailureKind,
        /// What went wrong.
        #[serde(flatten)]
        fault: Fault,
    },
    /// It ran into a usage limit.
    Limit {
        /// What it said.
        message: String,
        /// When it may go on.
        resets_at: Option<Timestamp>,
    },
    /// A person ended it.
    Cancelled,
    /// The budget ended it.
    Budget,
    /// The process that drove it died; nothing says that the agent had finished.
    Interrupted,
}

/// A usage limit that another task on this machine ran into, with the same account (L9).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownLimit {
    /// The agent of this task that uses the account.
    pub agent: String,
    /// What the other task's agent said.
    pub message: String,
    /// Which task found it, or tries whether it is over.
    pub by: String,
    /// When it ends. None: that time has come, and the other task is just trying whether it has ended.
    pub until: Option<Timestamp>,
    /// How often in a row its end was guessed, for want of a word about it.
    #[serde(default)]
    pub guesses: u32,
}

/// The record of one turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// Its number over the whole task.
    pub turn: u32,
    /// The iteration it belongs to.
    pub iteration: u32,
    /// How it ended.
    #[serde(flatten)]
    pub end: TurnEnd,
    /// The agent's conversation.
    pub session: Option<String>,
    /// The promise was said.
    pub promise: bool,
    /// Why the agent cannot go on without a person, in its own words (L18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// The agent's closing message, cleaned.
    pub summary: String,
    /// What it used.
    pub usage: Usage,
    /// How long it took.
    pub duration_ms: u64,
    /// How much it printed.
    pub output_bytes: u64,
    /// The exit code of its process, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What the agent was not allowed to do. Fatal only where nothing was done either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_allowed: Option<NotAllowed>,
    /// All of the agent's closing message, where the plan of the turn asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// It was ended because its time was up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// Of a turn that failed, the last lines that its agent wrote to standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
}

/// What came of asking. Whatever it is, it never costs the iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum WritingEnd {
    /// The words, cleaned.
    Done {
        /// They say something.
        text: String,
    },
    /// There was nothing to write about: nothing was said, or nothing changed.
    Nothing,
    /// No words could be had.
    Failed {
        /// Why.
        #[serde(flatten)]
        fault: Fault,
    },
    /// The task is to end: nobody waits for a model then.
    Cancelled,
}

/// The record of one call of a model beside the turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WritingRecord {
    /// The iteration it belongs to.
    pub iteration: u32,
    /// What was asked for.
    pub what: Writing,
    /// What came of it.
    #[serde(flatten)]
    pub end: WritingEnd,
    /// The model, or the agent where it has no name.
    pub by: String,
    /// What it used; part of the iteration's usage.
    pub usage: Usage,
    /// How long it took.
    pub duration_ms: u64,
}

/// What an iteration left in the tree.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CommitPlanned {
    /// The iteration.
    pub iteration: u32,
    /// The commit that holds it; none when there is nothing to commit.
    pub commit: Option<Oid>,
    /// Where the branch is moved from.
    pub parent: Option<Oid>,
    /// First line of the message.
    pub subject: String,
    /// Paths that differ from the iteration's start commit, at most [`CommitPlanned::MOST_FILES`].
    pub changed_files: Vec<String>,
    /// How many they are in truth.
    pub changed_total: u32,
    /// What was left out of the commit and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftFile>,
    /// What makes this iteration a failed one: nested repositories, a half-done merge, a HEAD that went elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<WorkspaceProblem>,
}

impl CommitPlanned {
    /// A change of more files than this is counted, not listed: a journal line is for people too.
    pub const MOST_FILES: usize = 1000;
}

/// How an iteration went, as the trailer in its commit says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The agent did its turn.
    Success,
    /// It did not.
    Failure,
    /// It was ended from outside.
    Cancelled,
}

impl Ended {
    /// The word in trailers and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Ended::Success => "success",
            Ended::Failure => "failure",
            Ended::Cancelled => "cancelled",
        }
    }
}

/// The record of one iteration (C2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IterationRecord {
    /// Its number, from 0.
    pub iteration: u32,
    /// Its commit, absent when nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_id: Option<Oid>,
    /// What differs from the commit at its start.
    pub changed_files: Vec<String>,
    /// How many they are in truth.
    pub changed_total: u32,
    /// What the agent says it did.
    pub summary: String,
    /// Whether the agent did its turn and left the tree in order.
    pub success: bool,
    /// How it went.
    pub outcome: Ended,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// The last lines that its agent wrote to standard error, where its turn failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
    /// The promise was said.
    pub promise: bool,
    /// Why the agent cannot go on without a person, in its own words (L18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// When it was over.
    pub timestamp: Timestamp,
    /// What its turns used.
    pub usage: Usage,
    /// How long it took.
    pub duration_ms: u64,
    /// What its checks said: `cargo test` → `exit 101`.
    pub checks: Vec<CheckBrief>,
}
