//! What is at the place of a worktree that is to be made: git and the file system each have a say.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::Repo;
use super::error::GitError;
use super::regular;
use super::status::GITLINK;
use super::worktree_admin::settled;

const LOOK: &str = "look what is at the place of a worktree";

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occupant {
    /// As the file system has it.
    pub there: OccupantKind,
    /// Git has a record of a worktree there, and somebody has locked that.
    pub locked: bool,
}

/// What is there, as the file system has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OccupantKind {
    /// A worktree of this repository.
    Worktree {
        /// It has changes, untracked files or submodules: git removes it only by force.
        untidy: bool,
    },
    /// Nothing, but git has a record of a worktree.
    Nothing,
    Directory {
        /// Git has a record of a worktree all the same.
        recorded: bool,
    },
    /// A file or a link.
    File {
        /// Git has a record of a worktree all the same.
        recorded: bool,
    },
}

impl Repo {
    /// What is at a path; none: a worktree can be made there.
    pub fn occupant(&self, path: &Path) -> Result<Option<Occupant>, GitError> {
        let record = self.record_of(path)?;
        let recorded = record.is_some();
        let there = match (fs::symlink_metadata(path), &record) {
            (Err(_), None) => return Ok(None),
            (Err(_), Some(_)) => OccupantKind::Nothing,
            (Ok(meta), Some(record)) if meta.is_dir() && leads_to(path, record) => {
                OccupantKind::Worktree { untidy: self.is_untidy(path)? }
            }
            (Ok(meta), _) if meta.is_dir() => OccupantKind::Directory { recorded },
            (Ok(_), _) => OccupantKind::File { recorded },
        };
        let locked = record.is_some_and(|record| record.join("locked").exists());
        Ok(Some(Occupant { there, locked }))
    }

    /// Whether `git worktree remove` wants to be forced.
    fn is_untidy(&self, path: &Path) -> Result<bool, GitError> {
        let Ok(repo) = self.beside(path) else { return Ok(true) };
        let status =
            repo.call(LOOK).args(["status", "--porcelain", "-z", "--ignore-submodules=none"]).stdout()?;
        let staged = repo.call(LOOK).args(["ls-files", "--stage", "-z"]).stdout()?;
        let submodule = format!("{GITLINK:o} ");
        let mut entries = staged.split(|byte| *byte == 0);
        Ok(!status.is_empty() || entries.any(|entry| entry.starts_with(submodule.as_bytes())))
    }
}

/// Whether the `.git` of a directory names this record.
fn leads_to(dir: &Path, record: &Path) -> bool {
    let Ok(text) = regular::read(&dir.join(".git")) else { return false };
    let Some(target) = text.strip_prefix(b"gitdir:").map(<[u8]>::trim_ascii) else { return false };
    settled(&dir.join(std::ffi::OsStr::from_bytes(target))) == settled(record)
}
