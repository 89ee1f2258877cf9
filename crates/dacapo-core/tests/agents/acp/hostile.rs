//! Any bytes, cut anyhow: no panic, the same events, bounded memory.

use proptest::prelude::*;

use super::*;

fn heard(bytes: &[u8], size: usize) -> Vec<AcpItem> {
    let mut parser = parser(OutputFormat::Acp, ParserSetting::default());
    let mut heard = Vec::new();
    for chunk in bytes.chunks(size.max(1)) {
        parser.hear(chunk, &mut |one| heard.push(one));
    }
    heard
}

/// What the agent said in a recording.
fn agents_side(name: &str) -> Vec<u8> {
    let lines = recording(name).into_iter().filter(|(agents, _)| *agents);
    lines.flat_map(|(_, line)| format!("{line}\n").into_bytes()).collect()
}

const RECORDINGS: [&str; 6] = [
    "claude-session",
    "codex-err-e429",
    "copilot-session",
    "copilot-session-load",
    "gemini-session",
    "opencode-session",
];

/// Takes everything that is heard to a client, as the engine would.
fn answer_all(heard: &[AcpItem]) {
    let mut client = Client::new(assignment(0, "go", None, Approval::Ask));
    let mut moves = client.begin(Process::New);
    for one in heard {
        if let AcpItem::Message(talk) = one {
            moves.extend(client.hear(talk.clone()));
        }
        for one in std::mem::take(&mut moves) {
            match one {
                Move::Say(line) => assert!(serde_json::from_slice::<Value>(&line).is_ok()),
                Move::Ask(question) => moves.extend(client.answered(question.number, Some(0)).0),
                Move::AwaitSilence => moves.extend(client.goes_on()),
                _ => {}
            }
        }
    }
    let _ = client.cancel();
}

/// Replaces a value somewhere in a message, or takes it out.
fn damage(value: &mut Value, place: usize, by: Option<&Value>) -> usize {
    let mut left = place;
    match value {
        Value::Object(map) => {
            let keys: Vec<String> = map.keys().cloned().collect();
            for key in keys {
                if left == 0 {
                    match by {
                        Some(by) => map[&key] = by.clone(),
                        None => drop(map.shift_remove(&key)),
                    }
                    return 0;
                }
                left = damage(&mut map[&key], left - 1, by);
            }
        }
        Value::Array(list) => {
            for item in list {
                left = damage(item, left, by);
            }
        }
        _ => {}
    }
    left
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn r3_any_bytes_are_borne(bytes in prop::collection::vec(any::<u8>(), 0..2000), size in 1_usize..100) {
        let all = heard(&bytes, size);
        answer_all(&all);
    }

    #[test]
    fn r3_pieces_of_the_protocol_in_any_order_are_borne(
        pieces in prop::collection::vec(prop_oneof![
            Just("{"), Just("}"), Just("["), Just("]"), Just(":"), Just(","), Just("\n"), Just("null"), Just("6"),
            Just("\"id\""), Just("\"method\""), Just("\"params\""), Just("\"result\""), Just("\"error\""),
            Just("\"session/update\""), Just("\"session/request_permission\""), Just("\"update\""),
            Just("\"sessionUpdate\""), Just("\"tool_call\""), Just("\"toolCallId\""), Just("\"content\""),
            Just("\"\\ud800\""), Just("1e999"), Just("\u{0}"),
        ], 0..200),
    ) {
        answer_all(&heard(pieces.concat().as_bytes(), 7));
    }

    #[test]
    fn a3_a_recording_is_the_same_however_it_is_cut(which in 0..RECORDINGS.len(), size in 1_usize..3000) {
        let bytes = agents_side(RECORDINGS[which]);
        prop_assert_eq!(heard(&bytes, size), heard(&bytes, bytes.len()));
    }

    #[test]
    fn r3_a_recording_that_ends_anywhere_gives_the_beginning_of_its_events(
        which in 0..RECORDINGS.len(), part in 0.0_f64..1.0,
    ) {
        let bytes = agents_side(RECORDINGS[which]);
        let cut = &bytes[..(bytes.len() as f64 * part) as usize];
        let (all, some) = (heard(&bytes, 4096), heard(cut, 4096));
        prop_assert_eq!(&all[..some.len()], &some[..]);
    }

    #[test]
    fn r3_damaged_messages_are_borne(
        which in 0..RECORDINGS.len(),
        places in prop::collection::vec((0_usize..60, 0_usize..8), 1..20),
    ) {
        let by = [None, Some(Value::Null), Some(json!(-1)), Some(json!("x")), Some(json!([])), Some(json!({})), Some(json!(true)), Some(json!(1e300))];
        let mut bytes = Vec::new();
        let lines = recording(RECORDINGS[which]).into_iter().filter(|(agents, _)| *agents);
        for ((_, line), (place, with)) in lines.zip(places.iter().cycle()) {
            let mut message: Value = serde_json::from_str(&line).unwrap();
            damage(&mut message, *place, by[*with].as_ref());
            bytes.extend(format!("{message}\n").into_bytes());
        }
        answer_all(&heard(&bytes, 1000));
    }
}

#[test]
fn r3_a_line_without_end_and_a_deep_one_take_bounded_memory() {
    let mut parser = parser(OutputFormat::Acp, ParserSetting::default());
    let mut heard = Vec::new();
    parser.hear(
        b"{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"session/request_permission\",\"params\":{\"a\":\"",
        &mut |one| heard.push(one),
    );
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..100 {
        parser.hear(&chunk, &mut |one| heard.push(one));
    }
    assert_eq!(heard, [], "100 MB, and nothing has been said yet");
    parser.hear(b"\"}}\n", &mut |one| heard.push(one));
    assert!(
        matches!(&heard[..], [AcpItem::Message(AcpMessage::Unserved { id, .. })] if id == "\"q\""),
        "{heard:?}"
    );
    let deep = [b"{\"method\":\"session/update\",\"params\":".to_vec(), vec![b'['; 1 << 20], b"\n".to_vec()]
        .concat();
    parser.hear(&deep, &mut |_| {});
    parser.hear(b"{\"method\":\"session/update\",\"params\":{\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"text\":\"there\"}}}}\n", &mut |one| heard.push(one));
    assert_eq!(heard.last(), Some(&AcpItem::Event(AgentEvent::Text { text: "there".into() })));
}
