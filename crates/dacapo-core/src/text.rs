//! Cutting text without ever splitting a character (C8), and finding the line of an output that tells most.

mod telling;

pub use telling::{failure_line, last_lines, success_line};

/// What stands where something is missing.
pub(crate) const TRUNCATED: &str = "[... truncated for length ...]";

/// At most `bytes` of `text` from its beginning, with a mark where something is missing.
pub fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let keep = bytes.saturating_sub(TRUNCATED.len() + 1);
    format!("{}\n{TRUNCATED}", text[..floor(text, keep)].trim_end())
}

/// At most `bytes` of `text` from its end: whole paragraphs, else whole lines, behind a mark where something is missing.
pub(crate) fn cut_beginning(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let keep = bytes.saturating_sub(TRUNCATED.len() + 1);
    let from = ceil(text, text.len() - keep.min(text.len()));
    let paragraph = text[from..].find("\n\n").map(|at| text[from + at..].trim());
    let end = paragraph.filter(|end| !end.is_empty()).unwrap_or_else(|| tail_lines(text, usize::MAX, keep));
    format!("{TRUNCATED}\n{end}")
}

/// The last whole lines of `text` that fit into `bytes` and `lines`; of one overlong line its end.
pub fn tail_lines(text: &str, lines: usize, bytes: usize) -> &str {
    let text = text.trim_end();
    let mut from = text.len();
    for _ in 0..lines {
        if from == 0 {
            break;
        }
        // Before the newline that ends the line; the text itself ends without one.
        let line_end = if from == text.len() { from } else { from - 1 };
        let line_start = text[..line_end].rfind('\n').map_or(0, |newline| newline + 1);
        if text.len() - line_start > bytes {
            break;
        }
        from = line_start;
    }
    if from == text.len() && !text.is_empty() {
        from = ceil(text, text.len().saturating_sub(bytes));
    }
    &text[from..]
}

/// Cuts the text to at most this many terminal columns, with `…` where something is missing.
pub fn cut_columns(text: &str, columns: usize) -> String {
    use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut width = 0;
    for c in text.chars() {
        let next = width + c.width().unwrap_or(0);
        if next + 1 > columns {
            break;
        }
        width = next;
        kept.push(c);
    }
    // Joined and varied characters are wider or narrower together than one by one.
    while kept.width() + 1 > columns && kept.pop().is_some() {}
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// Characters that are not seen themselves and change what is: they reverse the order of others, hide text or end lines.
/// Joiners (U+200C, U+200D) are parts of words and of emoji, and stay.
pub fn is_deceptive(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Cuts the text to at most this many characters, the last of them `…` where something is missing.
pub fn cut_chars(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some(_) => {
            let mut kept: String = text.chars().take(chars.saturating_sub(1)).collect();
            kept.push('…');
            kept
        }
    }
}

/// The last place at or before `at` where a character begins.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The first place at or behind `at` where a character begins.
pub(crate) fn ceil(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// Without terminal escapes, carriage returns and other control characters.
pub(crate) fn strip_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                Some('[') => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
                Some(']') => while chars.next().is_some_and(|c| c != '\u{7}' && c != '\u{1b}') {},
                _ => {}
            },
            '\r' => out.push('\n'),
            '\n' | '\t' => out.push(c),
            '\u{2028}' | '\u{2029}' => out.push('\n'),
            c if c.is_control() || is_deceptive(c) => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn c8_cutting_never_splits_a_character(text in "\\PC{0,200}", at in 0_usize..300) {
            let short = cut(&text, at);
            prop_assert!(short.len() <= at.max(31) || short == text);
            let end = cut_beginning(&text, at);
            prop_assert!(end.len() <= at.max(31) || end == text);
            prop_assert!(text.trim_end().ends_with(tail_lines(&text, 3, at)));
            let columns = cut_columns(&text, at.max(1));
            prop_assert!(unicode_width::UnicodeWidthStr::width(columns.as_str()) <= at.max(1));
        }
    }

    #[test]
    fn tails_are_whole_lines() {
        assert_eq!(tail_lines("a\nb\nc\n\n", 2, 100), "b\nc");
        assert_eq!(tail_lines("first\nsecond", 9, 8), "second");
        assert_eq!(tail_lines("繼續繼續", 9, 7), "繼續");
        assert_eq!(tail_lines("", 9, 7), "");
    }

    #[test]
    fn columns_are_those_of_the_whole_text() {
        // A candle with the sign that makes it a picture is two columns wide, each by itself one and none.
        assert_eq!(cut_columns("\u{1f56f}\u{fe0f}abcd", 5), "\u{1f56f}\u{fe0f}ab…");
    }
}
