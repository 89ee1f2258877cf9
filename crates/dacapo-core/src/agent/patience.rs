//! When to give an agent up that goes on trying by itself: some retry a refused login for minutes, some an unreachable
//! server for ever (L8, L12).

use std::time::Duration;

use crate::event::{AgentEvent, FailureKind, Fault, LogIn, words};

/// A token that has run out is refused once and renewed; what is refused again stays refused.
const REFUSALS: u32 = 2;

/// How many attempts in a row without any sign of an answer are enough, however fast they come.
const ATTEMPTS: u32 = 40;

/// How long an agent may bridge an outage by itself; then the loop's own backoff takes over.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// Why a turn is ended, with what people are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GiveUp {
    /// All attempts failed.
    Failed {
        /// Whether another turn may go better.
        failure: FailureKind,
        fault: Fault,
    },
    /// It waits for the end of a usage limit; the loop can do that better: visibly, and for all who share the account.
    Limit {
        /// What the agent says.
        message: String,
    },
}

impl GiveUp {
    /// By what the last attempt came to, and why no other is waited for.
    fn after(status: Option<u16>, fault: Fault) -> Self {
        match status {
            Some(429) => Self::Limit { message: words::fault(&fault) },
            _ => Self::Failed { failure: FailureKind::Transient, fault },
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
    /// Takes in an event at this time of the turn. `log_in` goes with a refused login.
    pub fn see(&mut self, event: &AgentEvent, now: Duration, log_in: Option<&LogIn>) -> Option<GiveUp> {
        match event {
            AgentEvent::Retry { message, status } => self.tried_again(message, *status, now, log_in),
            // An answer, or work.
            AgentEvent::Text { .. }
            | AgentEvent::Thinking { .. }
            | AgentEvent::ToolCall { .. }
            | AgentEvent::ToolResult { .. }
            | AgentEvent::Plan { .. } => {
                // An answer proves that server and login work: only failures in a row count.
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

    /// The agent has given no sign of life for too long. Where it had said that it tries again, that tells why: `fault` is
    /// made of what it said.
    pub(crate) fn silence(&self, fault: impl FnOnce(String) -> Fault) -> Option<GiveUp> {
        let (said, status) = self.last.as_ref()?;
        Some(GiveUp::after(*status, fault(said.clone())))
    }

    fn tried_again(
        &mut self,
        message: &str,
        status: Option<u16>,
        now: Duration,
        log_in: Option<&LogIn>,
    ) -> Option<GiveUp> {
        let since = *self.since.get_or_insert(now);
        self.attempts += 1;
        self.last = Some((message.to_owned(), status));
        self.refusals = if matches!(status, Some(401 | 403)) { self.refusals + 1 } else { 0 };
        if self.refusals >= REFUSALS {
            let fault = Fault::not_logged_in(message, log_in.cloned());
            return Some(GiveUp::Failed { failure: FailureKind::Permanent, fault });
        }
        if self.attempts >= ATTEMPTS || now.saturating_sub(since) >= LONGEST {
            let fault = Fault::TriedInVain { attempts: self.attempts, said: message.to_owned() };
            return Some(GiveUp::after(status, fault));
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
        let fault = Fault::not_logged_in("no", Some(LogIn::of("x")));
        let expected = GiveUp::Failed { failure: FailureKind::Permanent, fault };
        assert_eq!(patience.see(&retry(Some(401)), NOW, Some(&LogIn::of("x"))), Some(expected));
    }

    #[test]
    fn an_unreachable_server_is_not_tried_for_ever() {
        let mut patience = Patience::default();
        let given_up = (0..1000).find_map(|_| patience.see(&retry(None), NOW, None)).unwrap();
        let fault = Fault::TriedInVain { attempts: 40, said: "no".into() };
        assert_eq!(given_up, GiveUp::Failed { failure: FailureKind::Transient, fault });

        let mut slow = Patience::default();
        assert_eq!(slow.see(&retry(Some(503)), NOW, None), None);
        assert!(slow.see(&retry(Some(503)), NOW + LONGEST, None).is_some());
    }

    #[test]
    fn l9_an_agent_that_waits_for_a_limit_itself_is_not_a_failed_one() {
        let mut patience = Patience::default();
        let silent = |said| Fault::Silent { limit_ms: 1_800_000, said: Some(said) };
        assert_eq!(patience.silence(silent), None, "it has not said anything");
        assert_eq!(patience.see(&retry(Some(429)), NOW, None), None);
        let message = "no output and no activity for 30m: no".to_owned();
        assert_eq!(patience.silence(silent), Some(GiveUp::Limit { message }));
        let late = patience.see(&retry(Some(429)), NOW + LONGEST, None);
        assert!(matches!(late, Some(GiveUp::Limit { .. })), "{late:?}");
        patience.see(&AgentEvent::Text { text: "x".into() }, NOW, None);
        assert_eq!(patience.silence(silent), None, "it was answered since");
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
