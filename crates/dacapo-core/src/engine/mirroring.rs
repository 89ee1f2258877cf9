//! When files of the main checkout are brought up to date with the task (M8): after every round, and when it is taken up,
//! pauses and ends.

use std::path::Path;

use super::admission::is_work;
use super::context::DriverError;
use super::driver::Driver;
use super::machine::{Input, Machine, Step, Whereabouts};
use crate::env::Env;
use crate::event::{Event, MirrorProblem, Notice};
use crate::mirror::Mirrors;

/// What is mirrored of a task.
#[derive(Debug)]
pub(super) struct Mirroring {
    mirrors: Mirrors,
    due: bool,
    /// What went wrong and was told.
    noted: Vec<MirrorProblem>,
}

impl Mirroring {
    pub(super) fn of(task: &str, env: &Env) -> Self {
        Self { mirrors: Mirrors::of(task, env), due: false, noted: Vec::new() }
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

    /// Brings the files up to date where that is due; says what went wrong.
    fn write(&mut self, machine: &dyn Machine, top: &Path) -> Vec<MirrorProblem> {
        if !std::mem::take(&mut self.due) {
            return Vec::new();
        }
        self.mirrors.write(top, machine.published(Whereabouts::Here))
    }
}

impl Driver<'_> {
    /// Before the next piece of work: who only waits for its turn, or is ended by somebody, is not the one at work.
    pub(super) fn mirror_before(&mut self, step: Step) -> Result<(), DriverError> {
        if !is_work(step) {
            return Ok(());
        }
        for problem in self.record.mirroring.write(&*self.machine, &self.spec.top) {
            if !self.record.mirroring.noted.contains(&problem) {
                self.record.mirroring.noted.push(problem.clone());
                self.input(&Input::Notice(Notice::Mirror(problem)))?;
            }
        }
        Ok(())
    }

    /// After the last line of the journal, which is to stay the last.
    pub(super) fn mirror_the_end(&mut self) {
        for problem in self.record.mirroring.write(&*self.machine, &self.spec.top) {
            if !self.record.mirroring.noted.contains(&problem) {
                tracing::warn!("{problem}");
            }
        }
    }
}
