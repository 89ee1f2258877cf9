//! What `dacapo doctor` found, as `--json` prints it.

use dacapo_core::agent::Billing;
use dacapo_core::event::{FORMAT, Tokens};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::messages::{Text, english, english_or_null};

/// What `doctor --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Doctor")]
pub struct Report {
    /// The version of this format.
    v: u32,
    /// Says what the object is.
    #[schemars(extend("const" = "doctor"))]
    r#type: &'static str,
    /// True if tasks can run on this machine and at least one agent can work on them.
    pub ok: bool,
    /// Every agent that Dacapo knows.
    pub agents: Vec<AgentReport>,
    /// What tasks need of the machine.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "AgentKind")]
pub enum Kind {
    /// A program that Dacapo knows how to run.
    BuiltIn,
    /// Dacapo's own agent, for any model endpoint.
    Native,
    /// Dacapo's own agent that follows a script.
    Rehearsal,
    /// An agent from the settings.
    Configured,
}

/// Whether an agent can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "AgentState")]
pub enum State {
    /// It can be used.
    Ready,
    /// Its program is not installed.
    NotFound,
    /// It is installed, and nobody is logged in.
    NotLoggedIn,
    /// It is installed, and cannot be run as it is.
    Unusable,
}

/// One agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentReport {
    /// The name that `--agent` takes.
    pub name: String,
    /// Where it comes from.
    pub kind: Kind,
    /// Whether it can be used.
    pub state: State,
    /// The path of its program; null if there is none.
    pub path: Option<String>,
    /// The program that is run in place of a wrapper script; null if that is the same.
    pub native_program: Option<String>,
    /// Its version; null if it is not known.
    pub version: Option<String>,
    /// Whether somebody is logged in; null if that cannot be told.
    pub logged_in: Option<bool>,
    /// Who pays for it.
    pub billing: BillingReport,
    /// Where model calls go; null if it is the vendor's own address.
    pub base_url: Option<String>,
    /// A usage limit that a task on this machine ran into; null if none is known.
    pub limit: Option<LimitReport>,
    /// Why it cannot be used, as a sentence; null if it can.
    #[serde(serialize_with = "english_or_null")]
    #[schemars(with = "Option<String>")]
    pub problem: Option<Text>,
    /// What to do about it; null if there is nothing to do.
    #[serde(serialize_with = "english_or_null")]
    #[schemars(with = "Option<String>")]
    pub hint: Option<Text>,
    /// What came of a test turn (`--probe`); null without one.
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

/// Who pays for an agent. Of a key, only the place that holds it is ever named.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[schemars(rename = "Billing")]
pub enum BillingReport {
    /// That cannot be told.
    #[default]
    Unknown,
    /// A subscription: turns are not billed one by one.
    Subscription,
    /// Turns are billed to an API key.
    ApiKey {
        /// The variable or file that holds the key.
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

/// A usage limit that is in force.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LimitReport {
    /// When it ends.
    #[serde(rename = "resets_at")]
    pub until: Timestamp,
    /// The task that ran into it.
    pub found_by: String,
    /// What the agent said.
    pub message: String,
}

/// What came of a test turn.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Probed {
    /// How it ended.
    pub outcome: Outcome,
    /// What went wrong; null if nothing did.
    #[serde(serialize_with = "english_or_null")]
    #[schemars(with = "Option<String>")]
    pub message: Option<Text>,
    /// What the agent said.
    pub reply: String,
    /// How long it took.
    #[serde(rename = "duration_seconds")]
    pub seconds: f64,
    /// The tokens it used.
    pub tokens: Tokens,
    /// What it cost; null if the agent did not say.
    pub cost_usd: Option<f64>,
}

/// How a test turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ProbeOutcome")]
pub enum Outcome {
    /// The agent works.
    Done,
    /// The agent works, but is at its usage limit.
    Limit,
    /// The turn failed, and may work another time.
    Failed,
    /// The turn failed, and will fail again: not logged in, not paid for, not installed.
    Refused,
    /// A person ended it.
    Cancelled,
}

/// One thing that tasks need of the machine.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MachineCheck")]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// Whether it is as it should be.
    pub state: CheckState,
    /// What was found, as a sentence.
    #[serde(serialize_with = "english")]
    #[schemars(with = "String")]
    pub detail: Text,
    /// What to do about it; null if there is nothing to do.
    #[serde(serialize_with = "english_or_null")]
    #[schemars(with = "Option<String>")]
    pub hint: Option<Text>,
}

/// Whether something about the machine is as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// It is as it should be.
    Good,
    /// Tasks can run, but there is something to know.
    Note,
    /// Tasks cannot run.
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
