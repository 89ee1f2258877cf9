//! What a model endpoint's refusal means for the loop, told by its HTTP status.

use jiff::Timestamp;

use crate::event::{AgentEvent, FailureKind};

/// A refusal as an event. `message` is the endpoint's or the agent's own.
pub(super) fn refusal(
    status: Option<u16>,
    message: String,
    resets_at: Option<Timestamp>,
    how_to_log_in: &str,
) -> AgentEvent {
    let (failure, message) = match status {
        Some(429) => return AgentEvent::Limit { message, resets_at },
        Some(401 | 403) => (FailureKind::Permanent, not_logged_in(&message, how_to_log_in)),
        Some(402) => (FailureKind::Permanent, format!("not paid for: {message}")),
        // Time may heal these; any other request that is refused for what it is will be refused again.
        Some(408 | 409 | 423 | 425) => (FailureKind::Transient, message),
        Some(400..=499) => (FailureKind::Permanent, message),
        _ => (FailureKind::Transient, message),
    };
    AgentEvent::Error { failure, message }
}

/// The words for a login that is missing or refused.
pub(super) fn not_logged_in(message: &str, how_to_log_in: &str) -> String {
    format!("not logged in: {message}; {how_to_log_in}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l8_only_what_may_heal_is_tried_again() {
        let kind = |status| match refusal(status, "no".into(), None, "log in") {
            AgentEvent::Error { failure, .. } => Some(failure),
            _ => None,
        };
        for status in [400, 401, 402, 403, 404] {
            assert_eq!(kind(Some(status)), Some(FailureKind::Permanent), "{status}");
        }
        for status in [408, 500, 502, 503, 504, 529] {
            assert_eq!(kind(Some(status)), Some(FailureKind::Transient), "{status}");
        }
        assert_eq!(kind(None), Some(FailureKind::Transient));
        assert_eq!(kind(Some(429)), None);
    }
}
