//! Which agent does the work when nobody says so (L0): the first one that is installed and logged in.

use std::path::{Path, PathBuf};

use dacapo_core::agent::{self, Account, Billing};

use super::{AgentChoice, named};
use crate::App;
use crate::config::{AgentProfile, Config};
use crate::error::Failure;
use crate::guarded_command::directories;
use crate::messages::{Messages, Text, say};
use crate::present::faults;

/// How the agents people use are installed.
const INSTALL: [(&str, &str); 6] = [
    ("claude", "npm install -g @anthropic-ai/claude-code"),
    ("codex", "npm install -g @openai/codex"),
    ("copilot", "npm install -g @github/copilot"),
    ("gemini", "npm install -g @google/gemini-cli"),
    ("opencode", "npm install -g opencode-ai"),
    ("qwen", "npm install -g @qwen-code/qwen-code"),
];

/// What to type where a program is missing.
pub fn how_to_install(program: &str) -> Option<&'static str> {
    INSTALL.iter().find(|(name, _)| *name == program).map(|(_, how)| *how)
}

/// An agent, and why it was chosen.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ChosenAgent {
    pub(super) name: String,
    pub(super) why: Text,
}

/// A built-in agent that is installed.
#[derive(Debug)]
struct Installed {
    name: &'static str,
    account: Account,
    how_to_log_in: Text,
}

/// Looks around in the user's environment.
pub(super) fn find(
    app: &App,
    wanted: &AgentChoice,
    config: &Config,
    top: &Path,
) -> Result<ChosenAgent, Failure> {
    let installed: Vec<Installed> = agent::BUILT_IN
        .iter()
        .filter_map(|adapter| {
            // One that cannot do what the flags ask for is no choice either.
            let agent = named(app, adapter.name(), wanted, config, top).ok()?;
            let account = agent::account(&agent, &app.env);
            Some(Installed {
                name: adapter.name(),
                account,
                how_to_log_in: say(|m| faults::log_in_to(*adapter, m)),
            })
        })
        .collect();
    let path: Vec<PathBuf> = app.var("PATH").map(|path| directories(path).collect()).unwrap_or_default();
    choose(&installed, config).ok_or_else(|| none(&installed, &path))
}

/// Those of which it is known that they are logged in come before those of which it is not known.
fn choose(installed: &[Installed], config: &Config) -> Option<ChosenAgent> {
    let logged_in = |wanted| installed.iter().find(move |agent| agent.account.logged_in == wanted);
    let own = || {
        // Without a model it says what is missing, which helps whoever began to configure it.
        config
            .agents
            .contains_key("native")
            .then(|| ChosenAgent { name: "native".into(), why: say(Messages::agent_why_native) })
    };
    let found = logged_in(Some(true)).or_else(|| logged_in(None));
    let found = found.map(|agent| ChosenAgent { name: agent.name.into(), why: why(&agent.account) });
    found.or_else(own).or_else(|| only_own(config).filter(|_| installed.is_empty()))
}

/// The one agent that the user has made; of several nobody knows which is meant.
fn only_own(config: &Config) -> Option<ChosenAgent> {
    let has_command =
        |profile: &AgentProfile| profile.command.as_ref().is_some_and(|command| !command.is_empty());
    let mut own = config.agents.iter().filter(|(_, profile)| has_command(profile)).map(|(name, _)| name);
    let only = own.next().filter(|_| own.next().is_none())?;
    Some(ChosenAgent { name: only.clone(), why: say(Messages::agent_why_only_own) })
}

/// `installed, logged in; billed to ANTHROPIC_API_KEY`.
fn why(account: &Account) -> Text {
    say(|m| {
        let installed = match account.logged_in {
            Some(true) => m.agent_why_logged_in(),
            Some(false) | None => m.agent_why_installed(),
        };
        match billing(&account.billing, m) {
            Some(billing) => m.clauses(&installed, &billing),
            None => installed,
        }
    })
}

/// Who pays for an agent, where that is known.
pub fn billing(billing: &Billing, messages: Messages) -> Option<String> {
    match billing {
        Billing::Unknown => None,
        Billing::Subscription => Some(messages.agent_billed_subscription()),
        Billing::ApiKey(holder) if is_variable(holder) => Some(messages.agent_billed_to(holder)),
        Billing::ApiKey(holder) => Some(messages.agent_billed_to_key_in(holder)),
    }
}

/// Whether a key is held by an environment variable of this name; else it is a file.
pub fn is_variable(holder: &str) -> bool {
    holder.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Says which were looked for, where, and the shortest way to one.
fn none(installed: &[Installed], path: &[PathBuf]) -> Failure {
    let all: Vec<&str> = agent::BUILT_IN.iter().map(|adapter| adapter.name()).collect();
    let all = all.join(", ");
    let message = if installed.is_empty() {
        say(|m| m.agent_none_installed(&all, &in_words(path, m)))
    } else {
        say(Messages::agent_none_logged_in)
    };
    let failure = Failure::usage(message).kept(say(Messages::kept_nothing_started));
    let failure = installed.iter().fold(failure, |failure, agent| {
        failure.hint(say(|m| m.agent_not_logged_in(agent.name, agent.how_to_log_in.in_words(m))))
    });
    let install = INSTALL[0].1;
    let failure = match installed {
        [] => failure.hint(say(|m| m.agent_doctor_shortest(install))),
        _ => failure.hint(say(Messages::agent_doctor_missing)),
    };
    failure.hint(say(Messages::agent_any_command)).hint(say(Messages::agent_demo_shows_a_loop))
}

/// The first few directories, and how many more there are.
fn in_words(path: &[PathBuf], messages: Messages) -> String {
    const SHOWN: usize = 4;
    let mut words: Vec<String> = path.iter().take(SHOWN).map(|dir| dir.display().to_string()).collect();
    match path.len() {
        0 => messages.agent_path_empty(),
        count if count > SHOWN => {
            words.push(messages.agent_path_more(count - SHOWN));
            words.join(", ")
        }
        _ => words.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(name: &'static str, logged_in: Option<bool>, billing: Billing) -> Installed {
        let account = Account { logged_in, billing, ..Account::default() };
        Installed { name, account, how_to_log_in: "run `x login`".into() }
    }

    fn chosen(installed: &[Installed]) -> Option<String> {
        choose(installed, &Config::default()).map(|found| format!("{} ({})", found.name, found.why))
    }

    #[test]
    fn l0_the_first_that_is_logged_in_is_chosen_and_it_is_said_who_pays() {
        let key = || Billing::ApiKey("ANTHROPIC_API_KEY".into());
        for (installed, expected) in [
            (
                vec![agent("claude", Some(true), key()), agent("codex", Some(true), Billing::Subscription)],
                Some("claude (installed, logged in; billed to ANTHROPIC_API_KEY)"),
            ),
            (
                vec![
                    agent("claude", Some(false), Billing::Unknown),
                    agent("gemini", None, Billing::Unknown),
                    agent("codex", Some(true), Billing::Subscription),
                ],
                Some("codex (installed, logged in; subscription)"),
            ),
            (
                vec![agent("claude", Some(false), key()), agent("gemini", None, Billing::Unknown)],
                Some("gemini (installed)"),
            ),
            (vec![agent("claude", Some(false), key())], None),
            (vec![], None),
        ] {
            assert_eq!(chosen(&installed).as_deref(), expected, "{installed:?}");
        }
    }

    #[test]
    fn a6_without_any_the_own_agent_works_where_it_is_configured() {
        let mut config = Config::default();
        let installed = [agent("claude", Some(false), Billing::Unknown)];
        assert_eq!(choose(&installed, &config), None);
        config.agents.insert("native".into(), AgentProfile::default());
        assert_eq!(choose(&installed, &config).map(|found| found.name).as_deref(), Some("native"));
        let installed = [agent("gemini", None, Billing::Unknown)];
        assert_eq!(choose(&installed, &config).map(|found| found.name).as_deref(), Some("gemini"));
    }

    #[test]
    fn a4_every_built_in_agent_can_be_installed() {
        let missing: Vec<&str> = agent::BUILT_IN.iter().map(|adapter| adapter.name()).collect();
        let missing: Vec<&&str> = missing.iter().filter(|name| how_to_install(name).is_none()).collect();
        assert_eq!(missing, [] as [&&str; 0]);
        assert_eq!(how_to_install("mybot"), None);
    }

    #[test]
    fn l0_where_there_is_none_it_is_said_what_would_help() {
        let path = ["/a", "/b", "/c", "/d", "/e", "/f"].map(PathBuf::from);
        let failure = none(&[agent("claude", Some(false), Billing::Unknown)], &path);
        assert_eq!(failure.message, "no installed agent is logged in");
        assert!(failure.hints[0].english().contains("claude is installed but not logged in: run `x login`"));
        assert_eq!(failure.exit_code(), 2);
        let failure = none(&[], &path);
        assert_eq!(
            failure.message,
            "no agent is installed: claude, codex, copilot, gemini, opencode, qwen are not on PATH (/a, /b, /c, /d, and 2 more)"
        );
        assert!(failure.hints[0].english().starts_with("dacapo doctor"), "{failure}");
        assert!(none(&[], &[]).message.english().ends_with("PATH (which is empty)"));
    }
}
