//! What commands print with `--json`, beside tasks and events: one object each.

use dacapo_core::dropped::{DropReason, DroppedRecord};
use dacapo_core::event::AgentEvent;
use dacapo_core::git::Oid;
use dacapo_core::json::short_branch;
use dacapo_core::view::TouchedFile;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::Versioned;
use super::merge::{MergeAgent, MergeFinished, MergePlan, MergeResult};

/// An object that a command prints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Object {
    /// `exec --dry-run --json` and `spawn --dry-run --json`: the task that would be started.
    DryRun(DryRun),
    /// `diff --json`: the files that a task changed.
    Diff(Diff),
    /// `merge --json`, first: what is going to happen. With `--dry-run` nothing follows.
    MergePlan(MergePlan),
    /// `merge --json`: an agent begins to resolve conflicts, or to integrate the tasks as asked.
    MergeAgent(MergeAgent),
    /// Something that an agent did. `exec`, `resume` and `attach` print it among the events of the task, `merge` while an agent
    /// resolves conflicts.
    AgentEvent(AgentLine),
    /// In place of events of an agent that could not be printed, because whoever reads them was too slow. `dacapo logs --turn` still
    /// has what the agent said.
    AgentEventsDropped(AgentLinesDropped),
    /// `merge --json`: what became of one task.
    MergeResult(MergeResult),
    /// `merge --json`, last: where the branch is now.
    MergeFinished(MergeFinished),
    /// `pr --json`: the pull request. With `--dry-run`, what would be offered.
    PullRequest(PullRequest),
    /// `rename --json`: the task has another name.
    Renamed(Renamed),
    /// `drop --json`, and each element of `undo --list --json`: a task that can be brought back.
    Dropped(Dropped),
    /// `undo --json`: a task that is back.
    Undone(Dropped),
    /// `prune --json`: what was removed. With `--dry-run`, what would be.
    Pruned(Pruned),
    /// `init --json`: the files that Dacapo reads in the repository.
    Init(Init),
    /// `trust --json`: what the repository brings that could run something here.
    Trust(Trust),
    /// `trust --revoke --json`: confirmations that were taken back.
    TrustRevoked(TrustRevoked),
    /// `notify test --json`: a line for each way of being notified.
    Notified(Notified),
}

impl Object {
    /// As it is printed.
    pub fn line(self) -> String {
        Versioned::new(self).line()
    }
}

/// A task that would be started.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DryRun {
    /// The name that the task would have.
    pub name: String,
    /// True if it would run in the foreground.
    pub foreground: bool,
    /// The branch that its worktree would be on; null if it would work in the user's checkout.
    pub branch: Option<String>,
    /// The agents, in the order in which they take over at a usage limit.
    pub agents: Vec<DryRunAgent>,
    /// The prompt of the task.
    pub prompt: String,
    /// The path of the plan that goes with the prompt; null if there is none.
    pub plan: Option<String>,
    /// The commands that make the worktree usable.
    pub setup: Vec<String>,
    /// The commands that must pass.
    pub checks: Vec<String>,
    /// The text by which the agent says that it is done; null if it is not asked for one.
    pub completion_promise: Option<String>,
    /// The limit on iterations; null if there is none.
    pub max_iterations: Option<u32>,
    /// No iteration starts after this time; null if there is no limit.
    pub time_seconds: Option<f64>,
    /// The budget; null if there is none.
    pub max_cost_usd: Option<f64>,
    /// The budget in tokens; null if there is none.
    pub max_tokens: Option<u64>,
    /// Additional environment of agents, checks and setup.
    pub env: Vec<DryRunVariable>,
    /// What the user should know, a sentence each.
    pub notes: Vec<String>,
}

/// An agent that would be started.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DryRunAgent {
    /// The name of the agent.
    pub name: String,
    /// The model; null if none was chosen.
    pub model: Option<String>,
    /// The command line of the first turn. Words in capitals are placeholders for values that are known only during a turn.
    pub command: Vec<String>,
    /// Who pays for it, as a sentence; null if that is not known.
    pub billing: Option<String>,
}

/// An environment variable.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DryRunVariable {
    /// The name of the variable.
    pub name: String,
    /// Null if it is a secret, which is never shown.
    pub value: Option<String>,
}

/// The files that a task changed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Diff {
    /// The task's name.
    pub task: String,
    /// The commit before; null if the repository had none, or nothing was changed.
    pub from_commit: Option<Oid>,
    /// The commit after; null if nothing was changed.
    pub to_commit: Option<Oid>,
    /// The files that were changed.
    pub files: Vec<ChangedFile>,
    /// Files that were untracked before the task and that it changed: to git all of their content is new. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untracked_before: Vec<TouchedFile>,
}

/// A file that a task changed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChangedFile {
    /// The path, relative to the repository.
    pub path: String,
    /// What happened to it.
    pub change: FileChange,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    /// It is new.
    Added,
    /// Its content or its permissions changed.
    Modified,
    /// It was removed.
    Deleted,
    /// For example a file became a symbolic link.
    TypeChanged,
}

/// Something that an agent did.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AgentLine {
    /// The number of the journal event before it. Absent in a merge, which has no journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Its own number since that event, from 0. Absent in a merge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub: Option<u64>,
    /// When it was printed.
    pub at: Timestamp,
    /// The task's name.
    pub task: String,
    /// What the agent did.
    #[schemars(with = "AgentEvent")]
    pub event: Value,
}

/// Events of an agent that were not printed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AgentLinesDropped {
    /// The number of the journal event before them.
    pub seq: u64,
    /// The number of the first of them since that event.
    pub sub: u64,
    /// When the first of them would have been printed.
    pub at: Timestamp,
    /// The task's name.
    pub task: String,
    /// How many are missing.
    pub count: u64,
}

/// A pull request.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PullRequest {
    /// The task's name.
    pub task: String,
    /// The remote that the branch is pushed to.
    pub remote: String,
    /// The name of the branch there.
    pub branch: String,
    /// The branch that the changes are offered to.
    pub base_branch: String,
    /// The title.
    pub title: String,
    /// The description, in Markdown.
    pub body: String,
    /// True if it is a draft.
    pub draft: bool,
    /// The program that opens it: `gh`, `glab` or `tea`; null if none is known for the remote.
    pub cli: Option<String>,
    /// Where the pull request is; null if the branch was pushed and no pull request could be opened. Absent with `--dry-run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<Option<String>>,
    /// True if there was a pull request for the branch already. Absent if none was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub already_open: Option<bool>,
    /// Why no pull request was opened, as a sentence. Absent if one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The command that would open it. Absent if one was opened, or the command is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// A task that has another name. The fields are those of the event `renamed`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Renamed {
    /// The old name.
    pub from: String,
    /// The new name.
    pub to: String,
    /// The task's worktree from now on; null if it works in the user's checkout.
    pub worktree: Option<String>,
    /// The task's branch from now on; null if it works in the user's checkout.
    pub branch: Option<String>,
}

/// A task that was dropped, or whose worktree and branch were removed after a merge.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Dropped {
    /// Names it: the task's name, when it was removed, and a random part.
    pub id: String,
    /// The task's name.
    pub name: String,
    /// Why it was removed.
    pub why: RemovedWhy,
    /// The branch that it was merged into. Absent if it was dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// Where that branch was before the merge. Absent if it was dropped, or somebody else merged it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_commit: Option<Oid>,
    /// The commit of the merge. Absent if it was dropped, or somebody else merged it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_id: Option<Oid>,
    /// When it was removed.
    pub removed_at: Timestamp,
    /// The prompt of the task.
    pub prompt: String,
    /// The worktree it had; null if it worked in the user's checkout.
    pub worktree: Option<String>,
    /// The branch it had; null if it worked in the user's checkout.
    pub branch: Option<String>,
    /// The last commit of that branch; null if there was none.
    pub last_commit: Option<Oid>,
    /// True if another branch contained that commit.
    pub is_merged: bool,
    /// The refs that keep what git knew of it.
    pub refs: Vec<String>,
    /// The directory that keeps everything else. Absent once it is back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How much it takes on disk. Only in `undo --list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// Why a task was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RemovedWhy {
    /// By `dacapo drop`: worktree, branch and record.
    Dropped,
    /// After a merge: worktree and branch. The record stays where it is.
    Merged,
}

impl Dropped {
    /// Of something that is kept at `path`.
    pub fn of(kept: &DroppedRecord, path: Option<String>, bytes: Option<u64>) -> Self {
        let (why, into, from_commit, commit_id) = match &kept.why {
            DropReason::Dropped => (RemovedWhy::Dropped, None, None, None),
            DropReason::Merged { into, from, commit } => {
                (RemovedWhy::Merged, Some(short_branch(into).to_owned()), from.clone(), commit.clone())
            }
        };
        Self {
            id: kept.id.clone(),
            name: kept.name.clone(),
            why,
            into,
            from_commit,
            commit_id,
            removed_at: kept.at,
            prompt: kept.prompt.clone(),
            worktree: kept.worktree.as_ref().map(|path| path.display().to_string()),
            branch: kept.branch.as_deref().map(|branch| short_branch(branch).to_owned()),
            last_commit: kept.tip.clone(),
            is_merged: kept.merged,
            refs: kept.refs.clone(),
            path,
            bytes,
        }
    }
}

/// What was removed for good.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Pruned {
    /// True if nothing was removed, and this is only what would be.
    pub dry_run: bool,
    /// How much was freed on disk.
    pub bytes: u64,
    /// What was removed.
    pub removed: Vec<PrunedItem>,
    /// What was kept, although it looks removable.
    pub spared: Vec<SparedItem>,
    /// What should have gone and could not be removed, a sentence each.
    pub problems: Vec<String>,
}

/// Something that was removed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PrunedItem {
    /// What it was.
    pub kind: PrunedKind,
    /// The task it belonged to. Absent for what belongs to none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// What it was in `undo --list`. Only for `dropped`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Where it was. Absent for `dropped`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The branch that went with it. Only for `worktree`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// How much it took on disk.
    pub bytes: u64,
    /// Why it could go, as a sentence.
    pub message: String,
    /// The refs that keep what git knew of it.
    pub refs: Vec<String>,
}

/// What was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PrunedKind {
    /// Worktree and branch of a merged task. Its record stays.
    Worktree,
    /// A task that could have been brought back with `undo`.
    Dropped,
    /// A checkout in which commits were proven.
    Proof,
    /// What a crash left.
    Left,
}

/// Something that stays.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SparedItem {
    /// What it is: the name of a task, or of a directory.
    pub name: String,
    /// Why it stays, as a sentence.
    pub message: String,
}

/// The files that Dacapo reads in a repository. Their paths are relative to it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Init {
    /// The path of the checkout.
    pub repo: String,
    /// Files that were created.
    pub made: Vec<String>,
    /// Files that were there already and were left as they are.
    pub there: Vec<String>,
    /// What was imported from another program (`--import`).
    pub imported: Vec<ImportedFile>,
    /// What the user should know, a sentence each.
    pub notes: Vec<String>,
}

/// A file of another program.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ImportedFile {
    /// The file that was imported.
    pub from: String,
    /// The file it became; null if it was not imported.
    pub to: Option<String>,
    /// The status of the milestone in it; null if it holds none.
    pub status: Option<String>,
    /// What could not be imported, as a sentence; null if all of it was.
    pub problem: Option<String>,
}

/// What a repository brings that could run something here.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Trust {
    /// Files of the repository that have to be confirmed.
    pub brought: Vec<BroughtFile>,
}

/// A file of a repository that has an effect only if the user confirms it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BroughtFile {
    /// The file, relative to the repository.
    pub source: String,
    /// The SHA-256 of what has to be confirmed.
    pub hash: String,
    /// True if the user has confirmed exactly this content.
    pub trusted: bool,
    /// What it would do, a text each.
    pub entries: Vec<String>,
}

/// Confirmations that were taken back.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrustRevoked {
    /// The hashes of what is not trusted any more.
    pub revoked: Vec<String>,
}

/// A notification that was sent to try it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Notified {
    /// The way: `desktop`, `webhook` or `command`.
    pub how: String,
    /// True if it arrived.
    pub ok: bool,
    /// Why it did not; null if it did.
    pub error: Option<String>,
}
