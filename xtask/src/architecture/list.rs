//! Lists of what was there before a rule was: what is new fails, and so does a line that is no longer needed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::Outcome;

/// A rule with a list of its own.
pub(super) struct Rule {
    /// Of the list, in `xtask/allowed/`.
    pub(super) file: &'static str,
    /// What is wrong with what is not listed, as the heading over it.
    pub(super) fault: &'static str,
    pub(super) remedy: &'static str,
}

/// What breaks a rule, by the line that would list it.
pub(super) type Found = BTreeMap<String, Finding>;

#[derive(Default)]
pub(super) struct Finding {
    /// How often; none where it only matters that it is there.
    pub(super) times: Option<usize>,
    /// The places, and what else helps to mend it, a line each.
    pub(super) notes: Vec<String>,
    /// It breaks the rule only because of others that are new: those are told.
    pub(super) drawn_in: bool,
}

/// What a list holds: how often each may be.
pub(super) type Listed = BTreeMap<String, usize>;

/// What is done about a list that says more than there is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lists {
    Check,
    /// Lines go and numbers sink; none is ever added.
    Shrink,
}

/// As many notes of one finding as are shown.
const NOTES: usize = 5;

pub(super) fn listed(root: &Path, rule: &Rule) -> Outcome<Listed> {
    let (_, text) = read(root, rule)?;
    Ok(lines(&text).map(|(key, times)| (key.to_owned(), times)).collect())
}

/// Fails on what is not listed, and on what is listed and not there.
pub(super) fn compare(root: &Path, rule: &Rule, found: &Found, lists: Lists) -> Outcome {
    let (shown, text) = read(root, rule)?;
    let mut failures = Vec::new();
    let new = unlisted(found, &text);
    if !new.is_empty() {
        failures.push(format!(
            "{}:\n{new}  {}\n  ({shown} lists what was there before.)",
            rule.fault, rule.remedy
        ));
    }
    let (kept, gone) = shrunk(found, &text);
    if !gone.is_empty() && lists == Lists::Shrink {
        fs::write(root.join(&shown), kept).map_err(|e| format!("cannot write {shown}: {e}"))?;
        println!("  {shown}: lines gone or lowered: {}", gone.len());
    } else if !gone.is_empty() {
        let gone: String = gone.iter().map(|line| format!("  {line}\n")).collect();
        failures.push(format!(
            "{shown} says more than there is, which is good: `cargo xtask lint --write` takes it out\n{gone}"
        ));
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

/// The list's path from the workspace's folder on, and its text.
fn read(root: &Path, rule: &Rule) -> Outcome<(String, String)> {
    let shown = format!("xtask/allowed/{}", rule.file);
    let text = fs::read_to_string(root.join(&shown)).map_err(|e| format!("cannot read {shown}: {e}"))?;
    Ok((shown, text))
}

/// What the list does not hold, or not so often.
fn unlisted(found: &Found, text: &str) -> String {
    let listed: BTreeMap<&str, usize> = lines(text).collect();
    let (mut new, mut drawn_in) = (String::new(), 0);
    for (key, finding) in found {
        let before = listed.get(key.as_str()).copied();
        if before.is_some_and(|before| finding.times.unwrap_or(1) <= before) {
            continue;
        }
        if finding.drawn_in {
            drawn_in += 1;
            continue;
        }
        new.push_str(&format!("  {}", line(key, finding.times)));
        if let Some(before) = before {
            new.push_str(&format!(" (listed: {before})"));
        }
        new.push('\n');
        for note in finding.notes.iter().take(NOTES) {
            new.push_str(&format!("      {note}\n"));
        }
        if let Some(more @ 1..) = finding.notes.len().checked_sub(NOTES) {
            new.push_str(&format!("      and {more} more\n"));
        }
    }
    if drawn_in > 0 {
        new.push_str(&format!("  (and {drawn_in} more only because of these)\n"));
    }
    new
}

/// The list without what is not there any more, and the lines that this changes.
fn shrunk(found: &Found, text: &str) -> (String, Vec<String>) {
    let (mut kept, mut gone) = (String::new(), Vec::new());
    for before in text.lines() {
        let after = match lines(before).next() {
            None => Some(before.to_owned()),
            Some((key, times)) => {
                found.get(key).map(|finding| line(key, finding.times.map(|now| now.min(times))))
            }
        };
        match after {
            Some(after) if after == before => kept.push_str(&format!("{before}\n")),
            Some(after) => {
                gone.push(format!("{before}   (now {})", &after[after.rfind(' ').map_or(0, |at| at + 1)..]));
                kept.push_str(&format!("{after}\n"));
            }
            None => gone.push(before.to_owned()),
        }
    }
    (kept, gone)
}

/// Each line's key and number, comments aside.
fn lines(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| match line.rsplit_once(": ") {
        Some((key, times)) => times.parse().map_or((line, 1), |times| (key, times)),
        None => (line, 1),
    })
}

fn line(key: &str, times: Option<usize>) -> String {
    times.map_or(key.to_owned(), |times| format!("{key}: {times}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# Why.\none: a -> b\none: b -> a\nx.rs: 3\ny.rs: 2\n";

    fn found(all: &[(&str, Option<usize>)]) -> Found {
        all.iter()
            .map(|(key, times)| ((*key).to_owned(), Finding { times: *times, ..Finding::default() }))
            .collect()
    }

    #[test]
    fn what_is_listed_passes() {
        let same =
            found(&[("one: a -> b", None), ("one: b -> a", None), ("x.rs", Some(3)), ("y.rs", Some(2))]);
        assert_eq!(unlisted(&same, LIST), "");
        assert_eq!(shrunk(&same, LIST), (LIST.to_owned(), Vec::new()));
    }

    #[test]
    fn what_is_new_or_more_is_told_with_its_places() {
        let mut more =
            found(&[("one: a -> b", None), ("one: c -> a", None), ("x.rs", Some(4)), ("z.rs", Some(1))]);
        more.insert("one: d -> a".to_owned(), Finding { drawn_in: true, ..Finding::default() });
        more.get_mut("one: c -> a").unwrap().notes = (1..=7).map(|n| format!("c.rs:{n}")).collect();
        let told = "  one: c -> a\n      c.rs:1\n      c.rs:2\n      c.rs:3\n      c.rs:4\n      c.rs:5\n      and 2 more\n  \
                    x.rs: 4 (listed: 3)\n  z.rs: 1\n  (and 1 more only because of these)\n";
        assert_eq!(unlisted(&more, LIST), told);
    }

    #[test]
    fn a_list_only_shrinks() {
        let other = found(&[("one: b -> a", None), ("x.rs", Some(1)), ("y.rs", Some(5)), ("z.rs", Some(1))]);
        let (kept, gone) = shrunk(&other, LIST);
        assert_eq!(kept, "# Why.\none: b -> a\nx.rs: 1\ny.rs: 2\n");
        assert_eq!(gone, ["one: a -> b", "x.rs: 3   (now 1)"]);
    }

    #[test]
    fn a_list_is_written_only_when_that_was_asked_for() {
        const RULE: Rule = Rule { file: "list.txt", fault: "fault", remedy: "Do this." };
        let dir = std::env::temp_dir().join(format!("xtask-list-{}", std::process::id()));
        let file = dir.join("xtask/allowed/list.txt");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "gone\nstays\n").unwrap();
        let there = found(&[("stays", None)]);
        let checked = compare(&dir, &RULE, &there, Lists::Check);
        let unchanged = fs::read_to_string(&file).unwrap();
        let shrunk = compare(&dir, &RULE, &there, Lists::Shrink);
        let after = fs::read_to_string(&file).unwrap();
        let new = compare(&dir, &RULE, &found(&[("stays", None), ("new", None)]), Lists::Shrink);
        fs::remove_dir_all(&dir).unwrap();
        assert!(checked.unwrap_err().contains("`cargo xtask lint --write` takes it out\n  gone\n"));
        assert_eq!((unchanged.as_str(), shrunk, after.as_str()), ("gone\nstays\n", Ok(()), "stays\n"));
        assert_eq!(
            new.unwrap_err(),
            "fault:\n  new\n  Do this.\n  (xtask/allowed/list.txt lists what was there before.)"
        );
    }
}
