//! Anthropic Messages.

use serde_json::{Value, json};

use super::{
    Call, Frame, HttpResponse, Refusal, Reply, Said, Usage, by_role, entries, epoch_in, named, pieces, push,
    string, text,
};

pub(super) fn read(body: &Value) -> (Vec<Said>, Vec<String>) {
    let mut said = Vec::new();
    push(&mut said, Said::System(text(&body["system"])));
    for message in entries(&body["messages"]) {
        let role = message["role"].as_str().unwrap_or_default();
        if message["content"].is_string() {
            push(&mut said, by_role(role, text(&message["content"])));
        }
        for block in entries(&message["content"]) {
            push(
                &mut said,
                match block["type"].as_str().unwrap_or_default() {
                    "tool_use" => Said::Called(string(&block["name"]), block["input"].to_string()),
                    "tool_result" => Said::Result(text(&block["content"])),
                    _ => by_role(role, string(&block["text"])),
                },
            );
        }
    }
    let tools = entries(&body["tools"]).iter().map(|tool| string(&tool["name"])).collect();
    (said, tools)
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input - usage.cached, "cache_read_input_tokens": usage.cached,
        "cache_creation_input_tokens": 0, "output_tokens": usage.output,
    })
}

fn stop_reason(reply: &Reply) -> &'static str {
    if reply.calls.is_empty() { "end_turn" } else { "tool_use" }
}

pub(super) fn whole(call: &Call, id: u64, reply: &Reply, used: Usage) -> Value {
    let mut content = Vec::new();
    if !reply.text.is_empty() {
        content.push(json!({ "type": "text", "text": reply.text }));
    }
    for (at, tool) in reply.calls.iter().enumerate() {
        content.push(json!({
            "type": "tool_use", "id": format!("toolu_{id:06}_{at}"), "name": tool.name, "input": tool.arguments(),
        }));
    }
    json!({
        "id": format!("msg_{id:06}"), "type": "message", "role": "assistant", "model": call.model,
        "content": content, "stop_reason": stop_reason(reply), "stop_sequence": null, "usage": usage(used),
    })
}

pub(super) fn stream(call: &Call, id: u64, reply: &Reply, used: Usage) -> Vec<Frame> {
    let mut message = whole(call, id, &Reply::default(), used);
    message["stop_reason"] = Value::Null;
    // What is written so far; the count at the end takes its place.
    message["usage"]["output_tokens"] = 1.into();
    let mut frames = vec![named("message_start", &json!({ "message": message }))];
    let mut index = 0;
    if !reply.text.is_empty() {
        let block = json!({ "type": "text", "text": "" });
        frames.push(named("content_block_start", &json!({ "index": 0, "content_block": block })));
        for piece in pieces(&reply.text) {
            let delta = json!({ "type": "text_delta", "text": piece });
            frames.push(named("content_block_delta", &json!({ "index": 0, "delta": delta })));
        }
        frames.push(named("content_block_stop", &json!({ "index": 0 })));
        index += 1;
    }
    for (at, tool) in reply.calls.iter().enumerate() {
        let index = index + at;
        let block = json!({ "type": "tool_use", "id": format!("toolu_{id:06}_{at}"), "name": tool.name, "input": {} });
        frames.push(named("content_block_start", &json!({ "index": index, "content_block": block })));
        let delta = json!({ "type": "input_json_delta", "partial_json": tool.arguments().to_string() });
        frames.push(named("content_block_delta", &json!({ "index": index, "delta": delta })));
        frames.push(named("content_block_stop", &json!({ "index": index })));
    }
    let delta = json!({ "stop_reason": stop_reason(reply), "stop_sequence": null });
    frames.push(named("message_delta", &json!({ "delta": delta, "usage": usage(used) })));
    frames.push(named("message_stop", &json!({})));
    frames
}

pub(super) fn error(refusal: Refusal) -> HttpResponse {
    let body = |kind: &str, message: &str| json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_scripted" });
    match refusal {
        Refusal::Unauthorized => HttpResponse::json(401, body("authentication_error", "invalid x-api-key")),
        Refusal::Limited(limit) => {
            let message = "This request would exceed your account's rate limit. Please try again later.";
            let mut response = HttpResponse::json(429, body("rate_limit_error", message));
            if let Some(seconds) = limit.resets_in {
                response = response.with("retry-after", &seconds);
            }
            if limit.of_plan {
                response = response.with("anthropic-ratelimit-unified-status", &"rejected");
                response = response.with("anthropic-ratelimit-unified-representative-claim", &"five_hour");
                if let Some(seconds) = limit.resets_in {
                    let at = epoch_in(seconds);
                    response = response.with("anthropic-ratelimit-unified-reset", &at);
                }
            }
            response
        }
        Refusal::Status(529) => HttpResponse::json(529, body("overloaded_error", "Overloaded")),
        Refusal::Status(400) => HttpResponse::json(400, body("invalid_request_error", "malformed request")),
        Refusal::Status(status) => HttpResponse::json(status, body("api_error", "Internal server error")),
    }
}
