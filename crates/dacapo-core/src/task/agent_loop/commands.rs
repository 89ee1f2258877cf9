//! What people want of a loop while it runs: kill, pause, tell, set.

use super::{AgentLoop, Phase};
use crate::engine::stop::{self, Verdict};
use crate::event::{Command, Needs, Outcome, Received, SessionMode, StopReason};
use crate::spec::Change;

pub(super) const PAUSED: Verdict = Verdict { outcome: Outcome::Paused, reason: StopReason::NeedsPerson };

impl AgentLoop {
    pub(super) fn command_received(&mut self, received: &Received) {
        let by = &received.by;
        match &received.command {
            Command::Kill | Command::Abandon => self.stop_requested(by, StopReason::Cancelled),
            Command::Pause { now: true } => self.stop_requested(by, StopReason::NeedsPerson),
            Command::Pause { now: false } => {
                self.pausing = Some(by.clone());
                self.pause_if_due();
            }
            // A turn asks, not the loop: the driver answers it. And a loop has no criteria.
            Command::Approve { .. } | Command::Reject { .. } | Command::Refreeze { .. } => {}
            Command::Tell { text, standing: true } => self.guidance.add(text),
            Command::Tell { text, standing: false } => self.told.push(text.clone()),
            Command::Untell => {
                self.told.clear();
                let unsaid = self.guidance.clear();
                self.told.extend(unsaid.filter(|_| self.policy.session == SessionMode::Resume));
            }
            Command::Set { key, value } => {
                // Whoever sent it has read it before; what cannot be read changes nothing.
                if let Ok(change) = Change::parse(key, value) {
                    change.apply(&mut self.policy, &mut self.cap);
                    self.keep_to_the_cap();
                }
            }
        }
    }

    /// A lower limit does not undo what was begun; between two iterations it ends the loop where it is reached.
    fn keep_to_the_cap(&mut self) {
        let Some(cap) = &mut self.cap else { return };
        cap.iterations = cap.iterations.max(self.attempted).max(1);
        let reached = cap.iterations <= self.attempted && self.current.is_none();
        if reached && self.verdict.is_none() && self.phase != Phase::Over {
            self.verdict = Some(stop::out_of_iterations(&self.policy, self.succeeded));
            self.phase = Phase::Between;
        }
    }

    /// A pause takes hold between two iterations, and where an iteration only waits for its next turn: that one keeps
    /// its number and goes on when the task does.
    pub(super) fn pause_if_due(&mut self) {
        if self.pausing.is_none() || self.verdict.is_some() {
            return;
        }
        match self.phase {
            Phase::Fresh | Phase::Setup { .. } | Phase::Baseline { .. } | Phase::Between => {
                self.phase = Phase::Between;
            }
            Phase::Waiting { .. } | Phase::Probed { .. } | Phase::LimitHit { .. } => {
                self.probed.fill(false);
                self.phase = self.before_a_turn();
            }
            Phase::Retry => {}
            Phase::Turn { .. }
            | Phase::Writing(_)
            | Phase::Collecting
            | Phase::Landing(_)
            | Phase::Checking { .. }
            | Phase::Proving(_)
            | Phase::Settling
            | Phase::Over => return,
        }
        self.message = self.pausing.take();
        self.verdict = Some(PAUSED);
    }

    /// What a paused task asks a person for.
    pub(super) fn needs(&self) -> Option<Needs> {
        if self.verdict != Some(PAUSED) {
            return None;
        }
        let name = &self.spec.name;
        let by_hand = || Needs {
            kind: "resume".into(),
            question: format!("paused by {}", self.message.as_deref().unwrap_or("a person")),
            options: vec![format!("dacapo resume {name}"), format!("dacapo kill {name}")],
        };
        Some(self.blocked_needs().or_else(|| self.proof_needs()).unwrap_or_else(by_hand))
    }

    /// What the agent asks (L18).
    fn blocked_needs(&self) -> Option<Needs> {
        let name = &self.spec.name;
        self.question.as_ref().map(|question| Needs {
            kind: "blocked".into(),
            question: question.clone(),
            options: vec![format!("dacapo resume {name} \"your answer\""), format!("dacapo kill {name}")],
        })
    }

    /// A paused loop is not an ended one: it goes on with what is left of its allowances.
    pub(super) fn go_on_after_pause(&mut self) {
        self.result = None;
        self.verdict = None;
        self.message = None;
        self.red_proofs = 0;
        if self.current.is_none() {
            // Nobody watched meanwhile: what HEAD is now is the user's own doing, and the new beginning.
            self.tip = self.tip.take().filter(|_| self.attempted == 0);
        }
        self.phase = self.before_a_turn();
    }

    pub(super) fn is_paused(&self) -> bool {
        self.verdict == Some(PAUSED)
    }
}
