//! The sentence that says what an iteration did (C4, C7): of a closing message its first, of a log its end.

use super::message::plain;
use crate::text::TRUNCATED;

/// What stands alone on a line and says nothing about what was done.
const LABELS: [&str; 20] = [
    "all done",
    "all set",
    "changes",
    "changes made",
    "complete",
    "completed",
    "done",
    "finished",
    "here is what i did",
    "okay",
    "overview",
    "result",
    "results",
    "summary",
    "summary of changes",
    "task complete",
    "task completed",
    "the task is complete",
    "what changed",
    "what i did",
];
/// A dot behind these ends no sentence.
const ABBREVIATIONS: [&str; 9] = ["e.g", "i.e", "etc", "vs", "cf", "approx", "incl", "resp", "no"];
/// More lines than this without a blank one are no paragraph of prose.
const PARAGRAPH_LINES: usize = 4;

/// What a summary says first of what was done; none where it says nothing.
pub(super) fn first_sentence(summary: &str) -> Option<String> {
    sentences(summary).into_iter().next()
}

/// That sentence, and what comes after it: the rest of its line, then line by line.
pub(super) fn sentences(summary: &str) -> Vec<String> {
    let lines: Vec<String> = closing_words(summary).filter_map(plain).collect();
    let start = lines.iter().position(|line| !is_label(line)).unwrap_or(0);
    let mut out = Vec::new();
    for line in &lines[start.min(lines.len())..] {
        if out.is_empty() {
            let (first, rest) = split(line);
            out.push(without_stop(first).to_owned());
            out.extend((!rest.is_empty()).then(|| rest.to_owned()));
        } else {
            out.push(line.clone());
        }
    }
    out
}

/// The lines in which it says what it did. What a program logs on the way comes before them.
fn closing_words(summary: &str) -> impl Iterator<Item = &str> {
    let says_something = |part: &str| part.lines().any(|line| plain(line).is_some());
    let mut rest = summary.trim();
    if let Some(end) = rest.strip_prefix(TRUNCATED) {
        rest = last_prose(end.trim());
    }
    let mut behind = rest;
    while let Some(logged) = behind.lines().position(is_logged) {
        let at: usize = behind.split_inclusive('\n').take(logged + 1).map(str::len).sum();
        behind = &behind[at..];
    }
    if says_something(behind) {
        return behind.lines();
    }
    // All of it is a log: its last line is the newest.
    rest.lines().rfind(|line| plain(line).is_some()).unwrap_or_default().lines()
}

/// Of output whose beginning is cut off, the paragraphs of prose at its end; of one that is no prose the last line.
fn last_prose(text: &str) -> &str {
    let mut from = text.len();
    for paragraph in text.split("\n\n").collect::<Vec<_>>().into_iter().rev() {
        let lines = paragraph.trim().lines().count();
        let ends = paragraph.trim_end().ends_with(['.', '!', '?', ':', '。', '！', '？', '：']);
        let is_last = from == text.len();
        if lines > PARAGRAPH_LINES || !(ends || is_last) {
            break;
        }
        from = from.saturating_sub(paragraph.len() + if is_last { 0 } else { 2 });
    }
    let prose = text[from..].trim();
    if prose.is_empty() { text.lines().next_back().unwrap_or_default() } else { prose }
}

/// `[iter-0] building`, `[INFO] …`, `[12:00:03] …`: a program reports.
fn is_logged(line: &str) -> bool {
    let Some((mark, rest)) = line.trim_start().strip_prefix('[').and_then(|line| line.split_once(']')) else {
        return false;
    };
    // `[x]` is a mark of a list and `[text](address)` a link.
    mark.chars().count() > 1 && !rest.starts_with('(') && rest.starts_with(' ')
}

fn is_label(line: &str) -> bool {
    let bare = line.trim_end_matches(['.', '!', ':', '：', '。', '！', ' ']).to_lowercase();
    line.ends_with([':', '：']) || LABELS.contains(&bare.as_str())
}

/// The first sentence of a line, and the rest. A dot inside of a word (`v1.2`, `foo.rs`) ends none.
fn split(line: &str) -> (&str, &str) {
    for (at, c) in line.char_indices() {
        let after = &line[at + c.len_utf8()..];
        let next = after.trim_start();
        let ends = match c {
            '。' | '！' | '？' => !next.is_empty(),
            '.' | '!' | '?' => {
                let word = line[..at].rsplit(char::is_whitespace).next().unwrap_or_default();
                let word = word.trim_start_matches(['(', '"', '\'']).to_lowercase();
                after.starts_with(char::is_whitespace)
                    && next.chars().next().is_some_and(|c| !c.is_lowercase())
                    && !(c == '.' && ABBREVIATIONS.contains(&word.as_str()))
            }
            _ => false,
        };
        if ends {
            return (&line[..at + c.len_utf8()], next.trim_end());
        }
    }
    (line, "")
}

/// Without the full stop at its end; `…` and `...` stay.
fn without_stop(sentence: &str) -> &str {
    match sentence.strip_suffix(['.', '。']) {
        Some(bare) if !bare.ends_with('.') && !bare.is_empty() => bare,
        _ => sentence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c4_the_first_real_sentence_is_found() {
        for (summary, sentence) in [
            ("Bump to v1.2 in foo.rs. Tests pass.", "Bump to v1.2 in foo.rs"),
            ("Support e.g. YAML. And JSON.", "Support e.g. YAML"),
            ("Fix the parser.", "Fix the parser"),
            ("Waiting...", "Waiting..."),
            ("Use foo. bar stays.", "Use foo. bar stays"),
            ("## Summary\n\nFixed the parser. Tests pass.", "Fixed the parser"),
            ("Done!\n\n**Changes:**\n- Fixed the parser", "Fixed the parser"),
            ("Here is what I did:\n\n1. Added login\n2. Added logout", "Added login"),
            ("[iter-0] Fixed the parser", "Fixed the parser"),
            ("> **Fixed** the `parser`", "Fixed the `parser`"),
            ("`foo.rs` parses now", "foo.rs parses now"),
            ("--until is refused when empty", "--until is refused when empty"),
            ("修复了解析器。新增测试。", "修复了解析器"),
            ("Done.", "Done"),
            ("## Fixed the parser\n\nMore.", "Fixed the parser"),
            ("- [x] Add login", "Add login"),
        ] {
            assert_eq!(first_sentence(summary).as_deref(), Some(sentence), "{summary}");
        }
        assert_eq!(first_sentence("***\n---\n"), None);
        assert_eq!(first_sentence(""), None);
    }

    #[test]
    fn c5_of_a_log_the_end_says_what_was_done() {
        assert_eq!(
            sentences(
                "[iter-0] building step 1\n[iter-0] building step 2\nFixed the bug. Tests pass.\nAll of them."
            ),
            ["Fixed the bug", "Tests pass.", "All of them."]
        );
        let cut = format!("{TRUNCATED}\nstep 8\nstep 9\n\nFixed the bug\n");
        assert_eq!(sentences(&cut), ["Fixed the bug"]);
        let prose = format!("{TRUNCATED}\nstep 8\nstep 9\n\nFixed the bug.\n\nTests pass.");
        assert_eq!(sentences(&prose), ["Fixed the bug", "Tests pass."]);
        let one_paragraph = format!("{TRUNCATED}\n{}Fixed the bug\n", "compiling\n".repeat(50));
        assert_eq!(sentences(&one_paragraph), ["Fixed the bug"]);
        assert_eq!(sentences("[INFO] one\n[INFO] two"), ["[INFO] two"]);
    }
}
