//! A task for programs: what the engine says, and beside it the words that people get.

use dacapo_core::event::{
    AgentEvent, Envelope, Event, Fault, Needs, Notice, StopDetail, TurnEnd, TurnRecord, WorkspaceProblem,
    WritingEnd, WritingRecord,
};
use dacapo_core::view::TaskView;
use serde::Deserialize as _;
use serde_json::Value;

use super::{ends, faults, needs, notices, workspace};
use crate::messages::Messages;

/// All that `status --json` says.
pub fn status(view: &TaskView) -> Value {
    let mut value = view.to_json();
    in_words(&mut value);
    value
}

/// Puts the words beside what a person is needed for and why a task ended: to an element of `list --json`, too.
pub fn in_words(task: &mut Value) {
    let name = task["name"].as_str().unwrap_or_default().to_owned();
    if let Some(asked) = task.get_mut("needs") {
        ask(asked, &name);
    }
    if let Some(error) = task.get_mut("error")
        && let Ok(detail) = StopDetail::deserialize(&*error)
    {
        *error = ends::detail(&detail, &name, Messages::ENGLISH).into();
    }
    if let Some(notices) = task.get("notices").and_then(Value::as_array) {
        task["notices"] = known(notices, &name);
    }
    if let Some(result) = task.get_mut("result")
        && let Ok(detail) = StopDetail::deserialize(&result["detail"])
    {
        result["message"] = ends::detail(&detail, &name, Messages::ENGLISH).into();
        self::detail(result, Some(&detail), &name);
    }
    for record in task.get_mut("iterations").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Ok(faults) = Vec::<Fault>::deserialize(&record["faults"]) {
            iteration(record, &faults);
        }
    }
}

/// An event of a task's journal, with the words that people get beside what the engine says.
pub fn event(line: &Envelope) -> Value {
    let mut value = serde_json::to_value(line).unwrap_or_default();
    match &line.event {
        Event::TurnFinished(record) => turn(&mut value, record),
        Event::Written(WritingRecord { end: WritingEnd::Failed { fault }, .. }) => {
            value["message"] = faults::told(fault, Messages::ENGLISH).into();
        }
        Event::IterationFinished(record) => iteration(&mut value, &record.faults),
        Event::TaskFinished(result) => detail(&mut value, result.detail.as_ref(), &line.task),
        Event::StopRequested { detail: why, .. } => detail(&mut value, Some(why), &line.task),
        Event::WorkspaceFailed { problems } => {
            value["message"] = workspace::all(problems, Messages::ENGLISH).into();
            problems_in_words(&mut value, problems);
        }
        Event::CommitIntent(planned) | Event::NoCommit(planned) => {
            problems_in_words(&mut value, &planned.problems);
        }
        // These say all by themselves.
        Event::TaskCreated { .. }
        | Event::TaskStarted { .. }
        | Event::Resumed { .. }
        | Event::WorkspaceReady { .. }
        | Event::PortsLeased { .. }
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
        | Event::Asked { .. }
        | Event::Answered
        | Event::Paused { .. }
        | Event::Notice(_)
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

/// What an agent does, likewise.
pub fn agent(event: &AgentEvent) -> Value {
    let mut value = serde_json::to_value(event).unwrap_or_default();
    if let AgentEvent::Error { fault, .. } = event {
        value["message"] = faults::told(fault, Messages::ENGLISH).into();
    }
    value
}

fn turn(value: &mut Value, record: &TurnRecord) {
    if let TurnEnd::Failed { fault, .. } = &record.end {
        value["message"] = faults::told(fault, Messages::ENGLISH).into();
    }
    if let Some(refused) = &record.not_allowed {
        value["refused"] = faults::not_allowed(refused, Messages::ENGLISH).into();
    }
}

/// `message` beside each problem of the place to work in.
fn problems_in_words(value: &mut Value, problems: &[WorkspaceProblem]) {
    for (nth, problem) in problems.iter().enumerate() {
        value["problems"][nth]["message"] = workspace::told(problem, Messages::ENGLISH).into();
    }
}

fn iteration(value: &mut Value, faults: &[Fault]) {
    if let Some(error) = faults::all(faults, Messages::ENGLISH) {
        value["error"] = error.into();
    }
}

/// `message` in the `detail` of why a task ended, where that is what went wrong.
fn detail(value: &mut Value, detail: Option<&StopDetail>, name: &str) {
    if let Some(detail @ StopDetail::Faults { .. }) = detail {
        value["detail"]["message"] = ends::detail(detail, name, Messages::ENGLISH).into();
    }
}

/// What people should know, as they read it.
fn known(notices: &[Value], name: &str) -> Value {
    let told = |known: &Value| match Notice::deserialize(known) {
        Ok(notice) => notices::told(&notice, name, Messages::ENGLISH).into(),
        Err(_) => known.clone(),
    };
    notices.iter().map(told).collect()
}

/// `question` and `options` beside what is asked.
pub fn ask(asked: &mut Value, name: &str) {
    if let Ok(known) = Needs::deserialize(&*asked) {
        asked["question"] = needs::question(&known.kind, Messages::ENGLISH).into();
        asked["options"] = needs::commands(&known, name, Messages::ENGLISH).into();
    }
}
