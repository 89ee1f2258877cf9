//! An iteration's summary from the agent's closing message (C5).

use super::closing::closing_words;
use crate::spec::{BYTES_PER_TOKEN, OutputFormat};
use crate::text::{cut, cut_beginning, cut_chars, strip_escapes};

/// Blocks that are not the agent's account of what it did: removed with all they hold.
const NOISE: [&str; 6] =
    ["thinking", "think", "task_context", "system-reminder", "system", "previous_summary"];
/// How much of what a blocked agent asks is kept.
const QUESTION_CHARS: usize = 1000;
/// Tags of which only the words inside stay.
const WRAPPERS: [&str; 4] = ["summary", "result", "answer", "response"];

/// Cleans the agent's closing message. Empty when nothing is left that says something. Of one that is too long the
/// beginning stays, for it says most; but all that a plain-text agent printed is its message, and that one's closing words
/// are at the end.
pub fn summarize(closing: &str, from: OutputFormat, max_tokens: u32, promise: Option<&str>) -> String {
    let text = clean(closing, promise);
    let bytes = max_tokens as usize * BYTES_PER_TOKEN;
    if from == OutputFormat::Text { cut_beginning(&closing_words(&text), bytes) } else { cut(&text, bytes) }
}

/// What a blocked agent asks of a person, on one line.
pub fn question(reason: &str) -> String {
    let words: Vec<String> = clean(reason, None).split_whitespace().map(str::to_owned).collect();
    match words.is_empty() {
        true => "the agent says that it cannot go on, and not why".to_owned(),
        false => cut_chars(&words.join(" "), QUESTION_CHARS),
    }
}

/// Why tests must change, by the agent, on one line; none where it says nothing.
pub fn reason(said: &str) -> Option<String> {
    let words: Vec<String> = clean(said, None).split_whitespace().map(str::to_owned).collect();
    (!words.is_empty()).then(|| cut_chars(&words.join(" "), QUESTION_CHARS))
}

/// Only what was said: no escapes, no blocks of the system's, no progress, and no promise: that is for the loop alone.
/// Empty when nothing is left that says something.
pub(super) fn clean(text: &str, promise: Option<&str>) -> String {
    let mut text = strip_escapes(text);
    for tag in NOISE {
        text = without_block(&text, tag);
    }
    if let Some(promise) = promise.filter(|promise| !promise.is_empty()) {
        text = text.replace(promise, "");
    }
    text = without_block(&text, "promise");
    // Why it is blocked is what there is to say of the turn.
    text = text.replace("<blocked>", "Blocked: ").replace("</blocked>", "");
    text = text.replace("<tests-changed>", "Tests changed: ").replace("</tests-changed>", "");
    for tag in WRAPPERS {
        text = text.replace(&format!("<{tag}>"), "").replace(&format!("</{tag}>"), "");
    }
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !is_progress(line)).collect();
    let mut kept: Vec<&str> = Vec::new();
    for line in lines {
        if !(line.is_empty() && kept.last().is_none_or(|last| last.is_empty())) {
            kept.push(line);
        }
    }
    let text = kept.join("\n");
    let text = text.trim();
    if text.chars().any(char::is_alphanumeric) { text.to_owned() } else { String::new() }
}

/// A spinner, a bar or a percentage says nothing about what was done.
fn is_progress(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty()
        && !line.chars().any(char::is_alphabetic)
        && line.chars().any(|c| "%█▏▎▍▌▋▊▉⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏=>#".contains(c))
}

fn without_block(text: &str, tag: &str) -> String {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(&open) {
        rest = match rest[start..].find(&close) {
            Some(end) => {
                out.push_str(&rest[..start]);
                &rest[start + end + close.len()..]
            }
            // Never closed: only the tags themselves are noise.
            None => break,
        };
    }
    out.push_str(&rest.replace(&open, ""));
    out.replace(&close, "")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn c5_noise_goes_and_words_stay() {
        let closing = "<thinking>hm</thinking>\u{1b}[1mFixed\u{1b}[0m the parser.\r\n\n\n\n[=====>   ] 50%\n<summary>And tests.</summary>\n<promise>COMPLETE</promise>";
        assert_eq!(summarize(closing, OutputFormat::Claude, 500, None), "Fixed the parser.\n\nAnd tests.");
        assert_eq!(summarize("All DONE-42", OutputFormat::Text, 500, Some("DONE-42")), "All");
        assert_eq!(summarize("***", OutputFormat::Text, 500, None), "");
        assert_eq!(summarize("", OutputFormat::Text, 500, None), "");
    }

    #[test]
    fn c5_what_cannot_be_seen_goes() {
        let closing = "Fixed \u{202e}tset\u{202c} the\u{200b} \u{2066}parser\u{2069}\u{feff}.\u{2028}👩\u{200d}💻 नमस्\u{200d}ते";
        assert_eq!(
            summarize(closing, OutputFormat::Claude, 500, None),
            "Fixed tset the parser.\n👩\u{200d}💻 नमस्\u{200d}ते"
        );
    }

    #[test]
    fn c5_an_echoed_context_is_no_summary() {
        assert_eq!(
            summarize("<task_context>\nold\n</task_context>\nNew.", OutputFormat::Text, 500, None),
            "New."
        );
        assert_eq!(summarize("<think>never <think>closed", OutputFormat::Text, 500, None), "never closed");
    }

    #[test]
    fn l18_a_question_is_one_clean_line() {
        assert_eq!(question("\u{1b}[1mWhich key?\u{1b}[0m\n  A or\nB"), "Which key? A or B");
        assert_eq!(question(" \n"), "the agent says that it cannot go on, and not why");
        assert_eq!(question(&"x".repeat(5000)).chars().count(), 1000);
        assert_eq!(
            summarize("<blocked>No key.</blocked>", OutputFormat::Claude, 500, None),
            "Blocked: No key."
        );
    }

    #[test]
    fn c5_of_plain_text_the_last_paragraphs_stay() {
        let log: String = (0..500).map(|n| format!("[iter-0] building step {n}\n")).collect();
        let closing = format!("{log}\nFixed the bug.\n\nTests pass.\n<promise>COMPLETE</promise>\n");
        for tokens in [20, 500] {
            assert_eq!(
                summarize(&closing, OutputFormat::Text, tokens, None),
                "Fixed the bug.\n\nTests pass."
            );
        }
        let said = "Fixed the bug.\n\n".repeat(100);
        let kept = summarize(&said, OutputFormat::Claude, 20, None);
        assert!(
            kept.starts_with("Fixed the bug.") && kept.ends_with("[... truncated for length ...]"),
            "{kept}"
        );
    }

    proptest! {
        #[test]
        fn c5_any_text_is_bounded(text in "\\PC{0,400}", tokens in 10_u32..100) {
            for from in [OutputFormat::Text, OutputFormat::Claude] {
                prop_assert!(summarize(&text, from, tokens, Some("x")).len() <= tokens as usize * 4);
            }
        }
    }
}
