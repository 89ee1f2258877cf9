//! What follows from an input, as events.

use jiff::Timestamp;

use super::{AgentLoop, Phase};
use crate::engine::machine::Input;
use crate::event::{
    Attempt, CheckBrief, CheckPhase, CheckResult, CommitPlanned, Ended, Event, IterationRecord, Notice,
    Outcome, StopDetail, StopReason,
};
use crate::git::Oid;
use crate::task::lifecycle::{AtTheEnd, Ending, Known, Relief, Tally, never_run};

impl AgentLoop {
    pub(super) fn decide_on(&self, input: &Input) -> Vec<Event> {
        match (&self.phase, input) {
            (_, Input::Begin(begin)) => vec![self.life.begin(begin, self.known())],
            (_, Input::Stop { by })
                if self.phase != Phase::Over
                    && (self.life.verdict.is_none()
                        || self.life.is_paused()
                        || self.phase == Phase::Proving) =>
            {
                vec![Event::StopRequested { reason: StopReason::Cancelled, detail: StopDetail::by(by) }]
            }
            (_, Input::Command(received)) => vec![Event::CommandReceived(received.clone())],
            (_, Input::Notice(notice)) => vec![Event::Notice(notice.clone())],
            (Phase::Preparing, input) => self.life.prepared(input).into_iter().collect(),
            (Phase::Between | Phase::Retry, Input::WorkspaceFailed(problems)) => {
                vec![Event::WorkspaceFailed { problems: problems.clone() }]
            }
            (Phase::Waits(wait), input) => self.life.waited(self.agent, wait, Relief::Others, input),
            (Phase::Proving, input) => self.life.proving(input),
            (Phase::Baseline { .. } | Phase::Checking { .. }, Input::CheckDone(result))
                if self.awaits(result) =>
            {
                vec![Event::CheckFinished(result.clone())]
            }
            // A stopped loop never starts a turn, whoever asks for it.
            (Phase::Between | Phase::Retry, Input::TurnBegins { head, session })
                if self.life.verdict.is_none() && !self.life.backoff_due =>
            {
                self.turn_begins(head.as_ref(), session.as_ref())
            }
            (Phase::Between | Phase::Retry, Input::LimitKnown(known))
                if self.life.verdict.is_none()
                    && !self.life.backoff_due
                    && known.agent == self.life.spec.agents[self.agent].name =>
            {
                vec![Event::LimitKnown(known.clone())]
            }
            // The number is compared: an input that was on its way when the state changed must not end another turn.
            (Phase::Turn { turn, .. }, Input::TurnEnded(record)) if record.turn == *turn => {
                self.life.turn_ended(self.agent, record)
            }
            // The turn is on record and its agent was never started: a stop came in between. It still needs its end.
            (Phase::Turn { turn, .. }, Input::Settle { .. }) if self.life.verdict.is_some() => {
                let iteration = self.current.as_ref().map_or(0, |current| current.iteration);
                let session = self.conversation.session.as_deref();
                vec![Event::TurnFinished(never_run(*turn, iteration, session))]
            }
            (Phase::Writing(what), Input::Written(record))
                if record.what == *what && self.is_at_work(record.iteration) =>
            {
                vec![Event::Written(record.clone())]
            }
            (Phase::Writing(what), Input::Settle { .. }) if self.life.verdict.is_some() => {
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
            (Phase::Landing(planned), Input::LandedElsewhere { problem }) => {
                let mut lost = planned.clone();
                // The commit is kept under a rescue ref, but not on the branch: for the loop there is none.
                lost.commit = None;
                lost.problems.push(problem.clone());
                vec![Event::NoCommit(lost)]
            }
            (Phase::Between, Input::Settle { now })
                if self.life.backoff_due && self.life.verdict.is_none() =>
            {
                vec![self.life.backoff(Attempt::Iteration, self.failures_in_row, *now)]
            }
            (Phase::Settling, Input::Settle { now }) => self.iteration_over(*now).into_iter().collect(),
            (Phase::Between | Phase::Retry, Input::Finishing { last_commit, trust_files, elapsed }) => {
                let at = AtTheEnd { last_commit: last_commit.as_ref(), trust_files, elapsed: *elapsed };
                let finished = self.life.finish(self.needs(), at, self.ending());
                self.not_told().into_iter().chain(finished).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What a person said while the last iteration was at work, if the task is completed with it: nobody should think that
    /// it was heard.
    fn not_told(&self) -> Option<Event> {
        let texts: Vec<String> = self.told.iter().chain(self.guidance.unsaid()).cloned().collect();
        let completed = self.life.verdict.is_some_and(|verdict| verdict.outcome == Outcome::Completed);
        (completed && !texts.is_empty() && !self.not_told_said)
            .then_some(Event::Notice(Notice::NotTold { texts }))
    }

    fn is_at_work(&self, iteration: u32) -> bool {
        self.current.as_ref().is_some_and(|current| current.iteration == iteration)
    }

    fn turn_begins(&self, head: Option<&Oid>, session: Option<&String>) -> Vec<Event> {
        let mut events = Vec::new();
        if self.current.is_none() {
            events.push(Event::IterationStarted { iteration: self.attempted, start_commit: head.cloned() });
        }
        let continued = self.continues();
        events.push(Event::TurnStarted {
            turn: self.life.turns,
            iteration: self.current.as_ref().map_or(self.attempted, |current| current.iteration),
            agent: self.life.spec.agents[self.agent].name.clone(),
            session: if continued { self.conversation.session.clone() } else { session.cloned() },
            continued,
        });
        events
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

    fn prepared(&self, planned: &CommitPlanned) -> Event {
        if planned.commit.is_some() {
            Event::CommitIntent(planned.clone())
        } else {
            Event::NoCommit(planned.clone())
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
            summary: if self.life.spec.context.generate_summary { current.in_words() } else { String::new() },
            success: outcome == Ended::Success,
            outcome,
            faults: current.faults(),
            stderr_tail: current.stderr_tail.clone(),
            promise: current.promise,
            blocked: current.blocked.clone(),
            timestamp: now,
            usage: current.usage,
            duration_ms: u64::try_from(now.duration_since(current.started_at).as_millis()).unwrap_or(0),
            checks: current.checks.iter().map(CheckBrief::from).collect(),
        }))
    }

    fn known(&self) -> Known {
        let fresh = self.phase == Phase::Preparing && !self.life.workspace.ready;
        if fresh { Known::Nothing } else { Known::Past }
    }

    fn ending(&self) -> Ending<'_> {
        Ending {
            tally: Tally { attempted: self.attempted, succeeded: self.succeeded, finished: self.finished },
            verified: self.verified(),
            stderr_tail: self.stderr_tail.clone(),
            before: &self.baseline,
        }
    }
}
