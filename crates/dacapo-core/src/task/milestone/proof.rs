//! The proof of the whole milestone (L4): its checks pass on the commit itself, or it is not verified.
//!
//! It comes between the checks of the final state and the Acceptor: a red one is a rejection by the engine, whose reason the
//! Developer hears, and costs no turn. Where a person accepts the milestone against a verdict there is no round; then a
//! red proof only means that nothing is verified.

use super::{Milestone, Phase, Question, Work};
use crate::context::Shortfall;
use crate::event::{CheckResult, Event, ProofState, Unproven};
use crate::git::Oid;
use crate::spec::ProofAt;
use crate::task::lifecycle::Proofs;

/// What checks printed is told so far.
const BYTES_TOLD: usize = 8 << 10;

impl Milestone {
    /// The commit on which all checks passed in the workspace.
    fn green_here(&self) -> Option<Oid> {
        let commit = self.life.last_checks.first()?.as_ref()?.commit.clone()?;
        let green = |check: &Option<CheckResult>| {
            check.as_ref().is_some_and(|check| check.passed() && check.commit.as_ref() == Some(&commit))
        };
        self.life.last_checks.iter().all(green).then_some(commit)
    }

    /// Its last commit is to be proven, where all checks passed on it here.
    pub(super) fn begin_proof(&mut self) {
        if self.life.proof.state.is_some() || self.life.proof.at_work.is_some() {
            return;
        }
        let Some(commit) = self.green_here() else { return };
        match self.life.policy.proof.at {
            ProofAt::Checkout => self.life.proof.begin(self.rounds.saturating_sub(1), commit, &[]),
            ProofAt::Workspace => {
                self.life.proof.state = Some(ProofState::PassedHere(Unproven::WorkspaceOnly));
            }
        }
    }

    pub(super) fn proof_event(&mut self, event: &Event) {
        let Some(proved) = self.life.proof_event(event) else { return };
        if proved.state.proven().is_some() {
            self.life.proof.red_in_row = 0;
        }
        let judged = self.life.in_worktree() && self.round.is_some();
        if let Some(failure) = proved.state.failure().filter(|_| judged) {
            self.life.proof.red();
            let failed = proved.failed();
            let reason = Shortfall { failure, checks: &failed }.told(BYTES_TOLD);
            self.phase = Phase::Overdue { reason };
            self.red_proof = Some(failure.clone());
        }
        self.life.proof.state = Some(proved.state);
    }

    /// Ended from outside in the middle of a proof: nothing is proven.
    pub(super) fn proof_interrupted(&mut self) {
        if self.life.proof.at_work.take().is_some() {
            self.life.proof.state = Some(Proofs::INTERRUPTED);
        }
    }

    /// Another process goes on. A proof that it did not make itself is none to it.
    pub(super) fn prove_anew(&mut self) {
        if self.life.proof.at_work.is_some() {
            return self.life.proof.begin_anew();
        }
        let by_another = |state: &mut ProofState| match state {
            ProofState::Proven { .. } | ProofState::PassedHere(Unproven::Interrupted) => true,
            ProofState::PassedHere(_) | ProofState::TestsChanged { .. } => false,
        };
        if self.life.proof.state.take_if(by_another).is_none() {
            return;
        }
        let reported = self.round.as_ref().is_some_and(|round| Work::is_final(round.work.as_ref()));
        if self.life.is_completed() || reported {
            self.begin_proof();
        }
    }

    /// The Developer was told what differs, and it still does.
    pub(super) fn proof_needs_person(&self) -> bool {
        self.life.proof.red_too_often()
    }

    pub(super) fn asked_about_proof(&self) -> bool {
        self.question == Some(Question::Proof)
    }
}
