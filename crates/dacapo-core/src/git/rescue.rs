//! Setting a task's worktree aside so that it can be brought back bit for bit (S9, K6).
//!
//! `git stash` leaves untracked files out, filters change bytes, and modes and empty directories vanish in any commit. So
//! nothing is converted: the directory is renamed, and git's own record of the worktree (its HEAD, its index, an operation
//! in progress) is moved beside it. Refs keep every object that only these name from being collected.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::run::GitError;
use super::worktree::WorktreeError;
use super::{Oid, Repo};

const AWAY: &str = "set the worktree aside";
const BACK: &str = "bring the worktree back";

/// The directory's files, below what is set aside.
const TREE: &str = "tree";
/// Git's record of the worktree.
const RECORD: &str = "record";

/// What was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// The tip of the branch.
    pub tip: Option<Oid>,
    /// The refs that keep it.
    pub refs: Vec<String>,
}

impl Repo {
    /// Keeps what a branch and a worktree hold under refs below `prefix` (`refs/dacapo/rescue/NAME/STAMP`).
    pub fn keep_under(&self, prefix: &str, branch: &str, worktree: &Path) -> Result<SetAside, WorktreeError> {
        let mut refs = Vec::new();
        let mut keep = |name: &str, oid: &Oid| -> Result<(), WorktreeError> {
            let name = format!("{prefix}/{name}");
            self.call("keep a commit").args(["update-ref", &name, oid.as_str()]).stdout()?;
            refs.push(name);
            Ok(())
        };
        let tip = self.read_ref(branch)?;
        if let Some(tip) = &tip {
            keep("tip", tip)?;
        }
        if let Ok(own) = self.beside(worktree) {
            if let Some(head) = own.head()?.commit.filter(|head| Some(head) != tip.as_ref()) {
                keep("head", &head)?;
            }
            // With conflicts in it an index has no tree; it is moved aside as a file all the same.
            let answer = own.call("keep the index").args(["write-tree"]).output()?;
            if answer.exit == Some(0)
                && let Ok(tree) = Oid::from_output(&answer.stdout)
            {
                keep("index", &tree)?;
            }
        }
        Ok(SetAside { tip, refs })
    }

    /// Moves the worktree and its branch out of the way, to `to`, which must not exist. What it holds is under refs
    /// already ([`Repo::keep_under`]). A crash in between leaves something that [`Repo::bring_back`] can bring back.
    pub fn set_aside(&self, worktree: &Path, branch: &str, to: &Path) -> Result<(), WorktreeError> {
        self.locked(|| {
            fs::create_dir_all(to).map_err(GitError::io(AWAY, to))?;
            let record = self.record_of(worktree)?;
            rename(AWAY, worktree, &to.join(TREE))?;
            if let Some(record) = record {
                rename(AWAY, &record, &to.join(RECORD))?;
            }
            if let Some(tip) = self.read_ref(branch)? {
                self.call(AWAY).args(["update-ref", "-d", branch, tip.as_str()]).stdout()?;
            }
            Ok(())
        })
    }

    /// Puts back what [`Repo::set_aside`] moved to `from`.
    pub fn bring_back(
        &self,
        from: &Path,
        worktree: &Path,
        branch: &str,
        tip: Option<&Oid>,
    ) -> Result<(), WorktreeError> {
        self.locked(|| {
            let there = self.read_ref(branch)?;
            if there.is_some() && there.as_ref() != tip {
                let short = branch.strip_prefix("refs/heads/").unwrap_or(branch);
                return Err(WorktreeError::BranchExists(short.to_owned()));
            }
            if fs::symlink_metadata(worktree).is_ok() && fs::symlink_metadata(from.join(TREE)).is_ok() {
                return Err(WorktreeError::PathExists(worktree.to_owned()));
            }
            if let (None, Some(tip)) = (&there, tip) {
                self.call(BACK).args(["update-ref", branch, tip.as_str()]).stdout()?;
            }
            self.put_record_back(&from.join(RECORD), worktree, &from.join(TREE))?;
            if let Some(parent) = worktree.parent() {
                fs::create_dir_all(parent).map_err(GitError::io(BACK, parent))?;
            }
            rename(BACK, &from.join(TREE), worktree)?;
            match fs::remove_dir(from) {
                // The caller may keep papers of its own in it.
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
                done => Ok(done.map_err(GitError::io(BACK, from))?),
            }
        })
    }

    /// Under its old name, or under another where a later worktree has taken that; then both sides name the new one.
    fn put_record_back(&self, record: &Path, worktree: &Path, tree: &Path) -> Result<(), WorktreeError> {
        if fs::symlink_metadata(record).is_err() {
            return Ok(());
        }
        let records = self.common_dir().join("worktrees");
        fs::create_dir_all(&records).map_err(GitError::io(BACK, &records))?;
        let link = tree.join(".git");
        let said = fs::read_to_string(&link).unwrap_or_default();
        let named = said.trim_end().strip_prefix("gitdir: ").map(PathBuf::from);
        let wanted = named.filter(|path| path.parent() == Some(&records));
        let base = worktree.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut home = wanted.clone().unwrap_or_else(|| records.join(&base));
        let mut number = 1_u32;
        while fs::symlink_metadata(&home).is_ok() {
            home = records.join(format!("{base}{number}"));
            number += 1;
        }
        rename(BACK, record, &home)?;
        if wanted.as_ref() != Some(&home) {
            let text = format!("gitdir: {}\n", home.display());
            fs::write(&link, text).map_err(GitError::io(BACK, &link))?;
        }
        Ok(())
    }

    /// Git's record of the worktree at `path`.
    fn record_of(&self, path: &Path) -> Result<Option<PathBuf>, GitError> {
        let link = path.join(".git");
        let records = match fs::read_dir(self.common_dir().join("worktrees")) {
            Ok(records) => records,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(GitError::io("find a worktree", path)(error)),
        };
        let leads_there = |record: &PathBuf| {
            fs::read(record.join("gitdir"))
                .is_ok_and(|text| text.trim_ascii_end() == link.as_os_str().as_encoded_bytes())
        };
        Ok(records.flatten().map(|entry| entry.path()).find(leads_there))
    }
}

/// A rename, or where that crosses file systems a copy that is complete before the original goes.
fn rename(operation: &'static str, from: &Path, to: &Path) -> Result<(), GitError> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy_whole(from, to).map_err(GitError::io(operation, from))?;
            fs::remove_dir_all(from).map_err(GitError::io(operation, from))
        }
        // Moved before a crash, or never there.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done.map_err(GitError::io(operation, from)),
    }
}

/// By `cp -a`, which knows about links, modes, times and holes.
fn copy_whole(from: &Path, to: &Path) -> io::Result<()> {
    let status = std::process::Command::new("cp").arg("-a").arg("--").arg(from).arg(to).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("cp ended with {status}"))) }
}
