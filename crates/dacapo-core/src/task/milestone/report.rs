//! What a Developer replies with: a report on one feature, or that all features are complete (M6, formats.md).
//!
//! Of a report the heading, `Feature`, `Commit` and `Changes` are read, of a completion report the heading and the commits:
//! wherever they stand, in English or Chinese, however they are decorated, with any text around them. What decides is the
//! commit, and that is held against git. What is missing is told in words that can be sent back to the agent as they are.

use super::labels::{self, Label};
use super::lines::{Kind, Line, Lines};
use super::settings::shown;
use crate::context::cut;

/// Shorter names of commits are ambiguous sooner or later.
const FEWEST_DIGITS: usize = 7;
/// How many changes or commits are read of a report.
const MOST_ITEMS: usize = 200;
/// How much of each is kept.
const ITEM_BYTES: usize = 500;
/// How much of free text is kept.
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
    /// Which feature, in the Developer's words.
    pub feature: String,
    /// The commit, by 7 or more of its digits.
    pub commit: String,
    /// What was changed, a line each; may be empty.
    pub changes: Vec<String>,
}

/// The report that all features are complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The commits that it names; may be none.
    pub commits: Vec<String>,
    /// What was done; may be empty.
    pub summary: String,
}

const COMPLETE: &str = "ALL_FEATURES_COMPLETE";
const REPORT: &str = "Implementation Report — Round ";

/// What a line begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    /// With its round, where it says one.
    Report(Option<u32>),
    Completion,
}

impl DeveloperReply {
    /// Reads a reply in `round` (from 1). The error is a list of complaints.
    pub fn parse(reply: &str, round: u32) -> Result<Self, Vec<String>> {
        let lines: Vec<Line<'_>> = Lines::lenient(reply).collect();
        if let Some(read) = Self::read(&lines, round) {
            return read;
        }
        // Some put all of it into a code block.
        let open = lines.iter().filter(|line| !labels::is_fence(line)).map(|line| line.text);
        let open = open.collect::<Vec<_>>().join("\n");
        let lines: Vec<Line<'_>> = Lines::lenient(&open).collect();
        Self::read(&lines, round).unwrap_or_else(|| {
            Err(vec![format!(
                "the reply has no heading '## {REPORT}{round}' (nor '## {COMPLETE}') on a line of its own"
            )])
        })
    }

    /// None: there is nothing that begins a report.
    fn read(lines: &[Line<'_>], round: u32) -> Option<Result<Self, Vec<String>>> {
        let heads = |headings: bool| -> Vec<(usize, Head)> {
            let is_one = |line: &&Line<'_>| matches!(line.kind, Kind::Heading { .. }) == headings;
            let all = lines.iter().enumerate().filter(|(_, line)| is_one(line));
            all.filter_map(|(at, line)| Some((at, head(line)?))).collect()
        };
        let found = Some(heads(true)).filter(|found| !found.is_empty()).unwrap_or_else(|| heads(false));
        let complete = found.iter().find(|(_, head)| *head == Head::Completion);
        // One of an earlier round may be quoted; the newest counts, and the round that is asked about before others.
        let reports = || found.iter().filter(|(_, head)| *head != Head::Completion);
        let report =
            reports().rfind(|(_, head)| *head == Head::Report(Some(round))).or_else(|| reports().next_back());
        Some(match (report, complete) {
            (None, None) => return None,
            (Some(_), Some(_)) => Err(vec![format!(
                "the reply has both '## Implementation Report' and '## {COMPLETE}': reply with one of them"
            )]),
            (Some((at, _)), None) => {
                let next = reports().map(|(next, _)| *next).find(|next| next > at).unwrap_or(lines.len());
                Report::read(&lines[*at..next], &lines[..*at]).map(Self::Report)
            }
            (None, Some((at, _))) => Ok(Self::Completion(Completion::read(&lines[*at..]))),
        })
    }

    /// The commits that the reply names, as they are written there.
    pub fn commits(&self) -> Vec<&str> {
        match self {
            Self::Report(report) => vec![&report.commit],
            Self::Completion(completion) => completion.commits.iter().map(String::as_str).collect(),
        }
    }
}

/// Whether a line begins a report. One that is no heading must say nothing else: it may be a sentence about one.
fn head(line: &Line<'_>) -> Option<Head> {
    let text = match line.kind {
        Kind::Heading { text, .. } | Kind::Item { text, .. } => text,
        Kind::Text => line.text,
        Kind::Blank | Kind::Fenced => return None,
    };
    let bare = labels::bare(text);
    if bare.trim_end_matches(|c: char| !c.is_alphanumeric()) == COMPLETE {
        return Some(Head::Completion);
    }
    let names =
        ["implementation report", "实现报告", "實現報告", "实施报告", "實施報告", "开发报告", "開發報告"];
    let lower = bare.to_lowercase();
    let rest = names.iter().find_map(|name| lower.strip_prefix(name))?;
    let digits: String =
        rest.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    let words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count();
    let alone = words <= 3 && (rest.trim().is_empty() || !digits.is_empty());
    let is_one = matches!(line.kind, Kind::Heading { .. }) || alone;
    is_one.then(|| Head::Report(digits.parse().ok()))
}

/// The first word that may name a commit. Where it is not the first of all it has a digit: `defaced` is a word.
fn hash_in(text: &str) -> Option<String> {
    let mut words =
        text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).enumerate();
    let found = words.find(|(nth, word)| {
        let fits = (FEWEST_DIGITS..=64).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_hexdigit());
        fits && (*nth == 0 || word.bytes().any(|b| b.is_ascii_digit()))
    });
    found.map(|(_, word)| word.to_ascii_lowercase())
}

impl Report {
    /// From its heading on; what stands before it only where the rest does not say it.
    fn read(lines: &[Line<'_>], before: &[Line<'_>]) -> Result<Self, Vec<String>> {
        let mut complaints = Vec::new();
        let said = |label: Label| {
            let mut values = labels::values(&lines[1..], label);
            values.extend(labels::values(before, label));
            values
        };
        let feature = said(Label::Feature).into_iter().next();
        if feature.is_none() {
            complaints.push("the field **Feature** is missing, or empty".to_owned());
        }
        let commits = said(Label::Commit);
        let commit = commits.iter().find_map(|value| hash_in(value));
        match (commits.first(), &commit) {
            (None, _) => complaints.push("the field **Commit** is missing, or empty".to_owned()),
            (Some(told), None) => complaints.push(format!(
                "**Commit** must be a hash of {FEWEST_DIGITS} or more digits, not '{}'",
                shown(told)
            )),
            (Some(_), Some(_)) => {}
        }
        let (Some(feature), Some(commit)) = (feature, commit) else { return Err(complaints) };
        let changes = labels::part(&lines[1..], Label::Changes).map(|part| part.items()).unwrap_or_default();
        let changes = changes.iter().take(MOST_ITEMS).map(|item| cut(item, ITEM_BYTES)).collect();
        Ok(Self { feature: cut(&feature, ITEM_BYTES), commit, changes })
    }
}

impl Completion {
    fn read(lines: &[Line<'_>]) -> Self {
        let lines = &lines[1..];
        let named = labels::part(lines, Label::Commit)
            .map(|part| part.lines().filter_map(|line| hash_in(labels::bare(line))).collect::<Vec<_>>());
        let mut commits: Vec<String> = Vec::new();
        for commit in named.unwrap_or_default() {
            if !commits.contains(&commit) && commits.len() < MOST_ITEMS {
                commits.push(commit);
            }
        }
        let summary = labels::part(lines, Label::Summary).map(|part| part.text()).unwrap_or_else(|| {
            let own = lines.iter().take_while(|line| !matches!(line.kind, Kind::Heading { .. }));
            own.map(|line| line.text.trim_end()).collect::<Vec<_>>().join("\n").trim().to_owned()
        });
        Self { commits, summary: cut(&summary, TEXT_BYTES) }
    }
}
