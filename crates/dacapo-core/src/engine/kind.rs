//! What a kind of task is to the engine and to whoever shows tasks ([`Kind`]), and those that a caller knows ([`Kinds`]).

use std::fmt;
use std::sync::Arc;

use super::kind_view::KindView;
use super::machine::Machine;
use crate::spec::{Change, InvalidChange, TaskSpec};

/// A kind of task: what its specs look like inside, and the machine that decides.
pub trait Kind: Sync {
    /// The word for it, in specs, journals and lists.
    fn name(&self) -> &'static str;

    /// The machine of a task, before any of its journal is applied.
    fn machine(&self, spec: Arc<TaskSpec>) -> Result<Box<dyn Machine + Send>, NotThatKind>;

    /// The limits of it that can be changed while it runs, by their names (`dacapo set`).
    fn limits(&self) -> &'static [&'static str] {
        &Change::KEYS
    }

    /// Reads `key=value` as its machine does.
    fn change(&self, key: &str, value: &str) -> Result<Change, InvalidChange> {
        Change::parse(key, value)
    }

    /// Below this are the branches of such tasks.
    fn branches(&self) -> &'static str {
        "refs/heads/dacapo/"
    }

    /// Whether only one of this kind is at work in a repository at a time.
    fn takes_turns(&self) -> bool {
        false
    }

    /// Whether files of the main checkout tell where such a task stands ([`Machine::published`]).
    fn publishes(&self) -> bool {
        false
    }

    /// Whether a person can say yes or no to what such a task asks when it has paused. False: whoever takes it up has answered.
    fn takes_answers(&self) -> bool {
        false
    }

    /// What only tasks of this kind show, before any of the journal is applied; none: nothing.
    fn view(&self, spec: &TaskSpec) -> Option<Box<dyn KindView>> {
        let _ = spec;
        None
    }

    /// The file that gives a task its name, where it cannot have another one.
    fn named_by(&self, _spec: &TaskSpec) -> Option<String> {
        None
    }
}

/// A task that no kind here can drive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotThatKind {
    #[error("this version does not know tasks of kind '{0}'")]
    Unknown(String),
    /// Its own part of the spec does not read.
    #[error("cannot read the spec of this {kind}: {message}")]
    Details { kind: &'static str, message: String },
}

/// The kinds that a driver knows.
#[derive(Clone, Copy)]
pub struct Kinds(&'static [&'static dyn Kind]);

impl Kinds {
    /// These instead of the built-in ones.
    pub fn of(kinds: &'static [&'static dyn Kind]) -> Self {
        Self(kinds)
    }

    /// The kind of this name.
    pub fn find(self, name: &str) -> Option<&'static dyn Kind> {
        self.0.iter().copied().find(|kind| kind.name() == name)
    }

    pub fn all(self) -> &'static [&'static dyn Kind] {
        self.0
    }

    /// Whether only one task of this kind is at work in a repository at a time.
    pub fn take_turns(self, kind: &str) -> bool {
        self.0.iter().any(|known| known.name() == kind && known.takes_turns())
    }

    /// Below these are the branches of tasks, each once.
    pub fn branches(self) -> Vec<&'static str> {
        let mut all: Vec<&str> = self.0.iter().map(|kind| kind.branches()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Reads `key=value` as the machine of this kind does.
    pub fn change(self, kind: &str, key: &str, value: &str) -> Result<Change, InvalidChange> {
        self.find(kind).map_or_else(|| Change::parse(key, value), |kind| kind.change(key, value))
    }

    /// What only tasks of its kind show of a task.
    pub fn view(self, spec: &TaskSpec) -> Option<Box<dyn KindView>> {
        self.find(&spec.kind)?.view(spec)
    }

    /// Whether files of the main checkout tell where a task of this kind stands.
    pub fn publish(self, kind: &str) -> bool {
        self.find(kind).is_some_and(|kind| kind.publishes())
    }

    /// Whether a person can say yes or no to what a task of this kind asks when it has paused.
    pub fn take_answers(self, kind: &str) -> bool {
        self.find(kind).is_some_and(|kind| kind.takes_answers())
    }

    /// The machine of a task.
    pub fn machine(self, spec: &Arc<TaskSpec>) -> Result<Box<dyn Machine + Send>, NotThatKind> {
        let kind = self.find(&spec.kind);
        kind.ok_or_else(|| NotThatKind::Unknown(spec.kind.clone()))?.machine(Arc::clone(spec))
    }
}

impl PartialEq for Kinds {
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().map(|kind| kind.name()).eq(other.0.iter().map(|kind| kind.name()))
    }
}

impl fmt::Debug for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|kind| kind.name())).finish()
    }
}
