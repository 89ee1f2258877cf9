//! What turns, checks and models come to in the scripted world.

use super::{Turn, World};
use crate::engine::machine::{CheckPlan, TurnPlan, WritingPlan};
use crate::event::{CheckResult, TurnRecord, Usage, WritingEnd, WritingRecord};

impl World {
    pub(in super::super) fn run_check(&mut self, plan: &CheckPlan) -> CheckResult {
        self.checks.push(plan.clone());
        let (code, tail) = (self.on_check)(plan);
        CheckResult {
            phase: plan.phase,
            iteration: plan.iteration,
            index: plan.index,
            command: plan.command.clone(),
            exit_code: Some(code),
            timed_out: false,
            duration_ms: 5,
            commit: plan.commit.clone(),
            fingerprint: tail.clone(),
            tail,
            changed_files: Vec::new(),
            tests_run: None,
            exposed: None,
        }
    }

    pub(in super::super) fn turn_record(&self, plan: &TurnPlan, turn: &Turn) -> TurnRecord {
        TurnRecord {
            turn: plan.turn,
            iteration: plan.iteration,
            end: turn.end.clone(),
            session: turn.session.clone().or_else(|| plan.session.clone()),
            promise: turn.promise,
            blocked: turn.blocked.clone(),
            tests_changed: turn.tests_changed.clone(),
            summary: turn.summary.clone(),
            usage: turn.usage,
            duration_ms: 5,
            output_bytes: 0,
            exit_code: None,
            not_allowed: turn.not_allowed.clone(),
            reply: None,
            timed_out: false,
            stderr_tail: turn.stderr_tail.clone(),
        }
    }

    pub(in super::super) fn writing_record(&self, plan: &WritingPlan, end: WritingEnd) -> WritingRecord {
        WritingRecord {
            iteration: plan.iteration,
            what: plan.what,
            end,
            by: "model".into(),
            usage: Usage { input: 3, output: 1, cached: 0, ..Usage::default() },
            duration_ms: 5,
        }
    }
}
