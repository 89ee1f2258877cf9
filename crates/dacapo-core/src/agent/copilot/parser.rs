//! What `copilot --output-format json` prints: everything that happens in a session, and a `result` at its end.

use jiff::{Timestamp, Zoned};
use serde::Deserialize;

use super::failure::{self, CallFailure, SessionError};
use super::usage_file;
use crate::agent::ParserSetting;
use crate::agent::arguments::Arguments;
use crate::agent::excerpt::{one_line, tool_use};
use crate::agent::fields::{self, Count, Excerpt, Flag, Object, Text};
use crate::agent::lines::LineReader;
use crate::event::{AgentEvent, FailureKind};

/// How many running tools are known by what they do.
const MOST_OPEN: usize = 100;

/// A line whose type is looked at before anything else: most are of no use here, and some are large.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Head {
    #[serde(rename = "type")]
    kind: Excerpt,
    /// Only what sub-agents do has one.
    agent_id: Excerpt,
    timestamp: Excerpt,
    session_id: Excerpt,
    exit_code: Count,
}

/// The same line with its content.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Body<T: Default> {
    #[serde(bound(deserialize = "T: Deserialize<'de>"))]
    data: Object<T>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Message {
    content: Text,
    /// What older versions have for sub-agents.
    parent_tool_call_id: Excerpt,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ToolStart {
    tool_call_id: Excerpt,
    tool_name: Excerpt,
    arguments: Arguments,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ToolEnd {
    tool_call_id: Excerpt,
    success: Flag,
    result: Object<ToolOutput>,
    error: Object<ToolError>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToolOutput {
    content: Excerpt,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToolError {
    message: Excerpt,
    code: Excerpt,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Abort {
    reason: Excerpt,
}

/// Reads the stream.
#[derive(Debug, Clone)]
pub(super) struct CopilotLines {
    setting: ParserSetting,
    /// Tools that have begun and not ended, with what they do.
    open: Vec<(String, String)>,
    /// When the endpoint's limit ends, by the last call that failed.
    call_resets_at: Option<Timestamp>,
    /// Why the turn fails unless something comes of it after all: copilot may go on with another model.
    held: Option<AgentEvent>,
    said: bool,
}

impl LineReader for CopilotLines {
    fn line(&mut self, line: &[u8], sink: &mut dyn FnMut(AgentEvent)) {
        let Some(head) = fields::read::<Head>(line) else { return };
        let sub_agent = head.agent_id.some().is_some();
        match head.kind.as_str() {
            "assistant.message" if !sub_agent => self.message(&data(line), sink),
            "assistant.reasoning" if !sub_agent => {
                if let Some(text) = data::<Message>(line).content.some() {
                    self.say(AgentEvent::Thinking { text: text.to_owned() }, sink);
                }
            }
            "tool.execution_start" => self.tool_start(&data(line), sink),
            "tool.execution_complete" => self.tool_end(&data(line), sink),
            // Another attempt follows, or the end.
            "model.call_failure" => {
                let failed: CallFailure = data(line);
                self.call_resets_at = failed.resets_at(self.said_at(&head).as_ref());
                let (message, status) = (failed.message(), failed.status());
                self.say(AgentEvent::Retry { message, status }, sink);
            }
            "session.error" if !sub_agent => {
                let error: SessionError = data(line);
                self.held = Some(failure::event(&error, self.said_at(&head).as_ref(), self.call_resets_at));
            }
            "abort" if !sub_agent => {
                let Abort { reason } = data(line);
                let message = format!("copilot was interrupted ({})", reason.as_str());
                self.held =
                    Some(AgentEvent::Error { failure: FailureKind::Transient, fault: message.into() });
            }
            "result" => self.result(&head, sink),
            _ => {}
        }
    }

    fn end(&mut self, sink: &mut dyn FnMut(AgentEvent)) {
        self.held.take().into_iter().for_each(&mut *sink);
        if let Some(used) = self.setting.usage_file.as_deref().and_then(usage_file::read) {
            sink(AgentEvent::Usage(used.on_top_of(&self.setting.earlier)));
        }
    }
}

impl CopilotLines {
    pub(super) fn new(setting: ParserSetting) -> Self {
        Self { setting, open: Vec::new(), call_resets_at: None, held: None, said: false }
    }

    fn say(&mut self, event: AgentEvent, sink: &mut dyn FnMut(AgentEvent)) {
        self.said = matches!(event, AgentEvent::Text { .. });
        sink(event);
    }

    fn message(&mut self, message: &Message, sink: &mut dyn FnMut(AgentEvent)) {
        if message.parent_tool_call_id.some().is_some() {
            return;
        }
        // The model has answered: whatever was wrong is not any more.
        self.held = None;
        self.call_resets_at = None;
        if let Some(text) = message.content.some() {
            let gap = if self.said { "\n\n" } else { "" };
            self.say(AgentEvent::Text { text: format!("{gap}{text}") }, sink);
        }
    }

    fn tool_start(&mut self, tool: &ToolStart, sink: &mut dyn FnMut(AgentEvent)) {
        let id = tool.tool_call_id.as_str();
        let name = tool.tool_name.as_str();
        let summary = one_line(tool.arguments.telling());
        if self.open.len() < MOST_OPEN {
            self.open.push((id.to_owned(), tool_use(name, &summary)));
        }
        self.say(AgentEvent::ToolCall { id: id.to_owned(), name: name.to_owned(), summary }, sink);
    }

    fn tool_end(&mut self, tool: &ToolEnd, sink: &mut dyn FnMut(AgentEvent)) {
        let id = tool.tool_call_id.as_str();
        let open = self.open.iter().position(|(known, _)| known == id);
        let what = open.map(|open| self.open.swap_remove(open).1);
        let error = &tool.error.0;
        if error.code.as_str() == "denied" {
            let what = what.unwrap_or_else(|| "a tool".into());
            self.say(AgentEvent::Refused { what }, sink);
        }
        let output = error.message.some().unwrap_or(tool.result.0.content.as_str());
        let failed = tool.success.0 == Some(false) || error.message.some().is_some();
        self.say(AgentEvent::ToolResult { id: id.to_owned(), failed, output: output.to_owned() }, sink);
    }

    fn result(&mut self, head: &Head, sink: &mut dyn FnMut(AgentEvent)) {
        if let Some(id) = head.session_id.some() {
            sink(AgentEvent::Session { id: id.to_owned() });
        }
        let failed = head.exit_code.0.filter(|code| *code != 0).map(|code| AgentEvent::Error {
            failure: FailureKind::Transient,
            fault: format!("copilot ended its turn with code {code}").into(),
        });
        // An exit code of 0 does not undo an error: it is what copilot says after an interrupt, too.
        match self.held.take().or(failed) {
            Some(event) => sink(event),
            None => sink(AgentEvent::End { reason: "completed".into() }),
        }
    }

    /// When the line was written, in the user's zone.
    fn said_at(&self, head: &Head) -> Option<Zoned> {
        let at: Timestamp = head.timestamp.some()?.parse().ok()?;
        Some(at.to_zoned(self.setting.now.time_zone().clone()))
    }
}

fn data<T>(line: &[u8]) -> T
where
    T: Default + for<'de> Deserialize<'de>,
{
    fields::read::<Body<T>>(line).unwrap_or_default().data.0
}
