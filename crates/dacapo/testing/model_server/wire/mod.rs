//! The wire formats: what a request says, and how an answer is put.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::{Value, json};

use super::answer::{Refusal, Reply, Usage};
use super::call::{Call, CallKind, Said};
use super::http::{Frame, HttpRequest, HttpResponse};

/// An API of model vendors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions, and everybody who speaks it.
    Chat,
    /// Gemini.
    Gemini,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// A model is to answer; for Gemini the path says whether as a stream.
    Model(Wire, bool),
    /// How many tokens is this?
    CountTokens(Wire),
    /// Which models are there?
    Models(Wire),
    /// Nobody knows.
    Unknown,
}

/// By the end of the path, so that a base URL may have any beginning.
pub(crate) fn route(request: &HttpRequest) -> Route {
    let path = request.path().trim_end_matches('/');
    match request.method.as_str() {
        "POST" if path.ends_with("/messages") => Route::Model(Wire::Anthropic, false),
        "POST" if path.ends_with("/messages/count_tokens") => Route::CountTokens(Wire::Anthropic),
        "POST" if path.ends_with("/responses") => Route::Model(Wire::Responses, false),
        "POST" if path.ends_with("/chat/completions") => Route::Model(Wire::Chat, false),
        "POST" if path.ends_with(":generateContent") => Route::Model(Wire::Gemini, false),
        "POST" if path.ends_with(":streamGenerateContent") => Route::Model(Wire::Gemini, true),
        "POST" if path.ends_with(":countTokens") => Route::CountTokens(Wire::Gemini),
        "GET" if path.ends_with("/v1beta/models") => Route::Models(Wire::Gemini),
        "GET" if path.ends_with("/models") && request.header("anthropic-version").is_some() => {
            Route::Models(Wire::Anthropic)
        }
        "GET" if path.ends_with("/models") => Route::Models(Wire::Chat),
        _ => Route::Unknown,
    }
}

impl Wire {
    /// What is asked of a model; `None` when it is not even an object. `stream` is what the path says, where it does.
    pub(crate) fn read(self, request: &HttpRequest, body: &Value, stream: bool) -> Option<Call> {
        body.as_object()?;
        let (said, tools) = match self {
            Self::Anthropic => anthropic::read(body),
            Self::Responses => responses::read(body),
            Self::Chat => chat::read(body),
            Self::Gemini => gemini::read(body),
        };
        let model = match self {
            Self::Gemini => gemini::model(request.path()),
            Self::Anthropic | Self::Responses | Self::Chat => string(&body["model"]),
        };
        let kind = if tools.is_empty() { CallKind::Side } else { CallKind::Main };
        let stream = stream || body["stream"] == true;
        Some(Call { wire: self, kind, number: 0, model, stream, tools, said })
    }

    /// An answer as a stream.
    pub(crate) fn stream(self, call: &Call, id: u64, reply: &Reply, usage: Usage) -> Vec<Frame> {
        match self {
            Self::Anthropic => anthropic::stream(call, id, reply, usage),
            Self::Responses => responses::stream(call, id, reply, usage),
            Self::Chat => chat::stream(call, id, reply, usage),
            Self::Gemini => gemini::stream(call, id, reply, usage),
        }
    }

    /// An answer at once.
    pub(crate) fn whole(self, call: &Call, id: u64, reply: &Reply, usage: Usage) -> Value {
        match self {
            Self::Anthropic => anthropic::whole(call, id, reply, usage),
            Self::Responses => responses::whole(call, id, reply, usage),
            Self::Chat => chat::whole(call, id, reply, usage),
            Self::Gemini => gemini::whole(call, id, reply, usage),
        }
    }

    /// A refusal.
    pub(crate) fn error(self, refusal: Refusal) -> HttpResponse {
        match self {
            Self::Anthropic => anthropic::error(refusal),
            Self::Responses | Self::Chat => chat::error(refusal),
            Self::Gemini => gemini::error(refusal),
        }
    }

    /// So many tokens.
    pub(crate) fn counted(self, tokens: u64) -> Value {
        match self {
            Self::Gemini => json!({ "totalTokens": tokens }),
            Self::Anthropic | Self::Responses | Self::Chat => json!({ "input_tokens": tokens }),
        }
    }

    /// A list of models: one, whose name is nobody's.
    pub(crate) fn models(self) -> Value {
        match self {
            Self::Anthropic => json!({
                "data": [{
                    "type": "model", "id": "scripted", "display_name": "Scripted", "created_at": "2026-01-01T00:00:00Z",
                }],
                "has_more": false, "first_id": "scripted", "last_id": "scripted",
            }),
            Self::Responses | Self::Chat => json!({
                "object": "list",
                "data": [{ "id": "scripted", "object": "model", "created": 1_767_225_600, "owned_by": "test" }],
            }),
            Self::Gemini => json!({
                "models": [{
                    "name": "models/scripted", "displayName": "Scripted",
                    "inputTokenLimit": 1_000_000, "outputTokenLimit": 65_536,
                    "supportedGenerationMethods": ["generateContent", "countTokens"],
                }],
            }),
        }
    }
}

/// A frame of JSON without a name.
fn unnamed(data: &Value) -> Frame {
    Frame { event: None, data: data.to_string() }
}

/// A frame with a name, which its JSON begins with too.
fn named(event: &'static str, data: &Value) -> Frame {
    let mut whole = json!({ "type": event });
    for (key, value) in data.as_object().into_iter().flatten() {
        whole[key] = value.clone();
    }
    Frame { event: Some(event), data: whole.to_string() }
}

/// The pieces in which words arrive.
fn pieces(text: &str) -> Vec<&str> {
    text.split_inclusive(' ').collect()
}

/// Text, or nothing.
fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The entries of a list, or none.
fn entries(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// What is said in a value that is text, or a list of parts with `text` in them, or anything else.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().map(|part| part["text"].as_str().unwrap_or_default()).collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// An entry of a conversation by the name of its speaker.
fn by_role(role: &str, text: String) -> Said {
    match role {
        "assistant" | "model" => Said::Model(text),
        "system" | "developer" => Said::System(text),
        "tool" => Said::Result(text),
        _ => Said::User(text),
    }
}

/// Adds what was said, unless it is nothing.
fn push(said: &mut Vec<Said>, entry: Said) {
    let empty = match &entry {
        Said::System(text) | Said::User(text) | Said::Model(text) => text.is_empty(),
        Said::Called(..) | Said::Result(_) => false,
    };
    if !empty {
        said.push(entry);
    }
}

/// A moment from now, in seconds since 1970.
fn epoch_in(seconds: u64) -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs()) + seconds
}
