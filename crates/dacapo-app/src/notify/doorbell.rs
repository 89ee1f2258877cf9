//! Tells people while a task is at work that it waits for their answer: nobody watches a task in the background.

use dacapo_core::engine::{Activity, Sink};
use dacapo_core::event::{AgentEvent, Envelope, Event};
use dacapo_core::spec::TaskSpec;
use dacapo_core::store::TaskDir;
use dacapo_core::view::TaskView;

use super::{Channel, Message, Patience, send};
use crate::App;
use crate::present::log::Tracing;

/// The log, and a bell that rings when a turn asks for something.
#[derive(Debug)]
pub struct Doorbell {
    app: App,
    log: Tracing,
    channels: Vec<Channel>,
    dir: TaskDir,
    spec: TaskSpec,
}

impl Doorbell {
    /// Of this task, by these ways.
    pub fn new(app: &App, channels: Vec<Channel>, dir: &TaskDir, spec: &TaskSpec) -> Self {
        Self {
            app: app.clone(),
            log: Tracing::of(spec, app.kinds),
            channels,
            dir: dir.clone(),
            spec: spec.clone(),
        }
    }

    /// In a thread of its own: the task does not wait for a chat server, only for the answer.
    fn ring(&self) {
        if self.channels.is_empty() {
            return;
        }
        let (app, channels, dir, spec) =
            (self.app.clone(), self.channels.clone(), self.dir.clone(), self.spec.clone());
        let ringing = std::thread::Builder::new().name("notify".into()).spawn(move || {
            let Ok(view) = TaskView::load(&dir, app.kinds) else { return };
            for sent in send(&app, &channels, &Message::of_task(&app, &view, &spec), Patience::Long) {
                if let Some(error) = sent.error {
                    tracing::warn!("nobody was notified by {}: {error}", sent.how);
                }
            }
        });
        if let Err(error) = ringing {
            tracing::warn!("nobody was notified: {error}");
        }
    }
}

impl Sink for Doorbell {
    fn event(&mut self, line: &Envelope) {
        self.log.event(line);
        if let Event::Asked { .. } = line.event {
            self.ring();
        }
    }

    fn agent(&mut self, after: &Envelope, sub: u64, event: &AgentEvent) {
        self.log.agent(after, sub, event);
    }

    fn activity(&mut self, activity: &Activity<'_>) {
        self.log.activity(activity);
    }
}
