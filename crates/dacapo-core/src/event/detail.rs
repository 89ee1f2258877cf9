//! What more there is to say about the end of a task than its reason.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::cut_chars;

use super::{CheckResult, Fault, MainBranch, SetupResult, WaitReason, WorkspaceProblem};

/// How many of the last lines of a setup that failed are kept.
const LINES_SAID: usize = 8;

/// More about why a task ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum StopDetail {
    /// A person, a program or a signal ended it.
    By {
        /// Who: a command such as `dacapo kill`, or a signal such as `SIGINT`.
        by: String,
    },
    /// The agent's usage limit lasts longer than the task may wait.
    LimitTooLong {
        /// The limit.
        limit: LimitSaid,
    },
    /// The time limit was reached.
    TimeUsed,
    /// The budget was used up.
    BudgetUsed,
    /// The agent does not report what it uses, so the budget cannot be kept.
    UsageUnknown {
        /// The agent's name.
        agent: String,
        /// What it does not report.
        amount: Metered,
        /// How many turns in a row did not report it.
        turns: u32,
    },
    /// A command of the setup failed.
    Setup {
        /// The command.
        command: String,
        /// How it ended.
        #[serde(flatten)]
        exit: Exit,
        /// The last lines it printed.
        tail: String,
    },
    /// A check could not be run.
    Check {
        /// The check's command.
        command: String,
        /// How it ended.
        #[serde(flatten)]
        exit: Exit,
        /// The line of its output that says most.
        line: String,
    },
    /// The agent's conversation cannot be continued, because it has no id.
    NoSession,
    /// The main branch was changed while a milestone ran, and not by a person.
    Main(MainBranch),
    /// What went wrong with the agent, or with what it left.
    Faults {
        /// What went wrong, at least one thing.
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

    /// The same, with at most `most` characters of what somebody said.
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

/// What a budget limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "BudgetUnit")]
pub enum Metered {
    /// The cost.
    Cost,
    /// The tokens.
    Tokens,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exit {
    /// Its exit code; null if a signal or the time limit ended it.
    pub exit_code: Option<i32>,
    /// True if the time limit ended it.
    #[serde(default)]
    pub timed_out: bool,
}

/// A usage limit of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "UsageLimit")]
pub struct LimitSaid {
    /// What the agent said.
    pub message: String,
    /// The task that ran into it. Absent if it was this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_by: Option<String>,
    /// True if that task is trying whether the limit has ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub probing: bool,
}

/// Why a task waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum WaitCause {
    /// For the agent's usage limit to end.
    Limit(LimitSaid),
    /// For another task that is trying whether the usage limit has ended.
    Probe(LimitSaid),
    /// Before it tries again after a failure.
    Backoff {
        /// What failed.
        failed: Attempt,
        /// How long it waits.
        pause_seconds: u64,
    },
}

impl WaitCause {
    pub fn reason(&self) -> WaitReason {
        match self {
            Self::Limit(_) => WaitReason::Limit,
            Self::Probe(_) => WaitReason::Probe,
            Self::Backoff { .. } => WaitReason::Backoff,
        }
    }
}

/// What is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Attempt {
    /// An iteration.
    Iteration,
    /// A call of an agent.
    Call,
}

/// Why another agent takes over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum ChangeCause {
    /// The agent before it ran into a usage limit.
    Limit(LimitSaid),
    /// The usage limit of this agent has ended.
    LimitOver,
}
