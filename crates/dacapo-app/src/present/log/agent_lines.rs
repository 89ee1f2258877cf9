//! What an agent does, as lines of a log.

use dacapo_core::event::AgentEvent;

use crate::messages::Messages;
use crate::present::{faults, words};

/// How much of one line of what an agent says is shown; the rest is in its raw output.
const COLUMNS: usize = 500;
/// How much of a line that has no end yet is kept.
const MOST: usize = 4 * COLUMNS;

/// Turns what an agent does into lines. What it says comes in pieces: a line is shown when it is whole.
#[derive(Debug, Default)]
pub struct AgentLines {
    begun: String,
}

impl AgentLines {
    /// The lines for an event.
    pub fn lines(&mut self, event: &AgentEvent) -> Vec<String> {
        let mut out = Vec::new();
        match event {
            AgentEvent::Text { text } => {
                self.says(text, &mut out);
                return out;
            }
            // Between two pieces of one message agents count.
            AgentEvent::Usage(_) => return out,
            AgentEvent::ToolCall { name, summary, .. } => {
                out.push(format!("  ▸ {name} {}", words::line(summary, COLUMNS)));
            }
            AgentEvent::Retry { message, status } => {
                out.push(format!("  {}", words::retrying(message, *status, Messages::ENGLISH)));
            }
            AgentEvent::Refused { what } => {
                out.push(format!("  not allowed: {}", words::line(what, COLUMNS)));
            }
            AgentEvent::Error { fault, .. } => {
                out.push(format!("  ! {}", words::line(&faults::told(fault, Messages::ENGLISH), COLUMNS)));
            }
            AgentEvent::Session { .. }
            | AgentEvent::Thinking { .. }
            | AgentEvent::ToolResult { .. }
            | AgentEvent::Plan { .. }
            | AgentEvent::Limit { .. }
            | AgentEvent::End { .. } => {}
        }
        // What was said before comes before.
        self.end().into_iter().chain(out).collect()
    }

    /// The line that was begun; nothing more is said for now.
    pub fn end(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.begun);
        (!line.trim().is_empty()).then(|| said(&line))
    }

    fn says(&mut self, text: &str, out: &mut Vec<String>) {
        for piece in text.split_inclusive('\n') {
            let room = MOST.saturating_sub(self.begun.len());
            let cut = piece.char_indices().map(|(at, _)| at).take_while(|at| *at <= room).last().unwrap_or(0);
            let fits = if piece.len() <= room { piece } else { &piece[..cut] };
            self.begun.push_str(fits);
            if piece.ends_with('\n') {
                out.extend(self.end());
            }
        }
    }
}

fn said(line: &str) -> String {
    format!("  │ {}", words::line(line, COLUMNS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> AgentEvent {
        AgentEvent::Text { text: text.into() }
    }

    #[test]
    fn a_line_is_shown_when_it_is_whole_or_something_else_happens() {
        let mut lines = AgentLines::default();
        assert_eq!(lines.lines(&text("I fix ")), [] as [&str; 0]);
        assert_eq!(lines.lines(&text("it\n\n繼")), ["  │ I fix it"]);
        let call = AgentEvent::Retry { message: "busy".into(), status: Some(503) };
        assert_eq!(lines.lines(&call), ["  │ 繼", "  retrying: 503 busy"]);
        assert_eq!(lines.end(), None);
    }

    #[test]
    fn r3_a_line_without_end_is_not_kept_whole() {
        let mut lines = AgentLines::default();
        for _ in 0..10_000 {
            assert_eq!(lines.lines(&text("繼續繼續")), [] as [&str; 0]);
        }
        assert!(lines.begun.len() <= MOST);
        let shown = lines.lines(&text("\n"));
        assert_eq!(shown.len(), 1);
        assert!(shown[0].starts_with("  │ 繼續") && shown[0].len() < MOST, "{shown:?}");
    }
}
