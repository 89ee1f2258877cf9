//! Usage limits (L9): the next agent takes over, or the loop sleeps, or it has slept long enough.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::{AgentLoop, Phase};
use crate::engine::stop;
use crate::event::{Event, StopReason, WaitReason};

impl AgentLoop {
    /// Another agent of the list takes over; else the loop waits for the first one that is free again; else it ends,
    /// with what there is committed.
    pub(super) fn limit_hit(
        &self,
        message: &str,
        resets_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Vec<Event> {
        let others = || (0..self.spec.agents.len()).filter(|agent| *agent != self.agent);
        if let Some(next) = others().find(|agent| self.limited_until[*agent].is_none_or(|until| until <= now))
        {
            let agent = self.spec.agents[next].name.clone();
            return vec![Event::AgentChanged { agent, message: message.to_owned() }];
        }
        let own = self.limit_ends(resets_at, now);
        let until = others().filter_map(|agent| self.limited_until[agent]).fold(own, Timestamp::min);
        if self.limit_wait + until_from(until, now) > self.spec.policy.max_wait {
            let by = format!("{message}; the limit lasts longer than --max-wait allows");
            return vec![Event::StopRequested { by, reason: StopReason::LimitWait }];
        }
        vec![Event::Waiting { until, why: WaitReason::Limit, message: message.to_owned() }]
    }

    /// By the agent's own word, or by a guess that grows.
    fn limit_ends(&self, resets_at: Option<Timestamp>, now: Timestamp) -> Timestamp {
        let guess = || later(now, stop::limit_backoff(self.limits_in_row + 1));
        // A reset that has passed already is no end: the limit was hit after it.
        resets_at.filter(|until| *until > now).unwrap_or_else(guess)
    }

    /// The sleep is over; the first agent of the list whose limit is over too takes over.
    pub(super) fn wake(&self, until: Timestamp, why: WaitReason) -> Vec<Event> {
        let mut events = Vec::new();
        if why == WaitReason::Limit {
            let free = self.limited_until.iter().position(|limit| limit.is_none_or(|limit| limit <= until));
            if let Some(agent) = free.filter(|agent| *agent != self.agent) {
                let agent = self.spec.agents[agent].name.clone();
                events.push(Event::AgentChanged { agent, message: "its limit is over".to_owned() });
            }
        }
        events.push(Event::WaitOver);
        events
    }

    pub(super) fn waiting(&mut self, until: Timestamp, why: WaitReason, at: Timestamp) {
        if why == WaitReason::Limit {
            self.note_limit(at);
            self.limit_wait += until_from(until, at);
        }
        self.backoff_due = false;
        self.phase = Phase::Waiting { until, why };
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
            self.phase = Phase::Retry;
        }
    }

    /// Keeps in mind until when the present agent cannot work.
    fn note_limit(&mut self, at: Timestamp) {
        if let Phase::LimitHit { resets_at, .. } = &self.phase {
            self.limited_until[self.agent] = Some(self.limit_ends(*resets_at, at));
            self.limits_in_row = self.limits_in_row.saturating_add(1);
        }
    }
}

pub(super) fn later(now: Timestamp, by: Duration) -> Timestamp {
    let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::ZERO);
    now.checked_add(by).unwrap_or(Timestamp::MAX)
}

fn until_from(until: Timestamp, from: Timestamp) -> Duration {
    Duration::try_from(until.duration_since(from)).unwrap_or_default()
}
