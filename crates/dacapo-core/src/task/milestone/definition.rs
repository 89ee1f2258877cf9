//! `.dacapo/milestones/ID.md`: what a milestone is to bring, read once (M1).
//!
//! ```text
//! ---                                    front matter, optional: settings
//! auto_start: true
//! ---
//! # A title                              optional
//! ## Goal                                any text
//! ## Features                            a list, or headings; they are F-1, F-2, … in their order
//! - Login
//!   Accept: POST /login returns a token
//! ## Acceptance Criteria                 a list; the items are C-1, C-2, … in their order
//! ## Constraints                         any text, optional
//! ## Anything else                       is given to the agents as it stands
//! ```
//!
//! Where there are headings below Features, each is a feature with all that stands under it, and what comes before the first
//! is an introduction; else each item of the list is one. A heading or a list item inside a code fence or an HTML comment is
//! none.

use std::fmt;

use super::flaw::{Flaw, ItemForm};
use super::lines::{Kind, Line};
use super::sections::{Name, Section, Sections, prose, unnumbered};
use super::settings::{self, Settings};

/// A file that is larger is no definition.
pub const MOST_BYTES: usize = 256 << 10;
/// A milestone of more features or criteria than this is several milestones.
pub const MOST_ITEMS: usize = 100;
/// What a hash of criteria begins with: another version of it is another hash.
const WHAT_IS_FROZEN: &[u8] = b"dacapo milestone 1";
/// A shorter name may stand in any sentence.
const FEWEST_LETTERS: usize = 3;

/// What a milestone is to bring.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// What its front matter says.
    pub settings: Settings,
    pub title: Option<String>,
    /// What it is for.
    pub goal: String,
    /// What is to be built, in order.
    pub features: Vec<Feature>,
    /// What must hold in the end.
    pub criteria: Vec<String>,
    /// What must not be done on the way; may be empty.
    pub constraints: String,
    /// All other sections, as they stand; may be empty.
    pub others: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// In the author's words; of one with a heading of its own, the heading, a blank line and what stands under it.
    pub text: String,
    /// What it is accepted by.
    pub accept: Option<String>,
}

impl Feature {
    /// What it is called: its heading, or the first paragraph of a list item.
    pub fn title(&self) -> &str {
        self.text.split("\n\n").next().unwrap_or_default()
    }
}

/// Why a file is no definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionError {
    /// The line's number, from 1.
    pub line: usize,
    pub flaw: Flaw,
}

impl DefinitionError {
    pub(super) fn at(line: usize, flaw: Flaw) -> Self {
        Self { line, flaw }
    }
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.flaw)
    }
}

impl std::error::Error for DefinitionError {}

impl Definition {
    pub fn parse(text: &str) -> Result<Self, DefinitionError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.len() > MOST_BYTES {
            return Err(DefinitionError::at(1, Flaw::TooLong { bytes: text.len(), most: MOST_BYTES }));
        }
        if let Some(at) = text.find('\0') {
            return Err(DefinitionError::at(line_of(text, at), Flaw::NulByte));
        }
        let (settings, body, from) = settings::front_matter(text)?;
        let sections = Sections::of(body, from)?;
        let goal = sections.need(Name::Goal)?;
        let goal_text = prose(&goal.body);
        if goal_text.is_empty() {
            return Err(DefinitionError::at(goal.line, Flaw::EmptyGoal));
        }
        let features = sections.need(Name::Features)?;
        let criteria = sections.need(Name::Criteria)?;
        let constraints = sections.find(Name::Constraints);
        Ok(Self {
            settings,
            title: sections.title.clone(),
            goal: goal_text,
            features: features_of(features)?,
            criteria: criteria_of(criteria)?,
            constraints: constraints.map(|section| prose(&section.body)).unwrap_or_default(),
            others: sections.others(),
        })
    }

    /// What the review is held to, as a hash: goal, features, criteria and constraints, however they are laid out (M11).
    /// Settings are not part of it.
    pub fn frozen(&self) -> String {
        let mut hash = hmac_sha256::Hash::new();
        let mut put_bytes = |bytes: &[u8]| {
            // With its length, so that no text can pass for two others.
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        put_bytes(WHAT_IS_FROZEN);
        let mut put = |text: &str| put_bytes(text.as_bytes());
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
        if !self.others.is_empty() {
            put(&self.others);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The feature that a report names: by its id at the beginning, word for word, or as the only one whose whole name is
    /// in it.
    pub fn feature(&self, named: &str) -> Option<usize> {
        let named = named.trim();
        if let Some((number, _)) = leading_id("F-", named) {
            return number.checked_sub(1).filter(|at| *at < self.features.len());
        }
        let is = |feature: &Feature| {
            feature.text.eq_ignore_ascii_case(named) || feature.title().eq_ignore_ascii_case(named)
        };
        let at = self.features.iter().position(is);
        at.or_else(|| {
            let lower = named.to_lowercase();
            let mut within = (0..self.features.len()).filter(|at| {
                let title = self.features[*at].title().trim_end_matches(['.', '。']).to_lowercase();
                title.chars().count() >= FEWEST_LETTERS && has_words(&lower, &title)
            });
            within.next().filter(|_| within.next().is_none())
        })
    }
}

/// `title` is in `text`, and no word goes on beyond it.
fn has_words(text: &str, title: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric();
    text.match_indices(title).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + title.len()..]);
        let runs_on = |outside: Option<char>, inside: Option<char>| {
            outside.is_some_and(letter) && inside.is_some_and(letter)
        };
        !runs_on(before.chars().next_back(), title.chars().next())
            && !runs_on(after.chars().next(), title.chars().next_back())
    })
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

/// A list item, or a heading with what stands under it: where it begins, and its lines without the marker.
struct Item<'a> {
    number: usize,
    lines: Vec<&'a str>,
}

fn items<'a>(section: &Section<'a>) -> Vec<Item<'a>> {
    // A list as a whole may be indented; what is indented further belongs to the item before it.
    let indents = section.body.iter().filter_map(|line| match line.kind {
        Kind::Item { indent, .. } => Some(indent),
        Kind::Blank | Kind::Heading { .. } | Kind::Text | Kind::Fenced => None,
    });
    let outermost = indents.min().unwrap_or(0).max(1);
    let mut items: Vec<Item<'a>> = Vec::new();
    let mut within = false;
    for line in &section.body {
        match (line.kind, items.last_mut()) {
            (Kind::Item { indent, text }, _) if indent <= outermost => {
                items.push(Item { number: line.number, lines: vec![text] });
                within = true;
            }
            // It says what the next items have in common.
            (Kind::Heading { .. }, _) => within = false,
            (_, Some(item)) if within => item.lines.push(line.text),
            // An introduction.
            (_, _) => {}
        }
    }
    items
}

/// What a section lists, or why it lists nothing.
fn counted<T>(section: &Section<'_>, items: Vec<T>, form: ItemForm) -> Result<Vec<T>, DefinitionError> {
    let section_name = section.name.as_str();
    let said = section.body.iter().find(|line| line.kind != Kind::Blank);
    match (items.len(), said) {
        (0, None) => Err(DefinitionError::at(section.line, Flaw::EmptySection { section: section_name })),
        (0, Some(line)) => {
            let flaw = Flaw::NotAList { section: section_name, items: form };
            Err(DefinitionError::at(line.number, flaw))
        }
        (1..=MOST_ITEMS, _) => Ok(items),
        (many, _) => {
            let flaw = Flaw::TooManyItems { section: section_name, items: many, most: MOST_ITEMS };
            Err(DefinitionError::at(section.line, flaw))
        }
    }
}

fn joined(lines: &[&str]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join("\n").trim().to_owned()
}

/// Text without a box to tick and without the id that its author may have written; it must be the one that it has.
fn named_by_place<'t>(
    first: &'t str,
    (prefix, at): (&str, usize),
    line: usize,
) -> Result<&'t str, DefinitionError> {
    let first = first.trim_start();
    let first =
        ["[ ]", "[x]", "[X]"].iter().find_map(|tick| first.strip_prefix(tick)).map_or(first, |rest| {
            // `[x](link)` is none.
            if rest.is_empty() || rest.starts_with([' ', '\t']) { rest.trim_start() } else { first }
        });
    match leading_id(prefix, first) {
        Some((number, rest)) if number == at + 1 => Ok(rest),
        Some((number, _)) => {
            let (own, written) = (format!("{prefix}{}", at + 1), format!("{prefix}{number}"));
            Err(DefinitionError::at(line, Flaw::WrongId { own, written }))
        }
        None => Ok(first),
    }
}

fn features_of(section: &Section<'_>) -> Result<Vec<Feature>, DefinitionError> {
    let levels = section.body.iter().filter_map(|line| match line.kind {
        Kind::Heading { level, .. } => Some(level),
        Kind::Blank | Kind::Item { .. } | Kind::Text | Kind::Fenced => None,
    });
    let form = ItemForm::ListedOrHeaded;
    match levels.min() {
        Some(level) => counted(section, headed(section, level)?, form),
        None => {
            let items = items(section);
            let read = items.iter().enumerate().map(|(at, item)| listed(item, at));
            counted(section, read.collect::<Result<_, _>>()?, form)
        }
    }
}

/// Features that are headings of this level.
fn headed(section: &Section<'_>, level: usize) -> Result<Vec<Feature>, DefinitionError> {
    let is_one = |line: &Line<'_>| matches!(line.kind, Kind::Heading { level: its, .. } if its == level);
    let from = section.body.iter().position(is_one).unwrap_or(section.body.len());
    let mut features = Vec::new();
    let mut rest = &section.body[from..];
    while let Some((first, after)) = rest.split_first() {
        let end = after.iter().position(is_one).unwrap_or(after.len());
        let (body, next) = after.split_at(end);
        let Kind::Heading { text, .. } = first.kind else { break };
        features.push(under_heading(text, first.number, body, features.len())?);
        rest = next;
    }
    Ok(features)
}

/// What an `Accept:` says goes on to the next blank line, where the first words stand in a line of their own to the one
/// after the list.
fn under_heading(
    heading: &str,
    number: usize,
    body: &[Line<'_>],
    at: usize,
) -> Result<Feature, DefinitionError> {
    let title = unnumbered(named_by_place(heading, ("F-", at), number)?);
    let (mut text, mut accept): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let (mut accepting, mut said) = (false, false);
    for line in body {
        let bare = match line.kind {
            Kind::Item { text, .. } => text,
            Kind::Text => line.text.trim(),
            Kind::Blank | Kind::Heading { .. } | Kind::Fenced => "",
        };
        if let Some(words) = accepts(bare) {
            (accepting, said) = (true, !words.is_empty());
            accept.push(words);
            continue;
        }
        match line.kind {
            Kind::Blank if said => accepting = false,
            Kind::Heading { .. } => accepting = false,
            Kind::Blank | Kind::Item { .. } | Kind::Text | Kind::Fenced => {}
        }
        if accepting {
            said |= line.kind != Kind::Blank;
            accept.push(line.text);
        } else {
            text.push(line.text);
        }
    }
    let body = text.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n");
    let text = format!("{title}\n\n{}", body.trim_matches('\n')).trim_end().to_owned();
    feature((title, text), &accept, number, at)
}

fn feature(
    (name, text): (&str, String),
    accept: &[&str],
    number: usize,
    at: usize,
) -> Result<Feature, DefinitionError> {
    let words = joined(accept);
    if name.trim().is_empty() {
        return Err(DefinitionError::at(number, Flaw::SaysNothing { id: feature_id(at) }));
    }
    if !accept.is_empty() && words.is_empty() {
        return Err(DefinitionError::at(number, Flaw::EmptyAccept { id: feature_id(at) }));
    }
    Ok(Feature { text, accept: Some(words).filter(|words| !words.is_empty()) })
}

/// A feature that is an item of the list.
fn listed(item: &Item<'_>, at: usize) -> Result<Feature, DefinitionError> {
    let (mut text, mut accept): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let first = named_by_place(item.lines[0], ("F-", at), item.number)?;
    let lines = std::iter::once(first).chain(item.lines[1..].iter().copied());
    for (nth, line) in lines.enumerate() {
        let bare = line.trim_start().trim_start_matches(['-', '*', '+']).trim_start();
        if let Some(words) = accepts(bare) {
            accept.push(words);
        } else if let Some((before, words)) =
            line.match_indices(['A', '*', '验', '驗']).find_map(|(from, _)| {
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
    let text = joined(&text);
    feature((&text.clone(), text), &accept, item.number, at)
}

/// What follows `Accept:`, `**Accept**:` or `验收：`.
fn accepts(text: &str) -> Option<&str> {
    let bare = text.trim_start_matches(['*', '_']);
    let words = ["Acceptance", "Accept", "验收标准", "驗收標準", "验收", "驗收"];
    words.iter().find_map(|word| {
        let rest = bare.strip_prefix(word)?.trim_start_matches(['*', '_']);
        Some(rest.strip_prefix([':', '：'])?.trim_start_matches(['*', '_']).trim_start())
    })
}

fn criteria_of(section: &Section<'_>) -> Result<Vec<String>, DefinitionError> {
    let mut items = items(section);
    if items.is_empty() {
        items = paragraphs(section);
    }
    let mut criteria = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let first = named_by_place(item.lines[0], ("C-", at), item.number)?;
        let lines: Vec<&str> = std::iter::once(first).chain(item.lines[1..].iter().copied()).collect();
        let text = joined(&lines);
        if text.is_empty() {
            return Err(DefinitionError::at(item.number, Flaw::SaysNothing { id: criterion_id(at) }));
        }
        criteria.push(text);
    }
    counted(section, criteria, ItemForm::Listed)
}

/// Criteria without any marks: a line each, or a paragraph each where blank lines stand between them.
fn paragraphs<'a>(section: &Section<'a>) -> Vec<Item<'a>> {
    let body = &section.body;
    let said = |line: &Line<'_>| matches!(line.kind, Kind::Text);
    let (Some(from), Some(to)) = (body.iter().position(said), body.iter().rposition(said)) else {
        return Vec::new();
    };
    let apart = body[from..to].iter().any(|line| line.kind == Kind::Blank);
    let mut items: Vec<Item<'a>> = Vec::new();
    let mut goes_on = false;
    for line in &body[from..] {
        match (line.kind, items.last_mut()) {
            (Kind::Text, Some(item)) if goes_on => item.lines.push(line.text),
            (Kind::Text, _) => {
                items.push(Item { number: line.number, lines: vec![line.text] });
                goes_on = apart;
            }
            (Kind::Fenced, Some(item)) => item.lines.push(line.text),
            (_, _) => goes_on = false,
        }
    }
    items
}
