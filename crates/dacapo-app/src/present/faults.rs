//! What went wrong with an agent, and what would help.

use std::time::Duration;

use dacapo_core::agent::{self, Adapter, BUILT_IN};
use dacapo_core::event::{Fault, LogIn, NotAllowed, TimeLimit};
use dacapo_core::spec::{OutputFormat, duration_text};

use super::{agent_faults, workspace};
use crate::messages::Messages;

/// All that went wrong; none where nothing did.
pub fn all(faults: &[Fault], messages: Messages) -> Option<String> {
    let told = faults.iter().map(|fault| told(fault, messages));
    told.reduce(|first, second| messages.clauses(&first, &second))
}

/// What went wrong, and what would help.
pub fn told(fault: &Fault, messages: Messages) -> String {
    let m = messages;
    let with = |what: String, said: &str| if said.is_empty() { what } else { m.fault_with(&what, said) };
    let helps = |what: String, cure: &str| m.clauses(&what, cure);
    match fault {
        Fault::NotLoggedIn { said, log_in } => {
            let what = with(m.fault_not_logged_in(), said);
            match log_in {
                Some(log_in) => helps(what, &how_to_log_in(log_in, m)),
                None => what,
            }
        }
        Fault::KeyRefused { holder, said } => {
            helps(with(m.fault_key_refused(holder), said), &m.fault_check_key())
        }
        Fault::NotPaidFor { said } => with(m.fault_not_paid_for(), said),
        Fault::SessionGone { agent, said } => session_gone(agent, said, m),
        Fault::SessionNotTakenUp { follow_up_of, said } => {
            helps(m.fault_session_not_taken_up(follow_up_of, said), &m.fault_fresh_needs_none())
        }
        Fault::OutsideRepository { agent } => {
            helps(m.fault_outside_repository(agent), &m.fault_put_argument("--skip-git-repo-check"))
        }
        Fault::PromptTooLong { agent, most } => m.fault_prompt_too_long(agent, most),
        Fault::TooSlow { limit: TimeLimit::Turn, limit_ms } => m.fault_turn_too_slow(&span(*limit_ms)),
        Fault::TooSlow { limit: TimeLimit::Call, limit_ms } => m.fault_call_too_slow(&span(*limit_ms)),
        Fault::Silent { limit_ms, said } => {
            with(m.fault_silent(&span(*limit_ms)), said.as_deref().unwrap_or_default())
        }
        Fault::TriedInVain { attempts, said } => with(m.fault_tried_in_vain(*attempts), said),
        Fault::NoAcpAnswer { said } => with(m.fault_no_acp_answer(), said.as_deref().unwrap_or_default()),
        Fault::Unfinished { said } => with(m.fault_unfinished(), said),
        Fault::NotRunnable { code, said } => with(m.fault_not_runnable(*code), said),
        Fault::Exited { code, said } => with(m.fault_exited(*code), said),
        Fault::Signalled { signal, said } => with(m.fault_signalled(*signal), said),
        Fault::GuardLost => m.fault_guard_lost(),
        Fault::NotAllowed(refused) => not_allowed(refused, m),
        Fault::BudgetUsed => m.fault_budget_used(),
        Fault::Agent(found) => agent_faults::told(found, m),
        Fault::Workspace(problem) => workspace::told(problem, m),
        Fault::Said { message } => message.clone(),
    }
}

/// Agents differ in what they say about it, and some say nothing.
fn session_gone(agent: &str, said: &str, m: Messages) -> String {
    let (what, helps) = match (agent, said) {
        ("gemini" | "opencode", "") => (m.fault_session_unknown(agent), m.fault_fresh_begins_anew()),
        ("gemini" | "opencode", said) => (m.fault_session_gone(said), m.fault_fresh_begins_anew()),
        (agent, "") => (m.fault_conversation_unknown(agent), m.fault_fresh_or_new_task()),
        (agent, said) => (m.fault_conversation_gone(agent, said), m.fault_fresh_starts_new()),
    };
    m.clauses(&what, &helps)
}

/// What an agent was not allowed to do, and what would allow it.
pub fn not_allowed(refused: &NotAllowed, messages: Messages) -> String {
    let NotAllowed { agent, tools, argument } = refused;
    let what = match tools.is_empty() {
        true => messages.fault_no_tools(agent),
        false => messages.fault_tools_refused(agent, &tools.join(", ")),
    };
    let helps = match argument {
        Some(argument) => messages.fault_put_argument(argument),
        None => messages.fault_use_approval_auto(),
    };
    messages.clauses(&what, &helps)
}

fn how_to_log_in(log_in: &LogIn, messages: Messages) -> String {
    let mut agents = BUILT_IN.iter().copied().chain(agent::adapter(OutputFormat::Acp));
    let known = log_in.agent.as_deref().and_then(|name| agents.find(|one| one.name() == name));
    match known {
        Some(adapter) => log_in_to(adapter, messages),
        None if log_in.ways.is_empty() => messages.fault_log_in_or_set_key(),
        None => messages.fault_to_log_in(&log_in.ways.join(&messages.fault_or())),
    }
}

/// How a person logs in to a built-in agent.
pub fn log_in_to(adapter: &dyn Adapter, messages: Messages) -> String {
    match adapter.name() {
        "claude" => messages.log_in_claude(),
        "codex" => messages.log_in_codex(),
        "copilot" => messages.log_in_copilot(),
        "gemini" => messages.log_in_gemini(),
        "opencode" => messages.log_in_opencode(),
        "qwen" => messages.log_in_qwen(),
        "acp" => messages.log_in_acp(),
        _ => adapter.how_to_log_in().to_owned(),
    }
}

fn span(ms: u64) -> String {
    duration_text(Duration::from_millis(ms))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Language;

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
    fn a4_every_agent_says_how_to_log_in_in_the_readers_language() {
        for adapter in BUILT_IN.iter().copied().chain(agent::adapter(OutputFormat::Acp)) {
            assert_eq!(log_in_to(adapter, Messages::ENGLISH), adapter.how_to_log_in());
            let chinese = log_in_to(adapter, Messages::new(Language::SimplifiedChinese));
            assert_ne!(chinese, adapter.how_to_log_in(), "{}", adapter.name());
        }
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
            all.each_ref().map(|fault| told(fault, Messages::ENGLISH)),
            [
                "claude no longer has this conversation (No conversation found); --session fresh starts new ones",
                "codex no longer knows this conversation, so it cannot be continued; start the task again, or \
                 use --session fresh",
                "the session is gone: Invalid session; --session fresh starts over",
                "the session is gone: opencode does not know it; --session fresh starts over",
                "Failed to get session ID for loop follow-up (task x): the agent's process had ended, and the \
                 conversation could not be resumed (the agent refused); --session fresh needs none",
                "codex refuses to work outside a git repository; put --skip-git-repo-check into the agent's command",
                "not logged in: 401; run `qwen auth`, or set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL",
                "not logged in; to log in: use the browser, or set KEY",
                "not logged in; log in with the agent's own program, or set its API key",
                "not logged in: 401; log in with the agent's own program",
                "not logged in: 401",
                "the key in X_KEY was refused: 401 invalid x-api-key; check it, or unset it and log in",
                "the key in X_KEY was refused; check it, or unset it and log in",
                "not finished within --turn-timeout (5m)",
                "not finished within call_timeout in [milestone] (5m)",
                "no output and no activity for --idle-timeout (30m)",
                "no output and no activity for --idle-timeout (30m): no",
                "bot was not allowed to use write a, shell, and changed nothing; use --approval auto",
                "bot had no tools that can change files, and changed nothing; put --yolo into the agent's command",
                "the agent exited with code 1: no",
                "the agent was ended by signal 9",
            ]
        );
    }

    #[test]
    fn what_people_and_agents_read_of_a_fault_begins_alike() {
        // What only a person can do about it is behind that.
        for fault in [
            login("401", Some(LogIn::of("qwen"))),
            Fault::Exited { code: 1, said: "no".into() },
            Fault::NotRunnable { code: 127, said: String::new() },
            Fault::GuardLost,
            refused(&["shell"], None),
            gone("codex", ""),
        ] {
            let (people, agents) = (told(&fault, Messages::ENGLISH), dacapo_core::context::fault(&fault));
            assert!(people.starts_with(&agents), "{people} | {agents}");
        }
    }
}
