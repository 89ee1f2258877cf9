//! What makes a fresh worktree usable (S3): files that git does not know, commands, ports of its own.

use std::path::PathBuf;
use std::time::Instant;

use super::checks::{Ran, Shell, TAIL_BYTES, TAIL_LINES};
use super::context::{Activity, DriverError};
use super::driver::Driver;
use super::machine::{Input, SetupPlan};
use super::workspace::Workspace;
use crate::context::tail_lines;
use crate::event::{CommitPlanned, Event, SetupResult, WorkspaceNotice};
use crate::files::FileAction;
use crate::git::{Repo, display_path};
use crate::process::{Exit, tail};
use crate::proof::Whose;
use crate::spec::Place;
use crate::store::{PortLease, files};

/// Tells every child which ports are its task's.
pub const PORT_VARIABLE: &str = "DACAPO_PORT_BASE";

impl Driver<'_> {
    /// Brings what `.worktreeinclude` names, and says what a fresh worktree lacks.
    pub(super) fn furnish(&mut self, user: &Repo, workspace: &mut Workspace) -> Result<(), DriverError> {
        let included = user.copy_included(&workspace.repo)?;
        if !included.files.is_empty() {
            // What git would see as new is not the work of an iteration.
            let dirt = workspace.repo.dirt()?;
            let fresh: Vec<PathBuf> =
                dirt.untracked.into_iter().filter(|path| included.files.contains(path)).collect();
            let uncommitted = workspace.note_litter(fresh);
            self.record(Event::FilesIncluded {
                files: included.files.len() as u64,
                bytes: included.bytes,
                uncommitted: uncommitted
                    .iter()
                    .take(CommitPlanned::MOST_FILES)
                    .map(|path| display_path(path))
                    .collect(),
            })?;
        }
        if let Some(first) = included.skipped.first() {
            let (first, more) = (display_path(first), (included.skipped.len() - 1) as u64);
            self.note_of_workspace(WorkspaceNotice::NotIncluded { first, more })?;
        }
        let empty = workspace.repo.submodules()?;
        if let Some(first) = empty.first()
            && !self.spec.place.setup().iter().any(|command| command.contains("submodule"))
        {
            let (first, more) = (display_path(first), (empty.len() - 1) as u64);
            self.note_of_workspace(WorkspaceNotice::EmptySubmodules { first, more })?;
        }
        Ok(())
    }

    /// Ports for as long as this process lives. A task can do without: it is told.
    pub(super) fn lease_ports(&mut self) -> Result<Option<PortLease>, DriverError> {
        if matches!(self.spec.place, Place::InPlace { .. }) {
            return Ok(None);
        }
        let leased = self.dir.ports().lease(&self.spec.tag, self.earlier.ports);
        let error = match leased {
            Ok(Some(lease)) => return Ok(Some(lease)),
            Ok(None) => None,
            Err(error) => Some(error.to_string()),
        };
        self.note_of_workspace(WorkspaceNotice::NoPorts { error })?;
        Ok(None)
    }

    /// A process that takes the task up again has ports of its own; they are the same unless those were taken.
    pub(super) fn lease_ports_again(&mut self) -> Result<Option<PortLease>, DriverError> {
        let lease = self.lease_ports()?;
        if let Some(port_base) =
            lease.as_ref().map(PortLease::base).filter(|base| Some(*base) != self.earlier.ports)
        {
            self.record(Event::PortsLeased { port_base })?;
        }
        Ok(lease)
    }

    /// None: the task is to stop and the command was ended; it runs again.
    pub(super) fn run_setup(&mut self, plan: &SetupPlan) -> Result<Option<Input>, DriverError> {
        self.record.sink.activity(&Activity::Setup(&plan.command));
        let started = Instant::now();
        let cwd = self.workspace()?.repo.toplevel().to_owned();
        let output = self.dir.setup_path(self.record.next_seq());
        if let Some(dir) = output.parent() {
            files::make_dir(dir).map_err(|source| DriverError::File {
                what: FileAction::Create,
                path: dir.to_owned(),
                source,
            })?;
        }
        let env = self.environment(&cwd);
        let shell = Shell {
            command: &plan.command,
            cwd,
            env,
            output: &output,
            timeout: plan.timeout,
            whose: Whose::Project,
        };
        let Some(Ran { exit, timed_out, .. }) = self.run_shell(shell)? else { return Ok(None) };
        let changed_files = self.workspace_mut()?.note_new_litter()?;
        let text = tail(&output, TAIL_BYTES * 2).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let name = output.strip_prefix(self.dir.path()).unwrap_or(&output);
        Ok(Some(Input::SetupDone(SetupResult {
            index: plan.index,
            command: plan.command.clone(),
            exit_code: if let Exit::Code(code) = exit { Some(code) } else { None },
            timed_out,
            duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            tail: tail_lines(&text, TAIL_LINES, TAIL_BYTES).to_owned(),
            output: display_path(name),
            changed_files,
        })))
    }
}
