//! What a running task is doing, as far as a list says it. It follows from what happened last.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TaskView;
use crate::event::{Event, WaitCause};
use crate::git::Oid;

/// What a running task is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum CurrentStep {
    /// The task is preparing the directory to work in.
    Preparing,
    /// An agent is working.
    Agent {
        /// The agent.
        agent: String,
    },
    /// Checks are running.
    Checks,
    /// What the agent changed is being committed.
    Committing,
    /// The checks are running in a checkout of a commit.
    Proving {
        /// The commit.
        commit_id: Oid,
    },
    /// The task waits a while after a failure, and then tries again.
    BackingOff,
}

impl TaskView {
    pub(super) fn at_work_on(&mut self, event: &Event) {
        let doing = match event {
            Event::TaskStarted { .. } | Event::Resumed { .. } | Event::Dequeued => CurrentStep::Preparing,
            Event::WorkspaceReady { .. } | Event::Committed { .. } | Event::NoCommit(_)
                if self.has_checks =>
            {
                CurrentStep::Checks
            }
            Event::TurnStarted { agent, .. } => CurrentStep::Agent { agent: agent.clone() },
            Event::TurnFinished(_) => CurrentStep::Committing,
            Event::ProofStarted { commit_id, .. } => CurrentStep::Proving { commit_id: commit_id.clone() },
            Event::Waiting { cause: WaitCause::Backoff { .. }, .. } => CurrentStep::BackingOff,
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
            | Event::RoomTested(_)
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
