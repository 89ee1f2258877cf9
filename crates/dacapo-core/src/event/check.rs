//! What checks and setup commands came to.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Exit, Exposed};
use crate::git::Oid;
use crate::json::seconds;
use crate::text::{failure_line, success_line};

/// When a check ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckPhase {
    /// Before the first iteration.
    Baseline,
    /// After an iteration, where the agent works.
    Iteration,
    /// In a checkout of the commit that no agent writes to. Only such a run proves something about the commit.
    Proof,
    /// In such a checkout, with the files that judge the work as they were in the base commit.
    Originals,
    /// In the checkout of the commit, by a held-out check: no agent gets to know its command or what it printed.
    HeldOut,
}

impl CheckPhase {
    /// Returns true if the check ran in a checkout that no agent writes to.
    pub fn is_of_proof(self) -> bool {
        match self {
            CheckPhase::Proof | CheckPhase::Originals | CheckPhase::HeldOut => true,
            CheckPhase::Baseline | CheckPhase::Iteration => false,
        }
    }
}

/// One run of a check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// When it ran.
    pub phase: CheckPhase,
    /// The iteration after which it ran, from 0; null before the first one.
    pub iteration: Option<u32>,
    /// Which of the task's checks, from 0.
    pub index: u32,
    /// The command, as it was given to `sh -c`.
    pub command: String,
    /// Its exit code; null if a signal or the time limit ended it.
    pub exit_code: Option<i32>,
    /// True if the time limit ended it.
    #[serde(default)]
    pub timed_out: bool,
    /// How long it took.
    #[serde(rename = "duration_seconds", with = "seconds")]
    #[schemars(with = "f64")]
    pub duration_ms: u64,
    /// The commit that was checked; null in a repository without commits.
    #[serde(rename = "commit_id")]
    pub commit: Option<Oid>,
    /// The last lines it printed.
    pub tail: String,
    /// A hash of what it printed, without numbers and colours: the same failure has the same hash.
    pub fingerprint: String,
    /// How many tests ran, by what a known test runner printed. Absent if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_run: Option<u64>,
    /// Files that the check changed. They are left as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_files: Vec<String>,
    /// In a proof: why it could see files that the agent left; without it, it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposed: Option<Exposed>,
}

impl CheckResult {
    /// Whether it proves something.
    pub fn passed(&self) -> bool {
        self.exit_code == Some(0) && !self.timed_out
    }

    pub fn ended(&self) -> Exit {
        Exit { exit_code: self.exit_code, timed_out: self.timed_out }
    }

    /// `exit 101`, `timed out`, `ended by a signal`.
    pub fn ending(&self) -> String {
        self.ended().to_string()
    }

    /// The line of what it printed that says most about how it went; empty where it printed nothing.
    pub fn telling_line(&self) -> String {
        if self.passed() { success_line(&self.tail) } else { failure_line(&self.tail) }
    }
}

/// One command of the setup.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetupResult {
    /// Which of the commands, from 0.
    pub index: u32,
    /// The command, as it was given to `sh -c`.
    pub command: String,
    /// Its exit code; null if a signal or the time limit ended it.
    pub exit_code: Option<i32>,
    /// True if the time limit ended it.
    #[serde(default)]
    pub timed_out: bool,
    /// How long it took.
    #[serde(rename = "duration_seconds", with = "seconds")]
    #[schemars(with = "f64")]
    pub duration_ms: u64,
    /// The last lines it printed.
    pub tail: String,
    /// The file in the task's directory that has all it printed.
    #[serde(rename = "output_file")]
    pub output: String,
    /// Files it changed that git would see. They are not committed until somebody changes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_files: Vec<String>,
}

impl SetupResult {
    /// Whether the next one may run.
    pub fn passed(&self) -> bool {
        self.exit_code == Some(0) && !self.timed_out
    }

    pub fn ended(&self) -> Exit {
        Exit { exit_code: self.exit_code, timed_out: self.timed_out }
    }

    /// `exit 101`, `timed out`, `ended by a signal`.
    pub fn ending(&self) -> String {
        self.ended().to_string()
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.timed_out, self.exit_code) {
            (true, _) => f.write_str("timed out"),
            (false, Some(code)) => write!(f, "exit {code}"),
            (false, None) => f.write_str("ended by a signal"),
        }
    }
}

/// What one check came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckBrief {
    /// The command.
    pub command: String,
    /// When it ran.
    pub phase: CheckPhase,
    /// True if it passed.
    pub passed: bool,
    /// How it ended.
    #[serde(flatten)]
    pub ending: Exit,
}

impl CheckBrief {
    /// Its time limit ended it.
    pub fn timed_out(&self) -> bool {
        self.ending.timed_out
    }
}

impl From<&CheckResult> for CheckBrief {
    fn from(check: &CheckResult) -> Self {
        Self {
            command: check.command.clone(),
            phase: check.phase,
            passed: check.passed(),
            ending: check.ended(),
        }
    }
}
