//! Watches over a turn: its limits of time, and whether the agent is still at work.

use std::time::{Duration, Instant};

use super::machine::TurnPlan;
use super::turn_end::StoppedBy;
use crate::agent::{Adapter, Patience};
use crate::event::{AgentEvent, Fault, LogIn, TimeLimit};
use crate::process::Running;
use crate::process::liveness::{ActivityMonitor, Verdict};

/// What ends a turn that does not end by itself.
pub(super) struct Watchdog {
    started: Instant,
    hard: Option<(Instant, Duration)>,
    hard_limit: TimeLimit,
    idle: Duration,
    /// Percent of a core that the agent burns while it merely waits.
    idling: u32,
    /// Silence is borne for a shorter time only: the agent has not yet answered at all.
    awaits_first_answer: bool,
    monitor: ActivityMonitor,
    next_look: Instant,
    patience: Patience,
    log_in: Option<LogIn>,
}

impl Watchdog {
    pub(super) fn new(plan: &TurnPlan, adapter: Option<&'static dyn Adapter>, started: Instant) -> Self {
        let idling = adapter.map_or(0, Adapter::burns_idle);
        let monitor = ActivityMonitor::new(plan.idle_limit).beyond(idling);
        Self {
            started,
            hard: plan.hard_limit.map(|limit| (started + limit, limit)),
            hard_limit: plan.hard_limit_is,
            idle: plan.idle_limit,
            idling,
            awaits_first_answer: false,
            next_look: started + monitor.tick_every(),
            monitor,
            patience: Patience::new(plan.wait_left),
            log_in: adapter.map(|adapter| LogIn::of(adapter.name())),
        }
    }

    /// Until [`Watchdog::watch_anew`], silence is borne for a shorter time: its first answer is due.
    pub(super) fn expect_first_answer(&mut self, within: Duration) {
        self.monitor = ActivityMonitor::new(within.min(self.idle)).beyond(self.idling);
        self.next_look = Instant::now() + self.monitor.tick_every();
        self.awaits_first_answer = true;
    }

    /// When to look again.
    pub(super) fn deadline(&self) -> Instant {
        self.hard.map_or(self.next_look, |(hard, _)| hard.min(self.next_look))
    }

    /// The agent did something. A reason to end the turn: it tries in vain.
    pub(super) fn see(&mut self, event: &AgentEvent) -> Option<StoppedBy> {
        self.patience.see(event, self.started.elapsed(), self.log_in.as_ref()).map(StoppedBy::GaveUp)
    }

    /// Checks the limits against the time that has passed.
    pub(super) fn look(&mut self, running: &Running) -> Option<StoppedBy> {
        let now = Instant::now();
        if let Some((_, limit)) = self.hard.filter(|(hard, _)| *hard <= now) {
            return Some(StoppedBy::TimedOut(Fault::TooSlow {
                limit: self.hard_limit,
                limit_ms: millis(limit),
            }));
        }
        if self.next_look > now {
            return None;
        }
        self.next_look = now + self.monitor.tick_every();
        // Bytes seen, not bytes kept: with a full disk the agent still works.
        let bytes = running.progress().seen() + running.stderr_progress().map_or(0, |err| err.seen());
        let verdict = self.monitor.observe(self.started.elapsed(), bytes, running.sample());
        (verdict == Verdict::Idle).then(|| {
            let fault = |said| match self.awaits_first_answer {
                true => Fault::NoAcpAnswer { said },
                false => Fault::Silent { limit_ms: millis(self.idle), said },
            };
            match self.patience.silence(|said| fault(Some(said))) {
                Some(given_up) => StoppedBy::GaveUp(given_up),
                None => StoppedBy::TimedOut(fault(None)),
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
        self.monitor = ActivityMonitor::new(self.idle).beyond(self.idling);
        self.next_look = Instant::now() + self.monitor.tick_every();
        self.awaits_first_answer = false;
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
