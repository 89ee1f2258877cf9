//! What every kind of task lives through alike: the workspace and its setup, budget and time, limits and waiting, the
//! proof of a commit, who wants it to pause or end, and its result.
//!
//! A machine holds one [`Lifecycle`] and composes it with what is its own: which turn is next, and what its result means.
//! Nothing here knows a kind. Where kinds differ, the difference has a name and is said by the caller ([`Relief`],
//! [`Company`], [`Known`], [`Tally`]).

use std::sync::Arc;
use std::time::Duration;

use crate::engine::machine::{Begin, Effect, Step};
use crate::engine::stop::{self, Verdict};
use crate::event::{
    CheckPhase, CheckResult, Choice, Envelope, Event, NeedKind, Needs, Outcome, Proof, ProofState,
    RoomReceipt, StopDetail, StopReason, TaskResult, TestsResult, Usage,
};
use crate::git::Oid;
use crate::spec::{LoopPolicy, TaskSpec};

mod budget;
mod conversation;
mod proofs;
mod usage_limits;
mod workspace;

pub(crate) use budget::Budget;
pub(crate) use conversation::{Company, Conversation, never_run};
pub(crate) use proofs::Proofs;
pub(crate) use usage_limits::{Limits, Relief, Wait};
pub(crate) use workspace::Workspace;

/// A person is needed.
pub(crate) const PAUSED: Verdict = Verdict { outcome: Outcome::Paused, reason: StopReason::NeedsPerson };

/// The part of a task's state that all kinds share.
#[derive(Debug, Clone)]
pub(crate) struct Lifecycle {
    pub(crate) spec: Arc<TaskSpec>,
    /// As asked for, and as changed since.
    pub(crate) policy: LoopPolicy,
    pub(crate) workspace: Workspace,
    pub(crate) budget: Budget,
    pub(crate) limits: Limits,
    pub(crate) proof: Proofs,
    /// How its commands are confined.
    room: Option<RoomReceipt>,
    /// The newest result of each check in the workspace, by its index.
    pub(crate) last_checks: Vec<Option<CheckResult>>,
    pub(crate) turns: u32,
    /// A failure lies behind: a pause comes before the next turn.
    pub(crate) backoff_due: bool,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) detail: Option<StopDetail>,
    /// Who wants it to pause as soon as that loses nothing.
    pub(crate) pausing: Option<String>,
    pub(crate) result: Option<TaskResult>,
    /// Active time at the newest line.
    pub(crate) elapsed: Duration,
    /// How much of it had passed when the present allowance began.
    elapsed_before: Duration,
}

/// What is known of a task when a process takes it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nothing has happened yet.
    Nothing,
    /// It has a past.
    Past,
}

/// What a task has come to, counted in what its kind does again and again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) attempted: u32,
    pub(crate) succeeded: u32,
    pub(crate) finished: u32,
}

/// What a kind adds to its result.
#[derive(Debug)]
pub(crate) struct Ending<'a> {
    pub(crate) tally: Tally,
    /// What was asked for is proven, as far as that is for the kind to say.
    pub(crate) verified: bool,
    pub(crate) stderr_tail: Option<String>,
    /// The checks before anything was done.
    pub(crate) before: &'a [CheckResult],
}

/// What the driver knows when a task ends ([`crate::engine::machine::Input::Finishing`]).
#[derive(Debug, Clone, Copy)]
pub(crate) struct AtTheEnd<'a> {
    pub(crate) last_commit: Option<&'a Oid>,
    pub(crate) trust_files: &'a [String],
    pub(crate) elapsed: Duration,
}

impl Lifecycle {
    pub(crate) fn new(spec: Arc<TaskSpec>) -> Self {
        Self {
            policy: spec.policy.clone(),
            workspace: Workspace::default(),
            budget: Budget::default(),
            limits: Limits::of(spec.agents.len()),
            proof: Proofs::default(),
            room: None,
            last_checks: vec![None; spec.policy.checks.len()],
            turns: 0,
            backoff_due: false,
            verdict: None,
            detail: None,
            pausing: None,
            result: None,
            elapsed: Duration::ZERO,
            elapsed_before: Duration::ZERO,
            spec,
        }
    }

    /// What every line says, whatever it is about.
    pub(crate) fn at(&mut self, line: &Envelope) {
        self.elapsed = Duration::from_millis(line.elapsed_ms);
        if let Event::RoomTested(receipt) = &line.event {
            self.room = Some(receipt.clone());
        }
    }

    /// A process takes the task up.
    pub(crate) fn begin(&self, begin: &Begin, known: Known) -> Event {
        let Begin { pid, version, more_iterations, follow_up, proof } = begin.clone();
        let wants_more = more_iterations.is_some() || follow_up.is_some() || proof.is_some();
        if known == Known::Nothing && self.verdict.is_none() && !wants_more {
            Event::TaskStarted { pid, version }
        } else {
            Event::Resumed { pid, version, more_iterations, follow_up, agent: None, proof }
        }
    }

    /// Active time in the present allowance.
    pub(crate) fn time_in_allowance(&self) -> Duration {
        self.elapsed.saturating_sub(self.elapsed_before)
    }

    pub(crate) fn usage_in_allowance(&self) -> Usage {
        self.budget.in_allowance()
    }

    /// Whether the budget is used up, with this on top.
    pub(crate) fn over_budget(&self, more: &Usage) -> bool {
        stop::over_budget(&self.policy, &self.usage_in_allowance().plus(more))
    }

    /// Time and money count from here on: whoever takes up a task that had ended gives it as much again.
    pub(crate) fn renew_allowance(&mut self) {
        self.budget.renew();
        self.elapsed_before = self.elapsed;
    }

    /// It does not end after all.
    pub(crate) fn take_back_verdict(&mut self) {
        self.verdict = None;
        self.detail = None;
    }

    pub(crate) fn ends(&mut self, outcome: Outcome, reason: StopReason, detail: StopDetail) {
        self.verdict = Some(Verdict { outcome, reason });
        self.detail = Some(detail);
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.verdict == Some(PAUSED)
    }

    pub(crate) fn is_completed(&self) -> bool {
        self.verdict.is_some_and(|verdict| verdict.outcome == Outcome::Completed)
    }

    /// Somebody or something wants it to end, or to pause now. What ends it already stands; only of a pause a person can still
    /// make an end.
    pub(crate) fn stop(&mut self, by: StopDetail, reason: StopReason) {
        let for_good = matches!(reason, StopReason::Cancelled | StopReason::Abandoned);
        // The first reason stands. Otherwise a SIGTERM during the clearing up would turn a completed task into a
        // cancelled one.
        if self.verdict.is_none() || (self.is_paused() && for_good) {
            let outcome = match reason {
                StopReason::LimitWait => Outcome::TimeElapsed,
                StopReason::NeedsPerson => Outcome::Paused,
                _ => Outcome::Cancelled,
            };
            self.ends(outcome, reason, by);
        }
    }

    /// What a task asks that somebody paused.
    pub(crate) fn needs_by_hand(&self) -> Needs {
        let by = match &self.detail {
            Some(StopDetail::By { by }) => Some(by.clone()),
            Some(_) | None => None,
        };
        Needs { kind: NeedKind::Resume { by }, choices: vec![Choice::Resume, Choice::Kill] }
    }

    /// The plan of a step that all kinds have alike; `wait` is what the task waits for. Whatever else there is, a kind plans
    /// itself.
    pub(crate) fn plan(&self, step: Step, wait: Option<&Wait>) -> Effect {
        let planned = match step {
            Step::PrepareWorkspace => Some(Effect::PrepareWorkspace),
            Step::RunSetup { index } => self.plan_setup(index),
            Step::PrepareProof { .. }
            | Step::FindHidden { .. }
            | Step::RunCheck {
                phase: CheckPhase::Proof | CheckPhase::Originals | CheckPhase::HeldOut, ..
            } => self.plan_proof(),
            Step::BeginTurn(start) => Some(Effect::BeginTurn(start)),
            Step::KeepWork => Some(Effect::KeepWork),
            Step::Sleep { until, why } => Some(Effect::Sleep { until, why }),
            Step::ShareLimit { agent } => self.plan_sharing(agent, wait),
            Step::AwaitProbe { agent, until } => Some(Effect::AwaitProbe { agent, until }),
            Step::Finish => Some(Effect::Finish { base: self.workspace.base.clone() }),
            Step::Settle
            | Step::RunCheck { phase: CheckPhase::Baseline | CheckPhase::Iteration, .. }
            | Step::RunTurn { .. }
            | Step::Write { .. }
            | Step::PrepareCommit { .. }
            | Step::Land { .. }
            | Step::InspectWork { .. } => None,
        };
        planned.unwrap_or(Effect::Settle)
    }

    /// The end, after what a person is asked.
    pub(crate) fn finish(&self, needs: Option<Needs>, at: AtTheEnd<'_>, own: Ending<'_>) -> Vec<Event> {
        let Some(verdict) = self.verdict else { return Vec::new() };
        let paused = needs.map(|needs| Event::Paused { needs });
        let usage = &self.budget.usage;
        let finished = Event::TaskFinished(TaskResult {
            outcome: verdict.outcome,
            stop_reason: verdict.reason,
            verified: own.verified
                && verdict.outcome == Outcome::Completed
                // The proof is of one commit. Whatever was committed on top of it since is unproven.
                && self.proof.holds_at(at.last_commit),
            detail: self.detail.clone(),
            stderr_tail: own.stderr_tail.filter(|_| verdict.outcome != Outcome::Completed),
            iterations_attempted: own.tally.attempted,
            iterations_succeeded: own.tally.succeeded,
            iterations_failed: own.tally.finished.saturating_sub(own.tally.succeeded),
            elapsed_seconds: at.elapsed.as_millis() as f64 / 1000.0,
            tokens: usage.in_and_out(),
            cost_usd: usage.cost_usd,
            base_commit: self.workspace.base.clone(),
            last_commit: at.last_commit.cloned(),
            trust_files: at.trust_files.to_vec(),
            failed_setup: self.failed_setup().filter(|_| verdict.reason == StopReason::SetupFailed),
            proof: self.receipts(own.before),
            proof_state: self.proof.state.clone(),
            tests: self.tests().map(Box::new),
            proof_cache: self.proof.state.as_ref().and_then(ProofState::cache),
            room: self.room.clone(),
        });
        paused.into_iter().chain([finished]).collect()
    }

    /// What is known of the tests; none where nothing is judged by any.
    fn tests(&self) -> Option<TestsResult> {
        if self.policy.checks.is_empty() {
            return None;
        }
        Some(self.proof.tests.clone().unwrap_or_else(|| TestsResult::unknown(self.policy.tests.mode)))
    }

    /// What each check came to, before and after.
    fn receipts(&self, baseline: &[CheckResult]) -> Vec<Proof> {
        let checks = self.policy.checks.iter().zip(&self.last_checks).enumerate();
        checks
            .map(|(index, (command, last))| {
                let before = baseline.get(index);
                let after = last.as_ref().filter(|check| check.iteration.is_some());
                let newest = after.or(before);
                Proof {
                    command: command.clone(),
                    before: before.map(CheckResult::passed),
                    after: after.map(CheckResult::passed),
                    last_line: newest.map(CheckResult::telling_line).unwrap_or_default(),
                    timed_out: newest.is_some_and(|check| check.timed_out),
                    commit: newest.and_then(|check| check.commit.clone()),
                }
            })
            .collect()
    }
}
