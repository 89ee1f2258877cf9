//! The queues that a task waits in before it works: for its turn in the repository, then for a slot on the machine.
//!
//! A milestone is the only one of its repository at work (M2), so it waits for its turn first and keeps it for as long as
//! its process drives it, also while it sleeps. Whoever waits for a turn has no slot on the machine meanwhile: that
//! belongs to tasks that work (S4).

use std::io;
use std::os::fd::OwnedFd;
use std::time::Instant;

use super::context::DriverError;
use super::driver::Driver;
use super::listen::{Waited, Wakeup};
use super::machine::Step;
use super::mailbox::Report;
use super::workspace::Workspace;
use crate::event::{Event, WaitReason};
use crate::store::{Entered, QueueTicket, SlotLease, Slots};

/// A queue that a task waits in, and what it has there already.
#[derive(Debug)]
pub struct QueueEntry {
    slots: Slots,
    entered: Option<Entered>,
}

impl QueueEntry {
    /// Enters it now: the order of those who wait is the order in which they came.
    pub fn entered(slots: Slots) -> io::Result<Self> {
        let entered = slots.enter()?;
        Ok(Self { slots, entered: Some(entered) })
    }

    /// With a slot that the task has already.
    pub fn at(slots: Slots, lease: SlotLease) -> Self {
        Self { slots, entered: Some(Entered::Slot(lease)) }
    }

    /// To be entered when it is needed.
    pub fn later(slots: Slots) -> Self {
        Self { slots, entered: None }
    }

    /// Whether others come first.
    pub fn waits(&self) -> bool {
        matches!(self.entered, Some(Entered::Queued(_)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Queue {
    /// To be the one at work in the repository.
    Repository,
    /// To work at once with others of this machine.
    Machine,
}

/// Where a task is in both queues.
#[derive(Debug)]
pub(super) struct Admission {
    repository: Slot,
    machine: Slot,
}

/// What the task has in one queue.
#[derive(Debug)]
enum Slot {
    /// It need not wait for one.
    NotNeeded,
    /// It has none, and none was asked for.
    Without(Slots),
    /// It was given one, or a ticket, before the driver began.
    Given(Slots, Entered),
    /// It has a slot.
    Holds(Slots, SlotLease),
}

impl Admission {
    pub(super) fn new(repository: Option<QueueEntry>, machine: Option<QueueEntry>) -> Self {
        Self { repository: Slot::new(repository), machine: Slot::new(machine) }
    }

    fn slot(&mut self, queue: Queue) -> &mut Slot {
        match queue {
            Queue::Repository => &mut self.repository,
            Queue::Machine => &mut self.machine,
        }
    }

    fn has(&mut self, queue: Queue, (slots, lease): (Slots, SlotLease), task: &str) {
        if queue == Queue::Repository {
            // Only so that others can say whose turn it is.
            let _ = lease.name(task);
        }
        *self.slot(queue) = Slot::Holds(slots, lease);
    }
}

impl Slot {
    fn new(entry: Option<QueueEntry>) -> Self {
        match entry {
            None => Self::NotNeeded,
            Some(QueueEntry { slots, entered: None }) => Self::Without(slots),
            Some(QueueEntry { slots, entered: Some(entered) }) => Self::Given(slots, entered),
        }
    }

    /// Gives the slot or the ticket up.
    fn leave(&mut self) {
        *self = match std::mem::replace(self, Self::NotNeeded) {
            Self::NotNeeded => Self::NotNeeded,
            Self::Without(slots) | Self::Given(slots, _) | Self::Holds(slots, _) => Self::Without(slots),
        };
    }

    fn share(&self) -> Option<OwnedFd> {
        match self {
            Self::Holds(_, lease) => lease.share().ok(),
            Self::NotNeeded | Self::Without(_) | Self::Given(..) => None,
        }
    }
}

/// What has to do with work, and so needs a slot.
pub(super) fn is_work(step: Step) -> bool {
    match step {
        Step::PrepareWorkspace
        | Step::RunSetup { .. }
        | Step::RunCheck { .. }
        | Step::PrepareProof { .. }
        | Step::FindHidden { .. }
        | Step::BeginTurn(_)
        | Step::RunTurn { .. }
        | Step::Write { .. } => true,
        // What a turn left is kept at once, whoever waits.
        Step::PrepareCommit { .. }
        | Step::Land { .. }
        | Step::InspectWork { .. }
        | Step::KeepWork
        | Step::Sleep { .. }
        | Step::ShareLimit { .. }
        | Step::AwaitProbe { .. }
        | Step::Settle
        | Step::Finish => false,
    }
}

/// What others may use the slot during. Its turn a task keeps.
fn is_long_wait(step: Step) -> bool {
    matches!(step, Step::AwaitProbe { .. } | Step::Sleep { why: WaitReason::Limit | WaitReason::Probe, .. })
}

fn failed(source: io::Error) -> DriverError {
    DriverError::Queue { source }
}

impl Driver<'_> {
    /// Has its turn and a slot for the step, as far as it needs them. False: it is not wanted any more.
    pub(super) fn admit(&mut self, step: Step) -> Result<bool, DriverError> {
        if is_long_wait(step) {
            // A limit can last for days: the slot goes to tasks of other accounts meanwhile.
            self.admission.machine.leave();
            return Ok(true);
        }
        if !is_work(step) {
            return Ok(true);
        }
        // Always in this order. With the slot of the machine first, tasks that wait for the repository would hold all
        // slots, and the one that has the repository could get none.
        Ok(self.admit_to(Queue::Repository, step)? && self.admit_to(Queue::Machine, step)?)
    }

    fn admit_to(&mut self, queue: Queue, step: Step) -> Result<bool, DriverError> {
        let (slots, entered) = match std::mem::replace(self.admission.slot(queue), Slot::NotNeeded) {
            same @ (Slot::NotNeeded | Slot::Holds(..)) => {
                *self.admission.slot(queue) = same;
                return Ok(true);
            }
            Slot::Without(slots) => {
                let entered = slots.enter().map_err(failed)?;
                (slots, entered)
            }
            Slot::Given(slots, entered) => (slots, entered),
        };
        match entered {
            Entered::Slot(lease) => {
                self.admission.has(queue, (slots, lease), self.spec.name.as_str());
                Ok(true)
            }
            Entered::Queued(ticket) => self.wait_in(queue, (slots, ticket), step),
        }
    }

    fn wait_in(
        &mut self,
        queue: Queue,
        (slots, ticket): (Slots, QueueTicket),
        step: Step,
    ) -> Result<bool, DriverError> {
        let since = Instant::now();
        self.record(Event::Queued)?;
        let (outbox, waiting) = (self.mailbox.outbox(), slots.clone());
        std::thread::Builder::new()
            .name("queue".into())
            // Waiting for a file lock cannot be interrupted, so a thread does it. When it is not waited for any more,
            // its report is dropped by `nobody_waits_for`, and the slot with it.
            .spawn(move || {
                outbox.report(Report::Admitted(queue, waiting.wait(ticket)));
            })
            .map_err(failed)?;
        *self.admission.slot(queue) = Slot::Without(slots.clone());
        self.wait(None, |driver, heard| match heard {
            Wakeup::Report(Report::Admitted(which, lease)) if which == queue => {
                driver.admission.has(
                    queue,
                    (slots.clone(), lease.map_err(failed)?),
                    driver.spec.name.as_str(),
                );
                driver.record.clock.leave_out(since.elapsed());
                driver.record(Event::Dequeued)?;
                Ok(Waited::Break(true))
            }
            other @ (Wakeup::Stop | Wakeup::Commands | Wakeup::Report(_) | Wakeup::Deadline) => {
                driver.nobody_waits_for(other);
                let next = driver.machine.next();
                // Only the kind of step: a command may have changed its details, and the place in the queue is kept
                // for that.
                if next.as_ref().map(std::mem::discriminant) != Some(std::mem::discriminant(&step)) {
                    driver.record.clock.leave_out(since.elapsed());
                    return Ok(Waited::Break(false));
                }
                Ok(Waited::Continue(None))
            }
        })
    }

    /// Shares of turn and slot for a job, so that neither is free before all that works in it is gone.
    pub(super) fn slot_shares(&self) -> Vec<OwnedFd> {
        self.admission.machine.share().into_iter().chain(self.lasting_shares()).collect()
    }

    /// Queue a process that may live through a wait, in which the slot is given up.
    pub(super) fn lasting_shares(&self) -> Vec<OwnedFd> {
        let ports = self.workspace.as_ref().and_then(Workspace::share_of_ports);
        self.admission.repository.share().into_iter().chain(ports).collect()
    }
}
