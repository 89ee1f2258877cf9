//! Schemas as rows of tables.

use serde_json::Value;

use super::page::link;
use super::{Reference, Root};

/// A field of an object.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) field: String,
    pub(super) holds: String,
    /// It may be absent.
    pub(super) optional: bool,
    pub(super) meaning: String,
}

/// One of the forms that an object can have.
#[derive(Debug, Clone)]
pub(super) struct Variant<'a> {
    /// The value of the field that says which one it is.
    pub(super) value: String,
    pub(super) meaning: String,
    pub(super) schema: &'a Value,
}

/// The forms that an object can have, by the field that says which.
#[derive(Debug, Clone)]
pub(super) struct Union<'a> {
    pub(super) tag: String,
    pub(super) variants: Vec<Variant<'a>>,
}

/// An object taken apart.
#[derive(Debug, Default)]
pub(super) struct Shape<'a> {
    pub(super) rows: Vec<Row>,
    pub(super) unions: Vec<Union<'a>>,
    /// Objects whose fields it has, too, and which have a place of their own on the page.
    pub(super) also: Vec<&'a str>,
}

pub(super) fn meaning(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A fixed text, as it is in JSON.
fn constant(schema: &Value) -> Option<&str> {
    schema.get("const").and_then(Value::as_str)
}

impl Reference {
    /// What an object consists of; `skip` is the field that its heading has told already.
    pub(super) fn shape<'a>(&'a self, schema: &'a Value, skip: Option<&str>) -> Shape<'a> {
        let mut shape = Shape::default();
        self.take_apart(schema, skip, &mut shape);
        shape
    }

    fn take_apart<'a>(&'a self, schema: &'a Value, skip: Option<&str>, shape: &mut Shape<'a>) {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (field, of_field) in schema["properties"].as_object().into_iter().flatten() {
            if skip == Some(field) || shape.rows.iter().any(|row| row.field == *field) {
                continue;
            }
            let optional = !required.contains(&field.as_str());
            let holds = self.holds(field, of_field);
            let meaning = meaning(of_field);
            // What is absent if there is nothing is never null, unless it says so.
            let holds = match optional && !meaning.contains("null") {
                true => holds.trim_end_matches(" or null").to_owned(),
                false => holds,
            };
            shape.rows.push(Row { field: field.clone(), holds, optional, meaning });
        }
        if let Some((name, definition)) = self.resolve(schema) {
            if self.has_own_place(name) {
                shape.also.push(name);
            } else {
                self.take_apart(definition, skip, shape);
            }
        }
        for keyword in ["oneOf", "anyOf", "allOf"] {
            let parts = schema[keyword].as_array().map_or(&[][..], Vec::as_slice);
            if let Some(union) = self.union(parts) {
                shape.unions.push(union);
                continue;
            }
            let before = shape.rows.len();
            for part in parts {
                self.take_apart(part, skip, shape);
                // The only field of a form means what the form means.
                let fields = part["properties"].as_object().map_or(0, serde_json::Map::len);
                if let Some(row) = shape.rows.last_mut().filter(|row| fields == 1 && row.meaning.is_empty()) {
                    row.meaning = meaning(part);
                }
            }
            // Of several forms there is one.
            let several = keyword != "allOf" && parts.len() > 1;
            shape.rows[before..].iter_mut().for_each(|row| row.optional |= several);
        }
    }

    /// The forms that differ by the value of one field.
    fn union<'a>(&'a self, parts: &'a [Value]) -> Option<Union<'a>> {
        let tag_of = |part: &'a Value| -> Option<(&'a str, &'a str)> {
            let fields = part["properties"].as_object()?;
            fields.iter().find_map(|(field, schema)| Some((field.as_str(), constant(schema)?)))
        };
        let (tag, _) = tag_of(parts.first()?)?;
        let variant = |part: &'a Value| {
            let (_, value) = tag_of(part).filter(|(field, _)| *field == tag)?;
            Some(Variant { value: value.to_owned(), meaning: self.meaning_of_variant(part), schema: part })
        };
        let variants = parts.iter().map(variant).collect::<Option<Vec<_>>>()?;
        Some(Union { tag: tag.to_owned(), variants })
    }

    fn meaning_of_variant(&self, part: &Value) -> String {
        match (meaning(part), self.resolve(part)) {
            (text, Some((_, definition))) if text.is_empty() => meaning(definition),
            (text, _) => text,
        }
    }

    /// Whether a definition is told at one place for all that refer to it.
    pub(super) fn has_own_place(&self, name: &str) -> bool {
        Root::ALL.iter().any(|root| root.definition() == name) || self.times_used(name) > 1
    }

    pub(super) fn times_used(&self, name: &str) -> usize {
        fn count(value: &Value, target: &str) -> usize {
            match value {
                Value::Object(fields) => {
                    let here = fields.get("$ref").and_then(Value::as_str) == Some(target);
                    usize::from(here) + fields.values().map(|one| count(one, target)).sum::<usize>()
                }
                Value::Array(all) => all.iter().map(|one| count(one, target)).sum(),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
            }
        }
        let target = format!("#/$defs/{name}");
        self.definitions.values().map(|definition| count(definition, &target)).sum()
    }

    /// The values of a text that can be only one of a few, with what each means.
    pub(super) fn words(&self, schema: &Value) -> Option<Vec<(String, String)>> {
        if let Some(all) = schema["enum"].as_array() {
            return all.iter().map(|one| Some((one.as_str()?.to_owned(), String::new()))).collect();
        }
        let parts = schema["oneOf"].as_array()?;
        let one = |part: &Value| Some((constant(part)?.to_owned(), meaning(part)));
        let mut words = Vec::new();
        for part in parts {
            match one(part) {
                Some(word) => words.push(word),
                None => words.extend(self.words(part)?),
            }
        }
        Some(words)
    }

    /// What a field holds, in a few words.
    fn holds(&self, field: &str, schema: &Value) -> String {
        if let Some((name, definition)) = self.resolve(schema) {
            return match definition["type"].as_str() {
                Some("string") if self.words(definition).is_none() => text_of(name),
                _ => link(name),
            };
        }
        if let Some(constant) = constant(schema) {
            return format!("`\"{constant}\"`");
        }
        let alternatives: Vec<&Value> =
            ["anyOf", "oneOf"].iter().filter_map(|keyword| schema[keyword].as_array()).flatten().collect();
        if !alternatives.is_empty() {
            let all: Vec<String> = alternatives.iter().map(|one| self.holds(field, one)).collect();
            return all.join(" or ");
        }
        match &schema["type"] {
            Value::String(name) => self.of_type(name, field, schema),
            Value::Array(names) => {
                let all: Vec<String> = names
                    .iter()
                    .filter_map(Value::as_str)
                    .map(|name| self.of_type(name, field, schema))
                    .collect();
                all.join(" or ")
            }
            _ => "any value".to_owned(),
        }
    }

    fn of_type(&self, name: &str, field: &str, schema: &Value) -> String {
        match name {
            "string" if schema["format"] == "date-time" => "time".to_owned(),
            "number" if field.ends_with("_seconds") => "number of seconds".to_owned(),
            "number" if field.ends_with("_usd") => "number, in US dollars".to_owned(),
            "boolean" => "true or false".to_owned(),
            "array" => match &schema["items"] {
                Value::Null => self.tuple(schema),
                items => format!("list of {}", plural(&self.holds(field, items))),
            },
            "object" => "object".to_owned(),
            other => other.to_owned(),
        }
    }

    fn tuple(&self, schema: &Value) -> String {
        let parts = schema["prefixItems"].as_array().into_iter().flatten();
        let parts: Vec<String> = parts.map(|part| self.holds("", part)).collect();
        format!("list of {}", parts.join(" and "))
    }
}

/// Texts of a certain form.
fn text_of(name: &str) -> String {
    match name {
        "Oid" => "commit".to_owned(),
        _ => "string".to_owned(),
    }
}

fn plural(what: &str) -> String {
    match what {
        "string" | "commit" | "integer" | "number" | "object" => format!("{what}s"),
        other => other.to_owned(),
    }
}
