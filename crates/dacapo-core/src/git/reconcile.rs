//! HEAD after the agent: taken as it is, put back on our branch, or rescued and restored.
//!
//! What builds on our tip is the agent's work, wherever it put it. Everything else (another branch, a reset,
//! an amended or orphaned history) is kept under refs of our own before anything is put back, and in that
//! order on disk too: killed at any point, the next run sees the same state and does it again.

use std::fs;
use std::path::PathBuf;

use super::error::GitError;
use super::stage::{Rules, nul_separated};
use super::{Apart, CommitRequest, Head, Notice, Oid, Problem, Repo, Rescued};

/// What became of HEAD.
pub(super) enum Reconciled {
    /// HEAD is on our branch, at our tip or further.
    Taken(Head),
    /// It could not be taken: nothing may be committed.
    Refused(Problem),
}

const REASON: &str = "dacapo: HEAD put back";

impl Repo {
    pub(super) fn reconcile(
        &self,
        request: &CommitRequest<'_>,
        notices: &mut Vec<Notice>,
    ) -> Result<Reconciled, GitError> {
        let home = request.home;
        let found = self.head()?;
        if found == *home {
            return Ok(Reconciled::Taken(found));
        }
        if let Some(tip) = &home.commit
            && !self.has_commit(tip)?
        {
            // Asked before `merge-base`, which would fail on a missing commit with an error that says less.
            return Ok(Reconciled::Refused(Problem::HistoryGone(tip.clone())));
        }
        if !self.builds_on(home.commit.as_ref(), found.commit.as_ref())? {
            return self.restore(request, found).map(Reconciled::Refused);
        }
        if found.branch == home.branch {
            return Ok(Reconciled::Taken(found));
        }
        // The work is elsewhere, but it is ours. Our branch follows it, if nothing else has been put there.
        let Some(branch) = &home.branch else {
            let detached = Head { branch: None, commit: found.commit };
            self.attach(&detached, REASON)?;
            notices.push(Notice::Reattached { from: found.branch, to: None });
            return Ok(Reconciled::Taken(detached));
        };
        let ours = self.read_ref(branch)?;
        if let Some(ours) = &ours {
            let Some(theirs) = &found.commit else {
                return self.restore(request, found).map(Reconciled::Refused);
            };
            if !self.is_ancestor(ours, theirs)? {
                return self.restore(request, found).map(Reconciled::Refused);
            }
        }
        if let Some(theirs) = &found.commit
            && ours.as_ref() != Some(theirs)
        {
            // First the branch, then HEAD. Killed in between, HEAD is still where the agent left it, and the next run
            // sees that our branch already holds it.
            self.move_ref(branch, theirs, ours.as_ref(), REASON)?;
        }
        self.attach(home, REASON)?;
        notices.push(Notice::Reattached { from: found.branch, to: home.branch.clone() });
        Ok(Reconciled::Taken(Head { branch: home.branch.clone(), commit: found.commit }))
    }

    /// Where there was no commit yet, every commit builds on it.
    fn builds_on(&self, tip: Option<&Oid>, found: Option<&Oid>) -> Result<bool, GitError> {
        match (tip, found) {
            (None, _) => Ok(true),
            (Some(_), None) => Ok(false),
            (Some(tip), Some(found)) => self.is_ancestor(tip, found),
        }
    }

    /// Keeps everything, then puts files, index, branch and HEAD back: HEAD last, so that a half-restored tree
    /// is never taken for the agent's work on our branch.
    fn restore(&self, request: &CommitRequest<'_>, found: Head) -> Result<Problem, GitError> {
        let home = request.home;
        let Some(tip) = &home.commit else {
            return Err(GitError::unexpected("restore HEAD", b"a branch without commits to go back to"));
        };
        let mut rescued = Vec::new();
        if let Some(commit) = &found.commit {
            rescued.push(self.rescue(request.rescue_prefix, "head", commit)?);
        }
        let ours = home.branch.as_deref().map(|branch| self.read_ref(branch)).transpose()?.flatten();
        if let Some(moved) = ours.as_ref().filter(|ours| *ours != tip && found.commit.as_ref() != Some(ours))
        {
            rescued.push(self.rescue(request.rescue_prefix, "branch", moved)?);
        }
        // All refs are in place before the first file is overwritten by `read-tree` below.
        self.rescue_files(request, &found, tip, &mut rescued)?;

        self.untrack(request.apart)?;
        let call = self.call("restore the working tree").args(["read-tree", "--reset", "-u", tip.as_str()]);
        call.stdout()?;
        if let Some(branch) = home.branch.as_deref().filter(|_| ours.as_ref() != Some(tip)) {
            self.move_ref(branch, tip, ours.as_ref(), REASON)?;
        }
        if home.branch.is_none() || found.branch != home.branch {
            self.attach(home, REASON)?;
        }
        Ok(Problem::HeadMoved { found, home: home.clone(), rescued })
    }

    /// The user's own files are not the agent's to add: what the agent put into the index would go from the disk with it.
    fn untrack(&self, apart: &Apart) -> Result<(), GitError> {
        let paths: Vec<PathBuf> = apart.users.union(&apart.changed).cloned().collect();
        if paths.is_empty() {
            return Ok(());
        }
        let call = self.call("take paths out of the index").arg("update-index");
        call.args(["-z", "--force-remove", "--stdin"]).stdin(nul_separated(&paths)).stdout().map(drop)
    }

    /// The files as they are, and the index where it says something else, as commits on top of what HEAD was.
    fn rescue_files(
        &self,
        request: &CommitRequest<'_>,
        found: &Head,
        tip: &Oid,
        rescued: &mut Vec<Rescued>,
    ) -> Result<(), GitError> {
        let scratch = self.scratch_index()?;
        let (status, _) = self.status(Some(&scratch.file))?;
        // Fails with conflicts in it; the files with their markers are kept below.
        // From a copy: staging below changes it, and the user's or agent's own index must stay as it is until all is
        // kept.
        let index_tree = self.write_tree(Some(&scratch.file)).ok();
        // Litter too would be overwritten; only what stays where it is need not be kept.
        let users = Apart { users: request.apart.users.clone(), ..Apart::default() };
        let rules = Rules {
            max_file_bytes: request.max_file_bytes,
            known: &[],
            apart: &users,
            tracked_in: Some(tip),
            secrets: None,
        };
        let mut plan = self.plan(status, rules)?;
        let conflicts = std::mem::take(&mut plan.unmerged);
        plan.update.extend(conflicts);
        for refused in self.stage(&plan, Some(&scratch.file))? {
            // What cannot be read cannot be kept in a commit: it must not be overwritten either.
            let file = self.toplevel().join(&refused.path);
            let mut aside = file.clone().into_os_string();
            aside.push(".kept");
            fs::rename(&file, &aside).map_err(GitError::io("keep an unreadable file", &file))?;
        }
        let tree = self.write_tree(Some(&scratch.file))?;
        let base = found.commit.as_ref().map(|commit| self.tree_of(commit)).transpose()?;
        let base = base.as_ref().map_or(self.empty_tree(), Oid::as_str);
        let message = "Kept by Dacapo before HEAD was put back\n";
        let keep = CommitRequest { message, ..*request };
        if let Some(index) = index_tree.filter(|index| *index != tree && index.as_str() != base) {
            let commit = self.commit_tree(&index, found.commit.as_ref(), &keep)?;
            rescued.push(self.rescue(request.rescue_prefix, "index", &commit)?);
        }
        if tree.as_str() != base {
            let commit = self.commit_tree(&tree, found.commit.as_ref(), &keep)?;
            rescued.push(self.rescue(request.rescue_prefix, "tree", &commit)?);
        }
        Ok(())
    }
}
