//! The branch that work starts from and goes back to, and a checkout that is put on a new branch.

use super::error::GitError;
use super::worktree::WorktreeError;
use super::{Oid, Repo};

/// What a repository's main branch is called where nobody says so.
const USUAL: [&str; 2] = ["main", "master"];

/// The main branch of a repository (M2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MainBranch {
    /// Its full name here; one that only the remote has goes by the name that it would have here.
    pub name: String,
    pub tip: Oid,
}

impl Repo {
    /// The main branch: the one that was configured, else what `origin` calls its own, else `main`, else `master`. None: there is
    /// no such branch, also where another than the configured one is there.
    pub fn main_branch(&self, configured: Option<&str>) -> Result<Option<MainBranch>, GitError> {
        if let Some(short) = configured {
            let short = short.strip_prefix("refs/heads/").unwrap_or(short);
            if let Some(found) = self.branch_here(short)? {
                return Ok(Some(found));
            }
            // Known from its remote alone, and there `origin/main` names it too.
            for name in [format!("refs/remotes/origin/{short}"), format!("refs/remotes/{short}")] {
                if let Some((tip, Some(name))) = self.meant_by(&name)? {
                    return Ok(Some(MainBranch { name, tip }));
                }
            }
            return Ok(None);
        }
        if let Some(short) = self.main_branch_of("origin")? {
            let here = self.branch_here(&short)?;
            let there = || self.read_ref(&format!("refs/remotes/origin/{short}"));
            let found = match here {
                Some(found) => Some(found),
                None => there()?.map(|tip| MainBranch { name: format!("refs/heads/{short}"), tip }),
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        for short in USUAL {
            if let Some(found) = self.branch_here(short)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn branch_here(&self, short: &str) -> Result<Option<MainBranch>, GitError> {
        // What is no name of a branch is none: a name is part of a path.
        if short.is_empty() || short.starts_with(['-', '/']) || short.contains("..") {
            return Ok(None);
        }
        let name = format!("refs/heads/{short}");
        Ok(self.read_ref(&name)?.map(|tip| MainBranch { name, tip }))
    }

    /// Makes a branch (short name) at `start` and puts the checkout on it. Whatever that would overwrite is in the way, ignored
    /// files too: git refuses, and nothing is changed.
    pub(crate) fn switch_to_new(&self, branch: &str, start: &Oid) -> Result<(), WorktreeError> {
        self.locked(|| {
            if self.read_ref(&format!("refs/heads/{branch}"))?.is_some() {
                return Err(WorktreeError::BranchExists(branch.to_owned()));
            }
            if let Some(existing) = self.conflicting_branch(branch)? {
                return Err(WorktreeError::BranchConflict { wanted: branch.to_owned(), existing });
            }
            let call = self.call("switch to a new branch");
            // By default git overwrites ignored files without a word, and `.env` is one of them.
            let call = call.args(["switch", "-q", "--no-overwrite-ignore", "--no-track", "-c", branch]);
            call.arg(start.as_str()).stdout()?;
            Ok(())
        })
    }

    /// The same with a branch that is there.
    pub(crate) fn switch_to(&self, branch: &str) -> Result<(), WorktreeError> {
        self.locked(|| {
            let call = self.call("switch to a branch");
            call.args(["switch", "-q", "--no-overwrite-ignore", "--no-guess", branch]).stdout()?;
            Ok(())
        })
    }
}
