//! What `dacapo doctor` found, as `--json` prints it.

use dacapo_core::agent::Billing;
use dacapo_core::event::{FORMAT, Tokens};
use jiff::Timestamp;
use serde::Serialize;

use crate::messages::{Text, english, english_or_null};

/// Everything.
#[derive(Debug, Serialize)]
pub struct Report {
    v: u32,
    r#type: &'static str,
    /// At least one agent can do real work here.
    pub ok: bool,
    pub agents: Vec<AgentReport>,
    pub machine: Vec<Check>,
}

impl Report {
    pub fn new(agents: Vec<AgentReport>, machine: Vec<Check>) -> Self {
        // The scripted one is always there and does no work.
        let works = |agent: &AgentReport| agent.kind != Kind::Rehearsal && agent.is_proven_or_usable();
        let ok = agents.iter().any(works) && machine.iter().all(|check| check.state != CheckState::Bad);
        Self { v: FORMAT, r#type: "doctor", ok, agents, machine }
    }
}

/// Where an agent comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Dacapo knows how to run it.
    BuiltIn,
    /// Dacapo's own, for any model endpoint.
    Native,
    /// Dacapo's own, scripted.
    Rehearsal,
    /// From the config.
    Configured,
}

/// Whether an agent can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Ready,
    NotFound,
    NotLoggedIn,
    /// It is there, and cannot be run as it is.
    Unusable,
}

/// One agent.
#[derive(Debug, Serialize)]
pub struct AgentReport {
    pub name: String,
    pub kind: Kind,
    pub state: State,
    /// The program on PATH.
    pub path: Option<String>,
    /// What is run in its place.
    pub native_program: Option<String>,
    pub version: Option<String>,
    /// None: it cannot be told.
    pub logged_in: Option<bool>,
    pub billing: BillingReport,
    /// Where model calls go, where it is not the vendor's own address.
    pub base_url: Option<String>,
    /// A usage limit that a task of this machine ran into.
    pub limit: Option<LimitReport>,
    #[serde(serialize_with = "english_or_null")]
    pub problem: Option<Text>,
    /// What to do about it.
    #[serde(serialize_with = "english_or_null")]
    pub hint: Option<Text>,
    pub probe: Option<Probed>,
}

impl AgentReport {
    /// Of one that looks ready, before anything is known of it.
    pub fn new(name: &str, kind: Kind) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            state: State::Ready,
            path: None,
            native_program: None,
            version: None,
            logged_in: None,
            billing: BillingReport::Unknown,
            base_url: None,
            limit: None,
            problem: None,
            hint: None,
            probe: None,
        }
    }

    pub fn can_be_used(&self) -> bool {
        self.state == State::Ready
    }

    fn is_proven_or_usable(&self) -> bool {
        self.can_be_used() && self.probe.as_ref().is_none_or(|probe| probe.outcome == Outcome::Done)
    }
}

/// Who is charged. Of a key only the name of its holder is ever told.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BillingReport {
    #[default]
    Unknown,
    Subscription,
    ApiKey {
        from: String,
    },
}

impl From<Billing> for BillingReport {
    fn from(billing: Billing) -> Self {
        match billing {
            Billing::Unknown => BillingReport::Unknown,
            Billing::Subscription => BillingReport::Subscription,
            Billing::ApiKey(from) => BillingReport::ApiKey { from },
        }
    }
}

/// A limit that holds.
#[derive(Debug, Serialize)]
pub struct LimitReport {
    pub until: Timestamp,
    pub found_by: String,
    pub message: String,
}

/// What came of a test turn.
#[derive(Debug, Serialize)]
pub struct Probed {
    pub outcome: Outcome,
    /// What went wrong.
    #[serde(serialize_with = "english_or_null")]
    pub message: Option<Text>,
    /// What the agent said.
    pub reply: String,
    pub seconds: f64,
    pub tokens: Tokens,
    pub cost_usd: Option<f64>,
}

/// How a test turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Done,
    /// It works, but not now.
    Limit,
    /// It may work another time.
    Failed,
    /// It will not heal by itself: not logged in, billing, not there.
    Refused,
    Cancelled,
}

/// One thing about the machine.
#[derive(Debug, Serialize)]
pub struct Check {
    pub name: &'static str,
    pub state: CheckState,
    #[serde(serialize_with = "english")]
    pub detail: Text,
    #[serde(serialize_with = "english_or_null")]
    pub hint: Option<Text>,
}

/// How good it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    Good,
    /// Tasks run, but the user should know.
    Note,
    /// No task can run.
    Bad,
}

/// An address without the user and password that may stand in it.
pub fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(kind: Kind, state: State, outcome: Option<Outcome>) -> AgentReport {
        let probe = outcome.map(|outcome| Probed {
            outcome,
            message: None,
            reply: String::new(),
            seconds: 1.0,
            tokens: Tokens::default(),
            cost_usd: None,
        });
        AgentReport { state, probe, ..AgentReport::new("x", kind) }
    }

    #[test]
    fn a4_all_is_well_when_one_agent_can_work_and_so_can_the_machine() {
        let check = |state| Check { name: "git", state, detail: "".into(), hint: None };
        let ok = |agents, state| Report::new(agents, vec![check(state)]).ok;
        let ready = || agent(Kind::BuiltIn, State::Ready, None);
        assert!(ok(vec![agent(Kind::BuiltIn, State::NotFound, None), ready()], CheckState::Note));
        assert!(!ok(vec![ready()], CheckState::Bad));
        assert!(!ok(vec![agent(Kind::BuiltIn, State::NotLoggedIn, None)], CheckState::Good));
        assert!(!ok(vec![agent(Kind::Rehearsal, State::Ready, None)], CheckState::Good), "it does no work");
        assert!(!ok(vec![agent(Kind::BuiltIn, State::Ready, Some(Outcome::Refused))], CheckState::Good));
        assert!(ok(vec![agent(Kind::Native, State::Ready, Some(Outcome::Done))], CheckState::Good));
    }

    #[test]
    fn s15_an_address_is_shown_without_what_it_may_hold_of_credentials() {
        for (url, shown) in [
            ("http://127.0.0.1:8701/v1", "http://127.0.0.1:8701/v1"),
            ("https://me:secret@host/v1?key=secret#x", "https://host/v1"),
            ("https://a@b@host", "https://host"),
            ("https://host/p@th", "https://host/p@th"),
            ("host:80", "host:80"),
        ] {
            assert_eq!(without_credentials(url), shown);
        }
    }
}
