//! The built-in scripted agent speaks our own vocabulary: an [`AgentEvent`] a line.

use super::Parser;
use super::lines::Lines;
use crate::event::AgentEvent;

/// Reads JSON lines; anything else it prints is noise.
#[derive(Debug, Default)]
pub(super) struct RehearsalParser {
    lines: Lines,
}

impl Parser for RehearsalParser {
    fn feed(&mut self, bytes: &[u8], sink: &mut dyn FnMut(AgentEvent)) {
        self.lines.feed(bytes, |line| event(line, sink));
    }

    fn finish(&mut self, sink: &mut dyn FnMut(AgentEvent)) {
        self.lines.finish(|line| event(line, sink));
    }
}

fn event(line: &[u8], sink: &mut dyn FnMut(AgentEvent)) {
    if let Ok(event) = serde_json::from_slice(line) {
        sink(event);
    }
}
