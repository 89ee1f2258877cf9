//! `.dacapo/milestones/ID.md`: what a milestone is to bring, read once and strictly (M1).
//!
//! ```text
//! ---                                    front matter, optional: settings
//! auto_start: true
//! ---
//! # A title                              optional
//! ## Goal                                any text
//! ## Features                            a list; the items are F-1, F-2, … in their order
//! - Login
//!   Accept: POST /login returns a token
//! ## Acceptance Criteria                 a list; the items are C-1, C-2, … in their order
//! ## Constraints                         any text, optional
//! ```
//!
//! A heading or a list item inside a code fence or an HTML comment is none.

use std::fmt;

use super::lines::{Kind, Line, Lines};
use super::settings::{self, Settings};

/// A file that is larger is no definition.
pub const MOST_BYTES: usize = 256 << 10;
/// A milestone of more features or criteria than this is several milestones.
pub const MOST_ITEMS: usize = 100;

/// What a milestone is to bring.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// What its front matter says.
    pub settings: Settings,
    /// Its heading.
    pub title: Option<String>,
    /// What it is for.
    pub goal: String,
    /// What is to be built, in order.
    pub features: Vec<Feature>,
    /// What must hold in the end.
    pub criteria: Vec<String>,
    /// What must not be done on the way; may be empty.
    pub constraints: String,
}

/// One feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// In the author's words.
    pub text: String,
    /// What it is accepted by.
    pub accept: Option<String>,
}

/// Why a file is no definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionError {
    /// Where, from 1.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
    /// What could be meant, or what to write.
    pub hint: Option<String>,
}

impl DefinitionError {
    pub(super) fn at(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into(), hint: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

impl std::error::Error for DefinitionError {}

const GOAL: &str = "Goal";
const FEATURES: &str = "Features";
const CRITERIA: &str = "Acceptance Criteria";
const CONSTRAINTS: &str = "Constraints";
const SECTIONS: [&str; 4] = [GOAL, FEATURES, CRITERIA, CONSTRAINTS];

/// A heading of the second level, and what stands under it.
struct Section<'a> {
    name: &'static str,
    line: usize,
    body: Vec<Line<'a>>,
}

impl Definition {
    /// Reads a file.
    pub fn parse(text: &str) -> Result<Self, DefinitionError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.len() > MOST_BYTES {
            let message = format!("the file has {} bytes; at most {MOST_BYTES} are read", text.len());
            return Err(DefinitionError::at(1, message).hint("a milestone is a page or two"));
        }
        if let Some(at) = text.find('\0') {
            return Err(DefinitionError::at(line_of(text, at), "a NUL byte: this is not a text"));
        }
        let (settings, body, from) = settings::front_matter(text)?;
        let (title, sections) = sections(body, from)?;
        let last = (from + body.lines().count()).saturating_sub(1).max(1);
        let section = |name: &'static str| {
            sections.iter().find(|section| section.name == name).ok_or_else(|| {
                DefinitionError::at(last, format!("the section '## {name}' is missing"))
                    .hint(format!("a milestone has the sections {}", quoted(&SECTIONS[..3])))
            })
        };
        let goal = section(GOAL)?;
        let goal_text = prose(&goal.body);
        if goal_text.is_empty() {
            return Err(DefinitionError::at(goal.line, "the goal is empty").hint("say what it is for"));
        }
        let features = section(FEATURES)?;
        let criteria = section(CRITERIA)?;
        Ok(Self {
            settings,
            title,
            goal: goal_text,
            features: features_of(features)?,
            criteria: criteria_of(criteria)?,
            constraints: section(CONSTRAINTS).map(|section| prose(&section.body)).unwrap_or_default(),
        })
    }

    /// What the review is held to, as a hash: goal, features, criteria and constraints, however they are laid out (M11).
    /// Settings are not part of it.
    pub fn frozen(&self) -> String {
        let mut hash = hmac_sha256::Hash::new();
        let mut put = |text: &str| {
            // With its length, so that no text can pass for two others.
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text.as_bytes());
        };
        put("dacapo milestone 1");
        put(&self.goal);
        put(&self.features.len().to_string());
        for Feature { text, accept } in &self.features {
            put(text);
            put(if accept.is_some() { "accept" } else { "" });
            put(accept.as_deref().unwrap_or_default());
        }
        put(&self.criteria.len().to_string());
        self.criteria.iter().for_each(|criterion| put(criterion));
        put(&self.constraints);
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The feature that a report names: by its id at the beginning, or word for word.
    pub fn feature(&self, named: &str) -> Option<usize> {
        let named = named.trim();
        match leading_id("F-", named) {
            Some((number, _)) => number.checked_sub(1).filter(|at| *at < self.features.len()),
            None => self.features.iter().position(|feature| feature.text.eq_ignore_ascii_case(named)),
        }
    }
}

/// `F-1` for the first feature.
pub fn feature_id(at: usize) -> String {
    format!("F-{}", at + 1)
}

/// `C-1` for the first criterion.
pub fn criterion_id(at: usize) -> String {
    format!("C-{}", at + 1)
}

/// `F-2: Login` is number 2 and `Login`; also `F-2 Login`, `**F-2** Login` and `F-2` alone.
pub(super) fn leading_id<'t>(prefix: &str, text: &'t str) -> Option<(usize, &'t str)> {
    let bare = text.trim_start_matches(['*', '[', '`']);
    let rest = bare.strip_prefix(prefix)?;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = rest[..digits].parse().ok()?;
    let after = &rest[digits..];
    // `F-2nd` and `F-2-b` are words, not ids.
    if after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        || after.strip_prefix('-').is_some_and(|more| more.starts_with(char::is_alphanumeric))
    {
        return None;
    }
    let after = after.trim_start_matches(['*', ']', '`']).trim_start();
    Some((number, after.strip_prefix([':', '：', '—', '–', '-', '.']).unwrap_or(after).trim_start()))
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("'## {name}'")).collect::<Vec<_>>().join(", ")
}

fn sections(body: &str, from: usize) -> Result<(Option<String>, Vec<Section<'_>>), DefinitionError> {
    let mut title = None;
    let mut sections: Vec<Section<'_>> = Vec::new();
    for line in Lines::of(body, from).collect::<Result<Vec<_>, _>>()? {
        match line.kind {
            Kind::Heading { level: 1, text } => {
                if title.is_some() || !sections.is_empty() {
                    let message = "a second title; there is one, at the top";
                    return Err(DefinitionError::at(line.number, message)
                        .hint(format!("sections are {}", quoted(&SECTIONS))));
                }
                title = Some(text.to_owned());
            }
            Kind::Heading { level: 2, text } => {
                let Some(name) = SECTIONS.into_iter().find(|name| *name == text) else {
                    let unknown = DefinitionError::at(
                        line.number,
                        format!("'## {}' is not a section", settings::shown(text)),
                    );
                    return Err(unknown.hint(settings::suggestion(text, &SECTIONS)));
                };
                if let Some(first) = sections.iter().find(|section| section.name == name) {
                    let message = format!("'## {name}' is there already, in line {}", first.line);
                    return Err(DefinitionError::at(line.number, message));
                }
                sections.push(Section { name, line: line.number, body: Vec::new() });
            }
            Kind::Blank => {
                if let Some(section) = sections.last_mut() {
                    section.body.push(line);
                }
            }
            Kind::Heading { .. } | Kind::Item { .. } | Kind::Text | Kind::Fenced => {
                match sections.last_mut() {
                    Some(section) => section.body.push(line),
                    None => {
                        let message = "text before the first section";
                        return Err(DefinitionError::at(line.number, message).hint("begin with '## Goal'"));
                    }
                }
            }
        }
    }
    Ok((title, sections))
}

/// Text as it stands, without blank lines around it and at the ends of lines.
fn prose(body: &[Line<'_>]) -> String {
    let lines: Vec<&str> = body.iter().map(|line| line.text.trim_end()).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

/// A list item: where it begins, and its lines without the marker.
struct Item<'a> {
    number: usize,
    lines: Vec<&'a str>,
}

fn items<'a>(section: &Section<'a>) -> Result<Vec<Item<'a>>, DefinitionError> {
    let mut items: Vec<Item<'a>> = Vec::new();
    for line in &section.body {
        match (line.kind, items.last_mut()) {
            (Kind::Item { indent: 0 | 1, text }, _) => {
                items.push(Item { number: line.number, lines: vec![text] });
            }
            (Kind::Blank, None) => {}
            (Kind::Heading { .. }, _) => {
                let message = format!("a heading in '## {}'", section.name);
                return Err(DefinitionError::at(line.number, message).hint("write list items: '- …'"));
            }
            (_, Some(item)) => item.lines.push(line.text),
            (_, None) => {
                let message = format!("'## {}' is a list", section.name);
                return Err(DefinitionError::at(line.number, message).hint("begin the line with '- '"));
            }
        }
    }
    if items.is_empty() {
        let message = format!("'## {}' is empty", section.name);
        return Err(DefinitionError::at(section.line, message).hint("write at least one item: '- …'"));
    }
    if let Some(item) = items.get(MOST_ITEMS) {
        let message = format!("'## {}' has more than {MOST_ITEMS} items", section.name);
        return Err(DefinitionError::at(item.number, message).hint("make several milestones of it"));
    }
    Ok(items)
}

fn joined(lines: &[&str]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join("\n").trim().to_owned()
}

/// The text of an item without the id that its author may have written; it must be the one that it has.
fn named_by_place(item: &Item<'_>, prefix: &str, at: usize) -> Result<Vec<String>, DefinitionError> {
    let mut lines: Vec<String> = item.lines.iter().map(|line| (*line).to_owned()).collect();
    let first = lines[0].trim_start();
    let first = first.strip_prefix("[ ] ").or_else(|| first.strip_prefix("[x] ")).unwrap_or(first);
    let first = match leading_id(prefix, first) {
        Some((number, rest)) if number == at + 1 => rest,
        Some((number, _)) => {
            let message = format!("this is {prefix}{}, not {prefix}{number}: ids go by place", at + 1);
            return Err(DefinitionError::at(item.number, message).hint("leave the id out"));
        }
        None => first,
    };
    lines[0] = first.to_owned();
    Ok(lines)
}

fn features_of(section: &Section<'_>) -> Result<Vec<Feature>, DefinitionError> {
    let mut features = Vec::new();
    for (at, item) in items(section)?.iter().enumerate() {
        let (mut text, mut accept): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        let lines = named_by_place(item, "F-", at)?;
        for (nth, line) in lines.iter().enumerate() {
            let bare = line.trim_start().trim_start_matches(['-', '*', '+']).trim_start();
            if let Some(words) = accepts(bare) {
                accept.push(words);
            } else if let Some((before, words)) =
                line.match_indices(['A', '验', '驗']).find_map(|(from, _)| {
                    let before = &line[..from];
                    // In the same line as the feature itself.
                    let apart = nth == 0 && before.ends_with(char::is_whitespace);
                    accepts(&line[from..]).filter(|_| apart).map(|words| (before, words))
                })
            {
                text.push(before);
                accept.push(words);
            } else if accept.is_empty() {
                text.push(line);
            } else {
                accept.push(line);
            }
        }
        let (text, words) = (joined(&text), joined(&accept));
        if text.is_empty() {
            let message = format!("{} says nothing", feature_id(at));
            return Err(DefinitionError::at(item.number, message));
        }
        if !accept.is_empty() && words.is_empty() {
            let message = format!("{} has an empty 'Accept:'", feature_id(at));
            return Err(DefinitionError::at(item.number, message).hint("say what it is accepted by"));
        }
        features.push(Feature { text, accept: Some(words).filter(|words| !words.is_empty()) });
    }
    Ok(features)
}

fn accepts(text: &str) -> Option<&str> {
    let marks = ["Accept:", "Accept：", "验收：", "验收:", "驗收：", "驗收:"];
    marks.iter().find_map(|mark| text.strip_prefix(mark)).map(str::trim_start)
}

fn criteria_of(section: &Section<'_>) -> Result<Vec<String>, DefinitionError> {
    let mut criteria = Vec::new();
    for (at, item) in items(section)?.iter().enumerate() {
        let lines = named_by_place(item, "C-", at)?;
        let text = joined(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        if text.is_empty() {
            let message = format!("{} says nothing", criterion_id(at));
            return Err(DefinitionError::at(item.number, message));
        }
        criteria.push(text);
    }
    Ok(criteria)
}
