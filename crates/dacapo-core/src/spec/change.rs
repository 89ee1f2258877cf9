//! Limits of a task that can be changed while it runs (`dacapo set NAME key=value`).

use std::time::Duration;

use super::expected::{ExpectedValue, ValueKind};
use super::{Cap, CapSource, LoopPolicy, parse_duration};

/// One limit, and what it is to be from now on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// The limit on iterations.
    Iterations(Amount<u32>),
    /// No iteration starts after this much active time.
    Time(Amount<Duration>),
    MaxCost(Amount<f64>),
    MaxTokens(Amount<u64>),
    /// How many failures in a row end it; 0: never.
    MaxFailures(u32),
    /// How many iterations in a row without progress end it; 0: never.
    Stall(u32),
    /// The hard limit of a turn.
    TurnTimeout(Duration),
    /// A turn without any sign of life for so long is ended.
    IdleTimeout(Duration),
    /// Wait for usage limits at most, in all.
    MaxWait(Duration),
    /// How many rejections in a row need a person. Only kinds of task that know rejections have it.
    Rejections(Amount<u32>),
}

/// A new value, or an increase (`+5`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount<T> {
    To(T),
    /// On top of what it is.
    More(T),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidChange {
    #[error("'{0}' is not a limit that can be changed")]
    Key(String),
    /// The limit cannot have this value.
    #[error("{key}={value}: expected {expected}")]
    Value {
        key: String,
        value: String,
        /// What could have been.
        expected: ExpectedValue,
    },
}

impl Change {
    /// What can be changed of a loop, by the names of the flags; see [`crate::engine::Kind::limits`] for other kinds.
    pub(crate) const KEYS: [&str; 9] = [
        "iter",
        "time",
        "max-cost",
        "max-tokens",
        "max-failures",
        "stall",
        "turn-timeout",
        "idle-timeout",
        "max-wait",
    ];

    /// Reads `key=value`.
    pub(crate) fn parse(key: &str, value: &str) -> Result<Self, InvalidChange> {
        let invalid = |what, examples| {
            let expected = ExpectedValue::new(what, examples);
            InvalidChange::Value { key: key.into(), value: value.into(), expected }
        };
        let duration = || parse_duration(value).map_err(|_| invalid(ValueKind::Duration, &["30m"]));
        let number = || value.parse().map_err(|_| invalid(ValueKind::Number, &[]));
        match key.replace('_', "-").as_str() {
            "iter" | "max-iterations" => {
                let count = |text: &str| text.parse().ok().filter(|count| *count >= 1);
                amount(value, count)
                    .map(Change::Iterations)
                    .ok_or_else(|| invalid(ValueKind::Count, &["10", "+5"]))
            }
            "time" => amount(value, |text| parse_duration(text).ok())
                .map(Change::Time)
                .ok_or_else(|| invalid(ValueKind::Duration, &["2h", "+30m"])),
            "max-cost" => {
                let usd = |text: &str| text.parse().ok().filter(|usd: &f64| usd.is_finite() && *usd > 0.0);
                amount(value, usd)
                    .map(Change::MaxCost)
                    .ok_or_else(|| invalid(ValueKind::Amount, &["5", "+2.50"]))
            }
            "max-tokens" => amount(value, |text| text.parse().ok().filter(|most| *most >= 1))
                .map(Change::MaxTokens)
                .ok_or_else(|| invalid(ValueKind::Number, &["500000", "+100000"])),
            "max-failures" => number().map(Change::MaxFailures),
            "stall" => number().map(Change::Stall),
            "turn-timeout" => duration().map(Change::TurnTimeout),
            "idle-timeout" => duration().map(Change::IdleTimeout),
            "max-wait" => duration().map(Change::MaxWait),
            _ => Err(InvalidChange::Key(key.into())),
        }
    }

    /// Makes the change. `cap` is how many iterations the loop may have by now.
    pub(crate) fn apply(self, policy: &mut LoopPolicy, cap: &mut Option<Cap>) {
        match self {
            Change::Iterations(amount) => {
                let iterations = match amount {
                    Amount::To(count) => count,
                    Amount::More(count) => cap.map_or(count, |cap| cap.iterations.saturating_add(count)),
                };
                let source = cap.map_or(CapSource::Iter, |cap| cap.source);
                *cap = Some(Cap { iterations, source });
            }
            Change::Time(amount) => {
                policy.time = Some(match amount {
                    Amount::To(time) => time,
                    Amount::More(time) => policy.time.unwrap_or_default().saturating_add(time),
                });
            }
            Change::MaxCost(amount) => {
                policy.max_cost = Some(match amount {
                    Amount::To(usd) => usd,
                    Amount::More(usd) => policy.max_cost.unwrap_or(0.0) + usd,
                });
            }
            Change::MaxTokens(amount) => {
                policy.max_tokens = Some(match amount {
                    Amount::To(tokens) => tokens,
                    Amount::More(tokens) => policy.max_tokens.unwrap_or(0).saturating_add(tokens),
                });
            }
            Change::MaxFailures(most) => policy.max_failures = most,
            Change::Stall(most) => policy.stall = most,
            Change::TurnTimeout(limit) => policy.turn_timeout = Some(limit),
            Change::IdleTimeout(limit) => policy.idle_timeout = limit,
            Change::MaxWait(limit) => policy.max_wait = limit,
            // No part of the policy: the kind of task that reads it keeps it.
            Change::Rejections(_) => {}
        }
    }
}

impl<T> Amount<T> {
    /// Reads `5` or `+5`.
    pub(crate) fn parse(text: &str, read: impl Fn(&str) -> Option<T>) -> Option<Self> {
        amount(text, read)
    }
}

fn amount<T>(text: &str, read: impl Fn(&str) -> Option<T>) -> Option<Amount<T>> {
    match text.strip_prefix('+') {
        Some(more) => read(more).filter(|_| !more.starts_with('+')).map(Amount::More),
        None => read(text).map(Amount::To),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s2_values_are_read_as_the_flags_are() {
        assert_eq!(Change::parse("iter", "7"), Ok(Change::Iterations(Amount::To(7))));
        assert_eq!(Change::parse("max_iterations", "+3"), Ok(Change::Iterations(Amount::More(3))));
        assert_eq!(Change::parse("time", "+1h"), Ok(Change::Time(Amount::More(Duration::from_secs(3600)))));
        assert_eq!(Change::parse("max-cost", "2.5"), Ok(Change::MaxCost(Amount::To(2.5))));
        assert_eq!(Change::parse("stall", "0"), Ok(Change::Stall(0)));
        for key in Change::KEYS {
            for bad in ["", "x", "-1", "++1", "+", "NaN", "1e400"] {
                assert!(matches!(Change::parse(key, bad), Err(InvalidChange::Value { .. })), "{key}={bad}");
            }
        }
        for (key, zero) in [("iter", "0"), ("max-cost", "0"), ("max-tokens", "0")] {
            assert!(Change::parse(key, zero).is_err(), "{key}");
        }
        assert_eq!(Change::parse("colour", "red"), Err(InvalidChange::Key("colour".into())));
    }
}
