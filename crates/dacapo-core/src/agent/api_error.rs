//! What a model call that failed means for the loop: may the next one go better, is it a limit, or must a person act?

use jiff::Timestamp;

use crate::event::{AgentEvent, FailureKind, Fault, LogIn};

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// The login is missing, has run out or is refused.
    Login,
    /// No credit is left, or a payment failed.
    Billing,
    /// The account, the model or the address is not what was asked for; it stays so.
    Setting,
    /// The request itself is refused. Asked again in the same way, it will be refused again.
    Request,
    /// Too much was used.
    Limit,
    /// The server, the network, the time.
    Passing,
}

impl Cause {
    /// By the HTTP status that the agent names, if it does.
    pub(super) fn of(status: Option<u16>, message: &str) -> Self {
        status.map_or(Cause::Passing, |status| Cause::of_status(status, message))
    }

    pub(super) fn of_status(status: u16, message: &str) -> Self {
        match status {
            401 => Cause::Login,
            402 => Cause::Billing,
            403 if speaks_of_login(message) => Cause::Login,
            403..=405 => Cause::Setting,
            429 => Cause::Limit,
            408 | 409 | 423 | 425 => Cause::Passing,
            400..=499 => Cause::Request,
            _ => Cause::Passing,
        }
    }

    /// The agent had answers before in this turn: so its next conversation may well get one, too.
    pub(super) fn after_answers(self) -> Self {
        if self == Cause::Request { Cause::Passing } else { self }
    }

    /// As an event. `resets_at`: when a limit ends, if this is one.
    pub(super) fn event(self, message: &str, resets_at: Option<Timestamp>, log_in: &LogIn) -> AgentEvent {
        let (failure, fault) = match self {
            // Where that is all it says, once is enough.
            Cause::Login if message.starts_with("Not logged in") => {
                (FailureKind::Permanent, Fault::not_logged_in("", Some(log_in.clone())))
            }
            Cause::Login => (FailureKind::Permanent, Fault::not_logged_in(message, Some(log_in.clone()))),
            Cause::Billing => (FailureKind::Permanent, Fault::NotPaidFor { said: message.to_owned() }),
            Cause::Setting | Cause::Request => (FailureKind::Permanent, message.into()),
            Cause::Passing => (FailureKind::Transient, message.into()),
            Cause::Limit => return AgentEvent::Limit { message: message.to_owned(), resets_at },
        };
        AgentEvent::Error { failure, fault }
    }
}

/// A refusal that could be about anything is about the login where it says so.
fn speaks_of_login(message: &str) -> bool {
    let message = message.to_lowercase();
    ["authenticat", "api key", "api-key", "apikey", "token", "log in", "login", "credential"]
        .iter()
        .any(|word| message.contains(word))
}

/// The words that endpoints have for a limit. Only for what is known to be the error of a model call.
pub(super) fn speaks_of_limit(message: &str) -> bool {
    let message = message.to_lowercase();
    ["rate limit", "rate_limit", "ratelimit", "too many requests", "usage limit", "quota"]
        .iter()
        .any(|words| message.contains(words))
}

/// The status that an agent puts before the words of an API error: `401 Invalid key`, `401: …`, `401 {"type":…`.
pub(super) fn leading_status(message: &str) -> Option<u16> {
    let digits = message.bytes().take_while(u8::is_ascii_digit).count();
    let ends = message[digits..].chars().next().is_none_or(|next| next == ' ' || next == ':');
    let status: u16 = message[..digits].parse().ok()?;
    (digits == 3 && ends && (400..600).contains(&status)).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l8_only_a_person_can_heal_a_refused_login_or_a_wrong_setting() {
        for status in [401, 402, 403, 404] {
            let event = Cause::of_status(status, "no").after_answers().event("no", None, &LogIn::of("x"));
            assert!(matches!(event, AgentEvent::Error { failure: FailureKind::Permanent, .. }), "{status}");
        }
        for status in [408, 409, 425, 500, 502, 503, 529] {
            let event = Cause::of_status(status, "no").event("no", None, &LogIn::of("x"));
            assert!(matches!(event, AgentEvent::Error { failure: FailureKind::Transient, .. }), "{status}");
        }
        let limit = AgentEvent::Limit { message: "slow".into(), resets_at: None };
        assert_eq!(Cause::of_status(429, "").event("slow", None, &LogIn::default()), limit);
        assert_eq!(Cause::of_status(403, "Your API key is disabled"), Cause::Login);
        assert_eq!(Cause::of_status(403, "this region is not served"), Cause::Setting);
    }

    #[test]
    fn l8_a_bad_request_after_good_ones_is_the_fault_of_the_conversation() {
        let refused = Cause::of_status(400, "");
        assert_eq!((refused, refused.after_answers()), (Cause::Request, Cause::Passing));
        assert_eq!(Cause::of_status(401, "").after_answers(), Cause::Login);
        assert_eq!(Cause::of(None, "no route"), Cause::Passing);
    }

    #[test]
    fn a_status_is_three_digits_by_themselves() {
        assert_eq!(leading_status("401 no"), Some(401));
        assert_eq!(leading_status("529"), Some(529));
        assert_eq!(leading_status("429: slow down"), Some(429));
        for other in ["", "no 401", "4011 no", "40 no", "401no", "200 fine", "999 x", "４０１ no"] {
            assert_eq!(leading_status(other), None, "{other}");
        }
    }
}
