//! Why a task ended, waits, or goes on with another agent.

use dacapo_core::event::{Attempt, ChangeCause, LimitSaid, Metered, StopDetail, WaitCause};

use super::faults;
use super::needs::main_branch;

/// What more there is to say about the end of task `name` than its reason.
pub fn detail(detail: &StopDetail, name: &str) -> String {
    match detail {
        StopDetail::By { by } => by.clone(),
        StopDetail::LimitTooLong { limit } => {
            format!("{}; the limit lasts longer than --max-wait allows", limit_said(limit))
        }
        StopDetail::TimeUsed => "the time is used up".to_owned(),
        StopDetail::BudgetUsed => "the budget is used up".to_owned(),
        StopDetail::UsageUnknown { agent, amount, turns } => {
            let cure = match amount {
                Metered::Cost => "set [prices] for its model, or bound the task by --iter or --time",
                Metered::Tokens => "bound the task by --iter or --time",
            };
            format!(
                "usage unknown: {agent} reported no usable {} in {turns} turns in a row; {cure}",
                metered(*amount)
            )
        }
        StopDetail::Setup { command, exit, tail } => {
            format!("setup `{command}` failed ({exit})\n{tail}").trim_end().to_owned()
        }
        StopDetail::Check { command, exit, line } if line.is_empty() => {
            format!("check `{command}` cannot be run ({exit})")
        }
        StopDetail::Check { command, exit, line } => {
            format!("check `{command}` cannot be run ({exit}): {line}")
        }
        StopDetail::NoSession => format!("Failed to get session ID for loop follow-up (task {name})"),
        StopDetail::Main(found) => main_branch(found),
        StopDetail::Faults { faults } => faults::all(faults).unwrap_or_default(),
        StopDetail::Said { message } => message.clone(),
    }
}

/// What a budget bounds.
pub fn metered(amount: Metered) -> &'static str {
    match amount {
        Metered::Cost => "cost",
        Metered::Tokens => "tokens",
    }
}

/// Why it sleeps.
pub fn wait(cause: &WaitCause) -> String {
    match cause {
        WaitCause::Limit(limit) | WaitCause::Probe(limit) => limit_said(limit),
        WaitCause::Backoff { failed, pause_seconds } => {
            let failed = match failed {
                Attempt::Iteration => "iteration",
                Attempt::Call => "the call",
            };
            format!("{failed} failed; next attempt in {pause_seconds} s")
        }
    }
}

/// Why another agent takes over.
pub fn change(cause: &ChangeCause) -> String {
    match cause {
        ChangeCause::Limit(limit) => limit_said(limit),
        ChangeCause::LimitOver => "its limit is over".to_owned(),
    }
}

fn limit_said(limit: &LimitSaid) -> String {
    let LimitSaid { message, found_by, probing } = limit;
    match found_by {
        None => message.clone(),
        Some(task) if *probing => format!("task {task} tries whether it is over: {message}"),
        Some(task) => format!("found by task {task}: {message}"),
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
            all.each_ref().map(|one| detail(one, "x")),
            [
                "SIGTERM",
                "found by task other: limit reached; the limit lasts longer than --max-wait allows",
                "the time is used up",
                "the budget is used up",
                "usage unknown: one reported no usable tokens in 2 turns in a row; bound the task by --iter or --time",
                "usage unknown: one reported no usable cost in 2 turns in a row; set [prices] for its model, or bound \
                 the task by --iter or --time",
                "setup `two` failed (timed out)\na\nb",
                "check `two` cannot be run (exit 127): not found",
                "check `two` cannot be run (ended by a signal)",
                "Failed to get session ID for loop follow-up (task x)",
                "not logged in",
            ]
        );
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
            all.each_ref().map(wait),
            [
                "limit reached",
                "task other tries whether it is over: limit reached",
                "iteration failed; next attempt in 4 s",
                "the call failed; next attempt in 4 s",
            ]
        );
        assert_eq!(change(&ChangeCause::LimitOver), "its limit is over");
    }
}
