//! When a usage limit ends: from an agent's own words about it, from a time to wait, from a number. Words only of a text
//! that is known to speak of a limit the agent has just run into: anything else may name times as it likes.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _, Zoned};

/// A longer wait than this is a misunderstanding.
const LONGEST: SignedDuration = SignedDuration::from_hours(24 * 366);

/// A time without a date, or a date without a year, that lies further back than this is the next one; less far back, it
/// has just passed.
const JUST_PASSED: SignedDuration = SignedDuration::from_hours(12);

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Reads `try again at 3:05 PM`, `at Nov 17th, 2026 2:54 AM`, `on April 20, 2026 at 2:00 AM`, `resets 3pm`,
/// `resets 1:06am (Europe/Berlin)`, `resets Oct 9 at 5pm`, and all that [`wait_in_words`] does. Times of day are in the
/// zone that is named, else in that of `now`, about when the words were written.
pub(super) fn in_words(text: &str, now: &Zoned) -> Option<Timestamp> {
    let words: Vec<&str> = text.split_whitespace().map(bare).collect();
    let local = match zone(text) {
        Some(zone) => zone.ok().map(|zone| now.with_time_zone(zone)),
        None => Some(now.clone()),
    };
    let at = |read: fn(&[&str], &Zoned) -> Option<Timestamp>| {
        (0..words.len()).find_map(|start| read(&words[start..], local.as_ref()?))
    };
    // The time of a day that is none is none, too.
    let names_day = || words.windows(2).any(|pair| month(pair[0]).is_some() && pair[1].parse::<u8>().is_ok());
    let by_day = at(date_and_time).or_else(|| wait_in_words(text, now.timestamp()));
    let found = by_day.or_else(|| if names_day() { None } else { at(time_of_day) })?;
    (found.duration_since(now.timestamp()) <= LONGEST).then_some(found)
}

/// Reads `in 2 hours 5 minutes`, `after 2733 seconds`, `in 11.5s`, `wait 2 minutes`; counted from `now`.
pub(super) fn wait_in_words(text: &str, now: Timestamp) -> Option<Timestamp> {
    let words: Vec<&str> = text.split_whitespace().map(bare).collect();
    let wait = (0..words.len()).find_map(|start| wait(&words[start..]))?;
    ends(now, wait)
}

/// The time `wait` after `now`, where `wait` is written as Google does: `3600s`, `34.07s`, `18h24m9s`, `500ms`.
pub(super) fn after(now: Timestamp, wait: &str) -> Option<Timestamp> {
    ends(now, wait.parse().ok()?)
}

/// What a `retry-after` header says: seconds from `now`, or a date.
pub(super) fn retry_after(now: Option<Timestamp>, header: &str) -> Option<Timestamp> {
    let header = header.trim();
    if header.bytes().next()?.is_ascii_digit() {
        return after(now?, &format!("{header}s"));
    }
    let date = jiff::fmt::rfc2822::parse(header).ok()?.timestamp();
    Some(date).filter(|date| now.is_none_or(|now| *date > now))
}

/// A time as seconds of the epoch, or as thousandths of them.
pub(super) fn epoch(number: f64) -> Option<Timestamp> {
    /// As seconds it would be the year 5138.
    const MILLISECONDS: f64 = 1e11;
    let seconds = if number >= MILLISECONDS { number / 1000.0 } else { number };
    // The first years of the epoch are no time that anybody waits for.
    // Rounded up: a try before the second is over would run into the limit again.
    (seconds > 1e9).then(|| Timestamp::from_second(seconds.ceil() as i64).ok())?
}

fn ends(now: Timestamp, wait: SignedDuration) -> Option<Timestamp> {
    now.checked_add(wait).ok().filter(|_| wait.is_positive() && wait <= LONGEST)
}

/// Without what surrounds a word in a sentence.
fn bare(word: &str) -> &str {
    word.trim_matches(|letter: char| !letter.is_alphanumeric())
}

/// The zone that stands in brackets: `(Europe/Berlin)`, `(UTC)`. One that does not exist makes the time unknown.
fn zone(text: &str) -> Option<Result<TimeZone, jiff::Error>> {
    let inside = text.split('(').skip(1).filter_map(|rest| rest.split_once(')')).map(|(inside, _)| inside);
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte))
    };
    let mut names = inside.filter(|name| *name == "UTC" || name.contains('/') && is_name(name));
    names.next().map(TimeZone::get)
}

fn date_and_time(words: &[&str], now: &Zoned) -> Option<Timestamp> {
    let [month_name, day, rest @ ..] = words else { return None };
    let month = month(month_name)?;
    let day = day.trim_end_matches(|letter: char| letter.is_ascii_alphabetic()).parse().ok()?;
    let year = rest.first().filter(|year| year.len() == 4).and_then(|year| year.parse::<i16>().ok());
    let rest = if year.is_some() { &rest[1..] } else { rest };
    let time = clock(if rest.first() == Some(&"at") { &rest[1..] } else { rest })?;
    let at = |year| end_of_minute(Date::new(year, month, day).ok()?, time, now);
    match year {
        Some(year) => at(year),
        None => next(at(now.year())?, now, || at(now.year().checked_add(1)?)),
    }
}

fn month(word: &str) -> Option<i8> {
    let name = word.get(..3)?.to_ascii_lowercase();
    i8::try_from(MONTHS.iter().position(|known| *known == name)? + 1).ok()
}

fn time_of_day(words: &[&str], now: &Zoned) -> Option<Timestamp> {
    let time = match words {
        ["at", rest @ ..] | ["resets", rest @ ..] => clock(rest)?,
        _ => return None,
    };
    let today = end_of_minute(now.date(), time, now)?;
    next(today, now, || end_of_minute(now.date().tomorrow().ok()?, time, now))
}

/// `this`, unless that is long over.
fn next(this: Timestamp, now: &Zoned, following: impl FnOnce() -> Option<Timestamp>) -> Option<Timestamp> {
    if now.timestamp().duration_since(this) > JUST_PASSED { following() } else { Some(this) }
}

/// `2:54 AM`, `2:54AM`, `14:54`, `3pm`.
fn clock(words: &[&str]) -> Option<(i8, i8)> {
    let first = words.first()?;
    let time = first.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b':').count();
    let (time, half) = first.split_at(time);
    let half = if half.is_empty() { words.get(1).copied().unwrap_or_default() } else { half };
    let half = half.to_ascii_lowercase();
    let (hour, minute) = match time.split_once(':') {
        Some((hour, minute)) => (hour.parse::<i8>().ok()?, minute.parse::<i8>().ok()?),
        None if matches!(half.as_str(), "am" | "pm") => (time.parse().ok()?, 0),
        None => return None,
    };
    match half.as_str() {
        "am" | "pm" if !(1..=12).contains(&hour) => None,
        "am" => Some((hour % 12, minute)),
        "pm" => Some((hour % 12 + 12, minute)),
        _ => Some((hour, minute)),
    }
}

/// The words leave the seconds out: earlier than the end of that minute nothing is certain.
fn end_of_minute(date: Date, (hour, minute): (i8, i8), now: &Zoned) -> Option<Timestamp> {
    let time = jiff::civil::Time::new(hour, minute, 0, 0).ok()?;
    let zoned = date.to_datetime(time).to_zoned(now.time_zone().clone()).ok()?;
    zoned.timestamp().checked_add(1.minute()).ok()
}

fn wait(words: &[&str]) -> Option<SignedDuration> {
    let [first, rest @ ..] = words else { return None };
    if !["in", "after", "wait"].contains(&first.to_ascii_lowercase().as_str()) {
        return None;
    }
    let mut seconds = 0.0;
    let mut rest = rest;
    while let Some((more, used)) = part(rest) {
        seconds += more;
        rest = &rest[used..];
        if rest.first() == Some(&"and") {
            rest = &rest[1..];
        }
    }
    SignedDuration::try_from_secs_f64(seconds).ok().filter(SignedDuration::is_positive)
}

/// `2 hours`, `2h`, `6m20s`, `11.5s`: its seconds, and how many words it takes.
fn part(words: &[&str]) -> Option<(f64, usize)> {
    let mut word = *words.first()?;
    let mut seconds = 0.0;
    while !word.is_empty() {
        let digits = word.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let (number, rest) = word.split_at(digits);
        let number: f64 = number.parse().ok()?;
        if rest.is_empty() {
            return Some((seconds + number * unit(words.get(1)?)?, 2));
        }
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (name, more) = rest.split_at(letters);
        seconds += number * unit(name)?;
        word = more;
    }
    Some((seconds, 1))
}

fn unit(name: &str) -> Option<f64> {
    Some(match name.to_ascii_lowercase().as_str() {
        "ms" | "millisecond" | "milliseconds" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reset(text: &str, now: &str) -> Option<String> {
        let now: Zoned = now.parse().unwrap();
        in_words(text, &now).map(|at| at.to_zoned(now.time_zone().clone()).strftime("%F %T").to_string())
    }

    const NOW: &str = "2026-11-15T14:03:20[+01:00]";

    #[test]
    fn l9_a_time_of_day_is_the_next_one_in_the_users_zone() {
        let text = "You’ve hit your usage limit. Visit https://x/usage to purchase more credits or try again at 3:05 PM.";
        assert_eq!(reset(text, NOW).unwrap(), "2026-11-15 15:06:00");
        assert_eq!(reset("Try again at 11:59 PM.", NOW).unwrap(), "2026-11-16 00:00:00");
        assert_eq!(reset("try again at 23:10", NOW).unwrap(), "2026-11-15 23:11:00");
        // The turn began before midnight, the limit came after it.
        let late = "2026-11-15T23:50:00[+01:00]";
        assert_eq!(reset("try again at 12:30 AM.", late).unwrap(), "2026-11-16 00:31:00");
        // Clocks differ: what has just passed is not a day away.
        assert_eq!(reset("try again at 2:02 PM.", NOW).unwrap(), "2026-11-15 14:03:00");
    }

    #[test]
    fn l9_a_date_is_taken_as_it_is() {
        let codex = "or try again at Nov 17th, 2026 2:54 AM.";
        assert_eq!(reset(codex, NOW).unwrap(), "2026-11-17 02:55:00");
        let copilot =
            "Please wait for your limit to reset on April 20, 2027 at 12:00 PM or switch to auto model.";
        assert_eq!(reset(copilot, NOW).unwrap(), "2027-04-20 12:01:00");
        assert_eq!(reset("try again at Feb 30th, 2027 1:00 AM", NOW), None, "no such day");
        assert_eq!(reset("try again at Nov 17th, 2099 2:54 AM", NOW), None, "no such wait");
    }

    #[test]
    fn l9_a_duration_counts_from_when_it_was_said() {
        for (text, expected) in [
            ("you have hit a rate limit. Please try again in 2 hours. Please review", "2026-11-15 16:03:20"),
            ("Please retry after 2733 seconds. (x)", "2026-11-15 14:48:53"),
            ("Please try again in 300s.", "2026-11-15 14:08:20"),
            ("Please try again in 6m20.5s. Visit", "2026-11-15 14:09:40"),
            ("resets in 1 day, 2 hours and 5 minutes.", "2026-11-16 16:08:20"),
            ("Please wait 2 minutes before trying again", "2026-11-15 14:05:20"),
        ] {
            assert_eq!(reset(text, NOW).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn l9_no_time_is_none() {
        for text in [
            "",
            "Try again later.",
            "in",
            "at",
            "at 25:00",
            "in a moment",
            "in 99999999999999 days",
            "in 0 s",
        ] {
            assert_eq!(reset(text, NOW), None, "{text}");
        }
    }

    #[test]
    fn l9_a_time_to_wait_becomes_a_time_of_day() {
        let now: Timestamp = "2026-11-15T18:50:05Z".parse().unwrap();
        let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        assert_eq!(after(now, "3600s"), at("2026-11-15T19:50:05Z"));
        assert_eq!(after(now, "1.5s"), at("2026-11-15T18:50:06.5Z"));
        assert_eq!(after(now, "18h24m9s"), at("2026-11-16T13:14:14Z"));
        assert_eq!(after(now, "500ms"), at("2026-11-15T18:50:05.5Z"));
        for odd in ["", "soon", "-5s", "0s", "9999999999999s", "99999999h"] {
            assert_eq!(after(now, odd), None, "{odd}");
        }
        assert_eq!(retry_after(None, "5"), None);
        assert_eq!(retry_after(Some(now), "20"), at("2026-11-15T18:50:25Z"));
        assert_eq!(retry_after(Some(now), "Sun, 15 Nov 2026 19:00:00 GMT"), at("2026-11-15T19:00:00Z"));
        assert_eq!(retry_after(Some(now), "Sun, 15 Nov 2020 19:00:00 GMT"), None, "long over");
        assert_eq!(retry_after(Some(now), "tomorrow"), None);
    }

    #[test]
    fn l9_a_reset_time_is_in_seconds_or_thousandths() {
        let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        assert_eq!(epoch(1_794_787_690.0), at("2026-11-16T00:08:10Z"));
        assert_eq!(epoch(1_794_787_690_000.0), at("2026-11-16T00:08:10Z"));
        for odd in [0.0, 3600.0, 1e30, f64::MAX] {
            assert_eq!(epoch(odd), None, "{odd}");
        }
    }

    fn by_claude(message: &str) -> Option<String> {
        let now: Zoned = "2026-11-15T18:50:05-05:00[America/New_York]".parse().unwrap();
        in_words(message, &now).map(|at| at.to_string())
    }

    #[test]
    fn l9_claude_names_a_time_of_day() {
        let told = |message| by_claude(message).unwrap();
        assert_eq!(told("Limit reached · resets 11:06pm"), "2026-11-16T04:07:00Z");
        assert_eq!(told("Limit reached · resets 6:50pm"), "2026-11-15T23:51:00Z", "this very minute");
        assert_eq!(told("Limit reached · resets 6am"), "2026-11-16T11:01:00Z", "tomorrow");
        assert_eq!(told("Spending cap reached resets 6:49pm"), "2026-11-15T23:50:00Z", "just passed");
        assert_eq!(told("You've hit your limit · resets 12am (UTC)"), "2026-11-16T00:01:00Z");
        assert_eq!(told("5-hour limit reached ∙ resets 3am (Europe/Berlin)"), "2026-11-16T02:01:00Z");
    }

    #[test]
    fn l9_claude_names_a_date_without_its_year() {
        assert_eq!(by_claude("Weekly limit · resets Nov 18 at 5pm (UTC)").unwrap(), "2026-11-18T17:01:00Z");
        assert_eq!(by_claude("Weekly limit · resets Jan 2, 12pm (UTC)").unwrap(), "2027-01-02T12:01:00Z");
    }

    #[test]
    fn l9_what_claude_never_says_is_none() {
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
            assert_eq!(by_claude(words), None, "{words}");
        }
    }

    proptest! {
        #[test]
        fn r3_any_words_are_survived(text in "(in |at |on |Nov |[0-9]{1,4}|:|PM|h|\\.|\\PC| ){0,20}") {
            let _ = reset(&text, NOW);
        }
    }
}
