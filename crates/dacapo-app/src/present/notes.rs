//! Notes in words, a line each.

use super::words;
use crate::messages::Messages;
use crate::note::Note;

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
        Note::LockRemoved { what } => info(messages.note_lock_removed(what)),
        Note::RenameFinished { from, to } => info(messages.note_rename_finished(from, to)),
        Note::RenameUnfinished { error } => error.clone(),
        Note::MergeTakenBack { task, files } => info(messages.note_merge_taken_back(task, *files as u64)),
        Note::NotEndedYet { task, killed_in_seconds } => {
            info(messages.note_not_ended_yet(task, *killed_in_seconds))
        }
        Note::NotListening { task } => info(messages.note_not_listening(task)),
        Note::TrustNotStored { error } => warning(messages.note_trust_not_stored(error)),
        Note::TaskUnreadable { task, error, path } => {
            let why = words::line(error, words::WHOLE);
            let place = if why.contains(path) { String::new() } else { format!(" ({path})") };
            warning(messages.note_task_unreadable(task, &why, &place))
        }
        Note::Settings { warning: said } => warning(said.clone()),
    }
}
