//! What checks and setup commands came to.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Exit;
use crate::git::Oid;
use crate::text::{failure_line, success_line};

/// When a check ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckPhase {
    /// Once before the first iteration.
    Baseline,
    /// After the commit of an iteration.
    Iteration,
    /// In a checkout of the commit to which no agent writes: the only run that proves something about it.
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

    /// How it ended.
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

    /// How it ended.
    pub fn ended(&self) -> Exit {
        Exit { exit_code: self.exit_code, timed_out: self.timed_out }
    }

    /// `exit 101`, `timed out`, `ended by a signal`.
    pub fn ending(&self) -> String {
        self.ended().to_string()
    }
}

const TIMED_OUT: &str = "timed out";

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.timed_out, self.exit_code) {
            (true, _) => f.write_str(TIMED_OUT),
            (false, Some(code)) => write!(f, "exit {code}"),
            (false, None) => f.write_str("ended by a signal"),
        }
    }
}

/// A check's result inside an iteration's record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckBrief {
    /// What was run.
    pub command: String,
    /// Whether it passed.
    pub passed: bool,
    /// How it ended; `exit 101`, `timed out` or `ended by a signal` in the journal.
    #[serde(serialize_with = "as_words", deserialize_with = "of_words")]
    pub ending: Exit,
    /// When it ran.
    #[serde(default = "usual", skip_serializing_if = "is_usual")]
    pub phase: CheckPhase,
}

impl CheckBrief {
    /// Its time limit ended it.
    pub fn timed_out(&self) -> bool {
        self.ending.timed_out
    }
}

fn as_words<S: Serializer>(exit: &Exit, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(exit)
}

fn of_words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Exit, D::Error> {
    let words = String::deserialize(deserializer)?;
    let exit_code = words.strip_prefix("exit ").and_then(|code| code.parse().ok());
    Ok(Exit { exit_code, timed_out: words == TIMED_OUT })
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
            ending: check.ended(),
            phase: check.phase,
        }
    }
}
