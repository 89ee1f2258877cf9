//! When a usage limit ends, from an agent's own words about it. Only for a text that is known to speak of a limit the
//! agent has just run into: anything else may name times as it likes.

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp, ToSpan as _, Zoned};

/// A longer wait than this is a misunderstanding.
const LONGEST: SignedDuration = SignedDuration::from_hours(24 * 366);

/// A time without a date that lies further back than this is one of the next day; less far back, it has just passed.
const JUST_PASSED: SignedDuration = SignedDuration::from_hours(12);

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Reads `try again at 3:05 PM`, `at Nov 17th, 2026 2:54 AM`, `on April 20, 2026 at 2:00 AM`, `in 2 hours 5 minutes`,
/// `after 2733 seconds`, `in 11.5s`. Times of day are in the zone of `now`, about when the words were written.
pub(super) fn in_words(text: &str, now: &Zoned) -> Option<Timestamp> {
    let words: Vec<&str> = text.split_whitespace().map(bare).collect();
    let at = |read: fn(&[&str], &Zoned) -> Option<Timestamp>| {
        (0..words.len()).find_map(|start| read(&words[start..], now))
    };
    let found = at(date_and_time).or_else(|| at(duration)).or_else(|| at(time_of_day))?;
    (found.duration_since(now.timestamp()) <= LONGEST).then_some(found)
}

/// Without what surrounds a word in a sentence.
fn bare(word: &str) -> &str {
    word.trim_matches(|letter: char| !letter.is_alphanumeric())
}

fn date_and_time(words: &[&str], now: &Zoned) -> Option<Timestamp> {
    let [month, day, year, rest @ ..] = words else { return None };
    let name = month.get(..3)?.to_ascii_lowercase();
    let month = MONTHS.iter().position(|known| *known == name)? + 1;
    let digits = day.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let date = Date::new(year.parse().ok()?, i8::try_from(month).ok()?, digits.parse().ok()?).ok()?;
    let rest = if rest.first() == Some(&"at") { &rest[1..] } else { rest };
    let (hour, minute) = clock(rest)?;
    end_of_minute(date, hour, minute, now)
}

fn time_of_day(words: &[&str], now: &Zoned) -> Option<Timestamp> {
    let ["at", rest @ ..] = words else { return None };
    let (hour, minute) = clock(rest)?;
    let today = end_of_minute(now.date(), hour, minute, now)?;
    if now.timestamp().duration_since(today) > JUST_PASSED {
        return end_of_minute(now.date().tomorrow().ok()?, hour, minute, now);
    }
    Some(today)
}

/// `2:54 AM`, `2:54AM`, `14:54`.
fn clock(words: &[&str]) -> Option<(i8, i8)> {
    let (hour, rest) = words.first()?.split_once(':')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (minute, half) = rest.split_at(digits);
    let half = if half.is_empty() { words.get(1).copied().unwrap_or_default() } else { half };
    let (hour, minute): (i8, i8) = (hour.parse().ok()?, minute.parse().ok()?);
    let half = half.to_ascii_lowercase();
    match half.as_str() {
        "am" | "pm" if !(1..=12).contains(&hour) => None,
        "am" => Some((hour % 12, minute)),
        "pm" => Some((hour % 12 + 12, minute)),
        _ => Some((hour, minute)),
    }
}

/// The words leave the seconds out: earlier than the end of that minute nothing is certain.
fn end_of_minute(date: Date, hour: i8, minute: i8, now: &Zoned) -> Option<Timestamp> {
    let time = jiff::civil::Time::new(hour, minute, 0, 0).ok()?;
    let zoned = date.to_datetime(time).to_zoned(now.time_zone().clone()).ok()?;
    zoned.timestamp().checked_add(1.minute()).ok()
}

fn duration(words: &[&str], now: &Zoned) -> Option<Timestamp> {
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
    let found = SignedDuration::try_from_secs_f64(seconds).ok().filter(SignedDuration::is_positive)?;
    now.timestamp().checked_add(found).ok()
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

    proptest! {
        #[test]
        fn r3_any_words_are_survived(text in "(in |at |on |Nov |[0-9]{1,4}|:|PM|h|\\.|\\PC| ){0,20}") {
            let _ = reset(&text, NOW);
        }
    }
}
