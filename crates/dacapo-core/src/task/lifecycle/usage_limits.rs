//! Usage limits and pauses (L8, L9): another agent takes over, or the task sleeps, or it has slept long enough. A limit
//! that another task found counts as if this one had run into it.

use std::time::Duration;

use jiff::Timestamp;

use super::Lifecycle;
use crate::engine::machine::{Effect, FoundLimit, Input, Step};
use crate::engine::stop;
use crate::event::{
    Attempt, ChangeCause, Envelope, Event, KnownLimit, LimitSaid, StopDetail, StopReason, WaitCause,
    WaitReason,
};

/// What is known of the limits of the task's agents.
#[derive(Debug, Clone, Default)]
pub(crate) struct Limits {
    /// Limits in a row.
    in_row: u32,
    /// How long they were waited for.
    waited: Duration,
    /// Until when each agent cannot work.
    until: Vec<Option<Timestamp>>,
    /// Another task tries whether the limit of this agent is over.
    probed: Vec<bool>,
}

/// Why no turn starts at the moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Wait {
    /// An agent is at its limit; what follows from that is not decided yet.
    Hit {
        limit: LimitSaid,
        end: LimitEnd,
    },
    Asleep {
        until: Timestamp,
        why: WaitReason,
    },
    /// Another task tries whether the limit is over.
    Probed {
        until: Timestamp,
        since: Timestamp,
        elapsed: Duration,
    },
}

/// What is known of the end of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitEnd {
    /// A turn of this task ran into it, and this is what its agent said.
    Said(Option<Timestamp>),
    /// Another task did, and knows its end.
    Shared(Timestamp),
    /// Another task is trying whether it has come.
    Probed,
}

/// Who steps in for an agent at its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relief {
    /// Any other agent of the task.
    Others,
    /// Nobody: each has a part of its own.
    Nobody,
}

impl Limits {
    pub(super) fn of(agents: usize) -> Self {
        Self { until: vec![None; agents], probed: vec![false; agents], ..Self::default() }
    }

    /// What other tasks try says nothing any more.
    pub(crate) fn forget_probes(&mut self) {
        self.probed.fill(false);
    }

    /// A turn that ran into none.
    pub(crate) fn none_hit(&mut self) {
        self.in_row = 0;
    }

    /// It may wait as long as at first.
    pub(crate) fn renew_wait(&mut self) {
        self.waited = Duration::ZERO;
    }

    /// As at the beginning, but for what is known of each agent.
    pub(crate) fn begin_anew(&mut self) {
        self.renew_wait();
        self.none_hit();
        self.forget_probes();
    }

    /// By the agent's own word, or by a guess that grows.
    fn ends(&self, resets_at: Option<Timestamp>, now: Timestamp) -> Timestamp {
        stop::limit_end(resets_at, stop::limit_backoff(self.in_row.saturating_add(1)), now)
    }
}

impl Wait {
    /// A turn ran into a limit.
    pub(crate) fn said(message: &str, resets_at: Option<Timestamp>) -> Self {
        let limit = LimitSaid { message: message.to_owned(), found_by: None, probing: false };
        Self::Hit { limit, end: LimitEnd::Said(resets_at) }
    }

    /// It is slept through, rather than decided on.
    pub(crate) fn is_sleep(&self) -> bool {
        match self {
            Wait::Hit { .. } => false,
            Wait::Asleep { .. } | Wait::Probed { .. } => true,
        }
    }
}

impl Lifecycle {
    /// What is to be done while an agent is waited for.
    pub(crate) fn waits(&self, agent: usize, wait: &Wait) -> Step {
        match wait {
            Wait::Hit { end: LimitEnd::Said(_), .. } => Step::ShareLimit { agent },
            Wait::Hit { end: LimitEnd::Shared(_) | LimitEnd::Probed, .. } => Step::Settle,
            Wait::Asleep { until, why } => Step::Sleep { until: *until, why: *why },
            Wait::Probed { until, .. } => Step::AwaitProbe { agent, until: *until },
        }
    }

    pub(super) fn plan_sharing(&self, agent: usize, wait: Option<&Wait>) -> Option<Effect> {
        let Some(Wait::Hit { limit, end: LimitEnd::Said(resets_at) }) = wait else { return None };
        let guesses = self.limits.in_row.saturating_add(1);
        Some(Effect::ShareLimit(FoundLimit {
            agent,
            message: limit.message.clone(),
            resets_at: *resets_at,
            guess: stop::limit_backoff(guesses),
            guesses,
        }))
    }

    /// What follows from an input meanwhile.
    pub(crate) fn waited(&self, agent: usize, wait: &Wait, relief: Relief, input: &Input) -> Vec<Event> {
        match (wait, input) {
            (Wait::Hit { limit, end }, Input::Settle { now }) => {
                self.limit_hit(agent, relief, (limit, *end), *now)
            }
            (Wait::Asleep { until, why }, Input::WaitOver) => self.wake(agent, relief, *until, *why),
            (Wait::Probed { .. }, Input::WaitOver) => vec![Event::WaitOver],
            (Wait::Hit { .. } | Wait::Asleep { .. } | Wait::Probed { .. }, _) => Vec::new(),
        }
    }

    /// Another agent takes over where that may be; else the task waits for the first one that is free again; else it ends, with
    /// what there is.
    fn limit_hit(
        &self,
        agent: usize,
        relief: Relief,
        (limit, end): (&LimitSaid, LimitEnd),
        now: Timestamp,
    ) -> Vec<Event> {
        let Limits { probed, until: limited, .. } = &self.limits;
        let others = || self.others(agent, relief);
        let at_limit = || ChangeCause::Limit(limit.clone());
        let free = |agent: &usize| !probed[*agent] && limited[*agent].is_none_or(|until| until <= now);
        if let Some(next) = others().find(free) {
            return vec![self.change_to(next, at_limit())];
        }
        let own = match end {
            LimitEnd::Said(resets_at) => self.limits.ends(resets_at, now),
            LimitEnd::Shared(until) => until,
            LimitEnd::Probed => return vec![self.await_probe(limit, now)],
        };
        // What another task is trying at this moment may be over sooner than anything that has a time.
        if let Some(next) = others().find(|agent| probed[*agent]) {
            return vec![self.change_to(next, at_limit())];
        }
        // The first agent that is free again is waited for, not the one that ran into the limit last.
        let until = others().filter_map(|agent| limited[agent]).fold(own, Timestamp::min);
        // All waits together count, not each alone: otherwise a limit that is renewed for ever would be waited for
        // for ever.
        if self.limits.waited + until_from(until, now) > self.policy.max_wait {
            return vec![too_long(limit)];
        }
        vec![Event::Waiting { until, cause: WaitCause::Limit(limit.clone()) }]
    }

    fn others(&self, agent: usize, relief: Relief) -> impl Iterator<Item = usize> {
        let all = match relief {
            Relief::Others => self.spec.agents.len(),
            Relief::Nobody => 0,
        };
        (0..all).filter(move |other| *other != agent)
    }

    fn change_to(&self, agent: usize, cause: ChangeCause) -> Event {
        Event::AgentChanged { agent: self.spec.agents[agent].name.clone(), cause }
    }

    /// What is left of the time that the task may wait for limits.
    pub(crate) fn wait_left(&self) -> Duration {
        self.policy.max_wait.saturating_sub(self.limits.waited)
    }

    /// Nobody knows how long another task's turn takes; at the longest it is waited for as long as for any limit.
    fn await_probe(&self, limit: &LimitSaid, now: Timestamp) -> Event {
        let left = self.wait_left();
        if left.is_zero() {
            return too_long(limit);
        }
        Event::Waiting { until: stop::later(now, left), cause: WaitCause::Probe(limit.clone()) }
    }

    /// The sleep is over; the first agent of the list whose limit is over too takes over.
    fn wake(&self, agent: usize, relief: Relief, until: Timestamp, why: WaitReason) -> Vec<Event> {
        let mut events = Vec::new();
        if why == WaitReason::Limit && relief == Relief::Others {
            // Compared with the end that was planned: a machine has no clock.
            let free = |limit: &Option<Timestamp>| limit.is_none_or(|limit| limit <= until);
            if let Some(next) = self.limits.until.iter().position(free).filter(|next| *next != agent) {
                events.push(self.change_to(next, ChangeCause::LimitOver));
            }
        }
        events.push(Event::WaitOver);
        events
    }

    /// The pause after a failure.
    pub(crate) fn backoff(&self, failed: Attempt, failures_in_row: u32, now: Timestamp) -> Event {
        let pause = stop::backoff(failures_in_row);
        Event::Waiting {
            until: stop::later(now, pause),
            cause: WaitCause::Backoff { failed, pause_seconds: pause.as_secs() },
        }
    }

    /// Another task ran into the limit of this agent, so this one need not.
    pub(crate) fn limit_known(&mut self, agent: usize, known: &KnownLimit) -> Wait {
        let KnownLimit { message, by, until, guesses, .. } = known;
        // Whoever runs into it next goes on with the pauses where the others are.
        self.limits.in_row = self.limits.in_row.max(*guesses);
        self.limits.probed[agent] = until.is_none();
        let (message, found_by) = (message.clone(), Some(by.clone()));
        let limit = LimitSaid { message, found_by, probing: until.is_none() };
        match until {
            Some(until) => {
                self.limits.until[agent] = Some(*until);
                Wait::Hit { limit, end: LimitEnd::Shared(*until) }
            }
            None => Wait::Hit { limit, end: LimitEnd::Probed },
        }
    }

    /// It goes to sleep; `before` is what it waited for until now.
    pub(crate) fn falls_asleep(
        &mut self,
        agent: usize,
        before: Option<&Wait>,
        (until, why): (Timestamp, WaitReason),
        at: Timestamp,
    ) -> Wait {
        if why == WaitReason::Limit {
            self.note_limit(agent, before, at);
            // Counted when the sleep begins. After a crash in it the time is not counted a second time.
            self.limits.waited += until_from(until, at);
        }
        self.backoff_due = false;
        match why {
            WaitReason::Limit | WaitReason::Backoff => Wait::Asleep { until, why },
            WaitReason::Probe => Wait::Probed { until, since: at, elapsed: self.elapsed },
        }
    }

    /// It sleeps no more.
    pub(crate) fn wakes(&mut self, wait: &Wait, line: &Envelope) {
        if let Wait::Probed { until, since, elapsed } = wait {
            // Active time; but by the clock that set the bound, reaching it means that all of it is used up.
            let all = if line.at >= *until { until_from(*until, *since) } else { Duration::ZERO };
            self.limits.waited += self.elapsed.saturating_sub(*elapsed).max(all);
        }
        self.limits.forget_probes();
    }

    /// Keeps in mind until when an agent cannot work.
    pub(crate) fn note_limit(&mut self, agent: usize, wait: Option<&Wait>, at: Timestamp) {
        if let Some(Wait::Hit { end: LimitEnd::Said(resets_at), .. }) = wait {
            self.limits.until[agent] = Some(self.limits.ends(*resets_at, at));
            self.limits.in_row = self.limits.in_row.saturating_add(1);
        }
    }
}

fn too_long(limit: &LimitSaid) -> Event {
    let detail = StopDetail::LimitTooLong { limit: limit.clone() };
    Event::StopRequested { reason: StopReason::LimitWait, detail }
}

fn until_from(until: Timestamp, from: Timestamp) -> Duration {
    Duration::try_from(until.duration_since(from)).unwrap_or_default()
}
