//! The variables that an agent is given beyond those of the user.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::{AgentSpec, TaskSpec};
use crate::process::is_secret_name;

/// Variables by name, each once: pairs of a name and a value. A secret has no value.
// It has one in memory, and is stored without it (S15): what is read from disk has the name alone, until `fill` gives the
// value back.
#[derive(Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct AgentEnv(Vec<(String, Option<String>)>);

impl AgentEnv {
    /// The variables whose values are known.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_deref()?)))
    }

    /// The variables whose values are not known.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, value)| value.is_none()).map(|(name, _)| name.as_str())
    }

    /// Gives values to those that have none, where `value_of` knows one.
    pub fn fill(&mut self, value_of: impl Fn(&str) -> Option<String>) {
        for (name, value) in self.0.iter_mut().filter(|(_, value)| value.is_none()) {
            *value = value_of(name);
        }
    }
}

/// Of two with the same name the later one counts.
impl Extend<(String, String)> for AgentEnv {
    fn extend<I: IntoIterator<Item = (String, String)>>(&mut self, variables: I) {
        for (name, value) in variables {
            self.0.retain(|(known, _)| *known != name);
            self.0.push((name, Some(value)));
        }
    }
}

impl FromIterator<(String, String)> for AgentEnv {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        let mut all = Self::default();
        all.extend(variables);
        all
    }
}

impl From<Vec<(String, String)>> for AgentEnv {
    fn from(variables: Vec<(String, String)>) -> Self {
        variables.into_iter().collect()
    }
}

impl Serialize for AgentEnv {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stored = |(name, value): &(String, Option<String>)| {
            (name.clone(), value.clone().filter(|_| !is_secret_name(name)))
        };
        serializer.collect_seq(self.0.iter().map(stored))
    }
}

/// The names alone: values can be secrets.
impl fmt::Debug for AgentEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl TaskSpec {
    /// Everything that is run as an agent for the task: its agents, and the models that write about its iterations.
    pub fn all_agents(&self) -> impl Iterator<Item = &AgentSpec> {
        self.agents.iter().chain(&self.context.summary_by).chain(&self.context.message_by)
    }

    /// The same, to give secrets back.
    pub fn all_agents_mut(&mut self) -> impl Iterator<Item = &mut AgentSpec> {
        self.agents.iter_mut().chain(&mut self.context.summary_by).chain(&mut self.context.message_by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s15_secrets_are_held_in_memory_and_not_stored() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut env = AgentEnv::from(vec![pair("MODE", "a"), pair("API_KEYS", "x"), pair("MODE", "b")]);
        assert_eq!(env.iter().collect::<Vec<_>>(), [("API_KEYS", "x"), ("MODE", "b")]);
        let stored = serde_json::to_value(&env).unwrap();
        assert_eq!(stored, serde_json::json!([["API_KEYS", null], ["MODE", "b"]]));
        assert_eq!(format!("{env:?}"), r#"["API_KEYS", "MODE"]"#);
        env = serde_json::from_value(stored).unwrap();
        assert_eq!(env.missing().collect::<Vec<_>>(), ["API_KEYS"]);
        env.fill(|name| (name == "API_KEYS").then(|| "again".to_owned()));
        assert_eq!(env.iter().collect::<Vec<_>>(), [("API_KEYS", "again"), ("MODE", "b")]);
    }
}
