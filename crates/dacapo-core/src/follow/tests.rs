//! Tasks whose files are written by hand, followed as if another process drove them.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::engine::machine::{Effect, Input, Machine, Step, TurnPlan};
use crate::engine::{Kind, Kinds, NotThatKind};
use crate::event::{CameAt, Event, FORMAT, Notice, TurnEnd, TurnRecord, Usage};
use crate::spec::TaskSpec;
use crate::store::{Journal, Lock, TaskDir};

mod joining;
mod json;
mod many;
mod pages;
mod resting;
mod watching;

/// Far longer than anything here takes.
const LONG: Duration = Duration::from_secs(60);

/// A task that has nothing but turns.
struct OnlyTurns(Option<TurnPlan>);

impl Machine for OnlyTurns {
    fn decide(&self, _: &Input) -> Vec<Event> {
        Vec::new()
    }

    fn apply(&mut self, line: &Envelope) {
        match &line.event {
            Event::TurnStarted { turn, session, continued, .. } => {
                self.0 = Some(TurnPlan {
                    turn: *turn,
                    iteration: 0,
                    attempt: 0,
                    agent: 0,
                    prompt: "go".into(),
                    session: session.clone(),
                    continued: *continued,
                    promise: None,
                    keep_reply: false,
                    earlier: Usage::default(),
                    budget: None,
                    hard_limit: None,
                    hard_limit_is: crate::event::TimeLimit::Turn,
                    idle_limit: LONG,
                    wait_left: LONG,
                });
            }
            Event::TurnFinished(_) => self.0 = None,
            _ => {}
        }
    }

    fn next(&self) -> Option<Step> {
        self.0.as_ref().map(|plan| Step::RunTurn { turn: plan.turn })
    }

    fn plan(&self, _: Step) -> Effect {
        self.0.clone().map_or(Effect::Settle, Effect::RunTurn)
    }

    fn ends_now(&self) -> bool {
        false
    }

    fn over_budget(&self, _: &Usage) -> bool {
        false
    }
}

struct OnlyTurnsKind;

impl Kind for OnlyTurnsKind {
    fn name(&self) -> &'static str {
        "only-turns"
    }

    fn machine(&self, _: Arc<TaskSpec>) -> Result<Box<dyn Machine + Send>, NotThatKind> {
        Ok(Box::new(OnlyTurns(None)))
    }
}

fn kinds() -> Kinds {
    Kinds::of(&[&OnlyTurnsKind])
}

/// The process that drives a task, as far as its files tell.
struct Driven {
    dir: TaskDir,
    journal: Journal,
    _lock: Lock,
    turn: u32,
    files: Option<(File, File)>,
}

fn new_task(path: &Path, format: &str) -> TaskDir {
    let mut spec: Value = serde_json::from_str(include_str!("../../tests/formats/v3/spec.json")).unwrap();
    spec["kind"] = json!("only-turns");
    spec["tag"] = json!(format!("tag-{}", path.file_name().unwrap().to_str().unwrap()));
    spec["agents"][0]["output"] = json!(format);
    fs::create_dir_all(path.join("turns")).unwrap();
    fs::write(path.join("spec.json"), spec.to_string()).unwrap();
    fs::write(path.join("journal.jsonl"), "").unwrap();
    TaskDir::at(path.to_owned())
}

impl Driven {
    fn new(dir: &TaskDir) -> Self {
        let lock = dir.lock().unwrap();
        // Its own tests start no children, but others in the same process may.
        let journal = Journal::open(&dir.journal_path(), |_| {}).unwrap();
        Self { dir: dir.clone(), journal, _lock: lock, turn: 0, files: None }
    }

    fn write(&mut self, event: Event) {
        let came_at = self.files.as_ref().map(|(raw, stderr)| CameAt {
            turn: self.turn,
            raw: raw.metadata().unwrap().len(),
            stderr: stderr.metadata().unwrap().len(),
        });
        let line = Envelope {
            v: FORMAT,
            seq: self.journal.next_seq(),
            at: Timestamp::now(),
            elapsed_ms: 0,
            task: self.dir.name(),
            came_at,
            event,
        };
        self.journal.append(&line).unwrap();
    }

    fn note(&mut self, message: &str) {
        self.write(Event::Notice(Notice::Said { message: message.into() }));
    }

    fn begin_turn(&mut self) {
        let turn = self.turn;
        let (agent, session) = ("a".into(), None);
        self.write(Event::TurnStarted { turn, iteration: 0, agent, session, continued: false });
        let file = |extension| File::create(self.dir.turn_path(turn, extension)).unwrap();
        self.files = Some((file("raw"), file("err")));
    }

    fn print(&mut self, bytes: &[u8]) {
        self.files.as_mut().unwrap().0.write_all(bytes).unwrap();
    }

    fn complain(&mut self, bytes: &[u8]) {
        self.files.as_mut().unwrap().1.write_all(bytes).unwrap();
    }

    fn end_turn(&mut self) {
        self.files = None;
        self.write(Event::TurnFinished(TurnRecord {
            turn: self.turn,
            iteration: 0,
            end: TurnEnd::Done,
            session: None,
            promise: false,
            blocked: None,
            tests_changed: None,
            summary: String::new(),
            usage: Usage::default(),
            duration_ms: 0,
            output_bytes: 0,
            exit_code: None,
            not_allowed: None,
            reply: None,
            timed_out: false,
            stderr_tail: None,
        }));
        self.turn += 1;
    }
}

/// The next item, which must come.
fn next(follow: &mut Follow) -> Item {
    follow.next(Some(Instant::now() + LONG)).unwrap().expect("something comes")
}

/// What is on record of the items up to the next rest.
fn until_rest(follow: &mut Follow) -> Vec<Item> {
    let mut items = Vec::new();
    loop {
        match next(follow) {
            Item::Over(_) => return items,
            Item::CaughtUp | Item::Activity(_) => {}
            item => items.push(item),
        }
    }
}

/// In words, where all of it would be too much.
fn said(items: &[Item]) -> Vec<String> {
    let word = |item: &Item| match item {
        Item::Event(line) => match &line.event {
            Event::Notice(Notice::Said { message }) => message.clone(),
            other => serde_json::to_value(other).unwrap()["type"].as_str().unwrap().to_owned(),
        },
        Item::Agent { event: AgentEvent::Text { text }, .. } => format!("says {text:?}"),
        Item::Agent { event, .. } => format!("{event:?}"),
        other => format!("{other:?}"),
    };
    items.iter().map(word).collect()
}
