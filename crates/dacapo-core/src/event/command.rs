//! What a person wants of a task that some process drives.

use serde::{Deserialize, Serialize};

/// A command. It reaches the driver through the task's inbox, and the journal before anything is done about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// End it: its agent is stopped, what it left is committed.
    Kill,
    /// Start no further iteration; `now` ends the turn at work too.
    Pause {
        /// Not only after this iteration.
        now: bool,
    },
    /// The next iteration hears it, or all from then on.
    Tell {
        /// The words.
        text: String,
        /// Every iteration from the next on hears it, until it is taken back or the task is complete; else the next alone.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        standing: bool,
    },
    /// What was told and stands holds no longer.
    Untell,
    /// Yes to what it asks; the choice, by its number, where it offers several.
    Approve {
        /// Which, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        choice: Option<usize>,
    },
    /// No to what it asks.
    Reject {
        /// Why, in the person's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// What a milestone is held to is this from now on, the text of its file; whoever sends it has read it before.
    Refreeze {
        /// The whole text.
        definition: String,
    },
    /// What the project's memory says by now (`.dacapo/memory/project.md`); empty: nothing.
    Remember {
        /// The whole text.
        memory: String,
    },
    /// End it for good: nobody is to take it up again by itself. What it left is kept.
    Abandon,
    /// Another limit from now on; see [`crate::spec::Change`].
    Set {
        /// Which.
        key: String,
        /// What it is to be, as typed.
        value: String,
    },
}

/// A command that has reached the task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Received {
    /// Tells it from every other: one that is in the journal already is not taken twice.
    pub id: String,
    /// Who gave it: `dacapo kill`, `tui`, ….
    pub by: String,
    /// What is wanted.
    #[serde(flatten)]
    pub command: Command,
}
