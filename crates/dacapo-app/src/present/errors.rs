//! What the engine could not do, in the reader's language. What git and the system say stays as they say it.

use std::io;
use std::path::Path;

use dacapo_core::dropped::DropError;
use dacapo_core::engine::{DriverError, NotThatKind};
use dacapo_core::event::{Exit, FORMAT, MirrorProblem, WorkspaceProblem};
use dacapo_core::files::FileAction;
use dacapo_core::follow::FollowError;
use dacapo_core::git::{DiscoverError, GitError, WorktreeError};
use dacapo_core::process::{Cut, LaunchError};
use dacapo_core::renaming::RenameError;
use dacapo_core::spec::{InvalidDuration, InvalidName, SPEC_FORMAT};
use dacapo_core::store::{CreateError, Fault, JournalError, LockError, OpenError, Record, SpecDoubt};
use dacapo_core::view::ViewError;

use super::{kind_words, words, workspace};
use crate::messages::{Messages, Text, say};

/// An error that people are told of.
pub trait InWords {
    fn in_words(&self, messages: Messages) -> String;
}

/// The error in every language.
pub fn text(error: &dyn InWords) -> Text {
    say(|messages| error.in_words(messages))
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// `cannot read PATH: why`
fn cannot(action: FileAction, path: &Path, source: &io::Error, messages: Messages) -> String {
    let action = match action {
        FileAction::Read => messages.action_read(),
        FileAction::Write => messages.action_write(),
        FileAction::Create => messages.action_create(),
        FileAction::Open => messages.action_open(),
        FileAction::Remove => messages.action_remove(),
        FileAction::Move => messages.action_move(),
        FileAction::Rename => messages.action_rename(),
        FileAction::Copy => messages.action_copy(),
        FileAction::Compare => messages.action_compare(),
        FileAction::Clean => messages.action_clean(),
        FileAction::Lock => messages.action_lock(),
        FileAction::Inspect => messages.action_inspect(),
        FileAction::Repair => messages.action_repair(),
        FileAction::Run => messages.action_run(),
        FileAction::TalkTo => messages.action_talk_to(),
        FileAction::StartThread => messages.action_start_thread(),
        FileAction::WaitForCheckout => messages.action_wait_for_checkout(),
    };
    messages.cannot(&action, &shown(path), &source.to_string())
}

/// The system's own words.
impl InWords for io::Error {
    fn in_words(&self, _messages: Messages) -> String {
        self.to_string()
    }
}

impl InWords for GitError {
    fn in_words(&self, messages: Messages) -> String {
        let unlock = || self.unlock_command().unwrap_or_default();
        match self {
            Self::Missing => messages.git_missing(),
            Self::IndexLocked { lock } => messages.git_index_locked(&shown(lock), &unlock()),
            Self::RefLocked { lock } => messages.git_repository_locked(&shown(lock), &unlock()),
            Self::Failed { operation, command, exit, stderr } => {
                let exit = Exit { exit_code: *exit, timed_out: false };
                messages.git_failed(operation, command, &words::exit(&exit, messages), stderr)
            }
            Self::Io { operation, path, source } => {
                messages.git_io(operation, &shown(path), &source.to_string())
            }
            Self::CutShort { operation, command, cut, programs } => {
                let waited = workspace::waited_for(programs, messages);
                match cut {
                    Cut::Stop => messages.git_stopped(operation, command, &waited),
                    Cut::Limit(limit) => messages.git_too_long(operation, command, limit.as_secs(), &waited),
                    Cut::Stuck => messages.git_stuck(operation, command, &waited),
                }
            }
            Self::SpecialFile { operation, path, kind } => {
                messages.git_special_file(operation, &shown(path), &kind.to_string(), &unlock())
            }
            Self::LeadsElsewhere { operation, path } => messages.git_leads_elsewhere(operation, &shown(path)),
            Self::TooOld { operation, needs } => messages.git_too_old(operation, needs),
            Self::Unexpected { operation, what } => messages.git_unexpected(operation, what),
        }
    }
}

impl InWords for DiscoverError {
    fn in_words(&self, messages: Messages) -> String {
        match self {
            Self::NotARepository(dir) => messages.repository_none(&shown(dir)),
            Self::Bare(dir) => messages.repository_bare(&shown(dir)),
            Self::InsideGitDir(dir) => messages.repository_inside_git_dir(&shown(dir)),
            Self::DubiousOwnership { dir, said } => messages.repository_dubious(&shown(dir), said),
            Self::Git(error) => error.in_words(messages),
        }
    }
}

impl InWords for WorktreeError {
    fn in_words(&self, messages: Messages) -> String {
        match self {
            Self::BranchExists(branch) => messages.branch_exists(branch),
            Self::BranchConflict { wanted, existing } => messages.branch_above(wanted, existing),
            Self::PathExists(path) => messages.worktree_path_exists(&shown(path)),
            Self::InOperation(path) => messages.worktree_in_operation(&shown(path)),
            Self::BranchMoved(branch) => messages.worktree_branch_moved(branch),
            Self::CheckedOut { branch, at } => messages.worktree_checked_out(branch, &shown(at)),
            Self::OtherFileSystem { from, to } => {
                messages.worktree_other_file_system(&shown(from), &shown(to))
            }
            Self::Busy(path) => messages.worktree_busy(&shown(path)),
            Self::Discover(error) => error.in_words(messages),
            Self::Git(error) => error.in_words(messages),
        }
    }
}

impl InWords for LockError {
    fn in_words(&self, messages: Messages) -> String {
        match self {
            Self::Held => messages.lock_held(),
            Self::Lingering => messages.lock_lingering(),
            Self::RenameUnfinished { from, to } => messages.lock_rename_unfinished(from, to),
            Self::Io { path, source } => cannot(FileAction::Lock, path, source, messages),
        }
    }
}

impl InWords for CreateError {
    fn in_words(&self, messages: Messages) -> String {
        match self {
            Self::Exists(name) => messages.task_already_exists(name),
            Self::Io { path, source } => cannot(FileAction::Create, path, source, messages),
            Self::Lock(error) => error.in_words(messages),
        }
    }
}

impl InWords for OpenError {
    fn in_words(&self, messages: Messages) -> String {
        match self {
            Self::NotFound(path) => messages.record_no_task_at(&shown(path)),
            Self::Unreadable { path, message } => messages.cannot_read(&shown(path), message),
            Self::Older { path, found } => messages.record_older(&shown(path), *found, SPEC_FORMAT),
            Self::Doubtful { doubt, .. } => doubt.in_words(messages),
        }
    }
}

impl InWords for SpecDoubt {
    fn in_words(&self, messages: Messages) -> String {
        match self {
            Self::Changed => messages.record_spec_changed(),
            Self::Unknown => messages.record_spec_unknown(),
        }
    }
}

impl InWords for JournalError {
    fn in_words(&self, messages: Messages) -> String {
        match self {
            Self::Io { what, path, source } => cannot(*what, path, source, messages),
            Self::Damaged { path, line, message } => messages.record_damaged(&shown(path), *line, message),
            Self::Removed { path } => messages.record_removed(&shown(path)),
            Self::Replaced { path } => messages.record_replaced(&shown(path)),
            Self::Foreign { path, bytes, kept } => {
                messages.record_foreign(*bytes, &shown(path), &shown(kept))
            }
            Self::Altered { path } => messages.record_altered(&shown(path)),
            Self::Newer { path, found } => messages.record_newer(&shown(path), *found, FORMAT),
            Self::Older { path, found } => messages.record_older(&shown(path), *found, FORMAT),
            Self::Gone => messages.record_journal_gone(),
        }
    }
}

impl InWords for ViewError {
    fn in_words(&self, messages: Messages) -> String {
        match self {
            Self::Open(error) => error.in_words(messages),
            Self::Journal(error) => error.in_words(messages),
            Self::Lock(error) => messages.record_lock_unreadable(&error.to_string()),
        }
    }
}

/// What is wrong with a record, the first of it.
pub fn record(record: &Record, messages: Messages) -> Option<String> {
    let (first, others) = record.faults().split_first()?;
    let first = match first {
        Fault::Missing { line, expected, found } if expected + 1 == *found => {
            messages.record_event_missing(*line, *expected)
        }
        Fault::Missing { line, expected, found } => {
            messages.record_events_missing(*line, *expected, found.saturating_sub(1))
        }
        Fault::OutOfOrder { line, expected, found } => messages.record_out_of_order(*line, *found, *expected),
        Fault::Altered { message } => message.clone(),
        Fault::Unsealed { why } => messages.record_unsealed(why),
        Fault::Spec(doubt) => doubt.in_words(messages),
    };
    Some(match others.len() as u64 + record.unlisted() {
        0 => first,
        more => messages.record_faults_more(&first, more),
    })
}

impl InWords for FollowError {
    fn in_words(&self, messages: Messages) -> String {
        match self {
            Self::Open(error) => error.in_words(messages),
            Self::Journal(error) => error.in_words(messages),
            Self::Output { path, source } => cannot(FileAction::Read, path, source, messages),
            Self::Lock(error) => messages.record_lock_unreadable(&error.to_string()),
            Self::OtherTask(position) => messages.follow_other_task(&position.to_string()),
            Self::Lost(position) => messages.follow_lost(&position.to_string()),
        }
    }
}

impl InWords for NotThatKind {
    fn in_words(&self, messages: Messages) -> String {
        match self {
            Self::Unknown(kind) => messages.kind_unknown(kind),
            Self::Details { kind, message } => {
                messages.kind_details_unreadable(&kind_words::name(kind, messages), message)
            }
        }
    }
}

impl InWords for DropError {
    fn in_words(&self, messages: Messages) -> String {
        match self {
            Self::Worktree(error) => error.in_words(messages),
            Self::NameTaken(name) => messages.task_already_exists(name),
            Self::Lock(error) => error.in_words(messages),
            Self::File { what, path, source } => cannot(*what, path, source, messages),
        }
    }
}

impl InWords for RenameError {
    fn in_words(&self, messages: Messages) -> String {
        use dacapo_core::dropped::DropReason;
        match self {
            Self::NameTaken(name) => messages.task_already_exists(name),
            Self::NameFixed { name, kind, file } => {
                messages.rename_name_fixed(name, &kind_words::name(kind, messages), file)
            }
            Self::Kind(error) => error.in_words(messages),
            Self::PutAway(kept) => match kept.why {
                DropReason::Dropped => messages.rename_drop_cut_short(&kept.name),
                DropReason::Merged { .. } => messages.rename_merge_cut_short(&kept.name),
            },
            Self::Worktree(error) => error.in_words(messages),
            Self::Dropped(error) => error.in_words(messages),
            Self::Record(error) => error.in_words(messages),
            Self::Journal(error) => error.in_words(messages),
            Self::File { what, path, source } => cannot(*what, path, source, messages),
        }
    }
}

impl InWords for LaunchError {
    fn in_words(&self, messages: Messages) -> String {
        match self {
            Self::Output { path, source } => cannot(FileAction::Create, path, source, messages),
            Self::Streams(error) => messages.launch_streams(&error.to_string()),
            Self::Guard(error) => messages.launch_guard(&error.to_string()),
        }
    }
}

impl InWords for DriverError {
    fn in_words(&self, messages: Messages) -> String {
        match self {
            Self::Journal(error) => error.in_words(messages),
            Self::Spec(error) => error.in_words(messages),
            Self::Git(error) => error.in_words(messages),
            Self::Worktree(error) => error.in_words(messages),
            Self::Launch(error) => error.in_words(messages),
            Self::File { what, path, source } => cannot(*what, path, source, messages),
            Self::Kind(error) => error.in_words(messages),
            Self::Queue { source } => messages.driver_queue(&source.to_string()),
            Self::Workspace(problem) => problem.in_words(messages),
            Self::NoProgress { task } => messages.driver_no_progress(task),
        }
    }
}

impl InWords for WorkspaceProblem {
    fn in_words(&self, messages: Messages) -> String {
        workspace::told(self, messages)
    }
}

impl InWords for MirrorProblem {
    fn in_words(&self, messages: Messages) -> String {
        match self {
            Self::NotUpToDate { path, error } => messages.mirror_not_up_to_date(path, error),
            Self::Seen { path, error } => messages.mirror_seen(path, error),
        }
    }
}

impl InWords for InvalidDuration {
    fn in_words(&self, messages: Messages) -> String {
        messages.duration_invalid(&self.0)
    }
}

impl InWords for InvalidName {
    fn in_words(&self, messages: Messages) -> String {
        messages.task_invalid_name(&self.0)
    }
}
