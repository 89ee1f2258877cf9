//! No bytes make a parser panic, grow, or say other things when they come in other pieces.

use dacapo_core::agent::{self, ParserSetting};
use dacapo_core::event::AgentEvent;
use dacapo_core::spec::OutputFormat;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use crate::replay::{all_output, events, events_with, used};

/// The agents, and how they write.
fn agents() -> impl Iterator<Item = (&'static str, OutputFormat)> {
    agent::BUILT_IN.iter().map(|adapter| (adapter.name(), adapter.format()))
}

/// No event is larger than this, but for what the agent itself says.
const LARGEST: usize = 10_000;

fn any_output() -> impl Strategy<Value = (OutputFormat, Vec<u8>)> {
    let fixtures = |(name, format)| all_output(name).into_iter().map(move |output| (format, output));
    proptest::sample::select(agents().flat_map(fixtures).collect::<Vec<_>>())
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
            "a|1794787690",
            "[API Error: {\"error\":{\"code\":429}}] retry in 5s",
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

proptest! {
    #[test]
    fn r3_any_bytes_are_survived_in_any_pieces(
        bytes in prop::collection::vec(
            prop_oneof![any::<u8>(), proptest::sample::select(b"{}[]\",:\\\nunt0".to_vec())], 0..600),
        piece in 1_usize..64,
    ) {
        for (_, format) in agents() {
            prop_assert_eq!(events(format, &bytes, piece), events(format, &bytes, usize::MAX));
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
        prop_assert_eq!(events(format, output, piece), events(format, output, usize::MAX));
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
        let whole = events_with(setting.clone(), format, output.as_bytes(), usize::MAX);
        prop_assert!(whole.iter().all(|event| size(event) <= LARGEST));
        prop_assert_eq!(events_with(setting, format, output.as_bytes(), piece), whole);
    }
}

#[test]
fn r3_a_line_of_many_megabytes_is_passed_over_and_the_next_one_read() {
    for (name, format) in agents() {
        let mut seen = Vec::new();
        let mut parser = agent::parser(format, ParserSetting::default());
        let chunk = vec![b'x'; 1 << 20];
        parser.feed(br#"{"type":"message","role":"assistant","delta":true,"part":{"text":""#, &mut |event| {
            seen.push(event);
        });
        for _ in 0..64 {
            parser.feed(&chunk, &mut |event| seen.push(event));
        }
        parser.feed(b"\"}}\n", &mut |event| seen.push(event));
        assert_eq!(seen, [], "{name}");
        let kind = match format {
            OutputFormat::Codex => "thread.started",
            OutputFormat::Copilot => "result",
            OutputFormat::Claude | OutputFormat::Qwen => "system",
            _ => "init",
        };
        let session = format!(
            r#"{{"type":"{kind}","subtype":"init","sessionID":"s","session_id":"s","thread_id":"s","sessionId":"s"}}"#
        );
        parser.feed(session.as_bytes(), &mut |event| seen.push(event));
        parser.finish(&mut |event| seen.push(event));
        assert_eq!(seen.first(), Some(&AgentEvent::Session { id: "s".into() }), "{name}");
    }
}

#[test]
fn r3_what_a_tool_returned_is_cut_between_characters() {
    let output = "繼".repeat(1 << 19);
    let gemini = format!(r#"{{"output":"{output}","type":"tool_result","tool_id":"1","status":"success"}}"#);
    let opencode = format!(
        r#"{{"part":{{"tool":"bash","state":{{"output":"{output}","input":{{"command":"{output}"}}}}}},"type":"tool_use"}}"#
    );
    let codex = format!(
        r#"{{"item":{{"type":"command_execution","command":"{output}","aggregated_output":"{output}"}},"type":"item.completed"}}"#
    );
    let copilot =
        format!(r#"{{"data":{{"result":{{"content":"{output}"}}}},"type":"tool.execution_complete"}}"#);
    let claude = format!(
        "{{\"message\":{{\"content\":[{{\"type\":\"tool_use\",\"name\":\"{output}\",\"input\":{{\"command\":\"{output}\"}}}},\
         {{\"type\":\"thinking\",\"thinking\":\"{output}\"}}]}},\"type\":\"assistant\"}}\n\
         {{\"message\":{{\"content\":[{{\"type\":\"tool_result\",\"content\":\"{output}\"}}]}},\"type\":\"user\"}}\n"
    );
    for (line, format) in [
        (claude.clone(), OutputFormat::Claude),
        (claude, OutputFormat::Qwen),
        (codex, OutputFormat::Codex),
        (copilot, OutputFormat::Copilot),
        (gemini, OutputFormat::Gemini),
        (opencode, OutputFormat::Opencode),
    ] {
        let seen = events(format, line.as_bytes(), 1 << 16);
        assert!(!seen.is_empty() && seen.iter().all(|event| size(event) <= LARGEST), "{format:?}");
    }
}
