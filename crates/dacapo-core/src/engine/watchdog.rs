//! Watches over a turn: its limits of time, and whether the agent is still at work.

use std::time::{Duration, Instant};

use super::machine::TurnPlan;
use super::turn_end::Why;
use crate::agent::{Adapter, Patience};
use crate::event::AgentEvent;
use crate::process::Running;
use crate::process::liveness::{Verdict, Watch};
use crate::spec::duration_text;

/// What ends a turn that does not end by itself.
pub(super) struct Watchdog {
    started: Instant,
    hard: Option<(Instant, Duration)>,
    hard_name: &'static str,
    idle: Duration,
    /// Percent of a core that the agent burns while it merely waits.
    idling: u32,
    /// What has not happened yet, in words, while silence is borne for a shorter time only.
    expected: Option<&'static str>,
    watch: Watch,
    next_look: Instant,
    patience: Patience,
    how_to_log_in: Option<&'static str>,
}

impl Watchdog {
    pub(super) fn new(plan: &TurnPlan, adapter: Option<&'static dyn Adapter>, started: Instant) -> Self {
        let idling = adapter.map_or(0, Adapter::burns_idle);
        let watch = Watch::new(plan.idle_limit).beyond(idling);
        Self {
            started,
            hard: plan.hard_limit.map(|limit| (started + limit, limit)),
            hard_name: plan.hard_limit_name,
            idle: plan.idle_limit,
            idling,
            expected: None,
            next_look: started + watch.tick_every(),
            watch,
            patience: Patience::default(),
            how_to_log_in: adapter.map(Adapter::how_to_log_in),
        }
    }

    /// Until [`Watchdog::watch_anew`], silence is borne for a shorter time; `missing` says what did not happen.
    pub(super) fn expect_soon(&mut self, within: Duration, missing: &'static str) {
        self.watch = Watch::new(within.min(self.idle)).beyond(self.idling);
        self.next_look = Instant::now() + self.watch.tick_every();
        self.expected = Some(missing);
    }

    /// When to look again.
    pub(super) fn deadline(&self) -> Instant {
        self.hard.map_or(self.next_look, |(hard, _)| hard.min(self.next_look))
    }

    /// The agent did something. A reason to end the turn: it tries in vain.
    pub(super) fn see(&mut self, event: &AgentEvent) -> Option<Why> {
        self.patience.see(event, self.started.elapsed(), self.how_to_log_in).map(Why::GaveUp)
    }

    /// Time has passed.
    pub(super) fn look(&mut self, running: &Running) -> Option<Why> {
        let now = Instant::now();
        if let Some((_, limit)) = self.hard.filter(|(hard, _)| *hard <= now) {
            let message = format!("no end within {} ({})", self.hard_name, duration_text(limit));
            return Some(Why::TimedOut(message));
        }
        if self.next_look > now {
            return None;
        }
        self.next_look = now + self.watch.tick_every();
        let bytes = running.progress().seen() + running.stderr_progress().map_or(0, |err| err.seen());
        let verdict = self.watch.observe(self.started.elapsed(), bytes, running.sample());
        (verdict == Verdict::Idle).then(|| {
            let missing = self.expected.map(str::to_owned);
            let idle = || format!("no sign of life for --idle-timeout ({})", duration_text(self.idle));
            let message = missing.unwrap_or_else(idle);
            match self.patience.silence(&message) {
                Some(given_up) => Why::GaveUp(given_up),
                None => Why::TimedOut(message),
            }
        })
    }

    /// The turn has waited so long for a person; that was not the agent's doing.
    pub(super) fn forgive(&mut self, waited: Duration) {
        if let Some((hard, _)) = &mut self.hard {
            *hard += waited;
        }
        self.watch_anew();
    }

    /// From here on the agent has all its time to be silent in.
    pub(super) fn watch_anew(&mut self) {
        self.watch = Watch::new(self.idle).beyond(self.idling);
        self.next_look = Instant::now() + self.watch.tick_every();
        self.expected = None;
    }
}
