//! What is shown of files that were untracked before a task in the user's checkout (C10).

use schemars::JsonSchema;
use serde::Serialize;

use crate::event::{UntrackedFile, UntrackedFound, UntrackedTouched};

/// How many files that iterations changed are remembered, beside their number.
const MOST: usize = 300;

/// Files that were untracked before the task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "UntrackedFiles")]
pub struct UntrackedView {
    /// How many of them are not committed, because nobody has changed them.
    #[serde(rename = "left_out_total")]
    pub left_out: u64,
    /// These files, at most 100.
    #[serde(rename = "left_out")]
    pub named: Vec<String>,
    /// The refs that keep what they were.
    pub kept: Vec<String>,
    /// The files that iterations changed or removed, at most 300.
    pub touched: Vec<TouchedFile>,
    /// How many files iterations changed or removed.
    pub touched_total: u64,
    /// The lists of those that are left out, by their hashes.
    #[serde(skip)]
    pub lists: Vec<String>,
    #[serde(skip)]
    workspace_made: bool,
}

/// A file that was untracked before the task and was changed or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TouchedFile {
    /// The iteration that changed it, from 0; null if it was none.
    pub iteration: Option<u32>,
    /// What happened to it.
    #[serde(flatten)]
    pub file: UntrackedFile,
}

impl UntrackedView {
    /// Whether there is nothing to be said.
    pub fn is_empty(&self) -> bool {
        self.left_out == 0 && self.touched_total == 0
    }

    pub(super) fn workspace_made(&mut self) {
        self.workspace_made = true;
    }

    pub(super) fn found(&mut self, found: &UntrackedFound) {
        if !self.workspace_made {
            // An earlier look, before anybody worked, was cut short.
            *self = Self::default();
        }
        self.lists.clone_from(&found.lists);
        self.left_out = found.left_out;
        self.named.retain(|name| !found.named.contains(name));
        self.named.extend_from_slice(&found.named);
        self.named.truncate(UntrackedFound::MOST);
        self.kept
            .extend(found.kept.iter().filter(|name| !self.kept.contains(name)).cloned().collect::<Vec<_>>());
    }

    pub(super) fn touched(&mut self, touched: &UntrackedTouched) {
        self.lists.clone_from(&touched.lists);
        self.left_out = touched.left_out;
        self.touched_total += touched.total;
        self.named.retain(|name| !touched.files.iter().any(|file| file.path == *name));
        let room = MOST.saturating_sub(self.touched.len());
        let files = touched.files.iter().take(room);
        self.touched
            .extend(files.map(|file| TouchedFile { iteration: touched.iteration, file: file.clone() }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::UntrackedFate;

    fn found(named: &[&str], kept: &str) -> UntrackedFound {
        UntrackedFound {
            files: named.len() as u64,
            left_out: named.len() as u64,
            named: named.iter().map(|name| (*name).to_owned()).collect(),
            kept: Some(kept.to_owned()),
            not_kept: Vec::new(),
            lists: vec![kept.to_owned()],
        }
    }

    #[test]
    fn c10_a_look_that_was_cut_short_does_not_count_and_a_later_one_adds_to_it() {
        let mut view = UntrackedView::default();
        view.found(&found(&["a", "b", "c"], "first"));
        view.found(&found(&["a", "b"], "second"));
        view.workspace_made();
        assert_eq!((view.left_out, &*view.named), (2, &["a".to_owned(), "b".to_owned()][..]));
        let file = UntrackedFile { path: "a".into(), fate: UntrackedFate::Gone, kept: Some("second".into()) };
        view.touched(&UntrackedTouched {
            iteration: Some(0),
            files: vec![file.clone()],
            total: 1,
            left_out: 1,
            lists: vec!["rest".into()],
        });
        view.found(&UntrackedFound { left_out: 2, ..found(&["d"], "third") });
        assert_eq!(
            view,
            UntrackedView {
                left_out: 2,
                named: vec!["b".into(), "d".into()],
                kept: vec!["second".into(), "third".into()],
                touched: vec![TouchedFile { iteration: Some(0), file }],
                touched_total: 1,
                lists: vec!["third".into()],
                workspace_made: true,
            }
        );
    }
}
