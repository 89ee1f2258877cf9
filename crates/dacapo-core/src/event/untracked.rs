//! Files of the user's checkout that no commit held when a task began there (C10).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::git::NotKept;

/// Untracked files that were there before anybody worked. They are not committed until an iteration changes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UntrackedFound {
    /// How many there are. A repository inside of the checkout counts as one.
    #[serde(rename = "files_total")]
    pub files: u64,
    /// How many files are not committed from now on, including those that were found earlier.
    #[serde(rename = "left_out_total")]
    pub left_out: u64,
    /// The files, at most 100.
    #[serde(rename = "files")]
    pub named: Vec<String>,
    /// The ref that keeps their content. Absent if nothing is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// Files whose content is not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_kept: Vec<UntrackedNotKept>,
    /// The complete lists of files that are not committed from now on: the SHA-256 of each, which is its name in the task's
    /// directory.
    pub lists: Vec<String>,
}

impl UntrackedFound {
    /// How many are named.
    pub const MOST: usize = 100;
}

/// Files whose content is not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UntrackedNotKept {
    /// Why it is not kept.
    pub why: NotKept,
    /// How many files.
    #[serde(rename = "files_total")]
    pub files: u64,
    /// The files, at most 10.
    #[serde(rename = "files")]
    pub named: Vec<String>,
}

impl UntrackedNotKept {
    /// How many are named.
    pub const MOST: usize = 10;
}

/// Files that were untracked before the task and were changed: from now on they are committed like any other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UntrackedTouched {
    /// The iteration that changed them, from 0; null if it was none.
    pub iteration: Option<u32>,
    /// The files, at most 100.
    pub files: Vec<UntrackedFile>,
    /// How many files.
    #[serde(rename = "files_total")]
    pub total: u64,
    /// How many files are not committed from now on.
    #[serde(rename = "left_out_total")]
    pub left_out: u64,
    /// The complete lists of those.
    pub lists: Vec<String>,
}

impl UntrackedTouched {
    /// How many are named.
    pub const MOST: usize = 100;
}

/// A file that was untracked before the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UntrackedFile {
    /// The path, relative to the repository.
    pub path: String,
    /// What happened to it.
    pub fate: UntrackedFate,
    /// The ref that keeps what it was. Absent if it was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

/// What happened to a file that was untracked before the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UntrackedFate {
    /// It was changed and is part of the iteration's commit.
    Committed,
    /// The agent itself committed it, without a change.
    AddedByAgent,
    /// It was changed and is in no commit.
    Changed,
    /// It was removed or moved.
    Gone,
}
