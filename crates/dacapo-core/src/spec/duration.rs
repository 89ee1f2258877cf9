//! Durations as people type them: `30s`, `5m`, `1h30m`, `2d`.

use std::time::Duration;

/// What was typed is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid duration '{0}': expected for example '30s', '5m', '1h30m' or '2d'")]
pub struct InvalidDuration(pub String);

/// Parses `1h30m`. Every number needs its unit (`90` could be anything), units go from large to small, and nothing
/// lasts no time at all.
pub fn parse_duration(text: &str) -> Result<Duration, InvalidDuration> {
    let invalid = || InvalidDuration(text.to_owned());
    let mut rest = text;
    let mut total: u64 = 0;
    let mut last_unit = u64::MAX;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = rest[..digits].parse().map_err(|_| invalid())?;
        rest = &rest[digits..];
        let (unit, width) = match rest.as_bytes() {
            [b'm', b's', ..] => (1, 2),
            [b's', ..] => (1000, 1),
            [b'm', ..] => (60_000, 1),
            [b'h', ..] => (3_600_000, 1),
            [b'd', ..] => (86_400_000, 1),
            _ => return Err(invalid()),
        };
        if unit >= last_unit {
            return Err(invalid());
        }
        last_unit = unit;
        rest = &rest[width..];
        total = number.checked_mul(unit).and_then(|ms| total.checked_add(ms)).ok_or_else(invalid)?;
    }
    // A century is plenty, and keeps every sum of durations far from overflow.
    if total == 0 || total > 100 * 365 * 86_400_000 {
        Err(invalid())
    } else {
        Ok(Duration::from_millis(total))
    }
}

/// The text that [`parse_duration`] reads as this duration: `1h30m`, `45s`, `250ms`.
pub fn duration_text(duration: Duration) -> String {
    let (seconds, millis) = (duration.as_secs(), u64::from(duration.subsec_millis()));
    let parts = [
        (seconds / 86_400, "d"),
        (seconds / 3600 % 24, "h"),
        (seconds / 60 % 60, "m"),
        (seconds % 60, "s"),
        (millis, "ms"),
    ];
    let text: String = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, unit)| format!("{number}{unit}"))
        .collect();
    if text.is_empty() { "0s".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l2_durations_are_read_as_typed() {
        for (text, seconds) in
            [("30s", 30), ("5m", 300), ("1h", 3600), ("1h30m", 5400), ("2d", 172_800), ("1d1s", 86_401)]
        {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        for text in ["1d", "1h30m", "45s", "1s250ms"] {
            assert_eq!(duration_text(parse_duration(text).unwrap()), text);
        }
    }

    #[test]
    fn l2_anything_else_is_refused() {
        for text in [
            "",
            "90",
            "abc",
            "1h30",
            "30m1h",
            "1h1h",
            "-5m",
            "1.5h",
            "0s",
            "h",
            "1 h",
            "99999999999999999999s",
            "36501d",
            "5m ",
        ] {
            assert!(parse_duration(text).is_err(), "{text:?}");
        }
    }
}
