//! What people and programs see of a task: three sinks over the same events, and the words they share.

pub mod asking;
pub mod human;
pub mod jsonl;
pub mod outlet;
pub mod shown;

pub use dacapo_app::present::{
    ends, faults, json, leftovers, listing, log, milestone, needs, notices, proof, report, status, table,
    untracked, words,
};

use std::time::Duration;

use dacapo_core::agent::acp::Question;
use dacapo_core::engine::{Activity, Reply, Sink};
use dacapo_core::event::{AgentEvent, Envelope};

/// Passes everything on to several sinks.
pub struct Fan<'a>(pub Vec<&'a mut dyn Sink>);

impl Sink for Fan<'_> {
    fn event(&mut self, line: &Envelope) {
        self.0.iter_mut().for_each(|sink| sink.event(line));
    }

    fn agent(&mut self, after: &Envelope, sub: u64, event: &AgentEvent) {
        self.0.iter_mut().for_each(|sink| sink.agent(after, sub, event));
    }

    fn activity(&mut self, activity: &Activity<'_>) {
        self.0.iter_mut().for_each(|sink| sink.activity(activity));
    }

    fn tick_every(&self) -> Option<Duration> {
        self.0.iter().filter_map(|sink| sink.tick_every()).min()
    }

    fn tick(&mut self) {
        self.0.iter_mut().for_each(|sink| sink.tick());
    }

    fn ask(&mut self, question: &Question, reply: &Reply) -> bool {
        self.0.iter_mut().any(|sink| sink.ask(question, reply))
    }

    fn withdraw(&mut self) {
        self.0.iter_mut().for_each(|sink| sink.withdraw());
    }
}
