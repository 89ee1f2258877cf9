//! What `codex exec --json` prints: a thread, its items, and how the turn ended.

use serde::Deserialize;

use super::failure;
use crate::agent::ParserSetting;
use crate::agent::arguments::Arguments;
use crate::agent::excerpt::{one_line, tool_use};
use crate::agent::fields::{self, Excerpt, Flag, List, Object, Text};
use crate::agent::lines::LineReader;
use crate::agent::metering::{Meter, Reported};
use crate::event::{AgentEvent, Usage};

/// How many tools may run at a time; of more than these the beginning is told twice.
const MOST_OPEN: usize = 100;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line {
    #[serde(rename = "type")]
    kind: Excerpt,
    thread_id: Excerpt,
    message: Excerpt,
    item: Object<Item>,
    error: Object<Failure>,
    usage: Option<Object<Tokens>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Failure {
    message: Excerpt,
}

/// What the thread has used since it began. Output includes what was spent on reasoning, input what came from a cache.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input_tokens: Reported,
    cached_input_tokens: Reported,
    output_tokens: Reported,
}

/// An item of any type; each has some of these.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Item {
    id: Excerpt,
    #[serde(rename = "type")]
    kind: Excerpt,
    status: Excerpt,
    text: Text,
    command: Excerpt,
    aggregated_output: Excerpt,
    changes: List<Object<Change>>,
    server: Excerpt,
    tool: Excerpt,
    arguments: Arguments,
    error: Object<Failure>,
    query: Excerpt,
    prompt: Excerpt,
    items: List<Object<Step>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Change {
    path: Excerpt,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Step {
    text: Excerpt,
    completed: Flag,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    Ended,
}

/// A tool and what it is used for.
struct Use<'a> {
    name: &'a str,
    what: &'a str,
}

/// Reads the stream.
#[derive(Debug, Clone)]
pub(super) struct CodexLines {
    setting: ParserSetting,
    /// Tools that have begun and not ended.
    open: Vec<String>,
    plan: Vec<String>,
    /// The last event was a whole message; the next one is another.
    said: bool,
    /// An error that is not tried again, and that no end of the turn has confirmed yet.
    last_error: Option<String>,
}

impl LineReader for CodexLines {
    fn line(&mut self, line: &[u8], sink: &mut dyn FnMut(AgentEvent)) {
        let Some(line) = fields::read::<Line>(line) else { return };
        let mut say = |event: AgentEvent| {
            self.said = matches!(event, AgentEvent::Text { .. });
            sink(event);
        };
        match line.kind.as_str() {
            "thread.started" => {
                if let Some(id) = line.thread_id.some() {
                    say(AgentEvent::Session { id: id.to_owned() });
                }
            }
            "item.started" | "item.updated" | "item.completed" => {
                let ended = line.kind.as_str() == "item.completed";
                self.item(&line.item.0, if ended { Stage::Ended } else { Stage::Running }, sink);
            }
            // Each of these is followed by another attempt or by the end of the turn.
            "error" => {
                let message = line.message.as_str().to_owned();
                let cause = failure::cause(&message).to_owned();
                say(AgentEvent::Retry { message: cause, status: failure::status(&message) });
                self.last_error = (!message.starts_with("Reconnecting...")).then_some(message);
            }
            "turn.completed" => {
                self.last_error = None;
                self.usage(line.usage, sink);
                sink(AgentEvent::End { reason: "completed".into() });
            }
            "turn.failed" => {
                self.last_error = None;
                self.usage(line.usage, sink);
                sink(failure::event(line.error.0.message.as_str(), &self.setting.now));
            }
            _ => {}
        }
    }

    fn end(&mut self, sink: &mut dyn FnMut(AgentEvent)) {
        if let Some(message) = self.last_error.take() {
            sink(failure::event(&message, &self.setting.now));
        }
    }
}

impl CodexLines {
    pub(super) fn new(setting: ParserSetting) -> Self {
        Self { setting, open: Vec::new(), plan: Vec::new(), said: false, last_error: None }
    }

    fn usage(&self, tokens: Option<Object<Tokens>>, sink: &mut dyn FnMut(AgentEvent)) {
        let Some(Object(tokens)) = tokens else { return };
        let mut meter = Meter::default();
        let thread = Usage {
            input: meter.required(tokens.input_tokens),
            output: meter.required(tokens.output_tokens),
            cached: tokens.cached_input_tokens.known().unwrap_or(0),
            tokens_unknown: meter.tokens_unknown(),
            ..Usage::default()
        };
        sink(AgentEvent::Usage(thread.on_top_of(&self.setting.earlier)));
    }

    fn item(&mut self, item: &Item, stage: Stage, sink: &mut dyn FnMut(AgentEvent)) {
        let mut tool = |name: &str, what: &str| self.tool(item, stage, &Use { name, what }, sink);
        match item.kind.as_str() {
            "agent_message" if stage == Stage::Ended => {
                if let Some(text) = item.text.some() {
                    let gap = if self.said { "\n\n" } else { "" };
                    self.said = true;
                    sink(AgentEvent::Text { text: format!("{gap}{text}") });
                }
                return;
            }
            "reasoning" if stage == Stage::Ended => {
                if let Some(text) = item.text.some() {
                    sink(AgentEvent::Thinking { text: text.to_owned() });
                }
            }
            "todo_list" => self.todo_list(item, sink),
            "command_execution" => tool("shell", plain_command(item.command.as_str())),
            "file_change" => {
                let paths: Vec<&str> = item.changes.0.iter().map(|change| change.0.path.as_str()).collect();
                tool("apply_patch", &paths.join(", "));
            }
            "mcp_tool_call" => {
                let name = format!("{}.{}", item.server.as_str(), item.tool.as_str());
                tool(&name, item.arguments.telling());
            }
            "web_search" => tool("web_search", item.query.as_str()),
            "collab_tool_call" => tool(item.tool.as_str(), item.prompt.as_str()),
            // `error` is a mere warning here, and what is unknown stays in the raw file.
            _ => return,
        }
        self.said = false;
    }

    fn tool(&mut self, item: &Item, stage: Stage, tool: &Use<'_>, sink: &mut dyn FnMut(AgentEvent)) {
        let id = item.id.as_str();
        let name = tool.name;
        let summary = one_line(tool.what);
        let open = self.open.iter().position(|known| known == id);
        if open.is_none() {
            sink(AgentEvent::ToolCall { id: id.to_owned(), name: name.to_owned(), summary: summary.clone() });
        }
        if stage == Stage::Running {
            if open.is_none() && self.open.len() < MOST_OPEN {
                self.open.push(id.to_owned());
            }
            return;
        }
        if let Some(open) = open {
            self.open.swap_remove(open);
        }
        let error = item.error.0.message.as_str();
        // Nobody is there to allow it, which counts as a no.
        let asked_in_vain = ["user cancelled MCP tool call", "user rejected MCP tool call"].contains(&error);
        // What codex' own sandbox forbids, the kernel says in the tool's words; there is no other sign of it.
        let forbidden = item.kind.as_str() == "command_execution"
            && item.status.as_str() == "failed"
            && item.aggregated_output.as_str().contains("Read-only file system");
        if item.status.as_str() == "declined" || asked_in_vain || forbidden {
            sink(AgentEvent::Refused { what: tool_use(name, &summary) });
        }
        let output = if error.is_empty() { item.aggregated_output.as_str() } else { error };
        sink(AgentEvent::ToolResult {
            id: id.to_owned(),
            failed: !matches!(item.status.as_str(), "completed" | ""),
            output: output.to_owned(),
        });
    }

    fn todo_list(&mut self, item: &Item, sink: &mut dyn FnMut(AgentEvent)) {
        let step = |step: &Object<Step>| {
            let mark = if step.0.completed.0 == Some(true) { 'x' } else { ' ' };
            format!("[{mark}] {}", one_line(step.0.text.as_str()))
        };
        let steps: Vec<String> = item.items.0.iter().map(step).collect();
        // It is told again at the end of the turn.
        if steps != self.plan {
            self.plan.clone_from(&steps);
            sink(AgentEvent::Plan { steps });
        }
    }
}

/// The command as the model wrote it, without the shell that codex puts around it.
fn plain_command(command: &str) -> &str {
    let shells = ["/bin/bash -lc ", "bash -lc ", "/bin/zsh -lc ", "zsh -lc ", "/bin/sh -c ", "sh -c "];
    let inner = shells.iter().find_map(|shell| command.strip_prefix(shell)).unwrap_or(command);
    let quoted = |mark| inner.strip_prefix(mark).and_then(|inner| inner.strip_suffix(mark));
    quoted('\'').or_else(|| quoted('"')).unwrap_or(inner)
}
