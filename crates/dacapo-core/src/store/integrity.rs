//! Whether a task's record can be relied on (R4): each line numbered, none doubled, missing or out of order.
//!
//! A record that is not whole is still read to its end, and the task can go on. But whatever it says was proven counts
//! as unproven.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// More faults than this are counted, not listed: each line of a long journal can be one.
const MOST_LISTED: usize = 20;

/// Whether the record of a task is complete and written by Dacapo alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(into = "WrittenRecord")]
#[schemars(with = "WrittenRecord")]
pub enum Record {
    /// Nothing is wrong with it.
    #[default]
    Whole,
    /// Something is, so `verified` is void.
    Broken(Faults),
}

/// What is wrong with a record: at least one fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults {
    listed: Vec<Fault>,
    unlisted: u64,
}

/// One thing that is wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Lines are not there.
    Missing {
        /// The line that should have been preceded by others, from 1.
        line: u64,
        /// The number it should have had.
        expected: u64,
        /// The number it has.
        found: u64,
    },
    /// A line is there twice, or behind one that it belongs before.
    OutOfOrder {
        /// Which line, from 1.
        line: u64,
        /// The number it should have had.
        expected: u64,
        /// The number it has.
        found: u64,
    },
    /// Its writer found something in it that was not its own.
    Altered { message: String },
    /// It says that something was proven, and the process that proved it has not sealed it.
    Unsealed { why: String },
    /// What was asked for is not what the journal vouches for.
    Spec(SpecDoubt),
}

/// Why `spec.json` is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecDoubt {
    /// It has another hash than the one on record.
    Changed,
    /// No hash is on record.
    Unknown,
}

impl fmt::Display for SpecDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Changed => "spec.json was changed after the task was created",
            Self::Unknown => "the journal does not say what spec.json was when the task was created",
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { line, expected, found } if expected + 1 == *found => {
                write!(f, "line {line} of the journal: event {expected} is missing")
            }
            Self::Missing { line, expected, found } => {
                write!(f, "line {line} of the journal: events {expected} to {} are missing", found - 1)
            }
            Self::OutOfOrder { line, expected, found } => {
                write!(
                    f,
                    "line {line} of the journal: event {found} is doubled or out of order (expected {expected})"
                )
            }
            Self::Altered { message } => f.write_str(message),
            Self::Unsealed { why } => write!(f, "the journal is not sealed: {why}"),
            Self::Spec(doubt) => doubt.fmt(f),
        }
    }
}

impl Record {
    /// Whether nothing is wrong with it.
    pub fn is_whole(&self) -> bool {
        match self {
            Self::Whole => true,
            Self::Broken(_) => false,
        }
    }

    /// What is wrong with it, the first faults of many.
    pub fn faults(&self) -> &[Fault] {
        match self {
            Self::Whole => &[],
            Self::Broken(faults) => &faults.listed,
        }
    }

    /// Whether `spec.json` is not what the journal vouches for.
    pub fn doubts_spec(&self) -> bool {
        self.faults().iter().any(|fault| matches!(fault, Fault::Spec(_)))
    }

    /// How many faults [`Record::faults`] leaves out.
    pub fn unlisted(&self) -> u64 {
        match self {
            Self::Whole => 0,
            Self::Broken(faults) => faults.unlisted,
        }
    }

    /// The first fault and how many more there are, in a line.
    pub fn summary(&self) -> Option<String> {
        let (first, others) = self.faults().split_first()?;
        Some(match others.len() as u64 + self.unlisted() {
            0 => first.to_string(),
            more => format!("{first} (and {more} more)"),
        })
    }

    pub(crate) fn add(&mut self, fault: Fault) {
        match self {
            Self::Whole => *self = Self::Broken(Faults { listed: vec![fault], unlisted: 0 }),
            Self::Broken(faults) if faults.listed.len() < MOST_LISTED => faults.listed.push(fault),
            Self::Broken(faults) => faults.unlisted += 1,
        }
    }
}

/// Whether a journal can be relied on.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Record")]
struct WrittenRecord {
    /// True if no line of the journal is missing, doubled, out of order or changed.
    whole: bool,
    /// What is wrong with it, a sentence each.
    faults: Vec<String>,
}

impl From<Record> for WrittenRecord {
    fn from(record: Record) -> Self {
        Self { whole: record.is_whole(), faults: record.faults().iter().map(Fault::to_string).collect() }
    }
}

/// Checks the numbers of lines as they are read.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    /// What the next line should have.
    expected: u64,
    /// What a writer gives to the next line: none that is there already.
    next: u64,
    record: Record,
}

impl Numbering {
    pub(super) fn saw(&mut self, line: u64, found: u64) {
        let expected = self.expected;
        match found.cmp(&expected) {
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Greater => self.record.add(Fault::Missing { line, expected, found }),
            std::cmp::Ordering::Less => self.record.add(Fault::OutOfOrder { line, expected, found }),
        }
        self.expected = found.saturating_add(1);
        self.next = self.next.max(self.expected);
    }

    pub(super) fn add(&mut self, fault: Fault) {
        self.record.add(fault);
    }

    pub(super) fn next(&self) -> u64 {
        self.next
    }

    pub(super) fn into_record(self) -> Record {
        self.record
    }
}
