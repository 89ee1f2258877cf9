//! One try to join a task with the branch, all of it in scratch worktrees.

use super::checks::Proposal;
use super::turn::Record;
use super::{Candidate, LeftOut, Made, MergeObserver, Merger, Proven, Resolved, Stopped};
use crate::engine::masker;
use crate::event::SecretFile;
use crate::git::{CleanCheckout, Looked, MergeStyle, Merged, Oid, OpenMerge, Preview, Repo};
use crate::store::files;

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
struct Joined {
    commit: Oid,
    resolved: Option<Resolved>,
}

impl Merger<'_> {
    pub(super) fn attempt(
        &self,
        candidate: &Candidate,
        ours: &Oid,
        observer: &mut dyn MergeObserver,
    ) -> Result<Made, Stopped> {
        let fast_forward = self.how == MergeStyle::Merge
            && self.query.is_none()
            && self.repo.is_ancestor(ours, &candidate.tip)?;
        // After a fast-forward the result is the very commit that was proven; nothing has to be proven again.
        let by_receipt = |check: &String| candidate.has_receipt(check, &candidate.tip);
        if fast_forward && candidate.judged_by().all(by_receipt) {
            let proven = |check: &String| Proven { command: check.clone(), by_receipt: true, exposed: None };
            let checks = candidate.judged_by().map(proven).collect();
            return Ok(Made { commit: candidate.tip.clone(), fast_forward, checks, resolved: None });
        }
        let mut record = Record::create(self, candidate)?;
        let joined = if fast_forward {
            Joined { commit: candidate.tip.clone(), resolved: None }
        } else {
            self.join(candidate, ours, &mut record, observer)?
        };
        let mut checks = Vec::new();
        if candidate.judged_by().next().is_some() {
            let proposal = Proposal { commit: &joined.commit, onto: ours };
            checks = self.prove(candidate, &proposal, &mut record, observer)?;
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
        files::make_dir(parent).map_err(|error| LeftOut::trouble(&error))?;
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
        observer: &mut dyn MergeObserver,
    ) -> Result<Joined, Stopped> {
        let mut conflicts = match self.repo.preview_merge(ours, &candidate.tip)? {
            Preview::Conflicts(files) => files,
            Preview::UpToDate | Preview::FastForward | Preview::Clean => Vec::new(),
        };
        if conflicts.is_empty() && self.query.is_none() {
            let scratch = self.scratch(ours)?;
            let message = self.message(candidate, ours, None)?;
            match scratch.repo()?.merge_here(&candidate.tip, &message, self.how)? {
                Merged::At(commit) => return Ok(Joined { commit, resolved: None }),
                // A merge driver of the user's can see more than git's own preview.
                Merged::Conflicts(files) => conflicts = files,
                Merged::UpToDate => return Err(LeftOut::Trouble("there is nothing to merge".into()).into()),
            }
        }
        match (candidate.agents.is_empty(), conflicts.is_empty()) {
            (true, true) => Err(LeftOut::NoAgent.into()),
            (true, false) => Err(LeftOut::Conflicts(conflicts).into()),
            (false, _) => self.join_with_help(candidate, ours, record, observer),
        }
    }

    fn join_with_help(
        &self,
        candidate: &Candidate,
        ours: &Oid,
        record: &mut Record,
        observer: &mut dyn MergeObserver,
    ) -> Result<Joined, Stopped> {
        let scratch = self.scratch(ours)?;
        let repo = scratch.repo()?;
        // Before the merge begins: with markers in a manifest nothing can be installed.
        self.set_up(&scratch, record, observer)?;
        repo.discard_changes()?;
        let open: OpenMerge = repo.begin_merge(&candidate.tip, self.how)?;
        let (resolution, resolved) = self.resolve(candidate, repo, &open, record, observer)?;
        let message = self.message(candidate, ours, Some(&resolved))?;
        let commit = repo.conclude(&open, &resolution, &message)?;
        if !self.allow_secret {
            let masker = masker(&(self.setting)().env, &record.spec);
            let found = repo.secrets_between(Some(ours), &commit, Looked::Result, &masker)?;
            if let Some(secret) = found.first() {
                let file = SecretFile::from(secret);
                let path = masker.mask_str(&file.path);
                return Err(LeftOut::Secret(Box::new(SecretFile { path, ..file })).into());
            }
        }
        Ok(Joined { commit, resolved: Some(resolved) })
    }
}
