//! An agent's conversation over many turns (L13, M3).

use crate::event::{TurnEnd, TurnRecord, Usage};
use crate::spec::{AgentSpec, OutputFormat, SessionNeed};

#[derive(Debug, Clone, Default)]
pub(crate) struct Conversation {
    pub(crate) session: Option<String>,
    /// What its turns used.
    pub(crate) usage: Usage,
    /// The agent has had a turn in it.
    conversed: bool,
}

/// Who else talks in the same place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    /// Nobody: the newest conversation there is the agent's own.
    Alone,
    /// Others: it is theirs as often as not.
    Others,
}

impl Conversation {
    /// Whether the next turn can go on in it.
    pub(crate) fn continues(&self, agent: &AgentSpec, company: Company) -> bool {
        self.conversed
            && match agent.session_need() {
                SessionNeed::Impossible => false,
                SessionNeed::Id => self.session.is_some(),
                SessionNeed::Nothing => company == Company::Alone,
            }
    }

    pub(crate) fn turn_started(&mut self, session: Option<&str>, continued: bool) {
        if !continued {
            self.session = session.map(str::to_owned);
            // Agents that count over a whole conversation begin again at zero with a new one.
            self.usage = Usage::default();
        }
        self.conversed = true;
    }

    /// `continued`: the turn was in a conversation that an earlier one opened.
    pub(crate) fn turn_finished(&mut self, record: &TurnRecord, agent: &AgentSpec, continued: bool) {
        self.usage = self.usage.plus(&record.usage);
        if record.session.is_some() {
            self.session.clone_from(&record.session);
        }
        if !continued && may_never_have_begun(record, agent) {
            self.lost();
        }
    }

    /// The next turn begins another one.
    pub(crate) fn lost(&mut self) {
        self.session = None;
        self.conversed = false;
    }
}

/// A conversation whose id we chose ourselves is known to exist only when a turn in it went well; one over ACP may
/// have lived in its process alone. Who takes up one that does not exist fails for ever.
fn may_never_have_begun(record: &TurnRecord, agent: &AgentSpec) -> bool {
    let uncertain = match record.end {
        TurnEnd::Failed { .. } | TurnEnd::Cancelled | TurnEnd::Interrupted => true,
        // Some agents keep nothing of a conversation whose first question was not answered.
        TurnEnd::Limit { .. } => record.usage.tokens() == 0,
        TurnEnd::Done | TurnEnd::Budget => false,
    };
    uncertain && (agent.presets_session() || agent.output == OutputFormat::Acp)
}

/// The record of a turn that was stopped before its agent was started.
pub(crate) fn never_run(turn: u32, iteration: u32, session: Option<&str>) -> TurnRecord {
    TurnRecord {
        turn,
        iteration,
        end: TurnEnd::Cancelled,
        session: session.map(str::to_owned),
        promise: false,
        blocked: None,
        tests_changed: None,
        summary: String::new(),
        usage: Usage::default(),
        duration_ms: 0,
        output_bytes: 0,
        exit_code: None,
        not_allowed: None,
        reply: None,
        timed_out: false,
        stderr_tail: None,
    }
}
