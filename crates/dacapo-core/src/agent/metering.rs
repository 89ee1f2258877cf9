//! Token counts as agents report them. A count that is missing or cannot be read must not pass for zero: a budget would
//! then hold nothing back (L10).

use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::value::RawValue;

use super::raw_json::{self, Object};

/// One count of a usage report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Reported {
    /// Absent, or null.
    #[default]
    Missing,
    Known(u64),
    /// Negative, a text, a list, …
    Unreadable,
}

impl Reported {
    pub(super) fn of(value: Option<&RawValue>) -> Self {
        match value {
            None => Self::Missing,
            Some(value) if value.get() == "null" => Self::Missing,
            Some(value) => raw_json::count(value).map_or(Self::Unreadable, Self::Known),
        }
    }

    pub(super) fn known(self) -> Option<u64> {
        match self {
            Self::Known(count) => Some(count),
            Self::Missing | Self::Unreadable => None,
        }
    }
}

impl<'de> Deserialize<'de> for Reported {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(from).map(|raw| Self::of(Some(raw)))
    }
}

/// Reads the counts of one report and remembers whether all of them were there.
#[derive(Debug, Default)]
pub(super) struct Meter {
    unknown: bool,
}

impl Meter {
    /// A count without which the report is incomplete.
    pub(super) fn required(&mut self, count: Reported) -> u64 {
        self.unknown |= count == Reported::Missing;
        self.optional(count)
    }

    /// A count that agents leave out where it is zero.
    pub(super) fn optional(&mut self, count: Reported) -> u64 {
        self.unknown |= count == Reported::Unreadable;
        count.known().unwrap_or(0)
    }

    /// Whether some count is not known, so that the sum is too low.
    pub(super) fn tokens_unknown(&self) -> bool {
        self.unknown
    }
}

impl Object<'_> {
    /// A field that counts tokens.
    pub(super) fn reported(&self, name: &str) -> Reported {
        Reported::of(self.raw(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l10_a_count_that_cannot_be_read_is_not_zero() {
        let json =
            r#"{"a":7,"float":7.9,"none":null,"less":-1,"text":"7","list":[7],"inf":1e999,"nan":"NaN"}"#;
        let object = Object::parse(json).unwrap();
        for (name, expected) in [
            ("a", Reported::Known(7)),
            ("float", Reported::Known(7)),
            ("none", Reported::Missing),
            ("absent", Reported::Missing),
            ("less", Reported::Unreadable),
            ("text", Reported::Unreadable),
            ("list", Reported::Unreadable),
            ("nan", Reported::Unreadable),
        ] {
            assert_eq!(object.reported(name), expected, "{name}");
            let (mut needed, mut not_needed) = (Meter::default(), Meter::default());
            needed.required(expected);
            not_needed.optional(expected);
            assert_eq!(needed.tokens_unknown(), !matches!(expected, Reported::Known(_)), "{name}");
            assert_eq!(not_needed.tokens_unknown(), expected == Reported::Unreadable, "{name}");
        }
        assert!(object.reported("inf").known().is_none_or(|count| count == u64::MAX));
    }
}
