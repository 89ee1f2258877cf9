//! Usage limits (L9): the next agent takes over, or the loop sleeps, or it has slept long enough. A limit that another
//! task found counts as if this one had run into it.

use std::time::Duration;

use jiff::Timestamp;

use super::{AgentLoop, LimitEnd, Phase};
use crate::engine::machine::FoundLimit;
use crate::engine::stop;
use crate::event::{Envelope, Event, KnownLimit, StopReason, WaitReason};

impl AgentLoop {
    /// Another agent of the list takes over; else the loop waits for the first one that is free again; else it ends,
    /// with what there is committed.
    pub(super) fn limit_hit(&self, message: &str, end: LimitEnd, now: Timestamp) -> Vec<Event> {
        let others = || (0..self.spec.agents.len()).filter(|agent| *agent != self.agent);
        let free = |agent: &usize| {
            !self.probed[*agent] && self.limited_until[*agent].is_none_or(|until| until <= now)
        };
        if let Some(next) = others().find(free) {
            return vec![self.change_to(next, message)];
        }
        let own = match end {
            LimitEnd::Said(resets_at) => self.limit_ends(resets_at, now),
            LimitEnd::Shared(until) => until,
            LimitEnd::Probed => return vec![self.await_probe(message, now)],
        };
        // What another task is trying at this moment may be over sooner than anything that has a time.
        if let Some(next) = others().find(|agent| self.probed[*agent]) {
            return vec![self.change_to(next, message)];
        }
        let until = others().filter_map(|agent| self.limited_until[agent]).fold(own, Timestamp::min);
        if self.limit_wait + until_from(until, now) > self.policy.max_wait {
            return vec![too_long(message)];
        }
        vec![Event::Waiting { until, why: WaitReason::Limit, message: message.to_owned() }]
    }

    fn change_to(&self, agent: usize, message: &str) -> Event {
        Event::AgentChanged { agent: self.spec.agents[agent].name.clone(), message: message.to_owned() }
    }

    /// Nobody knows how long another task's turn takes; at the longest it is waited for as long as for any limit.
    fn await_probe(&self, message: &str, now: Timestamp) -> Event {
        let left = self.policy.max_wait.saturating_sub(self.limit_wait);
        if left.is_zero() {
            return too_long(message);
        }
        Event::Waiting { until: stop::later(now, left), why: WaitReason::Probe, message: message.to_owned() }
    }

    /// What other tasks should know of the limit that the last turn ran into.
    pub(super) fn found_limit(&self, message: &str, resets_at: Option<Timestamp>) -> FoundLimit {
        let guesses = self.limits_in_row.saturating_add(1);
        let guess = stop::limit_backoff(guesses);
        FoundLimit { agent: self.agent, message: message.to_owned(), resets_at, guess, guesses }
    }

    /// By the agent's own word, or by a guess that grows.
    fn limit_ends(&self, resets_at: Option<Timestamp>, now: Timestamp) -> Timestamp {
        stop::limit_end(resets_at, stop::limit_backoff(self.limits_in_row.saturating_add(1)), now)
    }

    /// The sleep is over; the first agent of the list whose limit is over too takes over.
    pub(super) fn wake(&self, until: Timestamp, why: WaitReason) -> Vec<Event> {
        let mut events = Vec::new();
        if why == WaitReason::Limit {
            let free = self.limited_until.iter().position(|limit| limit.is_none_or(|limit| limit <= until));
            if let Some(agent) = free.filter(|agent| *agent != self.agent) {
                events.push(self.change_to(agent, "its limit is over"));
            }
        }
        events.push(Event::WaitOver);
        events
    }

    /// Another task ran into it, so this one need not.
    pub(super) fn limit_known(&mut self, known: &KnownLimit) {
        let KnownLimit { message, by, until, guesses, .. } = known;
        // Whoever runs into it next goes on with the pauses where the others are.
        self.limits_in_row = self.limits_in_row.max(*guesses);
        self.probed[self.agent] = until.is_none();
        let (message, end) = match until {
            Some(until) => {
                self.limited_until[self.agent] = Some(*until);
                (format!("found by task {by}: {message}"), LimitEnd::Shared(*until))
            }
            None => (format!("task {by} tries whether it is over: {message}"), LimitEnd::Probed),
        };
        self.phase = Phase::LimitHit { message, end };
    }

    pub(super) fn waiting(&mut self, until: Timestamp, why: WaitReason, line: &Envelope) {
        let elapsed = Duration::from_millis(line.elapsed_ms);
        if why == WaitReason::Limit {
            self.note_limit(line.at);
            self.limit_wait += until_from(until, line.at);
        }
        self.backoff_due = false;
        self.phase = match why {
            WaitReason::Limit | WaitReason::Backoff => Phase::Waiting { until, why },
            WaitReason::Probe => Phase::Probed { until, since: line.at, elapsed },
        };
    }

    pub(super) fn wait_over(&mut self, line: &Envelope) {
        let now = Duration::from_millis(line.elapsed_ms);
        match self.phase {
            Phase::Waiting { .. } => {}
            Phase::Probed { until, since, elapsed } => {
                // Active time; but by the clock that set the bound, reaching it means that all of it is used up.
                let all = if line.at >= until { until_from(until, since) } else { Duration::ZERO };
                self.limit_wait += now.saturating_sub(elapsed).max(all);
            }
            _ => return,
        }
        self.probed.fill(false);
        self.phase = self.before_a_turn();
        if self.current.is_none() {
            let elapsed = now.saturating_sub(self.elapsed_before);
            self.verdict = stop::out_of_time(&self.policy, elapsed, self.succeeded);
        }
    }

    pub(super) fn agent_changed(&mut self, name: &str, at: Timestamp) {
        self.note_limit(at);
        let named = |(index, agent): (usize, &crate::spec::AgentSpec)| {
            (index != self.agent && agent.name == name).then_some(index)
        };
        if let Some(agent) = self.spec.agents.iter().enumerate().find_map(named) {
            self.agent = agent;
            // Another agent cannot continue this one's conversation.
            self.session = None;
            self.conversed = false;
        }
        // In a sleep that has just ended, its end follows.
        if !matches!(self.phase, Phase::Waiting { .. }) {
            self.phase = self.before_a_turn();
        }
    }

    /// Keeps in mind until when the present agent cannot work.
    fn note_limit(&mut self, at: Timestamp) {
        if let Phase::LimitHit { end: LimitEnd::Said(resets_at), .. } = self.phase {
            self.limited_until[self.agent] = Some(self.limit_ends(resets_at, at));
            self.limits_in_row = self.limits_in_row.saturating_add(1);
        }
    }
}

fn too_long(message: &str) -> Event {
    let by = format!("{message}; the limit lasts longer than --max-wait allows");
    Event::StopRequested { by, reason: StopReason::LimitWait }
}

fn until_from(until: Timestamp, from: Timestamp) -> Duration {
    Duration::try_from(until.duration_since(from)).unwrap_or_default()
}
