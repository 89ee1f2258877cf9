//! The proof of the commit (L4): when it is wanted, and what follows from what it came to.

use super::{AgentLoop, Phase};
use crate::context::Shortfall;
use crate::engine::stop::{self, Facts};
use crate::event::{
    CheckPhase, CheckResult, Choice, Event, NeedKind, Needs, Outcome, ProofFailure, ProofState, StopReason,
    Unproven,
};
use crate::git::Oid;
use crate::spec::ProofAt;
use crate::task::lifecycle::Proofs;

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
        let now = self.facts_now();
        // Who says why tests must change has done the work, as far as it can.
        let promise = now.promise || self.tests_reason().is_some();
        let here = Facts { checks: self.passed_here(), promise, ..now };
        let Some(current) = self.current.as_mut() else { return Phase::Settling };
        if !stop::complete(&here) {
            return Phase::Settling;
        }
        let unproven = match (self.life.policy.proof.at, &self.tip) {
            (ProofAt::Workspace, _) => Unproven::WorkspaceOnly,
            (ProofAt::Checkout, Some(tip)) if self.life.spec.context.auto_commit => {
                self.life.proof.begin(current.iteration, tip.clone(), &self.baseline);
                return Phase::Proving;
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
        self.life.policy.is_judged() && passed.count() == self.life.policy.checks.len()
    }

    /// The checks of the iteration at work count as passed: in the workspace, and in the proof as far as there is one.
    pub(super) fn checks_hold(&self) -> bool {
        let state = self.current.as_ref().and_then(|current| current.proof.as_ref());
        self.passed_here()
            && match state {
                None
                | Some(ProofState::PassedHere(Unproven::Interrupted) | ProofState::TestsChanged { .. }) => {
                    false
                }
                // In the user's own checkout there is nobody to blame: it may be theirs that is missing.
                Some(ProofState::PassedHere(Unproven::Failed(_))) => !self.life.in_worktree(),
                Some(
                    ProofState::Proven { .. }
                    | ProofState::PassedHere(
                        Unproven::WorkspaceOnly | Unproven::NoCommit | Unproven::Unavailable { .. },
                    ),
                ) => true,
            }
    }

    pub(super) fn proof_event(&mut self, event: &Event) {
        if self.phase != Phase::Proving {
            return;
        }
        let Some(proved) = self.life.proof_event(event) else { return };
        self.red_proof = proved
            .state
            .failure()
            .map(|failure| RedProof { failure: failure.clone(), checks: proved.failed() });
        self.tests_proved(&proved.state, proved.failed());
        let Some(current) = self.current.as_mut() else { return self.proven_again(proved.state) };
        current.checks.extend(proved.checks);
        current.proof = Some(proved.state);
        self.phase = Phase::Settling;
    }

    /// Ended from outside in the middle of a proof: nothing is proven.
    pub(super) fn proof_interrupted(&mut self) {
        if let Some(current) = self.current.as_mut() {
            current.proof = Some(Proofs::INTERRUPTED);
            self.phase = Phase::Settling;
        } else {
            self.life.proof.state = Some(Proofs::INTERRUPTED);
            self.phase = Phase::Between;
        }
    }

    /// Another process goes on. A proof that it did not make itself is none to it: it may not even have happened.
    pub(super) fn prove_anew(&mut self) {
        if self.phase == Phase::Proving {
            return self.life.proof.begin_anew();
        }
        let completed = self.life.is_completed();
        let proof = match (&self.phase, self.current.as_mut()) {
            (Phase::Settling, Some(current)) => &mut current.proof,
            (Phase::Between, None) if completed => &mut self.life.proof.state,
            _ => return,
        };
        let Some(commit) = proof.as_ref().and_then(ProofState::proven).cloned() else { return };
        *proof = None;
        if let Some(current) = self.current.as_mut() {
            current.checks.retain(|check| !check.phase.is_of_proof());
        }
        self.prove(commit);
    }

    fn prove(&mut self, commit: Oid) {
        self.life.proof.begin(self.attempted.saturating_sub(1), commit, &self.baseline);
        self.phase = Phase::Proving;
    }

    /// A person takes up what paused for a red proof: what was missing may be there now. Else the agent goes on.
    pub(super) fn prove_after_pause(&mut self) {
        self.life.proof.red_in_row = 0;
        let Some(red) = self.red_proof.as_ref() else { return };
        match self.life.policy.proof.at {
            ProofAt::Checkout => self.prove(red.failure.commit_id.clone()),
            ProofAt::Workspace => {
                self.red_proof = None;
                self.proven_again(ProofState::PassedHere(Unproven::WorkspaceOnly));
            }
        }
    }

    /// What came of a proof between two iterations.
    fn proven_again(&mut self, state: ProofState) {
        self.phase = Phase::Between;
        let (failed, changed) = (state.failure().is_some(), state.has_changed_tests());
        self.life.proof.state = Some(state);
        if self.life.verdict.is_some() {
            return;
        }
        if changed {
            // The agent hears of it in the next turn.
        } else if failed {
            self.life.proof.red_in_row = 1;
        } else {
            self.life.verdict =
                Some(stop::Verdict { outcome: Outcome::Completed, reason: StopReason::Checks });
        }
    }

    /// An iteration is over: its proof is the newest one, and the agent is told of a red one once.
    pub(super) fn proof_settled(&mut self) {
        let state = self.current.as_mut().and_then(|current| current.proof.take());
        match &state {
            Some(ProofState::PassedHere(Unproven::Failed(_))) => {
                self.life.proof.red();
            }
            Some(ProofState::Proven { .. }) => self.life.proof.red_in_row = 0,
            // The checks passed on the commit: nothing is missing in it.
            Some(ProofState::TestsChanged { .. }) => self.life.proof.red_in_row = 0,
            Some(ProofState::PassedHere(_)) | None => {}
        }
        if state.as_ref().and_then(ProofState::failure).is_none() {
            self.red_proof = None;
        }
        self.life.proof.state = state;
    }

    /// The agent was told what differs, and it still does.
    pub(super) fn proof_needs_person(&self) -> bool {
        self.life.in_worktree() && self.life.proof.red_too_often() && self.red_proof.is_some()
    }

    pub(super) fn proof_needs(&self) -> Option<Needs> {
        let red = self.red_proof.as_ref().filter(|_| self.proof_needs_person())?;
        Some(Needs {
            kind: NeedKind::Proof { failure: Some(red.failure.clone()) },
            choices: vec![Choice::Resume, Choice::ResumeUnproven, Choice::Kill],
        })
    }

    /// What the next turn is told of a red proof.
    pub(super) fn shortfall(&self) -> Option<Shortfall<'_>> {
        self.red_proof.as_ref().map(|red| Shortfall { failure: &red.failure, checks: &red.checks })
    }
}
