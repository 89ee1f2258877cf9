//! A task's worktree and its branch get other names (S17).
//!
//! Each step can be seen to be done, nothing is removed before its successor is there, and doing all of them again from
//! any point leads to the same end:
//!
//! ```text
//! files renamed ─► branch of the task's own repository renamed ─► branch of the user's ─► settings follow
//! ```

use std::fs;
use std::path::Path;

use super::error::GitError;
use super::private::base_ref;
use super::regular;
use super::rescue::short;
use super::{Head, Repo, WorktreeError};

const RENAME: &str = "rename the worktree";
const REASON: &str = "dacapo: rename";

/// What git keeps while the branch's name is written down elsewhere, to come back to it.
const LEFT_FOR_LATER: [&str; 3] = ["rebase-merge", "rebase-apply", "BISECT_LOG"];

/// A worktree and its branch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BranchWorktree<'a> {
    pub path: &'a Path,
    /// The branch (full name).
    pub branch: &'a str,
}

type Step<T> = fn(&T) -> Result<(), WorktreeError>;

/// A worktree and its branch on their way to new names in the same directories.
struct Relocation<'a> {
    /// The user's repository.
    repo: Repo,
    from: BranchWorktree<'a>,
    to: BranchWorktree<'a>,
}

impl Repo {
    /// Whether a worktree and its branch can get these names, as far as can be seen beforehand. Nothing is changed.
    pub(crate) fn can_relocate(
        &self,
        from: BranchWorktree<'_>,
        to: BranchWorktree<'_>,
    ) -> Result<(), WorktreeError> {
        let relocation = Relocation { repo: self.shared(), from, to };
        let repo = &relocation.repo;
        repo.can_set_aside(from.branch)?;
        relocation.is_settled()?;
        if fs::symlink_metadata(to.path).is_ok() {
            return Err(WorktreeError::PathExists(to.path.to_owned()));
        }
        if repo.read_ref(to.branch)?.is_some() {
            return Err(WorktreeError::BranchExists(short(to.branch)));
        }
        match repo.conflicting_branch(&short(to.branch))? {
            Some(existing) => Err(WorktreeError::BranchConflict { wanted: short(to.branch), existing }),
            None => Ok(()),
        }
    }

    /// Gives a worktree and its branch other names, or finishes that. Parts that are not there are left out. `is_anothers` says,
    /// while nobody else can make or move worktrees, whether somebody has the old names again: then all that was ours has
    /// left them.
    pub(crate) fn relocate(
        &self,
        from: BranchWorktree<'_>,
        to: BranchWorktree<'_>,
        is_anothers: impl FnOnce() -> bool,
    ) -> Result<(), WorktreeError> {
        let relocation = Relocation { repo: self.shared(), from, to };
        self.locked(|| {
            if is_anothers() {
                return Ok(());
            }
            relocation.repo.can_set_aside(from.branch)?;
            relocation.is_settled()?;
            Relocation::STEPS.iter().try_for_each(|step| step(&relocation))
        })
    }

    /// Renames the branch of the task's own repository at `worktree`. A step that is done is left as it is.
    pub(crate) fn take_new_branch(&self, worktree: &Path, old: &str, new: &str) -> Result<(), GitError> {
        if fs::symlink_metadata(worktree.join(".git")).is_err() {
            return Ok(());
        }
        let own = self.private(worktree)?;
        let tip = own.read_ref(old)?;
        if let (Some(tip), None) = (&tip, own.read_ref(new)?) {
            own.move_ref(new, tip, None, REASON)?;
            let [from, to] = [old, new].map(|name| own.common_dir().join("logs").join(name));
            if from.is_file() {
                // Without its history it is still the branch.
                let _ = fs::copy(&from, &to);
            }
        }
        if own.head()?.branch.as_deref() == Some(old) {
            own.attach(&Head { branch: Some(new.to_owned()), commit: None }, REASON)?;
        }
        if let Some(tip) = tip {
            own.call(RENAME).args(["update-ref", "-d", old, tip.as_str()]).stdout()?;
        }
        own.move_settings(old, new)
    }

    /// Where the branch is pushed to, and the like. A later branch of the old name must not inherit it.
    fn move_settings(&self, old: &str, new: &str) -> Result<(), GitError> {
        let file = self.common_dir().join("config");
        let text = regular::read(&file).unwrap_or_default();
        let heading = format!("[branch \"{}\"]", short(old));
        if memchr::memmem::find(&text, heading.as_bytes()).is_none() {
            return Ok(());
        }
        let call = self.call(RENAME).args(["config", "--file"]).arg(&file).arg("--rename-section");
        call.args([old, new].map(|branch| format!("branch.{}", short(branch)))).stdout().map(drop)
    }
}

impl Relocation<'_> {
    /// In this order. What a step finds done it leaves as it is.
    const STEPS: [Step<Self>; 4] =
        [Self::move_files, Self::rename_own_branch, Self::rename_branch, Self::move_settings];

    /// A rebase comes back to the branch by its old name.
    fn is_settled(&self) -> Result<(), WorktreeError> {
        for path in [self.from.path, self.to.path] {
            if LEFT_FOR_LATER.iter().any(|name| path.join(".git").join(name).exists()) {
                return Err(WorktreeError::InOperation(path.to_owned()));
            }
        }
        Ok(())
    }

    fn move_files(&self) -> Result<(), WorktreeError> {
        let (from, to) = (self.from.path, self.to.path);
        if fs::symlink_metadata(from).is_err() {
            return Ok(());
        }
        if fs::symlink_metadata(to).is_ok() {
            return Err(WorktreeError::PathExists(to.to_owned()));
        }
        Ok(fs::rename(from, to).map_err(GitError::io(RENAME, from))?)
    }

    fn rename_own_branch(&self) -> Result<(), WorktreeError> {
        Ok(self.repo.take_new_branch(self.to.path, self.from.branch, self.to.branch)?)
    }

    fn rename_branch(&self) -> Result<(), WorktreeError> {
        let (repo, from, to) = (&self.repo, self.from.branch, self.to.branch);
        let Some(old) = repo.read_ref(from)? else { return Ok(()) };
        let (base, mut orders) = (repo.read_ref(&base_ref(from))?, String::new());
        match repo.read_ref(to)? {
            None => orders.push_str(&format!("create {to} {old}\n")),
            Some(new) if new == old => {}
            Some(_) => return Err(WorktreeError::BranchExists(short(to))),
        }
        if let Some(base) = base {
            orders.push_str(&format!("update {} {base}\ndelete {} {base}\n", base_ref(to), base_ref(from)));
        }
        // With the old value: a commit that somebody makes on it in this instant keeps the branch.
        orders.push_str(&format!("delete {from} {old}\n"));
        let call = repo.call(RENAME).args(["update-ref", "-m", REASON, "--no-deref", "--stdin"]);
        Ok(call.stdin(orders.into_bytes()).stdout().map(drop)?)
    }

    fn move_settings(&self) -> Result<(), WorktreeError> {
        Ok(self.repo.move_settings(self.from.branch, self.to.branch)?)
    }
}

#[cfg(test)]
mod tests;
