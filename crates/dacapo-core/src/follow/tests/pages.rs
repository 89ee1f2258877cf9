//! A turn at any place says what it says from its start.

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};

use super::joining::outputs;
use super::*;

fn turn_of(scratch: &Path, format: &str, output: &[u8]) -> TaskDir {
    let dir = new_task(&scratch.join("t"), format);
    let mut driven = Driven::new(&dir);
    driven.begin_turn();
    driven.print(output);
    driven.end_turn();
    dir
}

fn pages(hub: &Hub, dir: &TaskDir, side: Side) -> Pages {
    hub.pages(dir, kinds(), 0, side).unwrap().unwrap()
}

/// Groups from a place on, and what the unfinished end of the file says.
fn rest(pages: &Pages, at: u64) -> (Vec<Arc<Group>>, Option<Group>) {
    let mut reader = pages.reader(at);
    let mut groups = Vec::new();
    loop {
        match reader.next().unwrap() {
            Read::Group(group) => groups.push(group),
            Read::More => {}
            Read::Nothing => return (groups, reader.last().unwrap()),
        }
    }
}

/// The moment that a limit ends is counted from the time of the file; else they are the same whenever they are read.
fn plain(groups: &[Arc<Group>]) -> Vec<(u64, u64, Vec<AgentEvent>)> {
    let events = |group: &Group| {
        let mut events = group.events.clone();
        for event in &mut events {
            if let AgentEvent::Limit { resets_at, .. } = event {
                *resets_at = None;
            }
        }
        events
    };
    groups.iter().map(|group| (group.start, group.end, events(group))).collect()
}

#[test]
fn every_place_is_reached_from_any_other() {
    let outputs = outputs();
    let config = Config { cases: 300, failure_persistence: None, ..Config::default() };
    let script = (any::<Index>(), prop::collection::vec(any::<(Index, Index)>(), 1..12));
    TestRunner::new(config)
        .run(&script, |(which, visits)| {
            let (format, output) = &outputs[which.index(outputs.len())];
            let scratch = tempfile::tempdir().unwrap();
            let dir = turn_of(scratch.path(), format, output);
            let (all, last) = rest(&pages(&Hub::new().unwrap(), &dir, Side::Told), 0);
            let hub = Hub::new().unwrap();
            let pages = pages(&hub, &dir, Side::Told);
            for (to, back) in visits {
                let nth = to.index(all.len() + 1);
                let end = all.last().map_or(0, |group| group.end);
                let at = all.get(nth).map_or(end, |group| group.start);
                let (groups, end) = rest(&pages, at);
                assert_eq!(plain(&groups), plain(&all[nth..]), "{format} from {at}");
                assert_eq!(end.is_some(), last.is_some());
                let bytes = back.index(output.len() + 1) as u64;
                let before = pages.place_before(at, bytes).unwrap();
                assert!(before <= at.saturating_sub(bytes), "{before} is not {bytes} before {at}");
                let (groups, _) = rest(&pages, before);
                assert_eq!(plain(&groups), plain(&all[all.len() - groups.len()..]));
                assert!(groups.len() >= all.len() - nth);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn checkpoints_come_however_lines_and_pieces_meet() {
    for (format, output) in outputs() {
        let lines = output.iter().filter(|byte| **byte == b'\n').count();
        if format == "text" || lines < 4 {
            continue;
        }
        let scratch = tempfile::tempdir().unwrap();
        let dir = turn_of(scratch.path(), format, &output);
        let hub = Hub::new().unwrap();
        let pages = pages(&hub, &dir, Side::Told);
        assert_eq!(pages.place_before(pages.length(), 0).unwrap(), 0, "nothing was read yet");
        while pages.read_on().unwrap() {}
        let near = pages.place_before(pages.length(), 0).unwrap();
        assert!(near > 0, "no checkpoint in {} bytes of {format}", pages.length());
    }
}

#[test]
fn a_turn_becomes_known_bit_by_bit() {
    let scratch = tempfile::tempdir().unwrap();
    let (_, output) = outputs().into_iter().find(|(format, _)| *format == "claude").unwrap();
    let dir = turn_of(scratch.path(), "claude", &output);
    let hub = Hub::new().unwrap();
    let pages = pages(&hub, &dir, Side::Told);
    assert_eq!((pages.known(), pages.is_plain()), (0, false));
    let mut known = Vec::new();
    while pages.read_on().unwrap() {
        known.push(pages.known());
    }
    assert!(known.is_sorted() && known.len() > 3);
    assert_eq!(known.last(), Some(&pages.length()));
}

#[test]
fn the_end_is_seen_before_the_rest_is_read() {
    let scratch = tempfile::tempdir().unwrap();
    let (_, output) = outputs().into_iter().find(|(format, _)| *format == "claude").unwrap();
    let dir = turn_of(scratch.path(), "claude", &output);
    let hub = Hub::new().unwrap();
    let pages = pages(&hub, &dir, Side::Told);
    let glimpse = pages.glimpse(output.len() as u64 / 2).unwrap();
    assert_eq!(pages.known(), 0, "nothing else was read for it");
    let (all, _) = rest(&pages, 0);
    let seen: Vec<u64> = glimpse.iter().map(|group| group.start).collect();
    let exact: Vec<u64> = all.iter().map(|group| group.start).collect();
    assert!(!seen.is_empty() && seen.len() < exact.len());
    assert!(exact.ends_with(&seen), "{seen:?} of {exact:?}");
}

#[test]
fn raw_lines_and_standard_error_are_read_as_they_are() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = new_task(&scratch.path().join("t"), "claude");
    let mut driven = Driven::new(&dir);
    driven.begin_turn();
    driven.print(b"{\"type\":\"system\"}\nno json\nunfinished");
    driven.complain(b"warning: x\n");
    driven.end_turn();
    let hub = Hub::new().unwrap();
    let texts = |side| {
        let (groups, last) = rest(&pages(&hub, &dir, side), 0);
        let events = groups.iter().flat_map(|group| group.events.clone()).collect::<Vec<_>>();
        let events = events.into_iter().chain(last.into_iter().flat_map(|group| group.events));
        events
            .map(|event| match event {
                AgentEvent::Text { text } => text,
                other => panic!("{other:?}"),
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(Side::Raw), ["{\"type\":\"system\"}\n", "no json\n", "unfinished"]);
    assert_eq!(texts(Side::Stderr), ["warning: x\n"]);
    assert!(hub.pages(&dir, kinds(), 7, Side::Told).unwrap().is_none(), "there was no such turn");
}

#[test]
fn who_wants_events_alone_gets_nothing_of_what_agents_do() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = turn_of(scratch.path(), "text", b"a\nb\n");
    let hub = Hub::new().unwrap();
    let mut follow = hub.open(&dir, kinds(), Opening::Events).unwrap();
    assert_eq!(said(&until_rest(&mut follow)), ["turn_started", "turn_finished"]);
}
