//! Notes in words, a line each.

use super::words::{self, count};
use crate::note::Note;

/// As it is shown where people read along.
pub fn line(note: &Note) -> String {
    match note {
        Note::LeftoversEnded { task, processes: 1 } => {
            format!("note    ended 1 process left behind by task '{task}'")
        }
        Note::LeftoversEnded { task, processes } => {
            format!("note    ended {processes} processes left behind by task '{task}'")
        }
        Note::LeftoverUnreachable { task, pid, program } => {
            format!("warning: process {pid} ({program}) of task '{task}' cannot be ended: kill -9 {pid}")
        }
        Note::LockRemoved { what } => format!("note    {what}, left by a command that was killed"),
        Note::RenameFinished { from, to } => {
            format!("note    finished the rename of '{from}' to '{to}', which was cut short")
        }
        Note::RenameUnfinished { error } => error.clone(),
        Note::MergeTakenBack { task, files } => {
            let files = count(*files as u64, "file");
            format!("note    took back {files} of a merge of '{task}' that was killed")
        }
        Note::NotEndedYet { task, killed_in_seconds } => format!(
            "note    {task} has not ended yet; a process that does not listen is killed in {killed_in_seconds} s"
        ),
        Note::NotListening { task } => {
            format!("note    the process of {task} does not listen and is killed")
        }
        Note::TrustNotStored { error } => {
            format!("warning: this cannot be remembered, and will be asked again: {error}")
        }
        Note::TaskUnreadable { task, error, path } => {
            let why = words::line(error, words::WHOLE);
            let at = if why.contains(path) { String::new() } else { format!(" ({path})") };
            format!("warning: task '{task}' cannot be read: {why}{at}")
        }
        Note::Settings { warning } => format!("warning: {warning}"),
    }
}
