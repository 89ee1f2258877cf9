//! What is wrong with a file that people write for milestones, as values.

use std::fmt;

use crate::spec::ExpectedValue;

/// Why a file is no definition, or no template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    TooLong {
        bytes: usize,
        most: usize,
    },
    NulByte,
    EmptyGoal,
    EmptySection {
        section: &'static str,
    },
    NotAList {
        section: &'static str,
        items: ItemForm,
    },
    TooManyItems {
        section: &'static str,
        items: usize,
        most: usize,
    },
    /// Ids are given by the order of the items.
    WrongId {
        own: String,
        written: String,
    },
    SaysNothing {
        id: String,
    },
    EmptyAccept {
        id: String,
    },
    CodeFenceNotClosed,
    CommentNotClosed,
    SectionTwice {
        section: &'static str,
        first: usize,
    },
    UnknownSection {
        written: String,
        meant: &'static str,
    },
    MissingSection {
        section: &'static str,
    },
    NotASetting,
    SettingTwice {
        key: String,
        first: usize,
    },
    UnknownSetting {
        key: String,
        known: KnownNames,
    },
    WrongValue {
        key: String,
        value: String,
        expected: ExpectedValue,
    },
    FrontMatterNotClosed,
    BracesNotClosed,
    UnknownPlaceholder {
        name: String,
        file: &'static str,
        known: KnownNames,
    },
    /// What was given for a new file would be read otherwise there.
    ReadsOtherwise,
}

/// How the items of a section may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemForm {
    Listed,
    ListedOrHeaded,
}

/// What could have been written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownNames {
    /// The known name that is most like it.
    Near(String),
    All(Vec<String>),
}

impl fmt::Display for KnownNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Near(name) => write!(f, "did you mean '{name}'?"),
            Self::All(names) => write!(f, "there are {}", names.join(", ")),
        }
    }
}

/// What is wrong, and in brackets what to do, for logs.
impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes, most } => write!(f, "the file has {bytes} bytes; at most {most} are read"),
            Self::NulByte => f.write_str("a NUL byte: this is not text"),
            Self::EmptyGoal => f.write_str("the goal is empty (say what it is for)"),
            Self::EmptySection { section } => {
                write!(f, "'## {section}' is empty (write at least one item: '- …')")
            }
            Self::NotAList { section, items: ItemForm::Listed } => {
                write!(f, "'## {section}' is a list (begin each item with '- ')")
            }
            Self::NotAList { section, items: ItemForm::ListedOrHeaded } => {
                write!(f, "'## {section}' is a list (begin each item with '- ', or give it a heading '### …')")
            }
            Self::TooManyItems { section, items, most } => {
                write!(f, "'## {section}' has {items} items; at most {most} are read (split the milestone)")
            }
            Self::WrongId { own, written } => {
                write!(f, "this is {own}, not {written}: ids follow the order (leave the id out)")
            }
            Self::SaysNothing { id } => write!(f, "{id} is empty"),
            Self::EmptyAccept { id } => {
                write!(f, "{id} has an empty 'Accept:' (say when it is accepted)")
            }
            Self::CodeFenceNotClosed => {
                f.write_str("a code fence is never closed (end it with a line of the same marks)")
            }
            Self::CommentNotClosed => f.write_str("a comment is never closed (end it with '-->')"),
            Self::SectionTwice { section, first } => {
                write!(f, "'## {section}' is already in line {first}")
            }
            Self::UnknownSection { written, meant } => {
                write!(f, "'## {written}' is not a section (did you mean '{meant}'?)")
            }
            Self::MissingSection { section } => write!(
                f,
                "the section '## {section}' is missing (a milestone has the sections '## Goal', '## Features', \
                 '## Acceptance Criteria')"
            ),
            Self::NotASetting => f.write_str("not a setting (write 'key: value')"),
            Self::SettingTwice { key, first } => write!(f, "'{key}' is already set in line {first}"),
            Self::UnknownSetting { key, known } => write!(f, "'{key}' is not a setting ({known})"),
            Self::WrongValue { key, value, expected } => {
                write!(f, "{key}: invalid value '{value}' (expected {expected})")
            }
            Self::FrontMatterNotClosed => {
                f.write_str("the front matter is never closed (close it with a line '---')")
            }
            Self::BracesNotClosed => {
                f.write_str("'{{' is not closed in this line (write {{name}}; '\\{{' stands for the braces)")
            }
            Self::UnknownPlaceholder { name, file, known } => {
                write!(f, "'{{{{{name}}}}}' is not known in {file} ({known})")
            }
            Self::ReadsOtherwise => f.write_str(
                "a title, a feature or a criterion would read as something else in the file (leave headings and \
                 list marks out)",
            ),
        }
    }
}
