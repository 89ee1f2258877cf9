//! Limits of a milestone that can be changed while it runs: rounds, rejections, calls, and those of every task.

use crate::spec::{Amount, Change, ExpectedValue, InvalidChange, ValueKind};

/// What can be changed, as `dacapo set` names it. A milestone has no stall: rejections are its own.
pub const LIMITS: [&str; 9] = [
    "rounds",
    "rejections",
    "call-timeout",
    "time",
    "max-cost",
    "max-tokens",
    "max-failures",
    "idle-timeout",
    "max-wait",
];

/// Reads `key=value`. The names of the configuration and of a loop are understood too, where they mean the same.
pub(super) fn parse(key: &str, value: &str) -> Result<Change, InvalidChange> {
    let known = key.replace('_', "-");
    let known =
        match known.as_str() {
            "rounds" | "max-iterations-per-milestone" => "iter",
            "call-timeout" => "turn-timeout",
            "rejections" | "max-consecutive-rejections" => {
                let count = |text: &str| text.parse().ok().filter(|count| *count >= 1);
                let expected = ExpectedValue::new(ValueKind::Count, &["3", "+2"]);
                return Amount::parse(value, count)
                    .map(Change::Rejections)
                    .ok_or_else(|| InvalidChange::Value { key: key.into(), value: value.into(), expected });
            }
            "stall" => return Err(InvalidChange::Key(key.into())),
            known => known,
        };
    // Whoever typed it reads the name that they typed.
    Change::parse(known, value).map_err(|error| match error {
        InvalidChange::Key(_) => InvalidChange::Key(key.into()),
        InvalidChange::Value { value, expected, .. } => {
            InvalidChange::Value { key: key.into(), value, expected }
        }
    })
}
