//! What went wrong with an agent, and what would help.

use std::time::Duration;

use dacapo_core::agent::{self, BUILT_IN};
use dacapo_core::context;
use dacapo_core::event::{Fault, LogIn, NotAllowed, TimeLimit};
use dacapo_core::spec::{OutputFormat, duration_text};

/// All that went wrong; none where nothing did.
pub fn all(faults: &[Fault]) -> Option<String> {
    (!faults.is_empty()).then(|| faults.iter().map(told).collect::<Vec<_>>().join("; "))
}

/// What went wrong.
pub fn told(fault: &Fault) -> String {
    let what = context::fault(fault);
    match fault {
        Fault::NotLoggedIn { log_in: Some(log_in), .. } => format!("{what}; {}", how_to_log_in(log_in)),
        Fault::KeyRefused { .. } => format!("{what}; see that it is right, or take it away and log in"),
        Fault::SessionGone { agent, said } => {
            let helps = match agent.as_str() {
                "gemini" | "opencode" => "--session fresh begins anew",
                _ if said.is_empty() => "start the task anew, or use --session fresh",
                _ => "--session fresh starts new ones",
            };
            format!("{what}; {helps}")
        }
        Fault::SessionNotTakenUp { .. } => format!("{what}; --session fresh needs none"),
        Fault::OutsideRepository { .. } => {
            format!("{what}; put --skip-git-repo-check into the agent's command")
        }
        Fault::TooSlow { limit: TimeLimit::Turn, limit_ms } => {
            format!("no end within --turn-timeout ({})", span(*limit_ms))
        }
        Fault::Silent { limit_ms, said } => {
            let silent = format!("no sign of life for --idle-timeout ({})", span(*limit_ms));
            said.as_ref().map_or_else(|| silent.clone(), |said| format!("{silent}: {said}"))
        }
        Fault::NotAllowed(refused) => not_allowed(refused),
        Fault::NotLoggedIn { log_in: None, .. }
        | Fault::NotPaidFor { .. }
        | Fault::PromptTooLong { .. }
        | Fault::TooSlow { limit: TimeLimit::Call, .. }
        | Fault::TriedInVain { .. }
        | Fault::NoAcpAnswer { .. }
        | Fault::Unfinished { .. }
        | Fault::NotRunnable { .. }
        | Fault::Exited { .. }
        | Fault::Signalled { .. }
        | Fault::GuardLost
        | Fault::BudgetUsed
        | Fault::Said { .. } => what,
    }
}

/// What an agent was not allowed to do, and what would allow it.
pub fn not_allowed(refused: &NotAllowed) -> String {
    let what = context::fault(&Fault::NotAllowed(refused.clone()));
    match &refused.argument {
        Some(argument) => format!("{what}; put {argument} into the agent's command"),
        None => format!("{what}; use --approval auto"),
    }
}

fn how_to_log_in(log_in: &LogIn) -> String {
    let mut agents = BUILT_IN.iter().copied().chain(agent::adapter(OutputFormat::Acp));
    let known = log_in.agent.as_deref().and_then(|name| agents.find(|one| one.name() == name));
    match known {
        Some(adapter) => adapter.how_to_log_in().to_owned(),
        None if log_in.ways.is_empty() => {
            "log in with the agent's own program, or set its API key".to_owned()
        }
        None => format!("to log in: {}", log_in.ways.join(", or ")),
    }
}

fn span(ms: u64) -> String {
    duration_text(Duration::from_millis(ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gone(agent: &str, said: &str) -> Fault {
        Fault::SessionGone { agent: agent.into(), said: said.into() }
    }

    fn login(said: &str, log_in: Option<LogIn>) -> Fault {
        Fault::NotLoggedIn { said: said.into(), log_in }
    }

    fn refused(tools: &[&str], argument: Option<&str>) -> Fault {
        let tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        Fault::NotAllowed(NotAllowed { agent: "bot".into(), tools, argument: argument.map(str::to_owned) })
    }

    #[test]
    fn u6_what_went_wrong_comes_with_what_would_help() {
        let ways = LogIn { agent: None, ways: vec!["use the browser".into(), "set KEY".into()] };
        let said = || "no".to_owned();
        let all = [
            gone("claude", "No conversation found"),
            gone("codex", ""),
            gone("gemini", "Invalid session"),
            gone("opencode", ""),
            Fault::SessionNotTakenUp { follow_up_of: "x".into(), said: "the agent refused".into() },
            Fault::OutsideRepository { agent: "codex".into() },
            login("401", Some(LogIn::of("qwen"))),
            login("", Some(ways)),
            login("", Some(LogIn::default())),
            login("401", Some(LogIn::of("acp"))),
            login("401", None),
            Fault::KeyRefused { holder: "X_KEY".into(), said: "401 invalid x-api-key".into() },
            Fault::KeyRefused { holder: "X_KEY".into(), said: String::new() },
            Fault::TooSlow { limit: TimeLimit::Turn, limit_ms: 300_000 },
            Fault::TooSlow { limit: TimeLimit::Call, limit_ms: 300_000 },
            Fault::Silent { limit_ms: 1_800_000, said: None },
            Fault::Silent { limit_ms: 1_800_000, said: Some(said()) },
            refused(&["write a", "shell"], None),
            refused(&[], Some("--yolo")),
            Fault::Exited { code: 1, said: said() },
            Fault::Signalled { signal: 9, said: String::new() },
        ];
        assert_eq!(
            all.each_ref().map(told),
            [
                "claude has no such conversation any more (No conversation found); --session fresh starts new ones",
                "codex does not know this conversation any more, so it cannot be continued; start the task anew, or \
                 use --session fresh",
                "the session is gone: Invalid session; --session fresh begins anew",
                "the session is gone: opencode does not know it; --session fresh begins anew",
                "Failed to get session ID for loop follow-up (task x): the agent's process had ended, and the \
                 conversation could not be taken up again (the agent refused); --session fresh needs none",
                "codex refuses to work outside of a git repository; put --skip-git-repo-check into the agent's command",
                "not logged in: 401; run `qwen auth`, or set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL",
                "not logged in; to log in: use the browser, or set KEY",
                "not logged in; log in with the agent's own program, or set its API key",
                "not logged in: 401; log in with the agent's own program",
                "not logged in: 401",
                "the key in X_KEY was refused: 401 invalid x-api-key; see that it is right, or take it away and log in",
                "the key in X_KEY was refused; see that it is right, or take it away and log in",
                "no end within --turn-timeout (5m)",
                "no end within call_timeout in [milestone] (5m)",
                "no sign of life for --idle-timeout (30m)",
                "no sign of life for --idle-timeout (30m): no",
                "bot was not allowed to use write a, shell and changed nothing; use --approval auto",
                "bot was given no tools that change anything and changed nothing; put --yolo into the agent's command",
                "the agent exited with code 1: no",
                "the agent was ended by signal 9",
            ]
        );
    }
}
