//! What Dacapo says: JSON-RPC lines.

use serde_json::{Value, json, value::RawValue};

/// The version of the protocol that is spoken here.
pub(super) const PROTOCOL: u64 = 1;

/// What an answer is an answer to. The number of a request says it, so that a raw file that holds only the agent's side
/// can be read by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// `initialize`
    Initialize,
    /// `session/new`
    New,
    /// `session/resume`: the conversation is taken up without a word.
    Resume,
    /// `session/load`: it is taken up, and its history told again.
    Load,
    /// `session/set_mode` or `session/set_config_option`
    Mode,
    /// `session/prompt`
    Prompt,
}

const STEPS: [Step; 6] = [Step::Initialize, Step::New, Step::Resume, Step::Load, Step::Mode, Step::Prompt];
/// Room for steps to come.
const STRIDE: u64 = 16;

impl Step {
    /// The number of this request in a turn; no two of a process are the same.
    fn number(self, turn: u32) -> u64 {
        let place = STEPS.iter().position(|step| *step == self).unwrap_or_default();
        u64::from(turn) * STRIDE + place as u64 + 1
    }

    /// What a number stands for. Agents give it back as it was, or as text.
    pub(super) fn of(id: &RawValue) -> Option<Self> {
        let number: u64 = id.get().trim_matches('"').parse().ok()?;
        let place = usize::try_from((number % STRIDE).checked_sub(1)?).ok()?;
        STEPS.get(place).copied()
    }
}

/// A line that goes to the agent.
fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

fn request(turn: u32, step: Step, method: &str, params: &Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": step.number(turn), "method": method, "params": params }))
}

pub(super) fn initialize(turn: u32) -> Vec<u8> {
    let params = json!({
        "protocolVersion": PROTOCOL,
        // It has the workspace and a shell of its own; what it does through us we could watch, but not better.
        "clientCapabilities": { "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false },
        "clientInfo": { "name": "dacapo", "title": "Dacapo", "version": env!("CARGO_PKG_VERSION") },
    });
    request(turn, Step::Initialize, "initialize", &params)
}

pub(super) fn open(turn: u32, step: Step, cwd: &str, session: Option<&str>) -> Vec<u8> {
    let mut params = json!({ "cwd": cwd, "mcpServers": [] });
    let method = match step {
        Step::Load => "session/load",
        Step::Resume => "session/resume",
        Step::New | Step::Initialize | Step::Mode | Step::Prompt => "session/new",
    };
    if let Some(session) = session {
        params["sessionId"] = session.into();
    }
    request(turn, step, method, &params)
}

pub(super) fn set_mode(turn: u32, session: &str, mode: &str) -> Vec<u8> {
    request(turn, Step::Mode, "session/set_mode", &json!({ "sessionId": session, "modeId": mode }))
}

pub(super) fn set_option(turn: u32, session: &str, option: &str, value: &str) -> Vec<u8> {
    let params = json!({ "sessionId": session, "configId": option, "value": value });
    request(turn, Step::Mode, "session/set_config_option", &params)
}

pub(super) fn prompt(turn: u32, session: &str, text: &str) -> Vec<u8> {
    let params = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] });
    request(turn, Step::Prompt, "session/prompt", &params)
}

pub(super) fn cancel(session: &str) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } }))
}

/// Chooses an option of a request for permission; none: the turn was cancelled.
pub(super) fn chosen(id: &str, option: Option<&str>) -> Vec<u8> {
    let outcome = match option {
        Some(option) => json!({ "outcome": "selected", "optionId": option }),
        None => json!({ "outcome": "cancelled" }),
    };
    answer(id, &format!(r#""result":{}"#, json!({ "outcome": outcome })))
}

/// Says that a request cannot be served.
pub(super) fn cannot(id: &str, code: i32, why: &str) -> Vec<u8> {
    answer(id, &format!(r#""error":{}"#, json!({ "code": code, "message": why })))
}

/// The agent's own id goes back byte for byte, whatever it is.
fn answer(id: &str, rest: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{rest}}}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_tells_what_was_asked() {
        let raw = |text: String| RawValue::from_string(text).unwrap();
        for step in STEPS {
            for turn in [0, 1, u32::MAX] {
                let number = step.number(turn);
                assert_eq!(Step::of(&raw(number.to_string())), Some(step));
                assert_eq!(Step::of(&raw(format!("\"{number}\""))), Some(step));
            }
        }
        for other in ["0", "16", "15", "-1", "null", "1.5", "\"x\"", "{}", "99999999999999999999"] {
            assert_eq!(Step::of(&raw(other.into())), None, "{other}");
        }
    }

    #[test]
    fn what_is_said_is_a_line_of_json() {
        let session = "s\"1\n";
        for line in [
            initialize(0),
            open(1, Step::Load, "/tmp/ä", Some(session)),
            set_mode(1, session, "yolo"),
            set_option(1, session, "mode", "plan"),
            prompt(1, session, "two\nlines {x} \"q\" \u{0}"),
            cancel(session),
            chosen("\"a\"", Some("allow")),
            chosen("7", None),
            cannot("null", -32601, "no"),
        ] {
            assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
            let value: Value = serde_json::from_slice(&line).unwrap();
            assert_eq!(value["jsonrpc"], "2.0");
        }
    }
}
