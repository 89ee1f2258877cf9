//! What is heard of a task that is followed, for those who show tasks.

use dacapo_core::engine::Sink;
use dacapo_core::event::{Envelope, Event, TaskResult};
use dacapo_core::follow::Item;

/// Passes items on, and remembers what sinks need beside them.
#[derive(Debug, Default)]
pub struct Shown {
    last: Option<Envelope>,
    /// What the agent did since.
    sub: u64,
    end: Option<(u64, TaskResult)>,
}

impl Shown {
    pub fn show(&mut self, item: &Item, sink: &mut dyn Sink) {
        match item {
            Item::Event(line) => {
                sink.event(line);
                self.pass_over(line);
            }
            Item::Agent { event, .. } => {
                if let Some(after) = &self.last {
                    sink.agent(after, self.sub, event);
                    self.sub += 1;
                }
            }
            Item::Activity(doing) => sink.activity(&doing.activity()),
            Item::CaughtUp | Item::Over(_) => {}
        }
    }

    /// Takes an event in without showing it.
    pub fn pass_over(&mut self, line: &Envelope) {
        match &line.event {
            Event::TaskFinished(result) => self.end = Some((line.seq, result.clone())),
            Event::TaskStarted { .. } | Event::Resumed { .. } => self.end = None,
            _ => {}
        }
        self.last = Some(line.clone());
        self.sub = 0;
    }

    /// The number of the event by which the task has ended, and its result. More may have been noted since: whom it was
    /// told, where its work went.
    pub fn end(&self) -> Option<(u64, &TaskResult)> {
        self.end.as_ref().map(|(seq, result)| (*seq, result))
    }
}
