//! What a proof came to: whether the checks passed on the commit itself, and not only where the agent works (L4).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CheckBrief, Hidden};
use crate::git::Oid;
use crate::spec::CachePolicy;

/// Whether a commit is proven, once all checks passed where the agent works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ProofState {
    /// All checks passed in a checkout of the commit that no agent writes to.
    Proven {
        /// The commit.
        commit_id: Oid,
        /// The caches that the proof started with; without it, it started from nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cache: Option<ProofCache>,
        /// Why the checks could see files that the agent left; without it, they could not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exposed: Option<Exposed>,
    },
    /// The checks passed where the agent works. Nothing is known about the commit.
    PassedHere(Unproven),
    /// All checks passed in such a checkout, but not with the tests as they were before the task.
    TestsChanged {
        /// The commit.
        commit_id: Oid,
    },
}

/// Caches that a proof started with: a copy of what an earlier proof wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProofCache {
    /// The commit that the earlier proof was of: the task's base, or one of its ancestors.
    pub commit_id: Oid,
    /// Files of that commit are gone in this one. A tool may not notice, so the proof is made once more from nothing.
    pub confirm: bool,
}

/// Why the checks of a proof could see what the agent left: its workspace, temp, packages of the user alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Exposed {
    /// The system did not let Dacapo hide it.
    Refused {
        /// What it refused, and its error.
        message: String,
    },
    /// The workspace holds the user's home directory, which checks need.
    HomeInWorkspace,
}

/// Why a commit is not proven.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Unproven {
    /// The user did not want a proof (`--proof workspace`).
    WorkspaceOnly,
    /// There is no commit (`--no-commit`, or a repository without commits).
    NoCommit,
    /// The task was stopped before the proof was done.
    Interrupted,
    /// There was no checkout to prove it in.
    Unavailable {
        /// What went wrong.
        message: String,
        /// A setting or command that would help.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cure: Option<String>,
    },
    /// The checks failed in the checkout.
    Failed(ProofFailure),
}

/// The checks passed where the agent works, and failed in a checkout of the commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProofFailure {
    /// The commit.
    pub commit_id: Oid,
    /// The checks that failed.
    pub checks: Vec<CheckBrief>,
    /// Files that the agent has and the commit does not, the first of them: they may be the reason.
    pub hidden: Vec<Hidden>,
    /// How many such files there are.
    pub hidden_total: u64,
    /// A setting that would help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cure: Option<String>,
}

impl ProofState {
    /// The commit that is proven.
    pub fn proven(&self) -> Option<&Oid> {
        match self {
            ProofState::Proven { commit_id, .. } => Some(commit_id),
            ProofState::PassedHere(_) | ProofState::TestsChanged { .. } => None,
        }
    }

    /// Returns true if the commit fails with the tests as they were.
    pub fn has_changed_tests(&self) -> bool {
        matches!(self, ProofState::TestsChanged { .. })
    }

    /// What the proof of the commit started with; none: it is not proven.
    pub fn cache(&self) -> Option<CachePolicy> {
        match self {
            ProofState::Proven { cache: Some(_), .. } => Some(CachePolicy::Base),
            ProofState::Proven { cache: None, .. } => Some(CachePolicy::None),
            ProofState::PassedHere(_) | ProofState::TestsChanged { .. } => None,
        }
    }

    /// Why the proof of the commit could see what the agent left.
    pub fn exposed(&self) -> Option<&Exposed> {
        match self {
            ProofState::Proven { exposed, .. } => exposed.as_ref(),
            ProofState::PassedHere(_) | ProofState::TestsChanged { .. } => None,
        }
    }

    /// The checkout in which checks failed, and why that may be.
    pub fn failure(&self) -> Option<&ProofFailure> {
        match self {
            ProofState::PassedHere(Unproven::Failed(failure)) => Some(failure),
            ProofState::Proven { .. } | ProofState::PassedHere(_) | ProofState::TestsChanged { .. } => None,
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
