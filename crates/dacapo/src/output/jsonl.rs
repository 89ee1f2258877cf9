//! `--json`: events as JSON lines on standard output as they happen, and nothing else.

use std::fmt::Display;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use dacapo_app::present::json::objects::{AgentLine, AgentLinesDropped};
use dacapo_app::present::json::{self as in_words, Object};
use dacapo_core::engine::{Activity, Sink};
use dacapo_core::event::{AgentEvent, Envelope};
use jiff::Timestamp;

use super::outlet::{Outlet, Stream};

#[derive(Debug)]
pub struct JsonLines {
    out: Outlet,
    /// What a reader who had stopped reading has missed of an agent.
    dropped: Option<AgentLinesDropped>,
}

impl JsonLines {
    /// Events of a task with this directory.
    pub fn new(task: &Path) -> Self {
        let out = Outlet::new(Stream::Stdout, Some(task.to_owned()));
        Self { out, dropped: None }
    }

    /// Whether nobody reads what is printed any more.
    pub fn is_gone(&self) -> bool {
        self.out.is_gone()
    }

    /// Can be read once that is so.
    pub fn alarm(&self) -> io::Result<OwnedFd> {
        self.out.alarm()
    }

    /// There are no more events: the reader gets time to take the rest.
    pub fn finish(&mut self) {
        self.say_dropped();
        self.out.finish();
    }

    fn say_dropped(&mut self) {
        if let Some(dropped) = self.dropped.take() {
            self.out.keep(bytes(&Object::AgentEventsDropped(dropped).line()));
        }
    }
}

fn bytes(line: &impl Display) -> Vec<u8> {
    format!("{line}\n").into_bytes()
}

impl Sink for JsonLines {
    fn event(&mut self, line: &Envelope) {
        self.say_dropped();
        self.out.keep(bytes(&in_words::event(line)));
    }

    fn agent(&mut self, after: &Envelope, sub: u64, event: &AgentEvent) {
        // Said as soon as there is room, before the next line: a reader sees where the gap is.
        if self.dropped.is_some() && self.out.has_room() {
            self.say_dropped();
        }
        if let Some(dropped) = &mut self.dropped {
            dropped.count += 1;
            return;
        }
        let (seq, at, task) = (after.seq, Timestamp::now(), after.task.clone());
        let line = AgentLine { seq: Some(seq), sub: Some(sub), at, task, event: in_words::agent(event) };
        let AgentLine { task, .. } = &line;
        let dropped = AgentLinesDropped { seq, sub, at, task: task.clone(), count: 1 };
        if !self.out.offer(bytes(&Object::AgentEvent(line).line())) {
            self.dropped = Some(dropped);
        }
    }

    fn activity(&mut self, _: &Activity<'_>) {}
}
