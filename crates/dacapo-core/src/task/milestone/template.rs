//! The wording around what the two agents are told, which a user may replace (`.dacapo/prompts/`).
//!
//! A template is text with `{{name}}` in it. Each name stands for a part of what the agent is given; what is put in is never
//! looked at again. Parts that formats.md promises and that a template does not name are put behind it, and so are, always,
//! the forms that are read back: whatever a template says, nothing is lost and every reply can still be read.
//!
//! Lines from one that begins with `<!--` to one that holds `-->` are left out; `\{{` is `{{`.

use std::fmt;

use super::flaw::Flaw;
use super::settings::suggestion;

/// A longer file is no template.
pub const MOST_TEMPLATE_BYTES: usize = 64 << 10;

/// Which prompt a template is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateKind {
    /// Every round.
    Developer,
    /// On one feature.
    Acceptor,
    /// On the whole milestone.
    Final,
}

/// A name that a template may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placeholder {
    /// Between the braces.
    pub name: &'static str,
    /// What is put in its place.
    pub says: &'static str,
    /// It is given in any case: where the template does not name it, behind the template.
    pub given: bool,
    /// A word or two, for use within a sentence; what stands over it when it is given by itself.
    heading: Option<&'static str>,
}

const fn word(name: &'static str, says: &'static str) -> Placeholder {
    Placeholder { name, says, given: false, heading: Some("") }
}

const fn given_word(name: &'static str, says: &'static str, heading: &'static str) -> Placeholder {
    Placeholder { name, says, given: true, heading: Some(heading) }
}

const fn given(name: &'static str, says: &'static str) -> Placeholder {
    Placeholder { name, says, given: true, heading: None }
}

const fn may(name: &'static str, says: &'static str) -> Placeholder {
    Placeholder { name, says, given: false, heading: None }
}

const ID: Placeholder = word("id", "the milestone's name");
const ROUND: Placeholder = word("round", "the round, from 1");
const ROUNDS: Placeholder = word("rounds", "how many rounds there may be");
const BRANCH: Placeholder = word("branch", "the milestone's branch");
const VISION: Placeholder = may("vision", "VISION.md");
const SOUL: Placeholder = given("soul", ".dacapo/soul.md");
const MILESTONE: Placeholder = may("milestone", "the milestone's file");
const MEMORY: Placeholder = may("memory", ".dacapo/memory/project.md");
const FINDINGS: Placeholder = given("findings", "open and settled findings");
const NOTES: Placeholder = given("notes", "what has happened: other criteria, a person's no");
const SAID: Placeholder = given("said", "what a person told");
const INTERRUPTED: Placeholder = given("interrupted", "that work was interrupted, and what was done by then");
const SENT_BACK: Placeholder = given("sent_back", "why the last reply was sent back");
const CHECKS: Placeholder = given("checks", "the results of the project's checks");
const CONSTRAINTS: Placeholder = given("constraints", "the milestone's constraints");
const OTHERS: Placeholder = given("others", "the milestone's other sections");

const DEVELOPER: &[Placeholder] = &[
    ID,
    ROUND,
    ROUNDS,
    given_word("branch", "the milestone's branch", "Your branch"),
    word("path", "the milestone's file, by its path"),
    word("work", "what this round is for, in a sentence"),
    Placeholder { given: true, ..VISION },
    SOUL,
    Placeholder { given: true, ..MILESTONE },
    Placeholder { given: true, ..MEMORY },
    given("done", "the features, and which of them are accepted"),
    given("commits", "the milestone's commits"),
    FINDINGS,
    NOTES,
    SAID,
    INTERRUPTED,
    given("tree", "what is to be put in order first"),
    SENT_BACK,
    given("reason", "why the last round was rejected"),
    given("checks", "the project's checks that failed then"),
];

const ACCEPTOR: &[Placeholder] = &[
    ID,
    ROUND,
    ROUNDS,
    BRANCH,
    VISION,
    SOUL,
    MILESTONE,
    MEMORY,
    given("feature", "the feature, in the Developer's words"),
    given("criteria", "what the feature is accepted by"),
    given_word("commit", "the commit", "Commit"),
    given("changes", "the changes, in the Developer's words"),
    given("diff", "the change itself, or how to read it"),
    CONSTRAINTS,
    OTHERS,
    CHECKS,
    may("commits", "the milestone's commits"),
    FINDINGS,
    NOTES,
    SAID,
    INTERRUPTED,
    SENT_BACK,
];

const FINAL: &[Placeholder] = &[
    ID,
    ROUND,
    ROUNDS,
    BRANCH,
    VISION,
    SOUL,
    MILESTONE,
    MEMORY,
    given("criteria", "all acceptance criteria"),
    given("done", "the features, and which of them were accepted"),
    given_word("commit", "the tip of the branch", "Tip of the branch"),
    given("commits", "the milestone's commits"),
    given("diff", "how to read all that has changed"),
    CONSTRAINTS,
    OTHERS,
    CHECKS,
    FINDINGS,
    NOTES,
    SAID,
    INTERRUPTED,
    SENT_BACK,
];

impl TemplateKind {
    pub const ALL: [TemplateKind; 3] = [TemplateKind::Developer, TemplateKind::Acceptor, TemplateKind::Final];

    /// The file in `.dacapo/prompts/`.
    pub fn file_name(self) -> &'static str {
        match self {
            TemplateKind::Developer => "developer.md",
            TemplateKind::Acceptor => "acceptor.md",
            TemplateKind::Final => "final.md",
        }
    }

    /// The text that counts where there is no such file.
    pub fn built_in(self) -> &'static str {
        match self {
            TemplateKind::Developer => include_str!("templates/developer.md"),
            TemplateKind::Acceptor => include_str!("templates/acceptor.md"),
            TemplateKind::Final => include_str!("templates/final.md"),
        }
    }

    /// What may stand in it.
    pub fn placeholders(self) -> &'static [Placeholder] {
        match self {
            TemplateKind::Developer => DEVELOPER,
            TemplateKind::Acceptor => ACCEPTOR,
            TemplateKind::Final => FINAL,
        }
    }

    /// A file for `dacapo init`: all of it is comment, so that the built-in text counts until somebody changes it.
    pub fn commented(self) -> String {
        let whom = match self {
            TemplateKind::Developer => "the Developer is told in every round",
            TemplateKind::Acceptor => "the Acceptor is told about a feature",
            TemplateKind::Final => "the Acceptor is told about the whole milestone",
        };
        let names: Vec<String> = self
            .placeholders()
            .iter()
            .map(|place| format!("  {:<16} {}", format!("{{{{{}}}}}", place.name), place.says))
            .collect();
        format!(
            "<!--\nWhat {whom}. Comments such as this one are left out, and as long as there is nothing else\nhere the built-in text counts. It stands below: take it out of its comment and change it.\n\nThese are put in:\n{}\n\nWhat must be known and is not named here is put behind your text, and so is the form of the reply.\n-->\n\n<!--\n{}-->\n",
            names.join("\n"),
            self.built_in()
        )
    }
}

/// The user's own texts; what is none is as built in.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prompts {
    /// `developer.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub developer: Option<String>,
    /// `acceptor.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptor: Option<String>,
    /// `final.md`.
    #[serde(default, rename = "final", skip_serializing_if = "Option::is_none")]
    pub final_acceptance: Option<String>,
}

impl Prompts {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The text for a prompt.
    pub fn text(&self, kind: TemplateKind) -> Option<&str> {
        match kind {
            TemplateKind::Developer => self.developer.as_deref(),
            TemplateKind::Acceptor => self.acceptor.as_deref(),
            TemplateKind::Final => self.final_acceptance.as_deref(),
        }
    }

    pub fn set(&mut self, kind: TemplateKind, text: String) {
        match kind {
            TemplateKind::Developer => self.developer = Some(text),
            TemplateKind::Acceptor => self.acceptor = Some(text),
            TemplateKind::Final => self.final_acceptance = Some(text),
        }
    }
}

/// What counts: the user's texts, else those that are built in. One that does not read was refused before there was a task;
/// what a later version does not read any more is replaced, or what was begun could never go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Templates {
    pub(super) developer: Template,
    acceptor: Template,
    on_all: Template,
}

impl Templates {
    pub(super) fn of(prompts: &Prompts) -> Result<Self, (TemplateKind, TemplateError)> {
        let read = |kind: TemplateKind| {
            let own = prompts.text(kind).and_then(|text| Template::parse(kind, text).ok());
            match own.filter(|template| !template.is_empty()) {
                Some(own) => Ok(own),
                None => Template::parse(kind, kind.built_in()).map_err(|error| (kind, error)),
            }
        };
        Ok(Self {
            developer: read(TemplateKind::Developer)?,
            acceptor: read(TemplateKind::Acceptor)?,
            on_all: read(TemplateKind::Final)?,
        })
    }

    pub(super) fn acceptors(&self, is_final: bool) -> &Template {
        if is_final { &self.on_all } else { &self.acceptor }
    }
}

/// Why a file is no template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// The line's number, from 1.
    pub line: usize,
    pub flaw: Flaw,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.flaw)
    }
}

impl std::error::Error for TemplateError {}

/// A template that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    kind: TemplateKind,
    lines: Vec<Vec<Segment>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Text(String),
    Place(&'static str),
}

impl Template {
    pub fn parse(kind: TemplateKind, text: &str) -> Result<Self, TemplateError> {
        let wrong = |line: usize, flaw: Flaw| TemplateError { line, flaw };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.len() > MOST_TEMPLATE_BYTES {
            return Err(wrong(1, Flaw::TooLong { bytes: text.len(), most: MOST_TEMPLATE_BYTES }));
        }
        let mut lines = Vec::new();
        let mut comment = None;
        for (at, line) in text.lines().enumerate() {
            if comment.is_some() || line.trim_start().starts_with("<!--") {
                comment = if line.contains("-->") { None } else { comment.or(Some(at + 1)) };
                continue;
            }
            if line.contains('\0') {
                return Err(wrong(at + 1, Flaw::NulByte));
            }
            lines.push(segments(kind, line, at + 1)?);
        }
        match comment {
            Some(line) => Err(wrong(line, Flaw::CommentNotClosed)),
            None => Ok(Self { kind, lines }),
        }
    }

    /// There is nothing in it but comments.
    pub fn is_empty(&self) -> bool {
        let says = |segment: &Segment| !matches!(segment, Segment::Text(text) if text.trim().is_empty());
        !self.lines.iter().flatten().any(says)
    }

    /// The text with these values, and behind it what must be given and is not named. A line that is nothing but a value
    /// which is empty is left out, and with it the blank lines behind it.
    pub(super) fn fill(&self, value: impl Fn(&str) -> String) -> String {
        let mut page = String::new();
        let mut gone = false;
        for line in &self.lines {
            let blank = line.iter().all(|part| matches!(part, Segment::Text(text) if text.trim().is_empty()));
            if blank && gone {
                continue;
            }
            let mut text = String::new();
            for segment in line {
                match segment {
                    Segment::Text(own) => text.push_str(own),
                    Segment::Place(name) => text.push_str(&value(name)),
                }
            }
            gone = !blank && text.trim().is_empty();
            if !gone {
                page.push_str(&text);
                page.push('\n');
            }
        }
        let named = |name: &str| {
            self.lines.iter().flatten().any(|part| *part == Segment::Place(named_in(self.kind, name)))
        };
        for place in self.kind.placeholders().iter().filter(|place| place.given && !named(place.name)) {
            let text = value(place.name);
            if !text.trim().is_empty() {
                page.truncate(page.trim_end().len());
                page.push_str(&match place.heading {
                    Some(heading) => format!("\n\n## {heading}\n\n{text}\n"),
                    None => format!("\n\n{text}\n"),
                });
            }
        }
        page
    }
}

/// The name as the table has it.
fn named_in(kind: TemplateKind, name: &str) -> &'static str {
    kind.placeholders().iter().find(|place| place.name == name).map_or("", |place| place.name)
}

fn segments(kind: TemplateKind, line: &str, number: usize) -> Result<Vec<Segment>, TemplateError> {
    let mut segments = Vec::new();
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("{{") {
        if let Some(before) = rest[..at].strip_suffix('\\') {
            text.push_str(before);
            text.push_str("{{");
            rest = &rest[at + 2..];
            continue;
        }
        text.push_str(&rest[..at]);
        let inside = &rest[at + 2..];
        let Some(end) = inside.find("}}") else {
            return Err(TemplateError { line: number, flaw: Flaw::BracesNotClosed });
        };
        let name = inside[..end].trim();
        let places = kind.placeholders();
        let Some(place) = places.iter().find(|place| place.name == name) else {
            let names: Vec<&str> = places.iter().map(|place| place.name).collect();
            let (known, file) = (suggestion(name, &names), kind.file_name());
            let name = super::settings::shown(name);
            return Err(TemplateError { line: number, flaw: Flaw::UnknownPlaceholder { name, file, known } });
        };
        if !text.is_empty() {
            segments.push(Segment::Text(std::mem::take(&mut text)));
        }
        segments.push(Segment::Place(place.name));
        rest = &inside[end + 2..];
    }
    text.push_str(rest);
    if !text.is_empty() {
        segments.push(Segment::Text(text));
    }
    Ok(segments)
}
