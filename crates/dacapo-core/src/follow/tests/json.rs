//! Items and positions on their way to a surface in another process.

use super::*;
use crate::follow::{Doing, Stream};

#[test]
fn items_are_flat_objects_that_say_what_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let task = new_task(&dir.path().join("t"), "text");
    let mut driven = Driven::new(&task);
    driven.note("hello");
    drop(driven);
    let hub = Hub::new().unwrap();
    let mut follow = hub.open(&task, kinds(), Opening::Start).unwrap();
    let event = serde_json::to_value(next(&mut follow)).unwrap();
    assert_eq!(
        (&event["item"], &event["seq"], &event["task"], &event["type"]),
        (&json!("event"), &json!(0), &json!("t"), &json!("notice"))
    );
    let text = AgentEvent::Text { text: "x".into() };
    let commit = Oid::parse(&"a".repeat(40)).unwrap();
    for (item, json) in [
        (
            Item::Agent { turn: 1, stream: Stream::Stderr, offset: 7, event: text.clone() },
            json!({"v": 3, "item": "agent", "turn": 1, "stream": "stderr", "offset": 7, "event": text}),
        ),
        (
            Item::Activity(Doing::Check { command: "make".into() }),
            json!({"v": 3, "item": "activity", "doing": "check", "command": "make"}),
        ),
        (
            Item::Activity(Doing::Proving { commit: commit.clone() }),
            json!({"v": 3, "item": "activity", "doing": "proving", "commit_id": commit}),
        ),
        (Item::Activity(Doing::Committing), json!({"v": 3, "item": "activity", "doing": "committing"})),
        (Item::CaughtUp, json!({"v": 3, "item": "caught_up"})),
        (Item::Over(Rest::Interrupted), json!({"v": 3, "item": "over", "rest": "interrupted"})),
    ] {
        assert_eq!(serde_json::to_value(&item).unwrap(), json, "{item:?}");
    }
}

#[test]
fn a_position_that_went_through_json_continues_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let task = new_task(&dir.path().join("t"), "text");
    let mut driven = Driven::new(&task);
    driven.begin_turn();
    driven.print(b"one\ntwo\n");
    driven.note("between");
    driven.print(b"three\n");
    driven.end_turn();
    drop(driven);
    let hub = Hub::new().unwrap();
    let whole = until_rest(&mut hub.open(&task, kinds(), Opening::Start).unwrap());
    for taken in 0..=whole.len() {
        let mut first = hub.open(&task, kinds(), Opening::Start).unwrap();
        let begin: Vec<Item> = (0..taken).map(|_| next(&mut first)).collect();
        let json = serde_json::to_string(&first.position()).unwrap();
        let position: Position = serde_json::from_str(&json).unwrap();
        // Another process has another hub.
        let other = Hub::new().unwrap();
        let rest = until_rest(&mut other.open(&task, kinds(), Opening::After(position)).unwrap());
        assert_eq!([begin, rest].concat(), whole, "after {taken}");
    }
}
