//! The same answer in every wire format, and the same conversation out of it.

use serde_json::{Value, json};

use crate::client::{WIRES, after_tool, ask, get, post, prompt};
use crate::model_server::{Answer, Call, CallKind, Last, ModelServer, Reply, Said, ToolUse, Usage, Wire};

const USAGE: Usage = Usage { input: 120, output: 7, cached: 20 };

fn both() -> Answer {
    let tool = ToolUse::new("write", json!({ "path": "a" }));
    Reply { text: "one two three".into(), calls: vec![tool], usage: Some(USAGE) }.into()
}

/// Text, tool, its arguments, why it stopped, and usage as the wire words it, from an answer in one piece.
fn of_whole(wire: Wire, body: &Value) -> (String, String, Value, String, Value) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let parsed = |value: &Value| serde_json::from_str::<Value>(value.as_str().unwrap()).unwrap();
    match wire {
        Wire::Anthropic => {
            let (said, tool) = (&body["content"][0], &body["content"][1]);
            let stop = text(&body["stop_reason"]);
            (text(&said["text"]), text(&tool["name"]), tool["input"].clone(), stop, body["usage"].clone())
        }
        Wire::Responses => {
            let (said, tool) = (&body["output"][0]["content"][0], &body["output"][1]);
            let stop = text(&body["status"]);
            (
                text(&said["text"]),
                text(&tool["name"]),
                parsed(&tool["arguments"]),
                stop,
                body["usage"].clone(),
            )
        }
        Wire::Chat => {
            let choice = &body["choices"][0];
            let tool = &choice["message"]["tool_calls"][0]["function"];
            let stop = text(&choice["finish_reason"]);
            let said = text(&choice["message"]["content"]);
            (said, text(&tool["name"]), parsed(&tool["arguments"]), stop, body["usage"].clone())
        }
        Wire::Gemini => {
            let candidate = &body["candidates"][0];
            let parts = &candidate["content"]["parts"];
            let tool = &parts[1]["functionCall"];
            let stop = text(&candidate["finishReason"]);
            let said = text(&parts[0]["text"]);
            (said, text(&tool["name"]), tool["args"].clone(), stop, body["usageMetadata"].clone())
        }
    }
}

/// The whole answer, put together from a stream.
fn put_together(wire: Wire, events: &[Value]) -> Value {
    let joined = |pick: &dyn Fn(&Value) -> Option<&str>| events.iter().filter_map(pick).collect::<String>();
    match wire {
        Wire::Anthropic => {
            let text = joined(&|event| event["delta"]["text"].as_str());
            let input = joined(&|event| event["delta"]["partial_json"].as_str());
            let tool = events.iter().find(|event| event["content_block"]["type"] == "tool_use").unwrap();
            let end = events.iter().find(|event| event["type"] == "message_delta").unwrap();
            json!({
                "content": [{ "text": text }, {
                    "name": tool["content_block"]["name"], "input": serde_json::from_str::<Value>(&input).unwrap(),
                }],
                "stop_reason": end["delta"]["stop_reason"], "usage": end["usage"],
            })
        }
        Wire::Responses => {
            let text = joined(&|event| event["delta"].as_str());
            let mut whole = events.last().unwrap()["response"].clone();
            assert_eq!(whole["output"][0]["content"][0]["text"], text.as_str(), "the parts are the whole");
            whole["output"][0]["content"][0]["text"] = text.into();
            whole
        }
        Wire::Chat => {
            let text = joined(&|event| event["choices"][0]["delta"]["content"].as_str());
            let delta = |key: &str| {
                let mut found = events.iter().map(|event| &event["choices"][0]["delta"][key]);
                found.find(|value| !value.is_null()).unwrap().clone()
            };
            let mut stops = events.iter().map(|event| &event["choices"][0]["finish_reason"]);
            let stop = stops.find(|stop| stop.is_string()).unwrap();
            json!({
                "choices": [{
                    "message": { "content": text, "tool_calls": delta("tool_calls") }, "finish_reason": stop,
                }],
                "usage": events.last().unwrap()["usage"],
            })
        }
        Wire::Gemini => {
            let part = |event: &Value| event["candidates"][0]["content"]["parts"][0].clone();
            let text: String =
                events.iter().map(|e| part(e)["text"].as_str().unwrap_or_default().to_owned()).collect();
            let tool = events.iter().map(part).find(|part| part["functionCall"].is_object()).unwrap();
            let last = events.last().unwrap();
            json!({
                "candidates": [{
                    "content": { "parts": [{ "text": text }, tool] },
                    "finishReason": last["candidates"][0]["finishReason"],
                }],
                "usageMetadata": last["usageMetadata"],
            })
        }
    }
}

#[test]
fn an_answer_is_the_same_at_once_and_as_a_stream() {
    for wire in WIRES {
        let server = ModelServer::start(|_: &Call| both());
        let whole = ask(&server, wire, false, &prompt(wire));
        let stream = ask(&server, wire, true, &prompt(wire));
        assert!(whole.whole && stream.whole && whole.status == 200 && stream.status == 200, "{wire:?}");
        assert!(stream.head.contains("text/event-stream"), "{}", stream.head);
        let expected = of_whole(wire, &whole.json());
        let (stop, usage) = match wire {
            Wire::Anthropic => (
                "tool_use",
                json!({
                    "input_tokens": 100, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 0,
                    "output_tokens": 7,
                }),
            ),
            Wire::Responses => (
                "completed",
                json!({
                    "input_tokens": 120, "input_tokens_details": { "cached_tokens": 20 },
                    "output_tokens": 7, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 127,
                }),
            ),
            Wire::Chat => (
                "tool_calls",
                json!({
                    "prompt_tokens": 120, "completion_tokens": 7, "total_tokens": 127,
                    "prompt_tokens_details": { "cached_tokens": 20 },
                    "completion_tokens_details": { "reasoning_tokens": 0 },
                }),
            ),
            Wire::Gemini => (
                "STOP",
                json!({
                    "promptTokenCount": 120, "cachedContentTokenCount": 20, "candidatesTokenCount": 7,
                    "totalTokenCount": 127,
                }),
            ),
        };
        let answer = ("one two three".into(), "write".into(), json!({ "path": "a" }), stop.into(), usage);
        assert_eq!(expected, answer, "{wire:?}");
        assert_eq!(of_whole(wire, &put_together(wire, &stream.events())), answer, "{wire:?}");
        assert_eq!(server.usage(CallKind::Main), Usage { input: 240, output: 14, cached: 40 });
    }
}

#[test]
fn a_script_sees_the_same_conversation_whatever_the_format() {
    for wire in WIRES {
        let server = ModelServer::start(|call: &Call| match call.last() {
            Last::Prompt(text) => Reply::say(format!("asked {text}")).into(),
            Last::Result(text) => Reply::say(format!("told {}", text.trim_matches('"'))).into(),
        });
        let first = ask(&server, wire, false, &prompt(wire));
        let second = ask(&server, wire, false, &after_tool(wire));
        assert!(first.body.contains("asked do it"), "{wire:?} {}", first.body);
        assert!(second.body.contains("told written"), "{wire:?} {}", second.body);

        let calls = server.calls(CallKind::Main);
        let seen: Vec<(u64, &str, usize)> =
            calls.iter().map(|call| (call.number, call.model.as_str(), call.answers())).collect();
        assert_eq!(seen, [(0, "scripted", 0), (1, "scripted", 1)], "{wire:?}");
        assert_eq!(calls[1].tools, ["write"], "{wire:?}");
        assert_eq!(calls[1].said[0], Said::System("be good".into()), "{wire:?}");
        let history = calls[1].history().replace('"', "");
        let expected = "user: do it\nmodel: I will\ncall: write {path:a}\nresult: written\nuser: remember\n";
        assert_eq!(history, expected, "{wire:?}");
    }
}

#[test]
fn a_tool_of_free_text_is_one_in_responses() {
    use crate::model_server::ToolInput;
    let server = ModelServer::start(|_: &Call| {
        let tool = ToolUse { name: "apply_patch".into(), input: ToolInput::Text("*** Begin".into()) };
        Reply::call(tool).into()
    });
    let answer = ask(&server, Wire::Responses, false, &prompt(Wire::Responses)).json();
    let tool = &answer["output"][1];
    assert_eq!((&tool["type"], &tool["input"]), (&json!("custom_tool_call"), &json!("*** Begin")));
}

#[test]
fn models_and_tokens_can_be_asked_for() {
    let server = ModelServer::start(|_: &Call| Reply::say("never asked").into());
    assert_eq!(get(&server, "/v1/models").json()["data"][0]["id"], "scripted");
    assert_eq!(get(&server, "/v1beta/models").json()["models"][0]["name"], "models/scripted");
    let count = post(&server, "/v1/messages/count_tokens", &prompt(Wire::Anthropic)).json();
    assert!(count["input_tokens"].as_u64().unwrap() > 0);
    let count = post(&server, "/v1beta/models/x:countTokens", &prompt(Wire::Gemini)).json();
    assert!(count["totalTokens"].as_u64().unwrap() > 0);
    assert_eq!(server.requests().len(), 4);
    assert_eq!((server.unknown(), server.usage_of_all()), (Vec::new(), Usage::default()));

    assert_eq!(get(&server, "/telemetry?x=1").status, 404);
    assert_eq!(server.unknown(), ["GET /telemetry?x=1"]);
}
