//! Usage limits (L9): whoever runs into one is waited for; nobody can take over for a Developer or an Acceptor.

use std::time::Duration;

use jiff::Timestamp;

use super::{LimitEnd, Milestone, Phase, Role};
use crate::engine::machine::FoundLimit;
use crate::engine::stop;
use crate::event::{Envelope, Event, KnownLimit, StopReason, WaitReason};

impl Milestone {
    /// It sleeps, or it has slept long enough.
    pub(super) fn limit_hit(&self, message: &str, end: LimitEnd, now: Timestamp) -> Vec<Event> {
        let left = self.policy.max_wait.saturating_sub(self.limit_wait);
        let (until, why) = match end {
            LimitEnd::Said(resets_at) => {
                let guess = stop::limit_backoff(self.limits_in_row.saturating_add(1));
                (stop::limit_end(resets_at, guess, now), WaitReason::Limit)
            }
            LimitEnd::Shared(until) => (until, WaitReason::Limit),
            // Nobody knows how long another task's turn takes.
            LimitEnd::Probed => (stop::later(now, left), WaitReason::Probe),
        };
        if left.is_zero() || until_from(until, now) > left {
            let by = format!("{message}; the limit lasts longer than --max-wait allows");
            return vec![Event::StopRequested { by, reason: StopReason::LimitWait }];
        }
        vec![Event::Waiting { until, why, message: message.to_owned() }]
    }

    /// What other tasks should know of the limit that the last turn ran into.
    pub(super) fn found_limit(&self, role: Role, message: &str, resets_at: Option<Timestamp>) -> FoundLimit {
        let guesses = self.limits_in_row.saturating_add(1);
        let guess = stop::limit_backoff(guesses);
        FoundLimit { agent: Self::agent(role), message: message.to_owned(), resets_at, guess, guesses }
    }

    /// Another task ran into it, so this one need not.
    pub(super) fn limit_known(&mut self, known: &KnownLimit) {
        let Some(role) = self.to_ask() else { return };
        let KnownLimit { message, by, until, guesses, .. } = known;
        self.limits_in_row = self.limits_in_row.max(*guesses);
        let (message, end) = match until {
            Some(until) => (format!("found by task {by}: {message}"), LimitEnd::Shared(*until)),
            None => (format!("task {by} tries whether it is over: {message}"), LimitEnd::Probed),
        };
        self.phase = Phase::LimitHit { role, message, end };
    }

    pub(super) fn waiting(&mut self, until: Timestamp, why: WaitReason, line: &Envelope) {
        let role = match &self.phase {
            Phase::LimitHit { role, end, .. } => {
                if matches!(end, LimitEnd::Said(_)) {
                    self.limits_in_row = self.limits_in_row.saturating_add(1);
                }
                *role
            }
            _ => self.to_ask().unwrap_or(Role::Developer),
        };
        if why == WaitReason::Limit {
            self.limit_wait += until_from(until, line.at);
        }
        self.backoff_due = false;
        self.phase = match why {
            WaitReason::Limit | WaitReason::Backoff => Phase::Waiting { role, until, why },
            WaitReason::Probe => Phase::Probed { role, until, since: line.at, elapsed: self.elapsed },
        };
    }

    pub(super) fn wait_over(&mut self, line: &Envelope) {
        let role = match self.phase {
            Phase::Waiting { role, .. } => role,
            Phase::Probed { role, until, since, elapsed } => {
                // Active time; but by the clock that set the bound, reaching it means that all of it is used up.
                let all = if line.at >= until { until_from(until, since) } else { Duration::ZERO };
                self.limit_wait += self.elapsed.saturating_sub(elapsed).max(all);
                role
            }
            _ => return,
        };
        if self.round.is_some() {
            self.phase = Phase::Asking(role);
        } else {
            self.phase = Phase::Between;
            self.settle_between();
        }
    }
}

fn until_from(until: Timestamp, from: Timestamp) -> Duration {
    Duration::try_from(until.duration_since(from)).unwrap_or_default()
}
