//! The place to work in, and what makes a fresh worktree usable: commands in order, each of which must succeed (S3).

use super::Lifecycle;
use crate::engine::machine::{Effect, Input, SetupPlan, Step};
use crate::event::{Event, SetupResult, StopDetail};
use crate::git::Oid;
use crate::spec::{Place, Setup};

/// Where the work is done.
#[derive(Debug, Clone, Default)]
pub(crate) struct Workspace {
    pub(crate) ready: bool,
    /// How many commands have made it usable.
    set_up: usize,
    pub(crate) branch: Option<String>,
    pub(crate) base: Option<Oid>,
}

impl Lifecycle {
    pub(crate) fn is_prepared(&self) -> bool {
        self.workspace.ready && self.workspace.set_up >= self.spec.place.setup().len()
    }

    /// What is to be done before that.
    pub(crate) fn preparation(&self) -> Step {
        match &self.spec.place {
            _ if !self.workspace.ready => Step::PrepareWorkspace,
            Place::Worktree { .. } => {
                Step::RunSetup { index: u32::try_from(self.workspace.set_up).unwrap_or(u32::MAX) }
            }
            Place::InPlace { .. } => Step::Settle,
        }
    }

    pub(super) fn plan_setup(&self, index: u32) -> Option<Effect> {
        let Place::Worktree { setup: Setup { commands, timeout }, .. } = &self.spec.place else {
            return None;
        };
        let command = commands.get(index as usize).cloned().unwrap_or_default();
        Some(Effect::RunSetup(SetupPlan { index, command, timeout: *timeout }))
    }

    /// The event that an input means while the workspace is prepared.
    pub(crate) fn prepared(&self, input: &Input) -> Option<Event> {
        let Workspace { ready, set_up, .. } = self.workspace;
        match input {
            Input::WorkspaceReady { path, branch, base, kept_changes, port_base, start_sha256 } if !ready => {
                Some(Event::WorkspaceReady {
                    path: path.clone(),
                    branch: branch.clone(),
                    base_commit: base.clone(),
                    kept_changes: kept_changes.clone(),
                    port_base: *port_base,
                    start_sha256: start_sha256.clone(),
                })
            }
            Input::WorkspaceFailed(problems) if !ready && self.verdict.is_none() => {
                Some(Event::WorkspaceFailed { problems: problems.clone() })
            }
            Input::SetupDone(result) if ready && result.index as usize == set_up => {
                Some(Event::SetupFinished(result.clone()))
            }
            _ => None,
        }
    }

    pub(crate) fn workspace_ready(&mut self, branch: Option<&str>, base: Option<&Oid>) {
        self.workspace.ready = true;
        self.workspace.branch = branch.map(str::to_owned);
        self.workspace.base = base.cloned();
    }

    /// `Err`: why the task ends. In a worktree that is not usable no turn is worth its money. Whoever takes the task up again
    /// has mended the cause; it goes on with the command that failed.
    pub(crate) fn setup_finished(&mut self, result: &SetupResult) -> Result<(), StopDetail> {
        if result.passed() {
            self.workspace.set_up = result.index as usize + 1;
            return Ok(());
        }
        Err(StopDetail::setup(result))
    }

    /// The command that the worktree waits for.
    pub(super) fn failed_setup(&self) -> Option<String> {
        self.spec.place.setup().get(self.workspace.set_up).filter(|_| self.workspace.ready).cloned()
    }

    pub(crate) fn in_worktree(&self) -> bool {
        match self.spec.place {
            Place::Worktree { .. } => true,
            Place::InPlace { .. } => false,
        }
    }
}
