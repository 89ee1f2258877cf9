//! As much of a text as events and people need of it; all of it is in the raw file.

/// How much of a tool's output, of a thought or of an error goes into an event.
pub(super) const EXCERPT: usize = 2_000;

/// How much of a command, a path or an error stands in a line.
pub(super) const SUMMARY: usize = 200;

/// The beginning of a text, cut between characters.
pub(super) fn beginning(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// One line of a text, for people.
pub(super) fn one_line(text: &str) -> String {
    line_of(text, SUMMARY)
}

/// On one line: white space and control characters are one blank, and `…` stands for what was cut.
pub(super) fn line_of(text: &str, most: usize) -> String {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(beginning(word, most + 4));
        if line.len() > most {
            line.truncate(beginning(&line, most).len());
            line.push('…');
            break;
        }
    }
    line
}

/// What an error says, at a length for people.
pub(super) fn message(text: &str) -> String {
    beginning(text.trim(), EXCERPT).to_owned()
}

/// The last line of what an agent wrote to standard error, warnings aside: those are no reason to end.
pub(super) fn last_words(stderr: &str) -> Option<String> {
    let mut lines = stderr.lines().rev().map(str::trim);
    let last = lines.find(|line| !line.is_empty() && !line.starts_with("Warning"))?;
    Some(message(last.strip_prefix("Error: ").unwrap_or(last)))
}

/// A tool and what it was to do: `Bash (cargo test)`.
pub(super) fn tool_use(tool: &str, what: &str) -> String {
    match what {
        "" => tool.to_owned(),
        what => format!("{tool} ({what})"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_for_people_is_one_line() {
        assert_eq!(line_of(" a\n\tb  c ", 10), "a b c");
        assert_eq!(line_of("cargo test --workspace", 12), "cargo test -…");
        assert_eq!(line_of(&"繼".repeat(50), 5), "繼…");
        assert_eq!(line_of("", 5), "");
        assert_eq!(line_of("\u{1b}[31mred\u{7}", 20), "[31mred");
        assert_eq!(one_line(&"x".repeat(1000)), format!("{}…", "x".repeat(200)));
        assert_eq!(one_line(&" ".repeat(1000)), "");
    }

    #[test]
    fn l8_the_last_words_are_no_warning() {
        let stderr = "Error: no such file\nWarning: old node\n\n";
        assert_eq!(last_words(stderr).as_deref(), Some("no such file"));
        assert_eq!(last_words("\nWarning: x\n"), None);
    }

    proptest! {
        #[test]
        fn r3_a_line_is_bounded_and_cut_between_characters(text in "(\\PC|[\n\t\u{1}\u{1f600} ]){0,40}", most in 0_usize..20) {
            let line = line_of(&text, most);
            prop_assert!(line.len() <= most + '…'.len_utf8());
            prop_assert!(!line.contains(char::is_control));
            let whole = line_of(&text, usize::MAX - 4);
            prop_assert!(whole.starts_with(line.strip_suffix('…').unwrap_or(&line)));
        }
    }
}
