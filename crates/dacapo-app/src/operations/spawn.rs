//! A task that was made is left to a process of its own (S1).

use std::time::{Duration, Instant};

use dacapo_core::follow::Hub;
use dacapo_core::spec::TaskSpec;
use dacapo_core::store::TaskDir;
use dacapo_core::view::{Status, TaskView};

use super::background::{self, Begun, Instructions};
use super::setup_failure;
use super::start::Made;
use crate::App;
use crate::error::Failure;
use crate::messages::{Messages, Text, say};

/// A task that was made and runs in the background.
#[derive(Debug)]
pub struct Started {
    /// Whether it has a slot.
    pub begun: Begun,
    pub dir: TaskDir,
    pub spec: TaskSpec,
    /// What the user should hear about the request.
    pub notes: Vec<Text>,
    /// Why this agent, where nobody chose it.
    pub agent_why: Option<Text>,
}

impl Made {
    /// Lets it run in the background.
    pub fn in_background(self, app: &App) -> Result<Started, Failure> {
        let Made { repo: _, loaded: _, asked, dir, lock, workspace, turn: _ } = self;
        let instructions = Instructions { secrets: asked.secrets, ..Instructions::default() };
        let begun = background::start(app, &dir, &asked.spec, (&lock, workspace.as_ref()), &instructions);
        let begun = match begun {
            Ok(begun) => begun,
            Err(failure) => {
                // Nothing was done, so nothing stays behind.
                let _ = dir.discard();
                drop(lock);
                return Err(failure.kept(say(Messages::kept_task_not_started)));
            }
        };
        Ok(Started { begun, dir, spec: asked.spec, notes: asked.notes, agent_why: asked.agent_why })
    }
}

impl Started {
    /// Why there is nothing to work in, where that is known soon: a worktree is waited for, its setup for a moment.
    pub fn failed_to_begin(&self, app: &App) -> Option<Failure> {
        const FOR_THE_WORKTREE: Duration = Duration::from_secs(60);
        const FOR_THE_SETUP: Duration = Duration::from_secs(2);
        // Told of changes before the first look, so that none is missed.
        let mut watched = Hub::new().and_then(|hub| hub.watch(&self.dir)).ok()?;
        let begun = Instant::now();
        let mut over = false;
        loop {
            let view = TaskView::fold(&self.dir, app.kinds).ok()?;
            if let Some(result) = &view.result {
                return setup_failure::failure(app, &self.spec, result);
            }
            let waits = match (view.status, &view.branch) {
                (Status::Queued, _) => return None,
                (_, None) if view.worktree.is_some() => FOR_THE_WORKTREE,
                (_, _) if view.setup.len() < self.spec.place.setup().len() => FOR_THE_SETUP,
                (_, _) => return None,
            };
            if over || begun.elapsed() >= waits {
                return None;
            }
            // What was written last before the end is read once more above.
            watched.wait(Some(begun + waits));
            over = !watched.is_driven();
        }
    }
}
