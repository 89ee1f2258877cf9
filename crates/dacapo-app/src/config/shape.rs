//! What the settings' types allow, read from their own JSON Schema: which keys exist, and what fits in each.
//!
//! serde alone would stop at the first mistake and lose where it was. So files are checked against this first,
//! and all their mistakes are reported at once, with line, column and a suggestion.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::Value as Json;
use toml::Value;

use super::brought::Sensitivity;
use super::path::KeyPath;
use super::timespan::{self, Timespan};
use super::types::Config;
use crate::error::suggest;
use crate::messages::{Messages, Text, say};

/// The JSON Schema of the config file, for editors.
pub fn schema() -> Json {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Config>().to_value();
    without_null(&mut schema);
    schema
}

/// TOML has no null: a setting that may be absent is just not there.
fn without_null(schema: &mut Json) {
    match schema {
        Json::Object(object) => {
            object.retain(|_, value| !value.is_null());
            object.values_mut().for_each(without_null);
            if let Some(Json::String(text)) = object.get_mut("description") {
                *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            }
            let one_type = match object.get("type").and_then(Json::as_array).map(Vec::as_slice) {
                Some([one, other]) if other == "null" => Some(one.clone()),
                _ => None,
            };
            if let Some(one) = one_type {
                object.insert("type".to_owned(), one);
            }
        }
        Json::Array(items) => {
            items.retain(|item| !item.is_null());
            items.iter_mut().for_each(without_null);
        }
        _ => {}
    }
}

/// The shape of the whole config file.
pub(super) fn root() -> &'static Shape {
    static ROOT: LazyLock<Shape> = LazyLock::new(|| Shape::of(&schema(), &Marks::default()));
    &ROOT
}

/// A place in the config and what may stand there.
#[derive(Debug)]
pub(super) enum Shape {
    /// A table with fixed keys.
    Table {
        fields: Vec<(String, Shape)>,
        required: Vec<String>,
    },
    /// A table whose keys the user chooses: agents, models, variables.
    Map(Box<Shape>),
    Leaf(Leaf),
}

/// A setting: what fits, and how it is treated.
#[derive(Debug)]
pub(super) struct Leaf {
    form: Form,
    /// A number outside the range is moved to its nearer end instead of refused (A7).
    clamp: bool,
    /// The value is not shown.
    pub(super) secret: bool,
    /// Whether a project may set it without being asked about.
    pub(super) sensitivity: Sensitivity,
    /// What holds where nobody sets it.
    default: Json,
}

/// What a value must look like.
#[derive(Debug)]
enum Form {
    Bool,
    Integer { min: i64, max: i64 },
    Number { min: f64, max: f64 },
    Text { min_length: u64, format: Option<String> },
    Choice(Vec<String>),
    List { min_items: u64, items: Box<Form> },
}

/// Why a value does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Misfit {
    pub(super) expected: Text,
    pub(super) found: Text,
    pub(super) suggestion: Option<String>,
}

/// A value that fits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fitted {
    pub(super) value: Value,
    /// The range it was moved into, where it was.
    pub(super) clamped: Option<(i64, i64)>,
}

/// What a table says of all that is in it.
#[derive(Debug, Clone, Default)]
struct Marks {
    secret: bool,
    trust: Option<String>,
}

impl Shape {
    fn of(schema: &Json, above: &Marks) -> Shape {
        let trust = schema["x-trust"].as_str().map(str::to_owned).or_else(|| above.trust.clone());
        let marks = &Marks { secret: above.secret || schema["x-secret"] == true, trust };
        if let Some(properties) = schema["properties"].as_object() {
            let fields = properties.iter().map(|(key, value)| (key.clone(), Shape::of(value, marks)));
            return Shape::Table { fields: fields.collect(), required: strings(&schema["required"]) };
        }
        if schema["additionalProperties"].is_object() {
            return Shape::Map(Box::new(Shape::of(&schema["additionalProperties"], marks)));
        }
        Shape::Leaf(Leaf {
            form: Form::of(schema),
            clamp: schema["x-clamp"] == true,
            secret: marks.secret,
            sensitivity: Sensitivity::of(marks.trust.as_deref()),
            default: schema["default"].clone(),
        })
    }

    /// The shape at a key of this table.
    pub(super) fn get(&self, key: &str) -> Option<&Shape> {
        match self {
            Shape::Table { fields, .. } => {
                fields.iter().find(|(name, _)| name == key).map(|(_, shape)| shape)
            }
            Shape::Map(inner) => Some(inner),
            Shape::Leaf(_) => None,
        }
    }

    /// The setting at a path.
    pub(super) fn leaf(&self, path: &KeyPath) -> Option<&Leaf> {
        match path.0.iter().try_fold(self, |shape, key| shape.get(key))? {
            Shape::Leaf(leaf) => Some(leaf),
            _ => None,
        }
    }

    /// The paths of all settings below; the keys users choose are given by `names`, which sees the path of the map.
    pub(super) fn leaves(&self, names: &dyn Fn(&KeyPath) -> Vec<String>) -> Vec<KeyPath> {
        let mut found = Vec::new();
        self.collect(&KeyPath(Vec::new()), names, &mut found);
        found
    }

    fn collect(&self, at: &KeyPath, names: &dyn Fn(&KeyPath) -> Vec<String>, found: &mut Vec<KeyPath>) {
        match self {
            Shape::Table { fields, .. } => {
                fields.iter().for_each(|(key, shape)| shape.collect(&at.join(key), names, found));
            }
            Shape::Map(inner) => {
                names(at).iter().for_each(|name| inner.collect(&at.join(name), names, found));
            }
            Shape::Leaf(_) => found.push(at.clone()),
        }
    }

    /// What an unknown key of this table was most likely meant to be: a neighbour, or a setting that has exactly
    /// this name in another table.
    pub(super) fn suggest_key(&self, key: &str) -> Option<String> {
        let Shape::Table { fields, .. } = self else { return None };
        let near = suggest(key, fields.iter().map(|(name, _)| name.as_str())).map(str::to_owned);
        near.or_else(|| {
            let all = root().leaves(&|_| Vec::new());
            all.iter().find(|path| path.0.last().is_some_and(|last| last == key)).map(KeyPath::to_string)
        })
    }

    /// The whole path that was most likely meant by one that leads from this table, which is at `above`, to nothing.
    pub(super) fn suggest_path(&self, above: &KeyPath, unknown: &[String]) -> Option<String> {
        let (key, below) = unknown.split_first()?;
        let meant = self.suggest_key(key)?;
        match self.get(&meant) {
            Some(_) => {
                let path = below.iter().fold(above.join(&meant), |path, key| path.join(key));
                Some(path.to_string())
            }
            // In another table, with the whole path.
            None => Some(meant),
        }
    }
}

impl Form {
    fn of(schema: &Json) -> Form {
        let choices = strings(&schema["enum"]);
        if !choices.is_empty() {
            return Form::Choice(choices);
        }
        match schema["type"].as_str() {
            Some("boolean") => Form::Bool,
            Some("integer") => Form::Integer {
                min: schema["minimum"].as_i64().unwrap_or(0),
                max: schema["maximum"].as_i64().unwrap_or(i64::from(u32::MAX)),
            },
            Some("number") => Form::Number {
                min: schema["minimum"].as_f64().unwrap_or(f64::MIN),
                max: schema["maximum"].as_f64().unwrap_or(f64::MAX),
            },
            Some("array") => Form::List {
                min_items: schema["minItems"].as_u64().unwrap_or(0),
                items: Box::new(Form::of(&schema["items"])),
            },
            _ => Form::Text {
                min_length: schema["minLength"].as_u64().unwrap_or(0),
                format: schema["format"].as_str().map(str::to_owned),
            },
        }
    }

    fn expected(&self, messages: Messages) -> String {
        match self {
            Form::Bool => messages.value_true_or_false(),
            Form::Integer { min, max } => messages.value_whole_number_from(*min, *max),
            Form::Number { min, max } => messages.value_number_from(*min, *max),
            Form::Text { format, min_length } => match format.as_deref() {
                Some(timespan::FORMAT) => messages.value_duration(),
                Some("uri") => messages.value_address(),
                _ if *min_length > 0 => messages.value_non_empty_text(),
                _ => messages.value_text(),
            },
            Form::Choice(allowed) => messages.value_one_of(&allowed.join(", ")),
            Form::List { min_items: 0, items } => messages.value_list_of(&items.expected(messages)),
            Form::List { items, .. } => messages.value_non_empty_list_of(&items.expected(messages)),
        }
    }

    fn fit(&self, value: &Value, clamp: bool) -> Result<Fitted, Misfit> {
        let expected = || say(|m| self.expected(m));
        let misfit = |found: Text| Misfit { expected: expected(), found, suggestion: None };
        let as_is = || Ok(Fitted { value: value.clone(), clamped: None });
        match (self, value) {
            (Form::Bool, Value::Boolean(_)) => as_is(),
            (Form::Integer { min, max }, Value::Integer(number)) => match (*number).clamp(*min, *max) {
                same if same == *number => as_is(),
                moved if clamp => Ok(Fitted { value: moved.into(), clamped: Some((*min, *max)) }),
                _ => Err(misfit(number.to_string().into())),
            },
            (Form::Number { min, max }, Value::Float(_) | Value::Integer(_)) => {
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "a price in whole dollars that large is refused"
                )]
                let number = value.as_float().or(value.as_integer().map(|n| n as f64)).unwrap_or(f64::NAN);
                let fits = (*min..=*max).contains(&number);
                if fits {
                    Ok(Fitted { value: number.into(), clamped: None })
                } else {
                    Err(misfit(number.to_string().into()))
                }
            }
            (Form::Text { min_length, format }, Value::String(text)) => {
                let fits = match format.as_deref() {
                    Some(timespan::FORMAT) => text.parse::<Timespan>().is_ok(),
                    Some("uri") => text.starts_with("http://") || text.starts_with("https://"),
                    _ => text.trim().chars().count() as u64 >= *min_length,
                };
                match format.as_deref() {
                    _ if fits => as_is(),
                    _ if text.trim().is_empty() => Err(misfit(say(Messages::value_nothing))),
                    // An address may be a secret, so it is not repeated.
                    Some("uri") => Err(misfit(say(Messages::value_another_address))),
                    _ => Err(misfit(quoted(text))),
                }
            }
            (Form::Choice(allowed), Value::String(text)) if !allowed.contains(text) => {
                let suggestion = suggest(text, allowed.iter().map(String::as_str)).map(str::to_owned);
                Err(Misfit { suggestion, ..misfit(quoted(text)) })
            }
            (Form::Choice(_), Value::String(_)) => as_is(),
            (Form::List { min_items, .. }, Value::Array(list)) if (list.len() as u64) < *min_items => {
                Err(misfit(say(Messages::value_empty_list)))
            }
            (Form::List { items, .. }, Value::Array(list)) => {
                for (index, item) in list.iter().enumerate() {
                    items.fit(item, false).map_err(|misfit| Misfit {
                        expected: expected(),
                        found: say(|m| m.value_as_item(misfit.found.in_words(m), index + 1)),
                        suggestion: misfit.suggestion,
                    })?;
                }
                as_is()
            }
            _ => Err(misfit(kind_of(value))),
        }
    }
}

impl Leaf {
    /// What holds where a project gives a value beside the user's; none: the project's.
    pub(super) fn beside(&self, project: &Value, users: Option<&Value>) -> Option<Value> {
        match (self.sensitivity, &self.form) {
            (Sensitivity::Tighten, Form::Choice(choices)) => {
                let rank = |name: &str| choices.iter().position(|choice| choice == name);
                let least = users.and_then(Value::as_str).or(self.default.as_str())?;
                (rank(project.as_str()?) < rank(least)).then(|| least.into())
            }
            (Sensitivity::Add, Form::List { .. }) => {
                let (users, more) = (users?.as_array()?, project.as_array()?);
                let more = more.iter().filter(|one| !users.contains(one));
                Some(Value::Array(users.iter().chain(more).cloned().collect()))
            }
            _ => None,
        }
    }

    /// Checks a value, and moves it into the range where the setting asks for that.
    pub(super) fn fit(&self, value: &Value) -> Result<Fitted, Misfit> {
        self.form.fit(value, self.clamp)
    }

    /// Checks a value that a person gives now: one outside of the range is a mistake that they can mend at once.
    pub(super) fn fit_unmoved(&self, value: &Value) -> Result<Fitted, Misfit> {
        self.form.fit(value, false)
    }

    /// A value from text without types, as in the environment. What the text cannot be read as stays text, and
    /// is refused by [`Leaf::fit`] with the same words as in a file.
    pub(super) fn read(&self, text: &str) -> Value {
        let as_text = || Value::String(text.to_owned());
        match &self.form {
            Form::Text { .. } | Form::Choice(_) => as_text(),
            Form::Bool => match text.trim() {
                "true" | "1" => true.into(),
                "false" | "0" => false.into(),
                _ => as_text(),
            },
            Form::Integer { .. } => text.trim().parse::<i64>().map_or_else(|_| as_text(), Value::from),
            Form::Number { .. } => text.trim().parse::<f64>().map_or_else(|_| as_text(), Value::from),
            // `[ -f x ] && make` is a command, so what does not parse as an array is one item, not an error.
            Form::List { .. } => match text.parse::<Value>() {
                Ok(list @ Value::Array(_)) => list,
                _ => Value::Array(vec![as_text()]),
            },
        }
    }
}

/// What a value is, for people.
pub(super) fn kind_of(value: &Value) -> Text {
    say(match value {
        Value::String(_) => Messages::value_text,
        Value::Integer(_) => Messages::value_whole_number,
        Value::Float(_) => Messages::value_number,
        Value::Boolean(_) => Messages::value_true_or_false,
        Value::Datetime(_) => Messages::value_date,
        Value::Array(_) => Messages::value_list,
        Value::Table(_) => Messages::value_table,
    })
}

/// A wrong value itself, or its beginning.
pub(super) fn quoted(text: &str) -> Text {
    let text = shortened(text);
    say(|m| m.value_quoted(&text))
}

/// Enough of a wrong value to recognise it.
pub(super) fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST {
        text.to_owned()
    } else {
        text.chars().take(MOST).chain(['…']).collect()
    }
}

fn strings(list: &Json) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect()
}
