//! Reads fixtures as a turn would, and breaks them in every way that a parser must survive.

use std::path::PathBuf;

use dacapo_core::agent::{self, Ending, Observer, ParserSetting, adapter, weigh};
use dacapo_core::event::{AgentEvent, FailureKind, TurnEnd, Usage};
use dacapo_core::spec::OutputFormat;
use proptest::prelude::*;

/// The file of a fixture: `codex/multi.jsonl`.
pub(crate) fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/fixtures/agents", name].iter().collect()
}

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All fixtures of an agent.
pub(crate) fn fixtures(agent: &str) -> Vec<Vec<u8>> {
    let entries = path(agent).read_dir().expect("fixtures");
    let names = entries.flatten().map(|entry| entry.path());
    let mut names: Vec<PathBuf> =
        names.filter(|name| name.extension().is_some_and(|extension| extension == "jsonl")).collect();
    names.sort();
    assert!(!names.is_empty());
    names.into_iter().map(|name| std::fs::read(name).expect("a fixture")).collect()
}

/// What a parser makes of bytes that come in pieces of these sizes, over and over.
pub(crate) fn events_in_pieces(
    format: OutputFormat,
    setting: &ParserSetting,
    mut bytes: &[u8],
    sizes: &[usize],
) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    let mut parser = agent::parser(format, setting.clone());
    for size in sizes.iter().cycle() {
        if bytes.is_empty() {
            break;
        }
        let (piece, rest) = bytes.split_at((*size).clamp(1, bytes.len()));
        parser.feed(piece, &mut |event| events.push(event));
        bytes = rest;
    }
    parser.finish(&mut |event| events.push(event));
    events
}

pub(crate) fn events(format: OutputFormat, bytes: &[u8]) -> Vec<AgentEvent> {
    events_in_pieces(format, &ParserSetting::default(), bytes, &[usize::MAX])
}

/// How a turn that said this ended.
pub(crate) fn ended(format: OutputFormat, events: &[AgentEvent], ending: &Ending) -> TurnEnd {
    let mut observer = Observer::new(None);
    events.iter().for_each(|event| observer.see(event));
    let final_event = adapter(format).expect("an agent").has_final_event();
    weigh(ending, &observer.finish(), final_event)
}

pub(crate) fn session(id: &str) -> AgentEvent {
    AgentEvent::Session { id: id.into() }
}

pub(crate) fn text(text: &str) -> AgentEvent {
    AgentEvent::Text { text: text.into() }
}

pub(crate) fn call(id: &str, name: &str, summary: &str) -> AgentEvent {
    AgentEvent::ToolCall { id: id.into(), name: name.into(), summary: summary.into() }
}

pub(crate) fn result(id: &str, output: &str) -> AgentEvent {
    AgentEvent::ToolResult { id: id.into(), failed: false, output: output.into() }
}

pub(crate) fn failed(id: &str, output: &str) -> AgentEvent {
    AgentEvent::ToolResult { id: id.into(), failed: true, output: output.into() }
}

pub(crate) fn retry(status: Option<u16>, message: &str) -> AgentEvent {
    AgentEvent::Retry { message: message.into(), status }
}

pub(crate) fn usage(input: u64, cached: u64, output: u64) -> AgentEvent {
    AgentEvent::Usage(Usage { input, output, cached, cost_usd: None })
}

pub(crate) fn end() -> AgentEvent {
    AgentEvent::End { reason: "completed".into() }
}

pub(crate) fn error(failure: FailureKind, message: &str) -> AgentEvent {
    AgentEvent::Error { failure, message: message.into() }
}

pub(crate) fn transient(message: &str) -> TurnEnd {
    TurnEnd::Failed { failure: FailureKind::Transient, message: message.into() }
}

pub(crate) fn permanent(message: &str) -> TurnEnd {
    TurnEnd::Failed { failure: FailureKind::Permanent, message: message.into() }
}

/// Some JSON that stands where another value was expected.
fn any_value() -> impl Strategy<Value = serde_json::Value> {
    prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        "\\PC{0,20}".prop_map(Into::into),
        Just(serde_json::json!([[{"a": [1, "x"]}], null])),
        Just(serde_json::json!({"type": {"type": "error"}, "data": []})),
    ]
}

/// What happens to the member that is reached when `steps` are counted off over a whole document.
fn change(value: &mut serde_json::Value, steps: &mut usize, new: Option<&serde_json::Value>) {
    match value {
        serde_json::Value::Object(members) => {
            let names: Vec<String> = members.keys().cloned().collect();
            for name in names {
                if *steps == 0 {
                    *steps = usize::MAX;
                    match new {
                        Some(new) => drop(members.insert(name, new.clone())),
                        None => drop(members.shift_remove(&name)),
                    }
                    return;
                }
                *steps -= 1;
                if let Some(member) = members.get_mut(&name) {
                    change(member, steps, new);
                }
                if *steps == usize::MAX {
                    return;
                }
            }
        }
        serde_json::Value::Array(elements) => {
            for element in elements {
                change(element, steps, new);
                if *steps == usize::MAX {
                    return;
                }
            }
        }
        _ => {}
    }
}

/// A fixture that is whole, or broken in one of many ways.
pub(crate) fn broken(agent: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let fixture = prop::sample::select(fixtures(agent));
    let of_bytes = (fixture.clone(), any::<prop::sample::Index>(), any::<u8>(), any::<bool>()).prop_map(
        |(mut bytes, at, new, cut)| {
            let at = at.index(bytes.len());
            if cut {
                bytes.truncate(at);
            } else {
                bytes[at] = new;
            }
            bytes
        },
    );
    let of_members = (fixture, any::<prop::sample::Index>(), 0_usize..30, prop::option::of(any_value()))
        .prop_map(|(bytes, at, mut steps, new)| {
            let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            let at = at.index(lines.len());
            if let Ok(mut line) = serde_json::from_slice(&lines[at]) {
                change(&mut line, &mut steps, new.as_ref());
                lines[at] = line.to_string().into_bytes();
            }
            lines.join(&b'\n')
        });
    prop_oneof![of_bytes, of_members]
}

/// Any bytes at all, with a bias towards those that make lines and JSON.
pub(crate) fn noise() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![any::<u8>(), prop::sample::select(b"{}[]\",:\\\nunt0".to_vec())];
    prop::collection::vec(byte, 0..400)
}

/// The same events, however the bytes are cut into pieces.
pub(crate) fn same_in_pieces(
    format: OutputFormat,
    bytes: &[u8],
    sizes: &[usize],
) -> Result<(), TestCaseError> {
    let setting = ParserSetting::default();
    let whole = events_in_pieces(format, &setting, bytes, &[usize::MAX]);
    prop_assert_eq!(events_in_pieces(format, &setting, bytes, sizes), whole);
    Ok(())
}

/// A line of tens of megabytes between two of `line`: passed over, and what follows is read.
pub(crate) fn passes_over_a_huge_line(format: OutputFormat, line: &[u8], head: &str) {
    let mut events = Vec::new();
    let mut parser = agent::parser(format, ParserSetting::default());
    let mut sink = |event| events.push(event);
    parser.feed(line, &mut sink);
    parser.feed(b"\n", &mut sink);
    parser.feed(head.as_bytes(), &mut sink);
    let piece = vec![b'x'; 1 << 20];
    (0..40).for_each(|_| parser.feed(&piece, &mut sink));
    parser.feed(b"\"}}\n", &mut sink);
    parser.feed(line, &mut sink);
    parser.finish(&mut sink);
    let alone = self::events(format, line);
    assert_eq!(events, [alone.clone(), alone].concat());
}
