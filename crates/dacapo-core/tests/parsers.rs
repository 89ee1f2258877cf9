//! Parsers of agents on bytes that no agent should print (R3): fixtures of real ones, and what they become when bytes,
//! lines and fields are changed at random.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::Path;

use dacapo_core::spec::OutputFormat;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

#[path = "parsers/check.rs"]
mod check;

use check::{FORMATS, events, parser_holds, sizes_of};

/// What agents printed, by format.
fn fixtures(name: &str) -> Vec<Vec<u8>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agents").join(name);
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Every line of every fixture, whoever printed it: what is no line of its own must do no harm to any parser.
fn all_lines() -> Vec<Vec<u8>> {
    let files = FORMATS.iter().flat_map(|(name, _)| fixtures(name));
    files.flat_map(|bytes| bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>()).collect()
}

#[test]
fn r3_fixtures_are_read_the_same_however_they_are_cut() {
    let mut read = 0;
    for (name, format) in FORMATS {
        for bytes in fixtures(name) {
            for sizes in [&[1][..], &[2], &[7, 1, 64], &[4096], &sizes_of(&bytes)] {
                parser_holds(format, &bytes, sizes);
            }
            read += 1;
        }
    }
    assert!(read > 0, "there are fixtures");
}

#[test]
fn r3_what_is_nested_without_end_is_no_event_and_no_crash() {
    for (_, format) in FORMATS {
        for text in ["[".repeat(200_000), "{\"type\":".repeat(100_000), "{\"kind\":[".repeat(100_000)] {
            parser_holds(format, text.as_bytes(), &[65_536]);
        }
    }
}

#[test]
fn r3_after_a_line_of_megabytes_the_next_one_is_read() {
    for (name, format) in FORMATS {
        let Some(fixture) = fixtures(name).into_iter().next() else { continue };
        let mut bytes = b"{\"type\":\"unheard-of\",\"kind\":\"unheard-of\",\"text\":\"".to_vec();
        bytes.resize(bytes.len() + (20 << 20), b'x');
        bytes.extend_from_slice(b"\"}\n");
        bytes.extend_from_slice(&fixture);
        assert_eq!(events(format, &bytes, &[65_536]), events(format, &fixture, &[]), "{name}");
    }
}

/// What a value may become: another type, a number past all bounds, a text of any length, nothing.
fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(json!(u64::MAX)),
        Just(json!(1e308)),
        Just(json!(-1.5)),
        "\\PC{0,40}".prop_map(Value::from),
        (1_usize..5000).prop_map(|n| Value::from("繼x".repeat(n))),
        Just(json!([])),
        Just(json!({})),
        Just(json!([{"type": "text", "text": ["x"]}, null, 7])),
    ]
}

/// Puts `value` in the place of one node, by its number in a walk from the top; gives back what is left of the number.
fn replace(node: &mut Value, number: &mut usize, value: &Value) -> bool {
    if *number == 0 {
        *node = value.clone();
        return true;
    }
    *number -= 1;
    match node {
        Value::Array(items) => items.iter_mut().any(|item| replace(item, number, value)),
        Value::Object(fields) => fields.iter_mut().any(|(_, field)| replace(field, number, value)),
        _ => false,
    }
}

fn nodes(node: &Value) -> usize {
    1 + match node {
        Value::Array(items) => items.iter().map(nodes).sum(),
        Value::Object(fields) => fields.values().map(nodes).sum(),
        _ => 0,
    }
}

/// One change of a text of lines.
#[derive(Debug, Clone)]
enum Change {
    /// Another value in the place of a field or element of a line.
    Field(Index, Index, Value),
    /// The fields of a line the other way round.
    Reversed(Index),
    /// A line once more, somewhere else.
    Again(Index, Index),
    /// A line is missing.
    Without(Index),
    /// A line of whichever agent.
    Foreign(Index, Index),
    /// Another byte.
    Byte(Index, u8),
    /// Bytes that were not there.
    Noise(Index, Vec<u8>),
    /// The rest is missing.
    Cut(Index),
}

fn any_change() -> impl Strategy<Value = Change> {
    let at = any::<Index>;
    prop_oneof![
        6 => (at(), at(), any_value()).prop_map(|(line, node, value)| Change::Field(line, node, value)),
        1 => at().prop_map(Change::Reversed),
        1 => (at(), at()).prop_map(|(line, to)| Change::Again(line, to)),
        1 => at().prop_map(Change::Without),
        1 => (at(), at()).prop_map(|(line, to)| Change::Foreign(line, to)),
        1 => (at(), any::<u8>()).prop_map(|(byte, new)| Change::Byte(byte, new)),
        1 => (at(), prop::collection::vec(any::<u8>(), 0..20)).prop_map(|(to, noise)| Change::Noise(to, noise)),
        1 => at().prop_map(Change::Cut),
    ]
}

fn changed(bytes: &[u8], change: &Change, foreign: &[Vec<u8>]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    let mut on_json = |line: &Index, edit: &dyn Fn(&mut Value)| {
        let at = line.index(lines.len());
        if let Ok(mut value) = serde_json::from_slice::<Value>(&lines[at]) {
            edit(&mut value);
            lines[at] = value.to_string().into_bytes();
        }
    };
    match change {
        Change::Field(line, node, value) => on_json(line, &|root| {
            let mut number = node.index(nodes(root));
            replace(root, &mut number, value);
        }),
        Change::Reversed(line) => on_json(line, &|root| {
            if let Value::Object(fields) = root {
                *fields = std::mem::take(fields).into_iter().rev().collect();
            }
        }),
        Change::Again(line, to) => {
            let again = lines[line.index(lines.len())].clone();
            lines.insert(to.index(lines.len()), again);
        }
        Change::Without(line) => {
            lines.remove(line.index(lines.len()));
        }
        Change::Foreign(line, to) => {
            lines.insert(to.index(lines.len()), foreign[line.index(foreign.len())].clone());
        }
        Change::Byte(at, new) => return with_bytes(bytes, |all, at| all[at] = *new, at),
        Change::Noise(at, noise) => {
            return with_bytes(bytes, |all, at| drop(all.splice(at..at, noise.iter().copied())), at);
        }
        Change::Cut(at) => return with_bytes(bytes, Vec::truncate, at),
    }
    lines.join(&b'\n')
}

fn with_bytes(bytes: &[u8], edit: impl FnOnce(&mut Vec<u8>, usize), at: &Index) -> Vec<u8> {
    let mut all = bytes.to_vec();
    if !all.is_empty() {
        let at = at.index(all.len());
        edit(&mut all, at);
    }
    all
}

fn any_sizes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(1_usize..200, 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r3_any_bytes_are_read_by_any_parser(
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
        sizes in any_sizes(),
    ) {
        for (_, format) in FORMATS {
            parser_holds(format, &bytes, &sizes);
        }
    }

    #[test]
    fn r3_fixtures_with_random_changes_are_read(
        which in any::<Index>(),
        changes in prop::collection::vec(any_change(), 1..12),
        sizes in any_sizes(),
    ) {
        let foreign = all_lines();
        for (name, format) in FORMATS {
            let files = fixtures(name);
            if files.is_empty() {
                continue;
            }
            let mut bytes = files[which.index(files.len())].clone();
            for change in &changes {
                bytes = changed(&bytes, change, &foreign);
            }
            parser_holds(format, &bytes, &sizes);
        }
    }
}

#[test]
fn the_fixture_of_our_own_vocabulary_has_every_event() {
    let bytes = fixtures("rehearsal").concat();
    let seen = events(OutputFormat::Rehearsal, &bytes, &[]);
    let kinds: Vec<String> = seen
        .iter()
        .map(|event| serde_json::to_value(event).unwrap()["kind"].as_str().unwrap().to_owned())
        .collect();
    let wanted = [
        "session",
        "text",
        "thinking",
        "tool_call",
        "tool_result",
        "plan",
        "usage",
        "retry",
        "refused",
        "limit",
        "error",
        "end",
    ];
    for kind in wanted {
        assert!(kinds.iter().any(|seen| seen == kind), "{kind}");
    }
}
