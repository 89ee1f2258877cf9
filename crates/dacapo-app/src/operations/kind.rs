//! What a kind of task adds to the operations on it: what it must be asked before it goes on, and what an answer means.

use dacapo_core::event::Command;
use dacapo_core::git::Repo;
use dacapo_core::spec::TaskSpec;
use dacapo_core::store::TaskDir;
use dacapo_core::view::TaskView;
use serde_json::Value;

use super::act::Operation;
use super::milestone::Milestones;
use super::resume::{GoesOn, Resumed};
use super::send::AnswerOutcome;
use super::spawn::Started;
use crate::App;
use crate::error::Failure;
use crate::question::{Answers, NotYet};

/// What a task hears first, and who says so.
pub type Order = (&'static str, Command);

/// A task that is to go on.
#[derive(Debug, Clone, Copy)]
pub struct Resuming<'a> {
    pub repo: &'a Repo,
    pub dir: &'a TaskDir,
    pub spec: &'a TaskSpec,
    pub view: &'a TaskView,
    /// What it hears first.
    pub orders: &'a [Order],
    /// More iterations than were asked for first.
    pub more: Option<u32>,
}

/// What came of an operation that only one kind has.
pub(crate) enum OwnDone {
    Started(Box<Started>),
    Resumed(Resumed),
    Ended { task: String },
}

/// A task that nobody asked for just now: it goes on, or begins, unless the user says no (M2).
#[derive(Debug, Clone, PartialEq)]
pub struct StartsByItself {
    pub task: String,
    pub how: ByItself,
    /// What makes it so.
    pub operation: Operation,
}

/// What would become of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByItself {
    /// Its process is gone, and it goes on.
    GoesOn,
    Begins,
}

impl App {
    /// What goes on or begins by itself where a surface is opened, of what the user trusts.
    pub fn starts_by_itself(&self) -> Result<Option<StartsByItself>, Failure> {
        for kind in KINDS {
            if let Some(task) = kind.starts_by_itself(self)? {
                return Ok(Some(task));
            }
        }
        Ok(None)
    }
}

/// The operations of a kind. A kind whose tasks go on without a word, and take no answer when they have paused, has none.
pub(crate) trait KindOperations: Sync {
    /// The kind, as in specs.
    fn kind(&self) -> &'static str;

    /// What an operation of its own that only a person outside of a task orders is called (R7).
    fn order(&self, step: &Value) -> Option<&'static str>;

    /// Carries an operation of its own out; the task runs in the background.
    fn act(&self, app: &App, step: &Value, answers: &Answers) -> Result<OwnDone, NotYet>;

    /// The task of this kind that goes on or begins by itself, if the user trusts it.
    fn starts_by_itself(&self, app: &App) -> Result<Option<StartsByItself>, Failure>;

    /// What a person had answered when a death kept it from being taken in.
    fn left_answers(&self, dir: &TaskDir, view: &TaskView) -> Result<Vec<Order>, Failure>;

    /// Whether it can go on as it is; what its agents are to be told first.
    fn may_go_on(&self, resuming: &Resuming<'_>) -> Result<Option<Command>, Failure>;

    /// Yes to what a paused task asks.
    fn approve(
        &self,
        app: &App,
        task: (&Repo, &TaskDir),
        choice: Option<usize>,
        goes_on: GoesOn,
        answers: &Answers,
    ) -> Result<AnswerOutcome, NotYet>;

    fn reject(
        &self,
        app: &App,
        task: (&Repo, &TaskDir),
        reason: Option<String>,
        goes_on: GoesOn,
        answers: &Answers,
    ) -> Result<AnswerOutcome, NotYet>;
}

const KINDS: &[&dyn KindOperations] = &[&Milestones];

/// What this kind adds.
pub(crate) fn of(kind: &str) -> Option<&'static dyn KindOperations> {
    KINDS.iter().copied().find(|known| known.kind() == kind)
}
