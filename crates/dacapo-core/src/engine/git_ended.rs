//! A git that does not come back, or would not, when the work of an iteration is to be committed.

use super::context::DriverError;
use super::driver::Driver;
use super::machine::{CommitPlan, Input};
use crate::event::{CommitPlanned, WorkspaceProblem};
use crate::git::{GitError, display_path};
use crate::process::{Cut, Masker};

impl Driver<'_> {
    /// Commits what an iteration left. A git that had to be ended fails the iteration, or ends it where the task is to end;
    /// all files stay as they are, and the next commit has them.
    pub(super) fn prepare_commit(&mut self, plan: &CommitPlan) -> Result<Input, DriverError> {
        let error = match self.commit_what_is_left(plan) {
            Err(DriverError::Git(error)) => error,
            prepared => return prepared,
        };
        let Some(problem) = problem(&error, self.launcher.masker()) else {
            return Err(error.into());
        };
        if error.is_by_stop() {
            // The machine has to know that the iteration was cut before it hears what became of it.
            self.take_what_came()?;
        }
        let planned = CommitPlanned { iteration: plan.iteration, ..CommitPlanned::default() };
        Ok(Input::Prepared(CommitPlanned { problems: vec![problem], ..planned }))
    }
}

/// What of git's errors is a matter of the place to work in.
fn problem(error: &GitError, masker: &Masker) -> Option<WorkspaceProblem> {
    match error {
        GitError::SpecialFile { path, kind, .. } => {
            Some(WorkspaceProblem::SpecialFile { path: display_path(path), kind: *kind })
        }
        GitError::CutShort { command, cut, programs, .. } => Some(WorkspaceProblem::GitEnded {
            command: masker.mask_str(command),
            limit_seconds: match cut {
                Cut::Limit(limit) => Some(limit.as_secs()),
                Cut::Stop | Cut::Stuck => None,
            },
            programs: programs.iter().map(|program| masker.mask_str(program)).collect(),
        }),
        GitError::LeadsElsewhere { path, .. } => {
            Some(WorkspaceProblem::LinkReplaced { path: display_path(path) })
        }
        GitError::Missing
        | GitError::IndexLocked { .. }
        | GitError::RefLocked { .. }
        | GitError::Failed { .. }
        | GitError::Io { .. }
        | GitError::TooOld { .. }
        | GitError::Unexpected { .. } => None,
    }
}
