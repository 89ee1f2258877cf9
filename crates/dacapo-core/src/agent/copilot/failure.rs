//! Why a turn of copilot failed: its errors have a type, often a status, and at times the end of a limit.

use jiff::{Timestamp, Zoned};
use serde::Deserialize;

use crate::agent::api_error::Cause;
use crate::agent::fields::{self, Count, Excerpt, Object};
use crate::agent::reset_time;
use crate::event::{AgentEvent, LogIn};

/// `session.error`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct SessionError {
    error_type: Excerpt,
    error_code: Excerpt,
    message: Excerpt,
    status_code: Count,
}

/// `model.call_failure`: one attempt.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CallFailure {
    status_code: Count,
    error_message: Excerpt,
}

/// What a model endpoint says of a limit, in the error that copilot hands on.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EndpointError {
    message: Excerpt,
    resets_at: Count,
    resets_in_seconds: Count,
    error: Object<Box<Inner>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Inner {
    message: Excerpt,
    resets_at: Count,
    resets_in_seconds: Count,
}

impl SessionError {
    fn status(&self) -> Option<u16> {
        self.status_code.status()
    }
}

impl CallFailure {
    pub(super) fn status(&self) -> Option<u16> {
        self.status_code.status()
    }

    pub(super) fn message(&self) -> String {
        let raw = self.error_message.as_str();
        let said = match fields::read::<EndpointError>(raw.as_bytes()) {
            Some(error) => error.error.0.message.some().or(error.message.some()).unwrap_or(raw).to_owned(),
            None => raw.trim_matches('"').to_owned(),
        };
        match self.status() {
            Some(status) if said.is_empty() => format!("status {status}"),
            Some(status) => format!("status {status}: {said}"),
            None => said,
        }
    }

    /// When the endpoint says that its limit ends; `said` is the time of the line.
    pub(super) fn resets_at(&self, said: Option<&Zoned>) -> Option<Timestamp> {
        let error = fields::read::<EndpointError>(self.error_message.as_str().as_bytes())?;
        let inner = error.error.0;
        let at = error.resets_at.0.or(inner.resets_at.0);
        let wait = error.resets_in_seconds.0.or(inner.resets_in_seconds.0);
        at.and_then(|at| reset_time::epoch(at as f64))
            .or_else(|| reset_time::after(said?.timestamp(), &format!("{}s", wait?)))
    }
}

/// The event for an error that ended the turn. `call_resets_at` is what the failed call itself said.
pub(super) fn event(
    error: &SessionError,
    said: Option<&Zoned>,
    call_resets_at: Option<Timestamp>,
) -> AgentEvent {
    let message = error.message.as_str().split_whitespace().collect::<Vec<_>>().join(" ");
    let cause = match error.error_type.as_str() {
        "rate_limit" => Cause::Limit,
        // One of hours ends by itself; one of the month does not within any loop.
        "quota" if error.error_code.as_str().contains("session") => Cause::Limit,
        "quota" => Cause::Billing,
        "authentication" => Cause::Login,
        "authorization" | "policy" => Cause::Setting,
        _ => Cause::of(error.status(), &message),
    };
    let in_words = || said.and_then(|said| reset_time::in_words(&message, said));
    cause.event(&message, call_resets_at.or_else(in_words), &LogIn::of("copilot"))
}
