//! When files of the main checkout are brought up to date with the task (M8): after every round, and when it is taken up,
//! pauses and ends.

use std::path::Path;
use std::sync::Arc;

use super::admission::is_work;
use super::context::DriverError;
use super::driver::Driver;
use super::kind::Kinds;
use super::machine::{Input, Machine, Step, Whereabouts};
use crate::env::Env;
use crate::event::{Event, MirrorProblem, Notice};
use crate::git::Repo;
use crate::mirror::{Document, Mirrors, publish, says_so};
use crate::spec::TaskSpec;
use crate::store::{TaskDir, read};

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

/// What a task that nobody drives has to say, by its journal, as its own process would say it.
pub fn documents(dir: &TaskDir, spec: &TaskSpec, whereabouts: Whereabouts, kinds: Kinds) -> Vec<Document> {
    let Ok(mut machine) = kinds.machine(&Arc::new(spec.clone())) else { return Vec::new() };
    match read(&dir.journal_path(), |line| machine.apply(&line)) {
        Ok(_) => machine.published(whereabouts),
        Err(_) => Vec::new(),
    }
}

/// Puts right what a death has left: the files say something else than the journal of a task that nobody drives.
pub fn put_right(repo: &Repo, dir: &TaskDir, spec: &TaskSpec, kinds: Kinds) {
    let checkout = repo.main_checkout();
    let is_stale = |dir: &TaskDir| {
        let said = documents(dir, spec, Whereabouts::Here, kinds);
        said.iter().any(|document| !says_so(&checkout, spec.name.as_str(), document))
    };
    if !is_stale(dir) {
        return;
    }
    // Whoever drives the task says by itself where it stands.
    let Ok(_lock) = dir.lock_briefly() else { return };
    if is_stale(dir) {
        publish(spec, documents(dir, spec, Whereabouts::Here, kinds), repo.env());
    }
}
