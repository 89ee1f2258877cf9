//! One real, tiny turn, through all that a turn of a loop goes through, in a repository and a data directory of its own.

use std::path::Path;
use std::time::Duration;

use dacapo_core::engine::{Activity, Control, Driver, DriverContext, Sink};
use dacapo_core::env::Env;
use dacapo_core::event::{AgentEvent, Envelope, Event, FailureKind, Tokens, TurnEnd, TurnRecord};
use dacapo_core::git::Repo;
use dacapo_core::spec::{
    AgentSpec, ContextPolicy, LoopPolicy, Place, RoomMode, SPEC_FORMAT, TaskName, TaskSpec, random_hex,
};
use dacapo_core::store::{Home, InheritedLocks};
use dacapo_core::task::agent_loop::Loop;
use jiff::Timestamp;

use super::report::{Outcome, Probed};
use crate::App;
use crate::error::Failure;
use crate::messages::{Text, say};
use crate::operations::run::context;
use crate::present::ends::detail;
use crate::present::errors::{self, InWords};
use crate::present::faults;
use crate::scratch;

const PROMPT: &str = "Reply with the single word pong.";

/// Long for one word; an agent that needs longer would keep the user waiting in every iteration.
const PATIENCE: Duration = Duration::from_secs(120);

/// Gives the agent its turn.
pub(super) fn probe(
    app: &App,
    agent: &AgentSpec,
    env: &Env,
    listen: &mut dyn FnMut(Control) -> Result<(), Failure>,
) -> Result<Probed, Failure> {
    let failed = |error: &dyn InWords| Failure::failed(say(|m| m.probe_failed(&error.in_words(m))));
    let scratch =
        tempfile::Builder::new().prefix("dacapo-doctor-").tempdir().map_err(|error| failed(&error))?;
    let dir = scratch.path().join("repo");
    std::fs::create_dir(&dir).map_err(|error| failed(&error))?;
    std::fs::write(dir.join("README.md"), "A place for one word.\n").map_err(|error| failed(&error))?;
    scratch::commit_all(&dir, "A place for one word")?;
    let repo = Repo::discover(&dir, env).map_err(|error| failed(&error))?;
    // What other tasks know of limits is left aside: the user wants to know how it is now.
    let home = Home::new(scratch.path().join("data"));
    let name = TaskName::parse("doctor").map_err(|error| failed(&error))?;
    let task = home.repo(repo.common_dir()).task(&name);
    let spec = spec(agent, name, repo.toplevel());
    let lock = task.create(&spec).map_err(|error| failed(&error))?;
    let mut record = Record::default();
    let setting = DriverContext {
        env: env.clone(),
        locks: InheritedLocks::of([&lock]),
        limits: home.limits(),
        ..context(app)?
    };
    let (driver, control) = Driver::new(spec, task, setting, &mut record).map_err(|error| failed(&error))?;
    listen(control)?;
    let ended = driver.run();
    Ok(match (record.0, ended) {
        (Some(turn), _) => probed(&turn),
        (None, Ok(result)) => {
            no_turn(Outcome::Cancelled, result.detail.map(|why| say(|m| detail(&why, "doctor", m))))
        }
        (None, Err(error)) => no_turn(Outcome::Failed, Some(errors::text(&error))),
    })
}

fn spec(agent: &AgentSpec, name: TaskName, top: &Path) -> TaskSpec {
    TaskSpec {
        v: SPEC_FORMAT,
        name,
        kind: Loop::NAME.to_owned(),
        details: serde_json::Value::Null,
        created_at: Timestamp::now(),
        tag: random_hex(16),
        top: top.to_owned(),
        base_branch: None,
        room: RoomMode::default(),
        pull_request: None,
        env: Vec::new(),
        foreground: true,
        prompt: PROMPT.to_owned(),
        plan: None,
        place: Place::InPlace { allow_dirty: false, branch: None },
        agents: vec![agent.clone()],
        policy: LoopPolicy {
            max_failures: 1,
            turn_timeout: Some(PATIENCE),
            idle_timeout: PATIENCE,
            // A limit is an answer, not something to wait for.
            max_wait: Duration::ZERO,
            ..LoopPolicy::default()
        },
        context: ContextPolicy {
            enabled: false,
            auto_commit: true,
            generate_summary: true,
            summary_max_tokens: 100,
            context_max_tokens: 100,
            loop_prompt: None,
            summary_by: None,
            message_by: None,
        },
    }
}

fn probed(turn: &TurnRecord) -> Probed {
    let (outcome, message) = match &turn.end {
        TurnEnd::Done => {
            (Outcome::Done, turn.not_allowed.as_ref().map(|refused| say(|m| faults::not_allowed(refused, m))))
        }
        TurnEnd::Limit { message, resets_at } => {
            let told = match resets_at {
                Some(until) => say(|m| m.probe_limit_until(message, &crate::present::log::moment(*until))),
                None => message.as_str().into(),
            };
            (Outcome::Limit, Some(told))
        }
        TurnEnd::Failed { failure: FailureKind::Permanent | FailureKind::SessionLost, fault } => {
            (Outcome::Refused, Some(say(|m| faults::told(fault, m))))
        }
        TurnEnd::Failed { failure: FailureKind::Transient, fault } => {
            (Outcome::Failed, Some(say(|m| faults::told(fault, m))))
        }
        TurnEnd::Cancelled | TurnEnd::Interrupted => (Outcome::Cancelled, None),
        TurnEnd::Budget => (Outcome::Failed, None),
    };
    Probed {
        outcome,
        message,
        reply: turn.summary.clone(),
        seconds: turn.duration_ms as f64 / 1000.0,
        tokens: turn.usage.in_and_out(),
        cost_usd: turn.usage.cost_usd,
    }
}

fn no_turn(outcome: Outcome, message: Option<Text>) -> Probed {
    Probed { outcome, message, reply: String::new(), seconds: 0.0, tokens: Tokens::default(), cost_usd: None }
}

/// Keeps the record of the turn.
#[derive(Default)]
struct Record(Option<TurnRecord>);

impl Sink for Record {
    fn event(&mut self, line: &Envelope) {
        if let Event::TurnFinished(record) = &line.event {
            self.0 = Some(record.clone());
        }
    }

    fn agent(&mut self, _: &Envelope, _: u64, _: &AgentEvent) {}

    fn activity(&mut self, _: &Activity<'_>) {}
}
