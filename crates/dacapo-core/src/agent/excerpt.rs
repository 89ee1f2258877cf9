//! The beginning of a text, for events: what an agent's tools print may be large, and is in the raw file anyway.

/// So many bytes of a tool's output are shown.
pub(super) const OUTPUT: usize = 2000;

/// So many bytes of an error's text are kept.
pub(super) const MESSAGE: usize = 2000;

/// So many bytes stand in a line for people.
pub(super) const LINE: usize = 200;

/// At most `most` bytes from the beginning, cut between characters.
pub(super) fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The same on one line: white space of any kind becomes a single blank, and `…` stands for what was cut.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if line.len() + 1 + word.len() > most {
            let room = most.saturating_sub(line.len() + 1);
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(cut(word, room));
            line.push('…');
            return line;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c8_a_cut_never_splits_a_character() {
        let text = "繼續".repeat(10);
        for most in 0..70 {
            let start = cut(&text, most);
            assert!(start.len() <= most && text.starts_with(start));
        }
        assert_eq!(cut("short", 10), "short");
    }

    #[test]
    fn a_line_has_no_line_breaks_and_says_what_is_missing() {
        assert_eq!(one_line(" a\n\tb  c ", 10), "a b c");
        assert_eq!(one_line("cargo test --workspace", 12), "cargo test -…");
        assert_eq!(one_line(&"x".repeat(50), 5), "xxxx…");
        assert_eq!(one_line("", 5), "");
    }
}
