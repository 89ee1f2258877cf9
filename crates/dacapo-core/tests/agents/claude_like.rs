//! What the tests of claude and its relatives share: how a turn's output is read, and what no output may do to a parser.

use std::fs;
use std::path::PathBuf;

use dacapo_core::agent::{self, Ending, Observed, Observer, ParserSetting};
use dacapo_core::event::{AgentEvent, FailureKind, TurnEnd, Usage};
use dacapo_core::spec::OutputFormat;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

/// A turn that was printed.
pub(crate) struct Turn {
    pub(crate) events: Vec<AgentEvent>,
    format: OutputFormat,
}

impl Turn {
    pub(crate) fn of(format: OutputFormat, output: &[u8], earlier: Usage) -> Self {
        Self::with(format, output, ParserSetting { earlier, ..ParserSetting::default() })
    }

    pub(crate) fn with(format: OutputFormat, output: &[u8], setting: ParserSetting) -> Self {
        Self { events: read(format, output, usize::MAX, setting), format }
    }

    pub(crate) fn seen(&self) -> Observed {
        let mut observer = Observer::new(Some("DONE"));
        self.events.iter().for_each(|event| observer.see(event));
        observer.finish()
    }

    /// What it comes to.
    pub(crate) fn end(&self, ending: &Ending) -> TurnEnd {
        agent::weigh(ending, &self.seen(), agent::adapter(self.format).unwrap().has_final_event())
    }

    pub(crate) fn exit(&self, code: i32) -> TurnEnd {
        self.end(&Ending::Exited(code))
    }
}

fn read(format: OutputFormat, output: &[u8], piece: usize, setting: ParserSetting) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    let mut parser = agent::parser(format, setting);
    for bytes in output.chunks(piece.max(1)) {
        parser.feed(bytes, &mut |event| events.push(event));
    }
    parser.finish(&mut |event| events.push(event));
    events
}

fn folder(agent: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/fixtures/agents", agent].iter().collect()
}

/// What an agent printed.
pub(crate) fn output(agent: &str, name: &str) -> Vec<u8> {
    fs::read(folder(agent).join(format!("{name}.jsonl"))).unwrap()
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

pub(crate) fn answer(id: &str, output: &str) -> AgentEvent {
    AgentEvent::ToolResult { id: id.into(), failed: false, output: output.into() }
}

pub(crate) fn failure(id: &str, output: &str) -> AgentEvent {
    AgentEvent::ToolResult { id: id.into(), failed: true, output: output.into() }
}

pub(crate) fn refused(what: &str) -> AgentEvent {
    AgentEvent::Refused { what: what.into() }
}

pub(crate) fn used(input: u64, output: u64, cached: u64) -> Usage {
    Usage { input, output, cached, cost_usd: None }
}

pub(crate) fn ended(reason: &str) -> AgentEvent {
    AgentEvent::End { reason: reason.into() }
}

pub(crate) fn permanent(message: &str) -> TurnEnd {
    TurnEnd::Failed { failure: FailureKind::Permanent, message: message.into() }
}

pub(crate) fn transient(message: &str) -> TurnEnd {
    TurnEnd::Failed { failure: FailureKind::Transient, message: message.into() }
}

const AGENTS: [(&str, OutputFormat); 2] = [("claude", OutputFormat::Claude), ("qwen", OutputFormat::Qwen)];

/// No event is larger than this, but for what the agent says to people.
const LARGEST: usize = 10_000;

fn all(agent: &str) -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder(agent)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|file| fs::read(file).unwrap()).collect()
}

fn any_output() -> impl Strategy<Value = (OutputFormat, Vec<u8>)> {
    let fixtures: Vec<_> = AGENTS
        .iter()
        .flat_map(|(name, format)| all(name).into_iter().map(|output| (*format, output)))
        .collect();
    proptest::sample::select(fixtures)
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
        proptest::sample::select(vec![
            "error",
            "success",
            "429",
            "rejected",
            "x[API Error: 401 no]\n",
            "a|1794787690"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Puts another value where `at` leads to, or takes the one there away.
fn change(value: &mut Value, at: &[Index], new: Option<Value>) {
    match (value, at.split_first()) {
        (Value::Object(map), Some((first, rest))) if !map.is_empty() => {
            let key = map.keys().nth(first.index(map.len())).cloned().unwrap();
            match (rest, new) {
                ([], None) => drop(map.remove(&key)),
                (rest, new) => change(&mut map[&key], rest, new),
            }
        }
        (Value::Array(list), Some((first, rest))) if !list.is_empty() => {
            let at = first.index(list.len());
            change(&mut list[at], rest, new);
        }
        (value, _) => *value = new.unwrap_or(Value::Null),
    }
}

fn size(event: &AgentEvent) -> usize {
    match event {
        AgentEvent::Text { .. } => 0,
        other => serde_json::to_string(other).unwrap().len(),
    }
}

fn default(format: OutputFormat, output: &[u8], piece: usize) -> Vec<AgentEvent> {
    read(format, output, piece, ParserSetting::default())
}

proptest! {
    #[test]
    fn r3_any_bytes_are_survived_in_any_pieces(
        bytes in prop::collection::vec(
            prop_oneof![any::<u8>(), proptest::sample::select(b"{}[]\",:\\\nunt0".to_vec())], 0..600),
        piece in 1_usize..64,
    ) {
        for (_, format) in AGENTS {
            prop_assert_eq!(default(format, &bytes, piece), default(format, &bytes, usize::MAX));
        }
    }

    #[test]
    fn r3_output_that_is_cut_or_damaged_comes_to_the_same_in_any_pieces(
        (format, mut output) in any_output(),
        damage in prop::collection::vec((any::<Index>(), any::<u8>()), 0..4),
        cut in any::<Index>(),
        piece in 1_usize..200,
    ) {
        for (at, byte) in damage {
            let at = at.index(output.len());
            output[at] = byte;
        }
        let output = &output[..cut.index(output.len() + 1)];
        prop_assert_eq!(default(format, output, piece), default(format, output, usize::MAX));
    }

    #[test]
    fn r3_lines_with_other_fields_and_values_are_survived(
        (format, output) in any_output(),
        changes in prop::collection::vec(
            (any::<Index>(), prop::collection::vec(any::<Index>(), 1..6), prop::option::of(any_value())), 1..6),
        earlier in (0_u64..10_000, 0_u64..1000),
        piece in 1_usize..500,
    ) {
        let lines = output.split(|byte| *byte == b'\n');
        let mut lines: Vec<Value> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        for (line, at, new) in changes {
            let line = line.index(lines.len());
            change(&mut lines[line], &at, new);
        }
        let output: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let setting = ParserSetting { earlier: used(earlier.0, earlier.1, 0), ..ParserSetting::default() };
        let whole = read(format, output.as_bytes(), usize::MAX, setting.clone());
        prop_assert!(whole.iter().all(|event| size(event) <= LARGEST));
        prop_assert_eq!(read(format, output.as_bytes(), piece, setting), whole);
    }
}

#[test]
fn r3_a_line_of_many_megabytes_is_passed_over_and_the_next_one_read() {
    for (name, format) in AGENTS {
        let mut seen = Vec::new();
        let mut parser = agent::parser(format, ParserSetting::default());
        let mut see = |event| seen.push(event);
        parser.feed(br#"{"type":"assistant","message":{"content":[{"type":"text","text":""#, &mut see);
        let chunk = vec![b'x'; 1 << 20];
        (0..64).for_each(|_| parser.feed(&chunk, &mut see));
        parser.feed(b"\"}]}}\n{\"type\":\"system\",\"session_id\":\"s\",\"subtype\":\"init\"}", &mut see);
        parser.finish(&mut see);
        assert_eq!(seen, [session("s")], "{name}");
    }
}

#[test]
fn r3_what_a_tool_was_given_and_returned_is_cut() {
    let long = "繼".repeat(1 << 19);
    let lines = format!(
        "{{\"message\":{{\"content\":[{{\"type\":\"tool_use\",\"name\":\"{long}\",\"input\":{{\"command\":\"{long}\"}}}},\
         {{\"type\":\"thinking\",\"thinking\":\"{long}\"}}]}},\"type\":\"assistant\"}}\n\
         {{\"message\":{{\"content\":[{{\"type\":\"tool_result\",\"content\":\"{long}\"}}]}},\"type\":\"user\"}}\n"
    );
    for (name, format) in AGENTS {
        let seen = default(format, lines.as_bytes(), 1 << 16);
        assert_eq!(seen.len(), 3, "{name}");
        assert!(seen.iter().all(|event| size(event) <= LARGEST), "{name}");
    }
}
