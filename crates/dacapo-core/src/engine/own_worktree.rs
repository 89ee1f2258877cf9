//! Making a task's own worktree, and what becomes of one that cannot be made (S3).

use std::path::Path;
use std::sync::Arc;

use super::context::DriverError;
use super::driver::Driver;
use super::durability::Carrier;
use super::machine::Input;
use super::workspace::{Workspace, Worktree, no_workspace};
use crate::event::{GitNotice, Notice, WorkspaceNotice, WorkspaceProblem};
use crate::files::FileAction;
use crate::git::{Head, Oid, Repo, WorktreeError, display_path};
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
        let repo = match user.add_worktree(path, short(branch), &start) {
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
            let workspace = Workspace::new(repo, Some(user.clone()));
            return Ok(Ok((Workspace { left_out, ..workspace }, kept)));
        }
        Ok(Ok((Workspace::new(repo, Some(user.clone())), None)))
    }

    /// The worktree of a task that is taken up again. One that somebody has removed since is made again: all that was carried
    /// over is on its branch.
    pub(super) fn reopen_worktree(&mut self, path: &Path, branch: &str) -> Result<Workspace, DriverError> {
        let user = self.discover(&self.spec.top)?;
        let name = short(branch).to_owned();
        if std::fs::symlink_metadata(path).is_err() {
            if let Some(repo) = user.add_worktree_again(path, &name)? {
                self.note_of_workspace(WorkspaceNotice::WorktreeMadeAgain { branch: name })?;
                let mut workspace = Workspace::new(repo, Some(user.clone()));
                self.furnish(&user, &mut workspace)?;
                return Ok(workspace);
            }
        } else if std::fs::symlink_metadata(path.join(".git")).is_err()
            && let Some(tip) = user.read_ref(branch)?
        {
            let repo = user.restore_worktree(path, branch, &tip)?;
            let commit_id = Some(tip);
            self.note_of_workspace(WorkspaceNotice::WorkingDirectoryMadeAgain { commit_id })?;
            return Ok(Workspace::new(repo, Some(user)));
        }
        let own = user.private(path).map_err(|error| {
            DriverError::Workspace(WorkspaceProblem::Unusable {
                of_task: self.spec.name.to_string(),
                message: error.to_string(),
                removed_branch: (!path.exists()).then_some(name),
            })
        })?;
        Ok(Workspace::new(own, Some(user)))
    }

    /// Makes the task's own repository again, which an agent has removed: the files are there, and are to be committed.
    pub(super) fn mend_repository(&mut self, home: &Head) -> Result<(), DriverError> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        let (top, dot_git) = (workspace.repo.toplevel(), workspace.repo.toplevel().join(".git"));
        if workspace.user.is_none() || !top.is_dir() || std::fs::symlink_metadata(&dot_git).is_ok() {
            return Ok(());
        }
        if self.remake_worktree(home)? {
            let path = display_path(&dot_git);
            self.input(&Input::Notice(Notice::Git(GitNotice::LinkRestored { path })))?;
        }
        Ok(())
    }

    /// Makes what an agent has removed of the task's worktree again, for the next iteration.
    pub(super) fn restore_worktree(&mut self, home: &Head) -> Result<(), DriverError> {
        if self.remake_worktree(home)? {
            let commit_id = home.commit.clone();
            self.note_of_workspace(WorkspaceNotice::WorkingDirectoryMadeAgain { commit_id })?;
        }
        Ok(())
    }

    /// From what was carried over; false: the commit was not, and is gone.
    fn remake_worktree(&mut self, home: &Head) -> Result<bool, DriverError> {
        // What is under way may be the very commit.
        self.await_carrying()?;
        let Some(workspace) = self.workspace.as_mut() else { return Ok(false) };
        let (Some(user), Some(branch), Some(tip)) = (&workspace.user, &home.branch, &home.commit) else {
            return Ok(false);
        };
        if !user.has_commit(tip)? {
            return Ok(false);
        }
        workspace.repo = user.restore_worktree(workspace.repo.toplevel(), branch, tip)?;
        self.begin_carrying();
        Ok(true)
    }

    /// From now on what the task commits is carried into the user's repository beside its turns.
    pub(super) fn begin_carrying(&mut self) {
        let (Place::Worktree { branch, .. }, Some(workspace)) = (&self.spec.place, &self.workspace) else {
            return;
        };
        self.record.durability.carry(workspace.user.clone().map(|user| Carrier {
            user,
            own: workspace.repo.clone(),
            branch: branch.clone(),
            rescue: format!("refs/dacapo/rescue/{}", self.spec.name),
            stage: self.dir.path().join("carried"),
        }));
    }

    /// Carries over what is left, before the task is said to have ended.
    pub(super) fn carry_the_rest(&mut self) -> Result<(), DriverError> {
        self.await_carrying()?;
        let carrier = self.record.durability.carrier();
        let carried = carrier.map(Carrier::carry);
        if let (Some(carrier), Some(Ok(_))) = (carrier, &carried) {
            carrier.clear_stage();
        }
        match carried.and_then(Result::err) {
            Some(error) => self.input(&Input::Notice(Notice::NotCarried { error: error.to_string() })),
            None => Ok(()),
        }
    }

    fn await_carrying(&mut self) -> Result<(), DriverError> {
        for notice in self.record.durability.wait() {
            self.input(&Input::Notice(notice))?;
        }
        Ok(())
    }
}

fn short(branch: &str) -> &str {
    branch.strip_prefix("refs/heads/").unwrap_or(branch)
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
    path: &Path,
    branch: &str,
    starts: [Option<&Oid>; 2],
) -> Result<(), DriverError> {
    let left = user.private(path).ok().and_then(|left| left.head().ok());
    let on_it = left.filter(|head| head.branch.as_deref() == Some(branch));
    let made_at = on_it.and_then(|head| head.commit);
    user.remove_worktree(path)?;
    if let Some(at) = user.read_ref(branch)?
        && made_at.as_ref().map_or_else(|| starts.contains(&Some(&at)), |made_at| at == *made_at)
    {
        user.delete_branch_at(branch, &at)?;
    }
    Ok(())
}
