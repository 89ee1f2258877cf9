//! What came of preparing a commit, in a form that callers can decide on and people can read.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::{Head, LeftOutReason, Oid, Operation, Rescued, SpecialKind};

/// What happened to one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It was not there.
    Added,
    /// Its content or its executable bit.
    Modified,
    Deleted,
    /// File, symbolic link or submodule: it became another of these.
    TypeChanged,
}

/// One changed path, relative to the root of the working tree. A rename is two of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Change {
    /// The path, as bytes.
    pub path: PathBuf,
    /// What happened to it.
    pub kind: ChangeKind,
}

/// A commit that exists but that no branch names yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCommit {
    pub oid: Oid,
    /// Its parent; none for the first of a repository.
    pub parent: Option<Oid>,
    pub tree: Oid,
}

/// A new file that was not committed and stays where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub path: PathBuf,
    pub why: LeftOutReason,
}

/// What the agent left that makes the iteration a failed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// HEAD was moved to something that does not build on our tip. All of it is kept, HEAD is back.
    HeadMoved {
        found: Head,
        /// Where it was put back to.
        home: Head,
        /// What is kept, and under which refs.
        rescued: Vec<Rescued>,
    },
    /// A repository inside the working tree. It cannot be committed as files, so it was left as it is.
    NestedRepository(PathBuf),
    /// Paths with conflicts. Nothing was committed.
    Unmerged(Vec<PathBuf>),
    /// A merge, rebase, … was begun and not finished. Nothing was committed.
    OperationInProgress(Operation),
    /// The working tree's directory is gone.
    WorkspaceGone(PathBuf),
    /// The git directory is gone or is no repository any more.
    RepositoryGone(PathBuf),
    /// The commit we built on is no longer in the repository.
    HistoryGone(Oid),
    /// Where git reads a file there is something that has no end. Nothing was committed.
    SpecialFile(PathBuf, SpecialKind),
    /// The `.git` file of the worktree now leads elsewhere. The commit was made in the right repository.
    LinkReplaced(PathBuf),
}

/// What a person should hear of, though nothing failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The agent's commits were on another branch or none; our branch was moved to them and HEAD put on it.
    Reattached {
        /// The branch HEAD was on; none: detached.
        from: Option<String>,
        /// The branch it is on again; none: detached.
        to: Option<String>,
    },
    /// A lock that a dead git had left was removed.
    StaleLockRemoved(PathBuf),
    /// The user's index is locked; the commit was made without it.
    IndexLocked(PathBuf),
    /// The index was missing or broken and was made again from HEAD; the broken one is kept.
    IndexRebuilt(Option<PathBuf>),
    /// The worktree's `.git` file had been removed and was put back.
    LinkRestored(PathBuf),
    /// A submodule has changes that no commit of its own holds.
    SubmoduleDirty(PathBuf),
    /// The agent itself committed a file that would have been left out. It is in the history now.
    CommittedByAgent(LeftOut),
    /// Git warned while looking at the working tree.
    Warning(String),
}

/// The result of [`super::Repo::prepare_commit`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// HEAD as it is now: what the commit must land on.
    pub head: Head,
    /// The commit to land; none when there is nothing to commit.
    pub commit: Option<NewCommit>,
    /// From the start of the iteration to its end, commits of the agent's own included.
    pub changed: Vec<Change>,
    /// Whether the agent committed by itself.
    pub own_commits: bool,
    /// New files that were not committed.
    pub left_out: Vec<LeftOut>,
    /// Any of these fails the iteration.
    pub problems: Vec<Problem>,
    /// What the user should know; the iteration goes on.
    pub notices: Vec<Notice>,
}

impl Prepared {
    pub(super) fn nothing(head: Head) -> Self {
        Self {
            head,
            commit: None,
            changed: Vec::new(),
            own_commits: false,
            left_out: Vec::new(),
            problems: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// The paths that are in a commit by now, ours or the agent's, and were not so at the start.
    pub(crate) fn committed(&self) -> BTreeSet<PathBuf> {
        if self.commit.is_none() && !self.own_commits {
            return BTreeSet::new();
        }
        let there = self.changed.iter().filter(|change| change.kind != ChangeKind::Deleted);
        there.map(|change| change.path.clone()).collect()
    }
}
