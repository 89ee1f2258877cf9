//! What earlier iterations did, in bounded space (C7).
//!
//! The newest iterations stay whole; older ones become lines of one digest. Both are bounded in number, not only in
//! bytes, so that prompt 100 is no longer than prompt 10.

use std::collections::VecDeque;
use std::fmt::Write as _;

use super::text::{cut, cut_columns};
use crate::event::IterationRecord;

/// So many of the newest iterations stay whole.
const WHOLE: usize = 5;
/// So many older ones get a line in the digest.
const LINES: usize = 4;
/// A line of the digest.
const LINE_COLUMNS: usize = 100;
/// The first line of the digest, and the empty one after it.
const DIGEST_HEAD: usize = 48;
/// So many files are named.
const FILES: usize = 5;
/// And of each so much: a path may be 4 KB long.
const FILE_COLUMNS: usize = 120;
/// So much of an error is told.
const ERROR_BYTES: usize = 500;

/// The iterations so far.
#[derive(Debug, Clone, Default)]
pub struct History {
    newest: VecDeque<Past>,
    older: VecDeque<String>,
    folded: u32,
    folded_failures: u32,
}

/// One iteration, as later ones hear of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    iteration: u32,
    commit: Option<String>,
    files: String,
    summary: String,
    error: Option<String>,
}

impl From<&IterationRecord> for Past {
    fn from(record: &IterationRecord) -> Self {
        Self {
            iteration: record.iteration,
            commit: record.commit_id.as_ref().map(|oid| oid.short().to_owned()),
            files: files(&record.changed_files, record.changed_total as usize),
            summary: record.summary.clone(),
            error: (!record.success)
                .then(|| cut(record.error.as_deref().unwrap_or(record.outcome.as_str()), ERROR_BYTES)),
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
    /// Takes in a finished iteration.
    pub fn push(&mut self, past: Past) {
        self.newest.push_back(past);
        if self.newest.len() > WHOLE
            && let Some(old) = self.newest.pop_front()
        {
            self.folded += 1;
            self.folded_failures += u32::from(old.error.is_some());
            let first = old.summary.lines().find(|line| !line.trim().is_empty()).unwrap_or("no summary");
            let failed = if old.error.is_some() { "failed: " } else { "" };
            self.older.push_back(cut_columns(
                &format!("- {}: {failed}{}", old.iteration, first.trim()),
                LINE_COLUMNS,
            ));
            if self.older.len() > LINES {
                self.older.pop_front();
            }
        }
    }

    /// Nothing has happened yet.
    pub fn is_empty(&self) -> bool {
        self.newest.is_empty()
    }

    /// The section `## Previous Iterations`, in at most `bytes`. The newest iterations matter most, so they get their
    /// share first.
    pub fn render(&self, bytes: usize, summary_bytes: usize) -> String {
        let mut whole = Vec::new();
        let mut left = bytes;
        for past in self.newest.iter().rev() {
            let text = past.render(summary_bytes.min(left));
            if text.len() > left && !whole.is_empty() {
                break;
            }
            left = left.saturating_sub(text.len());
            whole.push(text);
        }
        let dropped = self.newest.len() - whole.len();
        let mut out = self.digest(dropped, left);
        for text in whole.iter().rev() {
            out.push_str(text);
        }
        out.truncate(out.trim_end().len());
        out
    }

    fn digest(&self, also: usize, bytes: usize) -> String {
        let count = self.folded as usize + also;
        let also_failed = self.newest.iter().take(also).filter(|past| past.error.is_some()).count();
        let failed = self.folded_failures as usize + also_failed;
        let (Some(newest), true) = (self.newest.back(), count > 0) else { return String::new() };
        // The numbers of later iterations have more digits. For each, the digest gives words and lines back, so that prompts stay
        // as short as they were.
        let digits = newest.iteration.max(1).ilog10() as usize;
        let (words, lines) = match digits {
            0 => (format!(" (in short; {failed} failed)"), LINES),
            1 => (format!(" ({failed} failed)"), LINES / 2),
            2 => (String::new(), LINES / 2),
            _ => (String::new(), 0),
        };
        let mut out = format!("### Iterations 0 to {}{words}\n", count - 1);
        // What the words gave back is not for lines.
        let mut left = bytes.saturating_sub(DIGEST_HEAD);
        for line in self.older.iter().skip(self.older.len().saturating_sub(lines)) {
            if line.len() + 1 > left {
                break;
            }
            left -= line.len() + 1;
            let _ = writeln!(out, "{line}");
        }
        out.push('\n');
        out
    }
}

impl Past {
    fn render(&self, summary_bytes: usize) -> String {
        let commit =
            self.commit.as_ref().map_or_else(|| "no changes".to_owned(), |id| format!("commit {id}"));
        let mut out = format!("### Iteration {} → {commit}\nFiles: {}\n", self.iteration, self.files);
        if let Some(error) = &self.error {
            let _ = writeln!(out, "Failed: {error}");
        }
        let summary = if self.summary.is_empty() { "none" } else { &self.summary };
        let _ = writeln!(out, "Summary: {}\n", cut(summary, summary_bytes));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c6_at_most_five_files_are_named() {
        let names: Vec<String> = (0..8).map(|n| format!("f{n}")).collect();
        assert_eq!(files(&names[..2], 2), "f0, f1");
        assert_eq!(files(&names, 8), "f0, f1, f2, f3, f4, ... (3 more)");
        assert_eq!(files(&names, 5000), "f0, f1, f2, f3, f4, ... (4995 more)");
        assert_eq!(files(&[], 0), "none");
        assert_eq!(files(&["a\nb".to_owned()], 1), "a\\nb");
        assert_eq!(files(&["it's \"文件\".rs".to_owned()], 1), "it's \"文件\".rs");
        assert!(files(&["x/".repeat(2000)], 1).len() < 200);
    }

    fn past(iteration: u32, summary: usize, error: Option<&str>) -> Past {
        Past {
            iteration,
            commit: Some("1234567".into()),
            files: "src/a.rs".into(),
            summary: "x".repeat(summary),
            error: error.map(str::to_owned),
        }
    }

    /// The section as prompt `number` (from 1) has it, and that number.
    fn length(number: u32, bytes: usize, summary: usize, error: Option<&str>) -> usize {
        let mut history = History::default();
        let shown = u32::try_from(WHOLE + LINES).unwrap();
        for iteration in number - 1 - shown..number - 1 {
            history.push(past(iteration, summary, error));
        }
        history.folded += number - 1 - shown;
        history.folded_failures += if error.is_some() { number - 1 - shown } else { 0 };
        history.render(bytes, 2000).len() + number.to_string().len()
    }

    #[test]
    fn c7_no_later_section_is_longer_than_the_tenth() {
        let prompts = [11, 12, 13, 20, 50, 99, 100, 101, 102, 103, 500, 1000, 1001, 1002, 2000];
        let summaries = [0, 1, 3, 20, 40, 60, 90, 100, 150, 400, 1990, 2010, 5000];
        let budgets = (0..1200).step_by(19).chain((1200..40_000).step_by(1777));
        for bytes in budgets {
            for summary in summaries {
                for error in [None, Some("exit 1")] {
                    let tenth = length(10, bytes, summary, error);
                    for prompt in prompts {
                        let length = length(prompt, bytes, summary, error);
                        assert!(
                            length <= tenth,
                            "prompt {prompt}: {length} for {tenth}; {bytes} bytes, summary {summary}, {error:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn c7_the_section_keeps_to_its_bytes() {
        let mut history = History::default();
        for iteration in 0..50 {
            history.push(past(iteration, 1000, None));
        }
        for bytes in [600, 2000, 4000, 40_000] {
            let text = history.render(bytes, 2000);
            assert!(text.len() <= bytes + 600, "{} for {bytes}", text.len());
            assert!(text.contains("### Iteration 49 "), "the newest is always there");
        }
    }
}
