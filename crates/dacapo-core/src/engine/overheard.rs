//! Standard error, for agents that say only there that they try a model call again.

use std::sync::mpsc::SyncSender;

use super::driver::{Driver, Message};
use super::machine::TurnPlan;
use super::surroundings::DriverError;
use super::turn::send;
use crate::agent::Adapter;
use crate::process::{Follower, Running};

impl Driver<'_> {
    /// Starts the thread that listens. It ends with the job's standard error; what is left unheard then is in the file.
    pub(super) fn overhear(
        &self,
        plan: &TurnPlan,
        running: &Running,
        permit: SyncSender<()>,
    ) -> Result<(), DriverError> {
        let parser = self.adapter(plan).and_then(Adapter::stderr_parser);
        let (Some(mut parser), Some(progress)) = (parser, running.stderr_progress()) else { return Ok(()) };
        let path = progress.path().to_owned();
        let failed = |source| DriverError::File { what: "read", path: path.clone(), source };
        let mut follower = Follower::live(progress, 0).map_err(failed)?;
        let outbox = self.outbox.clone();
        std::thread::Builder::new()
            .name("stderr".into())
            .spawn(move || {
                let mut buffer = Vec::new();
                let mut listening = true;
                while listening && follower.next(&mut buffer).unwrap_or(false) {
                    parser.feed(&buffer, &mut |event| {
                        listening = listening && send(&permit, &outbox, Message::Agent(event));
                    });
                }
            })
            .map_err(failed)?;
        Ok(())
    }
}
