//! What can be wrong with the settings.

use std::fmt;
use std::path::PathBuf;

use super::path::KeyPath;
use super::shape::{Misfit, shortened};
use crate::error::Failure;
use crate::messages::{Messages, Text, say};

/// Where a value was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueLocation {
    /// A position in a file; line and column count from 1, the column in characters.
    File {
        path: PathBuf,
        line: usize,
        column: usize,
    },
    Env(String),
    /// A flag on the command line.
    Flag(String),
    /// What somebody asks for right now: they know where it is.
    Request,
}

impl ValueLocation {
    pub(super) fn in_words(&self, messages: Messages) -> String {
        match self {
            ValueLocation::File { path, line, column } => format!("{}:{line}:{column}", path.display()),
            ValueLocation::Env(name) | ValueLocation::Flag(name) => name.clone(),
            ValueLocation::Request => messages.config_the_request(),
        }
    }

    /// ` in PLACE`, where the place is worth a word.
    fn said(&self, messages: Messages) -> String {
        match self {
            ValueLocation::Request => String::new(),
            ValueLocation::File { .. } | ValueLocation::Env(_) | ValueLocation::Flag(_) => {
                messages.config_in(&self.in_words(messages))
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what their names say")]
pub enum Problem {
    UnknownKey {
        key: String,
        place: ValueLocation,
        suggestion: Option<String>,
    },
    /// A value of the wrong type, or outside of what is allowed.
    WrongValue {
        key: String,
        place: ValueLocation,
        expected: Text,
        found: Text,
        suggestion: Option<String>,
    },
    /// A table lacks a key without which it means nothing.
    MissingKey {
        key: String,
        table: String,
        place: ValueLocation,
    },
    /// A setting of one agent, given to another.
    OnlyFor {
        key: String,
        agent: &'static str,
        place: ValueLocation,
    },
    /// A setting that a project may not make, in the project's file.
    OwnFileOnly {
        key: String,
        place: ValueLocation,
    },
    /// The file is not TOML.
    NotToml {
        place: ValueLocation,
        message: String,
    },
    /// The file is not text.
    NotUtf8 {
        place: ValueLocation,
    },
    /// The file is larger than any config is.
    TooBig {
        path: PathBuf,
        limit: u64,
    },
    /// The file is there but cannot be read.
    Unreadable {
        path: PathBuf,
        reason: String,
    },
}

impl Problem {
    pub(super) fn wrong_value(path: &KeyPath, place: ValueLocation, misfit: Misfit) -> Problem {
        let Misfit { expected, found, suggestion } = misfit;
        Problem::WrongValue { key: path.to_string(), place, expected, found, suggestion }
    }
}

impl Problem {
    pub fn in_words(&self, messages: Messages) -> String {
        let of = |text: &Text| text.in_words(messages).to_owned();
        let (said, suggestion) = match self {
            Problem::UnknownKey { key, place, suggestion } => {
                let said = messages.config_unknown_key(&shortened(key), &place.said(messages));
                if suggestion.as_ref() == Some(key) && *place != ValueLocation::Request {
                    // There is such a key, in no table: it was written below a heading.
                    return messages.config_belongs_at_top(&said);
                }
                (said, suggestion.as_ref())
            }
            Problem::WrongValue { key, place, expected, found, suggestion } => {
                let (key, place) = (shortened(key), place.said(messages));
                let said = messages.config_wrong_value(&key, &place, &of(expected), &of(found));
                (said, suggestion.as_ref())
            }
            Problem::MissingKey { key, table, place } => {
                (messages.config_missing_key(key, &shortened(table), &place.in_words(messages)), None)
            }
            Problem::OnlyFor { key, agent, place } => {
                (messages.config_only_for(&shortened(key), &place.in_words(messages), agent), None)
            }
            Problem::OwnFileOnly { key, place } => {
                (messages.config_own_file_only(&shortened(key), &place.in_words(messages)), None)
            }
            Problem::NotToml { place, message } => {
                (messages.config_not_toml(&place.in_words(messages), message), None)
            }
            Problem::NotUtf8 { place } => (messages.config_not_utf8(&place.in_words(messages)), None),
            Problem::TooBig { path, limit } => {
                (messages.config_too_big(&path.display().to_string(), limit / 1024), None)
            }
            Problem::Unreadable { path, reason } => {
                (messages.cannot_read(&path.display().to_string(), reason), None)
            }
        };
        match suggestion {
            Some(meant) => messages.config_did_you_mean(&said, meant),
            None => said,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(Messages::ENGLISH))
    }
}

/// The settings cannot be used. All that is wrong is listed, so that one look at the files is enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// At least one; files in the order of their precedence, top to bottom.
    pub problems: Vec<Problem>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            write!(f, "{}{problem}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

/// More than these in one message are no help.
const MOST_SHOWN: usize = 20;

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        let lines = |messages: Messages| {
            let shown = error.problems.iter().take(MOST_SHOWN);
            let mut lines: Vec<String> = shown.map(|problem| problem.in_words(messages)).collect();
            if error.problems.len() > MOST_SHOWN {
                lines.push(messages.config_and_more(error.problems.len() - MOST_SHOWN));
            }
            lines.join("\n")
        };
        let in_file = error.problems.iter().any(|problem| match problem {
            Problem::UnknownKey { place, .. }
            | Problem::WrongValue { place, .. }
            | Problem::MissingKey { place, .. }
            | Problem::OnlyFor { place, .. } => matches!(place, ValueLocation::File { .. }),
            _ => false,
        });
        let failure = Failure::usage(say(lines)).kept(say(Messages::kept_nothing_started));
        if in_file {
            failure.hint(say(Messages::config_correct_by_schema))
        } else {
            failure.hint(say(Messages::config_correct_it))
        }
    }
}
