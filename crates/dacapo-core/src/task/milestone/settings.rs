//! The front matter of a milestone: one `key: value` a line, and no key that nobody knows.

use std::time::Duration;

use jiff::Timestamp;

use super::definition::DefinitionError;
use super::flaw::{Flaw, KnownNames};
use crate::context::cut_chars;
use crate::spec::{ExpectedValue, ValueKind, parse_duration};

/// What the front matter says; what it leaves out comes from the configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// When it was written; the oldest starts first.
    pub created: Option<Timestamp>,
    /// It may start by itself.
    pub auto_start: bool,
    /// A person has the last word.
    pub requires_human_review: bool,
    pub developer: Option<String>,
    pub acceptor: Option<String>,
    /// The limit on rounds.
    pub max_rounds: Option<u32>,
    /// How many rejections in a row need a person.
    pub max_rejections: Option<u32>,
    /// The limit of one call of an agent.
    pub call_timeout: Option<Duration>,
    pub max_cost: Option<f64>,
    pub max_tokens: Option<u64>,
}

/// All keys there are.
pub const KEYS: [&str; 10] = [
    "created",
    "auto_start",
    "requires_human_review",
    "developer",
    "acceptor",
    "max_iterations_per_milestone",
    "max_consecutive_rejections",
    "call_timeout",
    "max_cost",
    "max_tokens",
];

/// The settings, what follows them, and the number of the line where that begins.
pub(super) fn front_matter(text: &str) -> Result<(Settings, &str, usize), DefinitionError> {
    let mut settings = Settings::default();
    let mut rest = text;
    if next_line(&mut rest).is_none_or(|line| line.trim_end() != "---") {
        return Ok((settings, text, 1));
    }
    let mut seen: Vec<(String, usize)> = Vec::new();
    let mut number = 1;
    while let Some(line) = next_line(&mut rest) {
        number += 1;
        let line = line.trim_end();
        if line == "---" {
            return Ok((settings, rest, number + 1));
        }
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let plain = !line.starts_with([' ', '\t', '-']);
        let Some((key, value)) = line.split_once(':').filter(|_| plain) else {
            return Err(DefinitionError::at(number, Flaw::NotASetting));
        };
        let (key, value) = (key.trim(), bare(value.trim()));
        if let Some((_, first)) = seen.iter().find(|(name, _)| name == key) {
            let (key, first) = (key.to_owned(), *first);
            return Err(DefinitionError::at(number, Flaw::SettingTwice { key, first }));
        }
        settings.set(key, value).map_err(|wrong| match wrong {
            Wrong::Key => {
                let known = suggestion(key, &KEYS);
                DefinitionError::at(number, Flaw::UnknownSetting { key: shown(key), known })
            }
            Wrong::Value(expected) => {
                let (key, value) = (key.to_owned(), shown(value));
                DefinitionError::at(number, Flaw::WrongValue { key, value, expected })
            }
        })?;
        seen.push((key.to_owned(), number));
    }
    Err(DefinitionError::at(1, Flaw::FrontMatterNotClosed))
}

fn next_line<'a>(rest: &mut &'a str) -> Option<&'a str> {
    if rest.is_empty() {
        return None;
    }
    let (line, more) = rest.split_once('\n').unwrap_or((rest, ""));
    *rest = more;
    Some(line.strip_suffix('\r').unwrap_or(line))
}

/// A value without its quotes, or without the comment behind it.
fn bare(value: &str) -> &str {
    for quote in ['"', '\''] {
        let inside = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inside) = inside.filter(|inside| !inside.contains(quote)) {
            return inside;
        }
    }
    value.split_once(" #").map_or(value, |(value, _)| value.trim_end())
}

enum Wrong {
    Key,
    Value(ExpectedValue),
}

impl Settings {
    fn set(&mut self, key: &str, value: &str) -> Result<(), Wrong> {
        let wrong = |what, examples| Wrong::Value(ExpectedValue::new(what, examples));
        let expected = |what, examples| move || wrong(what, examples);
        let yes_or_no = || match value {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(wrong(ValueKind::TrueOrFalse, &[])),
        };
        let count = || value.parse().ok().filter(|count| *count >= 1).ok_or(wrong(ValueKind::Count, &["20"]));
        let name = || {
            let plain = !value.is_empty() && !value.contains(char::is_whitespace);
            plain.then(|| Some(value.to_owned())).ok_or(wrong(ValueKind::AgentName, &["claude"]))
        };
        match key {
            "created" => {
                let when = value.parse().ok().or_else(|| {
                    let day: jiff::civil::Date = value.parse().ok()?;
                    Some(day.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
                });
                self.created = Some(when.ok_or_else(expected(ValueKind::Day, &["2026-11-15"]))?);
            }
            "auto_start" => self.auto_start = yes_or_no()?,
            "requires_human_review" => self.requires_human_review = yes_or_no()?,
            "developer" => self.developer = name()?,
            "acceptor" => self.acceptor = name()?,
            "max_iterations_per_milestone" => self.max_rounds = Some(count()?),
            "max_consecutive_rejections" => self.max_rejections = Some(count()?),
            "call_timeout" => {
                let limit = parse_duration(value).ok();
                self.call_timeout = Some(limit.ok_or_else(expected(ValueKind::Duration, &["10m"]))?);
            }
            "max_cost" => {
                let usd = value.parse().ok().filter(|usd: &f64| usd.is_finite() && *usd > 0.0);
                self.max_cost = Some(usd.ok_or_else(expected(ValueKind::AmountInUsd, &["5"]))?);
            }
            "max_tokens" => {
                let most = value.parse().ok().filter(|most| *most >= 1);
                self.max_tokens = Some(most.ok_or_else(expected(ValueKind::Number, &["500000"]))?);
            }
            _ => return Err(Wrong::Key),
        }
        Ok(())
    }
}

/// What somebody wrote, as far as a message has room for it.
pub(super) fn shown(text: &str) -> String {
    cut_chars(text, 60)
}

/// What was perhaps meant by `word`, else all there is.
pub(super) fn suggestion(word: &str, known: &[&str]) -> KnownNames {
    let word = shown(word).to_lowercase();
    let near = known
        .iter()
        .map(|name| (distance(&word, name), name))
        .filter(|(distance, name)| *distance <= tolerance(name))
        .min_by_key(|(distance, _)| *distance);
    match near {
        Some((_, name)) => KnownNames::Near((*name).to_owned()),
        None => KnownNames::All(known.iter().map(|name| (*name).to_owned()).collect()),
    }
}

/// One may be a slip for the other.
pub(super) fn is_near(word: &str, name: &str) -> bool {
    distance(&shown(word).to_lowercase(), name) <= tolerance(name)
}

fn distance(word: &str, name: &str) -> usize {
    strsim::damerau_levenshtein(word, &name.to_lowercase())
}

fn tolerance(name: &str) -> usize {
    2.max(name.len() / 3)
}
