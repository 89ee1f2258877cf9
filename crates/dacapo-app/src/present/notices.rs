//! What a person should know of a task, in a line each.

use dacapo_core::engine::PORT_VARIABLE;
use dacapo_core::event::{GitNotice, LeftFile, LeftWhy, Metered, Notice, WorkspaceNotice};

use super::errors::InWords as _;
use crate::messages::Messages;

/// What is to be known of task `name`.
pub fn told(notice: &Notice, name: &str, messages: Messages) -> String {
    messages.with_short_paths(&in_words(notice, name, messages))
}

fn in_words(notice: &Notice, name: &str, messages: Messages) -> String {
    match notice {
        Notice::UsageUnknown { agent, amount } => {
            messages.notice_usage_unknown(agent, &metered(*amount, messages))
        }
        Notice::UsageOfLastCallOnly { agent } => messages.notice_last_call_only(agent),
        Notice::NoModeFor { agent, approval } => messages.notice_no_mode(agent, approval.as_str()),
        Notice::AgentEnded { agent } => messages.notice_agent_ended(agent),
        Notice::OutputUnread { error } => messages.notice_output_unread(error),
        Notice::OutputMissing { error } => messages.notice_output_missing(error),
        Notice::ProcessesEnded { count } => messages.notice_processes_ended(*count),
        Notice::ProcessLeft { pid, program } => messages.notice_process_left(*pid, program),
        Notice::EarlierProcessesEnded { count } => messages.notice_earlier_processes_ended(*count),
        Notice::EarlierProcessLeft { pid, program } => messages.notice_earlier_process_left(*pid, program),
        Notice::NotTold { texts } => {
            let said: Vec<String> = texts.iter().map(|text| super::words::line(text, 60)).collect();
            messages.notice_not_told(name, &said.join("; "), texts.len() as u64)
        }
        Notice::DirectoryMadeAgain { path } => messages.notice_directory_again(path),
        Notice::SetAside { found, path, aside } => messages.notice_set_aside(found, path, aside),
        Notice::NoProofs { error } => messages.notice_no_proofs(error),
        Notice::ProofCheckoutsInUse => messages.notice_proof_checkouts_in_use(),
        Notice::HeldOutReadable => messages.notice_held_out_readable(),
        Notice::HiddenUnknown { error } => messages.notice_hidden_unknown(error),
        Notice::NotSealed { error } => messages.notice_not_sealed(error),
        Notice::NotCarried { error } => messages.notice_not_carried(error),
        Notice::NotDurable { error } => messages.notice_not_durable(error),
        Notice::Mirror(problem) => problem.in_words(messages),
        Notice::LimitsNotShared { path, error } => messages.notice_limits_not_shared(path, error),
        Notice::Workspace(notice) => workspace(notice, messages),
        Notice::NoWorkspace { problems } => super::workspace::all(problems, messages),
        Notice::Git(notice) => git(notice, name, messages),
        Notice::LeftUncommitted(file) => messages.notice_left_uncommitted(&left(file, messages)),
        Notice::NotCommitted(file) => messages.notice_not_committed(&left(file, messages)),
        Notice::NotKept(file) => messages.notice_not_kept(&left(file, messages)),
        Notice::RepositoryNotKept { path } => messages.notice_repository_not_kept(path),
        Notice::Kept { reference } => messages.notice_kept(reference),
        Notice::NoCommands { error } => messages.notice_no_commands(error),
        Notice::NoCommandsOfOurs { files, path } => messages.notice_strange_commands(*files, path),
        Notice::NoPullRequest => messages.notice_no_pull_request(name),
        Notice::NotNotified { how, error } => messages.notice_not_notified(how, error),
        Notice::PullRequestNotOpened { message } | Notice::Said { message } => message.clone(),
    }
}

/// What a budget bounds.
fn metered(amount: Metered, messages: Messages) -> String {
    match amount {
        Metered::Cost => messages.notice_cost(),
        Metered::Tokens => messages.notice_tokens(),
    }
}

/// What became of the place where a task works.
fn workspace(notice: &WorkspaceNotice, messages: Messages) -> String {
    match notice {
        WorkspaceNotice::Switched { from, to } => messages.notice_switched(from, to),
        WorkspaceNotice::SwitchedBack { from, to } => messages.notice_switched_back(from, to),
        WorkspaceNotice::StaysOn { branch, before } => {
            messages.notice_stays_on(branch, before.as_deref().unwrap_or("BRANCH"))
        }
        WorkspaceNotice::WorktreeMadeAgain { branch } => messages.notice_worktree_again(branch),
        WorkspaceNotice::WorkingDirectoryMadeAgain { commit_id: Some(at) } => {
            messages.notice_directory_again_at(at.short())
        }
        WorkspaceNotice::WorkingDirectoryMadeAgain { commit_id: None } => {
            messages.notice_directory_again_at(&messages.notice_its_start())
        }
        WorkspaceNotice::ChangesCameAlong { written, removed } => {
            messages.notice_changes_came_along(*written, *removed)
        }
        WorkspaceNotice::TestsPutBack { first, more, kept } => {
            let files = and_more(first, *more, messages);
            match kept {
                Some(kept) => messages.notice_tests_put_back_kept(&files, kept),
                None => messages.notice_tests_put_back(&files),
            }
        }
        WorkspaceNotice::NotIncluded { first, more } => {
            messages.notice_not_included(&and_more(first, *more, messages))
        }
        WorkspaceNotice::EmptySubmodules { first, more } => {
            messages.notice_empty_submodules(&and_more(first, *more, messages))
        }
        WorkspaceNotice::NoPorts { error } => {
            let why = error.clone().unwrap_or_else(|| messages.notice_ports_taken());
            messages.notice_no_ports(PORT_VARIABLE, &why)
        }
        WorkspaceNotice::UntrackedUnknown { error } => {
            let why = error.clone().unwrap_or_else(|| messages.notice_journal_not_whole());
            messages.notice_untracked_unknown(&why)
        }
        WorkspaceNotice::SettingsLeftOut { settings } => {
            messages.notice_settings_left_out(&settings.join(", "))
        }
        WorkspaceNotice::SettingsChanged { files } => messages.notice_settings_changed(&files.join(", ")),
    }
}

/// What was found in git.
fn git(notice: &GitNotice, task: &str, messages: Messages) -> String {
    match notice {
        GitNotice::Reattached { from, to } => {
            let branch = |name: &Option<String>| name.clone().unwrap_or_else(|| messages.detached_head());
            messages.notice_reattached(&branch(from), &branch(to))
        }
        GitNotice::StaleLockRemoved { path } => messages.notice_stale_lock(path),
        GitNotice::IndexLocked { path } => messages.notice_index_locked(path),
        GitNotice::IndexRebuilt { kept: None } => messages.notice_index_missing(),
        GitNotice::IndexRebuilt { kept: Some(kept) } => messages.notice_index_broken(kept),
        GitNotice::LinkRestored { path } => messages.notice_link_restored(path),
        GitNotice::SubmoduleDirty { path } => messages.notice_submodule_dirty(path),
        GitNotice::RefMoved { reference, from, to, kept } => {
            let name = ref_name(reference, messages);
            let moved = match to {
                Some(to) => messages.notice_ref_moved(&name, task, from.short(), to.short()),
                None => messages.notice_ref_gone(&name, task, from.short()),
            };
            kept.as_ref().map_or(moved.clone(), |kept| messages.notice_ref_kept(&moved, kept))
        }
        GitNotice::MoreRefsMoved { more } => messages.notice_more_refs_moved(*more, task),
        GitNotice::Warned { message } => messages.notice_git_warned(message),
        GitNotice::SecretCommitted(file) => messages.notice_secret_committed(&file.path, &file.variable),
        GitNotice::CommittedByAgent(file) => messages.notice_committed_by_agent(&left(file, messages)),
    }
}

/// A ref by the name that people use for it.
fn ref_name(reference: &str, messages: Messages) -> String {
    match (reference.strip_prefix("refs/heads/"), reference.strip_prefix("refs/tags/")) {
        (Some(branch), _) => branch.to_owned(),
        (None, Some(tag)) => messages.the_tag(tag),
        (None, None) => messages.a_stash(),
    }
}

/// A file that was left where it is, and why.
pub fn left(file: &LeftFile, messages: Messages) -> String {
    let LeftFile { path, why } = file;
    match why {
        LeftWhy::Secret => messages.left_secret(path),
        LeftWhy::HoldsSecret { variable } => messages.left_holds_secret(path, variable),
        LeftWhy::NameHoldsSecret { variable } => messages.left_name_holds_secret(path, variable),
        LeftWhy::TooBig { bytes } => messages.left_too_big(path, *bytes),
        LeftWhy::NotStageable { message } => messages.left_not_stageable(path, message),
    }
}

fn and_more(first: &str, count: u64, messages: Messages) -> String {
    let more = if count > 0 { messages.and_more(count) } else { String::new() };
    format!("{first}{more}")
}

#[cfg(test)]
mod tests {
    use dacapo_core::spec::Approval;

    use super::*;

    fn all(notices: &[Notice]) -> Vec<String> {
        notices.iter().map(|notice| told(notice, "x", Messages::ENGLISH)).collect()
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
                "1 file in /i is not a Dacapo command and was ignored",
                "named in .worktreeinclude, not copied: a",
                "named in .worktreeinclude, not copied: a and 2 more",
                "not committed: a: looks like a secret",
                "left uncommitted: a: 9 bytes is over the limit",
                "the agent committed a: git could not add it: no",
                "HEAD had been moved to a detached HEAD; it is back on main, with the work",
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
                "the working directory was created again at its start",
                "bot has no mode for --approval edits: what it asks for is refused, but what it does without asking \
                 cannot be stopped",
                "no pull request: the task is not completed; dacapo pr x opens one anyway",
            ]
        );
    }
}
