//! What `merge --json` prints, a line each.

use dacapo_core::event::{Exposed, TestsMark};
use dacapo_core::git::Oid;
use schemars::JsonSchema;
use serde::Serialize;

/// What a merge would do.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MergePlan {
    /// The branch that is checked out: the tasks are merged into it.
    pub into: String,
    /// Where that branch is.
    pub from_commit: Oid,
    /// The tasks, in the order in which they are merged.
    pub tasks: Vec<PlannedTask>,
    /// True if nothing is going to be merged.
    pub dry_run: bool,
}

/// A task that is to be merged.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PlannedTask {
    /// The task's name.
    pub task: String,
    /// How many commits it has that the branch does not.
    pub commits: u64,
    /// The files that it changed.
    pub files: Vec<String>,
    /// How its merge is expected to go.
    pub expected: ExpectedMerge,
    /// The files that conflict. Empty unless `expected` is `conflicts`.
    pub conflicts: Vec<String>,
    /// The tasks of this merge that they conflict with. Empty if they conflict with the branch itself.
    pub conflicts_with: Vec<String>,
    /// The checks that must pass on the result.
    pub checks: Vec<PlannedCheck>,
    /// The agent that would resolve conflicts; null if there is none.
    pub agent: Option<String>,
    /// What is to be said of the tests that the task changed; null if there is nothing.
    pub tests: Option<TestsMark>,
    /// How many files in the task's worktree are not committed. They are kept aside.
    pub uncommitted_total: u64,
}

/// How a merge is expected to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExpectedMerge {
    /// The branch contains all of it.
    AlreadyThere,
    /// The task has no commits.
    Empty,
    /// The branch moves to the task's last commit.
    FastForward,
    /// A merge commit joins both.
    Merge,
    /// One new commit holds all changes.
    Squash,
    /// An agent or a person has to resolve conflicts.
    Conflicts,
}

/// A check of a task that is to be merged.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PlannedCheck {
    /// The check's command.
    pub command: String,
    /// True if it has passed on exactly the resulting commit already, and does not have to run again.
    pub proven: bool,
}

/// An agent begins to work on a merge.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MergeAgent {
    /// The task that is being merged.
    pub task: String,
    /// The agent's name.
    pub agent: String,
    /// The files that conflict. Empty if the agent was asked to integrate the tasks without a conflict.
    pub conflicts: Vec<String>,
    /// The file that keeps what the agent prints.
    pub output_file: String,
}

/// What became of one task in a merge.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MergeResult {
    /// The task's name.
    pub task: String,
    #[serde(flatten)]
    pub result: TaskMerge,
}

/// What became of one task in a merge.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum TaskMerge {
    /// The branch contains the task's work now.
    Merged {
        /// Where the branch is now.
        commit_id: Oid,
        /// Where it was before this task.
        from_commit: Oid,
        /// True if no new commit was needed.
        fast_forward: bool,
        /// The checks that passed on the result.
        checks: Vec<MergedCheck>,
        /// The agent that resolved conflicts; null if none was needed.
        agent: Option<String>,
        /// The files that it resolved.
        conflicts: Vec<String>,
        /// What is to be said of the tests that the task changed; null if there is nothing.
        tests: Option<TestsMark>,
        /// The refs that keep what the task's branch and worktree held.
        kept: Vec<String>,
        /// Where uncommitted and ignored files of the worktree are now; null if there were none.
        set_aside: Option<String>,
        /// What could not be tidied up, a sentence each.
        problems: Vec<String>,
    },
    /// An earlier merge brought it there.
    AlreadyMerged {
        /// The branch that contains it.
        into: String,
        /// The commit of that merge.
        commit_id: Oid,
    },
    /// The branch contained all of it, and worktree and branch of the task were removed.
    AlreadyThere {
        /// The refs that keep what they held.
        kept: Vec<String>,
    },
    /// The task has nothing to merge.
    Empty,
    /// The task was left out, and nothing of it has changed.
    LeftOut {
        /// Why, as a sentence.
        message: String,
        /// A file that says more; null if there is none.
        see: Option<String>,
    },
    /// The merge was stopped before this task was done.
    Stopped,
}

/// A check that passed on the result of a merge.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MergedCheck {
    /// The check's command.
    pub command: String,
    /// True if it had passed on exactly this commit before, and did not have to run again.
    pub by_receipt: bool,
    /// Why it could see files that an agent left; without it, it could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposed: Option<Exposed>,
}

/// The end of a merge.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MergeFinished {
    /// The branch that the tasks were merged into.
    pub into: String,
    /// Where the branch was before.
    pub from_commit: Oid,
    /// Where it is now; null if that is not known.
    pub to_commit: Option<Oid>,
    /// The tasks that were merged.
    pub merged: Vec<String>,
    /// The tasks that were not.
    pub left_out: Vec<String>,
}
