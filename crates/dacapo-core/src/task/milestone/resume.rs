//! Taking a milestone up again (M9): it goes on where it stands, but first the tree is looked at, and both agents are told
//! that they were interrupted.

use std::time::Duration;

use super::{Milestone, Phase, Question};
use crate::event::Outcome;
use crate::spec::ProofPolicy;

impl Milestone {
    pub(super) fn resumed(
        &mut self,
        more: Option<u32>,
        follow_up: Option<&str>,
        proof: Option<&ProofPolicy>,
    ) {
        let ended = self.result.take().map(|result| result.outcome);
        self.pausing = None;
        self.kept = false;
        if let Some(proof) = proof {
            self.policy.proof.clone_from(proof);
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
        self.look_due = self.turns > 0;
        self.taken_up = self.turns > 0;
        if let Some(round) = self.round.as_mut() {
            round.disturbed = 0;
        }
        self.developer.interrupted = self.turns > 0;
        self.acceptor.interrupted = self.turns > 0;
        if let Phase::Turn { role, .. } = self.phase {
            // Whether it was had is not on record. One that was not says it at once; else the next one does.
            self.desk_mut(role).recovering = true;
        }
        let completed = self.verdict.is_some_and(|verdict| verdict.outcome == Outcome::Completed);
        let asked_for_more = more.is_some() || follow_up.is_some();
        if asked_for_more && self.round.is_none() {
            (self.proving, self.proof_state) = (None, None);
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
            self.usage_before = self.usage;
            self.unmetered_in_row = 0;
            self.elapsed_before = self.elapsed;
        }
        if by_verdicts {
            // Whoever takes it up has seen why it stands.
            self.rejections = 0;
            self.final_rejections = None;
            if let Some(last) = self.last.as_mut() {
                last.needs_person = false;
            }
        }
        self.red_proofs = 0;
        self.verdict = None;
        self.message = None;
        self.developer.failures_in_row = 0;
        self.acceptor.failures_in_row = 0;
        self.backoff_due = false;
        self.limit_wait = Duration::ZERO;
        if self.phase == Phase::Between && self.ready {
            self.before_the_first();
        }
    }
}
