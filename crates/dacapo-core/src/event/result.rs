//! What a whole task came to.

use serde::{Deserialize, Serialize};

use super::{ProofState, StopDetail};
use crate::git::Oid;

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
    pub detail: Option<StopDetail>,
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
