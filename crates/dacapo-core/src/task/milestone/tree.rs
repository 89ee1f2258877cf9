//! What the work is found like: by whoever reports, after an interruption, and after the Acceptor, who changes nothing.
//!
//! A verdict is on a commit. So it counts while that commit is the tip of the milestone's branch and HEAD is on it;
//! an acceptance of anything else is none. Files that the Acceptor only left lying about change nothing of what it judged:
//! its verdict counts, and the Developer puts the tree in order first thing in the next turn. Its rejections always count,
//! with all their findings. What it committed is never taken for the Developer's: the next round begins, on record, where the
//! branch was before.

use super::judge::named;
use super::{Disorder, Milestone, Phase, Role};
use crate::engine::machine::WorkFacts;
use crate::git::Oid;
use crate::json::short_branch;
use crate::task::milestone::MilestoneStep;

/// How often in a round the Developer puts in order what was reported before; once more is a rejection.
const MOST_DISTURBED: u32 = 3;

/// What the Acceptor did to the work.
pub(super) struct Touched {
    pub(super) step: MilestoneStep,
    /// Why its verdict is none, if it accepts.
    pub(super) void: Option<String>,
}

impl Milestone {
    /// What is not in order, whatever the report says.
    pub(super) fn disorder_in(&self, facts: &WorkFacts) -> Vec<String> {
        let mut complaints = Vec::new();
        if let Some(astray) = self.astray(facts) {
            complaints.push(format!(
                "HEAD is on {astray}, not on {}: go back to it; what you committed elsewhere belongs there",
                self.branch_name()
            ));
        }
        if !facts.dirty.is_empty() {
            complaints.push(format!("the tree is not clean: commit or undo {}", named(&facts.dirty)));
        }
        complaints
    }

    /// The branch that HEAD is on, where it is not the milestone's.
    pub(super) fn astray(&self, facts: &WorkFacts) -> Option<String> {
        (facts.branch != self.life.workspace.branch)
            .then(|| facts.branch.as_deref().map_or("no branch (detached)", short_branch).to_owned())
    }

    /// A report is taken; what comes next is on what it reported.
    fn verdict_is_due(&self) -> bool {
        matches!(self.phase, Phase::Asking(Role::Acceptor) | Phase::Checking { .. })
    }

    /// An Acceptor that never leaves the work as it was reported, however its calls end, does not get turn after turn of the
    /// Developer's to clean up behind it.
    fn disturbed(&mut self) {
        let Some(round) = self.round.as_mut() else { return };
        round.disturbed += 1;
        if round.disturbed > MOST_DISTURBED {
            let reason = format!(
                "the work was not as reported {} times before the Acceptor could judge it: see that it is in order, and report again",
                round.disturbed
            );
            self.phase = Phase::Overdue { reason };
        }
    }

    pub(super) fn looked_at(&self, facts: &WorkFacts) -> MilestoneStep {
        MilestoneStep::TreeLookedAt {
            head: facts.head.clone(),
            astray: self.astray(facts),
            dirty: facts.dirty.clone(),
            log: facts.log.clone(),
            tip: facts.tip.clone(),
            main: facts.main.clone(),
            locks: facts.locks.clone(),
            cleanup: self.cleans_first(facts),
        }
    }

    /// After an interruption the Developer puts the tree in order before anything else, in a turn that is judged by the tree
    /// alone (M9). What a call of its own left that took too long is the business of its next one.
    fn cleans_first(&self, facts: &WorkFacts) -> bool {
        let next = matches!(self.phase, Phase::Between | Phase::Asking(Role::Developer));
        next && self.taken_up && !(self.disorder_in(facts).is_empty() && facts.locks.is_empty())
    }

    /// What the Acceptor changed; none: all is as it was reported.
    pub(super) fn touched(&self, facts: &WorkFacts) -> Option<Touched> {
        let round = self.round.as_ref()?;
        let astray = self.astray(facts);
        let judged = round.tip.clone().filter(|tip| facts.tip.as_ref() != Some(tip));
        let mut what = Vec::new();
        if let Some(judged) = &judged {
            let is = facts.tip.as_ref().map_or("gone", Oid::short);
            what.push(format!("{} was at {} and is {is}", self.branch_name(), judged.short()));
        }
        if let Some(astray) = &astray {
            what.push(format!("HEAD is on {astray}"));
        }
        if what.is_empty() && facts.dirty.is_empty() {
            return None;
        }
        let void = (!what.is_empty()).then(|| {
            let what = what.join("; ");
            format!("the Acceptor changed what it was to judge, so its verdict does not count: {what}. Put that in order and report again")
        });
        let step = MilestoneStep::TreeTouched {
            iteration: round.number,
            astray,
            tip: facts.tip.clone().filter(|_| judged.is_some()),
            judged,
            dirty: facts.dirty.clone(),
        };
        Some(Touched { step, void })
    }

    pub(super) fn tree_step(&mut self, step: &MilestoneStep) {
        match step {
            MilestoneStep::TreeLookedAt { astray, dirty, log, tip, main, locks, cleanup, .. } => {
                let found = Disorder {
                    dirty: dirty.clone(),
                    astray: astray.clone(),
                    notes: left_locks(locks).into_iter().collect(),
                };
                if main.is_some() {
                    self.main.clone_from(main);
                }
                self.cleanup_due = *cleanup;
                self.looked(found, log, tip.as_ref());
            }
            MilestoneStep::TreeTouched { astray, judged, tip, dirty, .. } => {
                let mut notes = Vec::new();
                if let Some(judged) = judged {
                    let (was, branch) = (judged.short(), self.branch_name());
                    notes.push(match tip {
                        Some(tip) => format!(
                            "The Acceptor moved {branch} from {was}, which you reported, to {}: see `git log {was}..{0}`. Keep what is right, undo the rest.",
                            tip.short()
                        ),
                        None => format!("The Acceptor removed {branch}; it was at {was}: bring it back."),
                    });
                    self.unjudged = Some(judged.clone());
                }
                if !dirty.is_empty() {
                    notes.push(
                        "What is not committed was left by the Acceptor: look before you keep any of it."
                            .to_owned(),
                    );
                }
                self.disorder = Some(Disorder { dirty: dirty.clone(), astray: astray.clone(), notes });
                let told = "In your last turn you changed the working tree, a branch or HEAD. You judge, and change nothing: work in a copy elsewhere if you must, and leave everything as you found it.";
                if !self.acceptor.notes.iter().any(|note| note == told) {
                    self.acceptor.notes.push(told.to_owned());
                }
            }
            _ => {}
        }
    }

    /// Who has to put things in order is the Developer, also where the Acceptor was next.
    fn looked(&mut self, mut found: Disorder, log: &[String], tip: Option<&Oid>) {
        let moved = self.log != log;
        self.log_is(log);
        if self.phase == Phase::Cleaned {
            self.disorder = None;
            if self.round.as_ref().is_some_and(|round| round.work.is_none()) {
                self.round_goes_on();
                return;
            }
            let mut moved = moved;
            if let Some(round) = self.round.as_mut() {
                // Another look may have seen the commits before, where a turn of cleaning up was cut short.
                moved |= matches!((&round.tip, tip), (Some(was), Some(is)) if was != is);
                round.cleanup = false;
            }
            if moved {
                self.report_anew("there are commits that your report does not know of: report again");
            } else {
                // What was in the way may have been in what the checks saw.
                self.check_anew();
            }
            return;
        }
        (self.look_due, self.taken_up) = (false, false);
        if let Some(before) = self.disorder.take() {
            // What else was to be known still is.
            for note in before.notes {
                if !found.notes.contains(&note) {
                    found.notes.push(note);
                }
            }
        }
        let in_order = found.astray.is_none() && found.dirty.is_empty() && found.notes.is_empty();
        self.disorder = (!in_order).then_some(found);
        if !self.verdict_is_due() {
            self.clean_up_first();
            return;
        }
        let reported = self.round.as_ref().and_then(|round| round.tip.clone());
        if let (Some(was), Some(is)) = (reported, tip)
            && was != *is
        {
            let complaint = format!(
                "{} is at {}, but was at {} when you reported: see what came since, put it in order, and report again",
                self.branch_name(),
                is.short(),
                was.short()
            );
            self.report_anew(&complaint);
            self.disturbed();
        } else if self.disorder.is_some() {
            self.phase = Phase::Asking(Role::Developer);
            if let Some(round) = self.round.as_mut() {
                round.cleanup = true;
                // What was said about a verdict is not for the Developer.
                round.complaints.clear();
            }
            self.disturbed();
        }
    }

    /// The round that the Developer is at begins, or goes on, with a turn for that. One that is yet to begin does when it
    /// does.
    fn clean_up_first(&mut self) {
        if self.round.is_none() {
            return;
        }
        let cleanup = std::mem::take(&mut self.cleanup_due);
        let Some(round) = self.round.as_mut().filter(|round| round.work.is_none()) else { return };
        if cleanup && !round.cleanup {
            round.cleanup = true;
            round.held = std::mem::take(&mut round.complaints);
        } else if !cleanup && round.cleanup {
            // Somebody else has put it in order.
            self.round_goes_on();
        }
    }

    /// The tree is in order: the Developer is now told what was held back in this round.
    fn round_goes_on(&mut self) {
        let Some(round) = self.round.as_mut() else { return };
        round.cleanup = false;
        round.complaints = std::mem::take(&mut round.held);
        self.phase = Phase::Asking(Role::Developer);
    }

    /// What was reported is not what there is to judge now. That is no fault of the report.
    pub(super) fn report_anew(&mut self, why: &str) {
        if let Some(round) = self.round.as_mut() {
            round.work = None;
            round.tip = None;
            round.diff = None;
            round.cleanup = false;
            round.complaints = vec![why.to_owned()];
            self.phase = Phase::Asking(Role::Developer);
        }
    }
}

/// What is in the way of every commit, and of nothing else: the tree itself may be in order. After a report nobody says
/// so: an agent that speaks ACP lives on, and a git of its may be at work.
fn left_locks(locks: &[String]) -> Option<String> {
    (!locks.is_empty())
        .then(|| format!("a git that was killed left {}: remove it, or git refuses to commit", named(locks)))
}
