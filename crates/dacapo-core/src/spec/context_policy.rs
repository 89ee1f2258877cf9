//! What goes from one iteration to the next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AgentSpec, Writing};

/// What the next iteration is told, and what is committed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextPolicy {
    /// True if prompts say what earlier iterations did.
    pub enabled: bool,
    /// True if Dacapo commits after every iteration.
    pub auto_commit: bool,
    /// True if iterations are summarised.
    pub generate_summary: bool,
    /// How long a summary may be.
    pub summary_max_tokens: u32,
    /// How much of a prompt earlier iterations and checks may take.
    pub context_max_tokens: u32,
    /// What follows the prompt if `enabled` is false; null for the default text.
    pub loop_prompt: Option<String>,
    /// Who writes summaries. Absent if the agent's closing message is the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_by: Option<AgentSpec>,
    /// Who writes commit messages. Absent if they are made from the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_by: Option<AgentSpec>,
}

impl ContextPolicy {
    /// Who puts this into words, where it is wanted and not left to the agent itself.
    pub(crate) fn writer(&self, what: Writing) -> Option<&AgentSpec> {
        match what {
            Writing::Summary => self.summary_by.as_ref().filter(|_| self.generate_summary),
            Writing::CommitMessage => self.message_by.as_ref().filter(|_| self.auto_commit),
        }
    }
}
