//! Tool calls: agents tell of each in many pieces; people hear of it once when it begins and once when it ends.

use serde_json::value::RawValue;

use super::wire::Update;
use crate::agent::arguments::Arguments;
use crate::agent::excerpt::{EXCERPT, one_line};
use crate::agent::raw_json::{self, Object};
use crate::event::AgentEvent;

/// How many calls are kept in mind; an agent has only a few at once.
const MOST: usize = 256;
/// Longer than any id that is in use.
const LONGEST_ID: usize = 256;
/// What a tool does, by the protocol's kinds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolKind {
    /// Reads files or data.
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    /// Gets something from outside.
    Fetch,
    /// Changes what the agent may do.
    SwitchMode,
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

    /// What a person is asked: in words, with the tool's own name where it has one.
    fn asked(self, name: Option<&str>, summary: &str) -> String {
        let known = |verb: &str, unknown: &str| {
            let what = if summary.is_empty() { unknown.to_owned() } else { summary.to_owned() };
            format!("{verb} {what}")
        };
        let words = match self {
            Self::Execute if summary.is_empty() => "run a command".to_owned(),
            Self::Execute => format!("run `{summary}`"),
            Self::Read => known("read", "a file"),
            Self::Edit => known("change", "a file"),
            Self::Delete => known("delete", "a file"),
            Self::Move => known("move", "a file"),
            Self::Search => known("search", "here"),
            Self::Fetch => known("fetch", "something from outside"),
            Self::SwitchMode => known("switch its mode:", "to one that it does not name"),
            Self::Think | Self::Other => match (name, summary) {
                (None, "") => "use a tool that it does not name".to_owned(),
                (Some(name), "") => return one_line(&format!("use the tool {name}")),
                (None, summary) => format!("use a tool: {summary}"),
                (Some(name), summary) => return one_line(&format!("use the tool {name}: {summary}")),
            },
        };
        one_line(&name.map_or_else(|| words.clone(), |name| format!("{words} ({name})")))
    }
}

/// A call as far as it is known.
#[derive(Debug, Clone, Default)]
struct Call {
    id: String,
    kind: ToolKind,
    name: Option<String>,
    summary: String,
    announced: bool,
    ended: bool,
}

/// The calls of a turn.
#[derive(Debug, Clone, Default)]
pub(super) struct Tools {
    calls: Vec<Call>,
    /// The turn has used at least one tool.
    pub(super) any: bool,
}

/// How a call is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportedBy {
    /// By an update of the session.
    Update,
    /// By a request for permission: more will not be known before it is answered.
    Request,
}

/// What a permission is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PermissionSubject {
    pub(super) kind: ToolKind,
    pub(super) what: String,
    /// The same as a person is asked it: "run `make`".
    pub(super) asked: String,
}

impl Tools {
    /// Takes in a piece of news about a call.
    pub(super) fn see(
        &mut self,
        update: &Update<'_>,
        by: ReportedBy,
        sink: &mut dyn FnMut(AgentEvent),
    ) -> PermissionSubject {
        self.any = true;
        let input = update.raw_input.map(Arguments::of).unwrap_or_default();
        let Some(id) = update.tool_call_id.as_deref().filter(|id| id.len() <= LONGEST_ID) else {
            let kind = update.kind.as_deref().map_or(ToolKind::Other, ToolKind::of);
            let summary = summary(update, &input).unwrap_or_default();
            let asked = kind.asked(None, &summary);
            return PermissionSubject { kind, what: one_line(&format!("{} {summary}", kind.word())), asked };
        };
        let call = self.call(id);
        call.learn(update, &input);
        let status = update.status.as_deref().unwrap_or_default();
        let ended = matches!(status, "completed" | "failed");
        // A call that is still being put together says nothing yet.
        let known = by == ReportedBy::Request || ended || status == "in_progress" || input.any;
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
        PermissionSubject {
            kind: call.kind,
            what,
            asked: call.kind.asked(call.name.as_deref(), &call.summary),
        }
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
    let by_title = || update.title.as_deref().map(in_words);
    let by_fields = || update.raw_input.and_then(fields_in_words);
    let text = by_input.or_else(|| first_place(update)).or_else(by_title).or_else(by_fields)?;
    Some(one_line(&text))
}

/// A title that is, or ends in, the arguments as JSON: what they say.
fn in_words(title: &str) -> String {
    let Some(at) = title.find('{') else { return title.to_owned() };
    let Ok(arguments) = serde_json::from_str::<&RawValue>(title[at..].trim_end_matches([')', ' '])) else {
        return title.to_owned();
    };
    let told = Arguments::of(arguments);
    let told = Some(told.telling()).filter(|told| !told.is_empty()).map(str::to_owned);
    let before = title[..at].trim_end_matches([' ', ':', '(']);
    told.or_else(|| fields_in_words(arguments)).unwrap_or_else(|| before.to_owned())
}

/// `owner ada, number 5`: fields that are known to nobody, without the marks of JSON.
fn fields_in_words(arguments: &RawValue) -> Option<String> {
    const MOST_FIELDS: usize = 4;
    // What is longer is content, and would be read into memory for a line.
    const LONGEST: usize = 4096;
    if arguments.get().len() > LONGEST {
        return None;
    }
    let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(arguments.get()).ok()?;
    let told = fields.iter().filter_map(|(name, value)| match value {
        serde_json::Value::String(text) => Some(format!("{name} {}", one_line(text))),
        serde_json::Value::Number(number) => Some(format!("{name} {number}")),
        serde_json::Value::Bool(yes) => Some(format!("{name} {}", if *yes { "yes" } else { "no" })),
        serde_json::Value::Null | serde_json::Value::Array(_) | serde_json::Value::Object(_) => None,
    });
    let told: Vec<String> = told.take(MOST_FIELDS).collect();
    (!told.is_empty()).then(|| told.join(", "))
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
            tools.see(&update, ReportedBy::Update, &mut |event| events.push(event));
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
    fn a8_a_person_is_asked_in_words() {
        let asked = |request: &str| {
            let update: Update<'_> = serde_json::from_str(request).unwrap();
            Tools::default().see(&update, ReportedBy::Request, &mut |_| {}).asked
        };
        for (request, words) in [
            (
                r#"{"toolCallId":"1","kind":"execute","title":"make","rawInput":{"command":"make clean"}}"#,
                "run `make clean`",
            ),
            (
                r#"{"toolCallId":"1","kind":"execute","title":"{\"command\":\"rm -r x\",\"timeout\":5}"}"#,
                "run `rm -r x`",
            ),
            (
                r#"{"toolCallId":"1","kind":"edit","name":"write_file","title":"WriteFile: {\"file_path\":\"src/a.rs\",\"content\":\"x\"}"}"#,
                "change src/a.rs (write_file)",
            ),
            (r#"{"toolCallId":"1","kind":"edit","locations":[{"path":"README.md"}]}"#, "change README.md"),
            (
                r#"{"toolCallId":"1","name":"create_issue","rawInput":{"owner":"ada","number":5,"labels":[]}}"#,
                "use the tool create_issue: owner ada, number 5",
            ),
            (r#"{"toolCallId":"1","kind":"fetch","title":"https://x.test/"}"#, "fetch https://x.test/"),
            (r#"{"title":"Set {mode} on"}"#, "use a tool: Set {mode} on"),
            (r#"{"toolCallId":"1"}"#, "use a tool that it does not name"),
        ] {
            assert_eq!(asked(request), words, "{request}");
        }
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
            tools.see(&update, ReportedBy::Update, &mut |_| {});
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
