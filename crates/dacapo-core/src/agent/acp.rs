//! Agents that speak the Agent Client Protocol over their standard streams (A2).
//!
//! ```text
//!   agent's stdout ─► raw file ─► parser: bytes → events      ─► as of every agent
//!                                        └──► Talk ─► client ─► lines for the agent's stdin
//! ```
//!
//! - `wire`: what agents say, as far as it is read. `say`: what we say.
//! - `parser`: pure; a raw file is read again by it at any time.
//! - `client`: our side of the conversation as a pure machine; the engine gives it a process.
//! - `policy`: what is allowed. `failure`, `usage`, `tools`: what single facts mean.

use super::excerpt::{last_words, one_line};
use super::{Account, Adapter, Parser, ParserSetting, Unable, UserEnv, Wish};
use crate::event::{AgentEvent, FailureKind};
use crate::spec::{AgentSpec, Approval, OutputFormat};

mod client;
mod failure;
mod parser;
mod policy;
mod say;
mod tools;
mod usage;
mod wire;

pub use client::{Assignment, Client, Move, Process, Question};
pub use parser::{Abilities, AcpItem, AcpMessage, Memory, Opened, Permission};
pub use policy::{Choice, Decision, SetMode};
pub use say::Step;
pub use tools::ToolKind;
pub use usage::Counting;

/// What the reader of a conversation must know beside the bytes.
#[derive(Debug, Clone, Default)]
pub struct AcpSettings {
    /// The task that the conversation is about.
    pub task: String,
    /// What the agent may do: what is refused is decided by it.
    pub approval: Approval,
    /// The conversation that goes on.
    pub session: Option<String>,
    /// What is known of the process from its earlier turns; none: it begins with this one.
    pub memory: Option<Memory>,
}

/// Any agent of the protocol. It has no profile: its command comes from the user.
#[derive(Debug)]
pub struct Acp;

impl Adapter for Acp {
    fn name(&self) -> &'static str {
        "acp"
    }

    fn format(&self) -> OutputFormat {
        OutputFormat::Acp
    }

    fn profile(&self, wish: &Wish<'_>) -> Result<AgentSpec, Unable> {
        Err(Unable { agent: "acp", approval: wish.approval, acp_command: &[] })
    }

    fn parser(&self, setting: ParserSetting) -> Box<dyn Parser> {
        Box::new(parser::AcpParser::new(&setting))
    }

    /// Those made from gemini say only there that they try again, for minutes.
    fn stderr_parser(&self) -> Option<Box<dyn Parser>> {
        Some(super::gemini::retry_notes())
    }

    /// Any program may be behind it. This is what the busiest known one uses while it waits.
    fn burns_idle(&self) -> u32 {
        5
    }

    /// Some do; which, is only known when it runs.
    fn reports_cost(&self) -> bool {
        false
    }

    fn diagnose(&self, exit_code: i32, stderr: &str) -> Option<AgentEvent> {
        let said = one_line(&last_words(stderr)?);
        let message = format!("the agent ended in the middle of the conversation (exit {exit_code}): {said}");
        Some(AgentEvent::Error { failure: FailureKind::Transient, fault: message.into() })
    }

    /// Permission is given by answers, not by arguments.
    fn unattended(&self) -> &'static [&'static str] {
        &[]
    }

    fn how_to_log_in(&self) -> &'static str {
        "log in with the agent's own program"
    }

    fn account(&self, _: &UserEnv<'_>) -> Account {
        Account::default()
    }
}
