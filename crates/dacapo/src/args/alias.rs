//! What people type for something that is called otherwise: `dacapo spawn --kill NAME` as in the interface, `stop` (S2), and a
//! title behind `--pr` (S12).

use std::ffi::OsString;

use clap::CommandFactory as _;

use super::Cli;
use super::front_door::{Part, first_word, parts};

/// Flags of `spawn` that mean another command.
const MEANT: [(&str, &str); 5] = [
    ("--list", "list"),
    ("--status", "status"),
    ("--kill", "kill"),
    ("--drop", "drop"),
    ("--merge", "merge"),
];

/// The flags of `spawn` that mean another command.
pub fn spawn_flags() -> impl Iterator<Item = &'static str> {
    MEANT.iter().map(|(flag, _)| *flag)
}

/// The same words, with what is meant by them.
pub fn meant(words: Vec<OsString>) -> Vec<OsString> {
    with_title(stopped(spawned(words)))
}

/// `stop` is a `kill` that asks first.
fn stopped(mut words: Vec<OsString>) -> Vec<OsString> {
    let at = first_word(&words);
    if words.get(at).is_some_and(|word| word == "stop") {
        words.splice(at..=at, ["kill".into(), "--ask".into()]);
    }
    words
}

/// `--pr "Add auth" PROMPT`: a text right behind `--pr` is its title, where there is a prompt beside it.
fn with_title(mut words: Vec<OsString>) -> Vec<OsString> {
    if !words.iter().any(|word| word == "--pr") {
        return words;
    }
    let first = first_word(&words);
    let is_text = |word: &OsString| word.to_string_lossy().contains(char::is_whitespace);
    let begin = match words.get(first) {
        Some(word) if ["spawn", "exec", "run"].iter().any(|command| word == command) => first + 1,
        Some(word) if is_text(word) || word.as_encoded_bytes().starts_with(b"-") => first,
        _ => return words,
    };
    let parts = parts(&Cli::command(), &words[begin..]);
    let texts = parts.iter().filter(|part| **part == Part::Text).count();
    let title = (0..parts.len().saturating_sub(1)).find(|&at| {
        let (flag, title) = (&words[begin + at], &words[begin + at + 1]);
        flag == "--pr" && parts[at] == Part::Flag && parts[at + 1] == Part::Text && is_text(title)
    });
    if let Some(at) = title.filter(|_| texts > 1) {
        words[begin + at] = "--pr-title".into();
    }
    words
}

/// The command that `spawn --list` and the like stand for. Only the first word after `spawn` counts: what comes later belongs to
/// a task that is to be started.
fn spawned(mut words: Vec<OsString>) -> Vec<OsString> {
    let Some(at) = place_of_spawn(&words) else { return words };
    let Some(flag) = words.get(at + 1).and_then(|word| word.to_str()) else { return words };
    let (flag, value) = match flag.split_once('=') {
        Some((flag, value)) => (flag, Some(OsString::from(value))),
        None => (flag, None),
    };
    let Some((_, command)) = MEANT.iter().find(|(alias, _)| *alias == flag) else { return words };
    words.splice(at..=at + 1, std::iter::once(OsString::from(command)).chain(value));
    words
}

/// `spawn`, behind nothing but flags that go before every command.
fn place_of_spawn(words: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at).and_then(|word| word.to_str()) {
        match word {
            "spawn" => return Some(at),
            "-C" | "--directory" | "--color" => at += 2,
            flag if flag.starts_with('-') => at += 1,
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &str) -> Vec<OsString> {
        line.split('|').map(OsString::from).collect()
    }

    fn said(line: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        meant(words).into_iter().map(|word| word.into_string().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn s2_the_words_of_the_interface_work_on_the_command_line() {
        assert_eq!(said("dacapo spawn --list"), "dacapo list");
        assert_eq!(said("dacapo spawn --list --all"), "dacapo list --all");
        assert_eq!(said("dacapo -C x spawn --kill a"), "dacapo -C x kill a");
        assert_eq!(said("dacapo spawn --status=a --json"), "dacapo status a --json");
        assert_eq!(said("dacapo spawn --merge a,b keep both"), "dacapo merge a,b keep both");
    }

    #[test]
    fn s2_stop_asks() {
        assert_eq!(said("dacapo -C x stop a --json"), "dacapo -C x kill --ask a --json");
        assert_eq!(said("dacapo status stop"), "dacapo status stop");
    }

    #[test]
    fn s12_a_text_behind_pr_is_its_title_where_a_prompt_is_beside_it() {
        for (line, expected) in [
            ("dacapo|spawn|--pr|Add auth|fix|it", "dacapo|spawn|--pr-title|Add auth|fix|it"),
            ("dacapo|run|--iter|3|--pr|Add auth|fix it", "dacapo|run|--iter|3|--pr-title|Add auth|fix it"),
            ("dacapo|--pr|Add auth|fix it", "dacapo|--pr-title|Add auth|fix it"),
            ("dacapo|fix it|--pr|Add auth", "dacapo|fix it|--pr-title|Add auth"),
            ("dacapo|spawn|--pr|Add auth|-q|--|fix", "dacapo|spawn|--pr-title|Add auth|-q|--|fix"),
        ] {
            assert_eq!(typed(expected), meant(typed(line)), "{line}");
        }
        for line in [
            "dacapo|spawn|--pr|Add auth",
            "dacapo|spawn|--pr|Add auth|--iter|3",
            "dacapo|spawn|--pr|Add|auth|fix",
            "dacapo|spawn|--pr=Add auth|fix it",
            "dacapo|spawn|fix|--|--pr|Add auth",
            "dacapo|spawn|--check|--pr|fix it|now",
            "dacapo|--pr|fix it",
            "dacapo|pr|--pr|a b|c",
        ] {
            assert_eq!(typed(line), meant(typed(line)), "{line}");
        }
    }

    #[test]
    fn what_starts_a_task_stays_as_it_is() {
        for line in [
            "dacapo spawn --iter 5 go",
            "dacapo spawn fix --list",
            "dacapo exec --list",
            "dacapo spawn",
            "dacapo",
            "dacapo list spawn --kill a",
        ] {
            assert_eq!(said(line), line);
        }
    }
}
