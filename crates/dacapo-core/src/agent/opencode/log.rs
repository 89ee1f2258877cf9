//! The log of `opencode` on standard error: one line a model call that failed, whether or not it tries again.

use crate::agent::api_error::speaks_of_limit;
use crate::agent::excerpt::{beginning, one_line};
use crate::event::AgentEvent;

/// How much of a line is read: its beginning tells enough.
const ENOUGH: usize = 4_000;

/// Finds the model calls that failed.
pub(super) fn retry_note(line: &[u8], sink: &mut dyn FnMut(AgentEvent)) {
    let line = String::from_utf8_lossy(&line[..line.len().min(ENOUGH)]);
    if !line.starts_with("timestamp=") || !line.contains(" message=\"stream error\" ") {
        return;
    }
    let said = between(&line, " error.error=\"", &['"']).unwrap_or("a model call failed");
    let said = said.strip_prefix("AI_APICallError: ").unwrap_or(said);
    // The log gives the endpoint's words without its status.
    let status = speaks_of_limit(said).then_some(429);
    sink(AgentEvent::Retry { message: one_line(said), status });
}

/// What stands after `before`, up to one of `ends`.
pub(super) fn between<'a>(text: &'a str, before: &str, ends: &[char]) -> Option<&'a str> {
    let from = text.find(before)? + before.len();
    let found = &text[from..];
    let found = &found[..found.find(ends).unwrap_or(found.len())];
    Some(beginning(found, ENOUGH).trim())
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
    fn l12_each_failed_model_call_is_heard() {
        let head = "timestamp=2026-11-15T23:07:31.688Z level=ERROR run=e1f2e9ca message=\"stream error\" providerID=mock";
        let log = format!(
            "{head} error.error=\"AI_APICallError: Cannot connect to API\"\n\
             {head} error.error=\"AI_APICallError: Rate limit reached for x\"\n\
             {head}  \n\
             timestamp=1 level=ERROR message=process error=\"no\"\n\
             a tool prints message=\"stream error\" error.error=\"x\"\n"
        );
        let retry = |message: &str, status| AgentEvent::Retry { message: message.into(), status };
        let expected = [
            retry("Cannot connect to API", None),
            retry("Rate limit reached for x", Some(429)),
            retry("a model call failed", None),
        ];
        assert_eq!(notes(&log), expected);
    }
}
