//! Making a task's own worktree, and what becomes of one that cannot be made (S3).

use std::sync::Arc;

use super::context::DriverError;
use super::driver::Driver;
use super::machine::Input;
use super::workspace::{Workspace, Worktree, no_workspace};
use crate::event::{WorkspaceNotice, WorkspaceProblem};
use crate::files::FileAction;
use crate::git::{Oid, Repo, WorktreeError};
use crate::spec::Place;
use crate::store::files;

impl Driver<'_> {
    /// The worktree, with what is uncommitted here where that was asked for; or why it cannot be.
    pub(super) fn add_worktree(
        &mut self,
        user: &Repo,
    ) -> Result<Result<Worktree, WorkspaceProblem>, DriverError> {
        let spec = Arc::clone(&self.spec);
        let Place::Worktree { path, branch, with_changes, base, .. } = &spec.place else {
            return Err(no_workspace());
        };
        let start = match base {
            Some(base) => match self.start_now(user, base)? {
                Ok(start) => start,
                Err(gone) => return Ok(Err(gone)),
            },
            None => match user.head()?.commit {
                Some(head) => head,
                None => return Ok(Err(WorkspaceProblem::NoCommits)),
            },
        };
        let short = branch.strip_prefix("refs/heads/").unwrap_or(branch);
        if let Some(parent) = path.parent() {
            files::make_dir(parent).map_err(|source| DriverError::File {
                what: FileAction::Create,
                path: parent.to_owned(),
                source,
            })?;
        }
        // Without `workspace_ready` in the journal it was never worked in: an earlier start was cut short (K8).
        if self.earlier.taken_up {
            drop_unfinished(user, path, branch, [Some(&start), base.as_ref()])?;
        }
        let repo = match user.add_worktree(path, short, &start) {
            Ok(repo) => repo,
            Err(WorktreeError::BranchExists(branch)) => {
                return Ok(Err(WorkspaceProblem::BranchExists { branch }));
            }
            Err(error) => {
                // What git had begun when it failed is ours; what was there before is not.
                if matches!(error, WorktreeError::Git(_) | WorktreeError::Discover(_)) {
                    drop_unfinished(user, path, branch, [Some(&start), None])?;
                }
                return Err(error.into());
            }
        };
        if *with_changes {
            let copied = user.copy_uncommitted(&repo)?;
            let (written, removed) = (copied.written as u64, copied.removed as u64);
            self.note_of_workspace(WorkspaceNotice::ChangesCameAlong { written, removed })?;
            let (kept, left_out) = self.keep_user_changes(&repo)?;
            return Ok(Ok((Workspace { left_out, ..Workspace::new(repo, true) }, kept)));
        }
        Ok(Ok((Workspace::new(repo, true), None)))
    }
}

/// A worktree that cannot be made ends the task, on record (S3). Without its journal or its guards nothing can be recorded.
pub(super) fn not_made(error: DriverError) -> Result<Input, DriverError> {
    match error {
        error if error.is_by_stop() => Err(error),
        DriverError::Git(_)
        | DriverError::Worktree(_)
        | DriverError::File { .. }
        | DriverError::Workspace(_) => {
            let unlock = error.unlock_command();
            let because = match error {
                DriverError::Workspace(problem) => problem,
                other => WorkspaceProblem::said(&other),
            };
            Ok(Input::WorkspaceFailed(vec![WorkspaceProblem::NotMade { because: Box::new(because), unlock }]))
        }
        DriverError::Journal(_)
        | DriverError::Spec(_)
        | DriverError::Launch(_)
        | DriverError::Kind(_)
        | DriverError::NoProgress { .. }
        | DriverError::Queue { .. } => Err(error),
    }
}

/// Removes what a start that was cut short has left of a worktree. The branch goes too where it is known to be ours and
/// nothing was done on it: the worktree is on it, or it stands where it would be made.
fn drop_unfinished(
    user: &Repo,
    path: &std::path::Path,
    branch: &str,
    starts: [Option<&Oid>; 2],
) -> Result<(), DriverError> {
    let left = user.beside(path).ok().and_then(|left| left.head().ok());
    let on_it = left.filter(|head| head.branch.as_deref() == Some(branch));
    let made_at = on_it.and_then(|head| head.commit);
    // Also where git had only begun to write down that there is one.
    user.remove_worktree(path)?;
    if let Some(at) = user.read_ref(branch)?
        && made_at.as_ref().map_or_else(|| starts.contains(&Some(&at)), |made_at| at == *made_at)
    {
        user.delete_branch_at(branch, &at)?;
    }
    Ok(())
}
