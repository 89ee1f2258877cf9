//! Streams as endpoints really send them, byte by byte, and what some send in their place.

use std::io::Write as _;

use dacapo_core::event::{AgentEvent, FailureKind};

use super::desk::{Bytes, Desk, chunk, words};

fn call(index: u32, id: &str, name: &str, arguments: &str) -> String {
    let mut call = serde_json::json!({ "index": index, "function": { "arguments": arguments } });
    if !id.is_empty() {
        call["id"] = id.into();
        call["function"]["name"] = name.into();
    }
    chunk(&serde_json::json!({ "tool_calls": [call] }).to_string(), "")
}

fn calls_end() -> String {
    format!("{}data: [DONE]\n\n", chunk("{}", "tool_calls"))
}

#[test]
fn a6_arguments_come_in_pieces() {
    let first = [
        chunk("{\"role\":\"assistant\",\"content\":null}", ""),
        chunk("{\"content\":\"Two \"}", ""),
        chunk("{\"content\":\"files.\"}", ""),
        call(0, "a", "write_file", ""),
        call(0, "", "", "{\"path\":\"one\",\"con"),
        call(1, "b", "write_file", "{\"path\":\"two\","),
        call(0, "", "", "tent\":\"1\"}"),
        call(1, "", "", "\"content\":\"2\"}"),
        calls_end(),
    ];
    let server = Bytes::streams(vec![first.concat(), words("Done.")]);
    let desk = Desk::new("openai", &server.url());
    let told = desk.turn("x", &[]).ended("end_turn");
    assert_eq!((desk.world.read("one"), desk.world.read("two")), ("1".into(), "2".into()));
    assert_eq!(told.said(), "Two files.Done.");
    let usage = told.usage();
    assert!(usage.input > 100 && usage.output > 5, "an endpoint that does not count is estimated: {usage:?}");
}

#[test]
fn a6_numbers_of_calls_are_not_trusted() {
    let all_0 = [
        call(0, "a", "write_file", "{\"path\":\"one\",\"content\":\"1\"}"),
        call(0, "b", "write_file", "{\"path\":\"two\",\"content\":\"2\"}"),
        call(4_294_967_295, "c", "write_file", "{\"path\":\"three\",\"content\":\"3\"}"),
        calls_end(),
    ];
    let server = Bytes::streams(vec![all_0.concat(), words("Done.")]);
    let desk = Desk::new("openai", &server.url());
    let told = desk.turn("x", &[]).ended("end_turn");
    assert_eq!(told.answers().len(), 3, "{told:?}");
    assert_eq!(desk.world.read("three"), "3");
}

#[test]
fn malformed_arguments_are_told_to_the_model_and_sent_back_as_none() {
    for arguments in ["{\"path\": ", "[1, 2]", "nonsense", "\"{}\""] {
        let server =
            Bytes::streams(vec![[call(0, "a", "read_file", arguments), calls_end()].concat(), words("Oh.")]);
        let told = Desk::new("openai", &server.url()).turn("x", &[]).ended("end_turn");
        let answers = told.answers();
        assert!(
            matches!(answers[..], [(true, output)] if output.contains("the arguments are not")),
            "{answers:?}"
        );
        let body: serde_json::Value = serde_json::from_str(&server.bodies()[1]).unwrap();
        assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["arguments"], "{}");
        assert_eq!(body["messages"][3]["tool_call_id"], "a");
    }
}

#[test]
fn thoughts_are_shown_and_go_back_with_the_results() {
    let thought = [
        chunk("{\"reasoning_content\":\"Hm, \"}", ""),
        chunk("{\"reasoning_content\":\"a file.\"}", ""),
        call(0, "a", "shell", "{\"command\":\"true\"}"),
        calls_end(),
    ];
    let server = Bytes::streams(vec![thought.concat(), words("Done.")]);
    let told = Desk::new("openai", &server.url()).turn("x", &[]).ended("end_turn");
    assert_eq!(told.events[0], AgentEvent::Thinking { text: "Hm, a file.".into() });
    assert_eq!(told.said(), "Done.", "a thought is not said");
    let body: serde_json::Value = serde_json::from_str(&server.bodies()[1]).unwrap();
    assert_eq!(body["messages"][2]["reasoning_content"], "Hm, a file.");
}

fn event(name: &str, data: &serde_json::Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

#[test]
fn signed_thoughts_go_back_as_they_were_signed() {
    use serde_json::json;
    let block = |index: u32, block: serde_json::Value| {
        event("content_block_start", &json!({ "index": index, "content_block": block }))
    };
    let delta = |index: u32, delta: serde_json::Value| {
        event("content_block_delta", &json!({ "index": index, "delta": delta }))
    };
    let stop = |index: u32| event("content_block_stop", &json!({ "index": index }));
    let first = [
        event(
            "message_start",
            &json!({ "message": { "usage": { "input_tokens": 10, "output_tokens": 1 } } }),
        ),
        event("ping", &json!({})),
        block(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
        delta(0, json!({ "type": "thinking_delta", "thinking": "Hm." })),
        delta(0, json!({ "type": "signature_delta", "signature": "c2ln" })),
        stop(0),
        block(1, json!({ "type": "tool_use", "id": "t1", "name": "shell", "input": {} })),
        delta(1, json!({ "type": "input_json_delta", "partial_json": "{\"comm" })),
        delta(1, json!({ "type": "input_json_delta", "partial_json": "and\":\"echo hi\"}" })),
        stop(1),
        event(
            "message_delta",
            &json!({ "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 7 } }),
        ),
        event("message_stop", &json!({})),
    ];
    let last = [
        event(
            "message_start",
            &json!({ "message": { "usage": { "input_tokens": 20, "output_tokens": 1 } } }),
        ),
        block(0, json!({ "type": "text", "text": "" })),
        delta(0, json!({ "type": "text_delta", "text": "Done." })),
        stop(0),
        event(
            "message_delta",
            &json!({ "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 2 } }),
        ),
        event("message_stop", &json!({})),
    ];
    let server = Bytes::streams(vec![first.concat(), last.concat()]);
    let told = Desk::new("anthropic", &server.url()).turn("x", &[]).ended("end_turn");
    assert_eq!(told.events[0], AgentEvent::Thinking { text: "Hm.".into() });
    assert_eq!(told.answers(), [(false, "hi\n[exit code 0]")]);
    assert_eq!((told.usage().input, told.usage().output), (30, 9));
    let body: serde_json::Value = serde_json::from_str(&server.bodies()[1]).unwrap();
    let content = &body["messages"][1]["content"];
    assert_eq!(content[0], json!({ "type": "thinking", "thinking": "Hm.", "signature": "c2ln" }));
    assert_eq!(content[1]["input"], json!({ "command": "echo hi" }));
}

#[test]
fn errors_in_the_midst_of_a_stream_are_weighed() {
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let server = Bytes::streams(vec![overloaded.into()]);
    let told = Desk::new("anthropic", &server.url()).turn("x", &[]);
    assert!(told.failed(FailureKind::Transient).contains("Overloaded"), "{told:?}");
    assert_eq!(server.served(), 5);

    let limited = "data: {\"error\":{\"message\":\"Slow down\",\"code\":\"rate_limit_exceeded\"}}\n\n";
    let server = Bytes::streams(vec![limited.into()]);
    let told = Desk::new("openai", &server.url()).turn("x", &[]);
    assert!(matches!(told.events.last(), Some(AgentEvent::Limit { resets_at: None, .. })), "{told:?}");
}

#[test]
fn an_answer_cut_at_its_length_goes_on() {
    let cut =
        format!("{}{}data: [DONE]\n\n", chunk("{\"content\":\"First half,\"}", ""), chunk("{}", "length"));
    let server = Bytes::streams(vec![cut, words(" second half.")]);
    let desk = Desk::new("openai", &server.url());
    let told = desk.turn("x", &[]).ended("end_turn");
    assert_eq!(told.said(), "First half, second half.");
    assert!(server.bodies()[1].contains("cut at its length limit"));
    assert_eq!(server.served(), 2);
}

#[test]
fn c5_an_answer_is_told_once_and_whole() {
    let half = chunk("{\"content\":\"A summary th\"}", "");
    let server = Bytes::streams(vec![half, words("A summary that is whole.")]);
    let told = Desk::new("openai", &server.url()).turn("x", &["--complete"]).ended("end_turn");
    assert_eq!((told.said().as_str(), told.retries().len()), ("A summary that is whole.", 1));
    let cut = format!("{}{}data: [DONE]\n\n", chunk("{\"content\":\"A summ\"}", ""), chunk("{}", "length"));
    let server = Bytes::streams(vec![cut]);
    let told = Desk::new("openai", &server.url()).turn("x", &["--complete"]).ended("max_tokens");
    assert_eq!(told.said(), "A summ");
}

#[test]
fn a_window_that_is_smaller_than_said_is_found_out() {
    let long = call(0, "a", "shell", "{\"command\":\"head -c 20000 /dev/zero | tr '\\\\0' x\"}");
    let answers = [[long, calls_end()].concat(), words("Done.")];
    let server = Bytes::serve(move |number, to| {
        let answer = match number {
            0..8 => format!("{}{}", super::desk::STREAM, answers[0]),
            8..10 => {
                let body = "{\"error\":{\"message\":\"too long\",\"code\":\"context_length_exceeded\"}}";
                format!(
                    "HTTP/1.1 400 Bad Request\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                )
            }
            _ => format!("{}{}", super::desk::STREAM, answers[1]),
        };
        let _ = to.write_all(answer.as_bytes());
    });
    let told = Desk::new("openai", &server.url()).turn("x", &["--context-tokens", "55000"]).ended("end_turn");
    assert_eq!(told.retries(), [Some(400), Some(400)]);
    let sizes: Vec<usize> = server.bodies().iter().map(String::len).collect();
    assert!(sizes[10] < sizes[8], "{sizes:?}");
}

#[test]
fn what_is_no_stream_is_described() {
    for (answer, why) in [
        (
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<html>Hello</html>",
            "is base_url right?",
        ),
        ("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", "is base_url right?"),
        ("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\ndata: {broken\n\n", "cannot be read"),
        ("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\ndata: \u{0}\n\n", "cannot be read"),
        ("HTTP/1.1 banana\r\n\r\n", "broke off"),
        ("", "broke off"),
    ] {
        let server = Bytes::serve(move |_, to| {
            let _ = to.write_all(answer.as_bytes());
        });
        let told = Desk::new("openai", &server.url()).turn("x", &[]);
        assert!(told.failed(FailureKind::Transient).contains(why), "{answer}: {told:?}");
        assert_eq!(server.served(), 5);
    }
}

#[test]
fn a_key_does_not_follow_a_redirection() {
    let elsewhere = Bytes::streams(vec![words("Thanks for the key.")]);
    let to = elsewhere.url();
    let server = Bytes::serve(move |_, connection| {
        let answer =
            format!("HTTP/1.1 307 Moved\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        let _ = connection.write_all(answer.as_bytes());
    });
    let told = Desk::new("anthropic", &server.url()).turn("x", &[]);
    assert!(told.failed(FailureKind::Permanent).contains("set that as base_url"), "{told:?}");
    assert_eq!(elsewhere.served(), 0);
}

#[test]
fn a_model_that_declines_has_not_done_its_work() {
    let declined = format!("{}data: [DONE]\n\n", chunk("{}", "content_filter"));
    let server = Bytes::streams(vec![declined]);
    let told = Desk::new("openai", &server.url()).turn("x", &[]);
    assert!(told.failed(FailureKind::Transient).contains("declined to answer (content_filter)"), "{told:?}");
}
