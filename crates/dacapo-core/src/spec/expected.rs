//! What a value should have been, where somebody typed another one.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedValue {
    pub what: ValueKind,
    /// As somebody would type it.
    pub examples: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    TrueOrFalse,
    Count,
    Number,
    Duration,
    Amount,
    AmountInUsd,
    Day,
    AgentName,
}

impl ExpectedValue {
    pub(crate) const fn new(what: ValueKind, examples: &'static [&'static str]) -> Self {
        Self { what, examples }
    }
}

/// `a count such as 10 or +5`, for logs.
impl fmt::Display for ExpectedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.what {
            ValueKind::TrueOrFalse => "true or false",
            ValueKind::Count => "a count",
            ValueKind::Number => "a number",
            ValueKind::Duration => "a duration",
            ValueKind::Amount => "an amount",
            ValueKind::AmountInUsd => "an amount in USD",
            ValueKind::Day => "a day",
            ValueKind::AgentName => "the name of an agent",
        })?;
        if self.examples.is_empty() { Ok(()) } else { write!(f, " such as {}", self.examples.join(" or ")) }
    }
}
