//! What went wrong with an agent's turn or an iteration. What the agent or a program said itself is a quotation (`said`); all
//! else is for surfaces to say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AgentFault, WorkspaceProblem};
use crate::json::seconds;

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fault {
    /// The agent is not logged in, or its login is refused.
    NotLoggedIn {
        /// What the agent said; may be empty.
        said: String,
        /// How to log in. Absent if that is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        log_in: Option<LogIn>,
    },
    /// The API key was refused.
    KeyRefused {
        /// The variable or file that holds the key.
        holder: String,
        /// What the agent said; may be empty.
        said: String,
    },
    /// The account has no credit, or the plan does not include the agent.
    NotPaidFor {
        /// What the agent said; may be empty.
        said: String,
    },
    /// The agent does not know the conversation any more.
    SessionGone {
        /// The agent's name.
        agent: String,
        /// What the agent said; may be empty.
        said: String,
    },
    /// The agent's process ended, and a new one could not continue the conversation (Agent Client Protocol).
    SessionNotTakenUp {
        /// The task's name.
        follow_up_of: String,
        /// What the agent said; may be empty.
        said: String,
    },
    /// The agent refuses to work outside of a git repository.
    OutsideRepository {
        /// The agent's name.
        agent: String,
    },
    /// The prompt is too long for the agent.
    PromptTooLong {
        /// The agent's name.
        agent: String,
        /// How many characters it takes, as the agent writes it.
        most: String,
    },
    /// The turn took too long.
    TooSlow {
        /// The limit that was reached.
        limit: TimeLimit,
        /// How long it may take.
        #[serde(rename = "limit_seconds", with = "seconds")]
        #[schemars(with = "f64")]
        limit_ms: u64,
    },
    /// The agent printed nothing and used no processor for too long.
    Silent {
        /// How long it may be silent.
        #[serde(rename = "limit_seconds", with = "seconds")]
        #[schemars(with = "f64")]
        limit_ms: u64,
        /// Why it repeated its last model call. Absent if it did not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<String>,
    },
    /// The agent repeated a failing model call too often.
    TriedInVain {
        /// The number of calls that failed.
        attempts: u32,
        /// Why the calls failed.
        said: String,
    },
    /// The agent does not answer in the Agent Client Protocol.
    NoAcpAnswer {
        /// What it printed instead. Absent if it printed nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<String>,
    },
    /// The agent exited with code 0 and did not say that its turn was over.
    Unfinished {
        /// A line of its standard error; may be empty.
        said: String,
    },
    /// The agent's command cannot be run.
    NotRunnable {
        /// The exit code of the shell.
        #[serde(rename = "exit_code")]
        code: i32,
        /// What the shell said; may be empty.
        said: String,
    },
    /// The agent exited with an error.
    Exited {
        /// Its exit code.
        #[serde(rename = "exit_code")]
        code: i32,
        /// A line of its standard error; may be empty.
        said: String,
    },
    /// A signal that Dacapo did not send ended the agent.
    Signalled {
        /// The number of the signal.
        signal: i32,
        /// A line of its standard error; may be empty.
        said: String,
    },
    /// The process that guards the agent was killed, so the agent was ended.
    GuardLost,
    /// The agent did nothing, because it was not allowed to.
    NotAllowed(NotAllowed),
    /// The budget was used up.
    BudgetUsed,
    /// Something that Dacapo found out about the agent's turn; `found` says what.
    Agent(AgentFault),
    /// Something is wrong with the directory that the agent works in; `problem` says what.
    Workspace(WorkspaceProblem),
    /// Something else, in the words of the agent, of git or of the system.
    Said {
        /// What was said.
        #[serde(rename = "said")]
        message: String,
    },
}

impl Fault {
    /// The login is refused, with these words about it.
    pub(crate) fn not_logged_in(said: &str, log_in: Option<LogIn>) -> Self {
        Self::NotLoggedIn { said: said.to_owned(), log_in }
    }

    /// What somebody else said in it.
    pub(super) fn said_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::NotLoggedIn { said, .. }
            | Self::KeyRefused { said, .. }
            | Self::NotPaidFor { said }
            | Self::SessionGone { said, .. }
            | Self::SessionNotTakenUp { said, .. }
            | Self::TriedInVain { said, .. }
            | Self::Unfinished { said }
            | Self::NotRunnable { said, .. }
            | Self::Exited { said, .. }
            | Self::Signalled { said, .. }
            | Self::Said { message: said } => Some(said),
            Self::Silent { said, .. } | Self::NoAcpAnswer { said } => said.as_mut(),
            Self::Agent(found) => found.said_mut(),
            Self::OutsideRepository { .. }
            | Self::PromptTooLong { .. }
            | Self::TooSlow { .. }
            | Self::GuardLost
            | Self::NotAllowed(_)
            | Self::BudgetUsed
            | Self::Workspace(_) => None,
        }
    }

    /// The words of somebody else, where it is nothing but these.
    pub fn quoted(&self) -> Option<&str> {
        match self {
            Self::Said { message } => Some(message),
            Self::Workspace(problem) => problem.quoted(),
            Self::NotLoggedIn { .. }
            | Self::KeyRefused { .. }
            | Self::NotPaidFor { .. }
            | Self::SessionGone { .. }
            | Self::SessionNotTakenUp { .. }
            | Self::OutsideRepository { .. }
            | Self::PromptTooLong { .. }
            | Self::TooSlow { .. }
            | Self::Silent { .. }
            | Self::TriedInVain { .. }
            | Self::NoAcpAnswer { .. }
            | Self::Unfinished { .. }
            | Self::NotRunnable { .. }
            | Self::Exited { .. }
            | Self::Signalled { .. }
            | Self::GuardLost
            | Self::NotAllowed(_)
            | Self::BudgetUsed
            | Self::Agent(_) => None,
        }
    }
}

impl From<AgentFault> for Fault {
    fn from(found: AgentFault) -> Self {
        Self::Agent(found)
    }
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self::Said { message }
    }
}

impl From<&str> for Fault {
    fn from(message: &str) -> Self {
        Self::Said { message: message.to_owned() }
    }
}

/// How to log in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogIn {
    /// The built-in agent that logs in the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The ways that the agent itself names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<String>,
}

impl LogIn {
    /// As with a built-in agent.
    pub fn of(agent: &str) -> Self {
        Self { agent: Some(agent.to_owned()), ways: Vec::new() }
    }
}

/// A time limit for an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeLimit {
    /// Of a turn (`--turn-timeout`).
    Turn,
    /// Of a call of an agent in a milestone (`call_timeout`).
    Call,
}

/// What an agent was not allowed to do, and what would allow it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotAllowed {
    /// The agent's name.
    pub agent: String,
    /// The tools that it was refused, the first few. Absent if it was given no tools that change anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The argument that would allow it, if added to the agent's own command. Absent if `--approval` decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::event::{AgentEvent, FailureKind, TurnEnd};

    fn all() -> Vec<Fault> {
        let said = || "no".to_owned();
        let agent = || "one".to_owned();
        vec![
            Fault::not_logged_in("no", Some(LogIn { agent: None, ways: vec![said()] })),
            Fault::not_logged_in("", None),
            Fault::KeyRefused { holder: "KEY".into(), said: said() },
            Fault::NotPaidFor { said: said() },
            Fault::SessionGone { agent: agent(), said: said() },
            Fault::SessionNotTakenUp { follow_up_of: "x".into(), said: said() },
            Fault::OutsideRepository { agent: agent() },
            Fault::PromptTooLong { agent: agent(), most: "10".into() },
            Fault::TooSlow { limit: TimeLimit::Call, limit_ms: 1 },
            Fault::Silent { limit_ms: 1, said: Some(said()) },
            Fault::TriedInVain { attempts: 2, said: said() },
            Fault::NoAcpAnswer { said: None },
            Fault::Unfinished { said: said() },
            Fault::NotRunnable { code: 127, said: said() },
            Fault::Exited { code: 1, said: said() },
            Fault::Signalled { signal: 9, said: said() },
            Fault::GuardLost,
            Fault::NotAllowed(NotAllowed {
                agent: agent(),
                tools: vec![said()],
                argument: Some("-y".into()),
            }),
            Fault::BudgetUsed,
            Fault::Agent(AgentFault::ModelRefused),
            Fault::Agent(AgentFault::Exited { agent: agent(), code: 3, said: said() }),
            Fault::Said { message: said() },
        ]
    }

    #[test]
    fn a_fault_is_read_as_it_was_written_wherever_it_stands() {
        for fault in all() {
            let end = TurnEnd::Failed { failure: FailureKind::Transient, fault: fault.clone() };
            let text = serde_json::to_string(&end).unwrap();
            assert_eq!(serde_json::from_str::<TurnEnd>(&text).unwrap(), end, "{text}");
            let event = AgentEvent::Error { failure: FailureKind::Permanent, fault };
            let text = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<AgentEvent>(&text).unwrap(), event, "{text}");
        }
    }

    #[test]
    fn what_an_agent_says_itself_is_quoted_and_nothing_more() {
        let event = AgentEvent::Error { failure: FailureKind::Permanent, fault: "no".into() };
        let json = json!({"kind": "error", "failure": "permanent", "fault": {"kind": "said", "said": "no"}});
        assert_eq!(serde_json::to_value(&event).unwrap(), json);
        assert_eq!(serde_json::from_value::<AgentEvent>(json).unwrap(), event);
    }
}
