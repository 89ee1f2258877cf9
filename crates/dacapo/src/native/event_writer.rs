//! What is told on standard output: one event a line, each flushed at once. Words of the model come in crumbs; they are
//! gathered for a moment, so that the raw file is not ten times as long as what it says.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use dacapo_core::event::{AgentEvent, Usage};

/// How long words may wait for more of them.
pub(super) const GATHERED_FOR: Duration = Duration::from_millis(100);

/// How many bytes are enough for a line.
const GATHERED_BYTES: usize = 1024;

/// No event is longer: who reads them holds a line in memory.
const LONGEST_TEXT: usize = 64 << 10;

/// How much of a tool's answer is shown; the model sees more.
const SHOWN_OUTPUT: usize = 2000;

/// Standard output, or what stands for it.
pub(super) struct EventWriter<W> {
    out: W,
    pending: String,
    /// What waits is thought, not said.
    thought: bool,
    since: Instant,
    usage: Usage,
    /// Words are not told as they come.
    holds_back: bool,
}

impl EventWriter<io::Stdout> {
    pub(super) fn stdout() -> Self {
        EventWriter::new(io::stdout())
    }
}

impl<W: Write> EventWriter<W> {
    pub(super) fn new(out: W) -> Self {
        let (pending, since, usage) = (String::new(), Instant::now(), Usage::default());
        EventWriter { out, pending, thought: false, since, usage, holds_back: false }
    }

    /// From now on only [`EventWriter::say`] is heard: what was said in a call that failed is not to be part of the answer.
    pub(super) fn hold_back(&mut self) {
        self.holds_back = true;
    }

    /// Says something at once.
    pub(super) fn say(&mut self, text: &str) -> io::Result<()> {
        self.flush()?;
        self.thought = false;
        self.pending.push_str(text);
        self.flush()
    }

    /// Tells one event, after all that waits.
    pub(super) fn event(&mut self, event: &AgentEvent) -> io::Result<()> {
        self.flush()?;
        self.put(event)
    }

    /// Takes in a piece of what the model says or thinks.
    pub(super) fn words(&mut self, piece: &str, thought: bool) -> io::Result<()> {
        if self.holds_back {
            return Ok(());
        }
        if thought != self.thought {
            self.flush()?;
            self.thought = thought;
        }
        if self.pending.is_empty() {
            self.since = Instant::now();
        }
        self.pending.push_str(piece);
        if self.pending.len() >= GATHERED_BYTES || self.since.elapsed() >= GATHERED_FOR {
            self.flush()?;
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        let text = std::mem::take(&mut self.pending);
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let mut end = rest.len().min(LONGEST_TEXT);
            while !rest.is_char_boundary(end) {
                end -= 1;
            }
            let (piece, more) = rest.split_at(end);
            let text = piece.to_owned();
            let event = if self.thought { AgentEvent::Thinking { text } } else { AgentEvent::Text { text } };
            self.put(&event)?;
            rest = more;
        }
        Ok(())
    }

    /// Adds what a call used and tells what the turn has used so far.
    pub(super) fn used(&mut self, call: &Usage) -> io::Result<()> {
        self.usage = self.usage.plus(call);
        self.event(&AgentEvent::Usage(self.usage))
    }

    pub(super) fn answered(&mut self, id: &str, failed: bool, output: &str) -> io::Result<()> {
        let output = dacapo_core::context::cut(output, SHOWN_OUTPUT);
        self.event(&AgentEvent::ToolResult { id: id.to_owned(), failed, output })
    }

    /// One write and a flush: events of a process that is killed are whole or absent.
    fn put(&mut self, event: &AgentEvent) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(act: impl FnOnce(&mut EventWriter<&mut Vec<u8>>)) -> Vec<AgentEvent> {
        let mut bytes = Vec::new();
        act(&mut EventWriter::new(&mut bytes));
        String::from_utf8(bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn crumbs_are_gathered_and_nothing_is_mixed_up() {
        let events = told(|events| {
            for (piece, thought) in [("hm", true), ("A", false), ("B", false)] {
                events.words(piece, thought).unwrap();
            }
            events.used(&Usage { input: 3, ..Usage::default() }).unwrap();
            events.used(&Usage { input: 4, ..Usage::default() }).unwrap();
        });
        let usage = |input| AgentEvent::Usage(Usage { input, ..Usage::default() });
        assert_eq!(
            events,
            [
                AgentEvent::Thinking { text: "hm".into() },
                AgentEvent::Text { text: "AB".into() },
                usage(3),
                usage(7)
            ]
        );
    }

    #[test]
    fn r3_no_event_is_longer_than_a_reader_holds() {
        let text = "繼".repeat(100_000);
        let events = told(|events| events.words(&text, false).unwrap());
        let pieces: Vec<String> = events
            .into_iter()
            .map(|event| match event {
                AgentEvent::Text { text } => text,
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(pieces.iter().all(|piece| piece.len() <= LONGEST_TEXT));
        assert_eq!(pieces.concat(), text);
    }
}
