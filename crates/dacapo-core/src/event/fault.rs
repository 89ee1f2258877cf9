//! What went wrong with an agent's turn or an iteration. What the agent or a program said itself is a quotation (`said`,
//! `message`); all else is for surfaces to say.

use serde::{Deserialize, Serialize};

use super::{AgentFault, WorkspaceProblem};

/// What went wrong.
///
/// It stands beside the fields of a [`TurnRecord`](super::TurnRecord) and of an event of an agent, so no field here has a
/// name of theirs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum Fault {
    /// The login is missing, has run out or is refused.
    NotLoggedIn {
        /// What the agent says about it; empty: no more than that.
        said: String,
        /// How one logs in, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        log_in: Option<LogIn>,
    },
    /// The login is a key that was set, and that key is refused.
    KeyRefused {
        /// The variable or file that holds it.
        holder: String,
        said: String,
    },
    NotPaidFor {
        said: String,
    },
    /// The conversation that was to go on is not to be had any more.
    SessionGone {
        agent: String,
        said: String,
    },
    /// The process that held the conversation had ended, and a new one could not take it up (ACP).
    SessionNotTakenUp {
        /// The task.
        follow_up_of: String,
        said: String,
    },
    /// The agent refuses to work outside of a git repository.
    OutsideRepository {
        agent: String,
    },
    /// The agent takes no prompt of this length.
    PromptTooLong {
        agent: String,
        /// So many characters, as the agent writes it.
        most: String,
    },
    /// It took longer than it may.
    TooSlow {
        limit: TimeLimit,
        limit_ms: u64,
    },
    /// There was no sign of life for too long.
    Silent {
        limit_ms: u64,
        /// What it said about the attempt that it was at, where it said that it tries again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<String>,
    },
    /// It tried the same again and again.
    TriedInVain {
        attempts: u32,
        said: String,
    },
    /// It does not answer in the Agent Client Protocol.
    NoAcpAnswer {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<String>,
    },
    /// It exited with 0 and never said that its turn was over.
    Unfinished {
        /// A line of its standard error; empty: none.
        said: String,
    },
    /// The shell says that there is no such program.
    NotRunnable {
        code: i32,
        said: String,
    },
    Exited {
        code: i32,
        said: String,
    },
    /// A signal that we did not send ended it.
    Signalled {
        signal: i32,
        said: String,
    },
    /// The guard of the agent was killed.
    GuardLost,
    /// It did nothing because it was not allowed to.
    NotAllowed(NotAllowed),
    /// All of the money or of the tokens is used.
    BudgetUsed,
    /// What the agent's adapter found out.
    Agent(AgentFault),
    /// Something is wrong with the place it works in, or with what it left there.
    Workspace(WorkspaceProblem),
    /// In the words of the agent, of git or of the system.
    #[serde(untagged)]
    Said {
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

/// How one logs in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogIn {
    /// As with this built-in agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The ways that the agent itself names, in its own words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<String>,
}

impl LogIn {
    /// As with a built-in agent.
    pub fn of(agent: &str) -> Self {
        Self { agent: Some(agent.to_owned()), ways: Vec::new() }
    }
}

/// A limit of time that a person sets for an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeLimit {
    /// For a turn of a loop.
    Turn,
    /// For a call of an agent in a milestone.
    Call,
}

/// What an agent was not allowed to do, and what would allow it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotAllowed {
    pub agent: String,
    /// The tools that it was refused, the first few; none: it was given no tools that change anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The argument that the agent's own command lacks; none: the task's approval is not enough.
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
    fn what_an_agent_says_itself_is_its_message_and_nothing_more() {
        let event = AgentEvent::Error { failure: FailureKind::Permanent, fault: "no".into() };
        let json = json!({"kind": "error", "failure": "permanent", "message": "no"});
        assert_eq!(serde_json::to_value(&event).unwrap(), json);
        assert_eq!(serde_json::from_value::<AgentEvent>(json).unwrap(), event);
    }
}
