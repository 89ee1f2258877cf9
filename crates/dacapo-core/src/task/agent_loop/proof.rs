//! The proof of the commit (L4): when it is wanted, and what follows from what it came to.

use super::{AgentLoop, Phase};
use crate::context::{self, Shortfall};
use crate::engine::proving::Proving;
use crate::engine::stop::{self, Facts, Verdict};
use crate::event::{
    CheckPhase, CheckResult, Event, Needs, Outcome, ProofFailure, ProofState, StopReason, Unproven,
};
use crate::spec::{Place, ProofAt};

/// So many red proofs in a row need a person: the agent was told after the first.
const MOST_RED_PROOFS: u32 = 2;

/// A proof that failed, as the agent and people hear of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RedProof {
    pub(super) failure: ProofFailure,
    /// What the failed checks printed.
    pub(super) checks: Vec<CheckResult>,
}

impl AgentLoop {
    /// All checks have run in the workspace. Where that would complete the loop, the commit is proven first.
    pub(super) fn after_checks(&mut self) -> Phase {
        let here = Facts { checks: self.passed_here(), ..self.facts_now() };
        let Some(current) = self.current.as_mut() else { return Phase::Settling };
        if !stop::complete(&here) {
            return Phase::Settling;
        }
        let unproven = match (self.policy.proof.at, &self.tip) {
            (ProofAt::Workspace, _) => Unproven::WorkspaceOnly,
            (ProofAt::Checkout, Some(tip)) if self.spec.context.auto_commit => {
                return Phase::Proving(Proving::new(current.iteration, tip.clone()));
            }
            (ProofAt::Checkout, _) => Unproven::NoCommit,
        };
        current.proof = Some(ProofState::PassedHere(unproven));
        Phase::Settling
    }

    /// All checks passed in the workspace after this iteration.
    fn passed_here(&self) -> bool {
        let checks = self.current.iter().flat_map(|current| &current.checks);
        let passed = checks.filter(|check| check.phase == CheckPhase::Iteration && check.passed());
        !self.policy.checks.is_empty() && passed.count() == self.policy.checks.len()
    }

    /// The checks of the iteration at work count as passed: in the workspace, and in the proof as far as there is one.
    pub(super) fn checks_hold(&self) -> bool {
        let state = self.current.as_ref().and_then(|current| current.proof.as_ref());
        self.passed_here()
            && match state {
                None | Some(ProofState::PassedHere(Unproven::Interrupted)) => false,
                // In the user's own checkout there is nobody to blame: it may be theirs that is missing.
                Some(ProofState::PassedHere(Unproven::Failed(_))) => !self.in_worktree(),
                Some(
                    ProofState::Proven { .. }
                    | ProofState::PassedHere(
                        Unproven::WorkspaceOnly | Unproven::NoCommit | Unproven::Unavailable { .. },
                    ),
                ) => true,
            }
    }

    fn in_worktree(&self) -> bool {
        match self.spec.place {
            Place::Worktree { .. } => true,
            Place::InPlace { .. } => false,
        }
    }

    pub(super) fn proof_event(&mut self, event: &Event) {
        let Phase::Proving(proving) = &mut self.phase else { return };
        let Some(state) = proving.take_in(event, &self.policy) else { return };
        let checks = proving.checks().to_vec();
        self.red_proof = state.failure().map(|failure| RedProof {
            failure: failure.clone(),
            checks: checks.iter().filter(|check| !check.passed()).cloned().collect(),
        });
        let Some(current) = self.current.as_mut() else { return self.proven_again(state) };
        current.checks.extend(checks);
        current.proof = Some(state);
        self.phase = Phase::Settling;
    }

    /// Ended from outside in the middle of a proof: nothing is proven.
    pub(super) fn proof_interrupted(&mut self) {
        let interrupted = Some(ProofState::PassedHere(Unproven::Interrupted));
        if let Some(current) = self.current.as_mut() {
            current.proof = interrupted;
            self.phase = Phase::Settling;
        } else {
            self.proof_state = interrupted;
            self.phase = Phase::Between;
        }
    }

    /// Another process goes on. A proof that it did not make itself is none to it: it may not even have happened.
    pub(super) fn prove_anew(&mut self) {
        if let Phase::Proving(proving) = &mut self.phase {
            return proving.begin_anew();
        }
        let completed = self.verdict.is_some_and(|verdict| verdict.outcome == Outcome::Completed);
        let proof = match (&self.phase, self.current.as_mut()) {
            (Phase::Settling, Some(current)) => &mut current.proof,
            (Phase::Between, None) if completed => &mut self.proof_state,
            _ => return,
        };
        let Some(commit) = proof.as_ref().and_then(ProofState::proven).cloned() else { return };
        *proof = None;
        if let Some(current) = self.current.as_mut() {
            current.checks.retain(|check| check.phase != CheckPhase::Proof);
        }
        self.phase = Phase::Proving(Proving::new(self.attempted.saturating_sub(1), commit));
    }

    /// A person takes up what paused for a red proof: what was missing may be there now. Else the agent goes on.
    pub(super) fn prove_after_pause(&mut self) {
        self.red_proofs = 0;
        let Some(red) = self.red_proof.as_ref() else { return };
        match self.policy.proof.at {
            ProofAt::Checkout => {
                let commit = red.failure.commit_id.clone();
                self.phase = Phase::Proving(Proving::new(self.attempted.saturating_sub(1), commit));
            }
            ProofAt::Workspace => {
                self.red_proof = None;
                self.proven_again(ProofState::PassedHere(Unproven::WorkspaceOnly));
            }
        }
    }

    /// What came of a proof between two iterations.
    fn proven_again(&mut self, state: ProofState) {
        self.phase = Phase::Between;
        let failed = state.failure().is_some();
        self.proof_state = Some(state);
        if self.verdict.is_some() {
            return;
        }
        if failed {
            self.red_proofs = 1;
        } else {
            self.verdict = Some(Verdict { outcome: Outcome::Completed, reason: StopReason::Checks });
        }
    }

    /// An iteration is over: its proof is the newest one, and the agent is told of a red one once.
    pub(super) fn proof_settled(&mut self) {
        let state = self.current.as_mut().and_then(|current| current.proof.take());
        match &state {
            Some(ProofState::PassedHere(Unproven::Failed(_))) => {
                self.red_proofs = self.red_proofs.saturating_add(1);
            }
            Some(ProofState::Proven { .. }) => self.red_proofs = 0,
            Some(ProofState::PassedHere(_)) | None => {}
        }
        if state.as_ref().and_then(ProofState::failure).is_none() {
            self.red_proof = None;
        }
        self.proof_state = state;
    }

    /// The agent was told what differs, and it still does.
    pub(super) fn proof_needs_person(&self) -> bool {
        self.in_worktree() && self.red_proofs >= MOST_RED_PROOFS && self.red_proof.is_some()
    }

    pub(super) fn proof_needs(&self) -> Option<Needs> {
        let red = self.red_proof.as_ref().filter(|_| self.proof_needs_person())?;
        let name = &self.spec.name;
        Some(Needs {
            kind: "proof".into(),
            question: context::proof_question(&red.failure),
            options: vec![
                format!("dacapo resume {name}"),
                format!("dacapo resume {name} --proof workspace"),
                format!("dacapo kill {name}"),
            ],
        })
    }

    /// What the next turn is told of a red proof.
    pub(super) fn shortfall(&self) -> Option<Shortfall<'_>> {
        self.red_proof.as_ref().map(|red| Shortfall { failure: &red.failure, checks: &red.checks })
    }
}
