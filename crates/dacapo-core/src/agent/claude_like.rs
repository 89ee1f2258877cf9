//! The lines that claude and its relatives have in common: who speaks, which tools are used, what was refused, what each
//! model call used.

use std::collections::VecDeque;

use serde_json::value::RawValue;

use super::arguments::Arguments;
use super::excerpt::{EXCERPT, line_of, one_line, tool_use};
use super::raw_json::{self, Object};
use crate::event::{AgentEvent, Usage};

/// How much of an argument names a refused tool.
const REFUSAL: usize = 80;

/// Longer ids are none.
const LONGEST_ID: usize = 200;

/// How many tool calls and messages are remembered: far more than an agent has open at a time.
const RECENT: usize = 128;

/// Where to put events.
pub(super) type Sink<'s> = dyn FnMut(AgentEvent) + 's;

/// A conversation, line by line.
#[derive(Debug, Clone, Default)]
pub(super) struct Conversation {
    session: String,
    /// The last thing that happened was that the agent spoke.
    speaking: bool,
    /// Tool calls that may be refused, by id.
    calls: Recent<String>,
    /// Tool calls that were.
    refused: Recent<()>,
    /// What each message was said to have used so far, by its id.
    messages: Recent<Usage>,
    /// What the messages used that no final line has accounted for yet.
    open: Usage,
    /// The last usage that was told.
    told: Usage,
    /// The model has answered.
    answered: bool,
    /// What the newest result amounts to, unless the conversation goes on after it.
    ending: Option<AgentEvent>,
}

impl Conversation {
    /// Passes an event on.
    pub(super) fn tell(&mut self, event: AgentEvent, sink: &mut Sink<'_>) {
        match &event {
            AgentEvent::Usage(_) => {}
            AgentEvent::Text { .. } => self.speaking = true,
            _ => self.speaking = false,
        }
        sink(event);
    }

    /// The id that a line names; the newest is the one to trust.
    pub(super) fn session(&mut self, line: &Object<'_>, sink: &mut Sink<'_>) {
        let Some(id) = line.text("session_id") else { return };
        if !id.is_empty() && id.len() <= LONGEST_ID && id != self.session {
            self.session = id.clone().into_owned();
            self.tell(AgentEvent::Session { id: id.into_owned() }, sink);
        }
    }

    /// Whether the model has said anything in this turn.
    pub(super) fn answered(&self) -> bool {
        self.answered
    }

    /// What was used since the last final line, as far as the messages tell.
    pub(super) fn open(&self) -> Usage {
        self.open
    }

    /// A final line has accounted for everything so far.
    pub(super) fn settle(&mut self) {
        self.open = Usage::default();
    }

    /// Tells what the turn has used by now, where that is news.
    pub(super) fn uses(&mut self, usage: Usage, sink: &mut Sink<'_>) {
        if usage != self.told {
            self.told = usage;
            self.tell(AgentEvent::Usage(usage), sink);
        }
    }

    /// A final line has come; it need not be the last one.
    pub(super) fn ends(&mut self, ending: AgentEvent) {
        self.ending = Some(ending);
    }

    /// What was a result is not the last one when the main agent goes on after it.
    pub(super) fn goes_on(&mut self, line: &Object<'_>) {
        if is_main(line) {
            self.ending = None;
        }
    }

    /// There are no more lines: only now is the last result known to be the last. Work in the background wakes an agent up
    /// again, and a helper that fails writes a result, too.
    pub(super) fn end(&mut self, sink: &mut Sink<'_>) {
        if let Some(ending) = self.ending.take() {
            sink(ending);
        }
    }

    /// A message of the model. Only the main agent speaks to the user; what its helpers say, they say to it.
    pub(super) fn assistant(&mut self, line: &Object<'_>, sink: &mut Sink<'_>) {
        let Some(message) = line.object("message") else { return };
        let main = is_main(line);
        self.answered = true;
        let Some(content) = message.raw("content") else { return };
        if let Some(text) = raw_json::text(content).filter(|_| main) {
            self.speak(&text, sink);
        }
        raw_json::each(content, |block| {
            let Some(block) = Object::parse(block.get()) else { return };
            match block.text("type").as_deref() {
                Some("text") if main => self.speak(&block.text("text").unwrap_or_default(), sink),
                Some("thinking") if main => {
                    let thought = block.raw("thinking").and_then(|text| raw_json::excerpt(text, EXCERPT));
                    if let Some(text) = thought.filter(|text| !text.trim().is_empty()) {
                        self.tell(AgentEvent::Thinking { text }, sink);
                    }
                }
                Some("tool_use" | "server_tool_use") => self.call(&block, main, sink),
                _ => {}
            }
        });
    }

    /// The main agent says something.
    pub(super) fn speak(&mut self, text: &str, sink: &mut Sink<'_>) {
        if text.is_empty() {
            return;
        }
        // Two messages are not one, though nothing happened between them.
        let text = if self.speaking { format!("\n\n{text}") } else { text.to_owned() };
        self.tell(AgentEvent::Text { text }, sink);
    }

    fn call(&mut self, block: &Object<'_>, main: bool, sink: &mut Sink<'_>) {
        let id = id_of(block, "id");
        let name = one_line(&block.text("name").unwrap_or_default());
        let input = block.raw("input").map(Arguments::of).unwrap_or_default();
        self.calls.put(&id, named(&name, &input));
        self.tell(AgentEvent::ToolCall { id, name, summary: one_line(input.telling()) }, sink);
        let steps = input.steps;
        if main && !steps.is_empty() {
            self.tell(AgentEvent::Plan { steps }, sink);
        }
    }

    /// What one model call used. It stands on every line of its message, and may grow from one to the next. `tokens`
    /// reads it.
    pub(super) fn count(&mut self, line: &Object<'_>, tokens: fn(&Object<'_>) -> Usage) {
        let Some(message) = line.object("message") else { return };
        let Some(used) = message.object("usage").map(|usage| tokens(&usage)) else { return };
        let before = self.messages.get(&id_of(&message, "id")).copied().unwrap_or_default();
        let now = Usage {
            input: used.input.max(before.input),
            output: used.output.max(before.output),
            cached: used.cached.max(before.cached),
            tokens_unknown: used.tokens_unknown,
            ..Usage::default()
        };
        self.messages.put(&id_of(&message, "id"), now);
        self.open = self.open.plus(&now.since(&before));
    }

    /// What comes back to the model: answers of tools.
    pub(super) fn user(&mut self, line: &Object<'_>, sink: &mut Sink<'_>) {
        let Some(message) = line.object("message") else { return };
        message.each("content", |block| {
            let Some(block) = Object::parse(block.get()) else { return };
            if block.text("type").as_deref() == Some("tool_result") {
                let event = AgentEvent::ToolResult {
                    id: id_of(&block, "tool_use_id"),
                    failed: block.is_true("is_error"),
                    output: block.raw("content").map(output).unwrap_or_default(),
                };
                self.tell(event, sink);
            }
        });
    }

    /// A tool that was not allowed, told while it happens or at the end: `tool_name`, `tool_use_id`, `tool_input`.
    pub(super) fn refused(&mut self, denial: &Object<'_>, sink: &mut Sink<'_>) {
        let id = id_of(denial, "tool_use_id");
        if !id.is_empty() && self.refused.get(&id).is_some() {
            return;
        }
        self.refused.put(&id, ());
        let by_denial = || {
            let input = denial.raw("tool_input").map(Arguments::of).unwrap_or_default();
            named(&denial.text("tool_name").unwrap_or_default(), &input)
        };
        let what = self.calls.get(&id).cloned().unwrap_or_else(by_denial);
        if !what.is_empty() {
            self.tell(AgentEvent::Refused { what }, sink);
        }
    }

    /// The refusals that a final line lists.
    pub(super) fn denials(&mut self, line: &Object<'_>, sink: &mut Sink<'_>) {
        line.each("permission_denials", |denial| {
            if let Some(denial) = Object::parse(denial.get()) {
                self.refused(&denial, sink);
            }
        });
    }
}

/// Whether a line is of the main agent, not of one that it started as a tool.
pub(super) fn is_main(line: &Object<'_>) -> bool {
    line.text("parent_tool_use_id").is_none()
}

/// This turn's part of a total that some versions count over the whole conversation and others from the start of their
/// process. `seen`: what this turn has used at least.
pub(super) fn this_turn(total: &Usage, earlier: &Usage, seen: &Usage) -> Usage {
    let at_least = earlier.plus(seen);
    if total.input >= at_least.input && total.output >= at_least.output {
        total.since(earlier)
    } else {
        *total
    }
}

fn id_of(object: &Object<'_>, name: &str) -> String {
    object.text(name).filter(|id| id.len() <= LONGEST_ID).map(String::from).unwrap_or_default()
}

/// A tool and what it was to do.
fn named(tool: &str, input: &Arguments) -> String {
    tool_use(&one_line(tool), &line_of(input.telling(), REFUSAL))
}

/// The beginning of what a tool returned: a text, or a list of parts.
fn output(content: &RawValue) -> String {
    if let Some(text) = raw_json::excerpt(content, EXCERPT) {
        return text;
    }
    let mut whole = String::new();
    raw_json::each(content, |part| {
        let text = Object::parse(part.get()).and_then(|part| part.raw("text"));
        if let Some(text) = text.and_then(|text| raw_json::excerpt(text, EXCERPT - whole.len())) {
            whole.push_str(&text);
        }
    });
    whole
}

/// The newest few of what has an id.
#[derive(Debug, Clone)]
struct Recent<T>(VecDeque<(String, T)>);

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Recent<T> {
    fn get(&self, id: &str) -> Option<&T> {
        self.0.iter().rev().find(|(own, _)| own == id).map(|(_, value)| value)
    }

    /// What has no id is not remembered.
    fn put(&mut self, id: &str, value: T) {
        if id.is_empty() {
            return;
        }
        self.0.retain(|(own, _)| own != id);
        if self.0.len() == RECENT {
            self.0.pop_front();
        }
        self.0.push_back((id.to_owned(), value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(see: impl FnOnce(&mut Conversation, &mut Sink<'_>)) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        see(&mut Conversation::default(), &mut |event| events.push(event));
        events
    }

    #[test]
    fn a3_output_is_cut_and_may_come_in_parts() {
        let of = |json: &str| output(&RawValue::from_string(json.to_owned()).unwrap());
        assert_eq!(of("\"plain\\n\""), "plain\n");
        assert_eq!(of(r#"[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]"#), "ab");
        assert_eq!(of(&format!("\"{}\"", "繼".repeat(5000))).len(), 1_998);
        assert_eq!(of(&format!(r#"[{{"text":"{0}"}},{{"text":"{0}"}}]"#, "x".repeat(1500))).len(), EXCERPT);
        assert_eq!(of("{}"), "");
    }

    #[test]
    fn r3_what_is_remembered_is_bounded() {
        let mut recent = Recent::default();
        for number in 0..10_000 {
            recent.put(&number.to_string(), number);
            recent.put("", number);
        }
        assert_eq!((recent.0.len(), recent.get("9999"), recent.get("0")), (RECENT, Some(&9999), None));
    }

    #[test]
    fn l10_a_message_on_several_lines_is_counted_once() {
        let line = |id: &str, input: u64, output: u64| {
            format!(
                r#"{{"message":{{"id":"{id}","usage":{{"output_tokens":{output},"input_tokens":{input}}}}}}}"#
            )
        };
        let mut conversation = Conversation::default();
        for json in [line("a", 100, 1), line("b", 200, 1), line("a", 100, 7), line("b", 200, 1)] {
            conversation.count(&Object::parse(&json).unwrap(), |usage| Usage {
                input: usage.count("input_tokens").unwrap_or(0),
                output: usage.count("output_tokens").unwrap_or(0),
                ..Usage::default()
            });
        }
        assert_eq!(conversation.open(), used(300, 8));
    }

    fn used(input: u64, output: u64) -> Usage {
        Usage { input, output, ..Usage::default() }
    }

    #[test]
    fn l10_a_total_is_of_the_conversation_or_of_the_process() {
        let earlier = used(1000, 50);
        assert_eq!(this_turn(&used(1300, 60), &earlier, &used(300, 10)), used(300, 10), "of all turns");
        assert_eq!(this_turn(&used(1350, 65), &earlier, &used(300, 10)), used(350, 15), "with side calls");
        assert_eq!(this_turn(&used(300, 10), &earlier, &used(300, 10)), used(300, 10), "of this one");
        assert_eq!(this_turn(&used(1200, 10), &earlier, &used(1200, 10)), used(1200, 10), "of this long one");
        assert_eq!(
            this_turn(&used(300, 10), &Usage::default(), &used(300, 1)),
            used(300, 10),
            "of the first"
        );
    }

    #[test]
    fn l7_two_messages_in_a_row_do_not_run_into_each_other() {
        let line = r#"{"message":{"content":[{"type":"text","text":"DO"}]}}"#;
        let told = events(|talk, sink| {
            talk.assistant(&Object::parse(line).unwrap(), sink);
            talk.assistant(&Object::parse(line).unwrap(), sink);
        });
        let text = |text: &str| AgentEvent::Text { text: text.into() };
        assert_eq!(told, [text("DO"), text("\n\nDO")]);
    }
}
