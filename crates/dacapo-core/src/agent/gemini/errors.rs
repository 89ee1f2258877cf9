//! What `gemini` says when a model call failed: a sentence, often with the endpoint's own JSON inside.

use jiff::Timestamp;
use serde::Deserialize;

use crate::agent::api_error::Cause;
use crate::agent::excerpt::one_line;
use crate::agent::fields::{Count, Excerpt, List, Object, Text};
use crate::agent::reset_time;
use crate::event::{AgentEvent, LogIn};

/// What it adds to the message of an error whose status is 429, depending on how it is logged in.
const ADDED_TO_429: [&str; 2] = [
    "\nPlease wait and try again later. To increase your limits",
    "\nPossible quota limitations in place or slow response times detected",
];

/// So deep is one answer wrapped into the message of another.
const DEEPEST: usize = 3;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    error: Object<ApiError>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ApiError {
    code: Count,
    status: Text,
    message: Excerpt,
    details: List<Object<Detail>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Detail {
    retry_delay: Text,
    reason: Text,
}

/// The failure that a final `result` tells of. `now` is its own time.
pub(super) fn failure(message: &str, now: Option<Timestamp>) -> AgentEvent {
    let (said, added) = unwrapped(message);
    let wait_in = |words: &str| reset_time::wait_in_words(words, now?);
    let Some(error) = said.find('{').and_then(|at| endpoint_error(&said[at..])) else {
        let cause = if added { Cause::Limit } else { Cause::Passing };
        return cause.event(&one_line(said), wait_in(said), &LogIn::of("gemini"));
    };
    let status = match error.status.as_str() {
        "RESOURCE_EXHAUSTED" => Some(429),
        _ => error.code.status().or(added.then_some(429)),
    };
    let words = error.message.0.as_deref().unwrap_or(said);
    let mut details = error.details.0.iter().map(|detail| &detail.0);
    let cause = match details.clone().any(|detail| detail.reason.as_str() == "API_KEY_INVALID") {
        true => Cause::Login,
        false => Cause::of(status, words),
    };
    let told = details.find_map(|detail| reset_time::after(now?, detail.retry_delay.as_str()));
    cause.event(&one_line(words), told.or_else(|| wait_in(words)), &LogIn::of("gemini"))
}

/// What an error says to people: the endpoint's own words, where they are inside.
pub(super) fn words(error: &str) -> String {
    let inside =
        error.find('{').and_then(|at| endpoint_error(&error[at..])).and_then(|found| found.message.0);
    one_line(inside.as_deref().unwrap_or(error))
}

/// The words inside of `[API Error: …]`, and whether it was a 429 by what follows them.
fn unwrapped(message: &str) -> (&str, bool) {
    let added = ADDED_TO_429.iter().find_map(|added| message.rfind(added));
    let said = message[..added.unwrap_or(message.len())].trim();
    let inner = said.strip_prefix("[API Error: ").map_or(said, |said| said.strip_suffix(']').unwrap_or(said));
    (inner, added.is_some())
}

/// The innermost error of an answer that begins here; its message may be an answer again.
fn endpoint_error(text: &str) -> Option<ApiError> {
    let mut found: Option<ApiError> = None;
    let mut text = text.to_owned();
    for _ in 0..DEEPEST {
        let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Answer>();
        let Some(Ok(Answer { error: Object(error) })) = values.next() else { break };
        if error.code.0.is_none() && error.message.0.is_none() {
            break;
        }
        let inner = error.message.0.clone().unwrap_or_default();
        found = Some(error);
        if !inner.trim_start().starts_with('{') {
            break;
        }
        text = inner;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{FailureKind, Fault};

    const NOW: &str = "2026-11-15T18:50:05Z";

    fn failed(message: &str) -> AgentEvent {
        failure(message, NOW.parse().ok())
    }

    fn limit(message: &str, resets_at: Option<&str>) -> AgentEvent {
        AgentEvent::Limit { message: message.into(), resets_at: resets_at.map(|at| at.parse().unwrap()) }
    }

    fn permanent(message: &str) -> AgentEvent {
        AgentEvent::Error { failure: FailureKind::Permanent, fault: message.into() }
    }

    #[test]
    fn l9_a_limit_is_known_with_its_time() {
        let added = "\nPlease wait and try again later. To increase your limits, request a quota increase";
        let quota = failed(&format!("[API Error: no quota\nSuggested retry after 3600s.]{added}"));
        assert_eq!(quota, limit("no quota Suggested retry after 3600s.", Some("2026-11-15T19:50:05Z")));
        let daily =
            failed(&format!("[API Error: You have exhausted your daily quota on this model.]{added}"));
        assert_eq!(daily, limit("You have exhausted your daily quota on this model.", None));
        let plan = "[API Error: Your quota will reset after 18h24m9s.]\nPossible quota limitations in place or slow \
                    response times detected. Switching to the gemini-2.5-flash model for the rest of this session.";
        let expected = limit("Your quota will reset after 18h24m9s.", Some("2026-11-16T13:14:14Z"));
        assert_eq!(failed(plan), expected);
        let info = r#"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"40.5s"}"#;
        let json = format!(
            r#"[API Error: {{"error":{{"details":[{{}},{info}],"status":"RESOURCE_EXHAUSTED","message":"slow down"}}}}]"#
        );
        assert_eq!(failed(&json), limit("slow down", Some("2026-11-15T18:50:45.5Z")));
    }

    #[test]
    fn l9_words_about_limits_are_no_limit() {
        let talk = "[API Error: the page says: rate limit, please wait, error 429, retry in 5s]";
        let said = "the page says: rate limit, please wait, error 429, retry in 5s";
        let transient = AgentEvent::Error { failure: FailureKind::Transient, fault: said.into() };
        assert_eq!(failed(talk), transient);
    }

    #[test]
    fn l8_a_refused_key_says_how_to_log_in() {
        let invalid = r#"[API Error: {"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]"#;
        let fault = Fault::not_logged_in("API key not valid.", Some(LogIn::of("gemini")));
        assert_eq!(failed(invalid), AgentEvent::Error { failure: FailureKind::Permanent, fault });
        let other = r#"[API Error: {"error":{"code":400,"message":"bad tool","status":"INVALID_ARGUMENT"}}]"#;
        assert_eq!(failed(other), permanent("bad tool"));
    }

    #[test]
    fn an_answer_inside_of_an_answer_is_found() {
        let inner = r#"{\n  \"error\": {\n \"code\": 404, \"message\": \"models/x is not found\"\n}}"#;
        let outer =
            format!(r#"[API Error: {{"error":{{"message":"{inner}","code":404,"status":"Not Found"}}}}]"#);
        assert_eq!(failed(&outer), permanent("models/x is not found"));
    }

    #[test]
    fn odd_messages_are_transient_errors() {
        for odd in ["", "{", "[API Error: {]", "[API Error: {\"error\":5}]", "]", "\u{1f4a1}{\"error\":{}}"] {
            let event = failed(odd);
            assert!(
                matches!(event, AgentEvent::Error { failure: FailureKind::Transient, .. }),
                "{odd}: {event:?}"
            );
        }
    }
}
