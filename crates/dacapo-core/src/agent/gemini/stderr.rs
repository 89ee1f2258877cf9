//! What `gemini` writes to standard error: noise, why it could not start, and each model call that it tries again.

use super::errors;
use crate::agent::excerpt::{beginning, one_line};
use crate::event::AgentEvent;

/// Lines that are there whatever happens.
const NOISE: [&str; 7] = [
    "YOLO mode is enabled",
    "Warning: ",
    "Ripgrep is not available",
    "[STARTUP]",
    "Approval mode overridden",
    "Loaded cached credentials",
    "(node:",
];

/// What it says between the number of the attempt and the error.
const RETRYING: &str = " Retrying with backoff... ";

/// How much of a line is read: its beginning tells enough.
const ENOUGH: usize = 1_000;

/// The first line that says something, without colours.
pub(super) fn first_words(stderr: &str) -> String {
    let plain = stderr.lines().map(|line| one_line(&without_colours(beginning(line, ENOUGH))));
    let mut told =
        plain.filter(|line| !line.is_empty() && !NOISE.iter().any(|noise| line.starts_with(noise)));
    told.next().unwrap_or_else(|| "it did not say why".into())
}

fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..at]);
        let sequence = &rest[at + 2..];
        let end = sequence.find(|c: char| c.is_ascii_alphabetic()).map_or(sequence.len(), |end| end + 1);
        rest = &sequence[end..];
    }
    plain + rest
}

/// Finds the model calls that it tries again: "Attempt 3 failed with status 429. Retrying with backoff... …", "Attempt 1 failed: …. Retrying after 5123ms..."
pub(super) fn retry_note(line: &[u8], sink: &mut dyn FnMut(AgentEvent)) {
    let line = String::from_utf8_lossy(&line[..line.len().min(ENOUGH)]);
    let Some(failed) = line.strip_prefix("Attempt ").and_then(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest[digits..].strip_prefix(" failed").filter(|_| digits > 0)
    }) else {
        return;
    };
    if failed.contains("Max attempts reached") {
        return;
    }
    let status = failed.strip_prefix(" with status ").and_then(|rest| rest.get(..3)?.parse().ok());
    // It tries nothing again that is refused for good, so another number is not from it.
    let status = status.filter(|status| matches!(status, 408 | 429 | 499 | 500..=599));
    let said = failed.split_once(RETRYING).map_or(failed, |(_, said)| said).trim_start_matches([':', ' ']);
    let message = errors::words(said);
    sink(AgentEvent::Retry {
        message: status.map_or(message.clone(), |status| format!("{status}: {message}")),
        status,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(stderr: &str) -> Vec<AgentEvent> {
        let mut seen = Vec::new();
        stderr.lines().for_each(|line| retry_note(line.as_bytes(), &mut |event| seen.push(event)));
        seen
    }

    #[test]
    fn l12_each_new_attempt_is_heard() {
        let stderr = "YOLO mode is enabled.\n\
            Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {\"error\":{\"message\":\"mock says 429\"}}\n\
            \u{20}   at throwErrorIfNotOK\n\
            Attempt 2 failed. Retrying with backoff... Error: exception TypeError: fetch failed sending request\n\
            Attempt 3 failed: slow down. Retrying after 5123ms...\n\
            Attempt 4 failed with status 401. Retrying with backoff... (a test prints this)\n\
            Attempt 10 failed: slow down. Max attempts reached\n\
            Attempt x failed\nAttempt  failed\nAttempt 1";
        let retry = |message: &str, status| AgentEvent::Retry { message: message.into(), status };
        let expected = [
            retry("429: mock says 429", Some(429)),
            retry("Error: exception TypeError: fetch failed sending request", None),
            retry("slow down. Retrying after 5123ms...", None),
            retry("(a test prints this)", None),
        ];
        assert_eq!(notes(stderr), expected);
    }

    #[test]
    fn what_it_says_is_found_among_the_noise() {
        let stderr = "YOLO mode is enabled. All tool calls will be automatically approved.\n\
            \u{1b}[31mGemini CLI is not running in a trusted directory.\u{1b}[0m\n";
        assert_eq!(first_words(stderr), "Gemini CLI is not running in a trusted directory.");
        assert_eq!(first_words("\n\u{1b}["), "it did not say why");
    }
}
