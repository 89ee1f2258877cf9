//! OpenAI Responses.

use serde_json::{Value, json};

use super::super::answer::ToolInput;
use super::{Call, Frame, Reply, Said, Usage, by_role, entries, named, pieces, push, string, text};

pub(super) fn read(body: &Value) -> (Vec<Said>, Vec<String>) {
    let mut said = Vec::new();
    push(&mut said, Said::System(string(&body["instructions"])));
    if body["input"].is_string() {
        push(&mut said, Said::User(string(&body["input"])));
    }
    for item in entries(&body["input"]) {
        push(
            &mut said,
            match item["type"].as_str().unwrap_or("message") {
                "function_call" => Said::Called(string(&item["name"]), string(&item["arguments"])),
                "custom_tool_call" => Said::Called(string(&item["name"]), string(&item["input"])),
                "local_shell_call" => Said::Called("local_shell".into(), item["action"].to_string()),
                kind if kind.ends_with("_output") => Said::Result(text(&item["output"])),
                _ => by_role(item["role"].as_str().unwrap_or_default(), text(&item["content"])),
            },
        );
    }
    // Some have no name but their type, as the shell of the model's own machine.
    let name = |tool: &Value| string(if tool["name"].is_string() { &tool["name"] } else { &tool["type"] });
    let tools = entries(&body["tools"]).iter().map(name).collect();
    (said, tools)
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input, "input_tokens_details": { "cached_tokens": usage.cached },
        "output_tokens": usage.output, "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": usage.input + usage.output,
    })
}

fn items(id: u64, reply: &Reply) -> Vec<Value> {
    let mut items = Vec::new();
    if !reply.text.is_empty() {
        items.push(json!({
            "type": "message", "id": format!("msg_{id:06}"), "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": reply.text, "annotations": [] }],
        }));
    }
    for (at, tool) in reply.calls.iter().enumerate() {
        let (kind, key, input) = match &tool.input {
            ToolInput::Arguments(value) => ("function_call", "arguments", value.to_string()),
            ToolInput::Text(text) => ("custom_tool_call", "input", text.clone()),
        };
        let mut item = json!({
            "type": kind, "id": format!("fc_{id:06}_{at}"), "call_id": format!("call_{id:06}_{at}"),
            "name": tool.name, "status": "completed",
        });
        item[key] = input.into();
        items.push(item);
    }
    items
}

pub(super) fn whole(call: &Call, id: u64, reply: &Reply, used: Usage) -> Value {
    json!({
        "id": format!("resp_{id:06}"), "object": "response", "created_at": 1_767_225_600, "status": "completed",
        "model": call.model, "output": items(id, reply), "usage": usage(used), "error": null,
        "incomplete_details": null, "parallel_tool_calls": false, "tool_choice": "auto", "tools": [],
    })
}

pub(super) fn stream(call: &Call, id: u64, reply: &Reply, used: Usage) -> Vec<Frame> {
    let mut frames = Vec::new();
    let mut send = |event: &'static str, mut data: Value| {
        data["sequence_number"] = frames.len().into();
        frames.push(named(event, &data));
    };
    let mut begun = whole(call, id, &Reply::default(), used);
    begun["status"] = "in_progress".into();
    begun["usage"] = Value::Null;
    send("response.created", json!({ "response": begun }));
    for (at, item) in items(id, reply).into_iter().enumerate() {
        let mut open = item.clone();
        open["status"] = "in_progress".into();
        if item["type"] == "message" {
            open["content"] = json!([]);
            send("response.output_item.added", json!({ "output_index": at, "item": open }));
            let place = json!({ "item_id": item["id"], "output_index": at, "content_index": 0 });
            let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [] });
            let with = |key: &str, value: Value| {
                let mut data = place.clone();
                data[key] = value;
                data
            };
            send("response.content_part.added", with("part", part("")));
            for piece in pieces(&reply.text) {
                send("response.output_text.delta", with("delta", piece.into()));
            }
            send("response.output_text.done", with("text", reply.text.clone().into()));
            send("response.content_part.done", with("part", part(&reply.text)));
        } else {
            send("response.output_item.added", json!({ "output_index": at, "item": open }));
        }
        send("response.output_item.done", json!({ "output_index": at, "item": item }));
    }
    send("response.completed", json!({ "response": whole(call, id, reply, used) }));
    frames
}
