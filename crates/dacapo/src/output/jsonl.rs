//! `--json`: events as JSON lines on standard output as they happen, and nothing else.

use std::io::Write as _;

use dacapo_core::engine::{Activity, Sink};
use dacapo_core::event::{AgentEvent, Envelope};
use serde_json::json;

/// Prints every event.
#[derive(Debug, Default)]
pub struct JsonLines {
    gone: bool,
}

impl JsonLines {
    /// Whether nobody reads what is printed any more.
    pub fn is_gone(&self) -> bool {
        self.gone
    }

    fn print(&mut self, line: &serde_json::Value) {
        if self.gone {
            return;
        }
        let mut out = std::io::stdout().lock();
        // A reader that has gone does not end the task; there is just nobody to tell.
        self.gone = writeln!(out, "{line}").and_then(|()| out.flush()).is_err();
    }
}

impl Sink for JsonLines {
    fn event(&mut self, line: &Envelope) {
        if let Ok(value) = serde_json::to_value(line) {
            self.print(&value);
        }
    }

    fn agent(&mut self, after: &Envelope, sub: u64, event: &AgentEvent) {
        self.print(&json!({
            "v": after.v,
            "seq": after.seq,
            "sub": sub,
            "at": jiff::Timestamp::now(),
            "task": after.task,
            "type": "agent_event",
            "event": event,
        }));
    }

    fn activity(&mut self, _: &Activity<'_>) {}
}
