//! The agent's output: events or plain text on standard output, each flushed at once so that a
//! reader sees them when they happen.

use std::io::{self, Write};

use dacapo_core::event::AgentEvent;

use dacapo_app::rehearsal::Output;

/// Standard output, in the way the script wants it.
#[derive(Debug)]
pub(super) struct Emitter {
    output: Output,
    /// Raw bytes left a line open. The next event begins a new one: garbage must not swallow it.
    line_open: bool,
    calls: u32,
}

impl Emitter {
    pub(super) fn new(output: Output) -> Self {
        Emitter { output, line_open: false, calls: 0 }
    }

    pub(super) fn event(&mut self, event: &AgentEvent) -> io::Result<()> {
        let line = match self.output {
            Output::Events => serde_json::to_string(event)?,
            Output::Text => match plain(event) {
                Some(text) => text,
                None => return Ok(()),
            },
        };
        let start = if std::mem::take(&mut self.line_open) { "\n" } else { "" };
        put(format!("{start}{line}\n").as_bytes())
    }

    pub(super) fn say(&mut self, text: impl Into<String>) -> io::Result<()> {
        self.event(&AgentEvent::Text { text: text.into() })
    }

    /// Says a piece of something: in plain text the line stays open.
    pub(super) fn piece(&mut self, text: &str) -> io::Result<()> {
        match self.output {
            Output::Events => self.say(text),
            Output::Text => {
                self.line_open = false;
                put(text.as_bytes())
            }
        }
    }

    /// Ends what [`Emitter::piece`] began.
    pub(super) fn end_pieces(&mut self) -> io::Result<()> {
        match self.output {
            Output::Events => Ok(()),
            Output::Text => put(b"\n"),
        }
    }

    /// Shows a tool at work; the answer is told with the id it returns.
    pub(super) fn call(&mut self, name: &str, summary: &str) -> io::Result<String> {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        self.event(&AgentEvent::ToolCall { id: id.clone(), name: name.into(), summary: summary.into() })?;
        Ok(id)
    }

    pub(super) fn answer(&mut self, id: String, failed: bool, output: String) -> io::Result<()> {
        self.event(&AgentEvent::ToolResult { id, failed, output })
    }

    /// Bytes as they are.
    pub(super) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(last) = bytes.last() {
            self.line_open = *last != b'\n';
        }
        put(bytes)
    }
}

/// One write and a flush: events of a process that is killed are whole or absent, never mixed.
fn put(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// What an agent without a machine-readable mode prints of it.
fn plain(event: &AgentEvent) -> Option<String> {
    Some(match event {
        AgentEvent::Text { text } => text.clone(),
        AgentEvent::ToolCall { name, summary, .. } => format!("[{name}] {summary}"),
        AgentEvent::ToolResult { output, .. } if !output.is_empty() => {
            output.trim_end_matches('\n').to_owned()
        }
        AgentEvent::Plan { steps } => {
            steps.iter().map(|step| format!("- {step}")).collect::<Vec<_>>().join("\n")
        }
        AgentEvent::Limit { message, resets_at } => match resets_at {
            Some(at) => format!("{message}; resets at {at}"),
            None => message.clone(),
        },
        AgentEvent::Error { fault, .. } => format!(
            "error: {}",
            dacapo_app::present::faults::told(fault, dacapo_app::messages::Messages::ENGLISH)
        ),
        AgentEvent::Retry { message, .. } => format!("retrying: {message}"),
        AgentEvent::Refused { what } => format!("not allowed: {what}"),
        AgentEvent::Session { .. }
        | AgentEvent::Thinking { .. }
        | AgentEvent::ToolResult { .. }
        | AgentEvent::Usage(_)
        | AgentEvent::End { .. } => return None,
    })
}
