//! What a turn amounts to, gathered while its events go by, in bounded memory.

use jiff::Timestamp;

use super::quotation::Output;
use super::tag::{Tag, TagSearch};
use super::{EchoFilter, PromiseSearch};
use crate::event::{AgentEvent, FailureKind, Fault, Usage};

/// How much of the agent's last words is kept; a summary needs far less.
const CLOSING_BYTES: usize = 64 << 10;

/// How many refusals are named; an agent that tries all night is not listed all night.
const MOST_REFUSALS: usize = 5;

/// What is known of a turn from its output.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    pub session: Option<String>,
    /// The promise was said.
    pub promise: bool,
    /// Why the agent cannot go on without a person, in its own words (L18).
    pub blocked: Option<String>,
    /// Why tests must change, in its own words (L20).
    pub tests_changed: Option<String>,
    /// The agent's last message.
    pub closing: String,
    pub usage: Usage,
    /// A limit it ran into, and when that ends.
    pub limit: Option<(String, Option<Timestamp>)>,
    /// The last error it spoke of.
    pub error: Option<(FailureKind, Fault)>,
    /// It ended its turn properly, in its own word.
    pub end: Option<String>,
    /// What it was not allowed to do, the first few.
    pub refused: Vec<String>,
    /// The last lines it wrote to standard error.
    pub stderr_tail: String,
}

/// Gathers [`Observed`].
#[derive(Debug)]
pub struct Observer {
    observed: Observed,
    search: Option<PromiseSearch>,
    blocked: TagSearch,
    tests_changed: TagSearch,
    /// The last event was text: the next text belongs to the same message.
    in_message: bool,
}

impl Observer {
    /// Looks for `promise` in what the agent says.
    pub fn new(promise: Option<&str>) -> Self {
        Self {
            observed: Observed::default(),
            search: promise.and_then(PromiseSearch::new),
            blocked: TagSearch::new(Tag::Blocked),
            tests_changed: TagSearch::new(Tag::TestsChanged),
            in_message: false,
        }
    }

    /// Takes in an event.
    pub fn see(&mut self, event: &AgentEvent) {
        let seen = &mut self.observed;
        let is_text = matches!(event, AgentEvent::Text { .. });
        match event {
            AgentEvent::Session { id } => seen.session = Some(id.clone()),
            AgentEvent::Text { text } => {
                // Streams deliver a message in pieces. What follows a tool call is a new one, and the last message is
                // the closing one.
                if !self.in_message {
                    seen.closing.clear();
                }
                push_bounded(&mut seen.closing, text);
                if let (Some(search), false) = (self.search.as_mut(), seen.promise) {
                    search.feed(text.as_bytes(), |_| seen.promise = true);
                }
                self.blocked.feed(text);
                self.tests_changed.feed(text);
            }
            // Replaced and not added: parsers report the sum of the turn so far.
            AgentEvent::Usage(usage) => seen.usage = *usage,
            AgentEvent::Limit { message, resets_at } => seen.limit = Some((message.clone(), *resets_at)),
            AgentEvent::Error { failure, fault } => seen.error = Some((*failure, fault.clone())),
            AgentEvent::End { reason } => seen.end = Some(reason.clone()),
            AgentEvent::Refused { what } if seen.refused.len() < MOST_REFUSALS => {
                if !seen.refused.contains(what) {
                    seen.refused.push(what.clone());
                }
            }
            AgentEvent::Refused { .. }
            | AgentEvent::Retry { .. }
            | AgentEvent::Thinking { .. }
            | AgentEvent::ToolCall { .. }
            | AgentEvent::ToolResult { .. }
            | AgentEvent::Plan { .. } => {}
        }
        self.in_message =
            is_text || (self.in_message && matches!(event, AgentEvent::Usage(_) | AgentEvent::End { .. }));
    }

    pub fn finish(self) -> Observed {
        let blocked = self.blocked.newest().map(str::to_owned);
        let tests_changed = self.tests_changed.newest().map(str::to_owned);
        Observed { blocked, tests_changed, ..self.observed }
    }
}

/// Which match counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WhichMatch {
    /// The first: after it nothing is looked at any more.
    First,
    /// The newest: each match replaces the one before.
    Newest,
}

/// Looks for a text in the raw bytes of a plain-text agent, with echoes of the prompt left aside.
#[derive(Debug)]
pub(super) struct RawSearch {
    search: PromiseSearch,
    echo: EchoFilter,
    which: WhichMatch,
    /// Matches of which it is not known yet whether they are an echo.
    open: Vec<u64>,
    written: u64,
    found: Option<u64>,
}

impl RawSearch {
    pub(super) fn new(text: &str, masked_prompt: &str, which: WhichMatch) -> Option<Self> {
        let search = PromiseSearch::new(text)?;
        let echo = EchoFilter::new(masked_prompt, text);
        Some(Self { search, echo, which, open: Vec::new(), written: 0, found: None })
    }

    pub(super) fn feed(&mut self, bytes: &[u8], raw: &std::fs::File) {
        if self.found.is_some() && self.which == WhichMatch::First {
            return;
        }
        self.written += bytes.len() as u64;
        let open = &mut self.open;
        self.search.feed(bytes, |at| open.push(at));
        let (echo, written, found) = (&self.echo, self.written, &mut self.found);
        // Whether a match is an echo shows only when the text behind it has come; until then it is neither counted
        // nor dropped.
        self.open.retain(|&at| match echo.is_echo(raw, at, written, Output::Open) {
            Some(is_echo) => {
                if !is_echo {
                    *found = (*found).max(Some(at));
                }
                false
            }
            None => true,
        });
    }

    /// Where it stands. At the end a match whose echo never came to its end is the agent's own.
    pub(super) fn finish(self, raw: &std::fs::File) -> Option<u64> {
        let own = |at: &u64| self.echo.is_echo(raw, *at, self.written, Output::Ended) != Some(true);
        self.open.iter().copied().filter(own).max().max(self.found)
    }
}

/// The promise in the raw bytes of a plain-text agent.
#[derive(Debug)]
pub(crate) struct RawPromise(RawSearch);

impl RawPromise {
    pub(crate) fn new(promise: &str, masked_prompt: &str) -> Option<Self> {
        RawSearch::new(promise, masked_prompt, WhichMatch::First).map(Self)
    }

    pub(crate) fn feed(&mut self, bytes: &[u8], raw: &std::fs::File) {
        self.0.feed(bytes, raw);
    }

    pub(crate) fn finish(self, raw: &std::fs::File) -> bool {
        self.0.finish(raw).is_some()
    }
}

fn push_bounded(text: &mut String, more: &str) {
    text.push_str(more);
    if text.len() > CLOSING_BYTES * 2 {
        let mut from = text.len() - CLOSING_BYTES;
        while !text.is_char_boundary(from) {
            from += 1;
        }
        text.drain(..from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> AgentEvent {
        AgentEvent::Text { text: text.into() }
    }

    fn observed(promise: &str, events: &[AgentEvent]) -> Observed {
        let mut observer = Observer::new(Some(promise));
        events.iter().for_each(|event| observer.see(event));
        observer.finish()
    }

    #[test]
    fn l7_only_what_the_agent_says_counts() {
        let tool = AgentEvent::ToolResult { id: "1".into(), failed: false, output: "DONE".into() };
        let thought = AgentEvent::Thinking { text: "DONE".into() };
        assert!(!observed("DONE", &[tool, thought]).promise);
        assert!(observed("DONE", &[text("all DO"), text("NE")]).promise, "split over two events");
        assert!(!observed("", &[text("anything")]).promise, "an empty promise never matches");
    }

    #[test]
    fn l18_only_what_the_agent_says_is_its_question() {
        let question = "<blocked>Which key?</blocked>";
        let tool = AgentEvent::ToolResult { id: "1".into(), failed: false, output: question.into() };
        let thought = AgentEvent::Thinking { text: question.into() };
        assert_eq!(observed("x", &[tool.clone(), thought.clone()]).blocked, None);
        let seen = observed("x", &[text("Hm. <bloc"), thought, tool, text("ked>Which key?</blocked>")]);
        assert_eq!(seen.blocked.as_deref(), Some("Which key?"));
    }

    #[test]
    fn c5_the_closing_message_is_the_last_one() {
        let call = AgentEvent::ToolCall { id: "1".into(), name: "sh".into(), summary: String::new() };
        let end = AgentEvent::End { reason: "end_turn".into() };
        let seen = observed("x", &[text("first"), call, text("sec"), text("ond"), end]);
        assert_eq!(seen.closing, "second");
        assert_eq!(seen.end.as_deref(), Some("end_turn"));
    }

    #[test]
    fn r3_last_words_are_kept_in_bounded_memory() {
        let mut observer = Observer::new(None);
        for _ in 0..1000 {
            observer.see(&text(&"繼".repeat(1000)));
            assert!(observer.observed.closing.len() <= CLOSING_BYTES * 2 + 3000);
        }
    }
}
