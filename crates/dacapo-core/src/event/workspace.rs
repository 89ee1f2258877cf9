//! What is wrong with the place a task works in, or with what an agent left there. What git or the system said itself is a
//! quotation (`said`); all else is for surfaces to say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::git::{Head, Oid, Operation, Problem, SpecialKind, display_path};

/// How many paths are named.
const NAMED: usize = 5;

/// What is wrong with the directory that a task works in, or with what an agent left there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "problem", rename_all = "snake_case")]
pub enum WorkspaceProblem {
    /// HEAD was moved to something that does not build on the task's own commits, and was put back.
    HeadMoved {
        /// Where HEAD was found.
        found: HeadAt,
        /// Where it was put back to.
        home: HeadAt,
        /// The refs that keep what was there. Absent if there was nothing to keep.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rescued: Vec<String>,
    },
    /// A repository inside the working tree cannot be committed as files.
    NestedRepository {
        /// Its path.
        path: String,
    },
    /// Conflicts are left; nothing was committed.
    Unmerged {
        /// The first few files.
        paths: Vec<String>,
        /// How many files there are.
        total: u64,
    },
    /// A merge, a rebase or the like was begun and not finished; nothing was committed.
    Unfinished {
        /// What was begun.
        operation: Operation,
    },
    /// The directory of the working tree is gone.
    DirectoryGone {
        /// Its path.
        path: String,
    },
    /// The git directory is gone, or is no longer a repository.
    RepositoryGone {
        /// Its path.
        path: String,
    },
    /// Where git reads a file there is a FIFO, a socket or a device; nothing was committed.
    SpecialFile {
        /// Its path.
        path: String,
        /// What it is.
        kind: SpecialKind,
    },
    /// Git was ended before it was done; nothing was committed, and the files are as they were.
    GitEnded {
        /// The git command.
        command: String,
        /// How long it was waited for, in seconds. Absent if the task was to end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit_seconds: Option<u64>,
        /// The command lines of what git had started and was waiting for, a filter for example. Absent if nothing is known.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        programs: Vec<String>,
    },
    /// The commit that the work builds on is gone.
    HistoryGone {
        /// The commit.
        commit_id: Oid,
    },
    /// The `.git` file of the worktree leads to another repository.
    LinkReplaced {
        /// The path of the file.
        path: String,
    },
    /// Somebody else moved the branch while an iteration was being committed to it.
    BranchMoved {
        /// The commit that the branch is at now. Absent if the branch is gone.
        #[serde(rename = "now_commit", default, skip_serializing_if = "Option::is_none")]
        now: Option<Oid>,
        /// The ref that keeps the iteration.
        rescued: String,
    },
    /// The commit that the task was to start from is gone.
    StartGone {
        /// The commit.
        commit_id: Oid,
    },
    /// The repository has no commits, so it cannot have a worktree.
    NoCommits,
    /// A branch of this name exists.
    BranchExists {
        /// The branch.
        branch: String,
    },
    /// The user's checkout was not switched to the task's branch: it has something that must not come along.
    NotSwitched {
        /// The task's branch.
        branch: String,
        /// What must not come along.
        found: InTheWay,
    },
    /// The user's checkout is on another branch than the task's, and has something that must stay there.
    Astray {
        /// The branch it is on. Absent if it is on none.
        #[serde(rename = "on_branch", default, skip_serializing_if = "Option::is_none")]
        on: Option<String>,
        /// The task's branch.
        branch: String,
        /// What must stay there.
        found: InTheWay,
    },
    /// Git did not switch the user's checkout to the task's branch.
    SwitchFailed {
        /// The task's branch.
        branch: String,
        /// What git said.
        #[serde(rename = "said")]
        message: String,
    },
    /// Git did not switch the user's checkout back to the task's branch.
    SwitchBackFailed {
        /// The branch it is on. Absent if it is on none.
        #[serde(rename = "on_branch", default, skip_serializing_if = "Option::is_none")]
        on: Option<String>,
        /// The task's branch.
        branch: String,
        /// What git said.
        #[serde(rename = "said")]
        message: String,
    },
    /// Git does not recognize the directory as a repository.
    Unusable {
        /// The task that works there.
        of_task: String,
        /// What git said.
        #[serde(rename = "said")]
        message: String,
        /// The branch of a worktree that somebody removed together with it. Absent otherwise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        removed_branch: Option<String>,
    },
    /// The worktree cannot be created.
    NotMade {
        /// What prevents it.
        because: Box<WorkspaceProblem>,
        /// The command that removes a lock of git's which is in the way. Absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unlock: Option<String>,
    },
    /// Something else, in the words of git or of the system.
    Said {
        /// What was said.
        #[serde(rename = "said")]
        message: String,
    },
}

/// Where HEAD is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeadAt {
    /// The branch. Absent if HEAD is detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit. Absent if there is none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_id: Option<Oid>,
}

/// What of the user's own is not committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "uncommitted", rename_all = "snake_case")]
pub enum InTheWay {
    /// Something that git began and did not finish.
    Operation {
        /// What was begun.
        operation: Operation,
    },
    /// Files that are in the way.
    Files {
        /// The first few.
        paths: Vec<String>,
        /// How many there are.
        total: u64,
    },
}

impl WorkspaceProblem {
    pub(crate) fn said(message: &(impl ToString + ?Sized)) -> Self {
        Self::Said { message: message.to_string() }
    }

    /// The words of somebody else, where it is nothing but these.
    pub fn quoted(&self) -> Option<&str> {
        match self {
            Self::Said { message } => Some(message),
            Self::HeadMoved { .. }
            | Self::NestedRepository { .. }
            | Self::Unmerged { .. }
            | Self::Unfinished { .. }
            | Self::DirectoryGone { .. }
            | Self::RepositoryGone { .. }
            | Self::SpecialFile { .. }
            | Self::GitEnded { .. }
            | Self::HistoryGone { .. }
            | Self::LinkReplaced { .. }
            | Self::BranchMoved { .. }
            | Self::StartGone { .. }
            | Self::NoCommits
            | Self::BranchExists { .. }
            | Self::NotSwitched { .. }
            | Self::Astray { .. }
            | Self::SwitchFailed { .. }
            | Self::SwitchBackFailed { .. }
            | Self::Unusable { .. }
            | Self::NotMade { .. } => None,
        }
    }
}

impl From<&str> for WorkspaceProblem {
    fn from(message: &str) -> Self {
        Self::said(message)
    }
}

impl From<&Problem> for WorkspaceProblem {
    fn from(problem: &Problem) -> Self {
        match problem {
            Problem::HeadMoved { found, home, rescued } => Self::HeadMoved {
                found: found.into(),
                home: home.into(),
                rescued: rescued.iter().map(|kept| kept.name.clone()).collect(),
            },
            Problem::NestedRepository(path) => Self::NestedRepository { path: display_path(path) },
            Problem::Unmerged(paths) => Self::Unmerged {
                paths: paths.iter().take(NAMED).map(|path| display_path(path)).collect(),
                total: paths.len() as u64,
            },
            Problem::OperationInProgress(operation) => Self::Unfinished { operation: *operation },
            Problem::WorkspaceGone(path) => Self::DirectoryGone { path: display_path(path) },
            Problem::RepositoryGone(path) => Self::RepositoryGone { path: display_path(path) },
            Problem::SpecialFile(path, kind) => Self::SpecialFile { path: display_path(path), kind: *kind },
            Problem::HistoryGone(oid) => Self::HistoryGone { commit_id: oid.clone() },
            Problem::LinkReplaced(path) => Self::LinkReplaced { path: display_path(path) },
        }
    }
}

impl From<&Head> for HeadAt {
    fn from(head: &Head) -> Self {
        let short = |branch: &String| branch.strip_prefix("refs/heads/").unwrap_or(branch).to_owned();
        Self { branch: head.branch.as_ref().map(short), commit_id: head.commit.clone() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::event::{Fault, StopDetail};

    #[test]
    fn a_problem_is_read_as_it_was_written_wherever_it_stands() {
        let oid = Oid::parse(&"a".repeat(40)).unwrap();
        let text = || "x".to_owned();
        let head =
            |branch: Option<&str>| HeadAt { branch: branch.map(str::to_owned), commit_id: Some(oid.clone()) };
        let files = || InTheWay::Files { paths: vec![text()], total: 4 };
        for problem in [
            WorkspaceProblem::HeadMoved { found: head(None), home: head(Some("b")), rescued: vec![text()] },
            WorkspaceProblem::Unmerged { paths: vec![text()], total: 1 },
            WorkspaceProblem::Unfinished { operation: Operation::CherryPick },
            WorkspaceProblem::BranchMoved { now: None, rescued: text() },
            WorkspaceProblem::NoCommits,
            WorkspaceProblem::NotSwitched { branch: text(), found: files() },
            WorkspaceProblem::Astray {
                on: None,
                branch: text(),
                found: InTheWay::Operation { operation: Operation::Rebase },
            },
            WorkspaceProblem::NotMade {
                because: Box::new(WorkspaceProblem::said("no space left")),
                unlock: Some(text()),
            },
            WorkspaceProblem::said("no"),
        ] {
            let written = serde_json::to_string(&problem).unwrap();
            assert_eq!(serde_json::from_str::<WorkspaceProblem>(&written).unwrap(), problem, "{written}");
            let detail = StopDetail::fault(&Fault::Workspace(problem));
            let written = serde_json::to_string(&detail).unwrap();
            assert_eq!(serde_json::from_str::<StopDetail>(&written).unwrap(), detail, "{written}");
        }
    }

    #[test]
    fn what_git_found_is_a_value() {
        let gone = Problem::WorkspaceGone("/w".into());
        assert_eq!(
            serde_json::to_value(WorkspaceProblem::from(&gone)).unwrap(),
            json!({"problem": "directory_gone", "path": "/w"})
        );
        let many: Vec<std::path::PathBuf> = (0..7).map(|nth| format!("{nth}").into()).collect();
        assert_eq!(
            serde_json::to_value(WorkspaceProblem::from(&Problem::Unmerged(many))).unwrap(),
            json!({"problem": "unmerged", "paths": ["0", "1", "2", "3", "4"], "total": 7})
        );
    }
}
