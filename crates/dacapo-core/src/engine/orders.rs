//! What reaches the driver from elsewhere: commands in the task's inbox, and its place among the tasks of this machine.

use std::time::{Duration, Instant};

use super::driver::{Driver, Message};
use super::machine::{Effect, Input};
use super::surroundings::{Answers, DriverError, Reply};
use crate::agent::acp::Question;
use crate::event::{Command, Event, Needs, WaitReason};
use crate::store::{Held, Places, Seat, Watch};

/// Where a task stands among those that want to work at once (S4).
#[derive(Debug)]
pub(super) enum Standing {
    /// It takes no part: a task in the foreground.
    Apart,
    /// It has none, and none was asked for.
    Without(Places),
    /// It was given one, or a ticket, before the driver began.
    Given(Places, Seat),
    /// It has a place.
    At(Places, Held),
}

impl Standing {
    pub(super) fn new(places: Option<(Places, Seat)>) -> Self {
        places.map_or(Self::Apart, |(places, seat)| Self::Given(places, seat))
    }

    /// Gives the place up.
    fn leave(&mut self) {
        *self = match std::mem::replace(self, Self::Apart) {
            Self::Apart => Self::Apart,
            Self::Without(places) | Self::Given(places, _) | Self::At(places, _) => Self::Without(places),
        };
    }
}

/// What has to do with work, and so needs a place.
fn is_work(effect: &Effect) -> bool {
    match effect {
        Effect::PrepareWorkspace
        | Effect::RunSetup(_)
        | Effect::RunCheck(_)
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

/// What others may use the place during.
fn is_long_wait(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::AwaitProbe { .. } | Effect::Sleep { why: WaitReason::Limit | WaitReason::Probe, .. }
    )
}

impl Driver<'_> {
    /// Listens to the inbox, and takes what lies there already.
    pub(super) fn open_inbox(&mut self) -> Result<Option<Watch>, DriverError> {
        let outbox = self.outbox.clone();
        let watch = self.dir.inbox().watch(move || {
            let _ = outbox.send(Message::Mail);
        });
        self.take_orders()?;
        match watch {
            Ok(watch) => Ok(Some(watch)),
            Err(error) => {
                self.input(&Input::Notice(format!("commands cannot reach this task: {error}")))?;
                Ok(None)
            }
        }
    }

    /// Each is in the journal before its file goes, and none is taken twice.
    pub(super) fn take_orders(&mut self) -> Result<(), DriverError> {
        let inbox = self.dir.inbox();
        // An inbox that cannot be read is empty; who put something in waits for it to be taken, and says so.
        for received in inbox.look().unwrap_or_default() {
            if self.commands_taken.insert(received.id.clone()) {
                self.input(&Input::Command(received.clone()))?;
                self.answer_with(&received.command);
            }
            let _ = inbox.done(&received);
        }
        Ok(())
    }

    /// Puts a question to whoever is at hand, and into the journal for all others. False: nobody can answer.
    pub(super) fn is_asked(&mut self, question: &Question, reply: &Reply) -> Result<bool, DriverError> {
        let here = self.sink.ask(question, reply);
        if !here && self.setting.answers == Answers::Here {
            return Ok(false);
        }
        let mut options: Vec<String> = question.choices.iter().map(|choice| choice.name.clone()).collect();
        options.iter_mut().for_each(|option| *option = self.masker.mask_str(option));
        let needs =
            Needs { kind: "permission".into(), question: self.masker.mask_str(&question.what), options };
        self.asked = Some(question.clone());
        self.record(Event::Asked { needs })?;
        Ok(true)
    }

    /// A command that answers what was asked last; one that comes too late changes nothing.
    fn answer_with(&self, command: &Command) {
        let Some(question) = &self.asked else { return };
        let fitting = |allows: bool| {
            let all = question.choices.iter().enumerate().filter(|(_, choice)| choice.allows == allows);
            all.min_by_key(|(_, choice)| choice.for_good).map(|(at, _)| at)
        };
        let choice = match command {
            Command::Approve { choice: None } => fitting(true),
            Command::Approve { choice: Some(number) } => number.checked_sub(1),
            Command::Reject { .. } => fitting(false),
            Command::Kill
            | Command::Abandon
            | Command::Pause { .. }
            | Command::Tell { .. }
            | Command::Refreeze { .. }
            | Command::Set { .. } => return,
        };
        Reply::new(self.outbox.clone(), question).choose(choice);
    }

    /// What was asked is answered, or its turn is over.
    pub(super) fn needs_no_answer(&mut self) -> Result<(), DriverError> {
        match self.asked.take() {
            Some(_) => self.record(Event::Answered),
            None => Ok(()),
        }
    }

    /// Has a place for the effect, as far as it needs one. False: it is not wanted any more.
    pub(super) fn stand(&mut self, effect: &Effect) -> Result<bool, DriverError> {
        if is_long_wait(effect) {
            self.standing.leave();
            return Ok(true);
        }
        if !is_work(effect) {
            return Ok(true);
        }
        let failed = |source| DriverError::Queue { source };
        let (places, seat) = match std::mem::replace(&mut self.standing, Standing::Apart) {
            same @ (Standing::Apart | Standing::At(..)) => {
                self.standing = same;
                return Ok(true);
            }
            Standing::Without(places) => {
                let seat = places.enter().map_err(failed)?;
                (places, seat)
            }
            Standing::Given(places, seat) => (places, seat),
        };
        let ticket = match seat {
            Seat::Place(held) => {
                self.standing = Standing::At(places, held);
                return Ok(true);
            }
            Seat::Row(ticket) => ticket,
        };
        let since = Instant::now();
        self.record(Event::Queued)?;
        let (outbox, row) = (self.outbox.clone(), places.clone());
        std::thread::Builder::new()
            .name("queue".into())
            .spawn(move || {
                let _ = outbox.send(Message::Place(row.wait(ticket)));
            })
            .map_err(failed)?;
        self.standing = Standing::Without(places.clone());
        loop {
            match self.receive(None) {
                Some(Message::Place(held)) => {
                    self.standing = Standing::At(places, held.map_err(failed)?);
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

    /// A share of the place for a job, so that it is not free before all that works in it is gone.
    pub(super) fn share_of_place(&self) -> Vec<std::os::fd::OwnedFd> {
        let place = match &self.standing {
            Standing::At(_, held) => held.share().ok(),
            Standing::Apart | Standing::Without(_) | Standing::Given(..) => None,
        };
        place.into_iter().chain(self.share_of_ports()).collect()
    }

    fn did_not_count(&mut self, time: Duration) {
        self.started += time;
    }
}
