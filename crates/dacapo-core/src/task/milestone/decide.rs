//! What follows from an input, as events.

use jiff::Timestamp;

use super::{Milestone, Phase, Question, Work};
use crate::engine::machine::Input;
use crate::engine::machine::WorkFacts;
use crate::event::{
    Attempt, CheckBrief, CheckPhase, CheckResult, Ended, Event, IterationRecord, StopDetail, StopReason,
};
use crate::git::Oid;
use crate::task::lifecycle::{AtTheEnd, Ending, Known, Relief, Tally, never_run};
use crate::task::milestone::MilestoneStep;

impl Milestone {
    pub(super) fn decide_on(&self, input: &Input) -> Vec<Event> {
        if let Input::Begin(begin) = input {
            return vec![self.life.begin(begin, self.known())];
        }
        if self.life.result.is_some() {
            return match input {
                Input::Command(received) => vec![Event::CommandReceived(received.clone())],
                Input::Notice(notice) => vec![Event::Notice(notice.clone())],
                _ => Vec::new(),
            };
        }
        if self.life.proof.at_work.is_some()
            && !matches!(input, Input::Stop { .. } | Input::Command(_) | Input::Notice(_))
        {
            return self.life.proving(input);
        }
        if let Input::Inspected(facts) = input
            && self.inspects()
            && let Some(odd) = self.odd_main(facts)
        {
            return vec![odd];
        }
        match (&self.phase, input) {
            (_, Input::Stop { by })
                if self.life.verdict.is_none()
                    || self.life.is_paused()
                    || self.life.proof.at_work.is_some() =>
            {
                vec![Event::StopRequested { reason: StopReason::Cancelled, detail: StopDetail::by(by) }]
            }
            (_, Input::Command(received)) => vec![Event::CommandReceived(received.clone())],
            (_, Input::Notice(notice)) => vec![Event::Notice(notice.clone())],
            (_, Input::Finishing { last_commit, trust_files, elapsed }) if self.may_finish() => {
                let at = AtTheEnd { last_commit: last_commit.as_ref(), trust_files, elapsed: *elapsed };
                self.life.finish(self.needs(), at, self.ending())
            }
            (_, Input::Kept { reference }) if self.keeps() => {
                vec![Event::from(MilestoneStep::TreeKept { reference: reference.clone() })]
            }
            (
                Phase::Reported { .. } | Phase::Cleaned | Phase::Judged { .. },
                Input::WorkspaceFailed(problems),
            ) => {
                vec![Event::WorkspaceFailed { problems: problems.clone() }]
            }
            (
                Phase::Between | Phase::Asking(_) | Phase::Checking { .. },
                Input::WorkspaceFailed(problems),
            ) if self.life.verdict.is_none() => {
                vec![Event::WorkspaceFailed { problems: problems.clone() }]
            }
            (Phase::Checking { .. }, Input::CheckDone(result)) if !self.looks() && self.awaits(result) => {
                vec![Event::CheckFinished(result.clone())]
            }
            (_, Input::Settle { .. }) if self.refreezes() => self.refreeze().into_iter().collect(),
            (Phase::Preparing, input) => self.life.prepared(input).into_iter().collect(),
            (Phase::Between | Phase::Asking(_) | Phase::Checking { .. }, Input::Inspected(facts))
                if self.looks() =>
            {
                vec![Event::from(self.looked_at(facts))]
            }
            // A stopped milestone never starts a turn, whoever asks for it.
            (Phase::Between | Phase::Asking(_), Input::TurnBegins { head, session }) if self.begins() => {
                self.turn_begins(head.as_ref(), session.as_ref())
            }
            (Phase::Between | Phase::Asking(_), Input::LimitKnown(known))
                if self.begins()
                    && self
                        .to_ask()
                        .is_some_and(|role| known.agent == self.life.spec.agents[Self::agent(role)].name) =>
            {
                vec![Event::LimitKnown(known.clone())]
            }
            (Phase::Between | Phase::Asking(_), Input::Settle { now })
                if self.life.backoff_due && self.life.verdict.is_none() && !self.look_due =>
            {
                let failures = self.developer.failures_in_row.max(self.acceptor.failures_in_row);
                vec![self.life.backoff(Attempt::Call, failures, *now)]
            }
            (Phase::Turn { turn, role, .. }, Input::TurnEnded(record)) if record.turn == *turn => {
                self.life.turn_ended(Self::agent(*role), record)
            }
            (Phase::Turn { turn, role, .. }, Input::Settle { .. }) if self.life.verdict.is_some() => {
                let iteration = self.round.as_ref().map_or(0, |round| round.number);
                let session = self.agent_state(*role).conversation.session.as_deref();
                vec![Event::TurnFinished(never_run(*turn, iteration, session))]
            }
            (Phase::Reported { reply }, Input::Inspected(facts)) => self.report(reply, facts),
            (Phase::Cleaned, Input::Inspected(facts)) => self.cleaned(facts),
            (Phase::Judged { reply }, Input::Inspected(facts)) => self.judgement(reply, facts),
            (Phase::Overdue { reason }, Input::Settle { .. }) => self.rejected_by_engine(reason.clone()),
            (Phase::Waits { role, wait }, input) => {
                self.life.waited(Self::agent(*role), wait, Relief::Nobody, input)
            }
            (Phase::Settling, Input::Settle { now }) => self.round_over(*now).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn known(&self) -> Known {
        let fresh = self.phase == Phase::Preparing && !self.life.workspace.ready;
        if fresh { Known::Nothing } else { Known::Past }
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
            turn: self.life.turns,
            iteration: self.round.as_ref().map_or(self.rounds, |round| round.number),
            agent: self.life.spec.agents[Self::agent(role)].name.clone(),
            session: if continued {
                self.agent_state(role).conversation.session.clone()
            } else {
                session.cloned()
            },
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
            return vec![Event::from(self.looked_at(facts))];
        }
        let Some(round) = self.round.as_ref().filter(|round| round.cleanups_failed > 0) else {
            let iteration = self.round.as_ref().map_or(0, |round| round.number);
            return vec![Event::from(MilestoneStep::ReportSentBack { iteration, complaints })];
        };
        let times = round.cleanups_failed.saturating_add(1);
        self.rejected_by_engine(format!(
            "the tree was not put in order in {times} turns: {}",
            complaints.join("; ")
        ))
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
            faults: (!judgement.accepted).then(|| judgement.reason.as_str().into()).into_iter().collect(),
            stderr_tail: None,
            promise: Work::is_final(round.work.as_ref()),
            blocked: None,
            timestamp: now,
            usage: round.usage,
            duration_ms: u64::try_from(now.duration_since(round.started_at).as_millis()).unwrap_or(0),
            checks: round.checks.iter().map(CheckBrief::from).collect(),
        }))
    }

    fn ending(&self) -> Ending<'_> {
        Ending {
            tally: Tally { attempted: self.rounds, succeeded: self.accepted, finished: self.finished },
            verified: true,
            stderr_tail: None,
            before: &[],
        }
    }

    /// A person has the last word, and has not said it.
    pub(super) fn in_review(&self) -> bool {
        self.question == Some(Question::Review)
    }
}
