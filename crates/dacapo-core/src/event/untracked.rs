//! Files of the user's checkout that no commit held when a task began there (C10).

use serde::{Deserialize, Serialize};

use crate::git::NotKept;

/// What was found before anybody worked: it is left out of commits until an iteration changes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UntrackedFound {
    /// How many they are; a repository inside of the checkout is one.
    pub files: u64,
    /// How many are left out from now on, those that were found before included.
    pub left_out: u64,
    /// The first of them, at most [`UntrackedFound::MOST`].
    pub named: Vec<String>,
    /// The ref that holds their content; none: nothing of it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// Those whose content it does not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_kept: Vec<UntrackedNotKept>,
    /// The lists of all that are left out from now on: the SHA-256 of each names its file in the task's directory.
    pub lists: Vec<String>,
}

impl UntrackedFound {
    /// So many are named.
    pub const MOST: usize = 100;
}

/// Files whose content is not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UntrackedNotKept {
    /// Why.
    pub why: NotKept,
    /// How many they are.
    pub files: u64,
    /// The first of them, at most [`UntrackedNotKept::MOST`].
    pub named: Vec<String>,
}

impl UntrackedNotKept {
    /// So many are named.
    pub const MOST: usize = 10;
}

/// Some of these files are not what they were: from now on they are like any other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UntrackedTouched {
    /// In which iteration that was found.
    pub iteration: Option<u32>,
    /// Which, at most [`UntrackedTouched::MOST`].
    pub files: Vec<UntrackedFile>,
    /// How many they are in truth.
    pub total: u64,
    /// How many are left out from now on.
    pub left_out: u64,
    /// The lists of those that are left out from now on.
    pub lists: Vec<String>,
}

impl UntrackedTouched {
    /// So many are named.
    pub const MOST: usize = 100;
}

/// What became of one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UntrackedFile {
    /// The path.
    pub path: String,
    /// What became of it.
    pub fate: UntrackedFate,
    /// The ref that holds what it was; none: that was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

/// What an iteration did to a file that was untracked before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UntrackedFate {
    /// It was changed, and is part of the iteration's commit.
    Committed,
    /// The agent itself committed it, as it was.
    AddedByAgent,
    /// It was changed, and no commit holds it: it is ignored now, left out, or there was no commit.
    Changed,
    /// It was removed or moved.
    Gone,
}
