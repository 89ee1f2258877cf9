//! What an adapter found out about a turn that failed, where the agent has no words of its own for it or only a code.

use serde::{Deserialize, Serialize};

/// What became of the turn. What the agent said itself is a quotation (`said`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "found", rename_all = "snake_case")]
pub enum AgentFault {
    /// The model refused to go on.
    ModelRefused,
    /// The model's answer was cut off at its limit of tokens.
    AnswerCut,
    /// The agent stopped at its own limit of model calls for a turn.
    CallsUsed,
    /// The agent says that somebody cancelled the turn.
    Cancelled,
    /// It speaks another version of the Agent Client Protocol.
    OtherProtocol {
        version: u64,
        expected: u64,
    },
    /// It opened a conversation without an id.
    NoSessionId,
    /// It asks for permission again and again, and does not read the answers.
    NotReading,
    /// What it says cannot be written to disk.
    OutputNotKept,
    /// The path of the workspace is no text, which the protocol of this agent needs.
    PathNotText {
        path: String,
    },
    /// A model that was asked to write something did not answer in time.
    NoAnswer {
        limit_ms: u64,
    },
    /// A model that was asked to write something wrote nothing that could be used.
    NothingToUse,
    /// It ended its turn in this way, in its own word for it.
    EndedWith {
        agent: String,
        word: String,
    },
    /// It was interrupted, in its own word for it.
    Interrupted {
        agent: String,
        word: String,
    },
    /// The model server refused the request.
    RequestRefused {
        said: String,
    },
    Exited {
        agent: String,
        code: i32,
        said: String,
    },
    /// It does not know an argument that newer versions know.
    TooOld {
        package: String,
        said: String,
    },
    /// It does not know an option that Dacapo uses.
    OldVersion {
        agent: String,
    },
    ModelNotFound {
        model: String,
    },
    /// Its own configuration is invalid.
    BadConfiguration {
        said: String,
    },
    /// A step of its installation is missing.
    HalfInstalled {
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
            | Self::ModelNotFound { .. }
            | Self::HalfInstalled { .. } => None,
        }
    }
}
