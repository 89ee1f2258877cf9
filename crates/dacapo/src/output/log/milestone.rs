//! The log lines of a milestone: whose turn it is, what was reported, sent back and found, how it was judged.

use dacapo_core::event::{Judge, MilestoneStep};

use crate::output::words;

/// So many complaints or findings of one event get a line each.
const MOST: usize = 20;

/// Whose turn is next. The journal names agents, and both may be the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Role {
    #[default]
    Developer,
    Acceptor,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Role::Developer => "Developer",
            Role::Acceptor => "Acceptor",
        }
    }
}

/// What later lines need of earlier ones.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    next: Role,
    /// The Developer puts the tree in order before the Acceptor goes on.
    cleaning: bool,
    /// The newest commits that were seen: what is reported is judged only as long as nothing was added to it.
    log: Vec<String>,
}

impl Rounds {
    /// A round begins.
    pub(super) fn begins(&mut self) {
        self.next = Role::Developer;
        self.cleaning = false;
    }

    /// Somebody has a turn.
    pub(super) fn turn(&self, agent: &str, round: u32, continued: bool) -> String {
        let what = if self.cleaning { ", to put the tree in order" } else { "" };
        let on = if continued { ", goes on in its session" } else { "" };
        format!("{} {agent} at work in round {round}{what}{on}", self.next.name())
    }

    /// A step, in lines.
    pub(super) fn step(&mut self, step: &MilestoneStep) -> Vec<String> {
        self.follow(step);
        match step {
            MilestoneStep::ReportTaken { iteration, feature, commit, changed_total, .. } => {
                let files = words::count(u64::from(*changed_total), "file");
                let feature = words::line(feature, 200);
                vec![format!(
                    "Round {}: reported {feature}, commit {}, {files}",
                    iteration + 1,
                    commit.short()
                )]
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
            MilestoneStep::Accepted { iteration, .. } => {
                vec![format!("Round {}: ACCEPTED by the Acceptor", iteration + 1)]
            }
            MilestoneStep::Rejected { iteration, by, reason, findings, needs_person } => {
                let by = match by {
                    Judge::Acceptor => "by the Acceptor",
                    Judge::Engine => "before the Acceptor judged",
                };
                let round = iteration + 1;
                let reason = words::line(reason, words::WHOLE);
                let mut lines = vec![format!("Round {round}: REJECTED {by}: {reason}")];
                lines.extend(findings.iter().take(MOST).map(|finding| {
                    format!("  [R{}] {}", finding.id, words::line(&finding.text, words::WHOLE))
                }));
                if *needs_person {
                    lines.push(format!("Round {round}: the two do not agree on what is settled"));
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
                let dirty = (!dirty.is_empty()).then(|| {
                    format!("The tree is not clean: {}", words::line(&dirty.join(", "), words::WHOLE))
                });
                astray.into_iter().chain(dirty).collect()
            }
            MilestoneStep::TreeTouched { .. } => vec![words::touched(step)],
            MilestoneStep::Refrozen { changes, .. } => changes
                .iter()
                .take(MOST)
                .map(|change| format!("The criteria were changed: {}", words::line(change, words::WHOLE)))
                .collect(),
            MilestoneStep::TreeKept { reference: Some(reference) } => {
                vec![format!("What nobody had committed is kept under {}", words::line(reference, 200))]
            }
            MilestoneStep::TreeKept { reference: None } => Vec::new(),
        }
    }

    fn follow(&mut self, step: &MilestoneStep) {
        match step {
            MilestoneStep::ReportTaken { log, .. } | MilestoneStep::CompletionTaken { log, .. } => {
                self.next = Role::Acceptor;
                self.log.clone_from(log);
            }
            MilestoneStep::ReportSentBack { .. } => self.next = Role::Developer,
            MilestoneStep::VerdictSentBack { .. } => self.next = Role::Acceptor,
            MilestoneStep::Accepted { .. } | MilestoneStep::Rejected { .. } => self.begins(),
            MilestoneStep::TreeLookedAt { astray, dirty, log, .. } => {
                let in_order = astray.is_none() && dirty.is_empty();
                if self.cleaning && in_order {
                    self.cleaning = false;
                    self.next = if self.log == *log { Role::Acceptor } else { Role::Developer };
                } else if !in_order && self.next == Role::Acceptor {
                    self.cleaning = true;
                    self.next = Role::Developer;
                }
                self.log.clone_from(log);
            }
            MilestoneStep::TreeTouched { .. }
            | MilestoneStep::TreeKept { .. }
            | MilestoneStep::Refrozen { .. } => {}
        }
    }
}
