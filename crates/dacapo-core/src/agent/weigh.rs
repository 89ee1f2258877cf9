//! The truth about the end of a turn: exit code, final event and what we did ourselves, weighed together.

use super::{GiveUp, Observed};
use crate::event::{FailureKind, Fault, TurnEnd};
use crate::text::{cut_chars, failure_line};

/// How much of a line of standard error is quoted.
const MOST_SAID: usize = 300;

/// What the process and the driver have to say about the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The agent's process exited by itself.
    Exited(i32),
    /// A signal that we did not send ended it.
    Signalled(i32),
    /// It could not be started.
    NotStarted {
        /// It will not start next time either.
        permanent: bool,
        fault: Fault,
    },
    /// We ended it because a person wanted so.
    Cancelled,
    /// We ended it because the budget is used up.
    OverBudget,
    /// We ended it because it took too long or seemed dead.
    TimedOut(Fault),
    /// We ended it because it went on trying what cannot succeed.
    GaveUp(GiveUp),
    /// Its guard was killed; the rest was swept.
    GuardLost,
    /// Known from its output alone: the process that watched it died.
    Unwatched,
}

/// How the turn ended. An exit code of 0 alone is no success, and an agent that we stopped has not succeeded even if it
/// exits with 0.
/// `final_event`: this agent always says that it has ended, so one that exits without a word has not.
pub fn weigh(ending: &Ending, seen: &Observed, final_event: bool) -> TurnEnd {
    let failed = |failure: FailureKind, fault: &Fault| TurnEnd::Failed { failure, fault: fault.clone() };
    let transient = |fault: Fault| failed(FailureKind::Transient, &fault);
    let finished = seen.end.is_some() && seen.error.is_none() && seen.limit.is_none();
    match ending {
        Ending::Cancelled => return TurnEnd::Cancelled,
        // The agent had finished before the money ran out by its last bill.
        Ending::OverBudget if finished => return TurnEnd::Done,
        Ending::OverBudget => return TurnEnd::Budget,
        Ending::TimedOut(fault) => return transient(fault.clone()),
        Ending::GaveUp(GiveUp::Failed { failure, fault }) => return failed(*failure, fault),
        Ending::GaveUp(GiveUp::Limit { message }) => {
            let resets_at = seen.limit.as_ref().and_then(|(_, resets_at)| *resets_at);
            return TurnEnd::Limit { message: message.clone(), resets_at };
        }
        Ending::NotStarted { permanent, fault } => {
            let failure = if *permanent { FailureKind::Permanent } else { FailureKind::Transient };
            return failed(failure, fault);
        }
        Ending::Unwatched if seen.end.is_none() && seen.limit.is_none() => return TurnEnd::Interrupted,
        Ending::Exited(_) | Ending::Signalled(_) | Ending::GuardLost | Ending::Unwatched => {}
    }
    // Limit before error: many agents report a limit as an error too, and a failure would be tried again far too
    // soon.
    if let Some((message, resets_at)) = &seen.limit {
        return TurnEnd::Limit { message: message.clone(), resets_at: *resets_at };
    }
    if let Some((failure, fault)) = &seen.error {
        return failed(*failure, fault);
    }
    let said = cut_chars(&failure_line(&seen.stderr_tail), MOST_SAID);
    match ending {
        Ending::Exited(0) if final_event && seen.end.is_none() => transient(Fault::Unfinished { said }),
        Ending::Exited(0) => TurnEnd::Done,
        // `sh` says with these that there is no such program: it will not appear by itself.
        Ending::Exited(code @ (126 | 127)) => {
            failed(FailureKind::Permanent, &Fault::NotRunnable { code: *code, said })
        }
        Ending::Exited(code) => transient(Fault::Exited { code: *code, said }),
        Ending::Signalled(signal) => transient(Fault::Signalled { signal: *signal, said }),
        Ending::GuardLost => transient(Fault::GuardLost),
        _ => TurnEnd::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_signal_answered_with_success_is_no_success() {
        let seen = Observed { end: Some("end_turn".into()), ..Observed::default() };
        assert_eq!(weigh(&Ending::Cancelled, &seen, false), TurnEnd::Cancelled);
        assert!(matches!(weigh(&Ending::TimedOut("idle".into()), &seen, false), TurnEnd::Failed { .. }));
        assert_eq!(weigh(&Ending::OverBudget, &seen, false), TurnEnd::Done, "it was done before");
        assert_eq!(weigh(&Ending::OverBudget, &Observed::default(), false), TurnEnd::Budget);
    }

    #[test]
    fn an_agent_that_always_says_its_last_word_has_not_ended_without_it() {
        assert_eq!(weigh(&Ending::Exited(0), &Observed::default(), false), TurnEnd::Done);
        let end = weigh(&Ending::Exited(0), &Observed::default(), true);
        assert!(matches!(end, TurnEnd::Failed { failure: FailureKind::Transient, .. }), "{end:?}");
    }

    #[test]
    fn exit_0_after_an_error_is_a_failure() {
        let seen = Observed { error: Some((FailureKind::Permanent, "401".into())), ..Observed::default() };
        assert_eq!(
            weigh(&Ending::Exited(0), &seen, false),
            TurnEnd::Failed { failure: FailureKind::Permanent, fault: "401".into() }
        );
    }

    #[test]
    fn a_limit_is_a_limit_whatever_the_exit_code() {
        let seen = Observed { limit: Some(("limit".into(), None)), ..Observed::default() };
        for ending in [Ending::Exited(0), Ending::Exited(1), Ending::Unwatched] {
            assert_eq!(
                weigh(&ending, &seen, false),
                TurnEnd::Limit { message: "limit".into(), resets_at: None }
            );
        }
    }

    #[test]
    fn s2_what_was_written_to_standard_error_is_the_reason_where_there_is_no_other() {
        let seen = Observed {
            stderr_tail: "connecting\nError: API key invalid\n    at main (agent.js:3)".into(),
            ..Observed::default()
        };
        let message = |ending| match weigh(&ending, &seen, true) {
            TurnEnd::Failed { fault, .. } => crate::event::words::fault(&fault),
            other => panic!("{other:?}"),
        };
        assert_eq!(message(Ending::Exited(1)), "the agent exited with code 1: Error: API key invalid");
        assert_eq!(message(Ending::Signalled(6)), "the agent was ended by signal 6: Error: API key invalid");
        assert!(message(Ending::Exited(127)).ends_with("(exit 127): Error: API key invalid"));
        assert!(message(Ending::Exited(0)).ends_with("its turn: Error: API key invalid"));
        let known = Observed { error: Some((FailureKind::Permanent, "401".into())), ..seen.clone() };
        assert_eq!(
            weigh(&Ending::Exited(1), &known, true),
            TurnEnd::Failed { failure: FailureKind::Permanent, fault: "401".into() },
            "what the agent itself says is better"
        );
    }

    #[test]
    fn an_unwatched_turn_counts_only_with_its_final_event() {
        assert_eq!(weigh(&Ending::Unwatched, &Observed::default(), false), TurnEnd::Interrupted);
        let seen = Observed { end: Some("end_turn".into()), ..Observed::default() };
        assert_eq!(weigh(&Ending::Unwatched, &seen, false), TurnEnd::Done);
    }

    #[test]
    fn l8_a_command_that_is_not_there_cannot_heal() {
        for code in [126, 127] {
            let end = weigh(&Ending::Exited(code), &Observed::default(), false);
            assert!(matches!(end, TurnEnd::Failed { failure: FailureKind::Permanent, .. }), "{code}");
        }
        let end = weigh(&Ending::Exited(1), &Observed::default(), false);
        assert!(matches!(end, TurnEnd::Failed { failure: FailureKind::Transient, .. }));
    }
}
