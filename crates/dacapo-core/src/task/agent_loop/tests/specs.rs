//! What is asked for in the tests, by the flags a user would give.

use std::time::Duration;

use jiff::Timestamp;

use crate::git::Oid;

use crate::spec::TestsPolicy;
use crate::spec::{
    AgentCommand, AgentSpec, Cap, CapSource, ContextPolicy, LoopPolicy, OutputFormat, Place, PromptBy,
    ProofPolicy, SPEC_FORMAT, TaskName, TaskSpec,
};
use crate::spec::{RoomMode, SessionMode};

/// `n` as an object id.
pub(super) fn oid(n: u32) -> Oid {
    Oid::parse(&format!("{n:07x}{}", "0".repeat(33))).unwrap()
}

/// The commit everything builds on.
pub(super) fn base() -> Oid {
    oid(0xba5e)
}

/// The commit that the engine makes of iteration `n`.
pub(super) fn commit_of(iteration: u32) -> Oid {
    oid(0x1000 + iteration)
}

pub(super) fn agent(name: &str) -> AgentSpec {
    AgentSpec {
        name: name.into(),
        command: AgentCommand::Shell("agent".into()),
        prompt: PromptBy::Stdin,
        start: Vec::new(),
        output: OutputFormat::Text,
        resume: None,
        follow_up: "繼續".into(),
        env: Vec::new().into(),
        model: None,
        price: None,
        approval: crate::spec::Approval::Auto,
    }
}

/// An agent whose conversation is continued by the id it prints.
pub(super) fn resumable(name: &str) -> AgentSpec {
    AgentSpec { resume: Some(vec!["--resume".into(), "{session}".into()]), ..agent(name) }
}

/// A single run: every test says what it wants beyond that.
pub(super) fn spec() -> TaskSpec {
    TaskSpec {
        v: SPEC_FORMAT,
        name: TaskName::parse("x").unwrap(),
        kind: "loop".into(),
        created_at: start(),
        tag: "tag".into(),
        top: "/repo".into(),
        base_branch: None,
        room: RoomMode::default(),
        pull_request: None,
        env: Vec::new(),
        foreground: true,
        prompt: "Build the feature".into(),
        plan: None,
        place: Place::InPlace { allow_dirty: false, branch: None },
        agents: vec![agent("one")],
        details: serde_json::Value::Null,
        policy: LoopPolicy {
            looping: false,
            cap: None,
            time: None,
            until: None,
            checks: Vec::new(),
            check_timeout: Duration::from_secs(900),
            baseline: true,
            tests: TestsPolicy::default(),
            proof: ProofPolicy::default(),
            max_failures: 0,
            max_cost: None,
            max_tokens: None,
            stall: 0,
            turn_timeout: None,
            idle_timeout: Duration::from_secs(1800),
            session: SessionMode::Fresh,
            max_wait: Duration::from_secs(24 * 3600),
        },
        context: ContextPolicy {
            enabled: true,
            auto_commit: true,
            generate_summary: true,
            summary_max_tokens: 500,
            context_max_tokens: 8000,
            loop_prompt: None,
            summary_by: None,
            message_by: None,
        },
    }
}

/// `--iter N`.
pub(super) fn iter(iterations: u32) -> TaskSpec {
    let mut spec = spec();
    spec.policy.looping = true;
    spec.policy.cap = Some(Cap::by_iter(iterations));
    spec
}

/// `--max-iterations N`.
pub(super) fn max(iterations: u32) -> TaskSpec {
    let mut spec = iter(iterations);
    spec.policy.cap = Some(Cap { iterations, source: CapSource::MaxIterations });
    spec
}

/// `--max-iterations N --until TEXT`.
pub(super) fn until(iterations: u32, text: &str) -> TaskSpec {
    let mut spec = max(iterations);
    spec.policy.until = Some(text.into());
    spec
}

/// `--max-iterations N --check …`.
pub(super) fn checked(iterations: u32, checks: &[&str]) -> TaskSpec {
    let mut spec = max(iterations);
    spec.policy.checks = checks.iter().map(|&check| check.into()).collect();
    spec
}

/// `--worktree`.
pub(super) fn in_worktree() -> Place {
    Place::Worktree {
        path: "/data/worktrees/x".into(),
        branch: "refs/heads/dacapo/x".into(),
        with_changes: false,
        base: None,
        setup: crate::spec::Setup::default(),
    }
}

pub(super) fn start() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}
