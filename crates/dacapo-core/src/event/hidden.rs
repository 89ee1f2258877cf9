//! What a workspace has and the commit of its work does not.

use serde::{Deserialize, Serialize};

/// A path whose content in the workspace is in no commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hidden {
    /// The path from the top, for people; a directory ends in `/`.
    pub path: String,
    /// Why no commit holds it.
    pub why: HiddenWhy,
}

/// Why no commit holds a path as it is in the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HiddenWhy {
    /// A `.gitignore` names it.
    Ignored,
    /// `.git/info/exclude` or the user's own excludes file names it.
    Excluded,
    /// It looks like a secret and is left out of commits.
    LeftOutSecret,
    /// It is over the size limit and is left out of commits.
    LeftOutSize,
    /// It was untracked before the task, and is left out of commits as long as nobody changes it.
    UntrackedBefore,
    /// Nobody has committed it.
    Untracked,
    /// It is a git repository of its own, or lies in one.
    NestedRepository,
    /// It is a directory without files.
    EmptyDirectory,
    /// It came with `.worktreeinclude` and was changed after the start.
    IncludedChanged,
    /// `git update-index --assume-unchanged` hides an edit.
    AssumeUnchanged,
    /// `git update-index --skip-worktree` hides an edit.
    SkipWorktree,
    /// A filter (`.gitattributes`, `.git/config`) commits something else than the file's bytes.
    Filtered,
    /// It differs from what was committed.
    Changed,
}
