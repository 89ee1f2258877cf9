//! A script in a file, for a person who starts the server by hand: a YAML list of answers to main calls, in order.
//!
//! ```yaml
//! - call: Write                          # a tool of the agent
//!   with: { file_path: a.txt, content: "hello\n" }
//! - say: Wrote a.txt.                    # words alone end the agent's turn
//!   usage: { input: 1200, output: 30, cached: 100 }
//! - fail: limited                        # unauthorized, limited, status, hang, hang_in_stream, cut
//!   resets_in: 30
//! ```

use serde::Deserialize;
use serde_json::Value;

use super::answer::{Answer, Failure, Reply, ToolUse, Usage};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    say: Option<String>,
    call: Option<String>,
    with: Option<Value>,
    usage: Option<Tokens>,
    fail: Option<Kind>,
    resets_in: Option<u64>,
    status: Option<u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tokens {
    input: u64,
    output: u64,
    #[serde(default)]
    cached: u64,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Unauthorized,
    Limited,
    PlanLimited,
    Status,
    Hang,
    HangInStream,
    Cut,
}

/// Reads a script.
pub(crate) fn read(yaml: &str) -> Result<Vec<Answer>, String> {
    let entries: Vec<Entry> = serde_saphyr::from_str(yaml).map_err(|error| error.to_string())?;
    if entries.is_empty() {
        return Err("a script needs an answer at least".into());
    }
    entries
        .into_iter()
        .enumerate()
        .map(|(at, entry)| answer(entry).map_err(|e| format!("answer {}: {e}", at + 1)))
        .collect()
}

fn answer(entry: Entry) -> Result<Answer, String> {
    if let Some(kind) = entry.fail {
        return Ok(match kind {
            Kind::Unauthorized => Failure::UNAUTHORIZED,
            Kind::Limited => Failure::limited(entry.resets_in),
            Kind::PlanLimited => Failure::plan_limited(entry.resets_in),
            Kind::Status => Failure::status(entry.status.unwrap_or(500)),
            Kind::Hang => Failure::Hang,
            Kind::HangInStream => Failure::HangInStream,
            Kind::Cut => Failure::Cut,
        }
        .into());
    }
    if entry.say.is_none() && entry.call.is_none() {
        return Err("it needs `say`, `call` or `fail`".into());
    }
    let usage = entry.usage.map(|tokens| {
        let Tokens { input, output, cached } = tokens;
        Usage { input, output, cached: cached.min(input) }
    });
    let input = entry.with.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    let calls = entry.call.map(|name| ToolUse::new(name, input)).into_iter().collect();
    Ok(Reply { text: entry.say.unwrap_or_default(), calls, usage }.into())
}
