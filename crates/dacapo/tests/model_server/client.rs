//! A client of a few lines, and conversations in each wire format that mean the same.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

use serde_json::{Value, json};

use crate::model_server::{ModelServer, Wire};

/// What came back, whole or not.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    /// Without the framing of chunks.
    pub(crate) body: String,
    /// Whether the body ended as announced.
    pub(crate) whole: bool,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The data of all events that are JSON.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter_map(|data| serde_json::from_str(data).ok()).collect()
    }

    fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let (head, rest) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let (body, whole) = if head.contains("transfer-encoding: chunked") {
            let mut body = String::new();
            let mut rest = rest;
            let whole = loop {
                let Some((size, after)) = rest.split_once("\r\n") else { break false };
                let size = usize::from_str_radix(size, 16).unwrap();
                if size == 0 {
                    break true;
                }
                body.push_str(&after[..size]);
                rest = &after[size + 2..];
            };
            (body, whole)
        } else {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            (rest.to_owned(), rest.len() == length.parse::<usize>().unwrap())
        };
        Self { status, head: head.to_owned(), body, whole }
    }
}

/// Sends bytes and reads until the server hangs up.
pub(crate) fn raw(server: &ModelServer, bytes: &[u8]) -> Vec<u8> {
    let mut stream = connect(server);
    stream.write_all(bytes).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

pub(crate) fn connect(server: &ModelServer) -> TcpStream {
    TcpStream::connect(server.url().strip_prefix("http://").unwrap()).unwrap()
}

pub(crate) fn request(method: &str, target: &str, body: &Value) -> Vec<u8> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    format!(
        "{method} {target} HTTP/1.1\r\nHost: x\r\nX-Api-Key: dummy\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

pub(crate) fn get(server: &ModelServer, target: &str) -> Response {
    Response::parse(&raw(server, &request("GET", target, &Value::Null)))
}

pub(crate) fn post(server: &ModelServer, target: &str, body: &Value) -> Response {
    Response::parse(&raw(server, &request("POST", target, body)))
}

/// Asks for an answer to this conversation.
pub(crate) fn ask(server: &ModelServer, wire: Wire, stream: bool, body: &Value) -> Response {
    let mut body = body.clone();
    let target = match (wire, stream) {
        (Wire::Anthropic, _) => "/v1/messages?beta=true",
        (Wire::Responses, _) => "/v1/responses",
        (Wire::Chat, _) => "/v1/chat/completions",
        (Wire::Gemini, true) => "/v1beta/models/scripted:streamGenerateContent?alt=sse",
        (Wire::Gemini, false) => "/v1beta/models/scripted:generateContent",
    };
    if stream && wire != Wire::Gemini {
        body["stream"] = true.into();
    }
    post(server, target, &body)
}

pub(crate) const WIRES: [Wire; 4] = [Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini];

/// A first prompt, with a tool named `write` on offer.
pub(crate) fn prompt(wire: Wire) -> Value {
    match wire {
        Wire::Anthropic => json!({
            "model": "scripted", "system": [{ "type": "text", "text": "be good" }],
            "tools": [{ "name": "write", "input_schema": {} }],
            "messages": [{ "role": "user", "content": [{ "type": "text", "text": "do it" }] }],
        }),
        Wire::Responses => json!({
            "model": "scripted", "instructions": "be good", "tools": [{ "type": "function", "name": "write" }],
            "input": [{ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "do it" }] }],
        }),
        Wire::Chat => json!({
            "model": "scripted", "tools": [{ "type": "function", "function": { "name": "write" } }],
            "messages": [{ "role": "system", "content": "be good" }, { "role": "user", "content": "do it" }],
        }),
        Wire::Gemini => json!({
            "systemInstruction": { "parts": [{ "text": "be good" }] },
            "tools": [{ "functionDeclarations": [{ "name": "write" }] }],
            "contents": [{ "role": "user", "parts": [{ "text": "do it" }] }],
        }),
    }
}

/// The same after the model used the tool, which answered, and the agent added a reminder of its own.
pub(crate) fn after_tool(wire: Wire) -> Value {
    let mut body = prompt(wire);
    let (key, more) = match wire {
        Wire::Anthropic => (
            "messages",
            json!([
                { "role": "assistant", "content": [
                    { "type": "text", "text": "I will" },
                    { "type": "tool_use", "id": "1", "name": "write", "input": { "path": "a" } },
                ] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "1", "content": [{ "type": "text", "text": "written" }] },
                    { "type": "text", "text": "remember" },
                ] },
            ]),
        ),
        Wire::Responses => (
            "input",
            json!([
                { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "I will" }] },
                { "type": "function_call", "call_id": "1", "name": "write", "arguments": "{\"path\":\"a\"}" },
                { "type": "function_call_output", "call_id": "1", "output": "written" },
                { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "remember" }] },
            ]),
        ),
        Wire::Chat => (
            "messages",
            json!([
                { "role": "assistant", "content": "I will", "tool_calls": [
                    { "id": "1", "type": "function", "function": { "name": "write", "arguments": "{\"path\":\"a\"}" } },
                ] },
                { "role": "tool", "tool_call_id": "1", "content": "written" },
                { "role": "user", "content": [{ "type": "text", "text": "remember" }] },
            ]),
        ),
        Wire::Gemini => (
            "contents",
            json!([
                { "role": "model", "parts": [
                    { "text": "I will" }, { "functionCall": { "name": "write", "args": { "path": "a" } } },
                ] },
                { "role": "user", "parts": [{ "functionResponse": { "name": "write", "response": "written" } }] },
                { "role": "user", "parts": [{ "text": "remember" }] },
            ]),
        ),
    };
    body[key].as_array_mut().unwrap().extend(more.as_array().unwrap().iter().cloned());
    body
}
