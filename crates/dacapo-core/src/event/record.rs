//! The records inside events: what a turn, a check, an iteration and a whole task came to.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{FailureKind, ProofState, Usage};
use crate::context::{failure_line, success_line};
use crate::git::Oid;

/// How an agent's conversation goes on from iteration to iteration (L13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionMode {
    /// A new conversation each iteration; what was learnt comes with the prompt.
    Fresh,
    /// A follow-up in the agent's own conversation.
    Resume,
}

/// When a check ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckPhase {
    /// Once before the first iteration.
    Baseline,
    /// After the commit of an iteration.
    Iteration,
    /// In a checkout of the commit to which no agent writes: the only run that proves something about it.
    #[serde(alias = "clean")]
    Proof,
}

/// The receipt of one run of a check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    /// When it ran.
    pub phase: CheckPhase,
    /// After which iteration; none for the baseline.
    pub iteration: Option<u32>,
    /// Which of the task's checks.
    pub index: u32,
    /// What was run by `sh -c`.
    pub command: String,
    /// Its exit code; none when a signal or the time limit ended it.
    pub exit_code: Option<i32>,
    /// The time limit ended it.
    #[serde(default)]
    pub timed_out: bool,
    /// How long it took.
    pub duration_ms: u64,
    /// The commit it judged.
    pub commit: Option<Oid>,
    /// The last lines it printed.
    pub tail: String,
    /// A digest of all it printed, digits and colours aside: the same failure has the same one (L11).
    pub fingerprint: String,
    /// Files it changed; they are left as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_files: Vec<String>,
}

impl CheckResult {
    /// Whether it proves something.
    pub fn passed(&self) -> bool {
        self.exit_code == Some(0) && !self.timed_out
    }

    /// `exit 101`, `timed out`, `ended by a signal`.
    pub fn ending(&self) -> String {
        ending(self.timed_out, self.exit_code)
    }

    /// The line of what it printed that says most about how it went; empty where it printed nothing.
    pub fn telling_line(&self) -> String {
        if self.passed() { success_line(&self.tail) } else { failure_line(&self.tail) }
    }
}

/// The receipt of one command of the setup.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetupResult {
    /// Which of them.
    pub index: u32,
    /// What was run by `sh -c`.
    pub command: String,
    /// Its exit code; none when a signal or the time limit ended it.
    pub exit_code: Option<i32>,
    /// The time limit ended it.
    #[serde(default)]
    pub timed_out: bool,
    /// How long it took.
    pub duration_ms: u64,
    /// The last lines it printed.
    pub tail: String,
    /// All it printed is in this file of the task's directory.
    pub output: String,
    /// Files it changed that git would see; they are left out of commits until somebody touches them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_files: Vec<String>,
}

impl SetupResult {
    /// Whether the next one may run.
    pub fn passed(&self) -> bool {
        self.exit_code == Some(0) && !self.timed_out
    }

    /// `exit 101`, `timed out`, `ended by a signal`.
    pub fn ending(&self) -> String {
        ending(self.timed_out, self.exit_code)
    }
}

const TIMED_OUT: &str = "timed out";

fn ending(timed_out: bool, exit_code: Option<i32>) -> String {
    match (timed_out, exit_code) {
        (true, _) => TIMED_OUT.into(),
        (false, Some(code)) => format!("exit {code}"),
        (false, None) => "ended by a signal".into(),
    }
}

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
        /// What is known.
        message: String,
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
    /// What the agent was not allowed to do and what would have helped. Fatal only where nothing was done either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
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

/// What a model of its own may be asked to put into words, in the order in which it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Writing {
    /// What was done in an iteration (`summary_model`).
    Summary,
    /// The message of its commit (`commit_message_model`).
    CommitMessage,
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
        message: String,
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
    pub left_out: Vec<String>,
    /// What makes this iteration a failed one: nested repositories, a half-done merge, a HEAD that went elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
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

/// A check's result inside an iteration's record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckBrief {
    /// What was run.
    pub command: String,
    /// Whether it passed.
    pub passed: bool,
    /// How it ended.
    pub ending: String,
    /// When it ran.
    #[serde(default = "usual", skip_serializing_if = "is_usual")]
    pub phase: CheckPhase,
}

impl CheckBrief {
    /// Its time limit ended it.
    pub fn timed_out(&self) -> bool {
        // Records were written with the other words once.
        self.ending == TIMED_OUT || self.ending == "time limit"
    }
}

fn usual() -> CheckPhase {
    CheckPhase::Iteration
}

fn is_usual(phase: &CheckPhase) -> bool {
    *phase == CheckPhase::Iteration
}

impl From<&CheckResult> for CheckBrief {
    fn from(check: &CheckResult) -> Self {
        Self {
            command: check.command.clone(),
            passed: check.passed(),
            ending: check.ending(),
            phase: check.phase,
        }
    }
}

/// How a task ended (L15).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Done, as far as was asked for.
    Completed,
    /// It could not go on.
    Failed,
    /// All iterations used.
    MaxReached,
    /// All time used.
    TimeElapsed,
    /// All money or tokens used.
    BudgetExhausted,
    /// It went round in circles.
    Stalled,
    /// A person is needed.
    Paused,
    /// A person ended it.
    Cancelled,
}

impl Outcome {
    /// The exit code that says it (L15).
    pub fn exit_code(self) -> u8 {
        match self {
            Outcome::Completed => 0,
            Outcome::Failed => 1,
            Outcome::MaxReached | Outcome::TimeElapsed | Outcome::BudgetExhausted | Outcome::Stalled => 3,
            Outcome::Paused => 4,
            Outcome::Cancelled => 130,
        }
    }
}

/// Why a loop ended (L16).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The number of iterations.
    Iterations,
    /// The time.
    Time,
    /// The promise was said.
    Promise,
    /// The checks passed.
    Checks,
    /// Too many failures in a row.
    Failures,
    /// An error that cannot heal.
    PermanentError,
    /// Money or tokens.
    Budget,
    /// No progress.
    Stall,
    /// Waiting for a usage limit took too long.
    LimitWait,
    /// The workspace or a check could not be set up.
    SetupFailed,
    /// By a person.
    Cancelled,
    /// By a person, for good.
    Abandoned,
    /// A person must decide.
    NeedsPerson,
}

/// What a person must decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Needs {
    /// Which kind of decision.
    pub kind: String,
    /// The question.
    pub question: String,
    /// The answers that are possible.
    pub options: Vec<String>,
}

/// The result of a task (L16).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Result {
    /// How it ended.
    pub outcome: Outcome,
    /// Why.
    pub stop_reason: StopReason,
    /// Proven by checks, not merely claimed.
    pub verified: bool,
    /// What more there is to say: the error, the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The last lines that the agent wrote to standard error, where the last iteration's turn failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
    /// Iterations begun.
    pub iterations_attempted: u32,
    /// Iterations in which the agent did its turn.
    pub iterations_succeeded: u32,
    /// The others.
    pub iterations_failed: u32,
    /// Active time.
    pub elapsed_seconds: f64,
    /// Tokens.
    pub tokens: Tokens,
    /// Cost, where it is known.
    pub cost_usd: Option<f64>,
    /// Where it began.
    pub base_commit: Option<Oid>,
    /// Where it ended.
    pub last_commit: Option<Oid>,
    /// Changed files that a proof hangs on: tests, CI, checks. A person should look at them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trust_files: Vec<String>,
    /// The command that could not make the worktree usable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_setup: Option<String>,
    /// How each check went from before the first iteration to the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proof: Vec<Proof>,
    /// Whether the last commit is proven, where all checks passed in the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof_state: Option<ProofState>,
}

/// Tokens in and out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Read.
    pub input: u64,
    /// Written.
    pub output: u64,
}

/// What one check proves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// The check.
    pub command: String,
    /// Whether it passed before the first iteration; none when that run was skipped.
    pub before: Option<bool>,
    /// Whether it passed at the end; none when it never ran.
    pub after: Option<bool>,
    /// The line of its output that says most.
    pub last_line: String,
    /// Its time limit ended it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// The commit it judged.
    pub commit: Option<Oid>,
}
