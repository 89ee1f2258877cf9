//! The user's tests are the yardstick (L20): what follows when a commit passes with its own tests and not with those that were
//! there before. The agent is told once; then a person decides.

use super::{AgentLoop, Phase};
use crate::context::{RedOriginals, TestsTold};
use crate::engine::stop::{Facts, Verdict};
use crate::event::{CheckResult, Choice, NeedKind, Needs, Outcome, ProofState, StopReason};

/// Where the loop stands with tests that its agent changed.
#[derive(Debug, Clone, Default)]
pub(super) struct ChangedTests {
    /// What the checks printed that fail with the tests as they were, while the newest commit does.
    red: Option<Vec<CheckResult>>,
    /// A turn was told of it.
    told: bool,
    /// It paused for a person to decide, and no turn has begun since.
    asked: bool,
}

impl AgentLoop {
    /// A proof is over.
    pub(super) fn tests_proved(&mut self, state: &ProofState, failed: Vec<CheckResult>) {
        self.tests.red = state.has_changed_tests().then_some(failed);
        if self.tests.red.is_none() {
            self.tests.told = false;
        }
    }

    /// A turn begins, and hears of it.
    pub(super) fn tests_told_now(&mut self) {
        self.tests.told |= self.tests.red.is_some();
        self.tests.asked = false;
    }

    /// What the next turn is told.
    pub(super) fn tests_told(&self) -> TestsTold<'_> {
        let red = self.tests.red.as_deref().zip(self.life.proof.tests.as_ref());
        TestsTold {
            mode: (!self.life.policy.checks.is_empty()).then_some(self.life.policy.tests.mode),
            red: red.map(|(failed, tests)| RedOriginals { tests, failed }),
        }
    }

    /// The agent of the iteration at work says why tests must change.
    pub(super) fn tests_reason(&self) -> Option<&String> {
        self.current.as_ref().and_then(|current| current.tests_changed.as_ref())
    }

    /// An iteration is over: a reason that was given is kept with what it is for.
    pub(super) fn tests_settled(&mut self) {
        let reason = self.tests_reason().cloned();
        let red = self.tests.red.is_some();
        if let Some(tests) = self.life.proof.tests.as_mut().filter(|_| red) {
            tests.reason = reason.or(tests.reason.take());
        }
    }

    /// Whether a person decides now: the agent has said why, or was told already, or no iteration is left to tell it in.
    pub(super) fn tests_need_person(&self, verdict: Option<Verdict>, facts: &Facts) -> bool {
        let proven_red = self.life.proof.state.as_ref().is_some_and(ProofState::has_changed_tests);
        let has_reason = self.life.proof.tests.as_ref().is_some_and(|tests| tests.reason.is_some());
        let ends = verdict.is_some_and(|verdict| verdict.outcome != Outcome::Failed);
        proven_red && !facts.blocked && !facts.unheard && (has_reason || self.tests.told || ends)
    }

    /// The pause is for that.
    pub(super) fn tests_ask(&mut self) {
        self.tests.asked = true;
    }

    /// Returns true while a person can decide.
    pub(super) fn tests_asked(&self) -> bool {
        self.tests.asked
    }

    pub(super) fn tests_needs(&self) -> Option<Needs> {
        let tests = self.life.proof.tests.as_ref().filter(|_| self.tests.asked)?;
        Some(Needs {
            kind: NeedKind::TestsChanged {
                changed: tests.changed.clone(),
                changed_total: tests.changed_total,
                inline: tests.inline.clone(),
                failed: tests.failed.clone(),
                fewer: tests.fewer,
                reason: tests.reason.clone(),
            },
            choices: vec![Choice::Approve, Choice::Reject, Choice::Kill],
        })
    }

    /// A person accepts the changed tests: the work is complete, and not verified.
    pub(super) fn tests_approved(&mut self) {
        if !self.tests.asked || self.phase == Phase::Over {
            return;
        }
        let Some(tests) = self.life.proof.tests.as_mut() else { return };
        tests.approved = true;
        self.tests = ChangedTests::default();
        self.life.detail = None;
        self.life.verdict = Some(Verdict { outcome: Outcome::Completed, reason: StopReason::Checks });
        self.phase = Phase::Between;
    }

    /// A person does not, and may say what is to be done instead.
    pub(super) fn tests_rejected(&mut self, text: Option<&str>) {
        if !self.tests.asked || self.phase == Phase::Over {
            return;
        }
        self.tests.asked = false;
        if let Some(tests) = self.life.proof.tests.as_mut() {
            tests.reason = None;
        }
        let said = "The tests must stay as they were before the task. Make the work pass with them.";
        self.follow_ups.push(match text.map(str::trim).filter(|text| !text.is_empty()) {
            Some(text) => format!("{said}\n{text}"),
            None => said.to_owned(),
        });
    }
}
