//! docs/json.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use super::rows::{Row, Shape, Union, Variant, meaning};
use super::{Reference, Root};
use crate::present::kind_words;

/// What agents do has a chapter of its own.
const AGENT_EVENT: &str = "AgentEvent";

const INTRODUCTION: &str = include_str!("introduction.md");

pub fn page() -> String {
    let reference = Reference::printed();
    let mut page = Page { reference: &reference, out: INTRODUCTION.to_owned() };
    page.tasks();
    page.events();
    page.agent_events();
    page.objects();
    page.whole("Errors", Root::Error);
    page.whole("Doctor", Root::Doctor);
    page.whole("Config", Root::Config);
    page.heading(2, kind_words::OWN_SECTION.0);
    page.line(kind_words::OWN_SECTION.1);
    page.variants(Root::OwnObject);
    page.whole("Notifications", Root::Notification);
    page.heading(2, "Following a task");
    page.line("What a program that links Dacapo gets from a `Hub`, if it asks for JSON.");
    page.object(page.root(Root::Item));
    page.heading(2, "Files");
    page.line("`journal.jsonl` in a task's directory has one [event](#events) per line. All other files that are not named here are for Dacapo alone.");
    page.file(
        "spec.json",
        "What was asked when the task was created, in the task's directory. It never changes.",
        Root::Spec,
    );
    page.file(kind_words::OWN_FILES.0, "", Root::OwnFile);
    page.file(kind_words::OWN_FILES.1, "", Root::OwnState);
    page.values();
    with_anchors(&page.out)
}

struct Page<'a> {
    reference: &'a Reference,
    out: String,
}

impl<'a> Page<'a> {
    fn root(&self, root: Root) -> &'a Value {
        self.reference.definition(root.definition()).unwrap_or(&Value::Null)
    }

    fn heading(&mut self, level: usize, text: &str) {
        let _ = write!(self.out, "\n{} {text}\n", "#".repeat(level));
    }

    fn line(&mut self, text: &str) {
        if !text.is_empty() {
            let _ = write!(self.out, "\n{text}\n");
        }
    }

    fn tasks(&mut self) {
        self.heading(2, "Tasks");
        self.line("`status`, and `spawn`, `resume`, `pause`, `kill` and `wait`, print one object for each task; `list` prints a list of them.");
        let shape = self.reference.shape(self.root(Root::Task), None);
        let listed = self.reference.shape(self.root(Root::ListedTask), None);
        let (of_both, of_one): (Vec<Row>, Vec<Row>) =
            shape.rows.into_iter().partition(|row| listed.rows.iter().any(|other| other.field == row.field));
        let is_new = |row: &Row| !of_both.iter().any(|other| other.field == row.field);
        let of_list: Vec<Row> = listed.rows.iter().filter(|row| is_new(row)).cloned().collect();
        self.table(&of_both);
        self.line("Only `status`, and not `list`, has these:");
        self.table(&of_one);
        self.line("Only `list` has these:");
        self.table(&of_list);
    }

    fn events(&mut self) {
        self.heading(2, "Events");
        self.line("A line of a journal, and of what `exec`, `resume`, `attach` and `logs` print. Every event has these fields:");
        let shape = self.reference.shape(self.root(Root::Event), None);
        self.table(&shape.rows);
        self.line("and `type`, which says what happened. The fields of each type are:");
        shape.unions.iter().for_each(|union| self.each(3, union));
    }

    fn agent_events(&mut self) {
        self.heading(2, "What agents do");
        self.line("`event` of [`agent_event`](#agent_event) has `kind`, which says what the agent did:");
        let definition = self.reference.definition(AGENT_EVENT).unwrap_or(&Value::Null);
        let shape = self.reference.shape(definition, None);
        self.shape(&shape);
    }

    fn objects(&mut self) {
        self.heading(2, "Results of commands");
        self.line("What other commands print: `v`, and `type`, which says what it is.");
        self.variants(Root::Object);
    }

    /// Each form of an object, under a heading of its own.
    fn variants(&mut self, root: Root) {
        let shape = self.reference.shape(self.root(root), None);
        shape.unions.iter().for_each(|union| self.each(3, union));
    }

    fn each(&mut self, level: usize, union: &Union<'_>) {
        for Variant { value, meaning, schema } in &union.variants {
            self.heading(level, &format!("`{value}`"));
            self.line(meaning);
            let shape = self.reference.shape(schema, Some(&union.tag));
            self.shape(&shape);
        }
    }

    fn whole(&mut self, title: &str, root: Root) {
        self.heading(2, title);
        self.object(self.root(root));
    }

    fn file(&mut self, name: &str, about: &str, root: Root) {
        self.heading(3, &format!("`{name}`"));
        self.line(about);
        self.object(self.root(root));
    }

    fn object(&mut self, schema: &'a Value) {
        self.line(&meaning(schema));
        let shape = self.reference.shape(schema, None);
        self.shape(&shape);
    }

    fn shape(&mut self, shape: &Shape<'_>) {
        self.table(&shape.rows);
        let also: Vec<String> = shape.also.iter().map(|name| link(name)).collect();
        if !also.is_empty() {
            self.line(&format!("The fields of {}.", also.join(" and ")));
        }
        shape.unions.iter().for_each(|union| self.union(union));
    }

    fn table(&mut self, rows: &[Row]) {
        if rows.is_empty() {
            return;
        }
        self.out.push_str("\n| field | holds | meaning |\n|---|---|---|\n");
        for Row { field, holds, optional, meaning } in rows {
            let optional = if *optional { " (optional)" } else { "" };
            let _ = writeln!(self.out, "| `{field}`{optional} | {} | {} |", cell(holds), cell(meaning));
        }
    }

    /// Forms of an object in one table.
    fn union(&mut self, union: &Union<'_>) {
        let _ = write!(self.out, "\n| `{}` | meaning | further fields |\n|---|---|---|\n", union.tag);
        for Variant { value, meaning, schema } in &union.variants {
            let shape = self.reference.shape(schema, Some(&union.tag));
            let _ = writeln!(self.out, "| `{value}` | {} | {} |", cell(meaning), cell(&in_a_cell(&shape)));
        }
    }

    /// All that was referred to.
    fn values(&mut self) {
        self.heading(2, "Values");
        self.line("What fields hold, in alphabetical order.");
        let roots = Root::ALL.map(Root::definition);
        let told = self.told_in_place();
        let mut all: Vec<(&String, &Value)> = self.reference.definitions.iter().collect();
        all.sort_by_key(|(name, _)| *name);
        for (name, definition) in all {
            let is_text = definition["type"] == "string" && self.reference.words(definition).is_none();
            let is_used = self.reference.times_used(name) > 0;
            if roots.contains(&name.as_str())
                || is_text
                || told.contains(name)
                || name == AGENT_EVENT
                || !is_used
            {
                continue;
            }
            self.heading(3, name);
            self.line(&meaning(definition));
            match self.reference.words(definition) {
                Some(words) => self.words(&words),
                None => {
                    let shape = self.reference.shape(definition, None);
                    self.shape(&shape);
                }
            }
        }
    }

    /// Definitions whose fields stand where they are used, and nowhere else.
    fn told_in_place(&self) -> BTreeSet<String> {
        let mut told = BTreeSet::new();
        for definition in self.reference.definitions.values() {
            in_place(definition, true, &mut told);
        }
        told.retain(|name| !self.reference.has_own_place(name));
        told
    }

    fn words(&mut self, words: &[(String, String)]) {
        self.out.push_str("\n| value | meaning |\n|---|---|\n");
        for (word, meaning) in words {
            let _ = writeln!(self.out, "| `{word}` | {} |", cell(meaning));
        }
    }
}

/// Objects that are part of another one, rather than in one of its fields.
fn in_place(schema: &Value, is_part: bool, told: &mut BTreeSet<String>) {
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/"))
        && is_part
    {
        told.insert(name.to_owned());
    }
    for keyword in ["oneOf", "anyOf", "allOf"] {
        let tagged = |part: &Value| part.get("properties").is_some();
        let parts = schema[keyword].as_array().into_iter().flatten();
        parts.filter(|part| tagged(part)).for_each(|part| in_place(part, true, told));
    }
}

/// The fields of a form, in a cell of a table.
fn in_a_cell(shape: &Shape<'_>) -> String {
    let row = |row: &Row| {
        let optional = if row.optional { ", optional" } else { "" };
        format!("`{}` ({}{optional}): {}", row.field, row.holds, row.meaning)
    };
    let mut parts: Vec<String> = shape.rows.iter().map(row).collect();
    parts.extend(shape.also.iter().map(|name| format!("those of {}", link(name))));
    for union in &shape.unions {
        let values: Vec<String> = union
            .variants
            .iter()
            .map(|variant| match variant.meaning.as_str() {
                "" => format!("`{}`", variant.value),
                meaning => format!("`{}` – {meaning}", variant.value),
            })
            .collect();
        parts.push(format!("`{}`: {}", union.tag, values.join("<br>")));
    }
    parts.join("<br>")
}

/// Where a value is told, until all headings are known.
const VALUE: &str = "#value:";

pub(super) fn link(name: &str) -> String {
    match name {
        AGENT_EVENT => format!("[{name}](#what-agents-do)"),
        "Event" => "the [event](#events)".to_owned(),
        name => format!("[{name}]({VALUE}{name})"),
    }
}

/// Links lead to the headings as they are numbered where several have the same text.
fn with_anchors(page: &str) -> String {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut anchors: BTreeMap<&str, String> = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with('#')) {
        let text = line.trim_start_matches('#').trim();
        let kept = |c: &char| c.is_alphanumeric() || ['-', '_', ' '].contains(c);
        let plain: String = text.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-");
        let times = seen.entry(plain.clone()).or_default();
        let anchor = if *times == 0 { plain } else { format!("{plain}-{times}") };
        *times += 1;
        anchors.insert(text, anchor);
    }
    let mut out = page.to_owned();
    for (text, anchor) in anchors {
        out = out.replace(&format!("({VALUE}{text})"), &format!("(#{anchor})"));
    }
    out
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
