//! What people read when a milestone is over, or asks them something.

use dacapo_core::event::{Outcome, TaskResult};
use dacapo_core::task::milestone::{FindingView, MilestoneStatus, MilestoneView};
use dacapo_core::view::TaskView;

use super::{MOST_FINDINGS, answers, finding};
use crate::messages::Messages;
use crate::present::act::{ActCommand, NextAct};
use crate::present::next::Next;
use crate::present::words::{self, BOLD, WARN, paint};

/// `3 accepted`, `1 of 2 features done`.
pub(super) fn came_to(milestone: &MilestoneView, result: &TaskResult, messages: Messages) -> Vec<String> {
    let (done, all) = (milestone.features_done(), milestone.features.len());
    let features = messages.milestone_features_done(done, &messages.features(all as u64));
    vec![messages.milestone_accepted_count(u64::from(result.iterations_succeeded)), features]
}

/// Accepted is not proven, and a review is an answer that is awaited.
pub(super) fn ended(milestone: &MilestoneView, result: &TaskResult, messages: Messages) -> Option<String> {
    match result.outcome {
        Outcome::Completed if !result.verified => {
            Some(paint(BOLD, &format!("● {}", messages.milestone_accepted_unverified())))
        }
        Outcome::Paused if milestone.status == MilestoneStatus::AwaitingReview => {
            Some(paint(WARN.bold(), &format!("‖ {}", messages.milestone_review_awaited())))
        }
        _ => None,
    }
}

/// What the two sides do not agree on.
pub(super) fn open_findings(milestone: &MilestoneView, name: &str, messages: Messages) -> Vec<String> {
    let open: Vec<&FindingView> = milestone.open_findings().collect();
    let mut lines: Vec<String> =
        open.iter().take(MOST_FINDINGS).map(|open| finding(open, messages)).collect();
    if let Some(more) = open.len().checked_sub(MOST_FINDINGS).filter(|more| *more > 0) {
        lines.push(messages.milestone_more_in_status(more, name));
    }
    lines
}

/// What people may want to type next.
pub(super) fn next(
    view: &TaskView,
    milestone: &MilestoneView,
    result: &TaskResult,
    messages: Messages,
) -> Vec<Next> {
    let name = &view.name;
    if let Some(needs) = view.needs.as_ref().filter(|_| result.outcome == Outcome::Paused) {
        return answers(name, needs, milestone, messages);
    }
    let act = |command| NextAct::of(command, name);
    let mut all = Vec::new();
    let own = view.worktree.is_some();
    if result.last_commit != result.base_commit {
        all.push(Next::of(act(ActCommand::Diff), messages.next_diff(), messages));
        if own && view.merged.is_none() && result.outcome == Outcome::Completed {
            all.push(Next::of(act(ActCommand::Merge), messages.next_merge(), messages));
            all.push(Next::of(act(ActCommand::PullRequest), messages.next_pull_request(), messages));
        }
    }
    if view.merged.is_some() {
        return all;
    }
    if let Some(branch) = view.branch.as_deref().filter(|_| !own && result.outcome == Outcome::Completed) {
        // In place there is no worktree to bring home, but a branch.
        all.push(Next::new(format!("git merge {}", words::branch(branch)), messages.next_merge()));
    }
    match milestone.status {
        MilestoneStatus::Completed | MilestoneStatus::Abandoned => {}
        MilestoneStatus::InProgress | MilestoneStatus::Paused | MilestoneStatus::AwaitingReview => {
            all.push(Next::of(act(ActCommand::Resume), messages.next_resume(), messages));
        }
    }
    all.extend(own.then(|| Next::of(act(ActCommand::Drop), messages.next_drop(), messages)));
    all
}
