//! The proof of a commit (L4), as far as all kinds agree: one at a time, what it came to, and that red ones in a row need
//! a person. When it is wanted, and who hears of a red one, is for the kind to say.

use super::Lifecycle;
use crate::engine::machine::{Effect, Input, Step};
use crate::engine::proving::Proving;
use crate::event::{CheckResult, Event, ProofState, TestsResult, Unproven};
use crate::git::Oid;

/// How many red proofs in a row need a person: the agent was told after the first.
const MOST_RED: u32 = 2;

/// Proofs of a task's commits.
#[derive(Debug, Clone, Default)]
pub(crate) struct Proofs {
    /// The proof that is being made.
    pub(crate) at_work: Option<Proving>,
    /// What the newest one came to.
    pub(crate) state: Option<ProofState>,
    /// What the newest commit that was proven changes of the tests, and how it does with them as they were.
    pub(crate) tests: Option<TestsResult>,
    /// Those in a row that failed.
    pub(crate) red_in_row: u32,
}

/// A proof that has come to its end.
#[derive(Debug)]
pub(crate) struct Proved {
    pub(crate) state: ProofState,
    /// What its checks said.
    pub(crate) checks: Vec<CheckResult>,
}

impl Proved {
    pub(crate) fn failed(&self) -> Vec<CheckResult> {
        self.checks.iter().filter(|check| !check.passed()).cloned().collect()
    }
}

impl Proofs {
    pub(crate) const INTERRUPTED: ProofState = ProofState::PassedHere(Unproven::Interrupted);

    /// `before`: what each check came to before anything was done.
    pub(crate) fn begin(&mut self, iteration: u32, commit: Oid, before: &[CheckResult]) {
        let before = before.iter().map(|check| check.tests_run).collect();
        self.at_work = Some(Proving::new(iteration, commit, before));
    }

    /// Another process goes on with it, and has nothing but the commit.
    pub(crate) fn begin_anew(&mut self) {
        self.at_work.iter_mut().for_each(Proving::begin_anew);
    }

    pub(crate) fn red(&mut self) {
        self.red_in_row = self.red_in_row.saturating_add(1);
    }

    /// The agent was told what differs, and it still does.
    pub(crate) fn red_too_often(&self) -> bool {
        self.red_in_row >= MOST_RED
    }

    /// What came after the commit that was proven is not.
    pub(crate) fn holds_at(&self, commit: Option<&Oid>) -> bool {
        self.state.as_ref().and_then(ProofState::proven).is_some_and(|at| Some(at) == commit)
    }
}

impl Lifecycle {
    /// What the proof at work needs done.
    pub(crate) fn proves(&self) -> Option<Step> {
        self.proof.at_work.as_ref().map(|proving| proving.step(&self.policy))
    }

    pub(super) fn plan_proof(&self) -> Option<Effect> {
        self.proof.at_work.as_ref().map(|proving| proving.effect(&self.policy, self.workspace.base.as_ref()))
    }

    /// What follows from an input for it.
    pub(crate) fn proving(&self, input: &Input) -> Vec<Event> {
        self.proof.at_work.iter().filter_map(|proving| proving.decide(input)).collect()
    }

    /// Takes in what happened. Some: it is over, and this is what it came to.
    pub(crate) fn proof_event(&mut self, event: &Event) -> Option<Proved> {
        let proving = self.proof.at_work.as_mut()?;
        let state = proving.take_in(event, &self.policy)?;
        let checks = proving.checks().cloned().collect();
        self.proof.tests = proving.tests(&state, &self.policy);
        self.proof.at_work = None;
        Some(Proved { state, checks })
    }
}
