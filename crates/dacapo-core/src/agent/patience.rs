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

/// How long it may bridge a limit, or a server that has too much to do: what is over sooner is not worth a new turn, all else
/// is the loop's to wait for.
pub(super) const LONGEST_LIMIT: Duration = Duration::from_secs(60);

/// Whether the server wants to be asked later: the limit of an account, or an overload.
pub(super) fn wants_patience(status: Option<u16>) -> bool {
    matches!(status, Some(429 | 529))
}

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
        if wants_patience(status) {
            Self::Limit { message: words::fault(&fault) }
        } else {
            Self::Failed { failure: FailureKind::Transient, fault }
        }
    }
}

/// Counts what an agent tries again in vain.
#[derive(Debug)]
pub struct Patience {
    /// How long limits may still be waited for.
    wait_left: Duration,
    row: InVain,
}

/// Attempts in a row without an answer.
#[derive(Debug, Default)]
struct InVain {
    attempts: u32,
    refusals: u32,
    since: Option<Duration>,
    /// What the last attempt came to.
    last: Option<(String, Option<u16>)>,
    /// It has said that it is at a limit, and goes on trying.
    limited: bool,
}

impl Patience {
    /// `wait_left`: what is left of the time that the task may wait for limits.
    pub fn new(wait_left: Duration) -> Self {
        Self { wait_left, row: InVain::default() }
    }

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
                self.row = InVain::default();
                None
            }
            AgentEvent::Limit { .. } => {
                self.row.limited = true;
                None
            }
            AgentEvent::Session { .. }
            | AgentEvent::Usage(_)
            | AgentEvent::Refused { .. }
            | AgentEvent::Error { .. }
            | AgentEvent::End { .. } => None,
        }
    }

    /// The agent has given no sign of life for too long. Where it had said that it tries again, that tells why: `fault` is
    /// made of what it said.
    pub(crate) fn silence(&self, fault: impl FnOnce(String) -> Fault) -> Option<GiveUp> {
        let (said, status) = self.row.last.as_ref()?;
        Some(GiveUp::after(*status, fault(said.clone())))
    }

    fn tried_again(
        &mut self,
        message: &str,
        status: Option<u16>,
        now: Duration,
        log_in: Option<&LogIn>,
    ) -> Option<GiveUp> {
        let row = &mut self.row;
        let passed = now.saturating_sub(*row.since.get_or_insert(now));
        row.attempts += 1;
        row.last = Some((message.to_owned(), status));
        row.refusals = if matches!(status, Some(401 | 403)) { row.refusals + 1 } else { 0 };
        if row.refusals >= REFUSALS {
            let fault = Fault::not_logged_in(message, log_in.cloned());
            return Some(GiveUp::Failed { failure: FailureKind::Permanent, fault });
        }
        let longest = if wants_patience(status) { LONGEST_LIMIT.min(self.wait_left) } else { LONGEST };
        let at_limit = row.limited && wants_patience(status);
        if at_limit || row.attempts >= ATTEMPTS || passed >= longest {
            let fault = Fault::TriedInVain { attempts: row.attempts, said: message.to_owned() };
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
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    /// A server that never answers as an agent meets it: when it tries again after the first failure, in seconds, as
    /// claude 2.1.325 does.
    fn given_up(status: u16, wait_left: Duration) -> Option<u64> {
        let mut patience = Patience::new(wait_left);
        let at = [0, 1, 2, 4, 9, 19, 38, 75, 110, 143, 181];
        at.into_iter().find(|at| {
            let now = NOW + Duration::from_secs(*at);
            patience.see(&retry(Some(status)), now, None).is_some()
        })
    }

    #[test]
    fn l9_a_limit_is_not_bridged_by_the_agent_for_longer_than_a_minute_or_max_wait() {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        assert_eq!(given_up(429, DAY), Some(75), "no longer than a minute");
        assert_eq!(given_up(529, DAY), Some(75), "nor an overload");
        assert_eq!(given_up(429, Duration::from_secs(5)), Some(9), "no longer than may be waited");
        assert_eq!(given_up(529, Duration::ZERO), Some(0), "not at all");
        assert_eq!(given_up(503, Duration::ZERO), None, "an outage is no limit");
        assert_eq!(given_up(429, minutes(2)), Some(75));
    }

    #[test]
    fn l9_who_says_that_it_is_at_a_limit_and_tries_again_is_ended() {
        let limit = AgentEvent::Limit { message: "limit".into(), resets_at: None };
        let mut patience = Patience::new(DAY);
        assert_eq!(patience.see(&limit, NOW, None), None, "it may end by itself");
        let ended = patience.see(&retry(Some(429)), NOW, None);
        assert!(matches!(ended, Some(GiveUp::Limit { .. })), "{ended:?}");
    }

    #[test]
    fn l8_a_login_that_is_refused_twice_will_not_heal() {
        let mut patience = Patience::new(DAY);
        assert_eq!(patience.see(&retry(Some(401)), NOW, None), None, "a stale token is renewed");
        let fault = Fault::not_logged_in("no", Some(LogIn::of("x")));
        let expected = GiveUp::Failed { failure: FailureKind::Permanent, fault };
        assert_eq!(patience.see(&retry(Some(401)), NOW, Some(&LogIn::of("x"))), Some(expected));
    }

    #[test]
    fn an_unreachable_server_is_not_tried_for_ever() {
        let mut patience = Patience::new(DAY);
        let given_up = (0..1000).find_map(|_| patience.see(&retry(None), NOW, None)).unwrap();
        let fault = Fault::TriedInVain { attempts: 40, said: "no".into() };
        assert_eq!(given_up, GiveUp::Failed { failure: FailureKind::Transient, fault });

        let mut slow = Patience::new(DAY);
        assert_eq!(slow.see(&retry(Some(503)), NOW, None), None);
        assert!(slow.see(&retry(Some(503)), NOW + LONGEST, None).is_some());
    }

    #[test]
    fn l9_an_agent_that_waits_for_a_limit_itself_is_not_a_failed_one() {
        let mut patience = Patience::new(DAY);
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
        let mut patience = Patience::new(DAY);
        for _ in 0..1000 {
            assert_eq!(patience.see(&retry(Some(401)), NOW, None), None);
            patience.see(&AgentEvent::Text { text: "x".into() }, NOW, None);
        }
    }
}
