//! A task in the user's own checkout that works on a branch of its own (M2): the checkout is put on it first and stays there.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::context::DriverError;
use super::driver::Driver;
use super::untracked::untracked_before;
use crate::env::Env;
use crate::event::words::NO_BRANCH;
use crate::event::{InTheWay, WorkspaceNotice, WorkspaceProblem};
use crate::git::{GitError, Head, Repo, WorktreeError, display_path};
use crate::spec::{NewBranch, Place, TaskSpec};

/// How many of the files that are in the way are named.
const NAMED: usize = 3;

fn short(branch: &str) -> &str {
    branch.strip_prefix("refs/heads/").unwrap_or(branch)
}

/// Why a task cannot go on in the user's checkout, though nothing is wrong with it: somebody has put it on another branch and
/// has work there that is not committed. A clean one is switched by whoever goes on (M9). None for a task that has no branch
/// there. What was untracked before it began is nobody's work.
pub fn astray(
    spec: &TaskSpec,
    env: &Env,
    untracked_before: &BTreeSet<PathBuf>,
) -> Result<Option<WorkspaceProblem>, GitError> {
    let Place::InPlace { branch: Some(own), .. } = &spec.place else { return Ok(None) };
    let Ok(repo) = Repo::discover(&spec.top, env) else { return Ok(None) };
    stays_away(&repo, own, untracked_before)
}

/// The branch that the checkout is on, where it is not the task's; there none: it is on no branch.
fn elsewhere(head: &Head, own: &NewBranch) -> Option<Option<String>> {
    let is = head.branch.as_deref().map(|branch| short(branch).to_owned());
    (head.branch.as_ref() != Some(&own.name)).then_some(is)
}

fn stays_away(
    repo: &Repo,
    own: &NewBranch,
    untracked_before: &BTreeSet<PathBuf>,
) -> Result<Option<WorkspaceProblem>, GitError> {
    let head = repo.head()?;
    let Some(on) = elsewhere(&head, own) else { return Ok(None) };
    let branch = short(&own.name).to_owned();
    // Of what came since nobody can tell whether it is the user's or what an agent left half done.
    let found = in_the_way(repo, |path| !untracked_before.contains(path))?;
    Ok(found.map(|found| WorkspaceProblem::Astray { on, branch, found }))
}

impl Driver<'_> {
    /// Makes the branch and puts the checkout on it; or why that cannot be, and then nothing is changed.
    pub(super) fn take_branch(
        &mut self,
        user: &Repo,
        new: &NewBranch,
    ) -> Result<Result<(), WorkspaceProblem>, DriverError> {
        let name = short(&new.name);
        let start = match self.start_now(user, &new.start)? {
            Ok(start) => start,
            Err(gone) => return Ok(Err(gone)),
        };
        let head = user.head()?;
        let at = user.read_ref(&new.name)?;
        // Without `workspace_ready` in the journal it was never worked on: an earlier start was cut short.
        let is_ours = self.earlier.taken_up && [&start, &new.start].map(Some).contains(&at.as_ref());
        if at.is_some() && !is_ours {
            return Ok(Err(WorkspaceProblem::BranchExists { branch: name.to_owned() }));
        }
        // What is untracked comes along to any branch that does not have it, and git says if one does.
        if let Some(found) = in_the_way(user, |_| false)? {
            return Ok(Err(WorkspaceProblem::NotSwitched { branch: name.to_owned(), found }));
        }
        let switched = match is_ours {
            true if head.branch.as_ref() == Some(&new.name) => Ok(()),
            true => user.switch_to(name),
            false => user.switch_to_new(name, &start),
        };
        match switched {
            Ok(()) => {}
            Err(
                error @ (WorktreeError::BranchExists(_)
                | WorktreeError::BranchConflict { .. }
                | WorktreeError::Git(GitError::Failed { .. })),
            ) => {
                let (branch, message) = (name.to_owned(), error.to_string());
                return Ok(Err(WorkspaceProblem::SwitchFailed { branch, message }));
            }
            Err(error) => return Err(error.into()),
        }
        if let Some(was) = head.branch.as_deref().filter(|was| *was != new.name) {
            let (from, to) = (short(was).to_owned(), name.to_owned());
            self.note_of_workspace(WorkspaceNotice::Switched { from, to })?;
        }
        Ok(Ok(()))
    }

    /// Whether the user's checkout is where a task that is taken up again works. One that only ends is left without it: what is
    /// there now is the user's.
    pub(super) fn may_reopen(&mut self, own: &NewBranch) -> Result<bool, DriverError> {
        let repo = self.discover(&self.spec.top)?;
        let head = repo.head()?;
        let Some(on) = elsewhere(&head, own) else { return Ok(true) };
        if self.machine.ends_now() {
            return Ok(false);
        }
        let before = untracked_before(&self.dir, self.earlier.untracked.lists());
        if let Some(why) = stays_away(&repo, own, &before)? {
            return Err(DriverError::Workspace(why));
        }
        let ought = short(&own.name);
        match repo.switch_to(ought) {
            Ok(()) => {}
            Err(error @ WorktreeError::Git(GitError::Failed { .. })) => {
                let (branch, message) = (ought.to_owned(), error.to_string());
                return Err(DriverError::Workspace(WorkspaceProblem::SwitchBackFailed {
                    on,
                    branch,
                    message,
                }));
            }
            Err(error) => return Err(error.into()),
        }
        let (from, to) = (on.unwrap_or_else(|| NO_BRANCH.to_owned()), ought.to_owned());
        self.note_of_workspace(WorkspaceNotice::SwitchedBack { from, to })?;
        Ok(true)
    }

    /// Nobody likes to find a checkout on another branch than it was.
    pub(super) fn say_where_it_stays(&mut self) -> Result<(), DriverError> {
        let Place::InPlace { branch: Some(own), .. } = &self.spec.place else { return Ok(()) };
        let Some(workspace) = &self.workspace else { return Ok(()) };
        if !workspace.repo.what_is_gone().is_empty() || elsewhere(&workspace.repo.head()?, own).is_some() {
            return Ok(());
        }
        let branch = short(&own.name).to_owned();
        let before = self.spec.base_branch.as_deref().map(|branch| short(branch).to_owned());
        self.note_of_workspace(WorkspaceNotice::StaysOn { branch, before })
    }
}

/// What of the user's is not committed; of untracked files those that `counts` says.
fn in_the_way(user: &Repo, counts: impl Fn(&PathBuf) -> bool) -> Result<Option<InTheWay>, GitError> {
    let dirt = user.dirt()?;
    if let Some(operation) = dirt.operation {
        return Ok(Some(InTheWay::Operation { operation }));
    }
    let untracked = dirt.untracked.iter().filter(|path| counts(path));
    let files: Vec<&PathBuf> = dirt.unmerged.iter().chain(&dirt.tracked).chain(untracked).collect();
    let paths = files.iter().take(NAMED).map(|path| display_path(path)).collect();
    Ok((!files.is_empty()).then_some(InTheWay::Files { paths, total: files.len() as u64 }))
}
