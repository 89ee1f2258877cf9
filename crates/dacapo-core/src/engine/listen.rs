//! The one place where the driver waits. Whatever is waited for (a child's end, an answer, a slot, a time), signals and
//! commands are obeyed meanwhile, and surfaces tick.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::context::DriverError;
use super::driver::Driver;
use super::machine::Input;
use super::mailbox::{Message, Report};

/// A wall clock may jump and a machine may be suspended: a sleep looks at it again after so long.
const LOOK_AT_CLOCK: Duration = Duration::from_secs(30);

/// What a wait hears of.
#[derive(Debug)]
pub(super) enum Wakeup {
    /// The task is to end: what is at work must be ended. It is in the journal already.
    Stop,
    /// Commands were taken that do not end what is at work.
    Commands,
    Report(Report),
    /// The time has come.
    Deadline,
}

/// Whether a wait is over, or until when it goes on; none: for as long as it takes.
pub(super) type Waited<T> = ControlFlow<T, Option<Instant>>;

impl Driver<'_> {
    /// Waits until `hear` says that it is over. What is the same for every wait is done before `hear` is told of it:
    /// signals and commands are in the journal, and a kept agent that is gone was reported.
    pub(super) fn wait<T>(
        &mut self,
        mut deadline: Option<Instant>,
        mut hear: impl FnMut(&mut Self, Wakeup) -> Result<Waited<T>, DriverError>,
    ) -> Result<T, DriverError> {
        loop {
            let heard = match self.mailbox.receive(deadline, self.record.sink) {
                Some(message) => self.take_message(message)?,
                None => Some(Wakeup::Deadline),
            };
            let Some(heard) = heard else { continue };
            match hear(self, heard)? {
                ControlFlow::Continue(next) => deadline = next,
                ControlFlow::Break(outcome) => return Ok(outcome),
            }
        }
    }

    /// None: it is dealt with, and nobody else's.
    fn take_message(&mut self, message: Message) -> Result<Option<Wakeup>, DriverError> {
        Ok(match message {
            Message::Stop { by } => {
                // In the journal before anything is stopped: killed in between, the resumed task knows that it was to
                // end.
                self.input(&Input::Stop { by })?;
                Some(Wakeup::Stop)
            }
            Message::Mail => {
                // A second `kill` for a task that is ending already must not cut short what clears up.
                let ended = self.machine.ends_now();
                self.take_orders()?;
                let ends = !ended && self.machine.ends_now();
                Some(if ends { Wakeup::Stop } else { Wakeup::Commands })
            }
            // Only of one that has nothing to do. While it has a turn it is not among those that are kept, and its
            // end is the turn's.
            Message::Report(Report::AcpProcessGone(agent, finished)) if self.turns.acp.is_kept(agent) => {
                self.kept_acp_process_gone(agent, &finished)?;
                None
            }
            Message::Report(report) => Some(Wakeup::Report(report)),
        })
    }

    /// What came and is not what is waited for: the end of a child or of a probe that nobody waits for any more, and the
    /// like. Only what an agent did is still shown.
    pub(super) fn nobody_waits_for(&mut self, wakeup: Wakeup) {
        match wakeup {
            Wakeup::Report(Report::Agent(event)) => self.record.show(&event),
            Wakeup::Report(
                Report::ChildGone(_)
                | Report::Parsed(_)
                | Report::ProbeFree(_)
                | Report::ProofLease(_)
                | Report::Admitted(..)
                | Report::Acp(_)
                | Report::AcpProcessGone(..)
                | Report::AcpProcessFrozen(_)
                | Report::Answer { .. },
            )
            | Wakeup::Stop
            | Wakeup::Commands
            | Wakeup::Deadline => {}
        }
    }

    /// Takes all that has come so far.
    pub(super) fn take_what_came(&mut self) -> Result<(), DriverError> {
        // A deadline that has passed turns the wait into a look: `receive` then returns what is there, or nothing.
        let now = Some(Instant::now());
        self.wait(now, |driver, heard| match heard {
            Wakeup::Deadline => Ok(Waited::Break(())),
            heard @ (Wakeup::Stop | Wakeup::Commands | Wakeup::Report(_)) => {
                driver.nobody_waits_for(heard);
                Ok(Waited::Continue(now))
            }
        })
    }

    /// False: the task is to stop.
    pub(super) fn sleep_until(&mut self, until: Timestamp) -> Result<bool, DriverError> {
        let Some(first) = next_look(until) else { return Ok(true) };
        self.wait(Some(first), |driver, heard| {
            match heard {
                Wakeup::Stop => return Ok(Waited::Break(false)),
                heard @ (Wakeup::Commands | Wakeup::Report(_) | Wakeup::Deadline) => {
                    driver.nobody_waits_for(heard);
                }
            }
            Ok(look_again(until, true))
        })
    }
}

/// When to look at the wall clock again while `until` has not come.
pub(super) fn next_look(until: Timestamp) -> Option<Instant> {
    let left = Duration::try_from(until.duration_since(Timestamp::now())).unwrap_or_default();
    (!left.is_zero()).then(|| Instant::now() + left.min(LOOK_AT_CLOCK))
}

/// A wait by the wall clock goes on, or is over with this.
pub(super) fn look_again<T>(until: Timestamp, over: T) -> Waited<T> {
    match next_look(until) {
        Some(next) => Waited::Continue(Some(next)),
        None => Waited::Break(over),
    }
}
