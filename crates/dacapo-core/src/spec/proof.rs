//! Where the last run of the checks happens, and what it needs there (L4).

use serde::{Deserialize, Serialize};

use super::Setup;

/// How checks that passed in the workspace are proven on the commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProofPolicy {
    /// Where.
    pub at: ProofAt,
    /// Patterns of untracked paths that stay in the checkout between proofs, beside the caches that are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
    /// What a fresh checkout needs before checks can run there.
    pub setup: Setup,
    /// What lock files suggest as setup and nobody has confirmed: it is named, not run.
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProofAt {
    /// In a checkout of the commit, with a git directory of its own, to which no agent writes.
    #[default]
    Checkout,
    /// Nowhere: what passed in the workspace is taken as it is, and nothing is verified.
    Workspace,
}
