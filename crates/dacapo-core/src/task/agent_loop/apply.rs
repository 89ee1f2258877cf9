//! How what happened changes the state of the loop. Nothing else does.

use jiff::Timestamp;

use super::{AgentLoop, Current, Phase};
use crate::context::Past;
use crate::engine::stop::{self, Facts};
use crate::event::{
    CheckPhase, CheckResult, CommitPlanned, Ended, Envelope, Event, FailureKind, Fault, IterationRecord,
    Notice, Outcome, SetupResult, StopDetail, StopReason, TurnEnd, TurnRecord, Usage,
};
use crate::git::Oid;
use crate::spec::SessionNeed;
use crate::task::lifecycle::{PAUSED, Wait};

/// `sh` says so by these exit codes.
pub(super) fn cannot_be_run(result: &CheckResult) -> bool {
    matches!(result.exit_code, Some(126 | 127))
}

impl AgentLoop {
    pub(super) fn take_in(&mut self, line: &Envelope) {
        self.life.at(line);
        match &line.event {
            // A crash between this line and the end must not have it said again.
            Event::Notice(Notice::NotTold { .. }) => self.not_told_said = true,
            Event::TaskCreated { .. }
            | Event::TaskStarted { .. }
            | Event::Notice(_)
            | Event::RecordAltered { .. }
            | Event::PortsLeased { .. }
            | Event::RoomTested(_)
            | Event::FilesIncluded { .. }
            | Event::UntrackedFound(_)
            | Event::UntrackedTouched(_)
            | Event::Queued
            | Event::Asked { .. }
            | Event::Answered
            | Event::Dequeued
            | Event::Paused { .. }
            | Event::Own(_)
            | Event::MergeIntent { .. }
            | Event::Merged { .. }
            | Event::MergeUndone { .. }
            | Event::TakenOver { .. }
            | Event::PullRequest { .. }
            | Event::Notified { .. } => {}
            Event::Resumed { more_iterations, follow_up, proof, .. } => {
                self.resumed(*more_iterations, follow_up.as_deref(), proof.as_ref());
            }
            Event::WorkspaceReady { branch, base_commit, .. } => {
                self.workspace_ready(branch.as_deref(), base_commit.as_ref());
            }
            Event::Renamed { branch, .. } => self.renamed(branch.as_deref()),
            Event::WorkspaceFailed { problems } => {
                self.end(Outcome::Failed, StopReason::SetupFailed, StopDetail::workspace(problems));
            }
            Event::SetupFinished(result) => self.setup_finished(result),
            Event::CheckFinished(result) if !result.phase.is_of_proof() => self.check_finished(result),
            Event::CheckFinished(_)
            | Event::ProofStarted { .. }
            | Event::ProofUnavailable { .. }
            | Event::ProofFailed { .. } => self.proof_event(&line.event),
            Event::IterationStarted { iteration, start_commit } => {
                self.attempted = iteration + 1;
                self.life.proof.state = None;
                // None after a pause or an end: then whatever HEAD is now is what the work builds on.
                self.tip = self.tip.take().or_else(|| start_commit.clone());
                self.current = Some(Current::new(*iteration, start_commit.clone(), line));
                self.phase = Phase::Retry;
            }
            Event::TurnStarted { turn, session, continued, .. } => {
                self.turn_started(*turn, session.as_deref(), *continued);
            }
            Event::TurnFinished(record) => self.turn_finished(record, line.at),
            Event::Written(record) => self.written(record),
            Event::CommitIntent(planned) if planned.commit.is_some() => {
                self.left_out.clone_from(&planned.left_out);
                self.phase = Phase::Landing(planned.clone());
            }
            Event::CommitIntent(planned) | Event::NoCommit(planned) => self.settle_tree(planned),
            Event::Committed { commit, .. } => self.committed(commit),
            Event::IterationFinished(record) => self.iteration_finished(record),
            Event::LimitKnown(known) => self.limit_known(known),
            Event::Waiting { until, cause } => self.waiting(*until, cause.reason(), line),
            Event::WaitOver => self.wait_over(line),
            Event::AgentChanged { agent, .. } => self.agent_changed(agent, line.at),
            Event::StopRequested { reason, detail } => self.stop_requested(detail.clone(), *reason),
            Event::CommandReceived(received) => self.command_received(received),
            Event::TaskFinished(result) => {
                if result.outcome == Outcome::Completed {
                    self.guidance.completed();
                }
                self.life.result = Some(result.clone());
                self.phase = Phase::Over;
            }
        }
    }

    fn workspace_ready(&mut self, branch: Option<&str>, base: Option<&Oid>) {
        self.life.workspace_ready(branch, base);
        self.tip = base.cloned();
        self.phase = self.before_the_first();
    }

    fn setup_finished(&mut self, result: &SetupResult) {
        match self.life.setup_finished(result) {
            Ok(()) if self.phase == Phase::Preparing => self.phase = self.before_the_first(),
            Ok(()) => {}
            Err(detail) => self.end(Outcome::Failed, StopReason::SetupFailed, detail),
        }
    }

    /// The worktree is another directory now, where it has one. Agents look for a conversation where it was held, so the
    /// next turn begins a new one.
    fn renamed(&mut self, branch: Option<&str>) {
        let Some(branch) = branch else { return };
        if self.life.workspace.branch.is_some() {
            self.life.workspace.branch = Some(branch.to_owned());
        }
        self.conversation.lost();
    }

    fn check_finished(&mut self, result: &CheckResult) {
        let index = result.index as usize;
        if let Some(slot) = self.life.last_checks.get_mut(index) {
            *slot = Some(result.clone());
            self.seen_red[index] |= !result.passed();
        }
        let next = index + 1;
        let more = next < self.life.policy.checks.len();
        match result.phase {
            CheckPhase::Baseline => {
                self.baseline.push(result.clone());
                if cannot_be_run(result) {
                    self.end(Outcome::Failed, StopReason::SetupFailed, StopDetail::check(result));
                } else {
                    self.opened_green = !more && self.baseline.iter().all(CheckResult::passed);
                    self.phase = if more { Phase::Baseline { index: next } } else { Phase::Between };
                }
            }
            CheckPhase::Iteration => {
                if let Some(current) = self.current.as_mut() {
                    current.checks.push(result.clone());
                }
                self.phase = if more { Phase::Checking { index: next } } else { self.after_checks() };
            }
            // These are for the proof at work.
            CheckPhase::Proof | CheckPhase::Originals | CheckPhase::HeldOut => {}
        }
    }

    fn turn_started(&mut self, turn: u32, session: Option<&str>, continued: bool) {
        self.life.turns = turn + 1;
        self.conversation.turn_started(session, continued);
        if let Some(current) = self.current.as_mut() {
            current.attempts += 1;
            current.note_turn(turn, self.agent);
        }
        self.life.limits.forget_probes();
        // From here on the prompt of this turn is fixed: what is said later is for a later one.
        self.heard.append(&mut self.told);
        self.not_told_said = false;
        self.tests_told_now();
        if continued {
            self.guidance.told_on();
        } else {
            self.guidance.told_anew();
        }
        self.follow_ups_heard = self.follow_ups.len();
        self.phase = Phase::Turn { turn, continued };
    }

    fn turn_finished(&mut self, record: &TurnRecord, at: Timestamp) {
        self.life.budget.add(&record.usage);
        self.life.meter(record);
        let continued = !matches!(self.phase, Phase::Turn { continued: false, .. });
        self.conversation.turn_finished(record, &self.life.spec.agents[self.agent], continued);
        let Some(current) = self.current.as_mut() else { return };
        current.usage = current.usage.plus(&record.usage);
        current.promise = record.promise;
        current.blocked.clone_from(&record.blocked);
        current.tests_changed.clone_from(&record.tests_changed);
        current.not_allowed.clone_from(&record.not_allowed);
        current.stderr_tail.clone_from(&record.stderr_tail);
        current.end = record.end.clone();
        current.ended_at = at;
        if !record.summary.is_empty() {
            current.summary.clone_from(&record.summary);
        }
        self.phase = match &record.end {
            TurnEnd::Limit { .. } if self.life.verdict.is_some() => Phase::Collecting,
            TurnEnd::Limit { message, resets_at } => Phase::Waits(Wait::said(message, *resets_at)),
            // We were killed in the turn: the iteration keeps its number and gets another turn, on the files as they
            // are.
            TurnEnd::Interrupted if self.life.verdict.is_none() => Phase::Retry,
            TurnEnd::Done
            | TurnEnd::Failed { .. }
            | TurnEnd::Cancelled
            | TurnEnd::Budget
            | TurnEnd::Interrupted => self.wrap_up(None),
        };
        if !matches!(record.end, TurnEnd::Limit { .. }) {
            self.life.limits.none_hit();
        }
    }

    fn committed(&mut self, commit: &Oid) {
        // Without an intent before it the line is damage; the phase then only moves on.
        if let Phase::Landing(planned) = std::mem::replace(&mut self.phase, Phase::Settling) {
            self.tip = Some(commit.clone());
            self.settle_tree(&planned);
        }
    }

    /// The tree of the iteration is what it will be: on to the checks, unless the loop ends anyway.
    fn settle_tree(&mut self, planned: &CommitPlanned) {
        self.left_out.clone_from(&planned.left_out);
        if planned.commit.is_none() && planned.problems.is_empty() {
            // The agent's own commits: HEAD is a descendant of our tip, and the new tip.
            self.tip = planned.parent.clone().or_else(|| self.tip.clone());
        }
        let Some(current) = self.current.as_mut() else { return };
        current.planned = Some(planned.clone());
        let skip = !self.life.policy.is_judged()
            || self.life.verdict.is_some()
            || current.cut
            // Checks on half a turn would say nothing, and delay an end that somebody is waiting for.
            || matches!(current.end, TurnEnd::Cancelled | TurnEnd::Interrupted | TurnEnd::Limit { .. });
        self.phase = match (skip, self.life.policy.checks.is_empty()) {
            (true, _) => Phase::Settling,
            (false, true) => self.after_checks(),
            (false, false) => Phase::Checking { index: 0 },
        };
    }

    fn iteration_finished(&mut self, record: &IterationRecord) {
        let mut facts = self.facts_now();
        self.proof_settled();
        self.tests_settled();
        self.finished = record.iteration.saturating_add(1);
        if record.success {
            self.succeeded += 1;
            self.failures_in_row = 0;
            let changed = record.changed_total > 0;
            self.unchanged_in_row = if changed { 0 } else { self.unchanged_in_row + 1 };
            let failure = self.failure_fingerprint();
            self.same_failure_in_row = match &failure {
                Some(_) if failure == self.last_failure => self.same_failure_in_row + 1,
                Some(_) => 1,
                None => 0,
            };
            self.last_failure = failure;
        } else if record.outcome == Ended::Failure {
            self.failures_in_row += 1;
        }
        facts.finished = self.finished;
        facts.succeeded = self.succeeded;
        facts.failures_in_row = self.failures_in_row;
        facts.unchanged_in_row = self.unchanged_in_row;
        facts.same_failure_in_row = self.same_failure_in_row;
        facts.elapsed = self.life.time_in_allowance();
        facts.usage = self.life.usage_in_allowance();
        facts.unmetered_in_row = self.life.budget.unmetered_in_row;
        let verdict = stop::verdict(&self.life.policy, self.cap, &facts);
        match (self.life.verdict, verdict) {
            // What was asked for is there, though somebody wanted to stop at the same moment.
            (_, Some(done)) if stop::complete(&facts) => self.life.verdict = Some(done),
            (Some(_), _) => {}
            (None, _) if !facts.blocked && self.proof_needs_person() => self.life.verdict = Some(PAUSED),
            (None, verdict) if self.tests_need_person(verdict, &facts) => {
                self.life.verdict = Some(PAUSED);
                self.tests_ask();
            }
            (None, verdict) => {
                self.life.verdict = verdict;
                let failed = || StopDetail::faults(&record.faults);
                self.life.detail = self.usage_unknown(&facts).or_else(failed);
            }
        }
        if self.life.verdict.is_some_and(|v| v.outcome == Outcome::Completed) {
            self.life.detail = None;
        }
        self.stderr_tail.clone_from(&record.stderr_tail);
        if facts.blocked && verdict == Some(PAUSED) && self.life.verdict == Some(PAUSED) {
            self.question.clone_from(&record.blocked);
            self.life.detail = None;
        }
        self.history.push(Past::from(record));
        self.heard.clear();
        self.guidance.iteration_over();
        self.rule_due &= self.current.as_ref().is_none_or(|current| current.attempts == 0);
        let did_its_turn = self.current.take().is_some_and(|current| current.end == TurnEnd::Done);
        self.life.backoff_due = self.life.verdict.is_none() && record.outcome == Ended::Failure;
        self.phase = Phase::Between;
        // A turn that failed may have had no time to say it; then the next one just begins anew.
        if self.life.verdict.is_none() && did_its_turn && self.session_is_missing() {
            self.end(Outcome::Failed, StopReason::PermanentError, StopDetail::NoSession);
        }
        // Last, when the iteration is closed: a pause never splits one.
        self.pause_if_due();
    }

    /// Why the budget ended the loop, where that is not because it is used up.
    fn usage_unknown(&self, facts: &Facts) -> Option<StopDetail> {
        let what = self.life.budget.unmetered.filter(|_| {
            self.life.verdict.is_some_and(|verdict| verdict.reason == StopReason::Budget)
                && !facts.cut_by_budget
                && !stop::over_budget(&self.life.policy, &facts.usage)
        })?;
        Some(stop::usage_unknown(&self.life.spec.agents[self.agent].name, what))
    }

    fn session_is_missing(&self) -> bool {
        self.life.policy.session == crate::spec::SessionMode::Resume
            && self.conversation.session.is_none()
            && self.life.spec.agents[self.agent].session_need() == SessionNeed::Id
    }

    /// The loop is to end. A turn or check in flight is ended by the driver, then the state says so; where nothing is in
    /// flight the iteration is wrapped up at once.
    pub(super) fn stop_requested(&mut self, by: StopDetail, reason: StopReason) {
        if self.phase == Phase::Over {
            return;
        }
        self.life.stop(by, reason);
        match self.phase {
            Phase::Preparing | Phase::Baseline { .. } => self.phase = Phase::Between,
            Phase::Checking { .. } => self.phase = Phase::Settling,
            Phase::Proving => self.proof_interrupted(),
            Phase::Waits(_) | Phase::Retry => self.cut_short(),
            Phase::Between
            | Phase::Turn { .. }
            | Phase::Writing(_)
            | Phase::Collecting
            | Phase::Landing(_)
            | Phase::Settling
            | Phase::Over => {}
        }
    }

    /// Ends an iteration between two of its turns; what it left is still committed.
    fn cut_short(&mut self) {
        self.phase = match self.current.as_mut() {
            Some(current) => {
                current.cut = true;
                Phase::Collecting
            }
            None => Phase::Between,
        };
    }

    /// The loop ends for a reason that is not the verdict on an iteration.
    pub(super) fn end(&mut self, outcome: Outcome, reason: StopReason, detail: StopDetail) {
        self.life.ends(outcome, reason, detail);
        if self.current.is_some() { self.cut_short() } else { self.phase = Phase::Between }
    }

    pub(super) fn facts_now(&self) -> Facts {
        let promise_needed = self.promise().is_some();
        let can_match = self.promise().is_some_and(|text| !text.is_empty());
        let checks_needed = self.life.policy.is_judged();
        let Some(current) = &self.current else {
            return Facts { promise_needed, checks_needed, ..Facts::default() };
        };
        Facts {
            success: current.ended() == Ended::Success,
            promise: current.promise && can_match,
            promise_needed,
            blocked: current.blocked.is_some() && self.may_block() && current.ended() != Ended::Cancelled,
            checks: self.checks_hold(),
            checks_needed,
            unheard: self.follow_ups_heard < self.follow_ups.len(),
            cut_by_budget: current.end == TurnEnd::Budget,
            permanent: current.did_nothing_for_want_of_permission()
                || matches!(
                    current.end,
                    TurnEnd::Failed { failure: FailureKind::Permanent | FailureKind::SessionLost, .. }
                ),
            ..Facts::default()
        }
    }

    /// One text for all failing checks of the iteration; the same failure has the same one.
    fn failure_fingerprint(&self) -> Option<String> {
        let current = self.current.as_ref()?;
        let failing: Vec<String> = current
            .checks
            .iter()
            .filter(|check| !check.passed())
            .map(|check| format!("{}:{}", check.index, check.fingerprint))
            .collect();
        (!failing.is_empty()).then(|| failing.join(" "))
    }
}

impl Current {
    fn new(iteration: u32, start: Option<Oid>, line: &Envelope) -> Self {
        Self {
            iteration,
            start,
            started_at: line.at,
            attempts: 0,
            turns: Vec::new(),
            usage: Usage::default(),
            summary: String::new(),
            summed_up: None,
            worded: None,
            promise: false,
            blocked: None,
            tests_changed: None,
            end: TurnEnd::Interrupted,
            ended_at: line.at,
            planned: None,
            not_allowed: None,
            stderr_tail: None,
            checks: Vec::new(),
            proof: None,
            cut: false,
        }
    }

    /// How the iteration went so far: the turn's word, and the state in which it left the tree.
    pub(super) fn ended(&self) -> Ended {
        let problems = self.planned.as_ref().is_some_and(|planned| !planned.problems.is_empty());
        match &self.end {
            _ if self.cut => Ended::Cancelled,
            TurnEnd::Cancelled | TurnEnd::Budget | TurnEnd::Interrupted | TurnEnd::Limit { .. } => {
                Ended::Cancelled
            }
            TurnEnd::Failed { .. } => Ended::Failure,
            TurnEnd::Done if problems || self.did_nothing_for_want_of_permission() => Ended::Failure,
            TurnEnd::Done => Ended::Success,
        }
    }

    /// The turn "succeeded" and did nothing: asked again without permission it would do the same.
    fn did_nothing_for_want_of_permission(&self) -> bool {
        self.end == TurnEnd::Done
            && self.not_allowed.is_some()
            && self.planned.as_ref().is_some_and(|planned| planned.changed_total == 0)
    }

    /// Why it is not a success.
    pub(super) fn faults(&self) -> Vec<Fault> {
        let own = match &self.end {
            TurnEnd::Failed { fault, .. } => Some(fault.clone()),
            TurnEnd::Limit { message, .. } => Some(message.as_str().into()),
            TurnEnd::Budget => Some(Fault::BudgetUsed),
            TurnEnd::Done if self.did_nothing_for_want_of_permission() => {
                self.not_allowed.clone().map(Fault::NotAllowed)
            }
            TurnEnd::Done | TurnEnd::Cancelled | TurnEnd::Interrupted => None,
        };
        let problems = self.planned.iter().flat_map(|planned| &planned.problems);
        own.into_iter().chain(problems.cloned().map(Fault::Workspace)).collect()
    }
}
