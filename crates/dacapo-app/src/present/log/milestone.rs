//! The log lines of a milestone: whose turn it is, what was reported, sent back and found, how it was judged.

use dacapo_core::engine::Kinds;
use dacapo_core::event::{Envelope, KindStep};
use dacapo_core::spec::TaskSpec;
use dacapo_core::task::milestone::{Judge, MilestoneStep, MilestoneView};
use dacapo_core::view::TaskView;

use crate::messages::Messages;
use crate::present::{milestone, words};

/// How many complaints or findings of one event get a line each.
const MOST: usize = 20;

/// Where a milestone stands. The journal names agents, and both may be the same one: whose turn it is comes of the fold.
#[derive(Debug)]
pub(super) struct Rounds(TaskView);

impl Rounds {
    /// None for other kinds.
    pub(super) fn of(spec: &TaskSpec, kinds: Kinds) -> Option<Self> {
        let view = TaskView::new(spec, kinds);
        MilestoneView::of(view.own()).is_some().then_some(Self(view))
    }

    /// Takes in what happened.
    pub(super) fn see(&mut self, line: &Envelope) {
        self.0.apply(line);
        self.0.forget_details();
    }

    /// The limit on rounds.
    pub(super) fn most(&self) -> Option<u32> {
        MilestoneView::of(self.0.own()).map(|milestone| milestone.max_rounds)
    }

    /// A turn starts.
    pub(super) fn turn(&self, round: u32, continued: bool) -> String {
        let milestone = MilestoneView::of(self.0.own());
        let who = milestone.and_then(milestone::at_work).unwrap_or_else(|| self.0.agent.clone());
        let cleaning = milestone.is_some_and(|milestone| milestone.cleaning);
        let what = if cleaning { ", to put the tree in order" } else { "" };
        let on = if continued { ", goes on in its session" } else { "" };
        format!("{who} at work in round {round}{what}{on}")
    }
}

/// A step, in lines.
pub(super) fn step(step: &KindStep) -> Vec<String> {
    let Some(step) = MilestoneStep::read(step) else { return Vec::new() };
    let step = &step;
    match step {
        MilestoneStep::ReportTaken { iteration, feature, commit, changed_total, .. } => {
            let files = words::count(u64::from(*changed_total), "file");
            let feature = words::line(feature, 200);
            vec![format!("Round {}: reported {feature}, commit {}, {files}", iteration + 1, commit.short())]
        }
        MilestoneStep::CompletionTaken { iteration, commit, .. } => {
            vec![format!(
                "Round {}: reported that all features are complete, commit {}",
                iteration + 1,
                commit.short()
            )]
        }
        MilestoneStep::ReportSentBack { iteration, complaints } => complaints
            .iter()
            .take(MOST)
            .map(|complaint| {
                let complaint = words::line(complaint, words::WHOLE);
                format!("Round {}: sent back to the Developer: {complaint}", iteration + 1)
            })
            .collect(),
        MilestoneStep::VerdictSentBack { iteration, complaint } => {
            let complaint = words::line(complaint, words::WHOLE);
            vec![format!("Round {}: sent back to the Acceptor: {complaint}", iteration + 1)]
        }
        MilestoneStep::Accepted { iteration, not_itemised, .. } => {
            let note = if *not_itemised {
                format!(", {}", Messages::ENGLISH.milestone_not_itemised())
            } else {
                String::new()
            };
            vec![format!("Round {}: ACCEPTED by the Acceptor{note}", iteration + 1)]
        }
        MilestoneStep::Rejected { iteration, by, reason, findings, needs_person } => {
            let by = match by {
                Judge::Acceptor => "by the Acceptor",
                Judge::Engine => "by Dacapo",
            };
            let round = iteration + 1;
            let reason = milestone::why_rejected(reason);
            let mut lines = vec![format!("Round {round}: REJECTED {by}: {reason}")];
            lines.extend(
                findings.iter().take(MOST).map(|finding| {
                    format!("  [R{}] {}", finding.id, words::line(&finding.text, words::WHOLE))
                }),
            );
            if *needs_person {
                lines.push(format!("Round {round}: the two do not come together, a person is asked"));
            }
            lines
        }
        MilestoneStep::TreeLookedAt { astray, dirty, .. } => {
            let astray = astray.as_ref().map(|branch| {
                format!(
                    "HEAD is on {}, not on the milestone's branch",
                    words::line(words::branch(branch), 200)
                )
            });
            let dirty = (!dirty.is_empty())
                .then(|| format!("The tree is not clean: {}", words::line(&dirty.join(", "), words::WHOLE)));
            astray.into_iter().chain(dirty).collect()
        }
        MilestoneStep::TreeTouched { iteration, .. } => {
            vec![format!("Round {}: {}", iteration + 1, milestone::touched(step, Messages::ENGLISH))]
        }
        MilestoneStep::MainMoved { .. } => vec![milestone::main_moved(step, Messages::ENGLISH)],
        MilestoneStep::Refrozen { changes, .. } => {
            let changes =
                changes.iter().take(MOST).map(|change| format!("  {}", words::line(change, words::WHOLE)));
            std::iter::once("The milestone is held to other criteria from now on".to_owned())
                .chain(changes)
                .collect()
        }
        MilestoneStep::TreeKept { reference: Some(reference) } => {
            vec![format!("What nobody had committed is kept under {}", words::line(reference, 200))]
        }
        MilestoneStep::TreeKept { reference: None } => Vec::new(),
    }
}
