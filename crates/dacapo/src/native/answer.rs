//! What a model said in one call, put together from the pieces of a stream.

use std::collections::HashSet;

use dacapo_core::event::Usage;
use dacapo_core::spec::BYTES_PER_TOKEN;
use genai::chat::{ContentPart, StreamEnd};
use serde_json::{Map, Value};

use super::conversation::{Call, Message, Thought};
use crate::config::Api;

/// An answer that is longer than any model's is none.
const LONGEST: usize = 8 << 20;

/// More calls at once than any model makes.
const MOST_CALLS: usize = 128;

/// How an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stop {
    /// By itself, or to use tools.
    Done,
    /// It was cut at its length limit.
    Cut,
    /// The model or its endpoint declined, in its own word.
    Declined(String),
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) calls: Vec<Asked>,
    pub(super) thoughts: Vec<Thought>,
    pub(super) usage: Usage,
    pub(super) stop: Stop,
}

/// A tool call as the model wrote it: what it calls arguments need not be any.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    pub(super) call: Call,
    /// Why the arguments cannot be used.
    pub(super) malformed: Option<String>,
}

/// An answer in the making.
#[derive(Debug)]
pub(super) struct Pieces {
    api: Api,
    pub(super) text: String,
    thinking: String,
    calls: Vec<Raw>,
    bytes: usize,
}

#[derive(Debug)]
struct Raw {
    id: String,
    name: String,
    arguments: String,
}

/// There is no end to it.
#[derive(Debug)]
pub(super) struct Endless;

impl Pieces {
    pub(super) fn new(api: Api) -> Self {
        Pieces { api, text: String::new(), thinking: String::new(), calls: Vec::new(), bytes: 0 }
    }

    pub(super) fn text(&mut self, piece: &str) -> Result<(), Endless> {
        self.count(piece.len())?;
        self.text.push_str(piece);
        Ok(())
    }

    pub(super) fn thought(&mut self, piece: &str) -> Result<(), Endless> {
        self.count(piece.len())?;
        self.thinking.push_str(piece);
        Ok(())
    }

    /// What seals a thought has a length too.
    pub(super) fn thought_seal(&mut self, bytes: usize) -> Result<(), Endless> {
        self.count(bytes)
    }

    /// A piece of a tool call, as the library passes it on without keeping calls itself. (It would keep them by a
    /// number that the endpoint chooses, in a list as long as that number.)
    ///
    /// Anthropic's pieces each hold all of the arguments so far. OpenAI's hold the next part; the first one has id and
    /// name, the others at most the number, which the library turns into `call_N`.
    pub(super) fn call(&mut self, id: &str, name: &str, arguments: &str) -> Result<(), Endless> {
        let known = self.calls.iter().rposition(|call| call.id == id);
        let at = match (known, name.is_empty()) {
            (Some(at), _) => Some(at),
            (None, false) => None,
            (None, true) => {
                let number = id.strip_prefix("call_").and_then(|number| number.parse::<usize>().ok());
                number.filter(|at| *at < self.calls.len()).or(self.calls.len().checked_sub(1))
            }
        };
        let at = match at {
            Some(at) => at,
            None if self.calls.len() >= MOST_CALLS => return Err(Endless),
            None => {
                self.count(id.len() + name.len())?;
                self.calls.push(Raw { id: id.to_owned(), name: name.to_owned(), arguments: String::new() });
                self.calls.len() - 1
            }
        };
        match self.api {
            Api::Openai => {
                self.count(arguments.len())?;
                self.calls[at].arguments.push_str(arguments);
            }
            Api::Anthropic => {
                self.count(arguments.len().saturating_sub(self.calls[at].arguments.len()))?;
                self.calls[at].arguments.clear();
                self.calls[at].arguments.push_str(arguments);
            }
        }
        Ok(())
    }

    fn count(&mut self, bytes: usize) -> Result<(), Endless> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > LONGEST { Err(Endless) } else { Ok(()) }
    }

    /// The stream came to its proper end. `asked_bytes` is the size of the request, for endpoints that do not count.
    pub(super) fn finish(self, end: StreamEnd, asked_bytes: usize) -> Answer {
        let usage = usage(end.captured_usage.as_ref(), asked_bytes, self.bytes);
        let stop = match end.captured_stop_reason {
            Some(genai::chat::StopReason::MaxTokens(_)) => Stop::Cut,
            Some(genai::chat::StopReason::ContentFilter(word)) => Stop::Declined(word),
            Some(_) | None => Stop::Done,
        };
        let mut thoughts =
            sealed(end.captured_content.map(|content| content.into_parts()).unwrap_or_default());
        if self.api == Api::Openai && !self.thinking.is_empty() {
            thoughts.push(Thought::Plain(self.thinking));
        }
        let mut ids = HashSet::new();
        let calls = self.calls.into_iter().map(|raw| raw.asked(&mut ids)).collect();
        Answer { text: self.text, calls, thoughts, usage, stop }
    }
}

impl Raw {
    fn asked(self, ids: &mut HashSet<String>) -> Asked {
        // Answers are tied to calls by an id that we pass back, so it is ours to choose where the model's is no good.
        let plain = |id: &str| id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        let good = !self.id.is_empty() && self.id.len() <= 64 && plain(&self.id) && !ids.contains(&self.id);
        let id = if good { self.id } else { format!("call-{}", dacapo_core::spec::random_hex(8)) };
        ids.insert(id.clone());
        let text = if self.arguments.trim().is_empty() { "{}" } else { self.arguments.as_str() };
        let (arguments, malformed) = match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(arguments)) => (arguments, None),
            Ok(_) => (Map::new(), Some("the arguments are not a JSON object".to_owned())),
            Err(error) => (Map::new(), Some(format!("the arguments are not valid JSON: {error}"))),
        };
        let name = self.name.chars().filter(|c| !c.is_control()).take(100).collect();
        Asked { call: Call { id, name, arguments }, malformed }
    }
}

impl Answer {
    /// What goes into the conversation.
    pub(super) fn message(&self) -> Message {
        Message::Assistant {
            text: self.text.clone(),
            calls: self.calls.iter().map(|asked| asked.call.clone()).collect(),
            thoughts: self.thoughts.clone(),
        }
    }
}

/// Reasoning that its author has signed or sealed, in its order.
fn sealed(parts: Vec<ContentPart>) -> Vec<Thought> {
    let mut thoughts = Vec::new();
    let mut parts = parts.into_iter().peekable();
    while let Some(part) = parts.next() {
        match part {
            ContentPart::ThoughtSignature(signature) => {
                let text = match parts.next_if(|next| matches!(next, ContentPart::ReasoningContent(_))) {
                    Some(ContentPart::ReasoningContent(text)) => text,
                    _ => String::new(),
                };
                thoughts.push(Thought::Signed { text, signature });
            }
            ContentPart::Custom(block) => thoughts.push(Thought::Sealed(block.data)),
            _ => {}
        }
    }
    thoughts
}

/// What a call used. Where the endpoint does not say, it is estimated: a budget must hold there too.
fn usage(told: Option<&genai::chat::Usage>, asked_bytes: usize, answer_bytes: usize) -> Usage {
    let estimated = |bytes: usize| bytes.div_ceil(BYTES_PER_TOKEN) as u64;
    let counted = |count: Option<i32>, bytes| {
        count.and_then(|count| u64::try_from(count).ok()).unwrap_or_else(|| estimated(bytes))
    };
    let cached = told
        .and_then(|usage| usage.prompt_tokens_details.as_ref())
        .and_then(|details| details.cached_tokens)
        .and_then(|count| u64::try_from(count).ok());
    Usage {
        input: counted(told.and_then(|usage| usage.prompt_tokens), asked_bytes),
        output: counted(told.and_then(|usage| usage.completion_tokens), answer_bytes),
        cached: cached.unwrap_or(0),
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn asked(api: Api, pieces: &[(&str, &str, &str)]) -> Vec<Asked> {
        let mut made = Pieces::new(api);
        for (id, name, arguments) in pieces {
            made.call(id, name, arguments).unwrap();
        }
        made.finish(StreamEnd::default(), 0).calls
    }

    fn shown(asked: &[Asked]) -> Vec<(String, String, String)> {
        asked
            .iter()
            .map(|a| {
                (a.call.id.clone(), a.call.name.clone(), Value::Object(a.call.arguments.clone()).to_string())
            })
            .collect()
    }

    fn expect(list: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
        list.iter().map(|(a, b, c)| ((*a).into(), (*b).into(), (*c).into())).collect()
    }

    #[test]
    fn openai_calls_come_in_parts_by_number() {
        let calls = asked(
            Api::Openai,
            &[
                ("x1", "shell", ""),
                ("call_0", "", "{\"a\""),
                ("x2", "search", "{"),
                ("call_1", "", "}"),
                ("call_0", "", ":1}"),
            ],
        );
        assert_eq!(shown(&calls), expect(&[("x1", "shell", "{\"a\":1}"), ("x2", "search", "{}")]));
    }

    #[test]
    fn endpoints_without_ids_numbers_or_arguments_are_understood() {
        let without_ids = asked(Api::Openai, &[("call_0", "shell", "{"), ("call_0", "", "}")]);
        assert_eq!(shown(&without_ids), expect(&[("call_0", "shell", "{}")]));
        let all_number_0 = asked(Api::Openai, &[("x", "shell", "{}"), ("y", "search", "{\"a\":2}")]);
        assert_eq!(shown(&all_number_0), expect(&[("x", "shell", "{}"), ("y", "search", "{\"a\":2}")]));
        let huge_number = asked(Api::Openai, &[("x", "shell", ""), ("call_4294967295", "", "{}")]);
        assert_eq!(shown(&huge_number), expect(&[("x", "shell", "{}")]));
        let no_arguments = asked(Api::Openai, &[("x", "shell", " ")]);
        assert_eq!(shown(&no_arguments), expect(&[("x", "shell", "{}")]));
        let nameless = asked(Api::Openai, &[("call_0", "", "{}")]);
        assert_eq!(nameless[0].call.name, "");
    }

    #[test]
    fn anthropic_pieces_hold_all_so_far() {
        let calls = asked(
            Api::Anthropic,
            &[("t1", "shell", ""), ("t1", "shell", "{\"a\""), ("t1", "shell", "{\"a\":1}"), ("t2", "x", "")],
        );
        assert_eq!(shown(&calls), expect(&[("t1", "shell", "{\"a\":1}"), ("t2", "x", "{}")]));
    }

    #[test]
    fn what_is_no_object_is_malformed() {
        for text in ["{\"a\":", "[1]", "7", "\"{}\"", "{]"] {
            let calls = asked(Api::Openai, &[("x", "shell", text)]);
            assert!(calls[0].malformed.is_some() && calls[0].call.arguments.is_empty(), "{text}");
        }
    }

    #[test]
    fn ids_that_are_no_good_are_replaced() {
        let long = "x".repeat(500);
        let calls = asked(Api::Openai, &[("", "a", ""), ("a b", "b", ""), (&long, "c", "")]);
        let ids: HashSet<&str> = calls.iter().map(|asked| asked.call.id.as_str()).collect();
        assert_eq!(ids.len(), 3);
        assert!(ids.iter().all(|id| id.len() <= 64 && !id.contains(' ') && !id.is_empty()), "{ids:?}");
    }

    #[test]
    fn r3_an_endless_answer_is_given_up() {
        let piece = "x".repeat(1 << 20);
        for api in [Api::Openai, Api::Anthropic] {
            let mut text = Pieces::new(api);
            assert!((0..20).any(|_| text.text(&piece).is_err()));
            let mut calls = Pieces::new(api);
            assert!((0..1000).any(|n| calls.call(&format!("id{n}"), "shell", "").is_err()));
        }
        let mut arguments = Pieces::new(Api::Openai);
        arguments.call("x", "shell", "").unwrap();
        assert!((0..20).any(|_| arguments.call("call_0", "", &piece).is_err()));
    }

    proptest! {
        #[test]
        fn r3_any_pieces_become_calls_with_ids_of_their_own(
            pieces in prop::collection::vec(("(call_)?[0-9]{0,3}|\\PC{0,5}", "[a-z]{0,2}", "[{}\":a,0 ]{0,9}"), 0..40),
            anthropic: bool,
        ) {
            let mut made = Pieces::new(if anthropic { Api::Anthropic } else { Api::Openai });
            for (id, name, arguments) in &pieces {
                let _ = made.call(id, name, arguments);
            }
            let calls = made.finish(StreamEnd::default(), 0).calls;
            let ids: HashSet<&str> = calls.iter().map(|asked| asked.call.id.as_str()).collect();
            prop_assert_eq!(ids.len(), calls.len());
            prop_assert!(calls.len() <= MOST_CALLS);
        }
    }

    #[test]
    fn l10_usage_is_what_the_endpoint_counts_or_an_estimate() {
        let told = genai::chat::Usage {
            prompt_tokens: Some(11),
            completion_tokens: Some(-3),
            ..genai::chat::Usage::default()
        };
        assert_eq!(usage(Some(&told), 400, 40), Usage { input: 11, output: 10, ..Usage::default() });
        assert_eq!(usage(None, 400, 0), Usage { input: 100, output: 0, ..Usage::default() });
    }
}
