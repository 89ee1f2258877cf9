//! Tool calls: agents tell of each in many pieces; people hear of it once when it begins and once when it ends.

use super::wire::Update;
use crate::agent::arguments::Arguments;
use crate::agent::excerpt::{EXCERPT, one_line};
use crate::agent::raw_json::{self, Object};
use crate::event::AgentEvent;

/// So many calls are kept in mind; an agent has only a few at once.
const MOST: usize = 256;
/// Longer than any id that is in use.
const LONGEST_ID: usize = 256;
/// What a tool does, by the protocol's kinds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolKind {
    /// Reads files or data.
    Read,
    /// Changes files.
    Edit,
    /// Removes files.
    Delete,
    /// Moves files.
    Move,
    /// Looks for something.
    Search,
    /// Runs a command.
    Execute,
    /// Thinks.
    Think,
    /// Gets something from outside.
    Fetch,
    /// Changes what the agent may do.
    SwitchMode,
    /// Anything else.
    #[default]
    Other,
}

impl ToolKind {
    fn of(word: &str) -> Self {
        match word {
            "read" => Self::Read,
            "edit" => Self::Edit,
            "delete" => Self::Delete,
            "move" => Self::Move,
            "search" => Self::Search,
            "execute" => Self::Execute,
            "think" => Self::Think,
            "fetch" => Self::Fetch,
            "switch_mode" => Self::SwitchMode,
            _ => Self::Other,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Search => "search",
            Self::Execute => "execute",
            Self::Think => "think",
            Self::Fetch => "fetch",
            Self::SwitchMode => "switch_mode",
            Self::Other => "tool",
        }
    }
}

/// A call as far as it is known.
#[derive(Debug, Default)]
struct Call {
    id: String,
    kind: ToolKind,
    name: Option<String>,
    summary: String,
    announced: bool,
    ended: bool,
}

/// The calls of a turn.
#[derive(Debug, Default)]
pub(super) struct Tools {
    calls: Vec<Call>,
    /// There was one.
    pub(super) any: bool,
}

/// How a call is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// By an update of the session.
    Update,
    /// By a request for permission: more will not be known before it is answered.
    Request,
}

/// What a permission is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) kind: ToolKind,
    pub(super) what: String,
}

impl Tools {
    /// Takes in a piece of news about a call.
    pub(super) fn see(
        &mut self,
        update: &Update<'_>,
        told: Told,
        sink: &mut dyn FnMut(AgentEvent),
    ) -> Wanted {
        self.any = true;
        let input = update.raw_input.map(Arguments::of).unwrap_or_default();
        let Some(id) = update.tool_call_id.as_deref().filter(|id| id.len() <= LONGEST_ID) else {
            let kind = update.kind.as_deref().map_or(ToolKind::Other, ToolKind::of);
            let summary = summary(update, &input).unwrap_or_default();
            return Wanted { kind, what: one_line(&format!("{} {summary}", kind.word())) };
        };
        let call = self.call(id);
        call.learn(update, &input);
        let status = update.status.as_deref().unwrap_or_default();
        let ended = matches!(status, "completed" | "failed");
        // A call that is still being put together says nothing yet.
        let known = told == Told::Request || ended || status == "in_progress" || input.any;
        if known && !call.announced {
            call.announced = true;
            let (id, name, summary) = (call.id.clone(), call.label(), call.summary.clone());
            sink(AgentEvent::ToolCall { id, name, summary });
        }
        if ended && !call.ended {
            call.ended = true;
            sink(AgentEvent::ToolResult {
                id: call.id.clone(),
                failed: status == "failed",
                output: output(update),
            });
        }
        let what = one_line(&format!("{} {}", call.label(), call.summary));
        Wanted { kind: call.kind, what }
    }

    fn call(&mut self, id: &str) -> &mut Call {
        let at = self.calls.iter().rposition(|call| call.id == id).unwrap_or_else(|| {
            if self.calls.len() == MOST {
                // The oldest one that has ended, else the oldest.
                let oldest = self.calls.iter().position(|call| call.ended).unwrap_or(0);
                self.calls.remove(oldest);
            }
            self.calls.push(Call { id: id.to_owned(), ..Call::default() });
            self.calls.len() - 1
        });
        &mut self.calls[at]
    }
}

impl Call {
    fn learn(&mut self, update: &Update<'_>, input: &Arguments) {
        if let Some(kind) = &update.kind {
            self.kind = ToolKind::of(kind);
        }
        let by_claude = || update.meta.as_ref()?.claude_code.as_ref()?.tool_name.as_ref();
        if let Some(name) = update.name.as_ref().or_else(by_claude) {
            self.name = Some(one_line(name));
        }
        if let Some(summary) = summary(update, input) {
            self.summary = summary;
        }
    }

    fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.kind.word().to_owned())
    }
}

/// A line for people: the command, the path, else the title.
fn summary(update: &Update<'_>, input: &Arguments) -> Option<String> {
    let by_input = Some(input.telling()).filter(|told| !told.is_empty()).map(str::to_owned);
    let text = by_input.or_else(|| first_place(update)).or_else(|| update.title.clone())?;
    Some(one_line(&text))
}

fn first_place(update: &Update<'_>) -> Option<String> {
    let mut first = None;
    raw_json::each(update.locations?, |place| {
        let path =
            || Object::parse(place.get())?.raw("path").and_then(|path| raw_json::excerpt(path, EXCERPT));
        first = first.take().or_else(path);
    });
    first
}

/// The beginning of what the tool gave back.
fn output(update: &Update<'_>) -> String {
    let mut text = String::new();
    if let Some(pieces) = update.content {
        raw_json::each(pieces, |piece| {
            let content = Object::parse(piece.get()).and_then(|piece| piece.object("content"));
            let more = content.and_then(|content| content.raw("text"));
            let room = EXCERPT - text.len();
            text.extend(more.and_then(|more| raw_json::excerpt(more, room)));
        });
    }
    match update.raw_output {
        Some(raw) if text.is_empty() => {
            let fields = Object::parse(raw.get()).unwrap_or_default();
            let inner = || {
                ["output", "content", "stdout", "error"]
                    .iter()
                    .find_map(|name| raw_json::excerpt(fields.raw(name)?, EXCERPT))
            };
            raw_json::excerpt(raw, EXCERPT).or_else(inner).unwrap_or_default()
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(updates: &[&str]) -> Vec<AgentEvent> {
        let (mut tools, mut events) = (Tools::default(), Vec::new());
        for update in updates {
            let update: Update<'_> = serde_json::from_str(update).unwrap();
            tools.see(&update, Told::Update, &mut |event| events.push(event));
        }
        events
    }

    #[test]
    fn a3_a_call_in_many_pieces_is_told_once() {
        let events = seen(&[
            r#"{"toolCallId":"1","title":"bash","kind":"execute","status":"pending","rawInput":{}}"#,
            r#"{"toolCallId":"1","title":"ls","status":"in_progress","rawInput":{"command":"ls -l"}}"#,
            r#"{"toolCallId":"1","title":"ls","status":"in_progress","content":[]}"#,
            r#"{"toolCallId":"1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"a\n"}}]}"#,
            r#"{"toolCallId":"1","status":"completed"}"#,
        ]);
        assert_eq!(
            events,
            [
                AgentEvent::ToolCall { id: "1".into(), name: "execute".into(), summary: "ls -l".into() },
                AgentEvent::ToolResult { id: "1".into(), failed: false, output: "a\n".into() },
            ]
        );
    }

    #[test]
    fn a3_half_a_character_costs_nothing_but_itself() {
        let events = seen(&[
            r#"{"toolCallId":"1","name":"sh","rawInput":{"command":["echo","a\ud83d"]},"status":"failed","rawOutput":{"stdout":"b\ud83d"}}"#,
        ]);
        let call =
            AgentEvent::ToolCall { id: "1".into(), name: "sh".into(), summary: "echo a\u{fffd}".into() };
        let result = AgentEvent::ToolResult { id: "1".into(), failed: true, output: "b\u{fffd}".into() };
        assert_eq!(events, [call, result]);
    }

    #[test]
    fn r3_calls_without_end_are_kept_in_bounded_memory() {
        let mut tools = Tools::default();
        for number in 0..10_000 {
            let json = format!(r#"{{"toolCallId":"{number}","status":"in_progress"}}"#);
            let update: Update<'_> = serde_json::from_str(&json).unwrap();
            tools.see(&update, Told::Update, &mut |_| {});
            assert!(tools.calls.len() <= MOST);
        }
    }

    #[test]
    fn c8_a_result_is_cut_between_characters() {
        let json = format!(r#"{{"toolCallId":"1","status":"failed","rawOutput":"x{}"}}"#, "ä".repeat(5000));
        let events = seen(&[&json]);
        let AgentEvent::ToolResult { failed: true, output, .. } = &events[1] else { panic!("{events:?}") };
        assert_eq!(output.len(), EXCERPT - 1);
    }
}
