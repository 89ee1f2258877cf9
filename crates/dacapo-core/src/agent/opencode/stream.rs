//! `opencode run --format json`: `step_start`, `text`, `reasoning`, `tool_use`, `step_finish`, `error`. A call and its
//! result are one line, printed when the tool has ended; helpers' steps are not printed at all.

use jiff::Timestamp;
use serde::Deserialize;

use super::errors::Failed;
use crate::agent::arguments::Arguments;
use crate::agent::excerpt::{one_line, tool_use};
use crate::agent::fields::{self, Amount, Count, Excerpt, Object, Text};
use crate::agent::lines::LineReader;
use crate::agent::metering::{Meter, Reported};
use crate::event::{AgentEvent, FailureKind, Usage};

/// How much is held back of a step until it is known how it ended.
const MOST_HELD: usize = 1 << 20;

/// Tools that it has and takes away where it may not use them. Any other unknown one is the model's invention.
const WITHHELD: [&str; 9] =
    ["bash", "edit", "write", "patch", "apply_patch", "multiedit", "webfetch", "websearch", "task"];

/// What the model is told that calls one of these then.
const UNAVAILABLE: &str = "Model tried to call unavailable tool";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line {
    r#type: Text,
    timestamp: Count,
    #[serde(rename = "sessionID")]
    session_id: Text,
    part: Object<Part>,
    error: Object<Failed>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Part {
    text: Text,
    tool: Text,
    #[serde(rename = "callID")]
    call_id: Text,
    state: Object<ToolState>,
    reason: Text,
    tokens: Object<Tokens>,
    cost: Amount,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToolState {
    status: Text,
    input: Arguments,
    output: Excerpt,
    error: Excerpt,
    title: Excerpt,
}

/// Of one step; `input` is what came from no cache.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input: Reported,
    output: Reported,
    reasoning: Reported,
    cache: Object<Cache>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cache {
    read: Reported,
    write: Reported,
}

/// How the last step ended.
#[derive(Debug, Clone, Default, PartialEq)]
enum Last {
    /// It has not, or the agent goes on after it.
    #[default]
    Open,
    /// The model's answer broke off. The agent asks again at once, and for ever.
    Cut,
    /// A tool was not allowed, which ends the turn.
    Rejected,
    /// By itself, in its own word.
    Stopped(String),
}

/// Reads the stream.
#[derive(Debug, Clone, Default)]
pub(super) struct OpencodeLines {
    session: String,
    usage: Usage,
    last: Last,
    /// What the step at hand said so far. An answer that broke off is none, or asking again would look like progress.
    held: Vec<AgentEvent>,
    held_bytes: usize,
    used_tools: bool,
    rejected: bool,
    /// The conversation was too long. It is shortened and goes on, unless this was the last word.
    overflow: Option<String>,
}

impl LineReader for OpencodeLines {
    fn line(&mut self, line: &[u8], sink: &mut dyn FnMut(AgentEvent)) {
        let Some(line) = fields::read::<Line>(line) else { return };
        match line.session_id.0 {
            Some(id) if !id.is_empty() && id != self.session => {
                self.session.clone_from(&id);
                sink(AgentEvent::Session { id });
            }
            _ => {}
        }
        let part = line.part.0;
        match line.r#type.as_str() {
            "step_start" => self.step_starts(),
            "text" => self.hold(part.text.0.map(|text| AgentEvent::Text { text }), sink),
            "reasoning" => self.hold(part.text.0.map(|text| AgentEvent::Thinking { text }), sink),
            "tool_use" => self.tool(part, sink),
            "step_finish" => self.step_ends(&part, sink),
            "error" => self.failed(&line.error.0, line.timestamp, sink),
            _ => {}
        }
    }

    fn end(&mut self, sink: &mut dyn FnMut(AgentEvent)) {
        self.say_held(sink);
        if let Some(message) = self.overflow.take() {
            sink(AgentEvent::Error { failure: FailureKind::Transient, fault: message.into() });
        }
        // Only now is it known that no step follows.
        match std::mem::take(&mut self.last) {
            Last::Stopped(reason) => sink(AgentEvent::End { reason }),
            Last::Rejected => sink(AgentEvent::End { reason: "rejected".into() }),
            Last::Open | Last::Cut => {}
        }
    }
}

impl OpencodeLines {
    fn step_starts(&mut self) {
        self.drop_held();
        self.last = Last::Open;
        (self.used_tools, self.rejected, self.overflow) = (false, false, None);
    }

    fn hold(&mut self, event: Option<AgentEvent>, sink: &mut dyn FnMut(AgentEvent)) {
        if let Some(event @ (AgentEvent::Text { .. } | AgentEvent::Thinking { .. })) = event {
            let (AgentEvent::Text { text } | AgentEvent::Thinking { text }) = &event else { return };
            self.held_bytes += text.len();
            if !text.is_empty() {
                self.held.push(event);
            }
            if self.held_bytes > MOST_HELD {
                self.say_held(sink);
            }
        }
    }

    fn say_held(&mut self, sink: &mut dyn FnMut(AgentEvent)) {
        self.held.drain(..).for_each(sink);
        self.held_bytes = 0;
    }

    fn drop_held(&mut self) {
        self.held.clear();
        self.held_bytes = 0;
    }

    fn tool(&mut self, part: Part, sink: &mut dyn FnMut(AgentEvent)) {
        self.say_held(sink);
        self.used_tools = true;
        let (id, name) = (part.call_id.0.unwrap_or_default(), part.tool.0.unwrap_or_default());
        let ToolState { status, input, output, error, title } = part.state.0;
        // A call that cannot be made is made to this one, which says so to the model.
        let is_invalid = name == "invalid";
        let failed = status.as_str() == "error" || is_invalid;
        let output = output.0.or(error.0).unwrap_or_default();
        let told = Some(input.telling()).filter(|told| !told.is_empty()).unwrap_or(title.as_str());
        let summary = one_line(told);
        let asked_for = if is_invalid { summary.clone() } else { name.clone() };
        let steps = input.steps;
        let what = if is_invalid { asked_for.clone() } else { tool_use(&asked_for, &summary) };
        sink(AgentEvent::ToolCall { id: id.clone(), name, summary });
        if !steps.is_empty() {
            sink(AgentEvent::Plan { steps });
        }
        let rejected = failed && was_rejected(&output);
        let withheld = failed && output.contains(UNAVAILABLE) && WITHHELD.contains(&asked_for.as_str());
        sink(AgentEvent::ToolResult { id, failed, output });
        if rejected || withheld {
            sink(AgentEvent::Refused { what });
        }
        self.rejected |= rejected;
    }

    fn step_ends(&mut self, part: &Part, sink: &mut dyn FnMut(AgentEvent)) {
        self.count(part);
        let reason = part.reason.as_str();
        let is_cut = reason == "unknown" && !self.used_tools;
        if !is_cut {
            self.say_held(sink);
        }
        sink(AgentEvent::Usage(self.usage));
        self.last = match reason {
            _ if is_cut => Last::Cut,
            "tool-calls" | "unknown" | "error" | "" if self.rejected => Last::Rejected,
            "tool-calls" | "unknown" | "error" | "" => Last::Open,
            stopped => Last::Stopped(stopped.to_owned()),
        };
        if is_cut {
            let message = "the model's answer broke off, or ended for an unknown reason".into();
            sink(AgentEvent::Retry { message, status: None });
        }
    }

    /// Adds up what the steps used; a cost of nothing is a price that it does not know.
    fn count(&mut self, part: &Part) {
        let Tokens { input, output, reasoning, cache: Object(cache) } = &part.tokens.0;
        let mut meter = Meter::default();
        let (cached, written) = (meter.optional(cache.read), meter.optional(cache.write));
        let (input, output) = (meter.required(*input), meter.required(*output));
        let step = Usage {
            input: input.saturating_add(cached).saturating_add(written),
            output: output.saturating_add(meter.optional(*reasoning)),
            cached,
            cost_usd: part.cost.0.filter(|cost| *cost > 0.0),
            tokens_unknown: meter.tokens_unknown(),
            cost_unknown: part.cost.0.is_none(),
        };
        self.usage = self.usage.plus(&step);
    }

    fn failed(&mut self, failed: &Failed, at: Count, sink: &mut dyn FnMut(AgentEvent)) {
        self.say_held(sink);
        if failed.is_overflow() {
            let message = failed.message();
            self.overflow = Some(message.clone());
            sink(AgentEvent::Retry { message, status: None });
            return;
        }
        let millis = at.0.and_then(|at| i64::try_from(at).ok());
        self.last = Last::Open;
        sink(failed.event(millis.and_then(|millis| Timestamp::from_millisecond(millis).ok())));
    }
}

/// By a rule of the user's, or because nobody was there to be asked.
fn was_rejected(error: &str) -> bool {
    error.starts_with("The user rejected permission")
        || error.starts_with("The user has specified a rule which prevents")
}
