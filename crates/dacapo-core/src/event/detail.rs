//! What more there is to say about the end of a task than its reason.

use serde::{Deserialize, Serialize};

use crate::text::cut_chars;

use super::{CheckResult, Fault, MainBranch, SetupResult, WaitReason, WorkspaceProblem};

/// So many of the last lines of a setup that failed are kept.
const LINES_SAID: usize = 8;

/// What more there is to say about the end of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum StopDetail {
    /// Somebody or something wanted it.
    By {
        /// A command or a signal.
        by: String,
    },
    /// The agent's usage limit lasts longer than the task may wait.
    LimitTooLong {
        /// What the agent said of it, and who found it.
        limit: LimitSaid,
    },
    /// All of the time is used.
    TimeUsed,
    /// All of the money or of the tokens is used.
    BudgetUsed,
    /// Nobody knows what is left of the budget.
    UsageUnknown {
        /// The agent that does not say it.
        agent: String,
        /// What it does not say.
        amount: Metered,
        /// So often in a row.
        turns: u32,
    },
    /// A command of the setup failed.
    Setup {
        /// What was run.
        command: String,
        /// How it ended.
        #[serde(flatten)]
        exit: Exit,
        /// The last lines it printed.
        tail: String,
    },
    /// A check cannot be run.
    Check {
        /// What was run.
        command: String,
        /// How it ended.
        #[serde(flatten)]
        exit: Exit,
        /// The line of what it printed that says most.
        line: String,
    },
    /// The agent's conversation cannot go on: it has no id.
    NoSession,
    /// The main branch is not where a person's work leaves it. Nobody is asked any more, but it is said.
    Main(MainBranch),
    /// What went wrong with the agent or with what it left.
    Faults {
        /// One at least.
        faults: Vec<Fault>,
    },
    /// What an agent, a program or the system said.
    Said {
        /// In its own words.
        message: String,
    },
}

impl StopDetail {
    /// What was said by whom it is about.
    pub fn said(message: &str) -> Self {
        Self::Said { message: message.to_owned() }
    }

    /// What went wrong; none: nothing did.
    pub fn faults(faults: &[Fault]) -> Option<Self> {
        match faults {
            [] => None,
            [fault] => Some(Self::fault(fault)),
            _ => Some(Self::Faults { faults: faults.to_vec() }),
        }
    }

    /// What is wrong with the place to work in.
    pub(crate) fn workspace(problems: &[WorkspaceProblem]) -> Self {
        match problems {
            [WorkspaceProblem::Said { message }] => Self::said(message),
            _ => Self::Faults { faults: problems.iter().cloned().map(Fault::Workspace).collect() },
        }
    }

    /// What went wrong.
    pub fn fault(fault: &Fault) -> Self {
        match fault.quoted() {
            Some(said) => Self::said(said),
            None => Self::Faults { faults: vec![fault.clone()] },
        }
    }

    pub(crate) fn by(by: &str) -> Self {
        Self::By { by: by.to_owned() }
    }

    pub(crate) fn setup(result: &SetupResult) -> Self {
        let lines: Vec<&str> = result.tail.lines().collect();
        let tail = lines[lines.len().saturating_sub(LINES_SAID)..].join("\n");
        Self::Setup { command: result.command.clone(), exit: result.ended(), tail }
    }

    pub(crate) fn check(result: &CheckResult) -> Self {
        let line = result.telling_line();
        Self::Check { command: result.command.clone(), exit: result.ended(), line }
    }

    /// What somebody said, or who wanted it; none: it is for a surface to say.
    pub(crate) fn into_said(self) -> Option<String> {
        match self {
            Self::By { by: said } | Self::Said { message: said } => Some(said),
            Self::LimitTooLong { limit } => Some(limit.message),
            Self::Faults { .. }
            | Self::TimeUsed
            | Self::BudgetUsed
            | Self::UsageUnknown { .. }
            | Self::Setup { .. }
            | Self::Check { .. }
            | Self::NoSession
            | Self::Main(_) => None,
        }
    }

    /// The same with at most so many characters of what somebody said.
    pub(crate) fn cut(&self, most: usize) -> Self {
        let mut detail = self.clone();
        match &mut detail {
            Self::By { by: said }
            | Self::LimitTooLong { limit: LimitSaid { message: said, .. } }
            | Self::Setup { tail: said, .. }
            | Self::Check { line: said, .. }
            | Self::Said { message: said } => *said = cut_chars(said, most),
            Self::Faults { faults } => {
                let said = faults.iter_mut().filter_map(Fault::said_mut);
                said.for_each(|said| *said = cut_chars(said, most));
            }
            Self::TimeUsed
            | Self::BudgetUsed
            | Self::UsageUnknown { .. }
            | Self::NoSession
            | Self::Main(_) => {}
        }
        detail
    }

    /// How the command ended that could not be run.
    pub fn exit(&self) -> Option<Exit> {
        match self {
            Self::Setup { exit, .. } | Self::Check { exit, .. } => Some(*exit),
            Self::By { .. }
            | Self::LimitTooLong { .. }
            | Self::TimeUsed
            | Self::BudgetUsed
            | Self::UsageUnknown { .. }
            | Self::NoSession
            | Self::Main(_)
            | Self::Faults { .. }
            | Self::Said { .. } => None,
        }
    }
}

/// The amount that a budget bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metered {
    /// Money.
    Cost,
    /// Tokens.
    Tokens,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// Its exit code; none when a signal or the time limit ended it.
    pub exit_code: Option<i32>,
    /// The time limit ended it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
}

/// What an agent said of its usage limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitSaid {
    /// In its own words.
    pub message: String,
    /// Which task knows it, where it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_by: Option<String>,
    /// That task is trying whether the limit is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub probing: bool,
}

/// Why a loop sleeps, and what there is to say about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum WaitCause {
    /// The agent's usage limit.
    Limit(LimitSaid),
    /// Another task tries whether that limit is over.
    Probe(LimitSaid),
    /// The pause after a failure.
    Backoff {
        /// What failed.
        failed: Attempt,
        /// How long it pauses.
        pause_seconds: u64,
    },
}

impl WaitCause {
    /// The same in a word.
    pub fn reason(&self) -> WaitReason {
        match self {
            Self::Limit(_) => WaitReason::Limit,
            Self::Probe(_) => WaitReason::Probe,
            Self::Backoff { .. } => WaitReason::Backoff,
        }
    }
}

/// What is tried again after a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attempt {
    /// An iteration.
    Iteration,
    /// The call of an agent.
    Call,
}

/// Why another agent takes over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum ChangeCause {
    /// The agent before it is at its limit.
    Limit(LimitSaid),
    /// Its own limit is over.
    LimitOver,
}
