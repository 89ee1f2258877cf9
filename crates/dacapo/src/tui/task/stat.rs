//! How many lines each iteration added and removed, counted by git when the page is shown.

use std::collections::HashMap;

use dacapo_app::present::page::Page;

use crate::error::Failure;
use crate::tui::effect::Job;
use crate::tui::live::TaskId;
use crate::tui::output::{app_of, dir_of};

/// Lines added and removed, by iteration from 0.
#[derive(Debug, Default)]
pub(super) struct Stats {
    by_step: HashMap<u32, (u64, u64)>,
    /// The commit up to which it was counted.
    counted: Option<String>,
}

pub(super) struct Counted(Result<HashMap<u32, (u64, u64)>, Failure>);

impl Stats {
    /// Counts again where there is another commit.
    pub(super) fn want(&mut self, page: &Page, task: &TaskId) -> Option<Job> {
        let newest = page.steps.iter().rev().find_map(|step| step.commit.clone())?;
        if self.counted.as_ref() == Some(&newest) {
            return None;
        }
        self.counted = Some(newest);
        let task = task.clone();
        Some(Job::new(move |services| {
            let counted = dir_of(services, &task).and_then(|dir| app_of(services, &task).lines_changed(&dir));
            Counted(counted)
        }))
    }

    pub(super) fn take(&mut self, counted: Counted) {
        // Without git's answer there is just no number.
        if let Ok(by_step) = counted.0 {
            self.by_step = by_step;
        }
    }

    pub(super) fn of(&self, step: u32) -> Option<(u64, u64)> {
        self.by_step.get(&step).copied()
    }
}
