//! What a task that runs is at, as a list says it: it follows from what happened last.

use super::TaskView;
use crate::event::{Event, WaitCause};

impl TaskView {
    pub(super) fn at_work_on(&mut self, event: &Event) {
        let doing = match event {
            Event::TaskStarted { .. } | Event::Resumed { .. } | Event::Dequeued => "prepares".to_owned(),
            Event::WorkspaceReady { .. } | Event::Committed { .. } | Event::NoCommit(_)
                if self.has_checks =>
            {
                "runs checks".to_owned()
            }
            Event::TurnStarted { agent, .. } => format!("{agent} works"),
            Event::TurnFinished(_) => "commits".to_owned(),
            Event::ProofStarted { commit_id, .. } => format!("proves {}", commit_id.short()),
            Event::Waiting { cause: WaitCause::Backoff { .. }, .. } => "waits after a failure".to_owned(),
            Event::IterationFinished(_)
            | Event::Queued
            | Event::Waiting { .. }
            | Event::WaitOver
            | Event::Paused { .. }
            | Event::TaskFinished(_) => {
                self.doing = None;
                return;
            }
            // These change nothing about it.
            Event::TaskCreated { .. }
            | Event::WorkspaceReady { .. }
            | Event::WorkspaceFailed { .. }
            | Event::PortsLeased { .. }
            | Event::FilesIncluded { .. }
            | Event::UntrackedFound(_)
            | Event::UntrackedTouched(_)
            | Event::SetupFinished(_)
            | Event::CheckFinished(_)
            | Event::ProofUnavailable { .. }
            | Event::ProofFailed { .. }
            | Event::IterationStarted { .. }
            | Event::Written(_)
            | Event::CommitIntent(_)
            | Event::NoCommit(_)
            | Event::Committed { .. }
            | Event::Own(_)
            | Event::LimitKnown(_)
            | Event::AgentChanged { .. }
            | Event::Asked { .. }
            | Event::Answered
            | Event::Notice(_)
            | Event::RecordAltered { .. }
            | Event::StopRequested { .. }
            | Event::CommandReceived(_)
            | Event::MergeIntent { .. }
            | Event::Merged { .. }
            | Event::MergeUndone { .. }
            | Event::Renamed { .. }
            | Event::TakenOver { .. }
            | Event::PullRequest { .. }
            | Event::Notified { .. } => return,
        };
        self.doing = Some(doing);
    }
}
