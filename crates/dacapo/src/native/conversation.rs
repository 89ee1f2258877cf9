//! What was said so far, in a form of our own: it is kept in files, so it does not follow a library's types.

use genai::chat::{
    CacheControl, ChatMessage, ChatRequest, ContentPart, CustomPart, MessageContent, ToolCall,
};
use genai::chat::{MessageOptions, Tool, ToolResponse};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::Api;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(super) enum Message {
    User {
        text: String,
    },
    /// A remark of this program, which the model hears as the user's.
    Note {
        text: String,
    },
    Assistant {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<Call>,
        /// Wanted back by some models while they use tools, and by none in a later turn: they are not kept.
        #[serde(skip)]
        thoughts: Vec<Thought>,
    },
    /// What the tools answered to the calls of the message before.
    Results {
        answers: Vec<ToolAnswer>,
    },
}

/// The model uses a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ToolAnswer {
    pub(super) id: String,
    pub(super) output: String,
}

/// A piece of reasoning, as far as it must go back to where it came from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Thought {
    Plain(String),
    Signed {
        text: String,
        signature: String,
    },
    /// A block that only its author can read.
    Sealed(Value),
}

impl Message {
    pub(super) fn said(text: impl Into<String>) -> Self {
        Message::Assistant { text: text.into(), calls: Vec::new(), thoughts: Vec::new() }
    }

    /// What it takes of the model's window, in bytes.
    pub(super) fn size(&self) -> usize {
        /// Roles, brackets and the like.
        const OVERHEAD: usize = 16;
        let content = match self {
            Message::User { text } | Message::Note { text } => text.len(),
            Message::Assistant { text, calls, thoughts } => {
                let calls = calls.iter().map(|call| call.name.len() + OVERHEAD + length(&call.arguments));
                let thoughts = thoughts.iter().map(|thought| match thought {
                    Thought::Plain(text) => text.len(),
                    Thought::Signed { text, signature } => text.len() + signature.len(),
                    Thought::Sealed(block) => block.to_string().len(),
                });
                text.len() + calls.sum::<usize>() + thoughts.sum::<usize>()
            }
            Message::Results { answers } => answers.iter().map(|answer| answer.output.len() + OVERHEAD).sum(),
        };
        content + OVERHEAD
    }
}

fn length(arguments: &Map<String, Value>) -> usize {
    serde_json::to_string(arguments).map_or(0, |text| text.len())
}

/// Whether every call has its answer and every answer its call: no endpoint takes anything else.
pub(super) fn is_whole(messages: &[Message]) -> bool {
    let ids = |message: Option<&Message>| match message {
        Some(Message::Results { answers }) => answers.iter().map(|answer| answer.id.clone()).collect(),
        _ => Vec::new(),
    };
    messages.iter().enumerate().all(|(at, message)| match message {
        Message::Assistant { calls, .. } => {
            calls.iter().map(|call| call.id.clone()).collect::<Vec<_>>() == ids(messages.get(at + 1))
        }
        Message::Results { answers } => {
            !answers.is_empty() && at > 0 && matches!(messages[at - 1], Message::Assistant { .. })
        }
        Message::User { .. } | Message::Note { .. } => true,
    })
}

/// The whole as a request.
pub(super) fn request(api: Api, system: Option<&str>, messages: &[Message], tools: Vec<Tool>) -> ChatRequest {
    let mut sent: Vec<ChatMessage> = Vec::new();
    // Some models insist on turns that alternate, so neighbours of the user's side become one.
    let mut heard = String::new();
    for message in messages {
        match message {
            Message::User { text } | Message::Note { text } => {
                if !heard.is_empty() {
                    heard.push_str("\n\n");
                }
                heard.push_str(text);
            }
            Message::Assistant { text, calls, thoughts } => {
                let parts = assistant_parts(api, text, calls, thoughts);
                if !parts.is_empty() {
                    flush(&mut heard, &mut sent);
                    sent.push(ChatMessage::assistant(MessageContent::from_parts(parts)));
                }
            }
            Message::Results { answers } => {
                let parts = answers
                    .iter()
                    .map(|answer| ToolResponse::new(answer.id.clone(), answer.output.clone()))
                    .map(ContentPart::ToolResponse)
                    .collect::<Vec<_>>();
                sent.push(ChatMessage::tool(MessageContent::from_parts(parts)));
            }
        }
    }
    flush(&mut heard, &mut sent);
    // There everything up to a mark is cached, and only there one has to be set.
    if let (Api::Anthropic, Some(last)) = (api, sent.last_mut()) {
        last.options = Some(MessageOptions { cache_control: Some(CacheControl::Ephemeral) });
    }
    let mut request = ChatRequest::new(sent);
    request.system = system.map(str::to_owned);
    request.tools = Some(tools).filter(|tools| !tools.is_empty());
    request
}

fn flush(heard: &mut String, sent: &mut Vec<ChatMessage>) {
    if !heard.is_empty() {
        sent.push(ChatMessage::user(std::mem::take(heard)));
    }
}

fn assistant_parts(api: Api, text: &str, calls: &[Call], thoughts: &[Thought]) -> Vec<ContentPart> {
    let mut parts = Vec::new();
    for thought in thoughts {
        match (api, thought) {
            (Api::Openai, Thought::Plain(text)) => parts.push(ContentPart::ReasoningContent(text.clone())),
            (Api::Anthropic, Thought::Signed { text, signature }) => {
                parts.push(ContentPart::ThoughtSignature(signature.clone()));
                parts.push(ContentPart::ReasoningContent(text.clone()));
            }
            (Api::Anthropic, Thought::Sealed(block)) => {
                parts.push(ContentPart::Custom(CustomPart { model_iden: None, data: block.clone() }));
            }
            // A session may have changed its house; what one sealed the other cannot open.
            (Api::Openai, Thought::Signed { .. } | Thought::Sealed(_))
            | (Api::Anthropic, Thought::Plain(_)) => {}
        }
    }
    // Blank text is refused.
    if !text.trim().is_empty() {
        parts.push(ContentPart::Text(text.to_owned()));
    }
    parts.extend(calls.iter().map(|call| {
        ContentPart::ToolCall(ToolCall {
            call_id: call.id.clone(),
            fn_name: call.name.clone(),
            fn_arguments: Value::Object(call.arguments.clone()),
            thought_signatures: None,
        })
    }));
    parts
}

#[cfg(test)]
mod tests {
    use genai::chat::ChatRole;

    use super::*;

    fn call(id: &str) -> Message {
        let call = Call { id: id.into(), name: "shell".into(), arguments: Map::new() };
        Message::Assistant { text: String::new(), calls: vec![call], thoughts: Vec::new() }
    }

    fn result(id: &str) -> Message {
        Message::Results { answers: vec![ToolAnswer { id: id.into(), output: "ok".into() }] }
    }

    fn user(text: &str) -> Message {
        Message::User { text: text.into() }
    }

    #[test]
    fn only_whole_conversations_are_whole() {
        assert!(is_whole(&[]));
        assert!(is_whole(&[user("a"), call("1"), result("1"), Message::said("done")]));
        for broken in [
            vec![user("a"), call("1")],
            vec![user("a"), result("1")],
            vec![user("a"), call("1"), result("2")],
            vec![user("a"), call("1"), user("b"), result("1")],
        ] {
            assert!(!is_whole(&broken), "{broken:?}");
        }
    }

    #[test]
    fn neighbours_of_the_users_side_become_one() {
        let note = Message::Note { text: "cut".into() };
        let messages = [user("a"), note, Message::said("  "), user("b"), Message::said("c")];
        let request = request(Api::Openai, Some("s"), &messages, Vec::new());
        let shown: Vec<_> = request
            .messages
            .iter()
            .map(|m| (m.role.clone(), m.content.joined_texts().unwrap_or_default()))
            .collect();
        let expected = [(ChatRole::User, "a\n\ncut\n\nb"), (ChatRole::Assistant, "c")];
        assert_eq!(format!("{shown:?}"), format!("{expected:?}"));
    }
}
