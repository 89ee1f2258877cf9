//! The kinds of task that are built in. Each is a pure machine behind [`Kind`]; [`KINDS`] is the one place where they are
//! registered (S5).

use crate::engine::{Kind, Kinds};

pub mod agent_loop;
#[cfg(test)]
mod clockwork;
#[cfg(test)]
mod damaged_journal;
mod lifecycle;
pub mod milestone;

/// All kinds there are.
pub const KINDS: &[&dyn Kind] = &[&agent_loop::Loop, &milestone::Milestones];

impl Default for Kinds {
    fn default() -> Self {
        Self::of(KINDS)
    }
}
