//! What a person wants of a task that some process drives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command. It reaches the driver through the task's inbox, and the journal before anything is done about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// End the task. What it has changed is committed.
    Kill,
    /// Start no further iteration.
    Pause {
        /// True if the running turn is ended, too.
        now: bool,
    },
    /// Tell the agent something.
    Tell {
        /// What it is told.
        text: String,
        /// True if every further iteration is told it, until it is cleared or the task completes. Otherwise only the next
        /// one is.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        standing: bool,
    },
    /// Clear what every iteration is told.
    Untell,
    /// Yes to what the task asks.
    Approve {
        /// Which of the answers, from 1. Absent if there is only one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        choice: Option<usize>,
    },
    /// No to what the task asks.
    Reject {
        /// Why, in the person's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Hold the milestone to what its file says now.
    Refreeze {
        /// The text of the file.
        definition: String,
    },
    /// Use the project's memory as it is now (`.dacapo/memory/project.md`).
    Remember {
        /// The text of the file; may be empty.
        memory: String,
    },
    /// End the milestone for good. What it has changed is kept.
    Abandon,
    /// Change a limit (`dacapo set`).
    Set {
        /// The limit.
        key: String,
        /// Its new value, as it was typed.
        value: String,
    },
}

impl Command {
    /// Whether it ends the task, whatever the task is doing.
    pub(crate) fn ends_task(&self) -> bool {
        match self {
            Self::Kill | Self::Abandon => true,
            Self::Pause { .. }
            | Self::Tell { .. }
            | Self::Untell
            | Self::Approve { .. }
            | Self::Reject { .. }
            | Self::Refreeze { .. }
            | Self::Remember { .. }
            | Self::Set { .. } => false,
        }
    }
}

/// A command that has reached the task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Received {
    /// The id of the command. No command is carried out twice.
    pub id: String,
    /// Who sent it: `dacapo kill`, `tui`, …
    pub by: String,
    /// The command.
    #[serde(flatten)]
    pub command: Command,
}
