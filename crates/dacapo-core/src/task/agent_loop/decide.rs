//! What follows from an input, as events.

use std::time::Duration;

use jiff::Timestamp;

use super::{AgentLoop, Phase};
use crate::engine::machine::{Begin, Input};
use crate::engine::stop;
use crate::event::{
    CheckBrief, CheckPhase, CheckResult, CommitPlanned, Ended, Event, IterationRecord, Outcome, Proof,
    StopReason, TaskResult, Tokens, TurnEnd, TurnRecord, Usage, WaitReason,
};
use crate::git::Oid;

impl AgentLoop {
    pub(super) fn decide_on(&self, input: &Input) -> Vec<Event> {
        match (&self.phase, input) {
            (_, Input::Begin(begin)) => vec![self.begin(begin)],
            (_, Input::Stop { by })
                if self.phase != Phase::Over
                    && (self.verdict.is_none()
                        || self.is_paused()
                        || matches!(self.phase, Phase::Proving(_))) =>
            {
                vec![Event::StopRequested { by: by.clone(), reason: StopReason::Cancelled }]
            }
            (_, Input::Command(received)) => vec![Event::CommandReceived(received.clone())],
            (_, Input::Notice(message)) => vec![Event::Notice { message: message.clone() }],
            (
                Phase::Fresh,
                Input::WorkspaceReady { path, branch, base, kept_changes, port_base, start_sha256 },
            ) => {
                vec![Event::WorkspaceReady {
                    path: path.clone(),
                    branch: branch.clone(),
                    base_commit: base.clone(),
                    kept_changes: kept_changes.clone(),
                    port_base: *port_base,
                    start_sha256: start_sha256.clone(),
                }]
            }
            (Phase::Fresh | Phase::Between | Phase::Retry, Input::WorkspaceFailed(message)) => {
                vec![Event::WorkspaceFailed { message: message.clone() }]
            }
            (Phase::Setup { index }, Input::SetupDone(result)) if result.index as usize == *index => {
                vec![Event::SetupFinished(result.clone())]
            }
            (Phase::Proving(proving), input) => proving.decide(input).into_iter().collect(),
            (Phase::Baseline { .. } | Phase::Checking { .. }, Input::CheckDone(result))
                if self.awaits(result) =>
            {
                vec![Event::CheckFinished(result.clone())]
            }
            // A stopped loop never starts a turn, whoever asks for it.
            (Phase::Between | Phase::Retry, Input::TurnBegins { head, session })
                if self.verdict.is_none() && !self.backoff_due =>
            {
                self.turn_begins(head.as_ref(), session.as_ref())
            }
            (Phase::Between | Phase::Retry, Input::LimitKnown(known))
                if self.verdict.is_none()
                    && !self.backoff_due
                    && known.agent == self.spec.agents[self.agent].name =>
            {
                vec![Event::LimitKnown(known.clone())]
            }
            (Phase::Turn { turn, .. }, Input::TurnEnded(record)) if record.turn == *turn => {
                self.turn_ended(record)
            }
            (Phase::Turn { turn, .. }, Input::Settle { .. }) if self.verdict.is_some() => {
                vec![Event::TurnFinished(self.never_run(*turn))]
            }
            (Phase::Writing(what), Input::Written(record))
                if record.what == *what && self.is_at_work(record.iteration) =>
            {
                vec![Event::Written(record.clone())]
            }
            (Phase::Writing(what), Input::Settle { .. }) if self.verdict.is_some() => {
                vec![Event::Written(self.never_written(*what))]
            }
            (Phase::Collecting, Input::Prepared(planned)) if self.is_at_work(planned.iteration) => {
                vec![self.prepared(planned)]
            }
            (Phase::Landing(planned), Input::Landed) => {
                planned.commit.clone().map_or_else(Vec::new, |commit| {
                    vec![Event::Committed {
                        iteration: planned.iteration,
                        commit,
                        subject: planned.subject.clone(),
                    }]
                })
            }
            (Phase::Landing(planned), Input::LandedElsewhere { message }) => {
                let mut lost = planned.clone();
                lost.commit = None;
                lost.problems.push(message.clone());
                vec![Event::NoCommit(lost)]
            }
            (Phase::Waiting { until, why }, Input::WaitOver) => self.wake(*until, *why),
            (Phase::Probed { .. }, Input::WaitOver) => vec![Event::WaitOver],
            (Phase::Between, Input::Settle { now }) if self.backoff_due && self.verdict.is_none() => {
                vec![self.backoff(*now)]
            }
            (Phase::LimitHit { message, end }, Input::Settle { now }) => self.limit_hit(message, *end, *now),
            (Phase::Settling, Input::Settle { now }) => self.iteration_over(*now).into_iter().collect(),
            (Phase::Between | Phase::Retry, Input::Finishing { last_commit, trust_files, elapsed }) => {
                let paused = self.needs().map(|needs| Event::Paused { needs });
                let finished = self.finish(last_commit.clone(), trust_files, *elapsed);
                paused.into_iter().chain(finished).collect()
            }
            _ => Vec::new(),
        }
    }

    fn is_at_work(&self, iteration: u32) -> bool {
        self.current.as_ref().is_some_and(|current| current.iteration == iteration)
    }

    fn begin(&self, begin: &Begin) -> Event {
        let Begin { pid, version, more_iterations, follow_up, proof } = begin.clone();
        if self.phase == Phase::Fresh && more_iterations.is_none() && follow_up.is_none() && proof.is_none() {
            Event::TaskStarted { pid, version }
        } else {
            Event::Resumed { pid, version, more_iterations, follow_up, agent: None, proof }
        }
    }

    fn turn_begins(&self, head: Option<&Oid>, session: Option<&String>) -> Vec<Event> {
        let mut events = Vec::new();
        if self.current.is_none() {
            events.push(Event::IterationStarted { iteration: self.attempted, start_commit: head.cloned() });
        }
        let continued = self.continues();
        events.push(Event::TurnStarted {
            turn: self.turns,
            iteration: self.current.as_ref().map_or(self.attempted, |current| current.iteration),
            agent: self.spec.agents[self.agent].name.clone(),
            session: if continued { self.session.clone() } else { session.cloned() },
            continued,
        });
        events
    }

    fn turn_ended(&self, record: &TurnRecord) -> Vec<Event> {
        let first = self.unmetered_in_row == 0 && record.end == TurnEnd::Done;
        let notice = stop::unmetered(&self.policy, &record.usage).filter(|_| first).map(|what| {
            let agent = &self.spec.agents[self.agent].name;
            Event::Notice { message: stop::unmetered_notice(agent, what) }
        });
        notice.into_iter().chain([Event::TurnFinished(record.clone())]).collect()
    }

    /// It is the result of the check that is at work now, not of one that was ended before.
    fn awaits(&self, result: &CheckResult) -> bool {
        let (phase, index) = match self.phase {
            Phase::Baseline { index } => (CheckPhase::Baseline, index),
            Phase::Checking { index } => (CheckPhase::Iteration, index),
            _ => return false,
        };
        let iteration = self.current.as_ref().map(|current| current.iteration);
        result.phase == phase && result.index as usize == index && result.iteration == iteration
    }

    /// The record of a turn that was stopped before its agent was started.
    fn never_run(&self, turn: u32) -> TurnRecord {
        TurnRecord {
            turn,
            iteration: self.current.as_ref().map_or(0, |current| current.iteration),
            end: TurnEnd::Cancelled,
            session: self.session.clone(),
            promise: false,
            blocked: None,
            summary: String::new(),
            usage: Usage::default(),
            duration_ms: 0,
            output_bytes: 0,
            exit_code: None,
            refused: None,
            reply: None,
            timed_out: false,
            stderr_tail: None,
        }
    }

    fn prepared(&self, planned: &CommitPlanned) -> Event {
        if planned.commit.is_some() {
            Event::CommitIntent(planned.clone())
        } else {
            Event::NoCommit(planned.clone())
        }
    }

    fn backoff(&self, now: Timestamp) -> Event {
        let pause = stop::backoff(self.failures_in_row);
        Event::Waiting {
            until: stop::later(now, pause),
            why: WaitReason::Backoff,
            message: format!("iteration failed; next attempt in {} s", pause.as_secs()),
        }
    }

    fn iteration_over(&self, now: Timestamp) -> Option<Event> {
        let current = self.current.as_ref()?;
        let planned = current.planned.clone().unwrap_or_default();
        // With a problem HEAD is not known to be this iteration's.
        let own_commits = planned.commit.is_none()
            && planned.problems.is_empty()
            && planned.changed_total > 0
            && self.tip != current.start;
        let outcome = current.ended();
        Some(Event::IterationFinished(IterationRecord {
            iteration: current.iteration,
            commit_id: planned.commit.or_else(|| own_commits.then(|| self.tip.clone()).flatten()),
            changed_files: planned.changed_files,
            changed_total: planned.changed_total,
            summary: if self.spec.context.generate_summary { current.in_words() } else { String::new() },
            success: outcome == Ended::Success,
            outcome,
            error: current.error(),
            stderr_tail: current.stderr_tail.clone(),
            promise: current.promise,
            blocked: current.blocked.clone(),
            timestamp: now,
            usage: current.usage,
            duration_ms: u64::try_from(now.duration_since(current.started_at).as_millis()).unwrap_or(0),
            checks: current.checks.iter().map(CheckBrief::from).collect(),
        }))
    }

    pub(super) fn finish(
        &self,
        last_commit: Option<Oid>,
        trust_files: &[String],
        elapsed: Duration,
    ) -> Option<Event> {
        let verdict = self.verdict?;
        Some(Event::TaskFinished(TaskResult {
            outcome: verdict.outcome,
            stop_reason: verdict.reason,
            verified: self.verified(verdict, last_commit.as_ref()),
            message: self.message.clone(),
            stderr_tail: self.stderr_tail.clone().filter(|_| verdict.outcome != Outcome::Completed),
            iterations_attempted: self.attempted,
            iterations_succeeded: self.succeeded,
            iterations_failed: self.finished.saturating_sub(self.succeeded),
            elapsed_seconds: elapsed.as_millis() as f64 / 1000.0,
            tokens: Tokens { input: self.usage.input, output: self.usage.output },
            cost_usd: self.usage.cost_usd,
            base_commit: self.base.clone(),
            last_commit,
            trust_files: trust_files.to_vec(),
            failed_setup: self.failed_setup().filter(|_| verdict.reason == StopReason::SetupFailed),
            proof: self.proof(),
            proof_state: self.proof_state.clone(),
        }))
    }

    fn proof(&self) -> Vec<Proof> {
        let checks = self.policy.checks.iter().enumerate();
        checks
            .map(|(index, command)| {
                let before = self.baseline.get(index);
                let after = self.last_checks[index].as_ref().filter(|check| check.iteration.is_some());
                let newest = after.or(before);
                Proof {
                    command: command.clone(),
                    before: before.map(|check| check.passed()),
                    after: after.map(|check| check.passed()),
                    last_line: newest.map(CheckResult::telling_line).unwrap_or_default(),
                    timed_out: newest.is_some_and(|check| check.timed_out),
                    commit: newest.and_then(|check| check.commit.clone()),
                }
            })
            .collect()
    }
}
