//! Notes in words, a line each.

use dacapo_core::event::AgentEvent;

use super::words;
use crate::messages::Messages;
use crate::note::{MergeResult, MergeStep, Note};

/// As it is shown where people read along.
pub fn line(note: &Note, messages: Messages) -> String {
    let info = |text: String| format!("{}{text}", messages.label_note());
    let warning = |text: String| format!("{}{text}", messages.label_warning());
    match note {
        Note::LeftoversEnded { task, processes } => {
            info(messages.note_leftovers_ended(task, *processes as u64))
        }
        Note::LeftoverUnreachable { task, pid, program } => {
            warning(messages.note_leftover_unreachable(task, *pid, program))
        }
        Note::NotCarried { task, error } => {
            warning(messages.note_not_carried(task, error.in_words(messages)))
        }
        Note::LockRemoved { what } => info(messages.note_lock_removed(what.in_words(messages))),
        Note::RenameFinished { from, to } => info(messages.note_rename_finished(from, to)),
        Note::RenameUnfinished { failure } => failure.in_words(messages).to_owned(),
        Note::MergeTakenBack { task, files } => info(messages.note_merge_taken_back(task, *files as u64)),
        Note::SecretNotMerged { task, why } => {
            warning(messages.note_secret_not_merged(task, why.in_words(messages)))
        }
        Note::NotEndedYet { task, killed_in_seconds } => {
            info(messages.note_not_ended_yet(task, *killed_in_seconds))
        }
        Note::NotListening { task } => info(messages.note_not_listening(task)),
        Note::TrustNotStored { error } => warning(messages.note_trust_not_stored(error)),
        Note::TaskUnreadable { task, error, path } => {
            let why = words::line(error.in_words(messages), words::WHOLE);
            let place = if why.contains(path) { String::new() } else { format!(" ({path})") };
            warning(messages.note_task_unreadable(task, &why, &place))
        }
        Note::Settings { warning: said } => warning(said.in_words(messages).to_owned()),
        Note::Merging { task, now: MergeStep::Begun } => messages.note_merging(task),
        Note::Merging { task, now } => messages.note_merging_step(task, &merging(now, messages)),
    }
}

fn merging(now: &MergeStep, messages: Messages) -> String {
    match now {
        MergeStep::Begun => String::new(),
        MergeStep::Resolving { agent, conflicts } if conflicts.is_empty() => {
            messages.note_merge_joining(agent)
        }
        MergeStep::Resolving { agent, conflicts } => {
            messages.note_merge_resolving(agent, conflicts.len() as u64)
        }
        MergeStep::Agent { event: AgentEvent::ToolCall { name, summary, .. } } => {
            format!("▸ {}", words::line(&format!("{name} {summary}"), 80))
        }
        MergeStep::Agent { .. } => messages.note_merge_agent_at_work(),
        MergeStep::Check { command } => messages.note_merge_checking(&words::line(command, 80)),
        MergeStep::Checked { command, passed: true } => messages.note_merge_passed(&words::line(command, 80)),
        MergeStep::Checked { command, passed: false } => {
            messages.note_merge_failed(&words::line(command, 80))
        }
        MergeStep::Again => messages.note_merge_again(),
        MergeStep::Ended { result } => match result {
            MergeResult::Merged { commit_id } => messages.note_merge_done(commit_id.short()),
            MergeResult::AlreadyThere => messages.note_merge_already_there(),
            MergeResult::Empty => messages.note_merge_empty(),
            MergeResult::LeftOut { reason } => messages.note_merge_left_out(reason.in_words(messages)),
            MergeResult::Halted => messages.note_merge_stopped(),
        },
    }
}
