//! Taking a milestone up again (M9): it goes on where it stands, but first the tree is looked at, and both agents are told
//! that they were interrupted.

use super::{Milestone, Phase, Question};
use crate::event::Outcome;
use crate::spec::ProofPolicy;

impl Milestone {
    /// Where lines of the record are missing, the state may be inside a round that nobody saw begin, which nothing could
    /// ever end, or in a workspace that nobody saw made.
    fn leave_unknown_round(&mut self) {
        let inside = match self.phase {
            Phase::Asking(_)
            | Phase::Turn { .. }
            | Phase::Reported { .. }
            | Phase::Cleaned
            | Phase::Checking { .. }
            | Phase::Judged { .. }
            | Phase::Overdue { .. }
            | Phase::Settling => true,
            Phase::Preparing | Phase::Between | Phase::Waits { .. } => false,
        };
        if !self.life.workspace.ready {
            self.phase = Phase::Preparing;
        } else if inside && self.round.is_none() {
            self.phase = Phase::Between;
        }
    }

    pub(super) fn resumed(
        &mut self,
        more: Option<u32>,
        follow_up: Option<&str>,
        proof: Option<&ProofPolicy>,
    ) {
        self.leave_unknown_round();
        let ended = self.life.result.take().map(|result| result.outcome);
        self.life.pausing = None;
        self.kept = false;
        if let Some(proof) = proof {
            self.life.policy.proof.clone_from(proof);
        }
        if let Some(more) = more {
            self.max_rounds = self.rounds.saturating_add(more).max(1);
        }
        if let Some(text) = follow_up {
            self.tell(text);
        }
        if ended.is_some() {
            // Somebody took it up who may have merged, or put right, what is on the main branch.
            self.main = None;
            self.main_found = None;
        }
        self.look_due = self.life.turns > 0;
        self.taken_up = self.life.turns > 0;
        if let Some(round) = self.round.as_mut() {
            round.disturbed = 0;
        }
        self.developer.interrupted = self.life.turns > 0;
        self.acceptor.interrupted = self.life.turns > 0;
        if let Phase::Turn { role, .. } = self.phase {
            // Whether it was had is not on record. One that was not says it at once; else the next one does.
            self.agent_state_mut(role).recovering = true;
        }
        let completed = self.life.is_completed();
        let asked_for_more = more.is_some() || follow_up.is_some();
        if asked_for_more && self.round.is_none() {
            (self.life.proof.at_work, self.life.proof.state) = (None, None);
        } else {
            self.prove_anew();
        }
        if self.in_review() {
            // Nobody but a person who says yes or no ends that.
            self.pause(Question::Review);
            return;
        }
        if completed && !asked_for_more {
            return;
        }
        let by_verdicts =
            matches!(self.question, Some(Question::Rejections | Question::Settled | Question::Final));
        let by_proof = self.asked_about_proof();
        let about_main = self.question == Some(Question::Main);
        if (by_verdicts || about_main || by_proof) && ended.is_none() && !asked_for_more && proof.is_none() {
            // It died before it could ask.
            return;
        }
        if ended.is_some_and(|outcome| outcome != Outcome::Paused) {
            self.life.renew_allowance();
        }
        if by_verdicts {
            // Whoever takes it up has seen why it stands.
            self.rejections = 0;
            self.final_rejections = None;
            if let Some(last) = self.last.as_mut() {
                last.needs_person = false;
            }
        }
        self.life.proof.red_in_row = 0;
        self.life.take_back_verdict();
        self.developer.failures_in_row = 0;
        self.acceptor.failures_in_row = 0;
        self.life.backoff_due = false;
        self.life.limits.renew_wait();
        if self.phase == Phase::Between && self.life.workspace.ready {
            self.before_the_first();
        }
    }
}
