//! What a person should know of a task; it decides nothing. Paths are as people read them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Metered, WorkspaceProblem};
use crate::git::{self, Oid, display_path};
use crate::spec::Approval;

/// Something that a person should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "notice", rename_all = "snake_case")]
pub enum Notice {
    /// The agent did not report what a turn used, so the budget does not count it.
    UsageUnknown {
        /// The agent's name.
        agent: String,
        /// What it did not report.
        amount: Metered,
    },
    /// The agent reports only what its last model call used, so too few tokens are counted.
    UsageOfLastCallOnly {
        /// The agent's name.
        agent: String,
    },
    /// The agent has no mode for the approval that was chosen.
    NoModeFor {
        /// The agent's name.
        agent: String,
        /// The approval that was chosen.
        approval: Approval,
    },
    /// The process of an agent ended between two turns.
    AgentEnded {
        /// The agent's name.
        agent: String,
    },
    /// What the agent printed could not be read completely.
    OutputUnread {
        /// The system's or the program's own words.
        error: String,
    },
    /// What the agent printed could not be kept completely.
    OutputMissing {
        /// The system's or the program's own words.
        error: String,
    },
    /// A turn or a check left processes behind. They were ended.
    ProcessesEnded {
        /// The number of processes.
        count: u64,
    },
    /// A turn or a check left a process behind that belongs to another user. It cannot be ended.
    ProcessLeft {
        /// The id of the process.
        pid: u32,
        /// The name of the process's program.
        program: String,
    },
    /// An earlier run of the task left processes behind. They were ended.
    EarlierProcessesEnded {
        /// The number of processes.
        count: u64,
    },
    /// An earlier run of the task left a process behind that cannot be ended.
    EarlierProcessLeft {
        /// The id of the process.
        pid: u32,
        /// The name of the process's program.
        program: String,
    },
    /// The task was completed before any iteration was given what a person said with `dacapo tell`.
    NotTold {
        /// What was said.
        texts: Vec<String>,
    },
    /// A directory of the task was removed, and made again.
    DirectoryMadeAgain {
        /// The directory.
        path: String,
    },
    /// Something else was where a file of the task belongs. It was moved away.
    SetAside {
        /// What was found there.
        found: String,
        /// Where it was.
        path: String,
        /// Where it is now.
        aside: String,
    },
    /// Commits cannot be proven.
    NoProofs {
        /// The system's or the program's own words.
        error: String,
    },
    /// All checkouts for proofs are in use. The task waits for one.
    ProofCheckoutsInUse,
    /// Agents can read the held-out checks.
    HeldOutReadable,
    /// It could not be found out which files the commit lacks.
    HiddenUnknown {
        /// The system's or the program's own words.
        error: String,
    },
    /// The journal cannot be sealed, so nothing will count as proven.
    NotSealed {
        /// The system's or the program's own words.
        error: String,
    },
    /// What the task has committed in its own repository is not in the user's yet.
    NotCarried {
        /// What git or the system said.
        error: String,
    },
    /// The newest iteration could not be forced to disk.
    NotDurable {
        /// The system's or the program's own words.
        error: String,
    },
    /// The files in `.dacapo/` that say where the task stands could not be written.
    Mirror(MirrorProblem),
    /// Usage limits are not shared with other tasks.
    LimitsNotShared {
        /// The directory that cannot be used.
        path: String,
        /// The system's or the program's own words.
        error: String,
    },
    /// Something about the directory that the task works in.
    Workspace(WorkspaceNotice),
    /// There is no directory to work in.
    NoWorkspace {
        /// What is wrong; at least one.
        problems: Vec<WorkspaceProblem>,
    },
    /// Something that was found in git.
    Git(GitNotice),
    /// A file of the user's was not committed.
    LeftUncommitted(LeftFile),
    /// A new file was not committed.
    NotCommitted(LeftFile),
    /// An uncommitted file could not be kept under a ref.
    NotKept(LeftFile),
    /// A git repository inside of the worktree could not be kept under a ref.
    RepositoryNotKept {
        /// Where it is.
        path: String,
    },
    /// What was not committed is kept under a ref.
    Kept {
        /// The ref.
        reference: String,
    },
    /// Commands cannot reach the task.
    NoCommands {
        /// The system's or the program's own words.
        error: String,
    },
    /// Files in the task's inbox are not commands of Dacapo, and were ignored.
    NoCommandsOfOurs {
        /// The number of such files.
        files: u64,
        /// The inbox.
        path: String,
    },
    /// No pull request was opened, because the task is not completed.
    NoPullRequest,
    /// The pull request could not be opened.
    PullRequestNotOpened {
        /// Why, and what to do.
        message: String,
    },
    /// A notification could not be sent.
    NotNotified {
        /// The way: `desktop`, `webhook` or `command`.
        how: String,
        /// The system's or the program's own words.
        error: String,
    },
    /// What git, the system or another program said.
    Said {
        /// In its own words.
        message: String,
    },
}

/// Something about the directory that a task works in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum WorkspaceNotice {
    /// The user's checkout was switched to the task's branch.
    Switched {
        /// The branch it was on.
        from: String,
        /// The task's branch.
        to: String,
    },
    /// The user's checkout was on another branch when the task was resumed, and was switched back.
    SwitchedBack {
        /// The branch it was on.
        from: String,
        /// The task's branch.
        to: String,
    },
    /// The user's checkout stays on the task's branch.
    StaysOn {
        /// The branch.
        branch: String,
        /// The branch it was on before; null if that is not known.
        before: Option<String>,
    },
    /// The worktree was removed, and made again.
    WorktreeMadeAgain {
        /// The branch it was made from.
        branch: String,
    },
    /// The working directory was removed, and made again.
    WorkingDirectoryMadeAgain {
        /// The commit it was made from; null if it is as at the start.
        commit_id: Option<Oid>,
    },
    /// Tests that the agent changed are as they were at the start of the task (`--tests locked`).
    TestsPutBack {
        /// The first of the files.
        first: String,
        /// How many more there are.
        more: u64,
        /// The ref that keeps what the agent had made of them; null if its own commits do.
        kept: Option<String>,
    },
    /// The user's uncommitted changes were copied into the worktree.
    ChangesCameAlong {
        /// How many files were written.
        written: u64,
        /// How many files were removed.
        removed: u64,
    },
    /// Files that `.worktreeinclude` names were not copied.
    NotIncluded {
        /// The first of them.
        first: String,
        /// How many more there are.
        more: u64,
    },
    /// Submodules are empty in the new worktree.
    EmptySubmodules {
        /// The first of them.
        first: String,
        /// How many more there are.
        more: u64,
    },
    /// No ports could be reserved for the task.
    NoPorts {
        /// Why; null if all are taken.
        error: Option<String>,
    },
    /// It could not be found out which files were untracked before the task.
    UntrackedUnknown {
        /// Why; null if the journal is not complete.
        error: Option<String>,
    },
    /// While the agent worked, settings were changed that decide what the user's own commands do.
    SettingsChanged {
        /// The files.
        files: Vec<String>,
    },
    /// Settings of git that were made or removed while an agent ran, and have no part in proofs until the user confirms them.
    SettingsLeftOut {
        /// Their names.
        settings: Vec<String>,
    },
}

/// Something that was found in git.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum GitNotice {
    /// HEAD was somewhere else and is back, with the work.
    Reattached {
        /// The branch it was on; null if it was detached.
        from: Option<String>,
        /// The branch it is on again; null if it is detached.
        to: Option<String>,
    },
    /// A lock that a dead git process had left was removed.
    StaleLockRemoved {
        /// The lock.
        path: String,
    },
    /// The user's index is locked. The commit was made without it.
    IndexLocked {
        /// The lock.
        path: String,
    },
    /// The index was missing or broken, and was made again from HEAD.
    IndexRebuilt {
        /// Where the broken one is; null if it was missing.
        kept: Option<String>,
    },
    /// The worktree's `.git` file was removed, and made again.
    LinkRestored {
        /// The file.
        path: String,
    },
    /// A submodule has changes that are not committed in it.
    SubmoduleDirty {
        /// The submodule.
        path: String,
    },
    /// While the agent worked, a branch, a tag or stashed changes outside of the task moved or went, and not by Dacapo.
    RefMoved {
        /// The full name of the ref; `refs/stash` for stashed changes.
        reference: String,
        /// The commit, or the tag, it named.
        from: Oid,
        /// What it names now; null if it is gone.
        to: Option<Oid>,
        /// The ref that keeps `from`; null if another ref still leads there.
        kept: Option<String>,
    },
    /// More refs moved than are named one by one.
    MoreRefsMoved {
        /// The number of those that are not named.
        more: u64,
    },
    /// Git printed a warning.
    Warned {
        /// The warning.
        message: String,
    },
    /// The agent itself committed a file that Dacapo would have left out.
    CommittedByAgent(LeftFile),
    /// A commit that the agent made brings the value of an environment variable that is a secret.
    SecretCommitted(SecretFile),
}

/// A file in a commit that brings the value of a secret, in its content or its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretFile {
    /// The file.
    pub path: String,
    /// The variable; of several, their names.
    pub variable: String,
    /// The commit.
    pub commit_id: Oid,
}

impl From<&git::CommittedSecret> for SecretFile {
    fn from(found: &git::CommittedSecret) -> Self {
        let git::CommittedSecret { path, variable, commit } = found;
        Self { path: display_path(path), variable: variable.clone(), commit_id: commit.clone() }
    }
}

/// What is wrong with the files in `.dacapo/` that say where a task stands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "problem", rename_all = "snake_case")]
pub enum MirrorProblem {
    /// A file, or all of them, could not be written.
    #[error("{path} is out of date: {error}")]
    NotUpToDate {
        /// The file or directory.
        path: String,
        /// The system's or the program's own words.
        error: String,
    },
    /// The files could not be hidden from `git status`.
    #[error("git may see files below {path}: {error}")]
    Seen {
        /// The directory.
        path: String,
        /// The system's or the program's own words.
        error: String,
    },
}

/// A new file that was left where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftFile {
    /// The file.
    pub path: String,
    /// Why it was left.
    #[serde(flatten)]
    pub why: LeftWhy,
}

/// Why a new file was left where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum LeftWhy {
    /// It looks like a secret.
    Secret,
    /// It holds the value of an environment variable that is a secret.
    HoldsSecret {
        /// The variable; of several, their names.
        variable: String,
    },
    /// Its name holds the value of an environment variable that is a secret.
    NameHoldsSecret {
        /// The variable; of several, their names.
        variable: String,
    },
    /// It is larger than the limit.
    TooBig {
        /// Its size.
        bytes: u64,
    },
    /// Git could not add it.
    NotStageable {
        /// What git said.
        message: String,
    },
}

impl From<&git::LeftOut> for LeftFile {
    fn from(left: &git::LeftOut) -> Self {
        let why = match &left.why {
            git::LeftOutReason::Secret => LeftWhy::Secret,
            git::LeftOutReason::HoldsSecret { variable } => {
                LeftWhy::HoldsSecret { variable: variable.clone() }
            }
            git::LeftOutReason::NameHoldsSecret { variable } => {
                LeftWhy::NameHoldsSecret { variable: variable.clone() }
            }
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
