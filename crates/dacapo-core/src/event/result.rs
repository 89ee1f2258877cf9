//! What a whole task came to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ProofState, RoomReceipt, StopDetail, TestsResult};
use crate::git::Oid;
use crate::spec::CachePolicy;

/// How a task ended. The exit code of `exec` and `wait` says the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It did what was asked (exit code 0).
    Completed,
    /// It could not go on (1).
    Failed,
    /// The limit on iterations was reached (3).
    MaxReached,
    /// The time limit was reached (3).
    TimeElapsed,
    /// The budget was used up (3).
    BudgetExhausted,
    /// It made no progress (3).
    Stalled,
    /// A person must decide something (4).
    Paused,
    /// A person or a signal ended it (130).
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

/// Why a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// All iterations were made.
    Iterations,
    /// The time limit was reached.
    Time,
    /// The agent said that it is done.
    Promise,
    /// The checks passed.
    Checks,
    /// Too many iterations failed in a row.
    Failures,
    /// An error that does not go away by itself.
    PermanentError,
    /// The budget was used up.
    Budget,
    /// There was no progress.
    Stall,
    /// A usage limit lasted longer than the task may wait.
    LimitWait,
    /// The workspace, its setup or a check could not be set up.
    SetupFailed,
    /// A person or a signal ended it.
    Cancelled,
    /// A person ended the milestone for good.
    Abandoned,
    /// A person must decide something.
    NeedsPerson,
}

/// The result of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TaskResult")]
pub struct Result {
    /// How it ended.
    pub outcome: Outcome,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// True if the checks passed on the last commit in a checkout that no agent writes to, also with the tests as they were.
    pub verified: bool,
    /// More about why it ended. Absent if there is no more to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<StopDetail>,
    /// The last lines that the agent wrote to standard error, if its last turn failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
    /// How many iterations were started.
    pub iterations_attempted: u32,
    /// How many of them succeeded.
    pub iterations_succeeded: u32,
    /// How many of them failed.
    pub iterations_failed: u32,
    /// How long the task was active.
    #[serde(default)]
    pub elapsed_seconds: f64,
    /// The tokens used.
    pub tokens: Tokens,
    /// The cost; null if no agent reported it and no prices are configured.
    pub cost_usd: Option<f64>,
    /// The commit the task started from; null in a repository without commits.
    pub base_commit: Option<Oid>,
    /// The newest commit of the task; null if it made none.
    pub last_commit: Option<Oid>,
    /// Changed files that decide what passes: tests, CI, checks. A person should look at them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trust_files: Vec<String>,
    /// The command of the setup that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_setup: Option<String>,
    /// Each check, before the first iteration and at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proof: Vec<Proof>,
    /// Whether the last commit is proven. Absent if the checks did not pass, or there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof_state: Option<ProofState>,
    /// The tests that judge the work, and whether the task changed them. Absent if there are no checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<Box<TestsResult>>,
    /// The caches that the proof of the last commit started with. Absent if it is not proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof_cache: Option<CachePolicy>,
    /// How agents and checks were confined. Absent if they were not to be, or none ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<RoomReceipt>,
}

/// Numbers of tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tokens {
    /// Tokens that were read, cached ones included.
    pub input: u64,
    /// Tokens that were written.
    pub output: u64,
    /// How many of the input tokens came from a cache.
    pub cached: u64,
}

/// A check, before the first iteration and at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CheckProof")]
pub struct Proof {
    /// The check's command.
    pub command: String,
    /// Whether it passed before the first iteration; null if it did not run then.
    pub before: Option<bool>,
    /// Whether it passed at the end; null if it never ran.
    pub after: Option<bool>,
    /// The line of its output that says most.
    pub last_line: String,
    /// True if the time limit ended it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// The commit that was checked; null in a repository without commits.
    #[serde(rename = "commit_id")]
    pub commit: Option<Oid>,
}
