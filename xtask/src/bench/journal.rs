//! When each iteration ended, from a task's journal.
//!
//! Two fields of each line are needed, so the lines are looked through here and this crate stays without a JSON
//! library to build first.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Outcome;

/// The journal of the only task in a data home: `repos/REPO/tasks/NAME/journal.jsonl`.
pub(super) fn find(home: &Path) -> Outcome<PathBuf> {
    let subfolders =
        |dir: PathBuf| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut journals = subfolders(home.join("repos"))
        .flat_map(|repo| subfolders(repo.join("tasks")))
        .map(|task| task.join("journal.jsonl"))
        .filter(|journal| journal.is_file());
    match (journals.next(), journals.next()) {
        (Some(journal), None) => Ok(journal),
        (None, _) => Err("the run left no repos/*/tasks/*/journal.jsonl".to_owned()),
        (Some(_), Some(_)) => Err("the run left more than one task; which journal is its own?".to_owned()),
    }
}

/// The journal of a task by its name, in a data home of one repository.
pub(super) fn named(home: &Path, task: &str) -> Outcome<PathBuf> {
    let repos = fs::read_dir(home.join("repos")).into_iter().flatten().flatten();
    let mut journals = repos.map(|repo| repo.path().join("tasks").join(task).join("journal.jsonl"));
    journals.find(|journal| journal.is_file()).ok_or_else(|| format!("task {task} left no journal"))
}

/// Seconds that a check took in the workspace, and that its proof took with all that belongs to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CheckAndProof {
    pub(super) check: f64,
    pub(super) proof: f64,
}

/// From the journal of a task with one check and one iteration. A proof is all between the end of the check in the workspace
/// and its own end: the checkout is made to hold the commit in that time.
pub(super) fn check_and_proof(journal: &str) -> Outcome<CheckAndProof> {
    let end_of = |phase: &str| {
        let is_it = |line: &&str| {
            field(line, "type") == Some("check_finished") && field(line, "phase") == Some(phase)
        };
        let mut lines = journal.lines().filter(is_it);
        let line = lines.next().ok_or_else(|| format!("the journal has no check of phase '{phase}'"))?;
        if lines.next().is_some() || field(line, "exit_code") != Some("0") {
            return Err(format!("the check of phase '{phase}' was to pass, and at once: {line:.200}"));
        }
        let at = field(line, "at").and_then(seconds);
        let took = field(line, "duration_seconds").and_then(|took| took.parse::<f64>().ok());
        at.zip(took).ok_or_else(|| format!("no times in the journal line: {line:.120}"))
    };
    let ((here, took), (there, _)) = (end_of("iteration")?, end_of("proof")?);
    Ok(CheckAndProof { check: took, proof: there - here })
}

/// Bytes of agent output that the only task in a data home has kept.
pub(super) fn kept_output(home: &Path) -> Outcome<u64> {
    let turns = find(home)?.with_file_name("turns");
    let entries = fs::read_dir(&turns).map_err(|e| format!("cannot read {}: {e}", turns.display()))?;
    let raw = entries.flatten().filter(|entry| entry.path().extension().is_some_and(|e| e == "raw"));
    Ok(raw.filter_map(|entry| entry.metadata().ok()).map(|data| data.len()).sum())
}

/// Seconds since 1970 at which iteration 0, 1, 2 … ended.
pub(super) fn iteration_ends(journal: &str) -> Outcome<Vec<f64>> {
    let mut ends = Vec::new();
    for line in journal.lines() {
        if field(line, "type") != Some("iteration_finished") {
            continue;
        }
        let number = field(line, "iteration").and_then(|n| n.parse().ok());
        if number != Some(ends.len()) {
            return Err(format!("iteration {} is missing in the journal before: {line:.120}", ends.len()));
        }
        let at = field(line, "at").and_then(seconds);
        ends.push(at.ok_or_else(|| format!("no time in the journal line: {line:.120}"))?);
    }
    Ok(ends)
}

/// A field of the outermost object, as written: strings without their quotes, escapes left alone.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = line.trim_start().strip_prefix('{')?;
    loop {
        let (key, after) = value(rest.trim_start())?;
        let (found, after) = value(after.trim_start().strip_prefix(':')?.trim_start())?;
        if unquoted(key) == name {
            return Some(unquoted(found));
        }
        rest = after.trim_start().strip_prefix(',')?;
    }
}

/// Splits a JSON value off the front.
fn value(text: &str) -> Option<(&str, &str)> {
    let (mut depth, mut string, mut escaped) = (0_u32, false, false);
    for (place, c) in text.char_indices() {
        let end_here = match c {
            _ if escaped => {
                escaped = false;
                false
            }
            '\\' if string => {
                escaped = true;
                false
            }
            '"' => {
                string = !string;
                !string && depth == 0
            }
            _ if string => false,
            '{' | '[' => {
                depth += 1;
                false
            }
            '}' | ']' if depth > 0 => {
                depth -= 1;
                depth == 0
            }
            // A number or a word ends before what follows it.
            ',' | '}' | ']' | ':' if depth == 0 => return Some((text[..place].trim_end(), &text[place..])),
            _ => false,
        };
        if end_here {
            return Some(text.split_at(place + c.len_utf8()));
        }
    }
    None
}

fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text)
}

/// RFC 3339, as `2026-01-31T23:59:59.123456Z` or with an offset.
fn seconds(text: &str) -> Option<f64> {
    let (date, rest) = text.split_once(['T', 't', ' '])?;
    let (time, offset) = match rest.find(['Z', 'z', '+', '-']) {
        Some(place) if rest[place..].eq_ignore_ascii_case("z") => (&rest[..place], 0.0),
        Some(place) => {
            let (hours, minutes) = rest[place + 1..].split_once(':')?;
            let offset = hours.parse::<f64>().ok()? * 3600.0 + minutes.parse::<f64>().ok()? * 60.0;
            (&rest[..place], if rest[place..].starts_with('-') { -offset } else { offset })
        }
        None => return None,
    };
    let mut date = date.splitn(3, '-').map(|part| part.parse::<i32>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let mut time = time.splitn(3, ':');
    let (hours, minutes) = (time.next()?.parse::<f64>().ok()?, time.next()?.parse::<f64>().ok()?);
    let of_day = hours * 3600.0 + minutes * 60.0 + time.next()?.parse::<f64>().ok()?;
    Some(f64::from(days(year, month, day)) * 86_400.0 + of_day - offset)
}

/// Days since 1970, counting years from March so that the leap day comes last.
fn days(year: i32, month: i32, day: i32) -> i32 {
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(seconds("2000-02-29T12:00:00.5Z"), Some(951_825_600.5));
        assert_eq!(seconds("2026-01-31T23:59:59.25+08:00"), Some(1_769_875_199.25));
        assert_eq!(seconds("2026-01-31T23:59:59-00:30"), Some(1_769_905_799.0));
        assert_eq!(seconds("yesterday"), None);
    }

    #[test]
    fn fields_of_the_outermost_object_only() {
        let line = r#"{"v":1, "data":{"type":"no","at":[1,{"x":"}"}]}, "note":"a \"type\": \\", "type" : "yes", "n":12}"#;
        assert_eq!(field(line, "type"), Some("yes"));
        assert_eq!(field(line, "n"), Some("12"));
        assert_eq!(field(line, "x"), None);
        assert_eq!(field("{", "x"), None);
        assert_eq!(field("not json", "x"), None);
    }

    #[test]
    fn a_proof_lasts_from_the_end_of_the_check_to_its_own() {
        let line = |phase: &str, at: &str, exit: i32| {
            format!(
                r#"{{"v":1,"at":"1970-01-01T00:00:{at}Z","type":"check_finished","phase":"{phase}","exit_code":{exit},"duration_seconds":1.5}}"#
            )
        };
        let both = format!("{}\n{}\n", line("iteration", "02", 0), line("proof", "04", 0));
        assert_eq!(check_and_proof(&both), Ok(CheckAndProof { check: 1.5, proof: 2.0 }));
        assert!(check_and_proof(&line("iteration", "02", 0)).unwrap_err().contains("'proof'"));
        let red = format!("{}\n{}\n", line("iteration", "02", 0), line("proof", "04", 1));
        assert!(check_and_proof(&red).is_err());
        assert!(check_and_proof(&format!("{both}{}\n", line("proof", "06", 0))).is_err());
    }

    #[test]
    fn ends_in_order_and_none_missing() {
        let line = |n: u32, at: &str| {
            format!(
                r#"{{"v":1,"seq":9,"at":"1970-01-01T00:00:{at}Z","task":"x","type":"iteration_finished","iteration":{n}}}"#
            )
        };
        let good =
            format!("{{\"type\":\"task_started\"}}\n{}\n{}\n{{\"v\":1,\"se", line(0, "01"), line(1, "02.5"));
        assert_eq!(iteration_ends(&good), Ok(vec![1.0, 2.5]));
        assert!(iteration_ends(&line(1, "01")).is_err());
        assert!(iteration_ends(&line(0, "xx")).is_err());
    }
}
