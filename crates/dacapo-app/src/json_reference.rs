//! What every object and event that programs get from Dacapo looks like, taken from the types themselves. `docs/json.md` is
//! written from it ([`page()`]), and tests hold real output against it ([`Reference::problems`]). No command uses this, so it
//! is no part of the program.

use dacapo_core::event::Envelope;
use dacapo_core::follow::Item;
use dacapo_core::spec::TaskSpec;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::config::ConfigObject;
use crate::error::ErrorObject;
use crate::notify::Notification;
use crate::operations::doctor;
use crate::present::json::objects::Object;
use crate::present::json::task::{ListedTask, TaskInFull};
use crate::present::json::{ADDED, Added, Holds, Versioned};
use crate::present::kind_words;

mod page;
mod problems;
mod rows;
#[cfg(test)]
mod tests;

pub use page::page;

/// All schemas. Each is in the form of JSON Schema; `$ref` leads to one of the definitions.
#[derive(Debug, Clone)]
pub struct Reference {
    definitions: Map<String, Value>,
}

/// An object at the top, by the name of its definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// `status --json`, `wait --json`, `spawn --json`, …
    Task,
    /// An element of `list --json`.
    ListedTask,
    /// A line of a journal, or of what `exec --json`, `attach --json` and `logs --json` print.
    Event,
    /// What other commands print.
    Object,
    Error,
    Doctor,
    Config,
    /// What webhooks and commands of the user's are sent.
    Notification,
    /// What surfaces that follow a task get.
    Item,
    /// `spec.json`.
    Spec,
    /// What only one kind of task has: what its commands print, and its files.
    OwnObject,
    OwnFile,
    OwnState,
}

impl Root {
    const ALL: [Root; 13] = [
        Root::Task,
        Root::ListedTask,
        Root::Event,
        Root::Object,
        Root::Error,
        Root::Doctor,
        Root::Config,
        Root::Notification,
        Root::Item,
        Root::Spec,
        Root::OwnObject,
        Root::OwnFile,
        Root::OwnState,
    ];

    fn definition(self) -> &'static str {
        match self {
            Root::Task => "Task",
            Root::ListedTask => "ListedTask",
            Root::Event => "Event",
            Root::Object => "Object",
            Root::Error => "Error",
            Root::Doctor => "Doctor",
            Root::Config => "Config",
            Root::Notification => "Notification",
            Root::Item => "FollowItem",
            Root::Spec => "TaskSpec",
            Root::OwnObject => "OwnObject",
            Root::OwnFile => "OwnFile",
            Root::OwnState => "OwnState",
        }
    }
}

impl Reference {
    /// Of what is printed: with words for people beside what the engine says.
    pub fn printed() -> Self {
        let mut reference = Self::journal();
        ADDED.iter().for_each(|added| reference.add(added));
        reference
    }

    /// Of what is in journals.
    pub fn journal() -> Self {
        let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        let roots = [
            (Root::Task, whole::<TaskInFull>(&mut generator)),
            (Root::ListedTask, whole::<ListedTask>(&mut generator)),
            (Root::Event, events(&mut generator)),
            (Root::Object, whole::<Versioned<Object>>(&mut generator)),
            (Root::Error, whole::<ErrorObject>(&mut generator)),
            (Root::Doctor, whole::<doctor::report::Report>(&mut generator)),
            (Root::Config, whole::<ConfigObject>(&mut generator)),
            (Root::Notification, whole::<Notification>(&mut generator)),
            (Root::Item, items(&mut generator)),
            (Root::Spec, whole::<TaskSpec>(&mut generator)),
            (Root::OwnObject, whole::<Versioned<kind_words::OwnObject>>(&mut generator)),
            (Root::OwnFile, of_file::<kind_words::OwnFile>(&mut generator)),
            (Root::OwnState, of_file::<kind_words::OwnState>(&mut generator)),
        ];
        let mut definitions = generator.take_definitions(true);
        definitions.extend(roots.map(|(root, schema)| (root.definition().to_owned(), schema)));
        Self { definitions }
    }

    fn add(&mut self, added: &Added) {
        let Some(object) = self.definitions.get_mut(added.object).and_then(Value::as_object_mut) else {
            return;
        };
        let mut schema = match added.holds {
            Holds::Text => json!({"type": "string"}),
            Holds::ListOfTexts => json!({"type": "array", "items": {"type": "string"}}),
        };
        schema["description"] = format!("{} Not in the journal.", added.about).into();
        if let Some(fields) = object.entry("properties").or_insert_with(|| json!({})).as_object_mut() {
            fields.insert(added.field.to_owned(), schema);
        }
    }

    fn definition(&self, name: &str) -> Option<&Value> {
        self.definitions.get(name)
    }

    /// What a schema refers to.
    fn resolve<'a>(&'a self, schema: &'a Value) -> Option<(&'a str, &'a Value)> {
        let name = schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
        Some((name, self.definition(name)?))
    }
}

fn whole<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    T::json_schema(generator).to_value()
}

/// Events of all kinds of task, and those that only one kind has.
fn events(generator: &mut SchemaGenerator) -> Value {
    let mut events = whole::<Envelope>(generator);
    let mut own = whole::<kind_words::OwnStep>(generator);
    own["type"] = "object".into();
    own["properties"] = json!({"type": {"const": kind_words::OWN_KIND}});
    own["required"] = json!(["type"]);
    if let Some(variants) = events["oneOf"].as_array_mut() {
        variants.push(own);
    }
    events
}

/// What clients of a hub are told. An event is told among the events.
fn items(generator: &mut SchemaGenerator) -> Value {
    let mut items = whole::<Item>(generator);
    for variant in items["oneOf"].as_array_mut().into_iter().flatten() {
        if let Some(fields) = variant.as_object_mut().filter(|fields| fields.contains_key("$ref"))
            && fields["properties"]["item"]["const"] == "event"
        {
            fields.insert("$ref".into(), "#/$defs/Event".into());
        }
    }
    items["type"] = "object".into();
    items["properties"] = json!({"v": {"type": "integer", "description": "The version of this format."}});
    items["required"] = json!(["v"]);
    items
}

/// A file that says when it was written.
fn of_file<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    let mut file = whole::<T>(generator);
    let written =
        json!({"type": "string", "format": "date-time", "description": "When the file was last changed."});
    file["properties"]["updated_at"] = written;
    file
}
