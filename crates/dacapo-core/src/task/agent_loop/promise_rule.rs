//! Whether the agent itself has to say that a loop is done, for those who show tasks.

use std::sync::Arc;

use super::{AgentLoop, Loop};
use crate::engine::machine::Machine as _;
use crate::event::Envelope;
use crate::spec::TaskSpec;

/// Folded from the events of a task by the machine that decides it, so that nobody has to guess.
#[derive(Debug)]
pub struct PromiseRule {
    /// `None` for other kinds of task.
    machine: Option<AgentLoop>,
}

impl PromiseRule {
    /// Of a task of which nothing has happened yet.
    pub fn of(spec: &TaskSpec) -> Self {
        let is_loop = spec.kind == Loop::NAME;
        Self { machine: is_loop.then(|| AgentLoop::new(Arc::new(spec.clone()))) }
    }

    /// Takes in what happened.
    pub fn see(&mut self, line: &Envelope) {
        if let Some(machine) = &mut self.machine {
            machine.apply(line);
        }
    }

    /// Whether the task is done only when its agent says so, whatever the checks say.
    pub fn is_needed(&self) -> bool {
        self.machine.as_ref().is_some_and(|machine| machine.promise().is_some())
    }

    /// Whether that is so only because the checks passed before anything was done.
    pub fn is_needed_beside_green_checks(&self) -> bool {
        self.machine
            .as_ref()
            .is_some_and(|machine| machine.opened_green && machine.life.policy.until.is_none())
    }
}
