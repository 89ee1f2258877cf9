//! What a workspace has and the commit of its work does not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file that the agent has and the commit does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "HiddenFile")]
pub struct Hidden {
    /// The path, relative to the repository. A directory ends in `/`.
    pub path: String,
    /// Why it is not in the commit.
    pub why: HiddenWhy,
}

/// Why a file is not in the commit as it is where the agent works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HiddenWhy {
    /// A `.gitignore` names it.
    Ignored,
    /// `.git/info/exclude` or the user's own excludes file names it.
    Excluded,
    /// It looks like a secret.
    LeftOutSecret,
    /// It is larger than the limit.
    LeftOutSize,
    /// It was untracked before the task, and nobody has changed it.
    UntrackedBefore,
    /// Nobody has committed it.
    Untracked,
    /// It is a git repository of its own, or is in one.
    NestedRepository,
    /// It is an empty directory.
    EmptyDirectory,
    /// It was copied because of `.worktreeinclude` and changed since.
    IncludedChanged,
    /// `git update-index --assume-unchanged` hides a change.
    AssumeUnchanged,
    /// `git update-index --skip-worktree` hides a change.
    SkipWorktree,
    /// A filter (`.gitattributes`, `.git/config`) commits something else than the content of the file.
    Filtered,
    /// It differs from what was committed.
    Changed,
}
