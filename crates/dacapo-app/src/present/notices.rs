//! What a person should know of a task, in a line each.

use dacapo_core::engine::PORT_VARIABLE;
use dacapo_core::event::{GitNotice, LeftFile, LeftWhy, Notice, WorkspaceNotice};
use dacapo_core::git::Oid;

use super::ends::metered;

/// What is to be known of task `name`.
pub fn told(notice: &Notice, name: &str) -> String {
    match notice {
        Notice::UsageUnknown { agent, amount } => format!(
            "usage unknown: {agent} reported no usable {} for this turn, so the budget does not count it; \
             a second such turn in a row ends the task",
            metered(*amount)
        ),
        Notice::UsageOfLastCallOnly { agent } => {
            format!("{agent} says only what its last model call used: tokens are counted too low")
        }
        Notice::NoModeFor { agent, approval } => format!(
            "{agent} has no mode of its own for --approval {}: what it asks for is refused, what it does not ask for \
             cannot be",
            approval.as_str()
        ),
        Notice::AgentEnded { agent } => format!("the process of {agent} ended between two turns"),
        Notice::OutputUnread { error } => {
            format!("the agent's output could not be read to its end: {error}")
        }
        Notice::OutputMissing { error } => format!("output is missing: {error}"),
        Notice::ProcessesEnded { count: 1 } => "ended 1 process that was left running".to_owned(),
        Notice::ProcessesEnded { count } => format!("ended {count} processes that were left running"),
        Notice::ProcessLeft { pid, program } => {
            format!("process {pid} ({program}) cannot be ended: it belongs to someone else")
        }
        Notice::EarlierProcessesEnded { count } => format!("ended {count} processes left by an earlier run"),
        Notice::EarlierProcessLeft { pid, program } => {
            format!("process {pid} ({program}) of an earlier run cannot be ended")
        }
        Notice::DirectoryMadeAgain { path } => {
            format!("{path} had been removed and was made again; what was printed before is lost")
        }
        Notice::SetAside { found, path, aside } => {
            format!("{found} was in the way at {path}; it was moved to {aside}")
        }
        Notice::NoProofs { error } => format!("commits cannot be proven: {error}"),
        Notice::ProofCheckoutsInUse => "waits for a proof checkout: all are in use".to_owned(),
        Notice::HiddenUnknown { error } => format!("cannot find what the commit lacks: {error}"),
        Notice::NotSealed { error } => format!("this run cannot be sealed: {error}"),
        Notice::NotDurable { error } => format!("the newest iteration is not forced to disk: {error}"),
        Notice::Mirror(problem) => problem.to_string(),
        Notice::LimitsNotShared { path, error } => {
            format!("usage limits are not shared with other tasks: {path} cannot be used ({error})")
        }
        Notice::Workspace(notice) => workspace(notice),
        Notice::Git(notice) => git(notice),
        Notice::LeftUncommitted(file) => format!("left as it is, uncommitted: {}", left(file)),
        Notice::NotCommitted(file) => format!("not committed: {}", left(file)),
        Notice::NotKept(file) => format!("not kept under a ref, and left where it is: {}", left(file)),
        Notice::RepositoryNotKept { path } => {
            format!("not kept under a ref: {path} is a repository of its own")
        }
        Notice::Kept { reference } => format!("what was not committed is kept as {reference}"),
        Notice::NoCommands { error } => format!("commands cannot reach this task: {error}"),
        Notice::NoCommandsOfOurs { files, path } => format!(
            "{} in {path} are no commands of Dacapo's; they are not obeyed",
            if *files == 1 { "1 file".to_owned() } else { format!("{files} files") }
        ),
        Notice::NoPullRequest => {
            format!("no pull request: the task is not completed; dacapo pr {name} opens one all the same")
        }
        Notice::NotNotified { how, error } => format!("nobody was notified by {how}: {error}"),
        Notice::PullRequestNotOpened { message } | Notice::Said { message } => message.clone(),
    }
}

/// What became of the place where a task works.
fn workspace(notice: &WorkspaceNotice) -> String {
    match notice {
        WorkspaceNotice::Switched { from, to } => format!("this checkout was switched from {from} to {to}"),
        WorkspaceNotice::SwitchedBack { from, to } => {
            format!("this checkout was on {from}; it was switched to {to} to go on")
        }
        WorkspaceNotice::StaysOn { branch, before } => {
            let back = before.as_deref().unwrap_or("BRANCH");
            format!("this checkout stays on {branch}; git switch {back} goes back to {back}")
        }
        WorkspaceNotice::WorktreeMadeAgain { branch } => format!(
            "the worktree had been removed and was made again from {branch}; what was not committed, or made by the \
             setup, is gone"
        ),
        WorkspaceNotice::WorkingDirectoryMadeAgain { commit_id } => {
            let at = commit_id.as_ref().map_or("its start", Oid::short);
            format!("the working directory was made again at {at}")
        }
        WorkspaceNotice::ChangesCameAlong { written, removed } => {
            format!("{written} uncommitted files came along, {removed} removed")
        }
        WorkspaceNotice::NotIncluded { first, more: count } => {
            format!("named in .worktreeinclude, not copied: {first}{}", more(*count))
        }
        WorkspaceNotice::EmptySubmodules { first, more: count } => format!(
            "submodule {first}{} is empty in a fresh worktree; [worktree] setup = [\"git submodule update --init\"] fills it",
            more(*count)
        ),
        WorkspaceNotice::NoPorts { error } => {
            let why = error.as_deref().unwrap_or("all are taken");
            format!("no ports for this task ({PORT_VARIABLE} is not set): {why}")
        }
        WorkspaceNotice::UntrackedUnknown { error } => {
            let why = error.as_deref().unwrap_or("its journal is not whole");
            format!(
                "which files were untracked before the task cannot be read ({why}): all that are untracked now are left out \
                 of commits until an iteration changes them"
            )
        }
        WorkspaceNotice::SettingsChanged { files } => format!(
            "changed while the agent was at work: {}; it decides what your own commands do here",
            files.join(", ")
        ),
    }
}

/// What was found in git.
fn git(notice: &GitNotice) -> String {
    match notice {
        GitNotice::Reattached { from, to } => {
            let branch = |name: &Option<String>| name.clone().unwrap_or_else(|| "a detached HEAD".to_owned());
            format!("HEAD was put on {}; it is on {} again, and the work too", branch(from), branch(to))
        }
        GitNotice::StaleLockRemoved { path } => format!("removed the stale lock {path}"),
        GitNotice::IndexLocked { path } => {
            format!("the index is locked; if no git is running, remove {path} and run `git reset`")
        }
        GitNotice::IndexRebuilt { kept: None } => {
            "the index was missing and was made again from HEAD".to_owned()
        }
        GitNotice::IndexRebuilt { kept: Some(kept) } => {
            format!("the index was broken and was made again from HEAD; kept as {kept}")
        }
        GitNotice::LinkRestored { path } => format!("{path} had been removed and was put back"),
        GitNotice::SubmoduleDirty { path } => format!("submodule {path} has changes that are in no commit"),
        GitNotice::Warned { message } => format!("git warned: {message}"),
        GitNotice::CommittedByAgent(file) => format!("the agent committed {}", left(file)),
    }
}

/// A file that was left where it is, and why.
pub fn left(file: &LeftFile) -> String {
    let LeftFile { path, why } = file;
    match why {
        LeftWhy::Secret => format!("{path}: looks like a secret"),
        LeftWhy::TooBig { bytes } => format!("{path}: {bytes} bytes are over the limit"),
        LeftWhy::NotStageable { message } => format!("{path}: git could not take it: {message}"),
    }
}

fn more(count: u64) -> String {
    if count > 0 { format!(" and {count} more") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use dacapo_core::spec::Approval;

    use super::*;

    fn all(notices: &[Notice]) -> Vec<String> {
        notices.iter().map(|notice| told(notice, "x")).collect()
    }

    #[test]
    fn counts_are_words_and_files_have_their_reasons() {
        let left = |why| LeftFile { path: "a".into(), why };
        let notices = [
            Notice::ProcessesEnded { count: 1 },
            Notice::ProcessesEnded { count: 2 },
            Notice::NoCommandsOfOurs { files: 1, path: "/i".into() },
            Notice::Workspace(WorkspaceNotice::NotIncluded { first: "a".into(), more: 0 }),
            Notice::Workspace(WorkspaceNotice::NotIncluded { first: "a".into(), more: 2 }),
            Notice::NotCommitted(left(LeftWhy::Secret)),
            Notice::LeftUncommitted(left(LeftWhy::TooBig { bytes: 9 })),
            Notice::Git(GitNotice::CommittedByAgent(left(LeftWhy::NotStageable { message: "no".into() }))),
            Notice::Git(GitNotice::Reattached { from: None, to: Some("main".into()) }),
        ];
        assert_eq!(
            all(&notices),
            [
                "ended 1 process that was left running",
                "ended 2 processes that were left running",
                "1 file in /i are no commands of Dacapo's; they are not obeyed",
                "named in .worktreeinclude, not copied: a",
                "named in .worktreeinclude, not copied: a and 2 more",
                "not committed: a: looks like a secret",
                "left as it is, uncommitted: a: 9 bytes are over the limit",
                "the agent committed a: git could not take it: no",
                "HEAD was put on a detached HEAD; it is on main again, and the work too",
            ]
        );
    }

    #[test]
    fn what_is_not_known_has_words_too() {
        let stays = WorkspaceNotice::StaysOn { branch: "milestone/x".into(), before: None };
        let notices = [
            Notice::Workspace(stays),
            Notice::Workspace(WorkspaceNotice::NoPorts { error: None }),
            Notice::Workspace(WorkspaceNotice::WorkingDirectoryMadeAgain { commit_id: None }),
            Notice::NoModeFor { agent: "bot".into(), approval: Approval::Edits },
            Notice::NoPullRequest,
        ];
        assert_eq!(
            all(&notices),
            [
                "this checkout stays on milestone/x; git switch BRANCH goes back to BRANCH",
                "no ports for this task (DACAPO_PORT_BASE is not set): all are taken",
                "the working directory was made again at its start",
                "bot has no mode of its own for --approval edits: what it asks for is refused, what it does not ask for \
                 cannot be",
                "no pull request: the task is not completed; dacapo pr x opens one all the same",
            ]
        );
    }
}
