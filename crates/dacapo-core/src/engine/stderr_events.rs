//! Standard error, for agents that say only there that they try a model call again; and how far both streams have come.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use super::context::DriverError;
use super::machine::TurnPlan;
use super::mailbox::{Outbox, Report};
use super::turn::send;
use crate::agent::Adapter;
use crate::event::CameAt;
use crate::files::FileAction;
use crate::process::{Follower, Progress, Running};

/// The output of the turn at work.
pub(super) struct TurnOutput {
    turn: u32,
    output: Arc<Progress>,
    errors: Option<Arc<Progress>>,
}

impl TurnOutput {
    pub(super) fn of(plan: &TurnPlan, running: &Running) -> Self {
        Self { turn: plan.turn, output: running.progress(), errors: running.stderr_progress() }
    }

    /// Where something that happens now stands among what the agent does.
    pub(super) fn came_at(&self) -> CameAt {
        let stderr = self.errors.as_ref().map_or(0, |errors| errors.bytes());
        CameAt { turn: self.turn, raw: self.output.bytes(), stderr }
    }
}

impl Outbox {
    /// Starts the thread that listens. It ends with the job's standard error; what is left unheard then is in the file.
    pub(super) fn follow_stderr(
        &self,
        adapter: Option<&'static dyn Adapter>,
        running: &Running,
        permit: SyncSender<()>,
    ) -> Result<(), DriverError> {
        let parser = adapter.and_then(Adapter::stderr_parser);
        let (Some(mut parser), Some(progress)) = (parser, running.stderr_progress()) else { return Ok(()) };
        let path = progress.path().to_owned();
        let failed = |source| DriverError::File { what: FileAction::Read, path: path.clone(), source };
        let mut follower = Follower::live(progress, 0).map_err(failed)?;
        let outbox = self.clone();
        std::thread::Builder::new()
            .name("stderr".into())
            .spawn(move || {
                let mut buffer = Vec::new();
                let mut listening = true;
                // An error ends it like the end of the stream does: standard error is only a hint, the output
                // decides.
                while listening && follower.next(&mut buffer).unwrap_or(false) {
                    parser.feed(&buffer, &mut |event| {
                        listening = listening && send(&permit, &outbox, Report::Agent(event));
                    });
                }
            })
            .map_err(failed)?;
        Ok(())
    }
}
