//! How long an endpoint asks to wait, as a time of day: what it says counts from when it was said.

use jiff::{SignedDuration, Timestamp};

/// Nobody waits longer than this for a limit; a longer time is a mistake in what was read.
const LONGEST_WAIT: SignedDuration = SignedDuration::from_hours(24 * 366);

/// So long after `now`, where `wait` is a time as Google writes it: `3600s`, `34.07s`, `18h24m9s`, `500ms`.
pub(super) fn after(now: Option<Timestamp>, wait: &str) -> Option<Timestamp> {
    let wait: SignedDuration = wait.parse().ok()?;
    now?.checked_add(wait).ok().filter(|_| wait.is_positive() && wait <= LONGEST_WAIT)
}

/// What a `retry-after` header says: seconds from `now`, or a date.
pub(super) fn retry_after(now: Option<Timestamp>, header: &str) -> Option<Timestamp> {
    let header = header.trim();
    if header.bytes().next()?.is_ascii_digit() {
        return after(now, &format!("{header}s"));
    }
    let date = jiff::fmt::rfc2822::parse(header).ok()?.timestamp();
    Some(date).filter(|date| now.is_none_or(|now| *date > now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l9_a_time_to_wait_becomes_a_time_of_day() {
        let now: Timestamp = "2026-11-15T18:50:05Z".parse().unwrap();
        let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        assert_eq!(after(Some(now), "3600s"), at("2026-11-15T19:50:05Z"));
        assert_eq!(after(Some(now), "1.5s"), at("2026-11-15T18:50:06.5Z"));
        assert_eq!(after(Some(now), "18h24m9s"), at("2026-11-16T13:14:14Z"));
        assert_eq!(after(Some(now), "500ms"), at("2026-11-15T18:50:05.5Z"));
        for odd in ["", "soon", "-5s", "0s", "9999999999999s", "99999999h"] {
            assert_eq!(after(Some(now), odd), None, "{odd}");
        }
        assert_eq!(after(None, "5s"), None);
        assert_eq!(retry_after(Some(now), "20"), at("2026-11-15T18:50:25Z"));
        assert_eq!(retry_after(Some(now), "Sun, 15 Nov 2026 19:00:00 GMT"), at("2026-11-15T19:00:00Z"));
        assert_eq!(retry_after(Some(now), "Sun, 15 Nov 2020 19:00:00 GMT"), None, "long over");
        assert_eq!(retry_after(Some(now), "tomorrow"), None);
    }
}
