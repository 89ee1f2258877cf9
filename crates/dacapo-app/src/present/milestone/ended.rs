//! What people read when a milestone is over, or asks them something.

use dacapo_core::event::{Outcome, TaskResult};
use dacapo_core::task::milestone::{FindingView, MilestoneStatus, MilestoneView};
use dacapo_core::view::TaskView;

use super::{MOST_FINDINGS, answers, finding};
use crate::present::words::{self, BOLD, WARN, paint};

/// `3 accepted`, `1 of 2 features done`.
pub(super) fn came_to(milestone: &MilestoneView, result: &TaskResult) -> Vec<String> {
    let (done, all) = (milestone.features_done(), milestone.features.len());
    let features = format!("{done} of {} done", words::count(all as u64, "feature"));
    vec![format!("{} accepted", result.iterations_succeeded), features]
}

/// Accepted is not proven, and a review is an answer that is awaited.
pub(super) fn ended(milestone: &MilestoneView, result: &TaskResult) -> Option<String> {
    match result.outcome {
        Outcome::Completed if !result.verified => Some(paint(BOLD, "● accepted, unverified")),
        Outcome::Paused if milestone.status == MilestoneStatus::AwaitingReview => {
            Some(paint(WARN.bold(), "‖ accepted: your review is awaited"))
        }
        _ => None,
    }
}

/// What the two sides do not agree on.
pub(super) fn open_findings(milestone: &MilestoneView, name: &str) -> Vec<String> {
    let open: Vec<&FindingView> = milestone.open_findings().collect();
    let mut lines: Vec<String> = open.iter().take(MOST_FINDINGS).map(|open| finding(open)).collect();
    if let Some(more) = open.len().checked_sub(MOST_FINDINGS).filter(|more| *more > 0) {
        lines.push(format!("… {more} more: dacapo status {name}"));
    }
    lines
}

/// What people may want to type next.
pub(super) fn next(view: &TaskView, milestone: &MilestoneView, result: &TaskResult) -> Vec<String> {
    let name = &view.name;
    if let Some(needs) = view.needs.as_ref().filter(|_| result.outcome == Outcome::Paused) {
        let answers = answers(name, needs, milestone);
        return answers.into_iter().map(|answer| answer.command).collect();
    }
    let mut commands = Vec::new();
    let own = view.worktree.is_some();
    if result.last_commit != result.base_commit {
        commands.push(format!("dacapo diff {name}"));
        if own && view.merged.is_none() && result.outcome == Outcome::Completed {
            commands.extend([format!("dacapo merge {name}"), format!("dacapo pr {name}")]);
        }
    }
    if view.merged.is_some() {
        return commands;
    }
    if let Some(branch) = view.branch.as_deref().filter(|_| !own && result.outcome == Outcome::Completed) {
        // In place there is no worktree to bring home, but a branch.
        commands.push(format!("git merge {}", words::branch(branch)));
    }
    match milestone.status {
        MilestoneStatus::Completed | MilestoneStatus::Abandoned => {}
        MilestoneStatus::InProgress | MilestoneStatus::Paused | MilestoneStatus::AwaitingReview => {
            commands.push(format!("dacapo resume {name}"));
        }
    }
    commands.extend(own.then(|| format!("dacapo drop {name}")));
    commands
}
