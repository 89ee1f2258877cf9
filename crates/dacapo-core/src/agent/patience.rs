//! When to give an agent up that goes on trying by itself: some retry a refused login for minutes, some an unreachable
//! server for ever (L8, L12).

use std::time::Duration;

use crate::event::{AgentEvent, FailureKind};

/// A token that has run out is refused once and renewed; what is refused again stays refused.
const REFUSALS: u32 = 2;

/// So many attempts in a row without any sign of an answer are enough, however fast they come.
const ATTEMPTS: u32 = 40;

/// So long is an outage bridged by the agent itself; then the loop's own backoff takes over.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// Why a turn is ended, with what people are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GiveUp {
    /// Nothing came of it.
    Failed {
        /// Whether another turn may go better.
        failure: FailureKind,
        /// Why.
        message: String,
    },
    /// It waits for the end of a usage limit; the loop can do that better: visibly, and for all who share the account.
    Limit {
        /// What the agent says.
        message: String,
    },
}

impl GiveUp {
    /// By what the last attempt came to, and why no other is waited for.
    fn after(status: Option<u16>, why: &str, said: &str) -> Self {
        let message = format!("{why}: {said}");
        match status {
            Some(429) => Self::Limit { message },
            _ => Self::Failed { failure: FailureKind::Transient, message },
        }
    }
}

/// Counts what an agent tries again in vain.
#[derive(Debug, Default)]
pub struct Patience {
    attempts: u32,
    refusals: u32,
    since: Option<Duration>,
    /// What the last attempt came to.
    last: Option<(String, Option<u16>)>,
}

impl Patience {
    /// Takes in an event at this time of the turn. `how_to_log_in` ends the message about a refused login.
    pub fn see(&mut self, event: &AgentEvent, now: Duration, how_to_log_in: Option<&str>) -> Option<GiveUp> {
        match event {
            AgentEvent::Retry { message, status } => self.tried_again(message, *status, now, how_to_log_in),
            // An answer, or work.
            AgentEvent::Text { .. }
            | AgentEvent::Thinking { .. }
            | AgentEvent::ToolCall { .. }
            | AgentEvent::ToolResult { .. }
            | AgentEvent::Plan { .. } => {
                *self = Self::default();
                None
            }
            AgentEvent::Session { .. }
            | AgentEvent::Usage(_)
            | AgentEvent::Refused { .. }
            | AgentEvent::Limit { .. }
            | AgentEvent::Error { .. }
            | AgentEvent::End { .. } => None,
        }
    }

    /// The agent has given no sign of life for too long. Where it had said that it tries again, that tells why.
    pub(crate) fn silence(&self, too_long: &str) -> Option<GiveUp> {
        let (said, status) = self.last.as_ref()?;
        Some(GiveUp::after(*status, too_long, said))
    }

    fn tried_again(
        &mut self,
        message: &str,
        status: Option<u16>,
        now: Duration,
        how_to_log_in: Option<&str>,
    ) -> Option<GiveUp> {
        let since = *self.since.get_or_insert(now);
        self.attempts += 1;
        self.last = Some((message.to_owned(), status));
        self.refusals = if matches!(status, Some(401 | 403)) { self.refusals + 1 } else { 0 };
        if self.refusals >= REFUSALS {
            let hint = how_to_log_in.map(|how| format!("; {how}")).unwrap_or_default();
            return Some(GiveUp::Failed {
                failure: FailureKind::Permanent,
                message: format!("not logged in: {message}{hint}"),
            });
        }
        if self.attempts >= ATTEMPTS || now.saturating_sub(since) >= LONGEST {
            let why = format!("gave it up after {} attempts without an answer", self.attempts);
            return Some(GiveUp::after(status, &why, message));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retry(status: Option<u16>) -> AgentEvent {
        AgentEvent::Retry { message: "no".into(), status }
    }

    const NOW: Duration = Duration::from_secs(7);

    #[test]
    fn l8_a_login_that_is_refused_twice_will_not_heal() {
        let mut patience = Patience::default();
        assert_eq!(patience.see(&retry(Some(401)), NOW, None), None, "a stale token is renewed");
        let message = "not logged in: no; run `x login`".into();
        let expected = GiveUp::Failed { failure: FailureKind::Permanent, message };
        assert_eq!(patience.see(&retry(Some(401)), NOW, Some("run `x login`")), Some(expected));
    }

    #[test]
    fn an_unreachable_server_is_not_tried_for_ever() {
        let mut patience = Patience::default();
        let given_up = (0..1000).find_map(|_| patience.see(&retry(None), NOW, None)).unwrap();
        let message = "gave it up after 40 attempts without an answer: no".into();
        assert_eq!(given_up, GiveUp::Failed { failure: FailureKind::Transient, message });

        let mut slow = Patience::default();
        assert_eq!(slow.see(&retry(Some(503)), NOW, None), None);
        assert!(slow.see(&retry(Some(503)), NOW + LONGEST, None).is_some());
    }

    #[test]
    fn l9_an_agent_that_waits_for_a_limit_itself_is_not_a_failed_one() {
        let mut patience = Patience::default();
        assert_eq!(patience.silence("nothing for 30m"), None, "it has not said anything");
        assert_eq!(patience.see(&retry(Some(429)), NOW, None), None);
        let message = "nothing for 30m: no".to_owned();
        assert_eq!(patience.silence("nothing for 30m"), Some(GiveUp::Limit { message }));
        let late = patience.see(&retry(Some(429)), NOW + LONGEST, None);
        assert!(matches!(late, Some(GiveUp::Limit { .. })), "{late:?}");
        patience.see(&AgentEvent::Text { text: "x".into() }, NOW, None);
        assert_eq!(patience.silence("nothing for 30m"), None, "it was answered since");
    }

    #[test]
    fn an_answer_in_between_starts_the_count_anew() {
        let mut patience = Patience::default();
        for _ in 0..1000 {
            assert_eq!(patience.see(&retry(Some(401)), NOW, None), None);
            patience.see(&AgentEvent::Text { text: "x".into() }, NOW, None);
        }
    }
}
