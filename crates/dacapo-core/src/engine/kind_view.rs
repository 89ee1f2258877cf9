//! What only tasks of one kind show, beside what all tasks do. The kind folds it from the same journal.

use std::any::Any;
use std::fmt;

use serde_json::Value;

use crate::event::Envelope;

/// The part of a task's view that is its kind's own ([`super::Kind::view`]).
pub trait KindView: fmt::Debug + Send + Sync + Any {
    /// Takes in what happened.
    fn apply(&mut self, line: &Envelope);

    /// What `list --json` says under the kind's name. `at_work` in it is who has the work in hand at this moment.
    fn to_json(&self) -> Value;

    /// What `status --json` says: all of it.
    fn to_json_in_full(&self) -> Value {
        self.to_json()
    }

    /// What the kind's own line in a list for people is made of; kept in an index.
    fn brief(&self) -> Value {
        Value::Null
    }

    /// Nobody drives the task any more.
    fn interrupted(&mut self) {}

    /// Drops what grows with the task, for a surface that has shown it already (P3).
    fn forget_details(&mut self) {}

    /// Numbers that count in place of those that records of iterations come to.
    fn counts(&self) -> Option<Counts> {
        None
    }

    /// Its agents remember what they are told: nothing has to be told them again.
    fn remembers_guidance(&self) -> bool {
        false
    }

    /// Why a piece of work was no success is told here, and is no error of the task.
    fn explains_failures(&self) -> bool {
        false
    }

    /// What the task is for, where that is more than its prompt.
    fn purpose(&self) -> Option<Purpose> {
        None
    }

    fn boxed(&self) -> Box<dyn KindView>;

    /// For the kind's own rooms, which know what it is.
    fn as_any(&self) -> &dyn Any;
}

/// Numbers of a task, as its kind counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// The limit on pieces of work (iterations or rounds).
    pub most: u32,
    /// Finished pieces of work that succeeded.
    pub succeeded: u32,
    /// Finished pieces of work that did not.
    pub failed: u32,
    /// Commits on its branch.
    pub commits: u32,
}

/// What a task is for, told to whoever merges or reviews it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purpose {
    /// What such a task is called.
    pub word: &'static str,
    pub title: String,
    pub goal: String,
    /// What it is made of, a line each.
    pub parts: Vec<String>,
    /// The same, with what became of each.
    pub parts_done: Vec<String>,
}
