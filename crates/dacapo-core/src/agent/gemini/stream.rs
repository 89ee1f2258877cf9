//! `gemini --output-format stream-json`: `init`, `message`, `tool_use`, `tool_result`, `error`, `result`.

use std::collections::VecDeque;

use serde::Deserialize;

use super::errors;
use crate::agent::arguments::Arguments;
use crate::agent::excerpt::{EXCERPT, beginning, one_line, tool_use};
use crate::agent::fields::{self, Excerpt, Flag, Object, Text};
use crate::agent::lines::LineReader;
use crate::agent::metering::{Meter, Reported};
use crate::event::{AgentEvent, FailureKind, Usage};

/// How many calls wait for their results at once, at most.
const MOST_OPEN_CALLS: usize = 64;

/// Tools that it has and takes away where it may not use them. Any other unknown one is the model's invention.
const WITHHELD: [&str; 5] = ["write_file", "replace", "run_shell_command", "web_fetch", "save_memory"];

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line {
    r#type: Text,
    timestamp: Text,
    session_id: Text,
    role: Text,
    content: Text,
    delta: Flag,
    tool_name: Text,
    tool_id: Text,
    parameters: Arguments,
    status: Text,
    output: Excerpt,
    message: Text,
    error: Object<Failed>,
    stats: Object<Stats>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Failed {
    r#type: Text,
    message: Text,
}

/// Of this run, all models and helpers together.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Stats {
    total_tokens: Reported,
    input_tokens: Reported,
    output_tokens: Reported,
    cached: Reported,
}

/// Reads the stream.
#[derive(Debug, Clone, Default)]
pub(super) struct GeminiLines {
    /// Calls without a result yet: id, and what for.
    open: VecDeque<(String, String)>,
    /// Pieces of the message at hand have been told; all of it at once would be the same again.
    told_in_pieces: bool,
    /// An error that was told before the `result`, which says whether it was the end.
    last_error: Option<String>,
}

impl LineReader for GeminiLines {
    fn line(&mut self, line: &[u8], sink: &mut dyn FnMut(AgentEvent)) {
        let Some(line) = fields::read::<Line>(line) else { return };
        match line.r#type.as_str() {
            "init" => {
                if let Some(id) = line.session_id.0.filter(|id| !id.is_empty()) {
                    sink(AgentEvent::Session { id });
                }
            }
            "message" => self.message(line, sink),
            "tool_use" => self.call(line, sink),
            "tool_result" => self.result_of_call(line, sink),
            "error" => self.last_error = line.message.0.as_deref().map(one_line),
            "result" => self.end(&line, sink),
            _ => {}
        }
    }

    fn end(&mut self, sink: &mut dyn FnMut(AgentEvent)) {
        if let Some(message) = self.last_error.take() {
            sink(AgentEvent::Error { failure: FailureKind::Transient, fault: message.into() });
        }
    }
}

impl GeminiLines {
    fn message(&mut self, line: Line, sink: &mut dyn FnMut(AgentEvent)) {
        let is_piece = line.delta.0 == Some(true);
        match line.content.0 {
            Some(text) if line.role.as_str() == "assistant" && !text.is_empty() => {
                if is_piece || !self.told_in_pieces {
                    sink(AgentEvent::Text { text });
                }
                self.told_in_pieces = is_piece;
            }
            _ => self.told_in_pieces = false,
        }
    }

    fn call(&mut self, line: Line, sink: &mut dyn FnMut(AgentEvent)) {
        self.told_in_pieces = false;
        let (id, name) = (line.tool_id.0.unwrap_or_default(), line.tool_name.0.unwrap_or_default());
        let (summary, steps) = (one_line(line.parameters.telling()), line.parameters.steps);
        if self.open.len() == MOST_OPEN_CALLS {
            self.open.pop_front();
        }
        let what = tool_use(&name, &summary);
        self.open.push_back((id.clone(), what));
        sink(AgentEvent::ToolCall { id, name, summary });
        if !steps.is_empty() {
            sink(AgentEvent::Plan { steps });
        }
    }

    fn result_of_call(&mut self, line: Line, sink: &mut dyn FnMut(AgentEvent)) {
        let id = line.tool_id.0.unwrap_or_default();
        let failed = line.status.as_str() == "error";
        let error = line.error.0;
        let output = line.output.0.or(error.message.0).unwrap_or_default();
        let output = beginning(&output, EXCERPT).to_owned();
        let call = self.open.iter().position(|(open, _)| *open == id).and_then(|at| self.open.remove(at));
        sink(AgentEvent::ToolResult { id, failed, output });
        if let Some((_, what)) = call.filter(|_| failed) {
            let name = what.split(' ').next().unwrap_or_default();
            let refused = match error.r#type.as_str() {
                "policy_violation" => true,
                "tool_not_registered" => WITHHELD.contains(&name),
                _ => false,
            };
            if refused {
                sink(AgentEvent::Refused { what });
            }
        }
    }

    fn end(&mut self, line: &Line, sink: &mut dyn FnMut(AgentEvent)) {
        let stats = &line.stats.0;
        if stats.input_tokens != Reported::Missing {
            let mut meter = Meter::default();
            let input = meter.required(stats.input_tokens);
            let output = meter.required(stats.output_tokens);
            // What it thought is in the total alone, and is paid for as output.
            let thought = meter.optional(stats.total_tokens).saturating_sub(input);
            let cached = stats.cached.known().unwrap_or(0).min(input);
            let tokens_unknown = meter.tokens_unknown();
            let output = output.max(thought);
            sink(AgentEvent::Usage(Usage { input, output, cached, tokens_unknown, ..Usage::default() }));
        }
        let before = self.last_error.take();
        if line.status.as_str() != "success" {
            let told = line.error.0.message.0.clone().or(before);
            let message = told.unwrap_or_else(|| "it ended in an error without saying which".into());
            sink(errors::failure(&message, line.timestamp.as_str().parse().ok()));
        }
        sink(AgentEvent::End { reason: line.status.0.clone().unwrap_or_default() });
    }
}
