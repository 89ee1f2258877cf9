//! Where the last run of the checks happens, and what it needs there (L4).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Setup;

/// How commits are proven.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProofPolicy {
    /// Where the checks run for it.
    pub at: ProofAt,
    /// The caches that a checkout starts with.
    pub cache: CachePolicy,
    /// What a new checkout needs before checks can run.
    pub setup: Setup,
    /// Held-out checks: commands that run in the proof alone. No agent gets to know them or what they print.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden_checks: Vec<String>,
    /// Commands that lock files suggest as setup and nobody has confirmed. They are not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggested_setup: Vec<String>,
}

impl ProofPolicy {
    /// The line of config that would set a fresh checkout up, where lock files say what it needs.
    pub(crate) fn suggestion(&self) -> Option<String> {
        (self.setup.commands.is_empty() && !self.suggested_setup.is_empty())
            .then(|| setup_line(&self.suggested_setup))
    }
}

/// `[worktree] setup = ["npm ci"]`.
pub fn setup_line(commands: &[String]) -> String {
    let list = serde_json::to_string(commands).unwrap_or_default();
    format!("[worktree] setup = {list}")
}

/// Where the last run of the checks happens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProofAt {
    /// In a checkout of the commit that no agent writes to.
    #[default]
    Checkout,
    /// Where the agent works: then nothing counts as proven.
    Workspace,
}

/// The caches that a proof starts with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CachePolicy {
    /// A copy of what a proof of the base commit, or of one of its ancestors, wrote: cargo's `target`, and `node_modules` and
    /// `.venv` where manifests and lock files have not changed.
    #[default]
    Base,
    /// None: everything is built from nothing.
    None,
}
