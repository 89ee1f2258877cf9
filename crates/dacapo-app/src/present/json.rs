//! A task for programs: what the engine says, and beside it the words that people get.

use dacapo_core::event::{Needs, Notice, StopDetail};
use dacapo_core::view::TaskView;
use serde::Deserialize as _;
use serde_json::Value;

use super::{ends, needs, notices};

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
        *error = ends::detail(&detail, &name).into();
    }
    if let Some(notices) = task.get("notices").and_then(Value::as_array) {
        task["notices"] = known(notices, &name);
    }
    if let Some(result) = task.get_mut("result")
        && let Ok(detail) = StopDetail::deserialize(&result["detail"])
    {
        result["message"] = ends::detail(&detail, &name).into();
    }
}

/// What people should know, as they read it.
fn known(notices: &[Value], name: &str) -> Value {
    let told = |known: &Value| match Notice::deserialize(known) {
        Ok(notice) => notices::told(&notice, name).into(),
        Err(_) => known.clone(),
    };
    notices.iter().map(told).collect()
}

/// `question` and `options` beside what is asked.
pub fn ask(asked: &mut Value, name: &str) {
    if let Ok(known) = Needs::deserialize(&*asked) {
        asked["question"] = needs::question(&known.kind).into();
        asked["options"] = needs::commands(&known, name).into();
    }
}
