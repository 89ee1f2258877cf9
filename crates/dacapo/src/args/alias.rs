//! What people type for something that is called otherwise: `dacapo spawn --kill NAME` as in the interface, `stop` (S2).

use std::ffi::OsString;

use super::front_door::first_word;

/// Flags of `spawn` that mean another command.
const MEANT: [(&str, &str); 5] = [
    ("--list", "list"),
    ("--status", "status"),
    ("--kill", "kill"),
    ("--drop", "drop"),
    ("--merge", "merge"),
];

/// The same words, with what is meant by them.
pub fn meant(words: Vec<OsString>) -> Vec<OsString> {
    stopped(spawned(words))
}

/// `stop` is a `kill` that asks first.
fn stopped(mut words: Vec<OsString>) -> Vec<OsString> {
    let at = first_word(&words);
    if words.get(at).is_some_and(|word| word == "stop") {
        words.splice(at..=at, ["kill".into(), "--ask".into()]);
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
