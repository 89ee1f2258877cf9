//! When files of the main checkout are brought up to date with the task (M8): after every round, and when it is taken up,
//! pauses and ends.

use std::collections::BTreeSet;

use super::driver::Driver;
use super::machine::{Effect, Input, Whereabouts};
use super::standing::is_work;
use super::surroundings::DriverError;
use crate::event::Event;
use crate::mirror::Mirrors;

/// What is mirrored of a task.
#[derive(Debug)]
pub(super) struct Mirroring {
    mirrors: Mirrors,
    due: bool,
    /// What went wrong and was told.
    noted: BTreeSet<String>,
}

impl Mirroring {
    pub(super) fn of(task: &str) -> Self {
        Self { mirrors: Mirrors::of(task), due: false, noted: BTreeSet::new() }
    }

    /// An event is in the journal.
    pub(super) fn saw(&mut self, event: &Event) {
        self.due |= matches!(
            event,
            Event::Resumed { .. }
                | Event::WorkspaceReady { .. }
                | Event::IterationFinished(_)
                | Event::Paused { .. }
                | Event::TaskFinished(_)
        );
    }
}

impl Driver<'_> {
    /// Before the next piece of work: who only waits for its turn, or is ended by somebody, is not the one at work.
    pub(super) fn mirror_before(&mut self, effect: &Effect) -> Result<(), DriverError> {
        if !is_work(effect) {
            return Ok(());
        }
        for problem in self.mirror() {
            if self.mirroring.noted.insert(problem.clone()) {
                self.input(&Input::Notice(problem))?;
            }
        }
        Ok(())
    }

    /// After the last line of the journal, which is to stay the last.
    pub(super) fn mirror_the_end(&mut self) {
        for problem in self.mirror() {
            if !self.mirroring.noted.contains(&problem) {
                tracing::warn!("{problem}");
            }
        }
    }

    fn mirror(&mut self) -> Vec<String> {
        if !std::mem::take(&mut self.mirroring.due) {
            return Vec::new();
        }
        let documents = self.machine.published(Whereabouts::Here);
        self.mirroring.mirrors.write(&self.spec.top, documents)
    }
}
