//! Why a turn of codex failed. Its stream has only a sentence for it, but the sentence is codex's own and always begins
//! the same way; a model's words never stand there.

use jiff::Zoned;
use serde::Deserialize;

use crate::agent::api_error::Cause;
use crate::agent::fields::{self, Excerpt, Object};
use crate::agent::reset_time;
use crate::event::{AgentEvent, AgentFault, FailureKind, LogIn};

/// What the API itself answers, which codex hands on as it is where the request was at fault.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ApiAnswer {
    error: Object<ApiError>,
    detail: Excerpt,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ApiError {
    message: Excerpt,
}

/// The event for the message of a failed turn.
pub(super) fn event(message: &str, now: &Zoned) -> AgentEvent {
    if let Some(status) = status(message) {
        return Cause::of_status(status, message).event(message, None, &LogIn::of("codex"));
    }
    let begins = |start: &str| message.starts_with(start);
    // The apostrophe is a straight one in some versions and a curly one in others.
    if begins("You") && message.contains("ve hit your usage limit") {
        return Cause::Limit.event(message, reset_time::in_words(message, now), &LogIn::of("codex"));
    }
    if begins("Quota exceeded.")
        || begins("Your workspace is out of credits.")
        || begins("You hit your spend cap")
        || begins("To use Codex with your ChatGPT plan, upgrade")
    {
        return Cause::Billing.event(message, None, &LogIn::of("codex"));
    }
    let refresh_failed = begins("Your ") && message.contains("could not be refreshed");
    if refresh_failed || begins("Missing environment variable: ") {
        return Cause::Login.event(message, None, &LogIn::of("codex"));
    }
    if let Some(answer) = fields::read::<ApiAnswer>(message.as_bytes()) {
        let said = answer.error.0.message.some().or(answer.detail.some()).unwrap_or(message);
        let fault = AgentFault::RequestRefused { said: said.to_owned() }.into();
        return AgentEvent::Error { failure: FailureKind::Permanent, fault };
    }
    let cause = if model_is_missing(message) { Cause::Setting } else { Cause::Passing };
    cause.event(message, None, &LogIn::of("codex"))
}

/// What went wrong, without what codex says of its attempts: `Reconnecting... 2/5 (unexpected status …)`.
pub(super) fn cause(message: &str) -> &str {
    let inner = message.strip_prefix("Reconnecting...").and_then(|rest| rest.split_once('('));
    inner.map_or(message, |(_, cause)| cause.strip_suffix(')').unwrap_or(cause))
}

/// The HTTP status that codex names.
pub(super) fn status(message: &str) -> Option<u16> {
    let cause = cause(message);
    let after = cause
        .strip_prefix("unexpected status ")
        .or_else(|| cause.strip_prefix("exceeded retry limit, last status: "))
        .or_else(|| cause.strip_prefix("Access blocked by ")?.split_once("(status ").map(|(_, rest)| rest))?;
    let digits = after.get(..3).filter(|_| !after[3..].starts_with(|next: char| next.is_ascii_digit()))?;
    digits.parse().ok().filter(|status| (100..600).contains(status))
}

/// A model that does not exist is told by the API's own sentence alone.
fn model_is_missing(message: &str) -> bool {
    let lower = message.to_ascii_lowercase();
    lower.contains("model")
        && ["does not exist", "is not supported", "not found"].iter().any(|words| lower.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::FailureKind;

    fn kind(message: &str) -> &'static str {
        let now: Zoned = "2026-11-15T14:03:20[+00:00]".parse().unwrap();
        match event(message, &now) {
            AgentEvent::Error { failure: FailureKind::Permanent, .. } => "permanent",
            AgentEvent::Error { failure: FailureKind::Transient, .. } => "transient",
            AgentEvent::Limit { resets_at: Some(at), .. } if at.to_string() == "2026-11-15T15:06:00Z" => {
                "limit until 15:06"
            }
            AgentEvent::Limit { resets_at: None, .. } => "limit",
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn l8_l9_each_of_codex_own_sentences_means_something() {
        for (message, expected) in [
            ("unexpected status 401 Unauthorized: no, url: http://x/responses", "permanent"),
            ("unexpected status 403 Forbidden: no", "permanent"),
            ("unexpected status 402 Payment Required: no", "permanent"),
            ("unexpected status 503 Service Unavailable: no", "transient"),
            ("exceeded retry limit, last status: 429 Too Many Requests", "limit"),
            ("exceeded retry limit, last status: 500 Internal Server Error", "transient"),
            ("You've hit your usage limit. Try again later.", "limit"),
            ("You’ve hit your usage limit. Upgrade to Pro or try again at 3:05 PM.", "limit until 15:06"),
            (
                "You've hit your usage limit for GPT-X. Switch to another model now, or try again later.",
                "limit",
            ),
            ("Quota exceeded. Check your plan and billing details.", "permanent"),
            ("Your workspace is out of credits. Add credits to continue.", "permanent"),
            (
                "You hit your spend cap set in your workspace. Increase your spend cap to continue.",
                "permanent",
            ),
            ("Missing environment variable: `MOCK_KEY`.", "permanent"),
            ("Your access token could not be refreshed. Please log out and sign in again.", "permanent"),
            ("{\"error\": {\"type\": \"invalid_request_error\", \"message\": \"no\"}}", "permanent"),
            (
                "{\"detail\":\"The 'x' model is not supported when using Codex with a ChatGPT account.\"}",
                "permanent",
            ),
            ("The model `gpt-9` does not exist or you do not have access to it.", "permanent"),
            ("We’re currently experiencing high demand, which may cause temporary errors.", "transient"),
            ("Selected model is at capacity. Please try a different model.", "transient"),
            ("stream disconnected before completion: stream closed before response.completed", "transient"),
            ("Connection failed: error sending request", "transient"),
            ("the tests of the rate limit say: 429, usage limit, quota exceeded", "transient"),
            ("", "transient"),
        ] {
            assert_eq!(kind(message), expected, "{message}");
        }
    }

    #[test]
    fn a_status_is_read_where_codex_puts_it_and_nowhere_else() {
        for (message, expected) in [
            ("Reconnecting... 2/5 (unexpected status 401 Unauthorized: no, url: ws://x)", Some(401)),
            ("Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)", Some(429)),
            ("Access blocked by Cloudflare. This happens (status 403 Forbidden), url: x", Some(403)),
            ("Reconnecting... waiting for network (Connection failed: error sending request)", None),
            ("Reconnecting... 1/5", None),
            ("unexpected status 40", None),
            ("unexpected status 4010 x", None),
            ("unexpected status 4繼1", None),
            ("it said: unexpected status 401 Unauthorized", None),
        ] {
            assert_eq!(status(message), expected, "{message}");
        }
        assert_eq!(cause("Reconnecting... 2/5 (no (really), url: x)"), "no (really), url: x");
        assert_eq!(cause("Reconnecting... 2/5"), "Reconnecting... 2/5");
    }
}
