//! What went wrong, as an agent is told that goes on after it: without what only a person could do about it.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Fault, TimeLimit};
use crate::spec::duration_text;

/// All that went wrong; none where nothing did.
pub fn faults(all: &[Fault]) -> Option<String> {
    (!all.is_empty()).then(|| all.iter().map(fault).collect::<Vec<_>>().join("; "))
}

/// What went wrong.
pub fn fault(fault: &Fault) -> String {
    match fault {
        Fault::NotLoggedIn { said, .. } => with("not logged in", said),
        Fault::KeyRefused { holder, said } => with(&format!("the key in {holder} was refused"), said),
        Fault::NotPaidFor { said } => with("not paid for", said),
        Fault::SessionGone { agent, said } => session_gone(agent, said),
        Fault::SessionNotTakenUp { follow_up_of, said } => format!(
            "Failed to get session ID for loop follow-up (task {follow_up_of}): the agent's process had ended, and the \
             conversation could not be taken up again ({said})"
        ),
        Fault::OutsideRepository { agent } => format!("{agent} refuses to work outside of a git repository"),
        Fault::PromptTooLong { agent, most } => {
            format!("{agent} takes no prompt of more than {most} characters")
        }
        Fault::TooSlow { limit: TimeLimit::Turn, limit_ms } => format!("no end within {}", span(*limit_ms)),
        Fault::TooSlow { limit: TimeLimit::Call, limit_ms } => {
            format!("no end within call_timeout in [milestone] ({})", span(*limit_ms))
        }
        Fault::Silent { limit_ms, said } => {
            with(&format!("no sign of life for {}", span(*limit_ms)), said.as_deref().unwrap_or_default())
        }
        Fault::TriedInVain { attempts, said } => {
            with(&format!("gave it up after {attempts} attempts without an answer"), said)
        }
        Fault::NoAcpAnswer { said } => {
            let what = "no answer in the Agent Client Protocol: is output = \"acp\" right for this command?";
            with(what, said.as_deref().unwrap_or_default())
        }
        Fault::Unfinished { said } => {
            with("the agent exited with code 0 but never said that its turn was over", said)
        }
        Fault::NotRunnable { code, said } => {
            with(&format!("the agent's command cannot be run (exit {code})"), said)
        }
        Fault::Exited { code, said } => with(&format!("the agent exited with code {code}"), said),
        Fault::Signalled { signal, said } => with(&format!("the agent was ended by signal {signal}"), said),
        Fault::GuardLost => "the guard of the agent was killed; all it had started was ended".to_owned(),
        Fault::NotAllowed(refused) if refused.tools.is_empty() => {
            format!("{} was given no tools that change anything and changed nothing", refused.agent)
        }
        Fault::NotAllowed(refused) => {
            format!(
                "{} was not allowed to use {} and changed nothing",
                refused.agent,
                refused.tools.join(", ")
            )
        }
        Fault::BudgetUsed => "the budget is used up".to_owned(),
        Fault::Said { message } => message.clone(),
    }
}

/// Agents differ in what they say about it, and some say nothing.
fn session_gone(agent: &str, said: &str) -> String {
    match agent {
        "gemini" | "opencode" if said.is_empty() => format!("the session is gone: {agent} does not know it"),
        "gemini" | "opencode" => format!("the session is gone: {said}"),
        _ if said.is_empty() => {
            format!("{agent} does not know this conversation any more, so it cannot be continued")
        }
        _ => format!("{agent} has no such conversation any more ({said})"),
    }
}

fn with(what: &str, said: &str) -> String {
    let mut out = what.to_owned();
    if !said.is_empty() {
        let _ = write!(out, ": {said}");
    }
    out
}

fn span(ms: u64) -> String {
    duration_text(Duration::from_millis(ms))
}
