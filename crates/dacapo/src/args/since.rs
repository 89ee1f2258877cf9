//! `--since`: a span before now, or a moment.

use dacapo_core::spec::parse_duration;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};

/// The moment that was meant.
pub(super) fn parse(text: &str) -> Result<Timestamp, String> {
    moment(text, Timestamp::now(), &TimeZone::system())
}

fn moment(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, String> {
    let invalid =
        || format!("invalid time '{text}': expected for example '10m', '14:05' or '2026-11-16T14:05'");
    if let Ok(span) = parse_duration(text) {
        let span = SignedDuration::try_from(span).map_err(|_| invalid())?;
        return now.checked_sub(span).map_err(|_| invalid());
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at);
    }
    let here = now.to_zoned(zone.clone());
    let local = |at: DateTime| at.to_zoned(zone.clone()).map(|at| at.timestamp()).map_err(|_| invalid());
    // A date is a time at its beginning as well, so the shorter forms come first.
    if let (Ok(date), false) = (text.parse::<Date>(), text.contains([':', 'T', ' '])) {
        return local(date.at(0, 0, 0, 0));
    }
    if let Ok(at) = text.parse::<DateTime>() {
        return local(at);
    }
    // A bare number could be anything.
    let time: Time = text.parse().ok().filter(|_| text.contains(':')).ok_or_else(invalid)?;
    let today = local(here.date().to_datetime(time))?;
    if today <= now {
        return Ok(today);
    }
    let yesterday = here.date().checked_sub(1.day()).map_err(|_| invalid())?;
    local(yesterday.to_datetime(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s2_since_takes_a_span_or_a_moment() {
        let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        for (text, meant) in [
            ("10m", "2026-11-16T11:50:00Z"),
            ("2d", "2026-11-14T12:00:00Z"),
            ("11:30", "2026-11-16T11:30:00Z"),
            ("11:30:05", "2026-11-16T11:30:05Z"),
            ("14:05", "2026-11-15T14:05:00Z"),
            ("2026-11-15", "2026-11-15T00:00:00Z"),
            ("2026-11-15T08:30", "2026-11-15T08:30:00Z"),
            ("2026-11-15 08:30", "2026-11-15T08:30:00Z"),
            ("2026-11-15T08:30:00+08:00", "2026-11-15T00:30:00Z"),
        ] {
            assert_eq!(moment(text, now, &TimeZone::UTC), Ok(meant.parse().unwrap()), "{text}");
        }
        for text in ["", "soon", "10", "25:00", "-5m"] {
            assert!(moment(text, now, &TimeZone::UTC).is_err(), "{text}");
        }
    }
}
