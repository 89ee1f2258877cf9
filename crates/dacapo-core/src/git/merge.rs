//! Bringing a task's branch home (S11, K12). All of it happens in a scratch worktree; the branch itself moves last, and
//! only from where it was when the merge was tried and checked.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::run::GitError;
use super::{Oid, Repo};

const TRY: &str = "see whether it merges";
const MERGE: &str = "merge";
const MOVE: &str = "move the branch";

/// What a merge would come to. Found without touching a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preview {
    /// There is nothing to merge.
    UpToDate,
    /// The branch just moves on.
    FastForward,
    /// Both sides changed, and git can join them.
    Clean,
    /// These files were changed on both sides.
    Conflicts(Vec<PathBuf>),
}

/// What a merge came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// There was nothing to merge.
    UpToDate,
    /// HEAD is here now.
    At(Oid),
    /// These files are left with conflicts in them.
    Conflicts(Vec<PathBuf>),
}

/// What became of the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advanced {
    /// It is where the merge put it.
    Done,
    /// Somebody has moved it since.
    Moved,
    /// It is checked out, and files there are in the way: what git says about them.
    InTheWay(String),
}

impl Repo {
    /// What merging `theirs` into `ours` would come to. Needs git 2.38.
    pub fn preview_merge(&self, ours: &Oid, theirs: &Oid) -> Result<Preview, GitError> {
        if self.is_ancestor(theirs, ours)? {
            return Ok(Preview::UpToDate);
        }
        if self.is_ancestor(ours, theirs)? {
            return Ok(Preview::FastForward);
        }
        let call = self.call(TRY).args(["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"]);
        let answer = call.args([ours.as_str(), theirs.as_str()]).output()?;
        match answer.exit {
            Some(0) => Ok(Preview::Clean),
            Some(1) => Ok(Preview::Conflicts(paths(&answer.stdout, 1))),
            _ => Err(answer.error()),
        }
    }

    /// Merges `theirs` into HEAD of this worktree, in the user's name: fast-forward where possible, or with `squash` as
    /// one new commit without its history.
    pub fn merge_here(&self, theirs: &Oid, message: &str, squash: bool) -> Result<Merged, GitError> {
        let Some(ours) = self.head()?.commit else {
            return Err(GitError::unexpected(MERGE, b"a branch without commits"));
        };
        if self.is_ancestor(theirs, &ours)? {
            return Ok(Merged::UpToDate);
        }
        let how: &[&str] = if squash { &["--squash"] } else { &["--no-edit", "-m", message] };
        let call = self.call_as_user(MERGE).args(["merge", "-q", "--no-autostash"]).args(how);
        let answer = call.arg(theirs.as_str()).output()?;
        let unmerged = self.unmerged()?;
        if !unmerged.is_empty() {
            return Ok(Merged::Conflicts(unmerged));
        }
        if answer.exit != Some(0) {
            return Err(answer.error());
        }
        if squash { self.conclude_merge(message).map(Merged::At) } else { self.tip().map(Merged::At) }
    }

    /// Commits a merge whose conflicts have been resolved in the files.
    pub fn conclude_merge(&self, message: &str) -> Result<Oid, GitError> {
        self.call(MERGE).args(["add", "-A"]).stdout()?;
        self.call_as_user(MERGE).args(["commit", "-q", "--allow-empty", "-m", message]).stdout()?;
        self.tip()
    }

    fn tip(&self) -> Result<Oid, GitError> {
        self.head()?.commit.ok_or_else(|| GitError::unexpected(MERGE, b"no commit"))
    }

    /// Files with conflicts that git knows of.
    pub fn unmerged(&self) -> Result<Vec<PathBuf>, GitError> {
        let out = self.call(MERGE).args(["diff", "--name-only", "--diff-filter=U", "-z"]).stdout()?;
        Ok(paths(&out, 0))
    }

    /// Of these files, the ones in which conflict markers still stand at the beginning of lines.
    pub fn with_markers(&self, files: &[PathBuf]) -> Vec<PathBuf> {
        files.iter().filter(|file| has_markers(&self.toplevel().join(file))).cloned().collect()
    }

    /// Moves a branch (full name) from `old` to `new`. Where it is checked out here, the files move with it, and files
    /// of the user's own that are in the way stop it.
    pub fn advance(&self, branch: &str, new: &Oid, old: &Oid) -> Result<Advanced, GitError> {
        let head = self.head()?;
        if head.branch.as_deref() == Some(branch) {
            if head.commit.as_ref() != Some(old) {
                return Ok(Advanced::Moved);
            }
            let answer = self.call_as_user(MOVE).args(["merge", "-q", "--ff-only", new.as_str()]).output()?;
            return Ok(match answer.exit {
                Some(0) => Advanced::Done,
                _ if self.read_ref(branch)?.as_ref() != Some(old) => Advanced::Moved,
                _ => Advanced::InTheWay(String::from_utf8_lossy(&answer.stderr).trim().to_owned()),
            });
        }
        if self.read_ref(branch)?.as_ref() != Some(old) {
            return Ok(Advanced::Moved);
        }
        let call = self.call(MOVE).args(["update-ref", "-m", "dacapo: merge", branch]);
        let answer = call.args([new.as_str(), old.as_str()]).output()?;
        match answer.exit {
            Some(0) => Ok(Advanced::Done),
            _ if self.read_ref(branch)?.as_ref() != Some(old) => Ok(Advanced::Moved),
            _ => Err(answer.error()),
        }
    }
}

/// Names between NULs, after so many other fields.
fn paths(bytes: &[u8], skip: usize) -> Vec<PathBuf> {
    let fields = bytes.split(|byte| *byte == 0).skip(skip).filter(|field| !field.is_empty());
    let mut paths: Vec<PathBuf> =
        fields.map(|field| PathBuf::from(std::ffi::OsStr::from_bytes(field))).collect();
    paths.dedup();
    paths
}

/// All three kinds, as git writes them: a lone `=======` is a heading in many a text.
fn has_markers(path: &Path) -> bool {
    let Ok(bytes) = std::fs::read(path) else { return false };
    let starts = |mark: &[u8]| bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(mark));
    starts(b"<<<<<<< ") || starts(b">>>>>>> ")
}
