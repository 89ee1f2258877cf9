//! What programs read is as docs/json.md says. Every object that a command of any test prints with `--json` is held against it: a
//! field that the page does not have fails the test that made it appear.

use std::sync::OnceLock;

use dacapo_app::json_reference::{Reference, Root};
use serde_json::Value;

pub(crate) fn printed() -> &'static Reference {
    static PRINTED: OnceLock<Reference> = OnceLock::new();
    PRINTED.get_or_init(Reference::printed)
}

/// What an object that a command printed is documented as.
fn root_of(object: &Value, in_list: bool) -> Root {
    let kind = object["type"].as_str().unwrap_or_else(|| panic!("no type: {object}"));
    match kind {
        "task" if in_list => Root::ListedTask,
        "task" => Root::Task,
        "error" => Root::Error,
        "doctor" => Root::Doctor,
        "config" => Root::Config,
        "agent_event" | "agent_events_dropped" => Root::Object,
        _ if object.get("seq").is_some() => Root::Event,
        "milestone" | "milestone_created" => Root::OwnObject,
        _ => Root::Object,
    }
}

#[track_caller]
pub(crate) fn assert_documented(reference: &Reference, root: Root, value: &Value) {
    let problems = reference.problems(root, value);
    assert!(problems.is_empty(), "docs/json.md does not say so: {problems:#?}\n{value:#}");
}

/// Fails on anything in the output of a command with `--json` that the page does not have.
#[track_caller]
pub(crate) fn check(stdout: &str) {
    let values = serde_json::Deserializer::from_str(stdout).into_iter::<Value>();
    for value in values {
        match value.unwrap_or_else(|error| panic!("no JSON ({error}): {stdout}")) {
            Value::Array(all) => {
                all.iter().for_each(|one| assert_documented(printed(), root_of(one, true), one));
            }
            one => assert_documented(printed(), root_of(&one, false), &one),
        }
    }
}
