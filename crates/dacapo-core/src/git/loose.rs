//! What nobody has committed, kept without touching anything: not the index, not HEAD, no file (S8).

use std::path::{Path, PathBuf};

use super::error::GitError;
use super::stage::{Plan, Rules};
use super::status::Status;
use super::{CommitRequest, LeftOut, Oid, Repo, Rescued};

/// What was kept of uncommitted work.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Loose {
    /// The ref that keeps it; none: there was nothing.
    pub kept: Option<Rescued>,
    /// Files that are not in it: they look like secrets, or are too large.
    pub left_out: Vec<LeftOut>,
    /// Nested repositories, which are not in it either.
    pub nested: Vec<PathBuf>,
}

impl Repo {
    /// Makes a commit of the files as they are, on HEAD as it is, and keeps it under a ref below `request.rescue_prefix`. Also in
    /// the middle of a merge or a rebase, and with conflicts: of such a file what lies in the working tree is kept.
    pub fn keep_loose(&self, request: &CommitRequest<'_>) -> Result<Loose, GitError> {
        let head = self.head()?;
        // `git stash create` would do nearly the same, but refuses while there are conflicts, and leaves untracked
        // files out.
        let scratch = self.scratch_index()?;
        let index = scratch.file.as_path();
        let status = self.status_of_copy(index, head.commit.as_ref())?;
        let rules = Rules {
            max_file_bytes: request.max_file_bytes,
            known: request.known,
            apart: request.apart,
            tracked_in: None,
            secrets: None,
        };
        let mut plan = self.plan(status, rules)?;
        let unmerged = std::mem::take(&mut plan.unmerged);
        let mut loose = Loose {
            kept: None,
            left_out: std::mem::take(&mut plan.left_out),
            nested: std::mem::take(&mut plan.nested),
        };
        loose.left_out.extend(self.stage(&plan, Some(index))?);
        if !unmerged.is_empty() {
            let rest = Plan { update: unmerged, ..Plan::default() };
            loose.left_out.extend(self.stage(&rest, Some(index))?);
        }
        let tree = self.write_tree(Some(index))?;
        let before = head.commit.as_ref().map(|commit| self.tree_of(commit)).transpose()?;
        let is_new = before.map_or(tree.as_str() != self.empty_tree(), |before| before != tree);
        if is_new {
            let commit = self.commit_tree(&tree, head.commit.as_ref(), request)?;
            loose.kept = Some(self.keep_commit(request.rescue_prefix, &commit)?);
        }
        Ok(loose)
    }

    /// An index that is missing or cannot be read says nothing of the files: then HEAD does.
    fn status_of_copy(&self, index: &Path, head: Option<&Oid>) -> Result<Status, GitError> {
        let anew = |commit: &Oid| {
            let _ = std::fs::remove_file(index);
            let call = self.call("copy the index").args(["read-tree", commit.as_str()]);
            call.env("GIT_INDEX_FILE", index).stdout()
        };
        if let Some(commit) = head.filter(|_| !index.exists()) {
            anew(commit)?;
        }
        match (self.status(Some(index)), head) {
            (Err(error), Some(commit)) if Self::is_broken_index(&error) => {
                anew(commit)?;
                Ok(self.status(Some(index))?.0)
            }
            (looked, _) => Ok(looked?.0),
        }
    }
}
