//! The task's journal and all that follows from a line of it. While a task is driven, nothing else writes to it.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::context::{DriverError, Sink};
use super::durability::Durability;
use super::mirroring::Mirroring;
use super::stderr_events::TurnOutput;
use crate::event::{AgentEvent, Envelope, Event, FORMAT, TaskResult};
use crate::store::{Fault, Journal, JournalError};

/// The journal, its time, and who is told of each line.
pub(super) struct TaskJournal<'a> {
    task: String,
    journal: Journal,
    pub(super) durability: Durability,
    pub(super) mirroring: Mirroring,
    pub(super) sink: &'a mut dyn Sink,
    pub(super) clock: Clock,
    last: Option<Envelope>,
    /// How many things were shown since the last line.
    sub: u64,
    /// How far the output of the turn at work has come.
    pub(super) turn_output: Option<TurnOutput>,
    result: Option<TaskResult>,
    /// This process has written down that it takes the task up.
    begun: bool,
}

impl<'a> TaskJournal<'a> {
    /// Goes on after `last`.
    pub(super) fn new(
        task: String,
        (journal, last): (Journal, Option<Envelope>),
        (durability, mirroring): (Durability, Mirroring),
        sink: &'a mut dyn Sink,
    ) -> Self {
        let clock = Clock::after(last.as_ref());
        Self {
            task,
            journal,
            durability,
            mirroring,
            sink,
            clock,
            last,
            sub: 0,
            turn_output: None,
            result: None,
            begun: false,
        }
    }

    /// True the first time: this process is yet to write down that it takes the task up.
    pub(super) fn begins(&mut self) -> bool {
        !std::mem::replace(&mut self.begun, true)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// On disk before anyone acts on it; `apply` takes each line in.
    pub(super) fn append(
        &mut self,
        event: Event,
        apply: &mut dyn FnMut(&Envelope),
    ) -> Result<(), DriverError> {
        let iteration_over = matches!(event, Event::IterationFinished(_));
        if iteration_over {
            // A power cut costs at most the newest iteration: the one before is on disk by now.
            // Waiting here, one iteration later, is free as a rule: a turn takes longer than a sync.
            for notice in self.durability.wait() {
                self.append_line(Event::Notice(notice), apply)?;
            }
        }
        self.append_line(event, apply)?;
        if iteration_over {
            self.durability.begin();
        }
        Ok(())
    }

    fn append_line(&mut self, mut event: Event, apply: &mut dyn FnMut(&Envelope)) -> Result<(), DriverError> {
        if let Event::TaskFinished(result) = &mut event {
            // On a record that somebody else has written to nothing is proven (R4).
            result.verified &= self.journal.record().is_whole();
        }
        let line = Envelope {
            v: FORMAT,
            seq: self.journal.next_seq(),
            at: Timestamp::now(),
            elapsed_ms: u64::try_from(self.clock.elapsed().as_millis()).unwrap_or(u64::MAX),
            task: self.task.clone(),
            came_at: self.turn_output.as_ref().map(TurnOutput::came_at),
            event,
        }
        .consistent();
        if let Event::TaskFinished(_) = &line.event
            && let Err(error) = self.journal.seal(&line)
        {
            tracing::warn!("the journal cannot be sealed: {error}");
        }
        match self.journal.append(&line) {
            Ok(()) => {}
            // What was there before is ours, and the rest is out of the way: it is said, and the task goes on unproven.
            Err(error @ JournalError::Foreign { .. }) => {
                self.append_line(Event::RecordAltered { message: error.to_string() }, apply)?;
                return self.append_line(line.event, apply);
            }
            Err(error) => return Err(error.into()),
        }
        // The machine takes in what is written, never what is about to be. After a failed write its state is still
        // the file's.
        apply(&line);
        if let Event::TaskFinished(result) = &line.event {
            self.result = Some(result.clone());
        }
        self.mirroring.saw(&line.event);
        self.sink.event(&line);
        self.last = Some(line);
        self.sub = 0;
        Ok(())
    }

    /// Shows what an agent did.
    pub(super) fn show(&mut self, event: &AgentEvent) {
        if let Some(last) = &self.last {
            self.sink.agent(last, self.sub, event);
            self.sub += 1;
        }
    }

    pub(super) fn begin_seal(&mut self) -> std::io::Result<()> {
        self.journal.begin_seal()
    }

    pub(super) fn add_fault(&mut self, fault: Fault) {
        self.journal.add_fault(fault);
    }

    pub(super) fn next_seq(&self) -> u64 {
        self.journal.next_seq()
    }

    /// Whether nothing is missing from the journal, and nobody else has written to it.
    pub(super) fn is_whole(&self) -> bool {
        self.journal.record().is_whole()
    }

    /// What the task came to in this process.
    pub(super) fn into_result(self) -> Option<TaskResult> {
        self.result
    }
}

/// The active time of a task.
#[derive(Debug)]
pub(super) struct Clock {
    before: Duration,
    started: Instant,
}

impl Clock {
    fn after(last: Option<&Envelope>) -> Self {
        let before = last.map_or(Duration::ZERO, |line| Duration::from_millis(line.elapsed_ms));
        // The monotonic clock, so that a jump of the wall clock neither ends a task nor gives it more time.
        Self { before, started: Instant::now() }
    }

    /// Active time of the task so far.
    pub(super) fn elapsed(&self) -> Duration {
        self.before + self.started.elapsed()
    }

    pub(super) fn of_this_process(&self) -> Duration {
        self.started.elapsed()
    }

    /// Leaves a time out in which the task only waited for others.
    pub(super) fn leave_out(&mut self, time: Duration) {
        self.started += time;
    }
}
