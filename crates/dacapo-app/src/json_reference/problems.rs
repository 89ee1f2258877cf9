//! Whether a value is as its schema says, and nothing else: a field that is not documented is a problem.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Reference, Root};

/// Keywords that say nothing about what is allowed.
const NO_CONSTRAINT: [&str; 8] = [
    "description",
    "title",
    "default",
    "format",
    "$schema",
    "additionalProperties",
    "examples",
    "deprecated",
];

impl Reference {
    /// What is wrong with an object that was printed or written, a line each; nothing: it is as documented.
    pub fn problems(&self, root: Root, value: &Value) -> Vec<String> {
        let mut walk = Walk { reference: self, problems: Vec::new() };
        match self.definition(root.definition()) {
            Some(schema) => walk.closed(schema, value, ""),
            None => walk.problems.push(format!("there is no {root:?}")),
        }
        walk.problems
    }
}

struct Walk<'a> {
    reference: &'a Reference,
    problems: Vec<String>,
}

/// The fields of an object that some part of its schema knows.
type Known = BTreeSet<String>;

impl Walk<'_> {
    /// A value with its schema, of which every field must be known.
    fn closed(&mut self, schema: &Value, value: &Value, at: &str) {
        let known = self.open(schema, value, at);
        for field in value.as_object().into_iter().flat_map(Map::keys) {
            if !known.contains(field) {
                self.problems.push(format!("{at}/{field} is not documented"));
            }
        }
    }

    /// A value with a part of its schema. The fields that this part knows.
    fn open(&mut self, schema: &Value, value: &Value, at: &str) -> Known {
        let mut known = Known::new();
        let constrains = |schema: &Map<String, Value>| {
            schema.keys().any(|keyword| !NO_CONSTRAINT.contains(&keyword.as_str()))
        };
        let Some(schema) = schema.as_object().filter(|schema| constrains(schema)) else {
            // Any value.
            known.extend(value.as_object().into_iter().flat_map(Map::keys).cloned());
            return known;
        };
        for (keyword, rule) in schema {
            match keyword.as_str() {
                "$ref" => match self.reference.resolve(&Value::Object(schema.clone())) {
                    Some((_, definition)) => known.extend(self.open(definition, value, at)),
                    None => self.problems.push(format!("{at}: no definition for {rule}")),
                },
                "type" => self.has_type(rule, value, at),
                "const" => self.is_one_of(std::slice::from_ref(rule), value, at),
                "enum" => self.is_one_of(rule.as_array().map_or(&[], Vec::as_slice), value, at),
                "properties" => known.extend(self.has_fields(rule, value, at)),
                "required" => self.has_required(rule, value, at),
                "items" => {
                    for (nth, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.closed(rule, item, &format!("{at}/{nth}"));
                    }
                }
                "prefixItems" => {
                    let items = value.as_array().into_iter().flatten();
                    for (nth, (rule, item)) in rule.as_array().into_iter().flatten().zip(items).enumerate() {
                        self.closed(rule, item, &format!("{at}/{nth}"));
                    }
                }
                "minItems" | "maxItems" => {
                    let (length, bound) = (value.as_array().map_or(0, Vec::len) as u64, rule.as_u64());
                    let fits =
                        if keyword == "minItems" { Some(length) >= bound } else { Some(length) <= bound };
                    self.demand(fits, at, || format!("has {length} elements, not {rule}"));
                }
                "minimum" | "maximum" => {
                    let (number, bound) = (value.as_f64(), rule.as_f64());
                    let fits = if keyword == "minimum" { number >= bound } else { number <= bound };
                    self.demand(number.is_none() || fits, at, || format!("{value} is not within {rule}"));
                }
                "oneOf" | "anyOf" => known.extend(self.is_a_variant(rule, value, at)),
                "allOf" => {
                    for part in rule.as_array().into_iter().flatten() {
                        known.extend(self.open(part, value, at));
                    }
                }
                other if NO_CONSTRAINT.contains(&other) => {}
                other => self.problems.push(format!("{at}: nobody checks '{other}'")),
            }
        }
        if let Some(others) = schema.get("additionalProperties").filter(|others| others.is_object()) {
            let named = schema.get("properties").and_then(Value::as_object);
            for (field, value) in value.as_object().into_iter().flatten() {
                if named.is_none_or(|named| !named.contains_key(field)) {
                    self.closed(others, value, &format!("{at}/{field}"));
                    known.insert(field.clone());
                }
            }
        }
        known
    }

    fn demand(&mut self, holds: bool, at: &str, problem: impl FnOnce() -> String) {
        if !holds {
            let at = if at.is_empty() { "the object" } else { at };
            self.problems.push(format!("{at} {}", problem()));
        }
    }

    fn has_type(&mut self, rule: &Value, value: &Value, at: &str) {
        let is = |name: &str| match name {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            "number" => value.is_number(),
            "integer" => value.is_u64() || value.is_i64(),
            _ => false,
        };
        let fits = match rule {
            Value::String(name) => is(name),
            Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
            _ => false,
        };
        self.demand(fits, at, || format!("is {value:.80}, which is no {rule}"));
    }

    fn is_one_of(&mut self, allowed: &[Value], value: &Value, at: &str) {
        self.demand(allowed.contains(value), at, || format!("is {value:.80}, which is none of {allowed:?}"));
    }

    fn has_fields(&mut self, rule: &Value, value: &Value, at: &str) -> Known {
        let mut known = Known::new();
        for (field, schema) in rule.as_object().into_iter().flatten() {
            if let Some(value) = value.get(field) {
                self.closed(schema, value, &format!("{at}/{field}"));
                known.insert(field.clone());
            }
        }
        known
    }

    fn has_required(&mut self, rule: &Value, value: &Value, at: &str) {
        for field in rule.as_array().into_iter().flatten().filter_map(Value::as_str) {
            self.demand(!value.is_object() || value.get(field).is_some(), at, || format!("has no '{field}'"));
        }
    }

    /// At least one variant fits. Where none does, the problems of the nearest are told.
    fn is_a_variant(&mut self, rule: &Value, value: &Value, at: &str) -> Known {
        let mut nearest: Option<(Vec<String>, Known)> = None;
        let (mut known, mut fits) = (Known::new(), false);
        let variants = rule.as_array().map_or(&[][..], Vec::as_slice);
        let meant: Vec<&Value> = variants.iter().filter(|variant| is_meant(variant, value)).collect();
        self.demand(!meant.is_empty(), at, || format!("is none of its forms: {value:.200}"));
        for variant in meant {
            let mut walk = Walk { reference: self.reference, problems: Vec::new() };
            let seen = walk.open(variant, value, at);
            if walk.problems.is_empty() {
                fits = true;
                known.extend(seen);
            } else if nearest.as_ref().is_none_or(|(nearest, _)| walk.problems.len() < nearest.len()) {
                nearest = Some((walk.problems, seen));
            }
        }
        if !fits && let Some((problems, seen)) = nearest {
            self.problems.extend(problems);
            known.extend(seen);
        }
        known
    }
}

/// Whether a value has the fixed texts by which a variant is told from others.
fn is_meant(variant: &Value, value: &Value) -> bool {
    let fields = variant["properties"].as_object().into_iter().flatten();
    let fixed = fields.filter_map(|(field, schema)| Some((field, schema.get("const")?)));
    fixed.into_iter().all(|(field, text)| value.get(field) == Some(text))
}
