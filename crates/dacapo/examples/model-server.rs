//! The scripted model server of the tests, by hand: `cargo run -p dacapo --example model-server -- [SCRIPT] [PORT]`.
//!
//! Without a script every call is answered with a word. It shows each request as it comes, until it is interrupted.

#[path = "../testing/model_server/mod.rs"]
mod model_server;

use std::process::ExitCode;
use std::time::Duration;

use model_server::{Answer, CallKind, ModelServer, Recorded, Reply, in_order, script_file};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let answers = match arguments.next().map(|file| script(&file)) {
        None => vec![Reply::say("pong").into()],
        Some(Ok(answers)) => answers,
        Some(Err(error)) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    let port = arguments.next().and_then(|port| port.parse().ok()).unwrap_or(0);
    let script = in_order(answers);
    let server = ModelServer::start_on(port, move |call| match call.kind {
        CallKind::Main => script(call),
        CallKind::Side => Reply::say("ok").into(),
    });
    let url = server.url();
    println!("{url}  (Anthropic, Gemini)\n{url}/v1  (OpenAI)");
    let mut shown = 0;
    loop {
        server.wait(Duration::from_secs(3600), |all| {
            all.len() > shown && all[shown].answer.is_some() == all[shown].call.is_some()
        });
        for recorded in &server.requests()[shown..] {
            show(recorded);
            shown += 1;
        }
    }
}

fn script(file: &str) -> Result<Vec<Answer>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("cannot read {file}: {error}"))?;
    script_file::read(&text).map_err(|error| format!("{file}: {error}"))
}

fn show(recorded: &Recorded) {
    println!("{} {}", recorded.request.method, recorded.request.target);
    let Some(call) = &recorded.call else { return };
    println!("  {:?} {} of {}, tools: {}", call.kind, call.number, call.model, call.tools.join(" "));
    let last: String = format!("{:?}", call.last()).chars().take(300).collect();
    println!("  {last}\n  → {:?}", recorded.answer);
}
