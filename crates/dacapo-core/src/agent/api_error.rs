//! What a model call that failed means for the loop: may the next one go better, is it a limit, or must a person act?

use jiff::Timestamp;

use crate::event::{AgentEvent, FailureKind};

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// The login is missing, has run out or is refused.
    Login,
    /// Nobody pays.
    Billing,
    /// The account, the model or the address is not what was asked for; it stays so.
    Setting,
    /// The request itself is wrong. The next one may be another.
    Request,
    /// Too much was used.
    Limit,
    /// The server, the network, the time.
    Passing,
}

impl Cause {
    /// By the HTTP status.
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

    /// As an event. `answered`: the agent had answers before in this turn, so its next conversation may well get one.
    pub(super) fn event(self, message: &str, answered: bool, how_to_log_in: &str) -> AgentEvent {
        let (failure, message) = match self {
            // Where that is all it says, once is enough.
            Cause::Login if message.starts_with("Not logged in") => {
                (FailureKind::Permanent, format!("not logged in; {how_to_log_in}"))
            }
            Cause::Login => (FailureKind::Permanent, format!("not logged in: {message}; {how_to_log_in}")),
            Cause::Billing => (FailureKind::Permanent, format!("not paid for: {message}")),
            Cause::Setting => (FailureKind::Permanent, message.to_owned()),
            Cause::Request if !answered => (FailureKind::Permanent, message.to_owned()),
            Cause::Request | Cause::Passing => (FailureKind::Transient, message.to_owned()),
            Cause::Limit => return AgentEvent::Limit { message: message.to_owned(), resets_at: None },
        };
        AgentEvent::Error { failure, message }
    }
}

/// A refusal that could be about anything is about the login where it says so.
fn speaks_of_login(message: &str) -> bool {
    let message = message.to_lowercase();
    ["authenticat", "api key", "api-key", "apikey", "token", "log in", "login", "credential"]
        .iter()
        .any(|word| message.contains(word))
}

/// The status that an agent puts before the words of an API error: `401 Invalid key`, `401: …`, `401 {"type":…`.
pub(super) fn leading_status(message: &str) -> Option<u16> {
    let digits = message.bytes().take_while(u8::is_ascii_digit).count();
    let ends = message[digits..].chars().next().is_none_or(|next| next == ' ' || next == ':');
    let status: u16 = message[..digits].parse().ok()?;
    (digits == 3 && ends && (400..600).contains(&status)).then_some(status)
}

/// A time as seconds of the epoch, or as thousandths of them.
pub(super) fn epoch(number: f64) -> Option<Timestamp> {
    /// As seconds it would be the year 5138.
    const MILLISECONDS: f64 = 1e11;
    let seconds = if number >= MILLISECONDS { number / 1000.0 } else { number };
    // The first years of the epoch are no time that anybody waits for.
    (seconds > 1e9).then(|| Timestamp::from_second(seconds.ceil() as i64).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l8_only_a_person_can_heal_a_refused_login_or_a_wrong_setting() {
        for status in [401, 402, 403, 404] {
            let event = Cause::of_status(status, "no").event("no", true, "log in");
            assert!(matches!(event, AgentEvent::Error { failure: FailureKind::Permanent, .. }), "{status}");
        }
        for status in [408, 409, 425, 500, 502, 503, 529] {
            let event = Cause::of_status(status, "no").event("no", false, "log in");
            assert!(matches!(event, AgentEvent::Error { failure: FailureKind::Transient, .. }), "{status}");
        }
        let limit = AgentEvent::Limit { message: "slow".into(), resets_at: None };
        assert_eq!(Cause::of_status(429, "").event("slow", false, ""), limit);
        assert_eq!(Cause::of_status(403, "Your API key is disabled"), Cause::Login);
        assert_eq!(Cause::of_status(403, "this region is not served"), Cause::Setting);
    }

    #[test]
    fn l8_a_bad_request_after_good_ones_is_the_fault_of_the_conversation() {
        let kind = |answered| match Cause::of_status(400, "").event("too long", answered, "") {
            AgentEvent::Error { failure, .. } => failure,
            other => panic!("{other:?}"),
        };
        assert_eq!((kind(false), kind(true)), (FailureKind::Permanent, FailureKind::Transient));
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

    #[test]
    fn l9_a_reset_time_is_in_seconds_or_thousandths() {
        let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        assert_eq!(epoch(1_794_787_690.0), at("2026-11-16T00:08:10Z"));
        assert_eq!(epoch(1_794_787_690_000.0), at("2026-11-16T00:08:10Z"));
        for odd in [0.0, 3600.0, 1e30, f64::MAX] {
            assert_eq!(epoch(odd), None, "{odd}");
        }
    }
}
