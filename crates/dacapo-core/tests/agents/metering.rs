//! A usage report with missing or damaged amounts never passes for a smaller one (L10).

use dacapo_core::agent::{self, ParserSetting};
use dacapo_core::event::{AgentEvent, Usage};
use dacapo_core::spec::OutputFormat;
use serde_json::{Value, json};

use crate::replay::{events_with, observed, output, path};

/// What the last report of a turn comes to.
fn used(format: OutputFormat, output: &[u8], setting: ParserSetting) -> Usage {
    observed(&events_with(setting, format, output, usize::MAX)).usage.believable()
}

/// The places of all numbers in a value.
fn numbers(value: &Value, at: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let mut descend = |key: String, value: &Value| {
        at.push(key);
        numbers(value, at, found);
        at.pop();
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| descend(key.clone(), value)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(index, value)| descend(index.to_string(), value));
        }
        Value::Number(_) => found.push(at.clone()),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Puts `raw` where the number at `place` is, or takes it away.
fn damaged(line: &Value, place: &[String], raw: Option<&str>) -> String {
    const MARK: &str = "<here>";
    let mut line = line.clone();
    let (last, parents) = place.split_last().unwrap();
    let parent = parents.iter().fold(&mut line, |value, key| match value {
        Value::Array(list) => &mut list[key.parse::<usize>().unwrap()],
        value => &mut value[key.as_str()],
    });
    match (parent, raw) {
        (Value::Object(map), None) => drop(map.remove(last)),
        (Value::Array(list), _) => list[last.parse::<usize>().unwrap()] = json!(MARK),
        (value, _) => value[last.as_str()] = json!(MARK),
    }
    line.to_string().replace(&format!("\"{MARK}\""), raw.unwrap_or("null"))
}

/// What stands where an amount should.
const DAMAGE: [Option<&str>; 9] = [
    None,
    Some("null"),
    Some("-1"),
    Some("\"12\""),
    Some("1e999"),
    Some("\"NaN\""),
    Some("[1]"),
    Some("{}"),
    Some("1e300"),
];

/// Counts that agents may leave out where they are zero.
fn may_be_missing(place: &[String]) -> bool {
    let name = place.last().unwrap().to_lowercase();
    ["cache", "reasoning", "thought", "total", "read", "write"].iter().any(|word| name.contains(word))
        && !place.iter().any(|part| part == "model_usage_since_last_result" || part == "modelUsage")
}

fn never_less(whole: Usage, damaged: Usage, what: &str) {
    if damaged.knows_tokens() {
        assert!(damaged.tokens() >= whole.tokens(), "{what}: {} of {}", damaged.tokens(), whole.tokens());
    }
    if let (true, Some(cost)) = (damaged.knows_cost(), whole.cost_usd) {
        assert!(damaged.cost_usd.unwrap() >= cost - 1e-9, "{what}: {damaged:?} of {whole:?}");
    }
}

#[test]
fn l10_a_damaged_amount_is_unknown_and_never_smaller() {
    let mut unknown = 0;
    for adapter in agent::BUILT_IN {
        let (name, format) = (adapter.name(), adapter.format());
        for fixture in ["multi", "resume"] {
            let printed = output(name, fixture);
            let whole = used(format, &printed, ParserSetting::default());
            let lines: Vec<Value> = printed
                .split(|byte| *byte == b'\n')
                .filter_map(|line| serde_json::from_slice(line).ok())
                .collect();
            for (index, line) in lines.iter().enumerate() {
                let mut places = Vec::new();
                numbers(line, &mut Vec::new(), &mut places);
                for (place, raw) in places.iter().flat_map(|place| DAMAGE.map(|raw| (place, raw))) {
                    if may_be_missing(place) && matches!(raw, None | Some("null")) {
                        continue;
                    }
                    let text: String = lines
                        .iter()
                        .enumerate()
                        .map(|(at, line)| match at == index {
                            true => damaged(line, place, raw) + "\n",
                            false => format!("{line}\n"),
                        })
                        .collect();
                    let seen = used(format, text.as_bytes(), ParserSetting::default());
                    let what = format!("{name}/{fixture} line {index} {} {raw:?}", place.join("."));
                    never_less(whole, seen, &what);
                    unknown += u32::from(!seen.knows_tokens() || !seen.knows_cost());
                }
            }
        }
    }
    assert!(unknown > 100, "the damage was seen: {unknown}");
}

#[test]
fn l10_a_damaged_usage_file_is_unknown_and_never_smaller() {
    let text = std::fs::read_to_string(path("copilot", "resume.usage.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("usage");
    let read = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let setting = ParserSetting { usage_file: Some(file.clone()), ..ParserSetting::default() };
        used(OutputFormat::Copilot, &output("copilot", "resume"), setting)
    };
    let whole = read(&text);
    assert!(whole.knows_tokens());
    let mut places = Vec::new();
    numbers(&report, &mut Vec::new(), &mut places);
    for (place, raw) in places.iter().flat_map(|place| DAMAGE.map(|raw| (place, raw))) {
        never_less(whole, read(&damaged(&report, place, raw)), &format!("{} {raw:?}", place.join(".")));
    }
}

#[test]
fn l10_what_can_be_read_of_a_damaged_report_of_our_own_counts() {
    let report = |line: &str| {
        let events = events_with(
            ParserSetting::default(),
            OutputFormat::Rehearsal,
            format!("{line}\n").as_bytes(),
            usize::MAX,
        );
        assert!(matches!(events[..], [AgentEvent::Usage(_)]), "{line}: {events:?}");
        observed(&events).usage.believable()
    };
    for (field, raw) in ["input", "output"]
        .into_iter()
        .flat_map(|field| ["null", "-1", "\"x\"", "1e999", "[]", "1e300"].map(|raw| (field, raw)))
    {
        let other = if field == "input" { "output" } else { "input" };
        let line = format!(r#"{{"kind":"usage","tokens":{{"{field}":{raw},"{other}":7}},"cost_usd":0.5}}"#);
        let seen = report(&line);
        assert!(seen.knows_cost(), "{line}");
        assert!(!seen.knows_tokens() || raw == "null", "{line}: {seen:?}");
    }
    for raw in ["-1", "\"x\"", "1e999", "[]", "1e300"] {
        let seen =
            report(&format!(r#"{{"kind":"usage","tokens":{{"input":3,"output":7}},"cost_usd":{raw}}}"#));
        assert!(seen.knows_tokens() && !seen.knows_cost(), "{raw}: {seen:?}");
    }
}
