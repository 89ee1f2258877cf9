//! When a limit ends, in the words that claude has for people. Versions before 2.1 say it in no other way.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Zoned};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Reads `… resets 3pm`, `… resets 1:06am (Europe/Berlin)`, `… resets Oct 9 at 5pm`. Without a zone it is that of `now`,
/// about when the words were written.
pub(super) fn resets_at(message: &str, now: &Zoned) -> Option<Timestamp> {
    let (_, words) = message.rsplit_once("resets ")?;
    let (words, zone) = match words.split_once('(') {
        Some((words, zone)) => (words, TimeZone::get(zone.split(')').next()?).ok()?),
        None => (words, now.time_zone().clone()),
    };
    let now = now.with_time_zone(zone.clone());
    let words: Vec<&str> = words.split_whitespace().map(|word| word.trim_matches(',')).collect();
    let at = |date: Date, time: Time| {
        // The seconds are not told; who comes early would only meet the limit again.
        let end = date.to_datetime(time).to_zoned(zone.clone()).ok()?.checked_add(59.seconds()).ok()?;
        Some(end.timestamp())
    };
    match words.as_slice() {
        [time] | ["at", time] => {
            let time = clock(time)?;
            let today = at(now.date(), time)?;
            if today >= now.timestamp() { Some(today) } else { at(now.date().tomorrow().ok()?, time) }
        }
        [month, day, time] | [month, day, "at", time] => {
            let month = MONTHS.iter().position(|known| known == month)? + 1;
            let date = |year| Date::new(year, i8::try_from(month).ok()?, day.parse().ok()?).ok();
            let time = clock(time)?;
            let this = at(date(now.year())?, time)?;
            if this >= now.timestamp() { Some(this) } else { at(date(now.year().checked_add(1)?)?, time) }
        }
        _ => None,
    }
}

/// `3pm`, `1:06am`.
fn clock(word: &str) -> Option<Time> {
    let (digits, half) = word.split_at_checked(word.len().checked_sub(2)?)?;
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
    let hour: i8 = hour.parse().ok().filter(|hour| (1..=12).contains(hour))?;
    let hour = match half.to_ascii_lowercase().as_str() {
        "am" => hour % 12,
        "pm" => hour % 12 + 12,
        _ => return None,
    };
    Time::new(hour, minute.parse().ok()?, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(message: &str) -> Option<String> {
        let now: Zoned = "2026-11-15T18:50:05-05:00[America/New_York]".parse().unwrap();
        resets_at(message, &now).map(|at| at.to_string())
    }

    #[test]
    fn l9_a_time_of_day_is_the_next_one() {
        let told = |message| at(message).unwrap();
        assert_eq!(told("Limit reached · resets 11:06pm"), "2026-11-16T04:06:59Z");
        assert_eq!(told("Limit reached · resets 6:50pm"), "2026-11-15T23:50:59Z", "this very minute");
        assert_eq!(told("Spending cap reached resets 6:49pm"), "2026-11-16T23:49:59Z", "tomorrow");
        assert_eq!(told("You've hit your limit · resets 12am (UTC)"), "2026-11-16T00:00:59Z");
        assert_eq!(told("5-hour limit reached ∙ resets 3am (Europe/Berlin)"), "2026-11-16T02:00:59Z");
    }

    #[test]
    fn l9_a_date_is_the_next_one() {
        assert_eq!(at("Weekly limit · resets Nov 18 at 5pm (UTC)").unwrap(), "2026-11-18T17:00:59Z");
        assert_eq!(at("Weekly limit · resets Jan 2, 12pm (UTC)").unwrap(), "2027-01-02T12:00:59Z");
    }

    #[test]
    fn l9_what_is_no_time_is_none() {
        for words in [
            "",
            "resets",
            "resets ",
            "resets soon",
            "resets 13pm",
            "resets 0am",
            "resets 3:99pm",
            "resets pm",
            "resets 3pm (Nowhere/Land)",
            "resets Feb 30 at 3pm",
            "resets Nov x, 3pm",
            "resets 繼",
            "resets 999999999999am",
        ] {
            assert_eq!(at(words), None, "{words}");
        }
    }
}
