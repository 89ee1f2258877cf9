//! What `opencode` says when a model call failed for good: the endpoint's status, headers and body.

use jiff::Timestamp;
use serde::Deserialize;

use crate::agent::api_error::Cause;
use crate::agent::excerpt::one_line;
use crate::agent::fields::{Count, Excerpt, Flag, Object, Text};
use crate::agent::reset_time::{after, retry_after};
use crate::event::{AgentEvent, LogIn};

/// What endpoints call an account without money, whatever the status.
const UNPAID: [&str; 5] = [
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_error",
    "insufficient_credits",
    "CreditsError",
];

/// An error line's `error`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Failed {
    name: Text,
    data: Object<Data>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Data {
    message: Excerpt,
    status_code: Count,
    is_retryable: Flag,
    response_headers: Object<Headers>,
    response_body: Excerpt,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Headers {
    retry_after: Text,
    retry_after_ms: Text,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Body {
    r#type: Text,
    error: Object<BodyError>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BodyError {
    r#type: Text,
    code: Text,
}

impl Failed {
    /// It says so, makes the conversation shorter and goes on by itself.
    pub(super) fn is_overflow(&self) -> bool {
        self.name.as_str() == "ContextOverflowError"
    }

    pub(super) fn message(&self) -> String {
        match self.data.0.message.0.as_deref().map(one_line) {
            Some(message) if !message.is_empty() => message,
            _ if self.name.as_str().is_empty() => "it did not say what went wrong".into(),
            _ => self.name.as_str().to_owned(),
        }
    }

    /// `now` is the line's own time.
    pub(super) fn event(&self, now: Option<Timestamp>) -> AgentEvent {
        let data = &self.data.0;
        let message = self.message();
        let status = data.status_code.status();
        let settled = matches!(status, Some(401..=403 | 429));
        let cause = if self.name.as_str() == "ProviderAuthError" {
            Cause::Login
        } else if self.is_unpaid() {
            Cause::Billing
        } else if data.is_retryable.0 == Some(true) && !settled {
            Cause::Passing
        } else {
            Cause::of(status, &message)
        };
        let headers = &data.response_headers.0;
        let in_millis = headers.retry_after_ms.0.as_ref().and_then(|wait| after(now?, &format!("{wait}ms")));
        let resets_at = in_millis.or_else(|| retry_after(now, headers.retry_after.as_str()));
        cause.event(&message, resets_at, &LogIn::of("opencode"))
    }

    fn is_unpaid(&self) -> bool {
        let body = self.data.0.response_body.0.as_deref().unwrap_or_default();
        let Ok(Object(Body { r#type, error: Object(error) })) = serde_json::from_str(body) else {
            return false;
        };
        [&r#type, &error.r#type, &error.code].iter().any(|name| UNPAID.contains(&name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{FailureKind, Fault};

    fn event(json: &str) -> AgentEvent {
        let failed: Failed = serde_json::from_str(json).unwrap();
        failed.event("2026-11-15T18:30:00Z".parse().ok())
    }

    fn failed(failure: FailureKind, fault: Fault) -> AgentEvent {
        AgentEvent::Error { failure, fault }
    }

    #[test]
    fn l9_a_limit_is_known_with_its_time() {
        let at = |at: &str| AgentEvent::Limit { message: "slow".into(), resets_at: at.parse().ok() };
        let seconds = r#"{"data":{"responseHeaders":{"retry-after":"90"},"statusCode":429,"message":"slow","isRetryable":true}}"#;
        assert_eq!(event(seconds), at("2026-11-15T18:31:30Z"));
        let millis = r#"{"data":{"responseHeaders":{"retry-after":"90","retry-after-ms":"1500"},"statusCode":429,"message":"slow"}}"#;
        assert_eq!(event(millis), at("2026-11-15T18:30:01.5Z"));
        let unknown = r#"{"data":{"statusCode":429,"message":"slow"}}"#;
        assert_eq!(event(unknown), AgentEvent::Limit { message: "slow".into(), resets_at: None });
    }

    #[test]
    fn l8_money_and_logins_do_not_come_back_by_themselves() {
        let unpaid = r#"{"name":"APIError","data":{"message":"no money","statusCode":429,"isRetryable":true,"responseBody":"{\"error\":{\"code\":\"insufficient_quota\"}}"}}"#;
        assert_eq!(
            event(unpaid),
            failed(FailureKind::Permanent, Fault::NotPaidFor { said: "no money".into() })
        );
        let login = event(r#"{"name":"ProviderAuthError","data":{"message":"no key"}}"#);
        assert_eq!(
            login,
            failed(FailureKind::Permanent, Fault::not_logged_in("no key", Some(LogIn::of("opencode"))))
        );
    }

    #[test]
    fn what_it_would_have_tried_again_may_heal() {
        let flaky = r#"{"data":{"message":"not found yet","statusCode":404,"isRetryable":true}}"#;
        assert_eq!(event(flaky), failed(FailureKind::Transient, "not found yet".into()));
        let unreachable = r#"{"data":{"message":"Cannot connect to API","isRetryable":true}}"#;
        assert_eq!(event(unreachable), failed(FailureKind::Transient, "Cannot connect to API".into()));
        assert_eq!(event("{}"), failed(FailureKind::Transient, "it did not say what went wrong".into()));
        assert_eq!(event(r#"{"name":"X","data":[]}"#), failed(FailureKind::Transient, "X".into()));
    }
}
