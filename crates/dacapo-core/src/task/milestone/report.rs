//! What a Developer replies with: a report on one feature, or that all features are complete (formats.md).
//!
//! What stands before the heading is not read; from the heading on everything must fit. What does not is told in words
//! that can be sent back to the agent as they are.

use std::fmt;

use super::lines::{Kind, Line, Lines};
use super::settings::shown;
use crate::context::cut;

/// Shorter names of commits are ambiguous sooner or later.
const FEWEST_DIGITS: usize = 7;
/// So many changes or commits are read of a report.
const MOST_ITEMS: usize = 200;
/// So much of each is kept.
const ITEM_BYTES: usize = 500;
/// So much of free text is kept.
const TEXT_BYTES: usize = 4 << 10;

/// What a Developer replies with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeveloperReply {
    /// One feature, or its repair.
    Report(Report),
    /// `ALL_FEATURES_COMPLETE`.
    Completion(Completion),
}

/// The report on one feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The round, from 1.
    pub round: u32,
    /// Which feature, in the Developer's words.
    pub feature: String,
    /// The commit, by 7 or more of its digits.
    pub commit: String,
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed.
    pub failed: u32,
    /// What the linter found; 0: clean.
    pub issues: u32,
    /// `path: what`, a line each.
    pub changes: Vec<String>,
    /// What else there is to say; may be empty.
    pub notes: String,
}

/// The report that all features are complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The commits and their messages.
    pub commits: Vec<(String, String)>,
    /// What was done.
    pub summary: String,
}

const COMPLETE: &str = "ALL_FEATURES_COMPLETE";
const REPORT: &str = "Implementation Report — Round ";
const FIELDS: [&str; 4] = ["Feature", "Commit", "Tests", "Lint"];

impl DeveloperReply {
    /// Reads a reply in `round` (from 1). The error is a list of complaints.
    pub fn parse(reply: &str, round: u32) -> Result<Self, Vec<String>> {
        let lines: Vec<Line<'_>> = Lines::lenient(reply).collect();
        let is = |line: &Line<'_>, wanted: fn(&str) -> bool| matches!(line.kind, Kind::Heading { level: 2, text } if wanted(text));
        let complete = lines.iter().position(|line| is(line, |text| text == COMPLETE));
        let report = lines.iter().position(|line| is(line, |text| text.starts_with("Implementation Report")));
        match (report, complete) {
            (Some(_), Some(_)) => Err(vec![format!(
                "the reply has both '## Implementation Report' and '## {COMPLETE}': reply with one of them"
            )]),
            (None, None) => Err(vec![format!(
                "the reply has no heading '## {REPORT}{round}' (nor '## {COMPLETE}') on a line of its own, outside of code fences"
            )]),
            (Some(at), None) => Report::read(&lines[at..], round).map(Self::Report),
            (None, Some(at)) => Completion::read(&lines[at..]).map(Self::Completion),
        }
    }

    /// The commits that the reply names, as they are written there.
    pub fn commits(&self) -> Vec<&str> {
        match self {
            Self::Report(report) => vec![&report.commit],
            Self::Completion(completion) => {
                completion.commits.iter().map(|(commit, _)| commit.as_str()).collect()
            }
        }
    }
}

/// A part of a report: its heading of the third level, and what stands under it.
struct Part<'l, 'a> {
    name: &'a str,
    lines: &'l [Line<'a>],
}

/// What follows the heading: its own lines, then the parts. Another heading of the first or second level is a complaint.
fn parts<'l, 'a>(
    lines: &'l [Line<'a>],
    known: &[&str],
    complaints: &mut Vec<String>,
) -> (&'l [Line<'a>], Vec<Part<'l, 'a>>) {
    let heads: Vec<usize> =
        (1..lines.len()).filter(|at| matches!(lines[*at].kind, Kind::Heading { level: 1..=3, .. })).collect();
    let own = &lines[1..heads.first().copied().unwrap_or(lines.len())];
    let mut parts: Vec<Part<'l, 'a>> = Vec::new();
    for (nth, at) in heads.iter().enumerate() {
        let end = heads.get(nth + 1).copied().unwrap_or(lines.len());
        let Kind::Heading { level, text } = lines[*at].kind else { continue };
        if level != 3 || !known.contains(&text) {
            let marks = "#".repeat(level);
            complaints.push(format!("'{marks} {}' is not a part of the report", shown(text)));
        } else if parts.iter().any(|part| part.name == text) {
            complaints.push(format!("'### {text}' is there twice"));
        } else {
            parts.push(Part { name: text, lines: &lines[at + 1..end] });
        }
    }
    (own, parts)
}

/// The list items of a part, with the lines that belong to them. Anything else is a complaint.
fn items(part: &Part<'_, '_>, complaints: &mut Vec<String>) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in part.lines {
        match (line.kind, items.last_mut()) {
            (Kind::Blank, _) => {}
            (Kind::Item { indent: 0 | 1, text }, _) => items.push(text.to_owned()),
            (_, Some(item)) => {
                item.push(' ');
                item.push_str(line.text.trim());
            }
            (_, None) => {
                let what = shown(line.text.trim());
                complaints.push(format!("'### {}' is a list of '- …'; found '{what}'", part.name));
                return items;
            }
        }
    }
    if items.len() > MOST_ITEMS {
        complaints.push(format!("'### {}' has more than {MOST_ITEMS} items", part.name));
    }
    items
}

fn text_of(part: &Part<'_, '_>) -> String {
    let lines: Vec<&str> = part.lines.iter().map(|line| line.text.trim_end()).collect();
    cut(lines.join("\n").trim(), TEXT_BYTES)
}

/// The digits of a commit, which people and agents put in code marks.
fn commit(text: &str) -> Option<String> {
    let digits = text.trim().trim_matches('`');
    let fits = (FEWEST_DIGITS..=64).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    fits.then(|| digits.to_ascii_lowercase())
}

impl Report {
    fn read(lines: &[Line<'_>], round: u32) -> Result<Self, Vec<String>> {
        let mut complaints = Vec::new();
        if let Kind::Heading { text, .. } = lines[0].kind
            && text.strip_prefix(REPORT).and_then(|number| number.parse().ok()) != Some(round)
        {
            complaints.push(format!("the heading must be '## {REPORT}{round}', not '## {}'", shown(text)));
        }
        let (own, parts) = parts(lines, &["Changes", "Notes"], &mut complaints);
        let [feature, named, tests, lint] = fields(own, &mut complaints);
        let value = |field: &Option<String>| field.clone().unwrap_or_default();
        let hash = commit(&value(&named));
        if named.is_some() && hash.is_none() {
            let told = shown(&value(&named));
            complaints
                .push(format!("**Commit** must be a hash of {FEWEST_DIGITS} or more digits, not '{told}'"));
        }
        let counted = counts(&value(&tests));
        if tests.is_some() && counted.is_none() {
            let told = shown(&value(&tests));
            complaints.push(format!("**Tests** must be '{{n}} passed, {{n}} failed', not '{told}'"));
        }
        let issues = issues(&value(&lint));
        if lint.is_some() && issues.is_none() {
            let told = shown(&value(&lint));
            complaints.push(format!("**Lint** must be 'clean' or '{{n}} issues', not '{told}'"));
        }
        let changes = match parts.iter().find(|part| part.name == "Changes") {
            Some(part) => changes(part, &mut complaints),
            None => {
                complaints.push("the part '### Changes' is missing".to_owned());
                Vec::new()
            }
        };
        let (passed, failed) = counted.unwrap_or_default();
        let notes = parts.iter().find(|part| part.name == "Notes").map(text_of).unwrap_or_default();
        if !complaints.is_empty() {
            return Err(complaints);
        }
        Ok(Self {
            round,
            feature: cut(&value(&feature), ITEM_BYTES),
            commit: hash.unwrap_or_default(),
            passed,
            failed,
            issues: issues.unwrap_or_default(),
            changes,
            notes,
        })
    }
}

/// The values of `**Name**: …`, each exactly once and not empty.
fn fields(own: &[Line<'_>], complaints: &mut Vec<String>) -> [Option<String>; 4] {
    let mut values: [Option<String>; 4] = Default::default();
    for line in own.iter().filter(|line| line.kind != Kind::Blank) {
        let text = line.text.trim();
        let field = FIELDS.iter().enumerate().find_map(|(at, name)| {
            let rest = text.strip_prefix("**")?.strip_prefix(name)?.strip_prefix("**:")?;
            Some((at, rest.trim()))
        });
        match field {
            Some((at, _)) if values[at].is_some() => {
                complaints.push(format!("**{}** is there twice", FIELDS[at]));
            }
            Some((at, value)) => values[at] = Some(value.to_owned()),
            None => complaints.push(format!("'{}' is not a field of the report", shown(text))),
        }
    }
    for (name, value) in FIELDS.iter().zip(&values) {
        match value.as_deref() {
            None => complaints.push(format!("the field **{name}** is missing")),
            Some("") => complaints.push(format!("the field **{name}** is empty")),
            Some(_) => {}
        }
    }
    // One complaint is enough for an empty field.
    values.map(|value| value.filter(|value| !value.is_empty()))
}

fn counts(text: &str) -> Option<(u32, u32)> {
    let (passed, failed) = text.split_once(',')?;
    let passed = passed.trim().strip_suffix(" passed")?.parse().ok()?;
    Some((passed, failed.trim().strip_suffix(" failed")?.parse().ok()?))
}

fn issues(text: &str) -> Option<u32> {
    if text == "clean" {
        return Some(0);
    }
    text.strip_suffix(" issues").or_else(|| text.strip_suffix(" issue"))?.parse().ok()
}

fn changes(part: &Part<'_, '_>, complaints: &mut Vec<String>) -> Vec<String> {
    let before = complaints.len();
    let items = items(part, complaints);
    if items.is_empty() && complaints.len() == before {
        complaints.push("'### Changes' is empty: name each changed file, '- {path}: …'".to_owned());
    }
    for item in &items {
        if item.split_once(':').is_none_or(|(path, what)| path.trim().is_empty() || what.trim().is_empty()) {
            complaints.push(format!("in '### Changes' write '- {{path}}: …', not '- {}'", shown(item)));
        }
    }
    items.iter().map(|item| cut(item, ITEM_BYTES)).collect()
}

impl Completion {
    fn read(lines: &[Line<'_>]) -> Result<Self, Vec<String>> {
        let mut complaints = Vec::new();
        let (own, parts) = parts(lines, &["Commits", "Summary"], &mut complaints);
        if let Some(line) = own.iter().find(|line| line.kind != Kind::Blank) {
            let told = shown(line.text.trim());
            complaints.push(format!("'{told}' stands before '### Commits'; say it in '### Summary'"));
        }
        let mut commits = Vec::new();
        match parts.iter().find(|part| part.name == "Commits") {
            Some(part) => {
                let before = complaints.len();
                for item in items(part, &mut complaints) {
                    let read = item
                        .split_once(':')
                        .and_then(|(hash, message)| Some((commit(hash)?, cut(message.trim(), ITEM_BYTES))));
                    match read {
                        Some(read) => commits.push(read),
                        None => complaints.push(format!(
                            "in '### Commits' write '- {{hash}}: {{message}}', not '- {}'",
                            shown(&item)
                        )),
                    }
                }
                if commits.is_empty() && complaints.len() == before {
                    complaints.push("'### Commits' is empty".to_owned());
                }
            }
            None => complaints.push("the part '### Commits' is missing".to_owned()),
        }
        let summary = match parts.iter().find(|part| part.name == "Summary").map(text_of) {
            Some(summary) if !summary.is_empty() => summary,
            Some(_) => {
                complaints.push("'### Summary' is empty".to_owned());
                String::new()
            }
            None => {
                complaints.push("the part '### Summary' is missing".to_owned());
                String::new()
            }
        };
        if complaints.is_empty() { Ok(Self { commits, summary }) } else { Err(complaints) }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lint = match self.issues {
            0 => "clean".to_owned(),
            more => format!("{more} issues"),
        };
        write!(
            f,
            "## {REPORT}{}\n\n**Feature**: {}\n**Commit**: {}\n**Tests**: {} passed, {} failed\n**Lint**: {lint}\n\n### Changes\n",
            self.round, self.feature, self.commit, self.passed, self.failed
        )?;
        self.changes.iter().try_for_each(|change| writeln!(f, "- {change}"))?;
        if self.notes.is_empty() { Ok(()) } else { write!(f, "\n### Notes\n{}\n", self.notes) }
    }
}

impl fmt::Display for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "## {COMPLETE}\n\n### Commits\n")?;
        self.commits.iter().try_for_each(|(commit, message)| writeln!(f, "- {commit}: {message}"))?;
        write!(f, "\n### Summary\n{}\n", self.summary)
    }
}
