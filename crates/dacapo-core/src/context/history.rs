//! What earlier iterations did, within the budget of a prompt and bounded by nothing else (C7).
//!
//! As many of the newest as fit stay whole, older ones become a line each, and what does not fit even so is counted in one
//! line. What can never be told again is not held either: the memory is bounded by the same budget.

use std::collections::VecDeque;
use std::fmt::Write as _;

use super::sentence::first_sentence;
use crate::event::IterationRecord;
use crate::event::words::faults;
use crate::text::{cut, cut_columns};

/// The words of a line; a sentence may have no end.
const LINE_COLUMNS: usize = 200;
/// How many files are named.
const FILES: usize = 5;
/// And of each so much: a path may be 4 KB long.
const FILE_COLUMNS: usize = 120;
/// How much of an error is told.
const ERROR_BYTES: usize = 500;
/// A summary is cut to no less than this: an iteration of which there is less room than that becomes a line.
const LEAST_SUMMARY: usize = 200;

/// The iterations so far.
#[derive(Debug, Clone)]
pub struct History {
    bytes: usize,
    newest: VecDeque<Past>,
    newest_bytes: usize,
    /// Older ones, each as its line.
    older: VecDeque<Line>,
    older_bytes: usize,
    left_out: LeftOut,
}

/// One iteration, as later ones hear of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    iteration: u32,
    /// `commit 1a2b3c4`, `no changes`, `uncommitted changes`.
    left: String,
    files: String,
    files_total: usize,
    summary: String,
    error: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    text: String,
    failed: bool,
}

/// Iterations of which nothing is told but that they were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct LeftOut {
    count: usize,
    failed: usize,
}

impl From<&IterationRecord> for Past {
    fn from(record: &IterationRecord) -> Self {
        let files_total = (record.changed_total as usize).max(record.changed_files.len());
        Self {
            iteration: record.iteration,
            left: match &record.commit_id {
                Some(oid) => format!("commit {}", oid.short()),
                None if files_total == 0 => "no changes".to_owned(),
                None => "uncommitted changes".to_owned(),
            },
            files: files(&record.changed_files, files_total),
            files_total,
            summary: record.summary.clone(),
            error: (!record.success)
                .then(|| faults(&record.faults).unwrap_or_else(|| record.outcome.as_str().to_owned()))
                .map(|error: String| cut(&error, ERROR_BYTES)),
        }
    }
}

/// `a.rs, b.rs, ... (3 more)`.
fn files(changed: &[String], total: usize) -> String {
    if changed.is_empty() {
        return "none".to_owned();
    }
    let named: Vec<String> = changed.iter().take(FILES).map(|name| one_line(name)).collect();
    let more = total.max(changed.len()) - named.len();
    if more == 0 { named.join(", ") } else { format!("{}, ... ({more} more)", named.join(", ")) }
}

/// A file's name may hold a newline; a prompt's line may not.
pub(super) fn one_line(name: &str) -> String {
    let mut line = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    cut_columns(&line, FILE_COLUMNS)
}

impl History {
    /// Nothing has happened yet; all that will have is to be told in so many bytes.
    pub(crate) fn within(bytes: usize) -> Self {
        Self {
            bytes,
            newest: VecDeque::new(),
            newest_bytes: 0,
            older: VecDeque::new(),
            older_bytes: 0,
            left_out: LeftOut::default(),
        }
    }

    /// Takes in a finished iteration. What does not fit beside the newer ones today does not tomorrow either.
    pub(crate) fn push(&mut self, past: Past) {
        self.newest_bytes += past.whole().len();
        self.newest.push_back(past);
        while self.newest_bytes > self.bytes && self.newest.len() > 1 {
            let Some(old) = self.newest.pop_front() else { break };
            self.newest_bytes -= old.whole().len();
            let line = old.line();
            self.older_bytes += line.text.len();
            self.older.push_back(line);
        }
        while self.older_bytes > self.bytes {
            let Some(line) = self.older.pop_front() else { break };
            self.older_bytes -= line.text.len();
            self.left_out.add(line.failed);
        }
    }

    /// Nothing has happened yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.newest.is_empty()
    }

    /// The section `## Previous Iterations`, in at most `bytes`: the newest matter most, so they get their share first. Of
    /// fewer bytes than its shortest line needs, it takes what that needs.
    pub(crate) fn render(&self, bytes: usize) -> String {
        // Room for the line that counts the rest is kept where there may be a rest.
        let all: usize = self.newest_bytes + self.older_bytes;
        let fits = all <= bytes && self.left_out.count == 0;
        let mut room = if fits { bytes } else { bytes.saturating_sub(LeftOut::MOST_BYTES) };
        let mut blocks = Vec::new();
        for past in self.newest.iter().rev() {
            let text = if blocks.is_empty() { past.within(room) } else { Some(past.whole()) };
            let Some(text) = text.filter(|text| text.len() <= room) else { break };
            room -= text.len();
            blocks.push(text);
        }
        let folded = self.newest.iter().rev().skip(blocks.len()).map(Past::line);
        let mut lines = Vec::new();
        let mut left_out = self.left_out;
        // A line that is left out ends them: what is told has no holes.
        let mut open = true;
        for line in folded.chain(self.older.iter().rev().cloned()) {
            open &= line.text.len() < room;
            if open {
                room -= line.text.len();
                lines.push(line.text);
            } else {
                left_out.add(line.failed);
            }
        }
        let mut out = left_out.line();
        out.extend(lines.into_iter().rev());
        if !out.is_empty() && !blocks.is_empty() {
            out.push('\n');
        }
        out.extend(blocks.into_iter().rev());
        out.truncate(out.trim_end().len());
        out
    }
}

impl Past {
    fn whole(&self) -> String {
        self.with_summary(usize::MAX)
    }

    /// All of it, or as much of its summary as fits; none where that is next to nothing.
    fn within(&self, bytes: usize) -> Option<String> {
        let whole = self.whole();
        if whole.len() <= bytes {
            return Some(whole);
        }
        let around = whole.len() - self.summary.len();
        let room = bytes.saturating_sub(around);
        (room >= LEAST_SUMMARY).then(|| self.with_summary(room))
    }

    fn with_summary(&self, bytes: usize) -> String {
        let mut out = format!("### Iteration {} → {}\nFiles: {}\n", self.iteration, self.left, self.files);
        if let Some(error) = &self.error {
            let _ = writeln!(out, "Failed: {error}");
        }
        let summary = if self.summary.is_empty() { "none" } else { &self.summary };
        let _ = writeln!(out, "Summary: {}\n", cut(summary, bytes));
        out
    }

    /// `- 3 → commit 1a2b3c4, 2 files: Fixed the parser`.
    fn line(&self) -> Line {
        let files = match self.files_total {
            0 => String::new(),
            1 => ", 1 file".to_owned(),
            more => format!(", {more} files"),
        };
        let failed = if self.error.is_some() { ", failed" } else { "" };
        let said = first_sentence(&self.summary).unwrap_or_else(|| "no summary".to_owned());
        let mut text = format!("- {} → {}{files}{failed}: ", self.iteration, self.left);
        text.push_str(&cut_columns(&said, LINE_COLUMNS));
        text.push('\n');
        Line { text, failed: self.error.is_some() }
    }
}

impl LeftOut {
    /// Its line is not longer than this.
    const MOST_BYTES: usize = 100;

    fn add(&mut self, failed: bool) {
        self.count += 1;
        self.failed += usize::from(failed);
    }

    /// Empty where nothing is left out. They are the oldest ones, so their numbers are known.
    fn line(self) -> String {
        let Self { count, failed } = self;
        match count {
            0 => String::new(),
            1 => format!("- 0: 1 iteration is left out here ({failed} failed); `git log` has it\n"),
            _ => format!(
                "- 0 to {}: {count} iterations are left out here ({failed} failed); `git log` has them\n",
                count - 1
            ),
        }
    }
}

#[cfg(test)]
mod tests;
