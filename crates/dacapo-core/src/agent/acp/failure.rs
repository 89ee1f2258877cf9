//! What an error means for the loop: by its structured fields first, by its words only where there are none, and only
//! where it is known to be an error.

use jiff::Zoned;

use super::wire::{CodexError, RpcError};
use crate::agent::api_error::{Cause, speaks_of_limit};
use crate::agent::excerpt::line_of;
use crate::agent::reset_time;
use crate::event::{AgentEvent, FailureKind, Fault, LogIn};

/// The protocol's own code for "log in first".
const AUTH_REQUIRED: i64 = -32000;
/// Nobody reads more of an error.
const LONGEST: usize = 500;

/// What the words of an error are read with.
#[derive(Debug, Clone)]
pub(super) struct Circumstances<'a> {
    pub(super) login: &'a LogIn,
    /// About when the words were written.
    pub(super) now: Zoned,
}

/// The agent wants somebody to log in first.
pub(super) fn wants_login(error: &RpcError) -> bool {
    error.code == Some(AUTH_REQUIRED)
}

/// What it says about the error.
pub(super) fn words(error: &RpcError) -> String {
    let told = error.message.as_deref().unwrap_or("no reason given");
    match error.data.as_ref().and_then(|data| data.details.as_deref()) {
        Some(details) => line_of(&format!("{told}: {details}"), LONGEST),
        None => line_of(inner_message(told).as_deref().unwrap_or(told), LONGEST),
    }
}

impl Circumstances<'_> {
    /// The meaning of an answer that is an error.
    pub(super) fn of_error(&self, error: &RpcError) -> AgentEvent {
        let data = error.data.as_ref();
        let message = words(error);
        if wants_login(error) {
            return self.event(Cause::Login, &message);
        }
        let kind = data.and_then(|data| data.error_kind.as_deref().or(data.error_name.as_deref()));
        if let Some(cause) = kind.and_then(of_kind) {
            return self.event(cause, &message);
        }
        // Some put the HTTP status where the protocol's own code belongs.
        let as_code = error.code.and_then(|code| u16::try_from(code).ok()).filter(|code| is_status(*code));
        let told = || status_in(error.message.as_deref().unwrap_or_default());
        let status = data.and_then(|data| data.status).or(as_code).or_else(told);
        self.event(of_status_or_words(status, &message), &message)
    }

    /// The state of codex after an error that it gave up on.
    pub(super) fn of_codex(&self, error: Option<&CodexError>, said: &str) -> AgentEvent {
        let told = error.and_then(|error| error.additional_details.as_deref().or(error.message.as_deref()));
        let words = if said.trim().is_empty() { told.unwrap_or("codex gave no reason") } else { said };
        let message = line_of(words, LONGEST);
        let info = error.and_then(|error| error.codex_error_info.as_ref());
        let kind = info.and_then(|info| info.as_str().map(str::to_owned).or_else(|| first_key(info)));
        let by_status = || Cause::of(error.and_then(codex_status).or_else(|| status_in(words)), &message);
        let cause = kind.and_then(|kind| of_kind(&kind)).unwrap_or_else(by_status);
        self.event(cause, &message)
    }

    /// The meaning of a report of failure that stands in place of an answer.
    pub(super) fn of_report(&self, all_it_said: &str) -> AgentEvent {
        let text = all_it_said.trim();
        let words = OWN_WORDS_FOR_FAILURE.iter().find_map(|words| text.strip_prefix(words)).unwrap_or(text);
        let message = line_of(words, LONGEST);
        self.event(of_status_or_words(status_in(words), &message), &message)
    }

    fn event(&self, cause: Cause, message: &str) -> AgentEvent {
        cause.event(message, reset_time::in_words(message, &self.now), self.login)
    }
}

/// The meaning of what is known to be an error: by its words where nothing else tells.
fn of_status_or_words(status: Option<u16>, message: &str) -> Cause {
    let lower = message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if let Some(status) = status {
        Cause::of_status(status, message)
    } else if says(&["insufficient_quota", "billing", "credit balance", "insufficient credit"]) {
        // The first is a limit by its name alone: more money would help, more time will not.
        Cause::Billing
    } else if speaks_of_limit(message) {
        Cause::Limit
    } else if says(&["unauthorized", "authentication", "api key", "api_key", "not logged in", "log in"]) {
        Cause::Login
    } else {
        Cause::Passing
    }
}

fn of_kind(kind: &str) -> Option<Cause> {
    let lower = kind.to_lowercase().replace('_', "");
    if lower.contains("ratelimit") || lower.contains("usagelimit") {
        Some(Cause::Limit)
    } else if lower.contains("auth") {
        Some(Cause::Login)
    } else if lower.contains("billing") || lower.contains("credit") {
        Some(Cause::Billing)
    } else {
        None
    }
}

fn first_key(value: &serde_json::Value) -> Option<String> {
    value.as_object()?.keys().next().cloned()
}

/// The status in an error of codex, wherever its kind keeps it.
pub(super) fn codex_status(error: &CodexError) -> Option<u16> {
    let kinds = error.codex_error_info.as_ref()?.as_object()?;
    kinds.values().find_map(|kind| u16::try_from(kind.get("httpStatusCode")?.as_u64()?).ok())
}

pub(super) fn transient(fault: Fault) -> AgentEvent {
    AgentEvent::Error { failure: FailureKind::Transient, fault }
}

fn is_status(number: u16) -> bool {
    (400..600).contains(&number)
}

/// The answer of a model server that was passed on as it is.
fn inner_message(text: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(text.get(text.find('{')?..)?).ok()?;
    let message = value.pointer("/error/message").or_else(|| value.get("message"))?;
    message.as_str().map(str::to_owned)
}

/// An HTTP status that stands by itself in the words of an error.
fn status_in(text: &str) -> Option<u16> {
    text.split(|c: char| !c.is_alphanumeric() && c != '.')
        .filter(|word| word.len() == 3)
        .find_map(|word| word.parse().ok().filter(|number| is_status(*number)))
}

/// What agents that answer every prompt with `end_turn` write in place of an answer.
const OWN_WORDS_FOR_FAILURE: [&str; 2] = ["Error: ", "Ran into this error: "];
const OWN_LAST_WORDS: &str = "Please resend your message to try again.";

/// Whether this, being all that the agent said, is the report of a failure and no answer.
pub(super) fn is_report_of_failure(all_it_said: &str) -> bool {
    let text = all_it_said.trim();
    OWN_WORDS_FOR_FAILURE.iter().any(|words| text.starts_with(words)) || text.ends_with(OWN_LAST_WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Fault;

    fn meaning(event: &AgentEvent) -> &'static str {
        match event {
            AgentEvent::Limit { .. } => "limit",
            AgentEvent::Error { failure: FailureKind::Permanent, .. } => "permanent",
            AgentEvent::Error { failure: FailureKind::Transient, .. } => "transient",
            _ => "?",
        }
    }

    fn with<T>(ask: impl FnOnce(Circumstances<'_>) -> T) -> T {
        let now = "2026-11-15T14:00:00[UTC]".parse().unwrap();
        ask(Circumstances { login: &LogIn::of("x"), now })
    }

    fn error(json: &str) -> AgentEvent {
        with(|around| around.of_error(&serde_json::from_str(json).unwrap()))
    }

    #[test]
    fn structured_fields_come_before_words() {
        for (json, expected) in [
            (r#"{"code":-32000,"message":"Authentication required"}"#, "permanent"),
            (r#"{"code":-32603,"message":"x","data":{"errorKind":"rate_limit"}}"#, "limit"),
            (
                r#"{"code":-32603,"message":"429 of something","data":{"errorKind":"billing_error"}}"#,
                "permanent",
            ),
            (r#"{"code":-32603,"message":"boo","data":{"errorName":"ProviderAuthError"}}"#, "permanent"),
            (r#"{"code":429,"message":"mock says 429"}"#, "limit"),
            (r#"{"code":500,"message":"rate limit"}"#, "transient"),
            (r#"{"code":-32603,"message":"boo","data":{"statusCode":503}}"#, "transient"),
            (r#"{"code":-32603,"message":"Internal error: 404 no such model"}"#, "permanent"),
            (r#"{"code":-32603,"message":"Too Many Requests"}"#, "limit"),
            (r#"{"code":-32603,"message":"the line at 4290 broke"}"#, "transient"),
            (r#"{"code":"x","message":{}}"#, "transient"),
            ("{}", "transient"),
        ] {
            assert_eq!(meaning(&error(json)), expected, "{json}");
        }
    }

    #[test]
    fn the_words_of_a_model_server_are_taken_out_of_their_wrapping() {
        let json = r#"{"code":401,"message":"{\"error\":{\"code\":401,\"message\":\"bad key\"}}"}"#;
        let AgentEvent::Error { fault, .. } = error(json) else { panic!() };
        assert_eq!(fault, Fault::not_logged_in("bad key", Some(LogIn::of("x"))));
    }

    #[test]
    fn a_report_of_failure_begins_in_known_words() {
        assert!(is_report_of_failure("Error: Authentication failed (HTTP 401).\n"));
        assert!(is_report_of_failure("Ran into this error: Rate limit exceeded."));
        assert!(!is_report_of_failure("I fixed the Error: it was a typo."));
        assert!(!is_report_of_failure("The API answers 429 when its rate limit is hit."));
        let report = |text: &str| with(|around| around.of_report(text));
        assert_eq!(meaning(&report("Error: failed (HTTP 401). Check your key")), "permanent");
        assert_eq!(meaning(&report("Error: retried 5 times Last error: 429 mock")), "limit");
        assert_eq!(meaning(&report("Error: connection refused")), "transient");
    }

    #[test]
    fn l9_the_end_of_a_limit_is_taken_from_its_words() {
        let json = r#"{"code":429,"message":"You have used it up. Please retry in 90s."}"#;
        let AgentEvent::Limit { resets_at, .. } = error(json) else { panic!() };
        assert_eq!(resets_at, Some("2026-11-15T14:01:30Z".parse().unwrap()));
    }
}
