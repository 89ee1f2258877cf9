//! What is asked for in the tests.

use std::time::Duration;

use jiff::Timestamp;

use super::definitions::AUTH;
use crate::git::Oid;
use crate::spec::TestsPolicy;
use crate::spec::{
    AgentCommand, AgentSpec, Approval, Cap, ContextPolicy, LoopPolicy, OutputFormat, Place, PromptBy,
    RoomMode, SPEC_FORMAT, SessionMode, TaskName, TaskSpec,
};
use crate::task::milestone::{Definition, Details, Milestones};

pub(super) const BRANCH: &str = "refs/heads/milestone/auth";
pub(super) const PATH: &str = ".dacapo/milestones/auth.md";

pub(super) fn oid(n: u32) -> Oid {
    Oid::parse(&format!("{n:07x}{}", "0".repeat(33))).unwrap()
}

/// The commit of round `n`, from 1.
pub(super) fn commit_of(round: u32) -> Oid {
    oid(0x1000 + round)
}

pub(super) fn start() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

pub(super) fn agent(name: &str) -> AgentSpec {
    AgentSpec {
        name: name.into(),
        command: AgentCommand::Shell("agent".into()),
        prompt: PromptBy::Stdin,
        start: Vec::new(),
        output: OutputFormat::Text,
        resume: None,
        follow_up: String::new(),
        env: Vec::new().into(),
        model: None,
        price: None,
        approval: Approval::Auto,
    }
}

pub(super) fn resumable(name: &str) -> AgentSpec {
    AgentSpec { resume: Some(vec!["--resume".into(), "{session}".into()]), ..agent(name) }
}

pub(super) fn details() -> Details {
    Details {
        definition: AUTH.into(),
        path: PATH.into(),
        frozen: Definition::parse(AUTH).unwrap().frozen(),
        max_rejections: 3,
        requires_human_review: false,
        vision: Some("A vision.".into()),
        soul: Some("A soul.".into()),
        memory: Some("A memory.".into()),
        prompts: crate::task::milestone::Prompts::default(),
    }
}

pub(super) fn with(details: &Details) -> TaskSpec {
    TaskSpec {
        v: SPEC_FORMAT,
        name: TaskName::parse("auth").unwrap(),
        kind: Milestones::NAME.into(),
        created_at: start(),
        tag: "tag".into(),
        top: "/repo".into(),
        base_branch: None,
        room: RoomMode::default(),
        pull_request: None,
        env: Vec::new(),
        foreground: true,
        prompt: String::new(),
        plan: None,
        place: Place::InPlace { allow_dirty: false, branch: None },
        agents: vec![agent("codex"), agent("claude")],
        details: serde_json::to_value(details).unwrap(),
        policy: LoopPolicy {
            looping: true,
            cap: Some(Cap::by_iter(20)),
            time: None,
            until: None,
            checks: vec!["cargo test".into()],
            check_timeout: Duration::from_secs(900),
            baseline: false,
            tests: TestsPolicy::default(),
            proof: crate::spec::ProofPolicy::default(),
            max_failures: 10,
            max_cost: None,
            max_tokens: None,
            stall: 0,
            turn_timeout: Some(Duration::from_secs(600)),
            idle_timeout: Duration::from_secs(1800),
            session: SessionMode::Resume,
            max_wait: Duration::from_secs(24 * 3600),
        },
        context: ContextPolicy {
            enabled: true,
            auto_commit: false,
            generate_summary: true,
            summary_max_tokens: 500,
            context_max_tokens: 8000,
            loop_prompt: None,
            summary_by: None,
            message_by: None,
        },
    }
}

pub(super) fn spec() -> TaskSpec {
    with(&details())
}
