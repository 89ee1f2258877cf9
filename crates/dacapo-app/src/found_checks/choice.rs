//! What the user said about the checks and the setup that were found, kept beside the repository's tasks so that it is asked once.

use std::path::{Path, PathBuf};

use dacapo_core::store::files;
use serde::{Deserialize, Serialize};

/// More checks than any project has.
const LARGEST_FILE: u64 = 4 << 20;

/// The version of the file.
const CHOICE_FORMAT: u32 = 1;

/// What was asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    Checks,
    /// What makes a fresh checkout usable.
    Setup,
    /// A plan that nobody named and that is no longer new.
    Plan,
}

impl Question {
    fn path(self, data: &Path) -> PathBuf {
        data.join(match self {
            Question::Checks => "checks.json",
            Question::Setup => "setup.json",
            Question::Plan => "plan.json",
        })
    }
}

/// For which commands, and what is to be used for them.
#[derive(Debug, Serialize, Deserialize)]
struct Choice {
    v: u32,
    found: Vec<String>,
    used: Vec<String>,
}

/// What the user wants where exactly these are found; none: it was never asked.
pub fn remembered(data: &Path, question: Question, found: &[String]) -> Option<Vec<String>> {
    let read = files::read(&question.path(data), LARGEST_FILE).ok();
    let choice = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    if let Some(Choice { v: CHOICE_FORMAT, found: of, used }) = choice
        && of == found
    {
        return Some(used);
    }
    if question != Question::Checks {
        return None;
    }
    // An earlier form knew a yes only.
    let confirmed = files::read(&data.join("confirmed-checks"), LARGEST_FILE).ok()?;
    (confirmed == found.join("\n").as_bytes()).then(|| found.to_vec())
}

/// Remembers it. Asking again next time is the worst that a failed write does.
pub fn remember(data: &Path, question: Question, found: &[String], used: &[String]) {
    let choice = Choice { v: CHOICE_FORMAT, found: found.to_vec(), used: used.to_vec() };
    let written = serde_json::to_vec(&choice).map_err(std::io::Error::from);
    let _ = written.and_then(|json| {
        files::make_dir(data)?;
        files::replace(&question.path(data), &json)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECKS: Question = Question::Checks;

    #[test]
    fn l3_a_choice_holds_for_what_was_found_then() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("repo");
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let found = list(&["cargo test", "npm test"]);
        assert_eq!(remembered(&data, CHECKS, &found), None);
        for used in [list(&["make ci\nline"]), list(&[]), found.clone()] {
            remember(&data, CHECKS, &found, &used);
            assert_eq!(remembered(&data, CHECKS, &found), Some(used));
        }
        assert_eq!(remembered(&data, Question::Setup, &found), None, "another question");
        assert_eq!(remembered(&data, CHECKS, &found[..1]), None, "others are another question");
        std::fs::write(CHECKS.path(&data), "{").unwrap();
        assert_eq!(remembered(&data, CHECKS, &found), None);
        std::fs::write(data.join("confirmed-checks"), "cargo test\nnpm test").unwrap();
        assert_eq!(remembered(&data, CHECKS, &found), Some(found), "of an earlier version");
    }
}
