//! Every way not to answer.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{WIRES, ask, connect, post, prompt, raw, request};
use crate::model_server::{Call, CallKind, ClosedPort, Failure, ModelServer, Reply, Usage, Wire};

fn failing(failure: Failure) -> ModelServer {
    ModelServer::start(move |_: &Call| failure.into())
}

#[test]
fn an_error_is_in_the_words_of_its_api() {
    for wire in WIRES {
        let refused = ask(&failing(Failure::UNAUTHORIZED), wire, true, &prompt(wire));
        let error = &refused.json()["error"];
        let says = match wire {
            Wire::Anthropic => (&error["type"], json!("authentication_error")),
            Wire::Responses | Wire::Chat => (&error["code"], json!("invalid_api_key")),
            Wire::Gemini => (&error["status"], json!("UNAUTHENTICATED")),
        };
        assert_eq!((refused.status, says.0), (401, &says.1), "{wire:?}");

        let broken = ask(&failing(Failure::status(500)), wire, false, &prompt(wire));
        assert_eq!((broken.status, broken.json()["error"].is_object()), (500, true), "{wire:?}");
    }
}

#[test]
fn a_limit_says_when_it_ends_or_does_not() {
    for wire in WIRES {
        let limit = |failure| ask(&failing(failure), wire, true, &prompt(wire));
        let (with, without) = (limit(Failure::limited(Some(42))), limit(Failure::limited(None)));
        assert_eq!((with.status, without.status), (429, 429));
        let told = |response: &crate::client::Response| {
            (response.head.contains("retry-after: 42"), response.body.contains("42s"))
        };
        let expected = match wire {
            Wire::Anthropic => (true, false),
            Wire::Responses | Wire::Chat => (true, true),
            Wire::Gemini => (false, true),
        };
        assert_eq!((told(&with), told(&without)), (expected, (false, false)), "{wire:?}");
    }
    let plan = |wire| ask(&failing(Failure::plan_limited(Some(42))), wire, true, &prompt(wire));
    assert_eq!(plan(Wire::Responses).json()["error"]["resets_in_seconds"], 42);
    assert!(plan(Wire::Anthropic).head.contains("anthropic-ratelimit-unified-reset: "));
}

#[test]
fn a_cut_answer_begins_and_has_no_end() {
    for wire in WIRES {
        for stream in [true, false] {
            let server = failing(Failure::Cut);
            let cut = ask(&server, wire, stream, &prompt(wire));
            assert!(cut.status == 200 && !cut.body.is_empty() && !cut.whole, "{wire:?} {cut:?}");
            assert!(!stream || !cut.events().is_empty(), "{wire:?} {cut:?}");
            assert_eq!(server.usage_of_all(), Usage::default(), "nothing was charged");
        }
    }
}

#[test]
fn a_hanging_server_takes_the_request_and_ends_with_its_test() {
    for (failure, begins) in [(Failure::Hang, false), (Failure::HangInStream, true)] {
        let server = failing(failure);
        let mut stream = connect(&server);
        let mut body = prompt(Wire::Chat);
        body["stream"] = true.into();
        stream.write_all(&request("POST", "/v1/chat/completions", &body)).unwrap();
        let asked = |all: &[crate::model_server::Recorded]| all.iter().any(|one| one.answer.is_some());
        assert!(server.wait(Duration::from_secs(60), asked));
        if begins {
            let mut some = [0; 64];
            assert!(stream.read(&mut some).unwrap() > 0);
        }
        drop(server);
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        assert!(begins || rest.is_empty(), "{}", String::from_utf8_lossy(&rest));
    }
}

#[test]
fn a_closed_port_refuses() {
    let closed = ClosedPort::take();
    let refused = TcpStream::connect(closed.url().strip_prefix("http://").unwrap());
    assert_eq!(refused.unwrap_err().kind(), std::io::ErrorKind::ConnectionRefused);
}

#[test]
fn what_is_no_request_is_no_end_of_the_server() {
    let server = ModelServer::start(|_: &Call| Reply::say("well").into());
    assert!(raw(&server, b"").is_empty());
    assert!(raw(&server, b"\xff\xfe nonsense\r\n\r\n").is_empty());
    assert!(raw(&server, b"POST /v1/messages HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\n").is_empty());
    assert!(raw(&server, b"POST /v1/messages HTTP/1.1\r\nContent-Length: 10\r\n\r\nshort").is_empty());
    assert_eq!(post(&server, "/v1/messages", &Value::Null).status, 400);
    assert_eq!(post(&server, "/v1/messages", &json!([1, 2])).status, 400);
    assert_eq!(ask(&server, Wire::Chat, true, &prompt(Wire::Chat)).status, 200);
    assert_eq!(server.calls(CallKind::Main).len(), 1);
}

#[test]
fn one_connection_serves_many_requests_in_chunks_too() {
    let server = ModelServer::start(|_: &Call| Reply::say("well").into());
    let body = prompt(Wire::Chat).to_string();
    let (first, second) = body.split_at(10);
    let mut bytes = request("POST", "/v1/chat/completions", &prompt(Wire::Chat));
    bytes.extend(b"POST /base/v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    bytes.extend(
        format!("{:x}\r\n{first}\r\n{:X};x=y\r\n{second}\r\n0\r\n\r\n", first.len(), second.len()).bytes(),
    );
    let answers = String::from_utf8(raw(&server, &bytes)).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 2, "{answers}");
    assert_eq!(server.calls(CallKind::Main).len(), 2);
    assert_eq!(server.requests()[0].request.header("x-api-key"), Some("dummy"));
}
