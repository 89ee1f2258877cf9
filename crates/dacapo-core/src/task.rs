//! Kinds of task. Each is a pure machine behind [`Machine`]; this is the one place where they are registered (S5).

use std::sync::Arc;

use crate::engine::machine::Machine;
use crate::spec::{Kind, TaskSpec};

pub mod agent_loop;

/// The machine of a task, before any of its journal is applied.
pub fn machine(spec: Arc<TaskSpec>) -> Box<dyn Machine + Send> {
    match spec.kind {
        Kind::Loop => Box::new(agent_loop::AgentLoop::new(spec)),
    }
}
