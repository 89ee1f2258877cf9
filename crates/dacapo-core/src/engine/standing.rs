//! Where a task stands in the rows that it has to wait in: for its turn in the repository, then for a place on the machine.
//!
//! A milestone is the only one of its repository at work (M2), so it waits for its turn first and keeps it for as long as
//! its process drives it, also while it sleeps. Whoever waits for a turn has no place on the machine meanwhile: that
//! belongs to tasks that work (S4).

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use super::driver::{Driver, Message};
use super::machine::Effect;
use super::surroundings::DriverError;
use crate::event::{Event, WaitReason};
use crate::store::{Held, Places, Seat, Ticket};

/// A row that a task stands in, and what it has there already.
#[derive(Debug)]
pub struct Row {
    places: Places,
    seat: Option<Seat>,
}

impl Row {
    /// Enters it now: the order of those who wait is the order in which they came.
    pub fn entered(places: Places) -> io::Result<Self> {
        let seat = places.enter()?;
        Ok(Self { places, seat: Some(seat) })
    }

    /// With a place that the task has already.
    pub fn at(places: Places, held: Held) -> Self {
        Self { places, seat: Some(Seat::Place(held)) }
    }

    /// To be entered when it is needed.
    pub fn later(places: Places) -> Self {
        Self { places, seat: None }
    }

    /// Whether others come first.
    pub fn waits(&self) -> bool {
        matches!(self.seat, Some(Seat::Row(_)))
    }
}

/// Which row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    /// To be the one at work in the repository.
    Turn,
    /// To work at once with others of this machine.
    Place,
}

/// Where a task stands in both.
#[derive(Debug)]
pub(super) struct Standing {
    turn: Post,
    place: Post,
}

/// Where it stands in one.
#[derive(Debug)]
enum Post {
    /// It takes no part.
    Apart,
    /// It has none, and none was asked for.
    Without(Places),
    /// It was given one, or a ticket, before the driver began.
    Given(Places, Seat),
    /// It has one.
    At(Places, Held),
}

impl Standing {
    pub(super) fn new(turn: Option<Row>, place: Option<Row>) -> Self {
        Self { turn: Post::new(turn), place: Post::new(place) }
    }

    fn post(&mut self, row: For) -> &mut Post {
        match row {
            For::Turn => &mut self.turn,
            For::Place => &mut self.place,
        }
    }
}

impl Post {
    fn new(row: Option<Row>) -> Self {
        match row {
            None => Self::Apart,
            Some(Row { places, seat: None }) => Self::Without(places),
            Some(Row { places, seat: Some(seat) }) => Self::Given(places, seat),
        }
    }

    /// Gives it up.
    fn leave(&mut self) {
        *self = match std::mem::replace(self, Self::Apart) {
            Self::Apart => Self::Apart,
            Self::Without(places) | Self::Given(places, _) | Self::At(places, _) => Self::Without(places),
        };
    }

    fn share(&self) -> Option<OwnedFd> {
        match self {
            Self::At(_, held) => held.share().ok(),
            Self::Apart | Self::Without(_) | Self::Given(..) => None,
        }
    }
}

/// What has to do with work, and so needs a place.
pub(super) fn is_work(effect: &Effect) -> bool {
    match effect {
        Effect::PrepareWorkspace
        | Effect::RunSetup(_)
        | Effect::RunCheck(_)
        | Effect::PrepareProof(_)
        | Effect::FindHidden { .. }
        | Effect::BeginTurn(_)
        | Effect::RunTurn(_)
        | Effect::Write(_) => true,
        // What a turn left is kept at once, whoever waits.
        Effect::PrepareCommit(_)
        | Effect::Land(_)
        | Effect::InspectWork(_)
        | Effect::KeepWork
        | Effect::Sleep { .. }
        | Effect::ShareLimit(_)
        | Effect::AwaitProbe { .. }
        | Effect::Settle
        | Effect::Finish { .. } => false,
    }
}

/// What others may use the place during. Its turn a task keeps.
fn is_long_wait(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::AwaitProbe { .. } | Effect::Sleep { why: WaitReason::Limit | WaitReason::Probe, .. }
    )
}

fn failed(source: io::Error) -> DriverError {
    DriverError::Queue { source }
}

impl Driver<'_> {
    /// Has its turn and a place for the effect, as far as it needs them. False: it is not wanted any more.
    pub(super) fn stand(&mut self, effect: &Effect) -> Result<bool, DriverError> {
        if is_long_wait(effect) {
            self.standing.place.leave();
            return Ok(true);
        }
        if !is_work(effect) {
            return Ok(true);
        }
        Ok(self.stand_in(For::Turn, effect)? && self.stand_in(For::Place, effect)?)
    }

    fn stand_in(&mut self, row: For, effect: &Effect) -> Result<bool, DriverError> {
        let (places, seat) = match std::mem::replace(self.standing.post(row), Post::Apart) {
            same @ (Post::Apart | Post::At(..)) => {
                *self.standing.post(row) = same;
                return Ok(true);
            }
            Post::Without(places) => {
                let seat = places.enter().map_err(failed)?;
                (places, seat)
            }
            Post::Given(places, seat) => (places, seat),
        };
        match seat {
            Seat::Place(held) => {
                self.has(row, places, held);
                Ok(true)
            }
            Seat::Row(ticket) => self.queue(row, (places, ticket), effect),
        }
    }

    fn queue(
        &mut self,
        row: For,
        (places, ticket): (Places, Ticket),
        effect: &Effect,
    ) -> Result<bool, DriverError> {
        let since = Instant::now();
        self.record(Event::Queued)?;
        let (outbox, waiting) = (self.outbox.clone(), places.clone());
        std::thread::Builder::new()
            .name("queue".into())
            .spawn(move || {
                let _ = outbox.send(Message::Place(row, waiting.wait(ticket)));
            })
            .map_err(failed)?;
        *self.standing.post(row) = Post::Without(places.clone());
        loop {
            match self.receive(None) {
                Some(Message::Place(which, held)) if which == row => {
                    self.has(row, places, held.map_err(failed)?);
                    self.did_not_count(since.elapsed());
                    self.record(Event::Dequeued)?;
                    return Ok(true);
                }
                Some(message) => {
                    self.absorb(message)?;
                    let next = self.machine.next();
                    if next.as_ref().map(std::mem::discriminant) != Some(std::mem::discriminant(effect)) {
                        self.did_not_count(since.elapsed());
                        return Ok(false);
                    }
                }
                None => return Ok(false),
            }
        }
    }

    fn has(&mut self, row: For, places: Places, held: Held) {
        if row == For::Turn {
            // Only so that others can say whose turn it is.
            let _ = held.name(self.spec.name.as_str());
        }
        *self.standing.post(row) = Post::At(places, held);
    }

    /// Shares of turn and place for a job, so that neither is free before all that works in it is gone.
    pub(super) fn share_of_place(&self) -> Vec<OwnedFd> {
        self.standing.place.share().into_iter().chain(self.share_of_turn()).collect()
    }

    /// For a process that may live through a wait, in which the place is given up.
    pub(super) fn share_of_turn(&self) -> Vec<OwnedFd> {
        self.standing.turn.share().into_iter().chain(self.share_of_ports()).collect()
    }

    fn did_not_count(&mut self, time: Duration) {
        self.started += time;
    }
}
