//! No bytes make a parser panic, grow, or say other things when they come in other pieces.

use dacapo_core::agent::{self, ParserSetting};
use dacapo_core::event::AgentEvent;
use dacapo_core::spec::OutputFormat;
use proptest::prelude::*;
use serde_json::Value;

use crate::replay::{all_output, events};

const AGENTS: [(&str, OutputFormat); 4] = [
    ("codex", OutputFormat::Codex),
    ("copilot", OutputFormat::Copilot),
    ("gemini", OutputFormat::Gemini),
    ("opencode", OutputFormat::Opencode),
];

/// No event is larger than this, but for what the agent itself says.
const LARGEST: usize = 10_000;

fn agent() -> impl Strategy<Value = (&'static str, OutputFormat)> {
    proptest::sample::select(AGENTS.as_slice())
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
        Just(Value::from("error")),
        Just(Value::from("[API Error: {\"error\":{\"code\":429}}] retry in 5s")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Replaces or removes the value that `at` leads to.
fn mutate(value: &mut Value, at: &[prop::sample::Index], new: Option<Value>) {
    let Some((first, rest)) = at.split_first() else {
        *value = new.unwrap_or(Value::Null);
        return;
    };
    match value {
        Value::Object(map) if !map.is_empty() => {
            let key = map.keys().nth(first.index(map.len())).cloned().unwrap();
            match (rest, new) {
                ([], None) => {
                    map.remove(&key);
                }
                (rest, new) => mutate(&mut map[&key], rest, new),
            }
        }
        Value::Array(list) if !list.is_empty() => {
            let at = first.index(list.len());
            mutate(&mut list[at], rest, new);
        }
        other => *other = new.unwrap_or(Value::Null),
    }
}

fn size(event: &AgentEvent) -> usize {
    match event {
        AgentEvent::Text { .. } | AgentEvent::Thinking { .. } => 0,
        other => serde_json::to_string(other).unwrap().len(),
    }
}

proptest! {
    #[test]
    fn r3_any_bytes_are_survived(
        (_, format) in agent(),
        bytes in prop::collection::vec(prop_oneof![4 => any::<u8>(), 1 => Just(b'\n'), 1 => Just(b'{'), 1 => Just(b'"')], 0..600),
        piece in 1_usize..64,
    ) {
        prop_assert_eq!(events(format, &bytes, piece), events(format, &bytes, usize::MAX));
    }

    #[test]
    fn r3_output_that_is_cut_anywhere_comes_to_the_same_in_any_pieces(
        (name, format) in agent(),
        which in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        piece in 1_usize..200,
    ) {
        let all = all_output(name);
        let output = &all[which.index(all.len())];
        let output = &output[..cut.index(output.len() + 1)];
        prop_assert_eq!(events(format, output, piece), events(format, output, usize::MAX));
    }

    #[test]
    fn r3_lines_with_other_fields_and_values_are_survived(
        (name, format) in agent(),
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::collection::vec(any::<prop::sample::Index>(), 1..5), prop::option::of(anything())),
            1..6,
        ),
        piece in 1_usize..500,
    ) {
        let all = all_output(name);
        let mut lines: Vec<Value> = all[which.index(all.len())]
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect();
        for (line, at, new) in changes {
            let line = line.index(lines.len());
            mutate(&mut lines[line], &at, new);
        }
        let output: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let seen = events(format, output.as_bytes(), piece);
        prop_assert!(seen.iter().all(|event| size(event) <= LARGEST));
        prop_assert_eq!(seen, events(format, output.as_bytes(), usize::MAX));
    }
}

#[test]
fn r3_a_line_of_many_megabytes_is_passed_over_and_the_next_one_read() {
    for (name, format) in AGENTS {
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
            _ => "init",
        };
        let session = format!(
            r#"{{"type":"{kind}","sessionID":"s","session_id":"s","thread_id":"s","sessionId":"s"}}"#
        );
        parser.feed(session.as_bytes(), &mut |event| seen.push(event));
        parser.finish(&mut |event| seen.push(event));
        assert_eq!(seen.first(), Some(&AgentEvent::Session { id: "s".into() }), "{name}");
    }
}

#[test]
fn r3_what_a_tool_returned_is_cut_between_characters() {
    let output = "繼".repeat(1 << 20);
    let gemini = format!(r#"{{"output":"{output}","type":"tool_result","tool_id":"1","status":"success"}}"#);
    let opencode = format!(
        r#"{{"part":{{"tool":"bash","state":{{"output":"{output}","input":{{"command":"{output}"}}}}}},"type":"tool_use"}}"#
    );
    let codex = format!(
        r#"{{"item":{{"type":"command_execution","command":"{output}","aggregated_output":"{output}"}},"type":"item.completed"}}"#
    );
    let copilot =
        format!(r#"{{"data":{{"result":{{"content":"{output}"}}}},"type":"tool.execution_complete"}}"#);
    for (line, format) in [
        (codex, OutputFormat::Codex),
        (copilot, OutputFormat::Copilot),
        (gemini, OutputFormat::Gemini),
        (opencode, OutputFormat::Opencode),
    ] {
        let seen = events(format, line.as_bytes(), 1 << 16);
        assert!(!seen.is_empty() && seen.iter().all(|event| size(event) <= LARGEST), "{format:?}");
    }
}
