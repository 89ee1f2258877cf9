//! Files of a working tree as they are in another tree.

use super::error::GitError;
use super::{Oid, Repo};

impl Repo {
    /// Writes these files of a tree into the index and the working tree. What is in their place goes.
    pub(crate) fn restore_files(&self, tree: &Oid, paths: &[Vec<u8>]) -> Result<(), GitError> {
        let call = self.call("put files back").arg("--literal-pathspecs");
        let call = call.args(["restore", "--staged", "--worktree", "--source", tree.as_str()]);
        let call = call.args(["--pathspec-from-file=-", "--pathspec-file-nul"]);
        call.stdin(paths.join(&0)).stdout().map(drop)
    }
}
