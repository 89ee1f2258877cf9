//! The journal and the output of the turn at work, as one row of items.
//!
//! Their order follows from the files alone: an event stands behind what the agent had printed when it was written. So it is
//! the same whenever, and from wherever, a task is read.

use std::sync::Arc;

use super::hub::Hub;
use super::position::{Mark, Position};
use super::turn::{Did, Look, Tapes, Turn, Until};
use super::{Doing, FollowError, Item, Rest, Stream};
use crate::engine::Kinds;
use crate::engine::machine::{Effect, Machine, Step, TurnPlan};
use crate::engine::writing::name_of;
use crate::event::{Envelope, Event, TaskResult};
use crate::spec::TaskSpec;
use crate::spec::Writing;
use crate::store::{self, TaskDir};

/// What a look came to.
pub(super) enum Interleaved {
    Item(Item),
    /// A piece was read that says nothing; there may be more.
    More,
    UpToDate,
}

/// Whether what an agent does is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    Wanted,
    PassedOver,
}

pub(super) struct Interleave {
    hub: Hub,
    dir: TaskDir,
    pub(super) spec: Arc<TaskSpec>,
    /// None for a kind that is not known here: its record reads all the same, and only what its agents do stays unsaid.
    machine: Option<Box<dyn Machine + Send>>,
    journal: Option<store::Reader>,
    /// What is to be delivered next: output up to there, then the event.
    round: Option<Round>,
    turn: Option<Turn>,
    pub(super) position: Position,
    /// The end of the task, unless it was taken up again since.
    end: Option<TaskResult>,
}

struct Round {
    until: Until,
    line: Option<Box<Envelope>>,
    /// Something was delivered: there may be more behind it by now.
    delivered: bool,
}

impl Interleave {
    pub(super) fn new(hub: Hub, dir: &TaskDir, kinds: Kinds) -> Result<Self, FollowError> {
        let spec = Arc::new(dir.spec()?);
        Ok(Self {
            hub,
            dir: dir.clone(),
            machine: kinds.machine(&spec).ok(),
            position: Position::start(spec.tag.as_str()),
            spec,
            journal: None,
            round: None,
            turn: None,
            end: None,
        })
    }

    /// Goes to where a client was, without delivering what is before.
    pub(super) fn go_to(&mut self, position: &Position) -> Result<(), FollowError> {
        let lost = || FollowError::Lost(position.clone());
        if position.tag != self.spec.tag {
            return Err(FollowError::OtherTask(position.clone()));
        }
        let mut line = self.next_line()?;
        // Folded although it is not delivered: how the output of a later turn reads depends on the events before it.
        while let Some(known) = line.take_if(|line| line.seq < position.seq) {
            self.take_in(&known);
            line = self.next_line()?;
        }
        // The journal is shorter than the client remembers: it was cut, or restored from a backup.
        if self.position.seq < position.seq {
            return Err(lost());
        }
        let is_there = match &mut self.turn {
            Some(turn) => turn.go_to(position.raw, position.stderr),
            None => (position.raw, position.stderr) == (Mark::default(), Mark::default()),
        };
        if !is_there {
            return Err(lost());
        }
        (self.position.raw, self.position.stderr) = (position.raw, position.stderr);
        if let Some(line) = line {
            let there = self.length();
            self.begin_round(there, Some(line));
        }
        Ok(())
    }

    /// The tapes of any turn; none: there was no such turn, or it cannot be told how its output reads.
    pub(super) fn tapes_of(mut self, number: u32) -> Result<Option<Arc<Tapes>>, FollowError> {
        while let Some(line) = self.next_line()? {
            if let Some(machine) = &mut self.machine {
                machine.apply(&line);
            }
            if matches!(line.event, Event::TurnStarted { turn, .. } if turn == number) {
                let Some(plan) = self.turn_at_work() else { return Ok(None) };
                let make = || Tapes::of(&self.dir, &self.spec, plan);
                return Ok(Some(self.hub.tapes(&self.spec.tag, number, make)));
            }
        }
        Ok(None)
    }

    /// How the task came to rest, by what was delivered.
    pub(super) fn rest(&self) -> Rest {
        match &self.end {
            Some(result) => Rest::Ended(Box::new(result.clone())),
            None => Rest::Interrupted,
        }
    }

    /// Delivers the next thing.
    pub(super) fn step(&mut self, output: Output) -> Result<Interleaved, FollowError> {
        if self.round.is_none() {
            // How much there is, is asked first: what is written down later than that stands behind it.
            let there = self.length();
            let line = self.next_line()?;
            self.begin_round(there, line);
        }
        let Some(round) = &mut self.round else { return Ok(Interleaved::UpToDate) };
        if output == Output::Wanted
            && let Some(turn) = &mut self.turn
        {
            let mut step = turn.next(round.until)?;
            let over = round.line.as_ref().is_some_and(|line| matches!(line.event, Event::TurnFinished(_)));
            // Only at the end of the turn a last line without its newline is known to be complete.
            if over && matches!(step, Look::Nothing) {
                step = turn.last()?;
            }
            match step {
                Look::Did(did) => {
                    round.delivered = true;
                    let number = turn.number;
                    return Ok(Interleaved::Item(self.did(number, did)));
                }
                Look::More => return Ok(Interleaved::More),
                Look::Nothing => {}
            }
        }
        let Some(Round { line, delivered, .. }) = self.round.take() else { return Ok(Interleaved::UpToDate) };
        match line {
            Some(line) => {
                self.take_in(&line);
                Ok(Interleaved::Item(Item::Event(line)))
            }
            None if delivered => Ok(Interleaved::More),
            None => {
                if let Some(journal) = &mut self.journal {
                    // Nothing more to read for now: the descriptor is given back until the task rings.
                    journal.let_go();
                }
                Ok(Interleaved::UpToDate)
            }
        }
    }

    /// Passes over what the agent at work did already but for the last few things, which are given back; its last report of
    /// what it used comes first. What comes from now on is news.
    pub(super) fn last_of_turn(&mut self, things: usize) -> Result<Vec<(Position, Item)>, FollowError> {
        let until = self.length();
        let Some(turn) = &mut self.turn else { return Ok(Vec::new()) };
        if turn.skip_to_last(things, until)? {
            (self.position.raw, self.position.stderr) = turn.marks();
        }
        let mut usage = None;
        let mut last = std::collections::VecDeque::new();
        loop {
            let turn_number = turn.number;
            let did = match turn.next(until)? {
                Look::Did(did) => did,
                Look::More => continue,
                Look::Nothing => break,
            };
            let (stream, behind) = (did.from, did.behind);
            let item = item(turn_number, did);
            match stream {
                Stream::Stdout => self.position.raw = behind,
                Stream::Stderr => self.position.stderr = behind,
            }
            if matches!(&item, Item::Agent { event: crate::event::AgentEvent::Usage(_), .. }) {
                usage = Some((self.position.clone(), item));
                continue;
            }
            last.push_back((self.position.clone(), item));
            if last.len() > things {
                last.pop_front();
            }
        }
        Ok(usage.into_iter().chain(last).collect())
    }

    /// What goes on now.
    pub(super) fn doing(&self) -> Option<Doing> {
        let machine = self.machine.as_ref()?;
        let step = machine.next()?;
        match step {
            Step::RunCheck { .. } => match machine.plan(step) {
                Effect::RunCheck(plan) => Some(Doing::Check { command: plan.command }),
                _ => None,
            },
            Step::PrepareProof { .. } => match machine.plan(step) {
                Effect::PrepareProof(plan) => Some(Doing::Proving { commit: plan.commit }),
                _ => None,
            },
            Step::PrepareCommit { .. } => Some(Doing::Committing),
            Step::Write { what, .. } => {
                let writer = match what {
                    Writing::Summary => &self.spec.context.summary_by,
                    Writing::CommitMessage => &self.spec.context.message_by,
                };
                let by = name_of(writer.as_ref()?).to_owned();
                Some(Doing::Writing { what, by })
            }
            _ => None,
        }
    }

    fn length(&self) -> Until {
        self.turn.as_ref().map_or(Until { raw: 0, stderr: 0 }, Turn::length)
    }

    fn begin_round(&mut self, there: Until, line: Option<Envelope>) {
        let until = match (&self.turn, &line) {
            (Some(turn), Some(line)) => turn.before(line, there),
            _ => there,
        };
        self.round = Some(Round { until, line: line.map(Box::new), delivered: false });
    }

    fn next_line(&mut self) -> Result<Option<Envelope>, FollowError> {
        if self.journal.is_none() {
            let path = self.dir.journal_path();
            // One that waits for its turn may have none yet.
            if !path.exists() {
                return Ok(None);
            }
            self.journal = Some(store::Reader::open(&path)?);
        }
        let Some(journal) = &mut self.journal else { return Ok(None) };
        Ok(journal.next_line()?)
    }

    fn did(&mut self, turn: u32, did: Did) -> Item {
        match did.from {
            Stream::Stdout => self.position.raw = did.behind,
            Stream::Stderr => self.position.stderr = did.behind,
        }
        item(turn, did)
    }

    fn take_in(&mut self, line: &Envelope) {
        if let Some(machine) = &mut self.machine {
            machine.apply(line);
        }
        self.position.seq = line.seq + 1;
        match &line.event {
            Event::TurnStarted { .. } => {
                self.turn = match self.turn_at_work() {
                    Some(plan) => {
                        let number = plan.turn;
                        let make = || Tapes::of(&self.dir, &self.spec, plan);
                        let tapes = self.hub.tapes(&self.spec.tag, number, make);
                        Some(Turn::new(number, &self.dir, tapes))
                    }
                    None => None,
                };
                self.forget_marks();
            }
            Event::TurnFinished(_) => {
                self.turn = None;
                self.forget_marks();
            }
            Event::TaskFinished(result) => self.end = Some(result.clone()),
            Event::TaskStarted { .. } | Event::Resumed { .. } => self.end = None,
            _ => {}
        }
    }

    fn forget_marks(&mut self) {
        (self.position.raw, self.position.stderr) = (Mark::default(), Mark::default());
    }

    fn turn_at_work(&self) -> Option<TurnPlan> {
        let machine = self.machine.as_ref()?;
        let step = machine.next().filter(|step| matches!(step, Step::RunTurn { .. }))?;
        match machine.plan(step) {
            Effect::RunTurn(plan) => Some(plan),
            _ => None,
        }
    }
}

fn item(turn: u32, did: Did) -> Item {
    Item::Agent { turn, stream: did.from, offset: did.offset, event: did.event }
}
