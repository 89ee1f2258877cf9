//! What an adapter found out about a turn that failed, where the agent has no words of its own for it or only a code.

use crate::json::seconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What Dacapo found out about a turn. What the agent said itself is a quotation (`said`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "found", rename_all = "snake_case")]
pub enum AgentFault {
    /// The model refused to continue.
    ModelRefused,
    /// The model's answer was cut off at its limit of tokens.
    AnswerCut,
    /// The agent stopped at its own limit of model calls for a turn.
    CallsUsed,
    /// The agent says that somebody cancelled the turn.
    Cancelled,
    /// The agent speaks another version of the Agent Client Protocol.
    OtherProtocol {
        /// Its version.
        version: u64,
        /// The version that Dacapo speaks.
        expected: u64,
    },
    /// The agent opened a conversation without an id.
    NoSessionId,
    /// The agent asks for permission again and again, and does not read the answers.
    NotReading,
    /// What the agent says cannot be written to disk.
    OutputNotKept,
    /// The path of the directory to work in is not valid text, which the agent's protocol needs.
    PathNotText {
        /// The path.
        path: String,
    },
    /// A model that was asked to write something did not answer in time.
    NoAnswer {
        /// How long it had.
        #[serde(rename = "limit_seconds", with = "seconds")]
        #[schemars(with = "f64")]
        limit_ms: u64,
    },
    /// A model that was asked to write something wrote nothing usable.
    NothingToUse,
    /// The agent ended its turn in a way that Dacapo does not know.
    EndedWith {
        /// The agent's name.
        agent: String,
        /// Its word for it.
        word: String,
    },
    /// The agent was interrupted.
    Interrupted {
        /// The agent's name.
        agent: String,
        /// Its word for it.
        word: String,
    },
    /// The model server refused the request.
    RequestRefused {
        /// What it said; may be empty.
        said: String,
    },
    /// The agent exited with an error.
    Exited {
        /// The agent's name.
        agent: String,
        /// Its exit code.
        #[serde(rename = "exit_code")]
        code: i32,
        /// What it said; may be empty.
        said: String,
    },
    /// The agent does not know an argument that newer versions know.
    TooOld {
        /// The package to update.
        package: String,
        /// What the agent said.
        said: String,
    },
    /// The agent does not know an option that Dacapo uses.
    OldVersion {
        /// The agent's name.
        agent: String,
    },
    /// This version of the agent runs its tools in a background server of the user's, which outlives every turn.
    SharedServer {
        /// The agent and the version, such as `opencode 2`.
        version: String,
        /// The version that can be used, such as `opencode 1`.
        instead: String,
        /// The command that installs it.
        command: String,
    },
    /// There is no such model.
    ModelNotFound {
        /// The model.
        model: String,
    },
    /// The agent's own configuration is invalid.
    BadConfiguration {
        /// What it said.
        said: String,
    },
    /// A step of the agent's installation is missing.
    HalfInstalled {
        /// The command that completes it.
        command: String,
    },
}

impl AgentFault {
    /// What somebody else said in it.
    pub(super) fn said_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::RequestRefused { said }
            | Self::Exited { said, .. }
            | Self::TooOld { said, .. }
            | Self::BadConfiguration { said } => Some(said),
            Self::ModelRefused
            | Self::AnswerCut
            | Self::CallsUsed
            | Self::Cancelled
            | Self::OtherProtocol { .. }
            | Self::NoSessionId
            | Self::NotReading
            | Self::OutputNotKept
            | Self::PathNotText { .. }
            | Self::NoAnswer { .. }
            | Self::NothingToUse
            | Self::EndedWith { .. }
            | Self::Interrupted { .. }
            | Self::OldVersion { .. }
            | Self::SharedServer { .. }
            | Self::ModelNotFound { .. }
            | Self::HalfInstalled { .. } => None,
        }
    }
}
