//! The records inside events: what a turn, a commit and an iteration came to.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CheckBrief, FailureKind, Fault, LeftFile, NotAllowed, Usage, WorkspaceProblem};
use crate::git::Oid;
use crate::json::seconds;
use crate::spec::Writing;

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum TurnEnd {
    /// The agent finished its turn.
    Done,
    /// The turn failed.
    Failed {
        /// Whether trying again can help.
        failure: FailureKind,
        /// What went wrong.
        fault: Fault,
    },
    /// The agent ran into a usage limit.
    Limit {
        /// What the agent said.
        message: String,
        /// When the limit ends; null if the agent did not say.
        resets_at: Option<Timestamp>,
    },
    /// A person ended the turn.
    Cancelled,
    /// The budget was used up during the turn.
    Budget,
    /// The process that drove the task died during the turn.
    Interrupted,
}

/// A usage limit that another task on this machine ran into, with the same account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownLimit {
    /// The agent of this task that uses the account.
    pub agent: String,
    /// What the other task's agent said.
    pub message: String,
    /// The task that found the limit, or that is trying whether it has ended.
    #[serde(rename = "found_by")]
    pub by: String,
    /// When the limit ends; null if that time has come and the other task is trying whether it has.
    #[serde(rename = "resets_at")]
    pub until: Option<Timestamp>,
    /// How often in a row the end was estimated, because the agent did not say it.
    #[serde(default)]
    pub guesses: u32,
}

/// The record of one turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnRecord {
    /// Its number, from 0, over the whole task.
    pub turn: u32,
    /// The iteration it belongs to, from 0.
    pub iteration: u32,
    /// How it ended.
    #[serde(flatten)]
    pub end: TurnEnd,
    /// The id of the agent's conversation; null if it has none.
    #[serde(rename = "session_id")]
    pub session: Option<String>,
    /// True if the agent said that it is done (`completion_promise`).
    pub promise: bool,
    /// What the agent needs a person for, in its own words. Absent if it needs nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// Why the tests must change, in the agent's own words. Absent if it does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_changed: Option<String>,
    /// The agent's closing message, shortened.
    pub summary: String,
    /// What it used.
    #[serde(flatten)]
    pub usage: Usage,
    /// How long the turn took.
    #[serde(rename = "duration_seconds", with = "seconds")]
    #[schemars(with = "f64")]
    pub duration_ms: u64,
    /// How much the agent printed.
    pub output_bytes: u64,
    /// The exit code of the agent's process. Absent if it did not exit by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What the agent was not allowed to do. Absent if it was refused nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_allowed: Option<NotAllowed>,
    /// The agent's whole closing message. Only in milestones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// True if the turn took too long and was ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// The last lines that the agent wrote to standard error, if the turn failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
}

/// What came of asking a model for words. Whatever it is, the iteration goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum WritingEnd {
    /// The model answered.
    Done {
        /// What it wrote.
        text: String,
    },
    /// There was nothing to write about.
    Nothing,
    /// The model could not be asked, or gave no usable answer.
    Failed {
        /// What went wrong.
        fault: Fault,
    },
    /// The task was ended meanwhile.
    Cancelled,
}

/// The record of one call of a model beside the turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WritingRecord {
    /// The iteration it belongs to, from 0.
    pub iteration: u32,
    /// What was asked for.
    pub what: Writing,
    /// What came of it.
    #[serde(flatten)]
    pub end: WritingEnd,
    /// The model, or the agent if its model has no name.
    pub by: String,
    /// What it used. It is part of the iteration's usage.
    #[serde(flatten)]
    pub usage: Usage,
    /// How long the call took.
    #[serde(rename = "duration_seconds", with = "seconds")]
    #[schemars(with = "f64")]
    pub duration_ms: u64,
}

/// What an iteration changed, and the commit that holds it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CommitPlan")]
pub struct CommitPlanned {
    /// The iteration, from 0.
    pub iteration: u32,
    /// The commit; null if there is nothing to commit.
    #[serde(rename = "commit_id")]
    pub commit: Option<Oid>,
    /// Where the branch is before; null in a repository without commits.
    #[serde(rename = "parent_commit")]
    pub parent: Option<Oid>,
    /// The first line of the commit message.
    pub subject: String,
    /// The files that differ from the start of the iteration, at most 1000.
    pub changed_files: Vec<String>,
    /// How many files differ.
    #[serde(rename = "changed_files_total")]
    pub changed_total: u32,
    /// Files that were not committed, and why: new ones, and those that hold a secret.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftFile>,
    /// Why the iteration counts as failed: a nested repository, an unfinished merge, a HEAD that is somewhere else. Absent if
    /// nothing is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<WorkspaceProblem>,
}

impl CommitPlanned {
    /// A change of more files than this is counted, not listed: a journal line is for people too.
    pub const MOST_FILES: usize = 1000;
}

/// How an iteration went. The trailer `Dacapo-Outcome` of its commit says the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "IterationOutcome")]
pub enum Ended {
    /// The agent finished its turn.
    Success,
    /// The agent did not finish its turn.
    Failure,
    /// A person or a limit ended the turn.
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

/// The record of one iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IterationRecord {
    /// Its number, from 0.
    pub iteration: u32,
    /// Its commit. Absent if nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_id: Option<Oid>,
    /// The files that differ from the start of the iteration, at most 1000.
    pub changed_files: Vec<String>,
    /// How many files differ.
    #[serde(rename = "changed_files_total")]
    pub changed_total: u32,
    /// What the agent says it did.
    pub summary: String,
    /// True if the agent finished its turn and left the files in order.
    pub success: bool,
    /// How the iteration went.
    pub outcome: Ended,
    /// What went wrong. Absent if nothing did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// The last lines that the agent wrote to standard error, if its turn failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
    /// True if the agent said that it is done (`completion_promise`).
    pub promise: bool,
    /// What the agent needs a person for, in its own words. Absent if it needs nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// When the iteration ended.
    pub timestamp: Timestamp,
    /// What all its turns used.
    #[serde(flatten)]
    pub usage: Usage,
    /// How long the iteration took.
    #[serde(rename = "duration_seconds", with = "seconds")]
    #[schemars(with = "f64")]
    pub duration_ms: u64,
    /// What its checks came to.
    pub checks: Vec<CheckBrief>,
}
