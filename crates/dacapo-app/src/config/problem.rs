//! What can be wrong with the settings.

use std::fmt;
use std::path::PathBuf;

use super::path::KeyPath;
use super::shape::{Misfit, shortened};
use crate::error::Failure;

/// Where a value was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A position in a file; line and column count from 1, the column in characters.
    File {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// The column.
        column: usize,
    },
    /// An environment variable.
    Env(String),
    /// A flag on the command line.
    Flag(String),
    /// What somebody asks for right now: they know where it is.
    Request,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File { path, line, column } => write!(f, "{}:{line}:{column}", path.display()),
            Place::Env(name) | Place::Flag(name) => f.write_str(name),
            Place::Request => f.write_str("the request"),
        }
    }
}

/// ` in PLACE`, where the place is worth a word.
struct In<'a>(&'a Place);

impl fmt::Display for In<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Place::Request => Ok(()),
            Place::File { .. } | Place::Env(_) | Place::Flag(_) => write!(f, " in {}", self.0),
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what their names say")]
pub enum Problem {
    /// No such setting.
    UnknownKey { key: String, place: Place, suggestion: Option<String> },
    /// A value of the wrong type, or outside of what is allowed.
    WrongValue { key: String, place: Place, expected: String, found: String, suggestion: Option<String> },
    /// A table lacks a key without which it means nothing.
    MissingKey { key: String, table: String, place: Place },
    /// A setting of one agent, given to another.
    OnlyFor { key: String, agent: &'static str, place: Place },
    /// The file is not TOML.
    NotToml { place: Place, message: String },
    /// The file is not text.
    NotUtf8 { place: Place },
    /// The file is larger than any config is.
    TooBig { path: PathBuf, limit: u64 },
    /// The file is there but cannot be read.
    Unreadable { path: PathBuf, reason: String },
}

impl Problem {
    pub(super) fn wrong_value(path: &KeyPath, place: Place, misfit: Misfit) -> Problem {
        let Misfit { expected, found, suggestion } = misfit;
        Problem::WrongValue { key: path.to_string(), place, expected, found, suggestion }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suggestion = match self {
            Problem::UnknownKey { key, place, suggestion } => {
                write!(f, "unknown key '{}'{}", shortened(key), In(place))?;
                if suggestion.as_ref() == Some(key) && *place != Place::Request {
                    // There is such a key, in no table: it was written below a heading.
                    return write!(f, "; it belongs at the top of the file, before the first [table]");
                }
                suggestion
            }
            Problem::WrongValue { key, place, expected, found, suggestion } => {
                write!(
                    f,
                    "wrong value for '{}'{}: expected {expected}, found {found}",
                    shortened(key),
                    In(place)
                )?;
                suggestion
            }
            Problem::MissingKey { key, table, place } => {
                write!(f, "missing key '{key}' in [{}] at {place}", shortened(table))?;
                &None
            }
            Problem::OnlyFor { key, agent, place } => {
                write!(f, "'{}' in {place} is only for the built-in agent '{agent}'", shortened(key))?;
                &None
            }
            Problem::NotToml { place, message } => {
                write!(f, "not valid TOML in {place}: {message}")?;
                &None
            }
            Problem::NotUtf8 { place } => {
                write!(f, "not UTF-8 text in {place}")?;
                &None
            }
            Problem::TooBig { path, limit } => {
                write!(
                    f,
                    "{} is larger than {} KiB, the most a config may be",
                    path.display(),
                    limit / 1024
                )?;
                &None
            }
            Problem::Unreadable { path, reason } => {
                write!(f, "cannot read {}: {reason}", path.display())?;
                &None
            }
        };
        suggestion.as_ref().map_or(Ok(()), |meant| write!(f, "; did you mean '{meant}'?"))
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
        let mut lines: Vec<String> = error.problems.iter().take(MOST_SHOWN).map(Problem::to_string).collect();
        if error.problems.len() > MOST_SHOWN {
            lines.push(format!("and {} more", error.problems.len() - MOST_SHOWN));
        }
        let in_file = error.problems.iter().any(|problem| match problem {
            Problem::UnknownKey { place, .. }
            | Problem::WrongValue { place, .. }
            | Problem::MissingKey { place, .. }
            | Problem::OnlyFor { place, .. } => matches!(place, Place::File { .. }),
            _ => false,
        });
        let failure = Failure::usage(lines.join("\n")).kept("everything; nothing was started");
        if in_file {
            failure.hint("correct it (dacapo config schema lists every key), then run the command again")
        } else {
            failure.hint("correct it, then run the command again")
        }
    }
}
