//! A checkout whose branch was about to move when git was killed: some files, or all of them and the index, are those of the
//! new commit, and the branch is still at the old one. They are put back, so that the move can be made again (R1).

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::merge::paths;
use super::regular;
use super::run::Call;
use super::stage::nul_separated;
use super::{Oid, Repo};

const OPERATION: &str = "take back what a killed git has begun";

/// A path that the move changes.
struct Touched {
    path: PathBuf,
    in_old: bool,
    in_new: bool,
}

impl Repo {
    /// Repairs a checkout whose git was killed while it moved the files from `old` to `new`. Returns how many files were put
    /// back. Nothing is done where a file that the move touches is neither of the two: it is the user's.
    pub fn take_back_half_move(&self, old: &Oid, new: &Oid) -> Result<usize, GitError> {
        let touched = self.touched_between(old, new)?;
        let (not_old, not_new) = (self.files_unlike(old)?, self.files_unlike(new)?);
        let (index_not_old, index_not_new) = (self.index_unlike(old)?, self.index_unlike(new)?);
        let mut moved = Vec::new();
        for file in &touched {
            let exists = fs::symlink_metadata(self.toplevel().join(&file.path)).is_ok();
            let is_old = if file.in_old { !not_old.contains(&file.path) } else { !exists };
            let is_new = match file.in_new {
                true => !not_new.contains(&file.path) || self.is_begun(&file.path, new)?,
                false => !exists,
            };
            let staged_old = !index_not_old.contains(&file.path);
            let staged_new = !index_not_new.contains(&file.path);
            if !(is_old || is_new) || !(staged_old || staged_new) {
                return Ok(0);
            }
            if !(is_old && staged_old) {
                moved.push(file);
            }
        }
        if moved.is_empty() {
            return Ok(0);
        }
        let all: Vec<PathBuf> = moved.iter().map(|file| file.path.clone()).collect();
        let reset =
            self.call(OPERATION).args(["reset", "-q", "--pathspec-from-file=-", "--pathspec-file-nul"]);
        // The index first: it says what `checkout-index` below writes. Killed after this, the same is found and done
        // again.
        reset.arg(old.as_str()).stdin(nul_separated(&all)).stdout()?;
        let (back, gone): (Vec<&&Touched>, Vec<&&Touched>) = moved.iter().partition(|file| file.in_old);
        for file in gone {
            let path = self.toplevel().join(&file.path);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(GitError::io(OPERATION, &path)(error));
                }
                _ => {}
            }
        }
        let back: Vec<PathBuf> = back.iter().map(|file| file.path.clone()).collect();
        let write = self.call(OPERATION).args(["checkout-index", "-f", "-u", "-z", "--stdin"]);
        write.stdin(nul_separated(&back)).stdout()?;
        Ok(moved.len())
    }

    /// Whether git was killed as it wrote this file: what is there is how the commit's begins.
    fn is_begun(&self, path: &Path, new: &Oid) -> Result<bool, GitError> {
        let at = self.toplevel().join(path);
        let Ok(true) = fs::symlink_metadata(&at).map(|found| found.is_file()) else { return Ok(false) };
        let written = regular::read(&at).map_err(GitError::io(OPERATION, &at))?;
        let mut name = OsString::from(format!("{}:", new.as_str()));
        name.push(path);
        Ok(self.call(OPERATION).args(["cat-file", "blob"]).arg(name).stdout()?.starts_with(&written))
    }

    fn touched_between(&self, old: &Oid, new: &Oid) -> Result<Vec<Touched>, GitError> {
        let call = self.call(OPERATION).args(["diff-tree", "-r", "-z", "--no-renames", "--name-status"]);
        let out = call.args([old.as_str(), new.as_str()]).stdout()?;
        let fields: Vec<&[u8]> = out.split(|byte| *byte == 0).collect();
        let pairs = fields.chunks_exact(2);
        Ok(pairs
            .map(|pair| Touched {
                path: OsStr::from_bytes(pair[1]).into(),
                in_old: pair[0] != b"A",
                in_new: pair[0] != b"D",
            })
            .collect())
    }

    /// Files of a commit that are not in the working tree as it has them.
    fn files_unlike(&self, commit: &Oid) -> Result<HashSet<PathBuf>, GitError> {
        let scratch = self.scratch_index()?;
        let call = |words: &[&str]| -> Call {
            self.call(OPERATION).args(words).env("GIT_INDEX_FILE", &scratch.file)
        };
        call(&["read-tree", "--reset", commit.as_str()]).stdout()?;
        // It exits with 1 where something differs.
        call(&["update-index", "-q", "--refresh"]).output()?;
        Ok(paths(&call(&["diff-files", "--name-only", "-z"]).stdout()?, 0).into_iter().collect())
    }

    /// Paths that the index has otherwise than a commit.
    fn index_unlike(&self, commit: &Oid) -> Result<HashSet<PathBuf>, GitError> {
        let call = self.call(OPERATION).args(["diff-index", "--cached", "--no-renames", "--name-only", "-z"]);
        Ok(paths(&call.arg(commit.as_str()).stdout()?, 0).into_iter().collect())
    }
}
