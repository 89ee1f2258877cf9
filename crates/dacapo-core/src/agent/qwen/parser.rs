//! Reads `qwen -o stream-json`: claude's lines, but errors are things the agent says, and usage is a total.

use crate::agent::ParserSetting;
use crate::agent::api_error::{self, Cause};
use crate::agent::claude_like::{self, Conversation, Sink};
use crate::agent::excerpt;
use crate::agent::lines::LineReader;
use crate::agent::metering::Meter;
use crate::agent::raw_json::Object;
use crate::event::{AgentEvent, AgentFault, FailureKind, LogIn, Usage};

/// What stands before the words of a failed model call, in the middle of what the agent says.
const API_ERROR: &str = "[API Error: ";

/// What is known of the turn so far.
#[derive(Debug, Clone, Default)]
pub(super) struct QwenLines {
    talk: Conversation,
    /// What earlier turns of the conversation used.
    earlier: Usage,
    /// What this turn used, as the newest result says.
    total: Option<Usage>,
    /// What the agent said last was the error of a model call.
    failed_call: Option<String>,
}

impl LineReader for QwenLines {
    fn line(&mut self, line: &[u8], sink: &mut Sink<'_>) {
        let text = String::from_utf8_lossy(line);
        let Some(line) = Object::parse(&text) else { return };
        let kind = line.text("type");
        if matches!(kind.as_deref(), Some("system" | "assistant" | "user")) {
            self.talk.goes_on(&line);
        }
        match kind.as_deref() {
            Some("system") => self.talk.session(&line, sink),
            Some("assistant") => self.assistant(&line, sink),
            Some("user") => self.talk.user(&line, sink),
            Some("result") => self.result(&line, sink),
            _ => {}
        }
    }

    fn end(&mut self, sink: &mut Sink<'_>) {
        self.talk.end(sink);
    }
}

impl QwenLines {
    pub(super) fn new(setting: &ParserSetting) -> Self {
        Self { earlier: setting.earlier, ..Self::default() }
    }

    fn assistant(&mut self, line: &Object<'_>, sink: &mut Sink<'_>) {
        self.talk.session(line, sink);
        let failed = failed_call(line);
        match &failed {
            Some((said, _)) => self.talk.speak(said, sink),
            None => self.talk.assistant(line, sink),
        }
        if claude_like::is_main(line) {
            self.failed_call = failed.map(|(_, error)| error);
        }
        self.talk.count(line, tokens);
        self.usage(sink);
    }

    fn usage(&mut self, sink: &mut Sink<'_>) {
        self.talk.uses(self.total.unwrap_or_default().plus(&self.talk.open()), sink);
    }

    fn result(&mut self, line: &Object<'_>, sink: &mut Sink<'_>) {
        self.talk.session(line, sink);
        self.talk.denials(line, sink);
        let total = line.object("usage").map(|usage| tokens(&usage)).unwrap_or_default();
        // The result of a helper that failed accounts for nothing.
        if total.tokens() > 0 || total.tokens_unknown {
            let seen = self.total.unwrap_or_default().plus(&self.talk.open());
            self.total = Some(claude_like::this_turn(&total, &self.earlier, &seen));
            self.talk.settle();
        }
        self.usage(sink);
        self.talk.ends(self.ending_of(line));
    }

    fn ending_of(&self, line: &Object<'_>) -> AgentEvent {
        let subtype = line.text("subtype").unwrap_or_default();
        let said =
            line.object("error").and_then(|error| error.text("message")).or_else(|| line.text("result"));
        let failed = line.is_true("is_error") || subtype.starts_with("error");
        match (&self.failed_call, said) {
            (Some(error), _) => self.api_error(error),
            (None, Some(said)) if failed => self.api_error(&said),
            (None, None) if failed => AgentEvent::Error {
                failure: FailureKind::Transient,
                fault: AgentFault::EndedWith { agent: "qwen".into(), word: excerpt::message(&subtype) }
                    .into(),
            },
            (None, _) => AgentEvent::End { reason: excerpt::message(&subtype) },
        }
    }

    fn api_error(&self, said: &str) -> AgentEvent {
        let (inner, after) = parts(said).map_or((said, ""), |(_, inner, after)| (inner, after));
        let message = excerpt::message(inner);
        let cause = cause_of(inner, after);
        let cause = if self.talk.answered() { cause.after_answers() } else { cause };
        cause.event(&message, None, &LogIn::of("qwen"))
    }
}

/// What the model had said before its call failed, and the error. The model has not answered, so nothing was used, and
/// the text ends in an error: a model that merely talks about errors has used tokens for it.
fn failed_call(line: &Object<'_>) -> Option<(String, String)> {
    let message = line.object("message").filter(|_| claude_like::is_main(line))?;
    let used = message.object("usage").map(|usage| tokens(&usage)).unwrap_or_default();
    if used.tokens() > 0 {
        return None;
    }
    let text = only_text(&message)?;
    let (said, ..) = parts(&text)?;
    Some((said.to_owned(), text[said.len()..].to_owned()))
}

/// The text of a message that holds nothing else.
fn only_text(message: &Object<'_>) -> Option<String> {
    let mut whole = Some(String::new());
    message.each("content", |block| {
        let text = Object::parse(block.get())
            .filter(|block| block.text("type").as_deref() == Some("text"))
            .and_then(|block| block.text("text").map(String::from));
        whole = match (whole.take(), text) {
            (Some(whole), Some(text)) => Some(whole + &text),
            _ => None,
        };
    });
    whole
}

/// `before[API Error: inner]after`, where after is empty or a line of its own.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.rsplit_once(API_ERROR)?;
    let (inner, after) = match rest.split_once("]\n") {
        Some((inner, _)) => (inner, &rest[inner.len() + 1..]),
        None => (rest.strip_suffix(']')?, ""),
    };
    Some((before, inner, after))
}

/// By the status that stands first, by Google's words for one, or by what qwen adds for people.
fn cause_of(message: &str, after: &str) -> Cause {
    let named = |name: &str| message.contains(&format!("(Status: {name})"));
    if let Some(status) = api_error::leading_status(message) {
        Cause::of_status(status, message)
    } else if named("RESOURCE_EXHAUSTED") || after.contains("try again later") {
        Cause::Limit
    } else if named("UNAUTHENTICATED") || named("PERMISSION_DENIED") {
        Cause::Login
    } else if named("NOT_FOUND") {
        Cause::Setting
    } else if named("INVALID_ARGUMENT") {
        Cause::Request
    } else if ["No auth type is selected", "Missing API key", "Missing credentials", "Qwen OAuth"]
        .iter()
        .any(|words| message.contains(words))
    {
        Cause::Login
    } else {
        Cause::Passing
    }
}

/// Tokens as OpenAI counts them: what came from a cache is a part of the input.
fn tokens(usage: &Object<'_>) -> Usage {
    let mut meter = Meter::default();
    Usage {
        input: meter.required(usage.reported("input_tokens")),
        output: meter.required(usage.reported("output_tokens")),
        // A part of the input: it counts for the price alone.
        cached: usage.reported("cache_read_input_tokens").known().unwrap_or(0),
        tokens_unknown: meter.tokens_unknown(),
        ..Usage::default()
    }
}
