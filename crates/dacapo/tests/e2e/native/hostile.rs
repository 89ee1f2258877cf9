//! Endpoints and readers that mean harm: nothing hangs, nothing grows without end, nothing panics.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use dacapo_core::event::FailureKind;

use super::desk::{Bytes, Desk, STREAM, chunk, words};

/// Sends until nobody takes it any more.
fn flood(to: &mut TcpStream, head: &str, piece: &[u8]) {
    let _ = to.write_all(head.as_bytes());
    while to.write_all(piece).is_ok() {}
}

#[test]
fn r3_an_endless_answer_is_given_up() {
    let server = Bytes::serve(|_, to| {
        let delta = serde_json::json!({ "content": "x".repeat(64 << 10) }).to_string();
        flood(to, STREAM, chunk(&delta, "").as_bytes());
    });
    let told = Desk::new("openai", &server.url()).turn("x", &[]);
    assert!(
        told.failed(FailureKind::Transient).contains("far more than an answer"),
        "{:?}",
        told.events.last()
    );
    assert!(told.said().len() <= 9 << 20);
}

#[test]
fn r3_an_endless_line_is_given_up() {
    let server = Bytes::serve(|_, to| flood(to, &format!("{STREAM}data: "), &[b'x'; 64 << 10]));
    let told = Desk::new("openai", &server.url()).turn("x", &["--silence-ms", "1000"]);
    told.failed(FailureKind::Transient);
}

#[cfg(target_os = "linux")]
#[test]
fn r3_an_endless_error_is_given_up() {
    let server = Bytes::serve(|_, to| {
        flood(to, "HTTP/1.1 500 Oh No\r\nconnection: close\r\n\r\n", &[b'x'; 64 << 10]);
    });
    let told = Desk::new("openai", &server.url()).turn("x", &[]);
    assert!(told.failed(FailureKind::Transient).contains("far more than an answer"), "{told:?}");
}

#[test]
fn l12_signs_of_life_without_a_word_are_not_enough_for_ever() {
    let server = Bytes::serve(|_, to| {
        let _ = to.write_all(STREAM.as_bytes());
        while to.write_all(b"event: ping\ndata: {\"type\":\"ping\"}\n\n").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let told = Desk::new("anthropic", &server.url()).turn("x", &["--silence-ms", "200"]);
    assert!(told.failed(FailureKind::Transient).contains("said nothing for"), "{told:?}");
}

#[test]
fn r3_an_endless_list_of_calls_is_given_up() {
    let server = Bytes::serve(|_, to| {
        let _ = to.write_all(STREAM.as_bytes());
        for index in 0.. {
            let call = serde_json::json!({
                "tool_calls": [{ "index": index, "id": format!("c{index}"), "function": { "name": "shell", "arguments": "{}" } }]
            });
            if to.write_all(chunk(&call.to_string(), "").as_bytes()).is_err() {
                return;
            }
        }
    });
    let told = Desk::new("openai", &server.url()).turn("x", &[]);
    assert!(told.failed(FailureKind::Transient).contains("far more than an answer"), "{told:?}");
    assert_eq!(told.answers().len(), 0, "nothing of it was carried out");
}

#[test]
fn who_does_not_listen_any_more_ends_the_turn() {
    let server = Bytes::streams(vec![words("Anybody there?")]);
    let desk = Desk::new("openai", &server.url());
    let mut child = desk.command(&[]).spawn().unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(b"x").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(1), Vec::new()));
}

#[test]
fn an_agent_that_is_not_installed_says_so() {
    let world = crate::support::World::new();
    let alone = world.bin().join("dacapo");
    std::fs::copy(env!("CARGO_BIN_EXE_dacapo"), &alone).unwrap();
    let output = std::process::Command::new(&alone).args(["__native", "--api", "openai"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("\"permanent\"") && stdout.contains("installed beside dacapo"), "{stdout}");
}

#[test]
fn odd_prompts_are_answered_or_refused() {
    let server = Bytes::streams(vec![words("ok")]);
    let desk = Desk::new("openai", &server.url());
    let _ = super::desk::tell(desk.command(&[]), b"\xff\x00 \xe7\xb9 go").ended("end_turn");
    for prompt in [&b""[..], b" \n\t "] {
        let told = super::desk::tell(desk.command(&[]), prompt);
        assert_eq!(told.failed(FailureKind::Permanent), "the prompt is empty");
    }
    let told = desk.turn("x", &["--no-such", "option"]);
    assert_eq!(told.code, Some(2));
    assert!(told.stderr.contains("there is no option --no-such"), "{}", told.stderr);
}
