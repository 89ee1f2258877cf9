//! Moving the branch to a prepared commit, once, whatever happened since.

use super::error::GitError;
use super::{Head, Oid, Repo, Rescued};

/// A commit and where it belongs. Everything in it can be read back from the journal after a crash.
#[derive(Debug, Clone, Copy)]
pub struct Landing<'a> {
    /// The branch to move; none: the detached HEAD.
    pub branch: Option<&'a str>,
    /// Where it is expected to be: the commit's parent.
    pub old: Option<&'a Oid>,
    pub new: &'a Oid,
    /// For the reflog, e.g. `dacapo: iter-3`.
    pub reason: &'a str,
    /// Where the commit is kept if the branch has gone elsewhere, e.g. `refs/dacapo/rescue/NAME/iter-3`.
    pub rescue_prefix: &'a str,
    /// Whether the working tree is the task's own: then a lock left in it is nobody's.
    pub exclusive: bool,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Landed {
    /// The branch was moved.
    Now,
    /// It was there before: an earlier run had got that far.
    AlreadyThere,
    /// The branch has been moved by somebody else. It was left alone; the commit is kept.
    Elsewhere {
        found: Head,
        /// Where the branch is.
        branch_at: Option<Oid>,
        /// Where the commit is kept.
        rescued: Rescued,
    },
}

impl Repo {
    /// Looks first, so that it can be repeated: already there, still to do, or overtaken.
    pub fn land(&self, landing: &Landing<'_>) -> Result<Landed, GitError> {
        let landed = self.land_ref(landing)?;
        if !matches!(landed, Landed::Elsewhere { .. }) {
            // The commit may have been made beside a locked index. Still locked: the next commit tries again.
            self.adopt_index_beside()?;
        }
        Ok(landed)
    }

    fn land_ref(&self, landing: &Landing<'_>) -> Result<Landed, GitError> {
        let found = self.head()?;
        let (name, at) = match landing.branch {
            Some(branch) if found.branch.as_deref() == Some(branch) => (branch, found.commit.clone()),
            Some(branch) => (branch, self.read_ref(branch)?),
            None => ("HEAD", found.commit.clone()),
        };
        // A detached HEAD that has since been put on a branch is no place to land: the branch is somebody else's.
        let is_place = landing.branch.is_some() || found.branch.is_none();
        // After a crash between the move and its event in the journal, the same landing is asked for again.
        if at.as_ref() == Some(landing.new) {
            return Ok(Landed::AlreadyThere);
        }
        if is_place && at.as_ref() == landing.old {
            let moved = self.land_branch(name, landing.new, landing.old, landing.reason, landing.exclusive);
            match moved {
                Ok(()) => return Ok(Landed::Now),
                // Moved between the look and the call: look again below. Any other failure is one.
                Err(error @ GitError::Failed { .. }) => {
                    let now =
                        if landing.branch.is_some() { self.read_ref(name)? } else { self.head()?.commit };
                    if now.as_ref() == landing.old {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        let found = self.head()?;
        let branch_at =
            landing.branch.map_or_else(|| Ok(found.commit.clone()), |branch| self.read_ref(branch))?;
        if let Some(at) = &branch_at
            // Somebody, the user or the agent, has committed on top of it: it has landed, and moving the branch back
            // would lose that.
            && self.is_ancestor(landing.new, at)?
        {
            return Ok(Landed::AlreadyThere);
        }
        // No ref names the commit, so git would collect it one day.
        let rescued = self.rescue(landing.rescue_prefix, "commit", landing.new)?;
        Ok(Landed::Elsewhere { found, branch_at, rescued })
    }
}
