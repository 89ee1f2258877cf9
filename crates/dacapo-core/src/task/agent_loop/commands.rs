//! What people want of a loop while it runs: kill, pause, tell, set.

use super::{AgentLoop, Phase};
use crate::engine::stop;
use crate::event::{Choice, Command, NeedKind, Needs, Received, StopDetail, StopReason};
use crate::spec::Change;
use crate::spec::SessionMode;
use crate::task::lifecycle::PAUSED;

impl AgentLoop {
    pub(super) fn command_received(&mut self, received: &Received) {
        let by = &received.by;
        match &received.command {
            Command::Kill | Command::Abandon => {
                self.stop_requested(StopDetail::by(by), StopReason::Cancelled);
            }
            Command::Pause { now: true } => self.stop_requested(StopDetail::by(by), StopReason::NeedsPerson),
            Command::Pause { now: false } => {
                self.life.pausing = Some(by.clone());
                self.pause_if_due();
            }
            // Where a turn asks, the driver answers it.
            Command::Approve { .. } => self.tests_approved(),
            Command::Reject { reason } => self.tests_rejected(reason.as_deref()),
            // A loop has no criteria.
            Command::Refreeze { .. } | Command::Remember { .. } => {}
            Command::Tell { text, standing: true } => self.guidance.add(text),
            Command::Tell { text, standing: false } => self.told.push(text.clone()),
            Command::Untell => {
                self.told.clear();
                let unsaid = self.guidance.clear();
                // In a resumed conversation the agent has already heard it: it must be told that it no longer holds.
                self.told.extend(unsaid.filter(|_| self.life.policy.session == SessionMode::Resume));
            }
            Command::Set { key, value } => {
                // Whoever sent it has read it before; what cannot be read changes nothing.
                if let Ok(change) = Change::parse(key, value) {
                    change.apply(&mut self.life.policy, &mut self.cap);
                    self.keep_to_the_cap();
                }
            }
        }
    }

    /// A lower limit does not undo what was begun; between two iterations it ends the loop where it is reached.
    fn keep_to_the_cap(&mut self) {
        let Some(cap) = &mut self.cap else { return };
        // An iteration's number never goes back, so a limit below what was begun means "not another one".
        cap.iterations = cap.iterations.max(self.attempted).max(1);
        let reached = cap.iterations <= self.attempted && self.current.is_none();
        if reached && self.life.verdict.is_none() && self.phase != Phase::Over {
            self.life.verdict = Some(stop::out_of_iterations(&self.life.policy, self.succeeded));
            self.phase = Phase::Between;
        }
    }

    /// A pause takes hold between two iterations, and where an iteration only waits for its next turn: that one keeps
    /// its number and goes on when the task does.
    pub(super) fn pause_if_due(&mut self) {
        if self.life.pausing.is_none() || self.life.verdict.is_some() {
            return;
        }
        match self.phase {
            Phase::Preparing | Phase::Baseline { .. } | Phase::Between => {
                self.phase = Phase::Between;
            }
            Phase::Waits(_) => {
                // The try of another task will have come to its result long before this one goes on.
                self.life.limits.forget_probes();
                self.phase = self.before_a_turn();
            }
            Phase::Retry => {}
            Phase::Turn { .. }
            | Phase::Writing(_)
            | Phase::Collecting
            | Phase::Landing(_)
            | Phase::Checking { .. }
            | Phase::Proving
            | Phase::Settling
            | Phase::Over => return,
        }
        self.life.detail = self.life.pausing.take().map(|by| StopDetail::By { by });
        self.life.verdict = Some(PAUSED);
    }

    /// What a paused task asks a person for.
    pub(super) fn needs(&self) -> Option<Needs> {
        let asked = || self.blocked_needs().or_else(|| self.tests_needs()).or_else(|| self.proof_needs());
        self.life.is_paused().then(|| asked().unwrap_or_else(|| self.life.needs_by_hand()))
    }

    /// What the agent asks (L18).
    fn blocked_needs(&self) -> Option<Needs> {
        self.question.as_ref().map(|question| Needs {
            kind: NeedKind::Blocked { question: question.clone() },
            choices: vec![Choice::Answer, Choice::Kill],
        })
    }

    /// A paused loop is not an ended one: it goes on with what is left of its allowances.
    pub(super) fn go_on_after_pause(&mut self) {
        self.life.result = None;
        self.life.take_back_verdict();
        self.life.proof.red_in_row = 0;
        if self.current.is_none() {
            // Nobody watched meanwhile: what HEAD is now is the user's own doing, and the new beginning.
            self.tip = self.tip.take().filter(|_| self.attempted == 0);
        }
        self.phase = self.before_a_turn();
    }
}
