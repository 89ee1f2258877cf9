//! What programs are given: tasks, events and what commands came to, as JSON. The names in it are documented in docs/json.md,
//! which is made from these types.

use dacapo_core::event::{Envelope, Event, FORMAT, Needs, WritingEnd, WritingRecord};
use dacapo_core::view::TaskView;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::notices;
use crate::messages::Messages;

pub mod merge;
pub mod objects;
pub mod task;
mod words;

pub use objects::Object;
pub use words::{ADDED, Added, Holds, agent};

/// An object at the top, in a line of its own.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Versioned<T> {
    /// The version of this format.
    v: u32,
    #[serde(flatten)]
    object: T,
}

impl<T: Serialize> Versioned<T> {
    pub fn new(object: T) -> Self {
        Self { v: FORMAT, object }
    }

    /// As it is printed.
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What a person must decide, with the question and what answers it.
pub fn needs(needs: &Needs, name: &str) -> Value {
    words::needs(needs, name)
}

/// All that `status --json` says, as it is printed.
pub fn status(view: &TaskView) -> String {
    serde_json::to_string(&task::TaskInFull::of(view)).unwrap_or_default()
}

/// An event of a task's journal, with words for people beside what the engine says.
pub fn event(line: &Envelope) -> Value {
    let mut value = serde_json::to_value(line).unwrap_or_default();
    let name = &line.task;
    match &line.event {
        Event::TurnFinished(record) => words::of_turn(&mut value, record),
        Event::Written(WritingRecord { end: WritingEnd::Failed { fault }, .. }) => {
            words::fault(&mut value["fault"], fault);
        }
        Event::IterationFinished(record) => words::of_iteration(&mut value, record),
        Event::TaskFinished(result) => words::of_result(&mut value, result, name),
        Event::StopRequested { detail, .. } => words::detail(&mut value["detail"], detail, name),
        Event::Paused { needs } | Event::Asked { needs } => words::ask(&mut value["needs"], needs, name),
        Event::Notice(notice) => {
            value["message"] = notices::told(notice, name, Messages::ENGLISH).into();
        }
        Event::WorkspaceFailed { problems } => words::problems(&mut value, problems),
        Event::CommitIntent(planned) | Event::NoCommit(planned) => {
            words::problems(&mut value, &planned.problems);
        }
        // These say all by themselves.
        Event::TaskCreated { .. }
        | Event::TaskStarted { .. }
        | Event::Resumed { .. }
        | Event::WorkspaceReady { .. }
        | Event::PortsLeased { .. }
        | Event::RoomTested(_)
        | Event::FilesIncluded { .. }
        | Event::UntrackedFound(_)
        | Event::UntrackedTouched(_)
        | Event::SetupFinished(_)
        | Event::CheckFinished(_)
        | Event::ProofStarted { .. }
        | Event::ProofUnavailable { .. }
        | Event::ProofFailed { .. }
        | Event::IterationStarted { .. }
        | Event::TurnStarted { .. }
        | Event::Written(_)
        | Event::Committed { .. }
        | Event::LimitKnown(_)
        | Event::Waiting { .. }
        | Event::WaitOver
        | Event::AgentChanged { .. }
        | Event::Answered
        | Event::RecordAltered { .. }
        | Event::CommandReceived(_)
        | Event::Queued
        | Event::Dequeued
        | Event::Own(_)
        | Event::MergeIntent { .. }
        | Event::Renamed { .. }
        | Event::TakenOver { .. }
        | Event::MergeUndone { .. }
        | Event::Merged { .. }
        | Event::PullRequest { .. }
        | Event::Notified { .. } => {}
    }
    value
}
