//! Taking a task up again: one that was interrupted just goes on, one that had ended gets its allowances anew.

use super::apply::cannot_be_run;
use super::{AgentLoop, Phase};
use crate::event::{CheckResult, StopReason};
use crate::spec::{Cap, ProofPolicy};

/// Whoever takes the task up again no longer wants it to end for these.
const TAKEN_BACK: [StopReason; 4] =
    [StopReason::Cancelled, StopReason::LimitWait, StopReason::SetupFailed, StopReason::NeedsPerson];

impl AgentLoop {
    pub(super) fn resumed(
        &mut self,
        more: Option<u32>,
        follow_up: Option<&str>,
        proof: Option<&ProofPolicy>,
    ) {
        // First of all: on a damaged record the rest would be decided from a state that no run can be in.
        self.leave_unknown_iteration();
        let between = self.current.is_none() && matches!(self.phase, Phase::Between | Phase::Proving);
        // The verdict may be there already and only the last line of the journal be missing.
        let at_the_end = between && self.life.verdict.is_some();
        let asked_for_more = more.is_some() || follow_up.is_some();
        let ended = self.phase == Phase::Over;
        // Who takes the task up again does not want the pause that was asked for before.
        self.life.pausing = None;
        let blocked = self.life.is_paused() && self.question.is_some();
        let by_tests = self.life.is_paused() && !blocked && self.tests_asked();
        let by_proof = self.life.is_paused() && !blocked && !by_tests && self.proof_needs_person();
        if let Some(proof) = proof {
            self.life.policy.proof.clone_from(proof);
        } else if (by_proof || by_tests || blocked) && !ended && !asked_for_more {
            // It died before it could ask.
            return;
        }
        let question = self.question.take().filter(|_| blocked);
        if question.is_some() {
            // What it did until it was stuck says nothing about how it goes on.
            self.unchanged_in_row = 0;
            self.same_failure_in_row = 0;
        }
        if asked_for_more && between {
            self.phase = Phase::Between;
        } else {
            self.prove_anew();
        }
        if self.life.is_paused() && (ended || self.phase == self.before_a_turn()) {
            self.go_on_after_pause();
            if by_proof && !asked_for_more {
                self.prove_after_pause();
            }
        } else if ended || (at_the_end && asked_for_more) {
            self.begin_anew();
        }
        if self.life.verdict.is_some_and(|verdict| TAKEN_BACK.contains(&verdict.reason)) {
            self.life.take_back_verdict();
            self.life.limits.renew_wait();
        }
        if self.phase == Phase::Between && self.life.verdict.is_none() && self.attempted == 0 {
            self.phase = self.before_the_first();
        }
        if let Some(text) = follow_up {
            self.follow_ups.push(match question {
                Some(question) => format!("You asked: {question}\nThe answer: {text}"),
                None => text.to_owned(),
            });
        }
        // Last: it depends on the verdict, which may have been taken back above.
        self.raise_cap(more);
    }

    /// Where lines of the record are missing, the state may be inside an iteration that nobody saw begin, which nothing
    /// could ever end, or in a workspace that nobody saw made.
    fn leave_unknown_iteration(&mut self) {
        let inside = match self.phase {
            Phase::Retry
            | Phase::Turn { .. }
            | Phase::Writing(_)
            | Phase::Collecting
            | Phase::Landing(_)
            | Phase::Checking { .. }
            | Phase::Settling => true,
            Phase::Preparing
            | Phase::Baseline { .. }
            | Phase::Between
            | Phase::Waits(_)
            | Phase::Proving
            | Phase::Over => false,
        };
        if !self.life.workspace.ready && self.phase != Phase::Over {
            self.phase = Phase::Preparing;
        } else if inside && self.current.is_none() {
            self.phase = Phase::Between;
        }
    }

    /// The allowances of an ended task: time, budget, failures, stall, waits. What was proven stays proven, but proves
    /// nothing about what comes now.
    fn begin_anew(&mut self) {
        // Where lines of the record are swapped, the end of an iteration may not have been seen. Its commit is the end of it: the
        // next one is not of the same number.
        let planned = self.current.as_ref().and_then(|current| current.planned.as_ref());
        if planned.is_some_and(|planned| planned.commit.is_some()) {
            self.current = None;
        }
        let promised_before = self.promise().is_some();
        self.life.result = None;
        self.life.take_back_verdict();
        self.life.renew_allowance();
        self.life.limits.begin_anew();
        self.life.backoff_due = false;
        self.failures_in_row = 0;
        self.unchanged_in_row = 0;
        self.same_failure_in_row = 0;
        self.life.proof.red_in_row = 0;
        self.life.proof.state = None;
        self.phase = Phase::Between;
        if self.attempted > 0 {
            // Nobody watched meanwhile: what HEAD is now is the user's own doing, and the new beginning.
            self.tip = None;
            // A check proves something only if it was red in this allowance. What was green at the end of the last
            // one is green before anything is done now.
            self.seen_red = self.life.last_checks.iter().map(|check| red(check.as_ref())).collect();
            let all_green = self.life.last_checks.iter().flatten().filter(|check| check.passed()).count();
            self.opened_green |= all_green > 0 && all_green == self.life.last_checks.len();
            self.rule_due = !promised_before && self.promise().is_some();
        }
    }

    /// Another iteration must be possible: as many more as were asked for, or, where none is left, as many as at first.
    fn raise_cap(&mut self, more: Option<u32>) {
        let at_work = u32::from(self.current.is_none());
        let least = self.attempted.saturating_add(at_work);
        match (more, self.cap.as_mut()) {
            (Some(more), cap) => {
                let iterations = self.attempted.saturating_add(more).max(least);
                match cap {
                    Some(cap) => cap.iterations = iterations,
                    None => self.cap = Some(Cap::by_iter(iterations)),
                }
            }
            (None, Some(cap)) if self.life.verdict.is_none() && cap.iterations < least => {
                let at_first = self.life.policy.cap.filter(|_| self.life.policy.looping);
                let again = at_first.map_or(1, |cap| cap.iterations);
                cap.iterations = self.attempted.saturating_add(again).max(least);
            }
            (None, _) => {}
        }
    }

    /// The workspace, what makes it usable, then the run of the checks that everything is measured by, then the first iteration. A check that
    /// could not be run may be there now; of a series that was cut short nothing counts.
    pub(super) fn before_the_first(&mut self) -> Phase {
        if !self.life.is_prepared() {
            return Phase::Preparing;
        }
        let policy = &self.life.policy;
        let measured = !policy.baseline
            || (self.baseline.len() == policy.checks.len() && !self.baseline.iter().any(cannot_be_run));
        if measured {
            return Phase::Between;
        }
        self.baseline.clear();
        self.life.last_checks.fill(None);
        self.seen_red.fill(false);
        Phase::Baseline { index: 0 }
    }
}

fn red(check: Option<&CheckResult>) -> bool {
    check.is_some_and(|check| !check.passed())
}
