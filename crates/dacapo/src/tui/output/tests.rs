//! Documents that are read in pieces are the same as those that are read in one.

use std::collections::BTreeSet;
use std::path::Path;

use dacapo_core::engine::Kinds;
use dacapo_core::follow::{Bell, Hub, Side};
use dacapo_core::store::TaskDir;
use proptest::prelude::*;
use proptest::sample::Index;

use super::entry::{Anchor, Entry};
use super::reader::{Paper, Reader, Step};
use super::search::Query;
use super::shared::{Direction, Hunted, Request, Shared, Target};
use super::span::Source;
use super::view::Output;
use crate::messages::Messages;
use crate::tui::key::Key;
use crate::tui::sample::{Sample, claude_begins, claude_calls, claude_says};

/// What its thread would do, without one.
impl Output {
    pub(crate) fn read_now(&mut self, dir: &TaskDir) {
        let paper = Paper::Task { hub: Hub::new().unwrap(), dir: dir.clone(), kinds: Kinds::default() };
        self.read(paper);
    }

    pub(crate) fn read_patch_now(&mut self, path: &Path) {
        self.read(Paper::Patch(path.to_owned()));
    }

    fn read(&mut self, paper: Paper) {
        let mut reader = Reader::new(paper, self.shared.clone(), self.messages);
        self.shared.lock().requests.push_front(Request::Sources(self.sources.clone()));
        while reader.step() == Step::Busy {}
        self.changed();
    }
}

/// A reader without its thread.
struct Bench {
    reader: Reader,
    shared: Shared,
}

impl Bench {
    fn new(sample: &Sample) -> Self {
        let (hub, dir) = (Hub::new().unwrap(), sample.dir.clone());
        let paper = Paper::Task { hub, dir, kinds: Kinds::default() };
        let shared = Shared::new(Bell::new().unwrap());
        Self { reader: Reader::new(paper, shared.clone(), Messages::ENGLISH), shared }
    }

    fn ask(&mut self, request: Request) -> &mut Self {
        self.shared.ask(request);
        self.run()
    }

    fn run(&mut self) -> &mut Self {
        while self.reader.step() == Step::Busy {}
        assert_eq!(self.shared.lock().problem, None);
        self
    }

    fn entries(&self) -> Vec<Entry> {
        let state = self.shared.lock();
        (0..state.window.len()).filter_map(|nth| state.window.get(nth).cloned()).collect()
    }

    fn texts(&self) -> Vec<String> {
        self.entries().iter().map(text).collect()
    }
}

fn text(entry: &Entry) -> String {
    entry.texts().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

fn turns(count: u32, over: bool) -> Vec<Source> {
    let source =
        |turn| Source { turn, heading: Some(format!("turn {turn}")), over: over || turn + 1 < count };
    (0..count).map(source).collect()
}

/// Claude's output of about so many lines.
fn claude_output(lines: usize, mark: &str) -> String {
    let mut out = claude_begins();
    for nth in 0..lines {
        out += &claude_says(&format!("## {mark} step {nth}\nI look at **it**.\n\nThen:"));
        let input = serde_json::json!({"command": format!("cargo test {nth}")});
        out +=
            &claude_calls(&format!("{mark}{nth}"), "Bash", &input, ("error: 4 failed\nmore", nth % 3 == 0));
    }
    out
}

fn sample(format: &str, outputs: &[String]) -> Sample {
    let mut sample = Sample::new(format);
    sample.workspace().baseline();
    for (iteration, output) in (0..).zip(outputs) {
        sample
            .turn(iteration, output.as_bytes())
            .turn_ends(iteration, false)
            .iteration_ends(iteration, false, false);
    }
    sample
}

/// All of a document, read from its start.
fn whole(sample: &Sample, sources: &[Source], side: Side) -> Vec<Entry> {
    let mut bench = Bench::new(sample);
    bench.ask(Request::Sources(sources.to_vec())).ask(Request::Side(side)).ask(Request::GoTo(Target::Start));
    while !bench.shared.lock().window.ends {
        bench.ask(Request::Behind);
    }
    assert!(bench.shared.lock().window.begins);
    bench.entries()
}

#[test]
fn a_message_a_call_and_its_answer_are_read() {
    let sample = sample("claude", &[claude_output(2, "a")]);
    let mut bench = Bench::new(&sample);
    bench.ask(Request::Sources(vec![Source { turn: 0, heading: None, over: true }]));
    assert_eq!(
        bench.texts(),
        [
            "## a step 0",
            "I look at **it**.",
            "",
            "Then:",
            "Bash cargo test 0 error: 4 failed more",
            "## a step 1",
            "I look at **it**.",
            "",
            "Then:",
            "Bash cargo test 1 error: 4 failed more",
        ]
    );
    assert!(bench.shared.lock().window.begins && bench.shared.lock().window.ends);
    bench.ask(Request::Side(Side::Stderr));
    assert_eq!(bench.texts(), ["warning: a cache was rebuilt"]);
    bench.ask(Request::Side(Side::Raw)).ask(Request::GoTo(Target::Start));
    assert!(bench.texts()[0].starts_with("{\"type\":\"system\""), "{:?}", bench.texts());
}

#[test]
fn what_comes_is_added_and_a_new_turn_too() {
    let mut sample = Sample::new("claude");
    sample.workspace().turn(0, claude_begins().as_bytes());
    let mut bench = Bench::new(&sample);
    bench.shared.lock().following = true;
    bench.ask(Request::Sources(turns(1, false)));
    assert_eq!(bench.texts(), ["turn 0"]);
    sample.print(claude_says("one\ntwo").as_bytes());
    bench.reader.news();
    bench.run();
    assert_eq!(bench.texts(), ["turn 0", "one", "two"]);
    sample.print(claude_says("three\n").as_bytes());
    bench.reader.news();
    bench.run();
    assert_eq!(bench.texts(), ["turn 0", "one", "two", "", "three"]);
    sample.turn_ends(0, false).iteration_ends(0, false, false).turn(1, claude_output(1, "b").as_bytes());
    bench.ask(Request::Sources(turns(2, false)));
    assert_eq!(bench.texts()[4..7], ["three", "turn 1", "## b step 0"]);
}

#[test]
fn the_end_of_a_long_turn_is_seen_before_the_rest_is_read() {
    let sample = sample("claude", &[claude_output(400, "a")]);
    let sources = turns(1, true);
    let all = whole(&sample, &sources, Side::Told);
    let mut bench = Bench::new(&sample);
    bench.shared.ask(Request::Sources(sources));
    bench.reader.step();
    let glimpse = bench.texts();
    assert!(bench.shared.lock().window.glimpse && !glimpse.is_empty());
    assert_eq!(glimpse.last().unwrap(), "Bash cargo test 399 error: 4 failed more");
    bench.run();
    let state = bench.shared.lock();
    assert!(!state.window.glimpse && state.window.ends && state.reading.is_none());
    drop(state);
    assert!(all.ends_with(&bench.entries()) && bench.entries().len() > 10);
}

#[test]
fn memory_is_bounded_however_long_it_is() {
    let lines: String = (0..60_000).map(|nth| format!("line {nth} of many\n")).collect();
    let sample = sample("text", &[lines]);
    let mut bench = Bench::new(&sample);
    bench.shared.lock().following = true;
    bench.ask(Request::Sources(turns(1, true)));
    assert_eq!(bench.texts().last().unwrap(), "line 59999 of many");
    bench.shared.lock().following = false;
    for _ in 0..300 {
        let first = bench.entries()[0].at;
        bench.shared.lock().seen = Some((first, first));
        bench.ask(Request::Before);
        assert!(bench.entries().len() < 2 * super::window::MOST_ENTRIES);
    }
    let first = text(&bench.entries()[0]);
    assert!(!bench.shared.lock().window.ends, "the end was dropped; it begins with {first}");
    let lines = bench.texts();
    let number = |line: &String| line.split(' ').nth(1).unwrap().parse::<u32>().unwrap();
    assert!(lines.windows(2).all(|two| number(&two[0]) + 1 == number(&two[1])), "without a gap");
    let last = bench.entries().last().unwrap().at;
    bench.shared.lock().seen = Some((last, last));
    bench.ask(Request::Behind);
    let lines = bench.texts();
    assert!(lines.windows(2).all(|two| number(&two[0]) + 1 == number(&two[1])), "nor when one comes back");
    bench.ask(Request::GoTo(Target::Start));
    assert_eq!(bench.texts()[..2], ["turn 0", "line 0 of many"]);
}

#[test]
fn what_is_found_far_away_is_not_dropped_for_what_was_seen_before() {
    let lines: String = (0..30_000).map(|nth| format!("line {nth} of many\n")).collect();
    let sample = sample("text", &[format!("the needle\n{lines}")]);
    let mut bench = Bench::new(&sample);
    bench.ask(Request::Sources(turns(1, true)));
    let last = bench.entries().last().unwrap().at;
    let query = Query::new("the needle").unwrap();
    bench.shared.ask(Request::Search { query, direction: Direction::Up, from: None });
    // The screen shows the end until it hears of it.
    while bench.reader.step() == Step::Busy {
        bench.shared.lock().seen = Some((last, last));
    }
    assert_eq!(bench.texts()[..2], ["turn 0", "the needle"]);
}

/// The places that have it, found one after another.
fn hunted(bench: &mut Bench, query: &str, direction: Direction) -> Vec<Anchor> {
    let mut found: Vec<Anchor> = Vec::new();
    loop {
        let query = Query::new(query).unwrap();
        bench.ask(Request::Search { query, direction, from: found.last().copied() });
        match bench.shared.lock().hunted {
            Hunted::Found(at) => found.push(at),
            Hunted::NotFound(_) => return found,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_search_finds_every_place_in_both_directions() {
    for format in ["claude", "text"] {
        let sample = sample(format, &[claude_output(30, "a"), claude_output(5, "b"), claude_output(40, "c")]);
        let sources = turns(3, true);
        for query in ["step 7", "cargo test 3", "B STEP", "b step", "nowhere", "it**.\\n\\nThen"] {
            let mut bench = Bench::new(&sample);
            bench.ask(Request::Sources(sources.clone()));
            let down = hunted(&mut bench, query, Direction::Down);
            let mut up = hunted(&mut bench, query, Direction::Up);
            up.reverse();
            assert_eq!(down, up, "{query} in {format}");
            assert!(down.is_sorted());
            let matcher = Query::new(query).unwrap();
            let all = whole(&sample, &sources, Side::Told);
            let expected = all.iter().filter(|entry| entry.texts().any(|text| matcher.is_in(text))).count();
            assert_eq!(down.len(), expected, "{query} in {format}");
            if let Some(last) = down.last() {
                assert!(bench.entries().iter().any(|entry| entry.at <= *last));
            }
        }
    }
}

#[derive(Debug, Clone)]
enum Walk {
    Start,
    End,
    Before,
    Behind,
    At(Index),
    See(Index),
}

fn any_walk() -> impl Strategy<Value = Walk> {
    prop_oneof![
        1 => Just(Walk::Start),
        1 => Just(Walk::End),
        4 => Just(Walk::Before),
        4 => Just(Walk::Behind),
        2 => any::<Index>().prop_map(Walk::At),
        1 => any::<Index>().prop_map(Walk::See),
    ]
}

#[test]
fn wherever_one_goes_the_window_is_a_part_of_the_whole() {
    let samples: Vec<(Sample, Vec<Entry>)> = ["claude", "text"]
        .into_iter()
        .map(|format| {
            let outputs =
                [claude_output(60, "a"), String::new(), claude_output(3, "b"), claude_output(50, "c")];
            let sample = sample(format, &outputs);
            let all = whole(&sample, &turns(4, true), Side::Told);
            (sample, all)
        })
        .collect();
    let config = ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() };
    let script = (any::<Index>(), prop::collection::vec(any_walk(), 1..12));
    proptest::test_runner::TestRunner::new(config)
        .run(&script, |(which, walks)| {
            let (sample, all) = &samples[which.index(samples.len())];
            let mut bench = Bench::new(sample);
            bench.ask(Request::Sources(turns(4, true)));
            for walk in walks {
                match walk {
                    Walk::Start => bench.ask(Request::GoTo(Target::Start)),
                    Walk::End => bench.ask(Request::GoTo(Target::End)),
                    Walk::Before => bench.ask(Request::Before),
                    Walk::Behind => bench.ask(Request::Behind),
                    Walk::At(at) => bench.ask(Request::GoTo(Target::At(all[at.index(all.len())].at))),
                    Walk::See(at) => {
                        let entries = bench.entries();
                        let at = entries[at.index(entries.len())].at;
                        bench.shared.lock().seen = Some((at, at));
                        &mut bench
                    }
                };
                let entries = bench.entries();
                prop_assert!(!entries.is_empty());
                let places: Vec<Anchor> = entries.iter().map(|entry| entry.at).collect();
                let first = all.iter().position(|entry| entry.at == places[0]);
                let known: BTreeSet<Anchor> = all.iter().map(|entry| entry.at).collect();
                prop_assert!(places.iter().all(|at| known.contains(at)), "{places:?}");
                let first = first.unwrap();
                let expected: Vec<Anchor> =
                    all[first..first + places.len()].iter().map(|entry| entry.at).collect();
                prop_assert_eq!(places, expected);
                let state = bench.shared.lock();
                prop_assert_eq!(state.window.begins, first == 0);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_page_up_that_is_faster_than_the_reader_is_made_when_more_is_read() {
    let sample = sample("claude", &[claude_output(400, "a")]);
    let mut output = Output::new(Messages::ENGLISH).unwrap();
    let paper = Paper::Task { hub: Hub::new().unwrap(), dir: sample.dir.clone(), kinds: Kinds::default() };
    let mut reader = Reader::new(paper, output.shared.clone(), Messages::ENGLISH);
    let mut read = |output: &mut Output| {
        while reader.step() == Step::Busy {}
        output.changed();
    };
    output.show(turns(1, true));
    read(&mut output);
    let mut last = u64::MAX;
    while output.offset().unwrap() < last {
        last = output.offset().unwrap();
        let _ = output.key(Key::PageUp);
    }
    let here = output.offset().unwrap();
    assert!(here > 0, "the reader has not read everything");
    read(&mut output);
    let there = output.offset().unwrap();
    assert!(there < here, "{there} is not above {here}");
    // What was owed is owed no more.
    read(&mut output);
    assert_eq!(output.offset().unwrap(), there);
}
