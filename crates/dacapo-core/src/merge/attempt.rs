//! One try to join a task with the branch, all of it in scratch worktrees.

use super::turn::Record;
use super::{Candidate, LeftOut, Made, Merger, Proven, Resolved, Stopped, Watch};
use crate::git::{CleanCheckout, How, Merged, Oid, OpenMerge, Preview, Repo};

/// A scratch worktree that goes whatever happens.
pub(super) struct Scratch<'a> {
    checkout: Option<CleanCheckout>,
    of: &'a Repo,
}

impl Scratch<'_> {
    pub(super) fn repo(&self) -> Result<&Repo, LeftOut> {
        let gone = || LeftOut::Trouble("the scratch worktree is gone".into());
        self.checkout.as_ref().map(|checkout| &checkout.repo).ok_or_else(gone)
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        if let Some(checkout) = self.checkout.take()
            && let Err(error) = checkout.remove(self.of)
        {
            // The next merge tries again.
            tracing::warn!(%error, "a scratch worktree is left");
        }
    }
}

/// How a task and the branch were joined.
struct Joined<'a> {
    commit: Oid,
    resolved: Option<Resolved>,
    /// Where that was done, if nobody but git has been there.
    scratch: Option<Scratch<'a>>,
}

impl Merger<'_> {
    pub(super) fn attempt(
        &self,
        candidate: &Candidate,
        ours: &Oid,
        watch: &mut dyn Watch,
    ) -> Result<Made, Stopped> {
        let fast_forward =
            self.how == How::Merge && self.query.is_none() && self.repo.is_ancestor(ours, &candidate.tip)?;
        let by_receipt = |check: &String| candidate.has_receipt(check, &candidate.tip);
        if fast_forward && candidate.checks.iter().all(by_receipt) {
            let proven = |check: &String| Proven { command: check.clone(), by_receipt: true };
            let checks = candidate.checks.iter().map(proven).collect();
            return Ok(Made { commit: candidate.tip.clone(), fast_forward, checks, resolved: None });
        }
        let mut record = Record::create(self, candidate)?;
        let joined = if fast_forward {
            Joined { commit: candidate.tip.clone(), resolved: None, scratch: None }
        } else {
            self.join(candidate, ours, &mut record, watch)?
        };
        let mut checks = Vec::new();
        if !candidate.checks.is_empty() {
            let scratch = match joined.scratch {
                Some(scratch) => scratch,
                None => self.scratch(&joined.commit)?,
            };
            self.set_up(&scratch, &mut record, watch)?;
            checks = self.prove(candidate, &scratch, &joined.commit, &mut record, watch)?;
        }
        if joined.resolved.is_none() {
            // All passed: nobody will want to read it.
            record.discard();
        }
        Ok(Made {
            fast_forward: joined.commit == candidate.tip,
            commit: joined.commit,
            checks,
            resolved: joined.resolved,
        })
    }

    pub(super) fn scratch(&self, commit: &Oid) -> Result<Scratch<'_>, LeftOut> {
        let parent = self.data.path();
        std::fs::create_dir_all(parent).map_err(|error| LeftOut::trouble(&error))?;
        let mut checkout =
            self.repo.export_clean(commit, parent).map_err(|error| LeftOut::trouble(&error))?;
        checkout.repo = checkout.repo.with_hooks_of(self.repo)?;
        Ok(Scratch { checkout: Some(checkout), of: self.repo })
    }

    fn join(
        &self,
        candidate: &Candidate,
        ours: &Oid,
        record: &mut Record,
        watch: &mut dyn Watch,
    ) -> Result<Joined<'_>, Stopped> {
        let conflicts = matches!(self.repo.preview_merge(ours, &candidate.tip)?, Preview::Conflicts(_));
        if !conflicts && self.query.is_none() {
            let scratch = self.scratch(ours)?;
            let message = self.message(candidate, ours, None)?;
            match scratch.repo()?.merge_here(&candidate.tip, &message, self.how)? {
                Merged::At(commit) => return Ok(Joined { commit, resolved: None, scratch: Some(scratch) }),
                // A merge driver of the user's can see more than git's own preview.
                Merged::Conflicts(_) => {}
                Merged::UpToDate => return Err(LeftOut::Trouble("there is nothing to merge".into()).into()),
            }
        }
        self.join_with_help(candidate, ours, record, watch)
    }

    fn join_with_help(
        &self,
        candidate: &Candidate,
        ours: &Oid,
        record: &mut Record,
        watch: &mut dyn Watch,
    ) -> Result<Joined<'_>, Stopped> {
        let scratch = self.scratch(ours)?;
        let repo = scratch.repo()?;
        let open: OpenMerge = repo.begin_merge(&candidate.tip, self.how)?;
        if candidate.agents.is_empty() {
            return Err(match open.conflicts.is_empty() {
                true => LeftOut::NoAgent.into(),
                false => LeftOut::Conflicts(open.conflicts).into(),
            });
        }
        self.set_up(&scratch, record, watch)?;
        let (resolution, resolved) = self.resolve(candidate, repo, &open, record, watch)?;
        let message = self.message(candidate, ours, Some(&resolved))?;
        let commit = repo.conclude(&open, &resolution, &message)?;
        Ok(Joined { commit, resolved: Some(resolved), scratch: None })
    }
}
