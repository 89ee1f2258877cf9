//! Why a task ended, waits, or goes on with another agent.

use dacapo_core::event::{Attempt, ChangeCause, LimitSaid, Metered, StopDetail, WaitCause};

use super::faults;
use super::needs::main_branch;
use super::words;
use crate::messages::{Messages, Surface};

/// What is on record where the terminal of a task was closed.
pub const TERMINAL_CLOSED: &str = "the terminal was closed";

/// What more there is to say about the end of task `name` than its reason.
pub fn detail(detail: &StopDetail, name: &str, messages: Messages) -> String {
    match detail {
        StopDetail::By { by } => who(by, messages),
        StopDetail::LimitTooLong { limit } => messages.detail_limit_too_long(&limit_said(limit, messages)),
        StopDetail::TimeUsed => messages.detail_time_used(),
        StopDetail::BudgetUsed => messages.detail_budget_used(),
        StopDetail::UsageUnknown { agent, amount: Metered::Cost, turns } => {
            messages.detail_cost_unknown(agent, *turns)
        }
        StopDetail::UsageUnknown { agent, amount: Metered::Tokens, turns } => {
            messages.detail_tokens_unknown(agent, *turns)
        }
        StopDetail::Setup { command, exit, tail } => {
            let failed = messages.detail_setup_failed(command, &words::exit(exit, messages));
            format!("{failed}\n{tail}").trim_end().to_owned()
        }
        StopDetail::Check { command, exit, line } if line.is_empty() => {
            messages.detail_check_not_run(command, &words::exit(exit, messages))
        }
        StopDetail::Check { command, exit, line } => {
            messages.detail_check_not_run_because(command, &words::exit(exit, messages), line)
        }
        StopDetail::NoSession => messages.detail_no_session(name),
        StopDetail::Main(found) => main_branch(found, messages),
        StopDetail::Faults { faults } => faults::all(faults, messages).unwrap_or_default(),
        StopDetail::Said { message } => message.clone(),
    }
}

/// The same as a sentence of its own.
pub fn sentence(why: &StopDetail, name: &str, messages: Messages) -> String {
    match why {
        StopDetail::By { by } if by != TERMINAL_CLOSED => messages.detail_ended_by(&who(by, messages)),
        StopDetail::By { .. }
        | StopDetail::LimitTooLong { .. }
        | StopDetail::TimeUsed
        | StopDetail::BudgetUsed
        | StopDetail::UsageUnknown { .. }
        | StopDetail::Setup { .. }
        | StopDetail::Check { .. }
        | StopDetail::NoSession
        | StopDetail::Main(_)
        | StopDetail::Faults { .. }
        | StopDetail::Said { .. } => detail(why, name, messages),
    }
}

/// Who or what ended it: a command as it is typed here, a signal, a terminal that was closed.
pub fn who(by: &str, messages: Messages) -> String {
    match (by.strip_prefix(Surface::Shell.prefix()), by) {
        (Some(words), _) => messages.command(words),
        (None, TERMINAL_CLOSED) => messages.by_terminal_closed(),
        (None, by) => by.to_owned(),
    }
}

pub fn wait(cause: &WaitCause, messages: Messages) -> String {
    match cause {
        WaitCause::Limit(limit) | WaitCause::Probe(limit) => limit_said(limit, messages),
        WaitCause::Backoff { failed: Attempt::Iteration, pause_seconds } => {
            messages.wait_iteration_failed(*pause_seconds)
        }
        WaitCause::Backoff { failed: Attempt::Call, pause_seconds } => {
            messages.wait_call_failed(*pause_seconds)
        }
    }
}

/// Why another agent takes over.
pub fn change(cause: &ChangeCause, messages: Messages) -> String {
    match cause {
        ChangeCause::Limit(limit) => limit_said(limit, messages),
        ChangeCause::LimitOver => messages.wait_limit_over(),
    }
}

fn limit_said(limit: &LimitSaid, messages: Messages) -> String {
    let LimitSaid { message, found_by, probing } = limit;
    match found_by {
        None => message.clone(),
        Some(task) if *probing => messages.wait_task_probes(task, message),
        Some(task) => messages.wait_found_by(task, message),
    }
}

#[cfg(test)]
mod tests {
    use dacapo_core::event::Exit;

    use super::*;

    fn limit(found_by: Option<&str>, probing: bool) -> LimitSaid {
        LimitSaid { message: "limit reached".into(), found_by: found_by.map(str::to_owned), probing }
    }

    #[test]
    fn l16_why_it_ended_in_words() {
        let exit = |exit_code, timed_out| Exit { exit_code, timed_out };
        let (command, one) = (|| "two".to_owned(), || "one".to_owned());
        let all = [
            StopDetail::By { by: "SIGTERM".into() },
            StopDetail::LimitTooLong { limit: limit(Some("other"), false) },
            StopDetail::TimeUsed,
            StopDetail::BudgetUsed,
            StopDetail::UsageUnknown { agent: one(), amount: Metered::Tokens, turns: 2 },
            StopDetail::UsageUnknown { agent: one(), amount: Metered::Cost, turns: 2 },
            StopDetail::Setup { command: command(), exit: exit(None, true), tail: "a\nb\n".into() },
            StopDetail::Check { command: command(), exit: exit(Some(127), false), line: "not found".into() },
            StopDetail::Check { command: command(), exit: exit(None, false), line: String::new() },
            StopDetail::NoSession,
            StopDetail::said("not logged in"),
        ];
        assert_eq!(
            all.each_ref().map(|one| detail(one, "x", Messages::ENGLISH)),
            [
                "SIGTERM",
                "found by task other: limit reached; the limit lasts longer than --max-wait allows",
                "the time is used up",
                "the budget is used up",
                "usage unknown: one reported no usable tokens in 2 turns in a row; limit the task with --iter or --time",
                "usage unknown: one reported no usable cost in 2 turns in a row; set [prices] for its model, or \
                 limit the task with --iter or --time",
                "setup `two` failed (timed out)\na\nb",
                "check `two` cannot be run (exit 127): not found",
                "check `two` cannot be run (ended by a signal)",
                "Failed to get session ID for loop follow-up (task x)",
                "not logged in",
            ]
        );
    }

    #[test]
    fn u7_who_ended_a_task_is_a_sentence_and_a_command_is_named_as_it_is_typed() {
        let ended = |by: &str, messages| sentence(&StopDetail::By { by: by.into() }, "x", messages);
        assert_eq!(ended("Ctrl-C", Messages::ENGLISH), "ended by Ctrl-C");
        assert_eq!(ended("dacapo kill", Messages::ENGLISH), "ended by dacapo kill");
        assert_eq!(ended("dacapo kill", Messages::ENGLISH.for_app()), "ended by /kill");
        assert_eq!(ended(TERMINAL_CLOSED, Messages::ENGLISH), TERMINAL_CLOSED);
    }

    #[test]
    fn l9_why_it_waits_in_words() {
        let backoff = |failed| WaitCause::Backoff { failed, pause_seconds: 4 };
        let all = [
            WaitCause::Limit(limit(None, false)),
            WaitCause::Probe(limit(Some("other"), true)),
            backoff(Attempt::Iteration),
            backoff(Attempt::Call),
        ];
        assert_eq!(
            all.each_ref().map(|cause| wait(cause, Messages::ENGLISH)),
            [
                "limit reached",
                "task other is checking whether it is over: limit reached",
                "the iteration failed; next attempt in 4 s",
                "the call failed; next attempt in 4 s",
            ]
        );
        assert_eq!(change(&ChangeCause::LimitOver, Messages::ENGLISH), "its limit is over");
    }
}
