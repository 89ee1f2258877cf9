//! What a proof came to: whether the checks passed on the commit itself, and not only where the agent works (L4).

use serde::{Deserialize, Serialize};

use super::{CheckBrief, Hidden};
use crate::git::Oid;

/// What is known of the commit once all checks passed in the workspace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ProofState {
    /// All checks passed in a checkout of this commit to which no agent writes.
    Proven {
        /// The commit.
        commit_id: Oid,
    },
    /// They passed in the workspace, and nothing is known of the commit.
    PassedHere(Unproven),
}

/// Why checks that passed in the workspace prove nothing about the commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Unproven {
    /// The user did not want a proof (`--proof workspace`).
    WorkspaceOnly,
    /// What passed is in no commit (`--no-commit`, or a repository without commits).
    NoCommit,
    /// The task was stopped before the proof was done.
    Interrupted,
    /// There was no checkout to prove it in.
    Unavailable {
        /// What went wrong.
        message: String,
        /// What would help: a line of config, or a command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cure: Option<String>,
    },
    /// The checks failed there.
    Failed(ProofFailure),
}

/// Checks that passed in the workspace failed in a checkout of the commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProofFailure {
    /// The commit.
    pub commit_id: Oid,
    /// The checks that failed.
    pub checks: Vec<CheckBrief>,
    /// Files of the workspace that the commit does not hold, or holds otherwise; the first of them.
    pub hidden: Vec<Hidden>,
    /// How many they are in truth.
    pub hidden_total: u64,
    /// What would help: a line of config.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cure: Option<String>,
}

impl ProofState {
    /// The commit that is proven.
    pub fn proven(&self) -> Option<&Oid> {
        match self {
            ProofState::Proven { commit_id } => Some(commit_id),
            ProofState::PassedHere(_) => None,
        }
    }

    /// The checkout in which checks failed, and why that may be.
    pub fn failure(&self) -> Option<&ProofFailure> {
        match self {
            ProofState::PassedHere(Unproven::Failed(failure)) => Some(failure),
            ProofState::Proven { .. } | ProofState::PassedHere(_) => None,
        }
    }
}

impl Unproven {
    /// What would help: a line of config, or a command.
    pub fn cure(&self) -> Option<&str> {
        match self {
            Unproven::WorkspaceOnly | Unproven::NoCommit | Unproven::Interrupted => None,
            Unproven::Unavailable { cure, .. } => cure.as_deref(),
            Unproven::Failed(failure) => failure.cure.as_deref(),
        }
    }
}
