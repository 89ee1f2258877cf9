//! The proof of the whole milestone (L4): its checks pass on the commit itself, or it is not verified.
//!
//! It comes between the checks of the final state and the Acceptor: a red one is a rejection by the engine, whose reason the
//! Developer hears, and costs no turn. Where a person accepts the milestone against a verdict there is no round; then a
//! red proof only means that nothing is verified.

use super::{Milestone, Phase, Question, Work};
use crate::context::Shortfall;
use crate::engine::proving::Proving;
use crate::event::{CheckResult, Event, Outcome, ProofState, Unproven};
use crate::git::Oid;
use crate::spec::{Place, ProofAt};

/// So many red proofs in a row need a person: the Developer was told after the first.
const MOST_RED_PROOFS: u32 = 2;
/// What checks printed is told so far.
const BYTES_TOLD: usize = 8 << 10;

impl Milestone {
    /// The commit on which all checks passed in the workspace.
    fn green_here(&self) -> Option<Oid> {
        let commit = self.last_checks.first()?.as_ref()?.commit.clone()?;
        let green = |check: &Option<CheckResult>| {
            check.as_ref().is_some_and(|check| check.passed() && check.commit.as_ref() == Some(&commit))
        };
        self.last_checks.iter().all(green).then_some(commit)
    }

    /// Its last commit is to be proven, where all checks passed on it here.
    pub(super) fn begin_proof(&mut self) {
        if self.proof_state.is_some() || self.proving.is_some() {
            return;
        }
        let Some(commit) = self.green_here() else { return };
        match self.policy.proof.at {
            ProofAt::Checkout => {
                self.proving = Some(Proving::new(self.rounds.saturating_sub(1), commit));
            }
            ProofAt::Workspace => {
                self.proof_state = Some(ProofState::PassedHere(Unproven::WorkspaceOnly));
            }
        }
    }

    pub(super) fn proof_event(&mut self, event: &Event) {
        let Some(proving) = self.proving.as_mut() else { return };
        let Some(state) = proving.take_in(event, &self.policy) else { return };
        let failed: Vec<CheckResult> =
            proving.checks().iter().filter(|check| !check.passed()).cloned().collect();
        self.proving = None;
        if state.proven().is_some() {
            self.red_proofs = 0;
        }
        let in_worktree = matches!(self.spec.place, Place::Worktree { .. });
        if let (Some(failure), true, true) = (state.failure(), in_worktree, self.round.is_some()) {
            self.red_proofs = self.red_proofs.saturating_add(1);
            let reason = Shortfall { failure, checks: &failed }.told(BYTES_TOLD);
            self.phase = Phase::Overdue { reason };
            self.proof_question = Some(crate::context::proof_question(failure));
        }
        self.proof_state = Some(state);
    }

    /// Ended from outside in the middle of a proof: nothing is proven.
    pub(super) fn proof_interrupted(&mut self) {
        if self.proving.take().is_some() {
            self.proof_state = Some(ProofState::PassedHere(Unproven::Interrupted));
        }
    }

    /// Another process goes on. A proof that it did not make itself is none to it.
    pub(super) fn prove_anew(&mut self) {
        if let Some(proving) = self.proving.as_mut() {
            return proving.begin_anew();
        }
        let by_another = |state: &mut ProofState| match state {
            ProofState::Proven { .. } | ProofState::PassedHere(Unproven::Interrupted) => true,
            ProofState::PassedHere(_) => false,
        };
        if self.proof_state.take_if(by_another).is_none() {
            return;
        }
        let completed = self.verdict.is_some_and(|verdict| verdict.outcome == Outcome::Completed);
        let reported = self.round.as_ref().is_some_and(|round| Work::is_final(round.work.as_ref()));
        if completed || reported {
            self.begin_proof();
        }
    }

    /// The Developer was told what differs, and it still does.
    pub(super) fn proof_needs_person(&self) -> bool {
        self.red_proofs >= MOST_RED_PROOFS
    }

    pub(super) fn asked_about_proof(&self) -> bool {
        self.question == Some(Question::Proof)
    }
}
