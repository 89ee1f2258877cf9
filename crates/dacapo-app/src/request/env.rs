//! Variables that are set for a task: `--env`.

use dacapo_core::process::is_secret_name;
use dacapo_core::spec::TaskSpec;

use crate::App;
use crate::config::Config;
use crate::error::Failure;
use crate::messages::{Messages, Text, say};

/// The variables of `--env`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// What is stored: of a secret only its name (S15).
    pub env: Vec<(String, Option<String>)>,
    /// The values that are not; they stay in memory.
    pub secrets: Vec<(String, String)>,
}

/// Takes them apart; the last of a name counts, as everywhere.
pub fn variables<'a>(given: impl IntoIterator<Item = (&'a String, &'a String)>) -> Variables {
    let mut all = Variables::default();
    for (name, value) in given {
        all.env.retain(|(known, _)| known != name);
        all.secrets.retain(|(known, _)| known != name);
        let secret = is_secret_name(name);
        all.env.push((name.clone(), (!secret).then(|| value.clone())));
        all.secrets.extend(secret.then(|| (name.clone(), value.clone())));
    }
    all
}

/// Secrets of `--env` that nobody has given again: without them it would run as something else.
pub fn given_again(
    app: &App,
    spec: &TaskSpec,
    secrets: &[(String, String)],
    command: &Text,
) -> Result<(), Failure> {
    let is_set = |name: &String| secrets.iter().any(|(known, _)| known == name) || app.var(name).is_some();
    let missing = spec.env.iter().find(|(name, value)| value.is_none() && !is_set(name));
    match missing {
        Some((name, _)) => Err(Failure::usage(say(|m| m.env_secret_missing(spec.name.as_str(), name)))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(|m| format!("{name}=… {}", command.in_words(m))))),
        None => Ok(()),
    }
}

/// Gives agents back the secrets that are stored nowhere: from the settings of today, else from the user's environment.
pub fn fill_agents(app: &App, config: &Config, spec: &mut TaskSpec) {
    for agent in spec.all_agents_mut() {
        let profile = config.agent_profile(&agent.name);
        let here = |name: &str| app.var(name).and_then(|value| value.to_str()).map(str::to_owned);
        agent.env.fill(|name| profile.env.get(name).cloned().or_else(|| here(name)));
    }
}

/// The same; a secret that nobody has given again is refused: without it the agent would run as somebody else.
pub fn agents_given_again(
    app: &App,
    config: &Config,
    spec: &mut TaskSpec,
    command: &Text,
) -> Result<(), Failure> {
    fill_agents(app, config, spec);
    let mut missing = spec.all_agents().flat_map(|agent| agent.env.missing().map(|name| (&agent.name, name)));
    match missing.next() {
        Some((agent, name)) => {
            Err(Failure::usage(say(|m| m.env_agent_secret_missing(spec.name.as_str(), agent, name)))
                .kept(say(Messages::kept_nothing_started))
                .hint(say(|m| format!("{name}=… {}", command.in_words(m))))
                .hint(say(|m| m.env_agent_secret_in_settings(agent, name))))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Variables, variables};

    #[test]
    fn s15_values_of_secrets_are_not_stored() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let given = [pair("MODE", "a"), pair("API_TOKEN", "t0p"), pair("MODE", "b"), pair("PGPASSWORD", "x")];
        let Variables { env, secrets } = variables(given.iter().map(|(name, value)| (name, value)));
        let stored = [("API_TOKEN", None), ("MODE", Some("b")), ("PGPASSWORD", None)];
        assert_eq!(env, stored.map(|(name, value)| (name.to_owned(), value.map(str::to_owned))));
        assert_eq!(secrets, [pair("API_TOKEN", "t0p"), pair("PGPASSWORD", "x")]);
    }
}
