//! The built-in scripted agent speaks our own vocabulary: an [`AgentEvent`] a line.

use super::lines::LineReader;
use super::{Account, Surroundings};
use crate::event::AgentEvent;

/// It has no login; but loops that share an account, and its limits, can be rehearsed too: the variable names it.
pub(super) fn account(surroundings: &Surroundings<'_>) -> Account {
    Account {
        logged_in: Some(true),
        credential: surroundings.var("REHEARSAL_ACCOUNT").map(str::to_owned),
        ..Account::default()
    }
}

/// Reads JSON lines; anything else it prints is noise.
#[derive(Debug)]
pub(super) struct RehearsalLines;

impl LineReader for RehearsalLines {
    fn line(&mut self, line: &[u8], sink: &mut dyn FnMut(AgentEvent)) {
        if let Ok(event) = serde_json::from_slice(line) {
            sink(event);
        }
    }
}
