//! A message to an address: by a program of our own that knows HTTP and TLS (`native/deliver.rs`), so that this one need
//! not. The address is a secret: it goes in by standard input, and nothing that comes back holds it.

use std::time::Duration;

use serde_json::json;

use super::{MOST_OUTPUT, Message, Patience, judged};
use crate::App;
use crate::guarded_command::GuardedCommand;
use crate::native::DELIVER;

/// How often it is tried.
const ATTEMPTS: u32 = 5;

/// After the first failure; each further pause is four times as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

pub(super) fn send(app: &App, url: &str, message: &Message, patience: Patience) -> Result<(), String> {
    let limit = match patience {
        Patience::Short => Duration::from_secs(15),
        Patience::Long => Duration::from_secs(120),
    };
    let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let order = json!({
        "url": url,
        "body": message.json,
        "attempts": ATTEMPTS,
        "pause_ms": millis(FIRST_PAUSE),
        "limit_ms": millis(limit),
    });
    // It keeps its own time; this is for when it cannot.
    let limit = limit + Duration::from_secs(10);
    let done = GuardedCommand {
        argv: vec![app.program.clone().into(), DELIVER.into()],
        cwd: "/".into(),
        env: app.env.to_vec(),
        stdin: order.to_string().into_bytes(),
        limit,
        most: MOST_OUTPUT,
    }
    .run_alone(app);
    let answer: serde_json::Value = serde_json::from_str(done.stdout.trim()).unwrap_or_default();
    match answer["error"].as_str() {
        Some(error) => Err(error.to_owned()),
        None => judged(&done, limit).map_err(|error| error.replace(url, "***")),
    }
}
