//! OpenAI Chat Completions; its errors are those of Responses too.

use serde_json::{Value, json};

use super::{
    Call, Frame, HttpResponse, Refusal, Reply, Said, Usage, by_role, entries, epoch_in, pieces, push, string,
    text, unnamed,
};

pub(super) fn read(body: &Value) -> (Vec<Said>, Vec<String>) {
    let mut said = Vec::new();
    for message in entries(&body["messages"]) {
        push(&mut said, by_role(message["role"].as_str().unwrap_or_default(), text(&message["content"])));
        for tool in entries(&message["tool_calls"]) {
            let function = &tool["function"];
            said.push(Said::Called(string(&function["name"]), string(&function["arguments"])));
        }
    }
    let tools = entries(&body["tools"]).iter().map(|tool| string(&tool["function"]["name"])).collect();
    (said, tools)
}

fn usage(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input, "completion_tokens": usage.output, "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": { "cached_tokens": usage.cached },
        "completion_tokens_details": { "reasoning_tokens": 0 },
    })
}

fn finish_reason(reply: &Reply) -> &'static str {
    if reply.calls.is_empty() { "stop" } else { "tool_calls" }
}

fn tool_calls(id: u64, reply: &Reply) -> Vec<Value> {
    let calls = reply.calls.iter().enumerate().map(|(at, tool)| {
        json!({
            "index": at, "id": format!("call_{id:06}_{at}"), "type": "function",
            "function": { "name": tool.name, "arguments": tool.arguments().to_string() },
        })
    });
    calls.collect()
}

pub(super) fn whole(call: &Call, id: u64, reply: &Reply, used: Usage) -> Value {
    let mut message = json!({ "role": "assistant", "content": reply.text });
    if !reply.calls.is_empty() {
        message["tool_calls"] = tool_calls(id, reply).into();
    }
    json!({
        "id": format!("chatcmpl-{id:06}"), "object": "chat.completion", "created": 1_767_225_600, "model": call.model,
        "choices": [{ "index": 0, "message": message, "finish_reason": finish_reason(reply) }],
        "usage": usage(used),
    })
}

pub(super) fn stream(call: &Call, id: u64, reply: &Reply, used: Usage) -> Vec<Frame> {
    let chunk = |choices: Value| {
        json!({
            "id": format!("chatcmpl-{id:06}"), "object": "chat.completion.chunk", "created": 1_767_225_600,
            "model": call.model, "choices": choices,
        })
    };
    let delta =
        |delta: Value| unnamed(&chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }])));
    let mut frames = vec![delta(json!({ "role": "assistant", "content": "" }))];
    frames.extend(pieces(&reply.text).into_iter().map(|piece| delta(json!({ "content": piece }))));
    for tool in tool_calls(id, reply) {
        frames.push(delta(json!({ "tool_calls": [tool] })));
    }
    let end = json!([{ "index": 0, "delta": {}, "finish_reason": finish_reason(reply) }]);
    frames.push(unnamed(&chunk(end)));
    let mut last = chunk(json!([]));
    last["usage"] = usage(used);
    frames.push(unnamed(&last));
    frames.push(Frame { event: None, data: "[DONE]".into() });
    frames
}

pub(super) fn error(refusal: Refusal) -> HttpResponse {
    let body = |kind: &str, code: Value, message: &str| json!({ "error": { "message": message, "type": kind, "param": null, "code": code } });
    match refusal {
        Refusal::Unauthorized => {
            let message = "Incorrect API key provided: dummy. You can find your API key in your account.";
            HttpResponse::json(401, body("invalid_request_error", "invalid_api_key".into(), message))
        }
        Refusal::Limited(limit) if limit.of_plan => {
            let mut error = json!({ "type": "usage_limit_reached", "plan_type": "plus" });
            error["message"] = "The usage limit has been reached".into();
            if let Some(seconds) = limit.resets_in {
                error["resets_at"] = epoch_in(seconds).into();
                error["resets_in_seconds"] = seconds.into();
            }
            HttpResponse::json(429, json!({ "error": error }))
        }
        Refusal::Limited(limit) => {
            let again = limit.resets_in.map(|seconds| format!(" Please try again in {seconds}s."));
            let message = format!("Rate limit reached for requests.{}", again.unwrap_or_default());
            let body = body("requests", "rate_limit_exceeded".into(), &message);
            let response = HttpResponse::json(429, body);
            match limit.resets_in {
                None => response,
                Some(seconds) => response
                    .with("retry-after", &seconds)
                    .with("x-ratelimit-remaining-requests", &0)
                    .with("x-ratelimit-reset-requests", &format!("{seconds}s")),
            }
        }
        Refusal::Status(status) => {
            HttpResponse::json(status, body("server_error", Value::Null, "The server had an error"))
        }
    }
}
