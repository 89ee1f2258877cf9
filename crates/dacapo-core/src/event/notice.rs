//! What a person should know of a task; it decides nothing. Paths are as people read them.

use serde::{Deserialize, Serialize};

use super::{Metered, WorkspaceProblem};
use crate::git::{self, Oid, display_path};
use crate::spec::Approval;

/// Something that a person should know, one variant a fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "notice", rename_all = "snake_case")]
pub enum Notice {
    /// The agent did not say what a turn used, so the budget does not count it.
    UsageUnknown {
        /// The agent.
        agent: String,
        /// What it does not say.
        amount: Metered,
    },
    /// The agent says only what its last model call used: tokens are counted too low.
    UsageOfLastCallOnly {
        /// The agent.
        agent: String,
    },
    /// The agent has no mode of its own for what it may do unasked.
    NoModeFor {
        /// The agent.
        agent: String,
        /// What it may do.
        approval: Approval,
    },
    /// The process of an agent ended between two turns.
    AgentEnded {
        /// The agent.
        agent: String,
    },
    /// What the agent printed could not be read to its end.
    OutputUnread {
        /// Why.
        error: String,
    },
    /// Not all that the agent printed could be kept.
    OutputMissing {
        /// Why.
        error: String,
    },
    /// Processes that a turn or a check left were ended.
    ProcessesEnded {
        /// How many.
        count: u64,
    },
    /// A process that was left belongs to someone else and cannot be ended.
    ProcessLeft {
        /// Its id.
        pid: u32,
        /// Its program.
        program: String,
    },
    /// Processes that an earlier run left were ended.
    EarlierProcessesEnded {
        /// How many.
        count: u64,
    },
    /// A process that an earlier run left cannot be ended.
    EarlierProcessLeft {
        /// Its id.
        pid: u32,
        /// Its program.
        program: String,
    },
    /// A directory of the task had been removed and was made again.
    DirectoryMadeAgain {
        /// The directory.
        path: String,
    },
    /// Something else was where a file of the task belongs.
    SetAside {
        /// What it was.
        found: String,
        /// Where.
        path: String,
        /// Where it is now.
        aside: String,
    },
    /// Commits cannot be proven.
    NoProofs {
        /// Why.
        error: String,
    },
    /// All proof checkouts are in use; it waits for one.
    ProofCheckoutsInUse,
    /// What a commit lacks cannot be found.
    HiddenUnknown {
        /// Why.
        error: String,
    },
    /// What this run writes down cannot be sealed.
    NotSealed {
        /// Why.
        error: String,
    },
    /// The newest iteration is not forced to disk.
    NotDurable {
        /// Why.
        error: String,
    },
    /// Files that say where the task stands are not brought up to date, or git sees them.
    Mirror(MirrorProblem),
    /// Usage limits are not shared with other tasks.
    LimitsNotShared {
        /// The directory that cannot be used.
        path: String,
        /// Why.
        error: String,
    },
    /// The place where the task works.
    Workspace(WorkspaceNotice),
    /// There is no place to work in.
    NoWorkspace {
        /// One at least.
        problems: Vec<WorkspaceProblem>,
    },
    /// What was found in git.
    Git(GitNotice),
    /// A file of the user's stays as it is.
    LeftUncommitted(LeftFile),
    /// A new file was not committed.
    NotCommitted(LeftFile),
    /// A file that nobody committed is not kept under a ref either.
    NotKept(LeftFile),
    /// Nor is a repository of its own.
    RepositoryNotKept {
        /// Where.
        path: String,
    },
    /// What nobody committed is kept.
    Kept {
        /// The ref.
        reference: String,
    },
    /// Commands cannot reach the task.
    NoCommands {
        /// Why.
        error: String,
    },
    /// Files in its inbox are no commands; they are not obeyed.
    NoCommandsOfOurs {
        /// How many.
        files: u64,
        /// The inbox.
        path: String,
    },
    /// No pull request was opened: the task is not completed.
    NoPullRequest,
    /// The pull request could not be opened, or is left to the user.
    PullRequestNotOpened {
        /// What was said about it.
        message: String,
    },
    /// Somebody could not be told of the end.
    NotNotified {
        /// By which way.
        how: String,
        /// Why.
        error: String,
    },
    /// What git, the system or another program said.
    Said {
        /// In its own words.
        message: String,
    },
}

/// What became of the place where a task works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum WorkspaceNotice {
    /// The user's checkout was switched to the task's branch.
    Switched {
        /// The branch it was on.
        from: String,
        /// The task's.
        to: String,
    },
    /// It was elsewhere when the task was to go on.
    SwitchedBack {
        /// Where it was.
        from: String,
        /// The task's branch.
        to: String,
    },
    /// It stays on the task's branch.
    StaysOn {
        /// The branch.
        branch: String,
        /// The one it was on before.
        before: Option<String>,
    },
    /// The worktree had been removed and was made again.
    WorktreeMadeAgain {
        /// From this branch.
        branch: String,
    },
    /// The working directory had been removed and was made again.
    WorkingDirectoryMadeAgain {
        /// At this commit; none: at the start.
        commit_id: Option<Oid>,
    },
    /// Changes of the user's came into the worktree.
    ChangesCameAlong {
        /// Files that were written.
        written: u64,
        /// Files that were removed.
        removed: u64,
    },
    /// Files that `.worktreeinclude` names were not copied.
    NotIncluded {
        /// The first of them.
        first: String,
        /// How many more.
        more: u64,
    },
    /// Submodules are empty in a fresh worktree.
    EmptySubmodules {
        /// The first of them.
        first: String,
        /// How many more.
        more: u64,
    },
    /// The task has no ports of its own.
    NoPorts {
        /// Why; none: all are taken.
        error: Option<String>,
    },
    /// Which files were untracked before the task cannot be read.
    UntrackedUnknown {
        /// Why; none: the journal is not whole.
        error: Option<String>,
    },
    /// Settings that decide what the user's own commands do were changed while the agent was at work.
    SettingsChanged {
        /// The files.
        files: Vec<String>,
    },
}

/// What was found in git, though nothing failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum GitNotice {
    /// HEAD was elsewhere and is back, with the work.
    Reattached {
        /// The branch it was on; none: detached.
        from: Option<String>,
        /// The branch it is on again; none: detached.
        to: Option<String>,
    },
    /// A lock that a dead git had left was removed.
    StaleLockRemoved {
        /// The lock.
        path: String,
    },
    /// The user's index is locked; the commit was made without it.
    IndexLocked {
        /// The lock.
        path: String,
    },
    /// The index was missing or broken and was made again from HEAD.
    IndexRebuilt {
        /// Where the broken one is; none: it was missing.
        kept: Option<String>,
    },
    /// The worktree's `.git` file had been removed and was put back.
    LinkRestored {
        /// The file.
        path: String,
    },
    /// A submodule has changes that no commit of its own holds.
    SubmoduleDirty {
        /// The submodule.
        path: String,
    },
    /// Git warned while looking at the working tree.
    Warned {
        /// What it said.
        message: String,
    },
    /// The agent itself committed a file that would have been left out. It is in the history now.
    CommittedByAgent(LeftFile),
}

/// What is wrong with the files that say where a task stands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "problem", rename_all = "snake_case")]
pub enum MirrorProblem {
    /// A file, or all of them, is not brought up to date.
    #[error("{path} is out of date: {error}")]
    NotUpToDate {
        /// The file or directory.
        path: String,
        /// Why.
        error: String,
    },
    /// Git may see what is below.
    #[error("git may see files below {path}: {error}")]
    Seen {
        /// The directory.
        path: String,
        /// Why.
        error: String,
    },
}

/// A new file that was left where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftFile {
    /// The file.
    pub path: String,
    /// Why.
    #[serde(flatten)]
    pub why: LeftWhy,
}

/// Why a new file was left where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum LeftWhy {
    /// It looks like a secret.
    Secret,
    /// It is larger than the limit.
    TooBig {
        /// Its size.
        bytes: u64,
    },
    /// Git could not take it.
    NotStageable {
        /// What git said.
        message: String,
    },
}

impl From<&git::LeftOut> for LeftFile {
    fn from(left: &git::LeftOut) -> Self {
        let why = match &left.why {
            git::LeftOutReason::Secret => LeftWhy::Secret,
            git::LeftOutReason::TooBig { bytes } => LeftWhy::TooBig { bytes: *bytes },
            git::LeftOutReason::NotStageable(said) => LeftWhy::NotStageable { message: said.clone() },
        };
        Self { path: display_path(&left.path), why }
    }
}

impl From<&git::Notice> for GitNotice {
    fn from(notice: &git::Notice) -> Self {
        let short = |name: &Option<String>| {
            name.as_ref().map(|name| name.strip_prefix("refs/heads/").unwrap_or(name).to_owned())
        };
        match notice {
            git::Notice::Reattached { from, to } => Self::Reattached { from: short(from), to: short(to) },
            git::Notice::StaleLockRemoved(lock) => Self::StaleLockRemoved { path: display_path(lock) },
            git::Notice::IndexLocked(lock) => Self::IndexLocked { path: display_path(lock) },
            git::Notice::IndexRebuilt(kept) => {
                Self::IndexRebuilt { kept: kept.as_ref().map(|kept| display_path(kept)) }
            }
            git::Notice::LinkRestored(path) => Self::LinkRestored { path: display_path(path) },
            git::Notice::SubmoduleDirty(path) => Self::SubmoduleDirty { path: display_path(path) },
            git::Notice::CommittedByAgent(file) => Self::CommittedByAgent(file.into()),
            git::Notice::Warning(said) => Self::Warned { message: said.clone() },
        }
    }
}

impl From<&git::Notice> for Notice {
    fn from(notice: &git::Notice) -> Self {
        Self::Git(notice.into())
    }
}
