//! What follows from an input, as events.

use std::time::Duration;

use jiff::Timestamp;

use super::{Milestone, Phase, Question, Role, Work};
use crate::engine::machine::{Begin, Input};
use crate::engine::stop;
use crate::event::{
    CheckBrief, CheckPhase, CheckResult, Ended, Event, IterationRecord, MilestoneStep, Outcome, Proof,
    ProofState, StopReason, TaskResult, Tokens, TurnEnd, TurnRecord, Usage, WaitReason, WorkFacts,
};
use crate::git::Oid;

impl Milestone {
    pub(super) fn decide_on(&self, input: &Input) -> Vec<Event> {
        if let Input::Begin(begin) = input {
            return vec![self.begin(begin)];
        }
        if self.result.is_some() {
            return match input {
                Input::Command(received) => vec![Event::CommandReceived(received.clone())],
                Input::Notice(message) => vec![Event::Notice { message: message.clone() }],
                _ => Vec::new(),
            };
        }
        if let Some(proving) = &self.proving
            && !matches!(input, Input::Stop { .. } | Input::Command(_) | Input::Notice(_))
        {
            return proving.decide(input).into_iter().collect();
        }
        if let Input::Inspected(facts) = input
            && self.inspects()
            && let Some(odd) = self.odd_main(facts)
        {
            return vec![odd];
        }
        match (&self.phase, input) {
            (_, Input::Stop { by })
                if self.verdict.is_none() || self.is_paused() || self.proving.is_some() =>
            {
                vec![Event::StopRequested { by: by.clone(), reason: StopReason::Cancelled }]
            }
            (_, Input::Command(received)) => vec![Event::CommandReceived(received.clone())],
            (_, Input::Notice(message)) => vec![Event::Notice { message: message.clone() }],
            (_, Input::Finishing { last_commit, trust_files, elapsed }) if self.may_finish() => {
                let paused = self.needs().map(|needs| Event::Paused { needs });
                let finished = self.finish(last_commit.clone(), trust_files, *elapsed);
                paused.into_iter().chain(finished).collect()
            }
            (_, Input::Kept { reference }) if self.keeps() => {
                vec![Event::Milestone(MilestoneStep::TreeKept { reference: reference.clone() })]
            }
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
            (
                Phase::Reported { .. } | Phase::Cleaned | Phase::Judged { .. },
                Input::WorkspaceFailed(message),
            ) => {
                vec![Event::WorkspaceFailed { message: message.clone() }]
            }
            (
                Phase::Fresh | Phase::Between | Phase::Asking(_) | Phase::Checking { .. },
                Input::WorkspaceFailed(message),
            ) if self.verdict.is_none() => {
                vec![Event::WorkspaceFailed { message: message.clone() }]
            }
            (Phase::Setup { index }, Input::SetupDone(result)) if result.index as usize == *index => {
                vec![Event::SetupFinished(result.clone())]
            }
            (Phase::Checking { .. }, Input::CheckDone(result)) if !self.looks() && self.awaits(result) => {
                vec![Event::CheckFinished(result.clone())]
            }
            (_, Input::Settle { .. }) if self.refreezes() => self.refreeze().into_iter().collect(),
            (Phase::Between | Phase::Asking(_) | Phase::Checking { .. }, Input::Inspected(facts))
                if self.looks() =>
            {
                vec![Event::Milestone(self.looked_at(facts))]
            }
            // A stopped milestone never starts a turn, whoever asks for it.
            (Phase::Between | Phase::Asking(_), Input::TurnBegins { head, session }) if self.begins() => {
                self.turn_begins(head.as_ref(), session.as_ref())
            }
            (Phase::Between | Phase::Asking(_), Input::LimitKnown(known))
                if self.begins()
                    && self
                        .to_ask()
                        .is_some_and(|role| known.agent == self.spec.agents[Self::agent(role)].name) =>
            {
                vec![Event::LimitKnown(known.clone())]
            }
            (Phase::Between | Phase::Asking(_), Input::Settle { now })
                if self.backoff_due && self.verdict.is_none() && !self.look_due =>
            {
                vec![self.backoff(*now)]
            }
            (Phase::Turn { turn, role, .. }, Input::TurnEnded(record)) if record.turn == *turn => {
                self.turn_ended(*role, record)
            }
            (Phase::Turn { turn, role, .. }, Input::Settle { .. }) if self.verdict.is_some() => {
                vec![Event::TurnFinished(self.never_run(*turn, *role))]
            }
            (Phase::Reported { reply }, Input::Inspected(facts)) => self.report(reply, facts),
            (Phase::Cleaned, Input::Inspected(facts)) => self.cleaned(facts),
            (Phase::Judged { reply }, Input::Inspected(facts)) => self.judgement(reply, facts),
            (Phase::Overdue { reason }, Input::Settle { .. }) => self.rejected_by_engine(reason.clone()),
            (Phase::LimitHit { message, end, .. }, Input::Settle { now }) => {
                self.limit_hit(message, *end, *now)
            }
            (Phase::Waiting { .. } | Phase::Probed { .. }, Input::WaitOver) => vec![Event::WaitOver],
            (Phase::Settling, Input::Settle { now }) => self.round_over(*now).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn begin(&self, begin: &Begin) -> Event {
        let Begin { pid, version, more_iterations, follow_up, proof } = begin.clone();
        if self.phase == Phase::Fresh
            && self.verdict.is_none()
            && more_iterations.is_none()
            && follow_up.is_none()
            && proof.is_none()
        {
            Event::TaskStarted { pid, version }
        } else {
            Event::Resumed { pid, version, more_iterations, follow_up, agent: None, proof }
        }
    }

    fn turn_begins(&self, head: Option<&Oid>, session: Option<&String>) -> Vec<Event> {
        let Some(role) = self.to_ask() else { return Vec::new() };
        let mut events = Vec::new();
        if self.round.is_none() {
            let start_commit = self.unjudged.as_ref().or(head).cloned();
            events.push(Event::IterationStarted { iteration: self.rounds, start_commit });
        }
        let continued = self.continues(role);
        events.push(Event::TurnStarted {
            turn: self.turns,
            iteration: self.round.as_ref().map_or(self.rounds, |round| round.number),
            agent: self.spec.agents[Self::agent(role)].name.clone(),
            session: if continued { self.desk(role).session.clone() } else { session.cloned() },
            continued,
        });
        events
    }

    /// It is the result of the check that is at work now, not of one that was ended before.
    fn awaits(&self, result: &CheckResult) -> bool {
        let Phase::Checking { index } = self.phase else { return false };
        let round = self.round.as_ref().map(|round| round.number);
        result.phase == CheckPhase::Iteration && result.index as usize == index && result.iteration == round
    }

    /// The Developer was to put the tree in order, and nothing else.
    fn cleaned(&self, facts: &WorkFacts) -> Vec<Event> {
        let complaints = self.disorder_in(facts);
        if complaints.is_empty() {
            return vec![Event::Milestone(self.looked_at(facts))];
        }
        let Some(round) = self.round.as_ref().filter(|round| round.cleanups_failed > 0) else {
            let iteration = self.round.as_ref().map_or(0, |round| round.number);
            return vec![Event::Milestone(MilestoneStep::ReportSentBack { iteration, complaints })];
        };
        let times = round.cleanups_failed.saturating_add(1);
        self.rejected_by_engine(format!(
            "the tree was not put in order in {times} turns: {}",
            complaints.join("; ")
        ))
    }

    /// The record of a turn that was stopped before its agent was started.
    fn never_run(&self, turn: u32, role: Role) -> TurnRecord {
        TurnRecord {
            turn,
            iteration: self.round.as_ref().map_or(0, |round| round.number),
            end: TurnEnd::Cancelled,
            session: self.desk(role).session.clone(),
            promise: false,
            summary: String::new(),
            usage: Usage::default(),
            duration_ms: 0,
            output_bytes: 0,
            exit_code: None,
            refused: None,
            reply: None,
            timed_out: false,
            stderr_tail: None,
            blocked: None,
        }
    }

    fn turn_ended(&self, role: Role, record: &TurnRecord) -> Vec<Event> {
        let first = self.unmetered_in_row == 0 && record.end == TurnEnd::Done;
        let notice = stop::unmetered(&self.policy, &record.usage).filter(|_| first).map(|what| {
            let agent = &self.spec.agents[Self::agent(role)].name;
            Event::Notice { message: stop::unmetered_notice(agent, what) }
        });
        notice.into_iter().chain([Event::TurnFinished(record.clone())]).collect()
    }

    fn backoff(&self, now: Timestamp) -> Event {
        let pause = stop::backoff(self.developer.failures_in_row.max(self.acceptor.failures_in_row));
        Event::Waiting {
            until: stop::later(now, pause),
            why: WaitReason::Backoff,
            message: format!("the call failed; next attempt in {} s", pause.as_secs()),
        }
    }

    fn round_over(&self, now: Timestamp) -> Option<Event> {
        let round = self.round.as_ref()?;
        let judgement = round.judgement.as_ref()?;
        let what = match &round.work {
            Some(Work::Feature { text, .. }) => text.lines().next().unwrap_or_default().to_owned(),
            Some(Work::Everything { .. }) => "all features complete".to_owned(),
            None => "no report".to_owned(),
        };
        let word = if judgement.accepted { "accepted" } else { "rejected" };
        Some(Event::IterationFinished(IterationRecord {
            iteration: round.number,
            commit_id: round.work.as_ref().map(|work| work.commit().clone()),
            changed_files: round.changed_files.clone(),
            changed_total: round.changed_total,
            summary: format!("{word}: {what}"),
            success: judgement.accepted,
            outcome: if judgement.accepted { Ended::Success } else { Ended::Failure },
            error: (!judgement.accepted).then(|| judgement.reason.clone()),
            stderr_tail: None,
            promise: Work::is_final(round.work.as_ref()),
            blocked: None,
            timestamp: now,
            usage: round.usage,
            duration_ms: u64::try_from(now.duration_since(round.started_at).as_millis()).unwrap_or(0),
            checks: round.checks.iter().map(CheckBrief::from).collect(),
        }))
    }

    fn finish(&self, last_commit: Option<Oid>, trust_files: &[String], elapsed: Duration) -> Option<Event> {
        let verdict = self.verdict?;
        // What the checks have not seen is not proven by them: somebody may have committed since.
        let proven = self.proof_state.as_ref().and_then(ProofState::proven);
        let proven = proven.is_some_and(|at| Some(at) == last_commit.as_ref());
        Some(Event::TaskFinished(TaskResult {
            outcome: verdict.outcome,
            stop_reason: verdict.reason,
            verified: verdict.outcome == Outcome::Completed && proven,
            message: self.message.clone(),
            stderr_tail: None,
            iterations_attempted: self.rounds,
            iterations_succeeded: self.accepted,
            iterations_failed: self.finished.saturating_sub(self.accepted),
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
        let checks = self.policy.checks.iter().zip(&self.last_checks);
        checks
            .map(|(command, newest)| Proof {
                command: command.clone(),
                before: None,
                after: newest.as_ref().map(CheckResult::passed),
                last_line: newest.as_ref().map(CheckResult::telling_line).unwrap_or_default(),
                timed_out: newest.as_ref().is_some_and(|check| check.timed_out),
                commit: newest.as_ref().and_then(|check| check.commit.clone()),
            })
            .collect()
    }

    /// The command that the worktree waits for.
    fn failed_setup(&self) -> Option<String> {
        self.spec.place.setup().get(self.set_up).filter(|_| self.ready).cloned()
    }

    pub(super) fn is_paused(&self) -> bool {
        self.verdict.is_some_and(|verdict| verdict.outcome == Outcome::Paused)
    }

    /// A person has the last word, and has not said it.
    pub(super) fn in_review(&self) -> bool {
        self.question == Some(Question::Review)
    }
}
