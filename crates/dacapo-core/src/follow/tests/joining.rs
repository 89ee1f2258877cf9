//! Whoever leaves and comes back is told everything once.

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};

use super::*;
use crate::engine::Planned as _;

/// What a task does.
#[derive(Debug, Clone)]
enum Act {
    Print(Vec<u8>),
    Complain(Vec<u8>),
    Note,
    NextTurn,
}

/// What agents printed, with the format.
pub(super) fn outputs() -> Vec<(&'static str, Vec<u8>)> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agents");
    let read = |name: &str| fs::read(fixtures.join(name)).unwrap();
    let heard = |name: &str| {
        let all = String::from_utf8(read(name)).unwrap();
        let own = all.lines().filter_map(|line| line.strip_prefix("< "));
        own.map(|line| format!("{line}\n")).collect::<String>().into_bytes()
    };
    let text = "I look.\n\n繼續 and on: ".to_owned() + &"長い行".repeat(60) + "\r\nno newline at the end";
    vec![
        ("text", text.into_bytes()),
        ("text", b"\xff\xfe no text \xe7\xb9\n\n\nx\n".to_vec()),
        ("claude", read("claude/multi.jsonl")),
        ("claude", read("claude/subagent.jsonl")),
        ("claude", read("claude/sigint.jsonl")),
        ("codex", read("codex/multi.jsonl")),
        ("codex", read("codex/cut.jsonl")),
        ("copilot", read("copilot/multi.jsonl")),
        ("gemini", read("gemini/multi.jsonl")),
        ("opencode", read("opencode/multi.jsonl")),
        ("qwen", read("qwen/multi.jsonl")),
        ("rehearsal", read("rehearsal/every-event.jsonl")),
        ("acp", heard("acp/claude-session.jsonl")),
        ("acp", heard("acp/codex-session.jsonl")),
        ("acp", heard("acp/gemini-session.jsonl")),
    ]
}

/// The output in pieces, with other things in between.
fn acts(output: &[u8], pieces: &[(Index, u8)]) -> Vec<Act> {
    let mut cuts: Vec<(usize, u8)> =
        pieces.iter().map(|(at, between)| (at.index(output.len() + 1), *between)).collect();
    cuts.sort_unstable();
    let (mut acts, mut from) = (Vec::new(), 0);
    for (to, between) in cuts {
        acts.push(Act::Print(output[from..to].to_vec()));
        from = to;
        match between {
            0..=3 => {}
            4..=6 => acts.push(Act::Note),
            7 => acts.push(Act::Complain(
                b"timestamp=1 level=ERROR message=\"stream error\" x=y error.error=\"AI_APICallError: no\"\nrest"
                    .to_vec(),
            )),
            _ => acts.push(Act::NextTurn),
        }
    }
    acts.push(Act::Print(output[from..].to_vec()));
    acts
}

fn perform(driven: &mut Driven, acts: &[Act]) {
    driven.note("begins");
    driven.begin_turn();
    for act in acts {
        match act {
            Act::Print(bytes) => driven.print(bytes),
            Act::Complain(bytes) => driven.complain(bytes),
            Act::Note => driven.note("meanwhile"),
            Act::NextTurn => {
                driven.end_turn();
                driven.begin_turn();
            }
        }
    }
    driven.end_turn();
    driven.note("ends");
}

/// Follows with someone who leaves after so many items and comes back, at times to another process; each time by what the
/// position is as text.
fn with_interruptions(dir: &TaskDir, leaves: &[(usize, bool)]) -> Vec<Item> {
    let mut hub = Hub::new().unwrap();
    let mut follow = hub.open(dir, kinds(), Opening::Start).unwrap();
    let mut items = Vec::new();
    let mut leaves = leaves.iter().cycle();
    let mut left = leaves.next().unwrap();
    let mut stay = left.0;
    loop {
        let before = follow.position().clone();
        match next(&mut follow) {
            Item::Over(_) if follow.position().seq > 0 && ended(&items) => return items,
            Item::Over(_) | Item::CaughtUp | Item::Activity(_) => {
                assert_eq!(*follow.position(), before, "it is no part of the record");
                continue;
            }
            item => {
                assert!(*follow.position() > before, "{before} {} {item:?}", follow.position());
                items.push(item);
            }
        }
        if stay > 0 {
            stay -= 1;
            continue;
        }
        let position: Position = follow.position().to_string().parse().unwrap();
        if left.1 {
            drop(follow);
            hub = Hub::new().unwrap();
        }
        follow = hub.open(dir, kinds(), Opening::After(position)).unwrap();
        left = leaves.next().unwrap();
        stay = left.0;
    }
}

fn ended(items: &[Item]) -> bool {
    said(items).last().is_some_and(|last| last == "ends")
}

/// The row without what depends on when it was read: the moment that a limit ends is counted from the time of the file.
fn of_stream(items: &[Item], wanted: Stream) -> Vec<Item> {
    let mut own: Vec<Item> = items
        .iter()
        .filter(|item| match item {
            Item::Agent { stream, .. } => *stream == wanted,
            _ => wanted == Stream::Stdout,
        })
        .cloned()
        .collect();
    for item in &mut own {
        if let Item::Agent { event: AgentEvent::Limit { resets_at, .. }, .. } = item {
            *resets_at = None;
        }
    }
    own
}

fn whole(dir: &TaskDir) -> Vec<Item> {
    let hub = Hub::new().unwrap();
    until_rest(&mut hub.open(dir, kinds(), Opening::Start).unwrap())
}

type Script = (Index, Vec<(Index, u8)>, Vec<(usize, bool)>);

fn any_script() -> impl Strategy<Value = Script> {
    let pieces = prop::collection::vec((any::<Index>(), 0_u8..9), 0..12);
    let leaves = prop::collection::vec((0_usize..9, prop::bool::weighted(0.3)), 1..6);
    (any::<Index>(), pieces, leaves)
}

fn a_thousand_times(test: impl Fn(&TaskDir, &[Act], &[(usize, bool)])) {
    let outputs = outputs();
    let config = Config { cases: 1000, failure_persistence: None, ..Config::default() };
    let run = |(which, pieces, leaves): Script| {
        let (format, output) = &outputs[which.index(outputs.len())];
        let scratch = tempfile::tempdir().unwrap();
        let dir = new_task(&scratch.path().join("t"), format);
        test(&dir, &acts(output, &pieces), &leaves);
        Ok(())
    };
    TestRunner::new(config).run(&any_script(), run).unwrap();
}

#[test]
fn replayed_streams_that_are_joined_equal_the_whole_one() {
    a_thousand_times(|dir, acts, leaves| {
        perform(&mut Driven::new(dir), acts);
        let whole = whole(dir);
        assert!(whole.len() > 4);
        let joined = with_interruptions(dir, leaves);
        for stream in [Stream::Stdout, Stream::Stderr] {
            assert_eq!(of_stream(&joined, stream), of_stream(&whole, stream));
        }
        assert_eq!(said(&joined).len(), said(&whole).len());
    });
}

#[test]
fn live_streams_that_are_joined_equal_the_whole_one() {
    a_thousand_times(|dir, acts, leaves| {
        let mut driven = Driven::new(dir);
        let joined = std::thread::scope(|scope| {
            let writer = scope.spawn(move || {
                perform(&mut driven, acts);
                drop(driven);
            });
            let joined = with_interruptions(dir, leaves);
            writer.join().unwrap();
            joined
        });
        let whole = whole(dir);
        for stream in [Stream::Stdout, Stream::Stderr] {
            assert_eq!(of_stream(&joined, stream), of_stream(&whole, stream));
        }
    });
}

#[test]
fn whole_rows_are_what_the_parser_says_of_all_of_it() {
    for (format, output) in outputs() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = new_task(&scratch.path().join("t"), format);
        perform(&mut Driven::new(&dir), &[Act::Print(output.clone())]);
        let file = File::open(dir.turn_path(0, "raw")).unwrap();
        let spec = dir.spec().unwrap();
        let mut machine = OnlyTurns(None);
        let read = |line: Envelope| machine.apply(&line);
        let mut plan = None;
        let mut read = read;
        crate::store::read(&dir.journal_path(), |line| {
            if !matches!(line.event, Event::TurnFinished(_)) {
                read(line);
            }
        })
        .unwrap();
        if let Some(Effect::RunTurn(found)) = machine.effect() {
            plan = Some(found);
        }
        let agent = &spec.agents[0];
        let setting = crate::engine::reader::setting("t", &dir, &plan.unwrap(), agent, &file);
        let (mut parser, mut expected) = (crate::agent::parser(agent.output, setting), Vec::new());
        parser.feed(&output, &mut |event| expected.push(event));
        parser.finish(&mut |event| expected.push(event));
        let events: Vec<AgentEvent> = whole(&dir)
            .into_iter()
            .filter_map(|item| match item {
                Item::Agent { event, .. } => Some(event),
                _ => None,
            })
            .collect();
        if format == "text" {
            let text = |events: &[AgentEvent]| -> String {
                let pieces = events.iter().map(|event| match event {
                    AgentEvent::Text { text } => text.as_str(),
                    other => panic!("{other:?}"),
                });
                pieces.collect()
            };
            assert_eq!(text(&events), text(&expected));
        } else {
            assert_eq!(events, expected, "{format}");
        }
    }
}

#[test]
fn a_position_of_another_task_or_of_what_is_lost_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = new_task(&scratch.path().join("t"), "text");
    perform(&mut Driven::new(&dir), &[Act::Print(b"a\nb\n".to_vec())]);
    let hub = Hub::new().unwrap();
    let refused = |position: Position| {
        let error = hub.open(&dir, kinds(), Opening::After(position)).err().unwrap();
        error.to_string()
    };
    let tag = "tag-t";
    let other = Position::start("tag-u");
    assert_eq!(refused(other), "the position tag-u.0.0.0 is not one of this task: begin at its start");
    let at = |seq, raw| Position { seq, raw: Mark::at(raw), ..Position::start(tag) };
    for lost in [at(99, 0), at(2, 5), at(4, 1)] {
        let words = format!("the task has no position {lost} any more: begin at its start");
        assert_eq!(refused(lost), words);
    }
    let mut follow = hub.open(&dir, kinds(), Opening::After(at(2, 2))).unwrap();
    assert_eq!(said(&until_rest(&mut follow)), ["says \"b\\n\"", "turn_finished", "ends"]);
}
