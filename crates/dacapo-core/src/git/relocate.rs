//! A worktree and its branch get other names (S17).
//!
//! `git worktree move` and `git branch -m` do the same, but one that is killed can leave a branch under neither name. Here
//! each step can be seen to be done, nothing is removed before its successor is there, and doing all of them again from
//! any point leads to the same end:
//!
//! ```text
//! git's record is locked ─► files renamed ─► record leads to them ─► submodules follow
//!   ─► new branch made ─► with the history of the old one ─► HEAD on it ─► old branch deleted ─► settings follow ─► unlocked
//! ```
//!
//! The record of the worktree keeps its own name in `.git/worktrees`, as with `git worktree move`: nobody sees it.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use super::error::GitError;
use super::regular;
use super::rescue::short;
use super::run::Call;
use super::worktree_admin::settled;
use super::{Head, Repo, WorktreeError};
use crate::files;

const RENAME: &str = "rename the worktree";
const REASON: &str = "dacapo: rename";

/// In git's record of a worktree: nobody prunes it while its files are under neither name that git knows.
const LOCKED: &str = "locked";
const WHY_LOCKED: &[u8] = b"dacapo is renaming this worktree\n";

/// What git keeps in its record while the branch's name is written down elsewhere, to come back to it.
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
        repo.can_set_aside(from.path, from.branch)?;
        relocation.is_settled()?;
        if fs::symlink_metadata(to.path).is_ok() {
            return Err(WorktreeError::PathExists(to.path.to_owned()));
        }
        if repo.record_of(to.path)?.is_some() {
            return Err(WorktreeError::Registered(to.path.to_owned()));
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
                return relocation.unlock_record();
            }
            relocation.is_nowhere_else()?;
            relocation.is_settled()?;
            Relocation::STEPS.iter().try_for_each(|step| step(&relocation))
        })
    }

    /// A worktree that is back on its branch, which has another name by now.
    pub(crate) fn take_new_branch(&self, worktree: &Path, old: &str, new: &str) -> Result<(), GitError> {
        match self.own_worktree(worktree) {
            Some(own) if own.head()?.branch.as_deref() == Some(old) => {
                own.attach(&Head { branch: Some(new.to_owned()), commit: None }, REASON)
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl Relocation<'_> {
    /// In this order. What a step finds done it leaves as it is.
    const STEPS: [Step<Self>; 10] = [
        Self::lock_record,
        Self::move_files,
        Self::point_record,
        Self::point_submodules,
        Self::make_branch,
        Self::copy_reflog,
        Self::move_head,
        Self::delete_branch,
        Self::move_settings,
        Self::unlock_record,
    ];

    /// Git's record of the worktree, under whichever name it knows it.
    fn record(&self) -> Result<Option<PathBuf>, GitError> {
        Ok(match self.repo.record_of(self.from.path)? {
            Some(record) => Some(record),
            None => self.repo.record_of(self.to.path)?,
        })
    }

    /// A git command in the worktree that works without its files.
    fn in_record(&self, record: &Path) -> Call {
        self.repo.base().clone().with("GIT_DIR", record).call(RENAME, self.repo.common_dir())
    }

    /// Whose HEAD is on the branch loses it when the branch goes.
    fn is_nowhere_else(&self) -> Result<(), WorktreeError> {
        let own = [settled(self.from.path), settled(self.to.path)];
        let elsewhere = self.repo.listed_worktrees()?.into_iter().find(|listed| {
            listed.branch.as_deref() == Some(self.from.branch) && !own.contains(&settled(&listed.path))
        });
        match elsewhere {
            Some(listed) => {
                Err(WorktreeError::CheckedOut { branch: short(self.from.branch), at: listed.path })
            }
            None => Ok(()),
        }
    }

    /// A rebase comes back to the branch by its old name.
    fn is_settled(&self) -> Result<(), WorktreeError> {
        let Some(record) = self.record()? else { return Ok(()) };
        if LEFT_FOR_LATER.iter().any(|name| record.join(name).exists()) {
            let at = [self.from.path, self.to.path].into_iter().find(|path| path.exists());
            return Err(WorktreeError::InOperation(at.unwrap_or(self.from.path).to_owned()));
        }
        Ok(())
    }

    fn lock_record(&self) -> Result<(), WorktreeError> {
        let Some(record) = self.record()? else { return Ok(()) };
        let file = record.join(LOCKED);
        match regular::read(&file) {
            Ok(why) if why == WHY_LOCKED => Ok(()),
            Ok(why) => Err(WorktreeError::Locked {
                path: self.from.path.to_owned(),
                reason: String::from_utf8_lossy(&why).trim().to_owned(),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(replace(&file, WHY_LOCKED)?),
            Err(error) => Err(GitError::io(RENAME, &file)(error).into()),
        }
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

    fn point_record(&self) -> Result<(), WorktreeError> {
        let Some(record) = self.repo.record_of(self.from.path)? else { return Ok(()) };
        let file = record.join("gitdir");
        let said = regular::read(&file).map_err(GitError::io(RENAME, &file))?;
        Ok(replace(&file, &link_beside(&said, self.to.path))?)
    }

    /// Each submodule's own git directory says where its files are.
    fn point_submodules(&self) -> Result<(), WorktreeError> {
        let Some(record) = self.record()? else { return Ok(()) };
        let old = settled(self.from.path);
        let mut open = vec![record.join("modules")];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    // A submodule's name can have slashes, and a submodule submodules.
                    open.push(if path.join("HEAD").is_file() { path.join("modules") } else { path.clone() });
                    self.point_submodule(&path, &old)?;
                }
            }
        }
        Ok(())
    }

    fn point_submodule(&self, dir: &Path, old: &Path) -> Result<(), WorktreeError> {
        let file = dir.join("config");
        if !file.is_file() {
            return Ok(());
        }
        let config = || self.repo.call(RENAME).args(["config", "--file"]).arg(&file);
        let answer = config().args(["--null", "--get", "core.worktree"]).output()?;
        let said = answer.stdout.strip_suffix(b"\0").unwrap_or_default();
        let said = Path::new(OsStr::from_bytes(said));
        let Ok(inside) = plain(&dir.join(said)).strip_prefix(old).map(Path::to_owned) else { return Ok(()) };
        let up = said.ancestors().nth(inside.components().count()).unwrap_or(said);
        let now = up.with_file_name(self.to.path.file_name().unwrap_or_default()).join(inside);
        config().arg("core.worktree").arg(now).stdout()?;
        Ok(())
    }

    fn make_branch(&self) -> Result<(), WorktreeError> {
        let (old, new) = (self.repo.read_ref(self.from.branch)?, self.repo.read_ref(self.to.branch)?);
        let Some(old) = old else { return Ok(()) };
        match new {
            None => Ok(self.repo.move_ref(self.to.branch, &old, None, REASON)?),
            Some(new) if new == old => Ok(()),
            // Somebody has committed there since.
            Some(new) if self.is_on_new_branch()? && self.repo.is_ancestor(&old, &new)? => Ok(()),
            Some(_) => Err(WorktreeError::BranchExists(short(self.to.branch))),
        }
    }

    fn copy_reflog(&self) -> Result<(), WorktreeError> {
        let [old, new] =
            [self.from.branch, self.to.branch].map(|branch| self.repo.common_dir().join("logs").join(branch));
        let is_log = fs::symlink_metadata(&old).is_ok_and(|found| found.is_file());
        // Once commits are made on the new branch its history is its own.
        if !is_log || !new.is_file() || self.is_on_new_branch()? {
            return Ok(());
        }
        Ok(replace(&new, &regular::read(&old).map_err(GitError::io(RENAME, &old))?)?)
    }

    fn is_on_new_branch(&self) -> Result<bool, GitError> {
        Ok(self.head()?.as_deref() == Some(self.to.branch))
    }

    /// The branch that the worktree is on; none: it is detached, or gone altogether.
    fn head(&self) -> Result<Option<String>, GitError> {
        let Some(record) = self.record()? else { return Ok(None) };
        let answer = self.in_record(&record).args(["symbolic-ref", "-q", "HEAD"]).output()?;
        match answer.exit {
            Some(0) => Ok(Some(String::from_utf8_lossy(&answer.stdout).trim_end().to_owned())),
            Some(1) => Ok(None),
            _ => Err(answer.error()),
        }
    }

    fn move_head(&self) -> Result<(), WorktreeError> {
        let Some(record) = self.record()? else { return Ok(()) };
        if self.head()?.as_deref() == Some(self.from.branch) {
            let call = self.in_record(&record).args(["symbolic-ref", "-m", REASON, "HEAD", self.to.branch]);
            call.stdout()?;
        }
        Ok(())
    }

    fn delete_branch(&self) -> Result<(), WorktreeError> {
        let Some(old) = self.repo.read_ref(self.from.branch)? else { return Ok(()) };
        let is_kept = match self.repo.read_ref(self.to.branch)? {
            Some(new) => self.repo.is_ancestor(&old, &new)?,
            None => false,
        };
        if !is_kept {
            return Err(WorktreeError::BranchMoved(short(self.from.branch)));
        }
        // With the old value: a commit that somebody makes on it in this instant keeps the branch.
        let call = self.repo.call(RENAME).args(["update-ref", "-d", self.from.branch, old.as_str()]);
        call.stdout()?;
        Ok(())
    }

    /// Where the branch is pushed to, and the like. A later branch of the old name must not inherit it.
    fn move_settings(&self) -> Result<(), WorktreeError> {
        let file = self.repo.common_dir().join("config");
        let text = regular::read(&file).unwrap_or_default();
        let section = |branch: &str| format!("branch.{}", short(branch));
        let heading = format!("[branch \"{}\"]", short(self.from.branch));
        if memchr::memmem::find(&text, heading.as_bytes()).is_some() {
            let call = self.repo.call(RENAME).args(["config", "--file"]).arg(&file).arg("--rename-section");
            call.args([&section(self.from.branch), &section(self.to.branch)]).stdout()?;
        }
        Ok(())
    }

    fn unlock_record(&self) -> Result<(), WorktreeError> {
        let Some(record) = self.repo.record_of(self.to.path)? else { return Ok(()) };
        let file = record.join(LOCKED);
        if regular::read(&file).is_ok_and(|why| why == WHY_LOCKED) {
            fs::remove_file(&file).map_err(GitError::io(RENAME, &file))?;
        }
        Ok(())
    }
}

/// Lets git's record of a worktree that was set aside ([`Repo::set_aside`]) lead to where it is to come back to.
pub(crate) fn point_record_aside(record: &Path, from: &Path, to: &Path) -> Result<(), GitError> {
    let file = record.join("gitdir");
    let said = match regular::read(&file) {
        Ok(said) => said,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(GitError::io(RENAME, &file)(error)),
    };
    let leads_to = Path::new(OsStr::from_bytes(said.trim_ascii_end())).parent().and_then(Path::file_name);
    if leads_to == from.file_name() { replace(&file, &link_beside(&said, to)) } else { Ok(()) }
}

/// What a record says of where its worktree is, for a worktree in the same directory. It can be relative, where the user's
/// git is told to write it so.
fn link_beside(said: &[u8], worktree: &Path) -> Vec<u8> {
    let link = Path::new(OsStr::from_bytes(said.trim_ascii_end()));
    let dir = link.parent().unwrap_or(worktree).with_file_name(worktree.file_name().unwrap_or_default());
    let mut text = dir.join(".git").into_os_string().into_encoded_bytes();
    text.push(b'\n');
    text
}

/// A path without `..`, whether or not it is there.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part @ (Component::Prefix(_) | Component::RootDir | Component::Normal(_)) => plain.push(part),
        }
    }
    plain
}

/// Writes a file of the repository, which is complete and on disk or as it was.
fn replace(file: &Path, bytes: &[u8]) -> Result<(), GitError> {
    let mut beside = file.as_os_str().to_owned();
    // Of one that was killed the next one makes use.
    beside.push(".dacapo");
    let write = || -> io::Result<()> {
        let mut new = fs::File::create(&beside)?;
        new.write_all(bytes)?;
        // Git reads these files directly. After a power cut an empty one would be a worktree that git cannot open.
        new.sync_data()?;
        fs::rename(&beside, file)?;
        files::sync_dir(file.parent().unwrap_or(Path::new(".")))
    };
    write().map_err(GitError::io(RENAME, file))
}

#[cfg(test)]
mod tests;
