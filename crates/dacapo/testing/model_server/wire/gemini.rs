//! Gemini.

use serde_json::{Value, json};

use super::{
    Call, Frame, HttpResponse, Refusal, Reply, Said, Usage, by_role, entries, pieces, push, string, text,
    unnamed,
};

pub(super) fn read(body: &Value) -> (Vec<Said>, Vec<String>) {
    let mut said = Vec::new();
    push(&mut said, Said::System(text(&body["systemInstruction"]["parts"])));
    for content in entries(&body["contents"]) {
        for part in entries(&content["parts"]) {
            let (called, result) = (&part["functionCall"], &part["functionResponse"]);
            push(
                &mut said,
                if called.is_object() {
                    Said::Called(string(&called["name"]), called["args"].to_string())
                } else if result.is_object() {
                    Said::Result(result["response"].to_string())
                } else {
                    by_role(content["role"].as_str().unwrap_or_default(), string(&part["text"]))
                },
            );
        }
    }
    let tools = entries(&body["tools"]).iter().flat_map(|tool| entries(&tool["functionDeclarations"]));
    (said, tools.map(|tool| string(&tool["name"])).collect())
}

/// `…/models/MODEL:streamGenerateContent`
pub(super) fn model(path: &str) -> String {
    let last = path.rsplit('/').next().unwrap_or_default();
    last.split(':').next().unwrap_or_default().to_owned()
}

fn usage(usage: Usage) -> Value {
    json!({
        "promptTokenCount": usage.input, "cachedContentTokenCount": usage.cached,
        "candidatesTokenCount": usage.output, "totalTokenCount": usage.input + usage.output,
    })
}

fn calls(id: u64, reply: &Reply) -> Vec<Value> {
    let parts = reply.calls.iter().enumerate().map(|(at, tool)| {
        json!({ "functionCall": { "id": format!("fc_{id:06}_{at}"), "name": tool.name, "args": tool.arguments() } })
    });
    parts.collect()
}

fn candidate(parts: &[Value], finish: Option<&str>) -> Value {
    let mut candidate = json!({ "index": 0, "content": { "role": "model", "parts": parts } });
    if let Some(finish) = finish {
        candidate["finishReason"] = finish.into();
    }
    candidate
}

fn response(call: &Call, id: u64, candidate: &Value) -> Value {
    json!({ "candidates": [candidate], "modelVersion": call.model, "responseId": format!("resp_{id:06}") })
}

pub(super) fn whole(call: &Call, id: u64, reply: &Reply, used: Usage) -> Value {
    let mut parts = Vec::new();
    if !reply.text.is_empty() {
        parts.push(json!({ "text": reply.text }));
    }
    parts.extend(calls(id, reply));
    let mut whole = response(call, id, &candidate(&parts, Some("STOP")));
    whole["usageMetadata"] = usage(used);
    whole
}

pub(super) fn stream(call: &Call, id: u64, reply: &Reply, used: Usage) -> Vec<Frame> {
    let part = |part: Value| unnamed(&response(call, id, &candidate(&[part], None)));
    let mut frames: Vec<Frame> =
        pieces(&reply.text).into_iter().map(|piece| part(json!({ "text": piece }))).collect();
    frames.extend(calls(id, reply).into_iter().map(part));
    let mut last = response(call, id, &candidate(&[json!({ "text": "" })], Some("STOP")));
    last["usageMetadata"] = usage(used);
    frames.push(unnamed(&last));
    frames
}

pub(super) fn error(refusal: Refusal) -> HttpResponse {
    let body = |code: u16, status: &str, message: &str, details: Value| {
        let error = json!({ "code": code, "message": message, "status": status, "details": details });
        HttpResponse::json(code, json!({ "error": error }))
    };
    match refusal {
        Refusal::Unauthorized => {
            let message = "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.";
            body(401, "UNAUTHENTICATED", message, json!([]))
        }
        Refusal::Limited(limit) => {
            let kind = if limit.of_plan { "PerDay" } else { "PerMinute" };
            let quota = format!("GenerateRequests{kind}PerProjectPerModel");
            let mut details = vec![json!({
                "@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{ "quotaId": quota }],
            })];
            let again = limit.resets_in.map(|seconds| format!("\nPlease retry in {seconds}s."));
            if let Some(seconds) = limit.resets_in {
                let delay = format!("{seconds}s");
                details.push(
                    json!({ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay }),
                );
            }
            let message = format!("You exceeded your current quota.{}", again.unwrap_or_default());
            body(429, "RESOURCE_EXHAUSTED", &message, details.into())
        }
        Refusal::Status(503) => body(503, "UNAVAILABLE", "The model is overloaded.", json!([])),
        Refusal::Status(400) => body(400, "INVALID_ARGUMENT", "malformed request", json!([])),
        Refusal::Status(status) => body(status, "INTERNAL", "An internal error has occurred.", json!([])),
    }
}
