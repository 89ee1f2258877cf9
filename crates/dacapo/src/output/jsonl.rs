//! `--json`: events as JSON lines on standard output as they happen, and nothing else.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use dacapo_app::present::json as in_words;
use dacapo_core::engine::{Activity, Sink};
use dacapo_core::event::{AgentEvent, Envelope};
use serde_json::{Value, json};

use super::outlet::{Outlet, Stream};

/// Prints every event.
#[derive(Debug)]
pub struct JsonLines {
    out: Outlet,
    /// Agent events that a reader who had stopped reading has missed, and the event before the first of them.
    dropped: u64,
    after: Value,
}

impl JsonLines {
    /// Events of a task with this directory.
    pub fn new(task: &Path) -> Self {
        let out = Outlet::new(Stream::Stdout, Some(task.to_owned()));
        Self { out, dropped: 0, after: Value::Null }
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
        let count = std::mem::take(&mut self.dropped);
        if count > 0 {
            let mut line = std::mem::take(&mut self.after);
            line["type"] = "agent_events_dropped".into();
            line["count"] = count.into();
            self.out.keep(bytes(&line));
        }
    }
}

fn bytes(line: &Value) -> Vec<u8> {
    format!("{line}\n").into_bytes()
}

impl Sink for JsonLines {
    fn event(&mut self, line: &Envelope) {
        self.say_dropped();
        self.out.keep(bytes(&in_words::event(line)));
    }

    fn agent(&mut self, after: &Envelope, sub: u64, event: &AgentEvent) {
        let head = json!({
            "v": after.v,
            "seq": after.seq,
            "sub": sub,
            "at": jiff::Timestamp::now(),
            "task": after.task,
        });
        if self.dropped > 0 && self.out.has_room() {
            self.say_dropped();
        }
        let mut line = head.clone();
        line["type"] = "agent_event".into();
        line["event"] = in_words::agent(event);
        if self.dropped > 0 || !self.out.offer(bytes(&line)) {
            if self.dropped == 0 {
                self.after = head;
            }
            self.dropped += 1;
        }
    }

    fn activity(&mut self, _: &Activity<'_>) {}
}
