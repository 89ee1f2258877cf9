//! Words for people beside what the engine says: in every object that a program is given, and never in the journal.

use dacapo_core::event::{
    AgentEvent, Fault, IterationRecord, Needs, NotAllowed, Notice, StopDetail, TaskResult, TurnEnd,
    TurnRecord, WorkspaceProblem,
};
use dacapo_core::view::CurrentStep;
use serde::Serialize;
use serde_json::Value;

use crate::messages::Messages;
use crate::present::{ends, faults, needs, notices, workspace};

/// A field that the journal does not have.
#[derive(Debug, Clone, Copy)]
pub struct Added {
    /// The object that it is put into, by the name of its schema.
    pub object: &'static str,
    pub field: &'static str,
    pub holds: Holds,
    /// What the field means, for `docs/json.md`.
    pub about: &'static str,
}

/// What such a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    Text,
    ListOfTexts,
}

const fn text(object: &'static str, field: &'static str, about: &'static str) -> Added {
    Added { object, field, holds: Holds::Text, about }
}

/// All of them. A field that is put in and not named here fails the tests.
pub const ADDED: [Added; 8] = [
    text("Needs", "question", "What a person is asked: a sentence, or the agent's own words."),
    Added {
        object: "Needs",
        field: "options",
        holds: Holds::ListOfTexts,
        about: "The commands that answer it, the most likely first.",
    },
    text("Fault", "message", "What went wrong, as a sentence."),
    text("NotAllowed", "message", "What the agent was refused and what would allow it, as a sentence."),
    text("StopDetail", "message", "The whole detail as a sentence."),
    text("Notice", "message", "The whole notice as a sentence."),
    text("CurrentStep", "message", "What the task is doing, in a few words."),
    text("IterationRecord", "error", "Why the iteration failed, as a sentence. Absent if it succeeded."),
];

fn to_value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

pub(super) fn needs(known: &Needs, name: &str) -> Value {
    let mut value = to_value(known);
    ask(&mut value, known, name);
    value
}

pub(super) fn current_step(step: &CurrentStep) -> Value {
    let mut value = to_value(step);
    value["message"] = crate::present::words::current_step(step, Messages::ENGLISH).into();
    value
}

pub(super) fn notice(known: &Notice, name: &str) -> Value {
    let mut value = to_value(known);
    value["message"] = notices::told(known, name, Messages::ENGLISH).into();
    value
}

pub(super) fn iteration(record: &IterationRecord) -> Value {
    let mut value = to_value(record);
    of_iteration(&mut value, record);
    value
}

pub(super) fn result(known: &TaskResult, name: &str) -> Value {
    let mut value = to_value(known);
    of_result(&mut value, known, name);
    value
}

/// What an agent does.
pub fn agent(event: &AgentEvent) -> Value {
    let mut value = to_value(event);
    if let AgentEvent::Error { fault: known, .. } = event {
        fault(&mut value["fault"], known);
    }
    value
}

/// `question` and `options` beside what is asked.
pub(super) fn ask(value: &mut Value, known: &Needs, name: &str) {
    value["question"] = needs::question(&known.kind, Messages::ENGLISH).into();
    value["options"] = needs::commands(known, name, Messages::ENGLISH).into();
}

pub(super) fn of_result(value: &mut Value, result: &TaskResult, name: &str) {
    if let Some(known) = &result.detail {
        detail(&mut value["detail"], known, name);
    }
}

pub(super) fn of_turn(value: &mut Value, record: &TurnRecord) {
    if let TurnEnd::Failed { fault: known, .. } = &record.end {
        fault(&mut value["fault"], known);
    }
    if let Some(refused) = &record.not_allowed {
        not_allowed(&mut value["not_allowed"], refused);
    }
}

fn not_allowed(value: &mut Value, refused: &NotAllowed) {
    value["message"] = faults::not_allowed(refused, Messages::ENGLISH).into();
}

pub(super) fn of_iteration(value: &mut Value, record: &IterationRecord) {
    if let Some(error) = faults::all(&record.faults, Messages::ENGLISH) {
        value["error"] = error.into();
    }
    each_fault(value, &record.faults);
}

fn each_fault(value: &mut Value, all: &[Fault]) {
    let faults = value.get_mut("faults").and_then(Value::as_array_mut).into_iter().flatten();
    faults.zip(all).for_each(|(value, known)| fault(value, known));
}

pub(super) fn fault(value: &mut Value, fault: &Fault) {
    value["message"] = faults::told(fault, Messages::ENGLISH).into();
}

/// What is wrong with the directory that a task works in.
pub(super) fn problems(value: &mut Value, all: &[WorkspaceProblem]) {
    let problems = value.get_mut("problems").and_then(Value::as_array_mut).into_iter().flatten();
    for (value, known) in problems.zip(all) {
        value["message"] = workspace::told(known, Messages::ENGLISH).into();
    }
}

/// Why a task ended or is to end.
pub(super) fn detail(value: &mut Value, detail: &StopDetail, name: &str) {
    value["message"] = ends::detail(detail, name, Messages::ENGLISH).into();
    if let StopDetail::Faults { faults } = detail {
        each_fault(value, faults);
    }
}
