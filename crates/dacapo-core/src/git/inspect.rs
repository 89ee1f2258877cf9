//! What is read of commits to show or to judge them; all of it bounded.

use std::path::{Path, PathBuf};

use super::error::GitError;
use super::oid::Oid;
use super::repo::Repo;

impl Repo {
    /// What differs between two commits, as people read it; from `None` all that `tip` holds. None: it is longer than
    /// `most` bytes. Of `paths`, where some are given; else of all. Neither the user's settings nor programs of theirs have a say in it.
    pub(crate) fn diff_text(
        &self,
        base: Option<&Oid>,
        tip: &Oid,
        paths: &[PathBuf],
        most: usize,
    ) -> Result<Option<String>, GitError> {
        let base = base.map_or(self.empty_tree(), Oid::as_str);
        let words = [
            "--literal-pathspecs",
            "diff-tree",
            "-r",
            "-p",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "-M",
        ];
        let call = self.call("show what changed").args(words).args([base, tip.as_str(), "--"]).args(paths);
        Ok(call.stdout_within(most)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// A file of a commit; none: it is not there, is no file, or is longer than `most` bytes.
    pub fn file_at(&self, commit: &Oid, path: &Path, most: usize) -> Result<Option<Vec<u8>>, GitError> {
        let mut object = std::ffi::OsString::from(format!("{}:", commit.as_str()));
        object.push(path);
        match self.call("read a file of a commit").args(["cat-file", "blob"]).arg(object).stdout_within(most)
        {
            Err(GitError::Failed { .. }) => Ok(None),
            read => read,
        }
    }

    /// Returns true if HEAD has this file or link, and git sees no difference: line ends, keywords and filters aside.
    pub fn is_unchanged(&self, path: &Path) -> Result<bool, GitError> {
        let call = self.call("look whether a file has changed").args(["--literal-pathspecs", "status"]);
        let call = call.args(["--porcelain", "-z", "--untracked-files=all", "--ignored", "--"]);
        Ok(call.arg(path).stdout()?.is_empty() && self.head()?.commit.is_some())
    }

    /// Where HEAD of this very working tree has been, newest first, at most `most` places. Git may keep no such log;
    /// then there are none.
    pub(crate) fn head_was_at(&self, most: usize) -> Result<Vec<Oid>, GitError> {
        let count = format!("-{most}");
        let call = self.call("read where HEAD was");
        let answer = call.args(["log", "-g", "--format=%H", &count, "HEAD", "--"]).output()?;
        if answer.exit != Some(0) {
            return Ok(Vec::new());
        }
        let text = String::from_utf8_lossy(&answer.stdout).into_owned();
        Ok(text.lines().filter_map(|line| Oid::parse(line).ok()).collect())
    }
}
