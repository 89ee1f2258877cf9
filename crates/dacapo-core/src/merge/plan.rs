//! What a merge would do, before it does anything.

use std::path::PathBuf;

use super::{Candidate, LeftOut, Merger};
use crate::event::{TestsMark, TestsResult};
use crate::git::{MergeStyle, Oid, Preview};
use crate::spec::Place;

/// What one task's merge will come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    pub name: String,
    /// Commits that the branch does not have.
    pub commits: u64,
    /// Files that they change.
    pub files: Vec<PathBuf>,
    /// What is to be expected.
    pub expected: Expected,
    /// The checks, and whether the task's own receipts make another run needless.
    pub checks: Vec<(String, bool)>,
    /// Who resolves conflicts or follows the query.
    pub agent: Option<String>,
    /// What is said of the tests that it changed.
    pub tests: Option<TestsMark>,
    /// Files in the task's worktree that are in no commit, and so no part of this.
    pub uncommitted: usize,
}

/// What is to be expected of one merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// The branch holds all of it.
    AlreadyThere,
    /// The task has no commits of its own.
    Empty,
    /// The branch moves on.
    FastForward,
    /// A commit joins both.
    Merge,
    Squash,
    Conflicts {
        files: Vec<PathBuf>,
        /// Tasks of this same merge whose changes are in the way; none: what the branch holds already is.
        with: Vec<String>,
    },
}

impl Merger<'_> {
    /// Tries all of it, in order, each on top of those before, without touching a ref or a file.
    pub fn plan(&self, candidates: &[Candidate]) -> Result<Vec<Planned>, LeftOut> {
        let start = self.tip()?;
        let mut ours = start.clone();
        let mut taken: Vec<&Candidate> = Vec::new();
        let mut plan = Vec::new();
        for candidate in candidates {
            let (expected, next) = self.expect(candidate, &start, &ours, &taken)?;
            if let Some(next) = next {
                ours = next;
                taken.push(candidate);
            }
            plan.push(self.planned(candidate, &start, expected)?);
        }
        Ok(plan)
    }

    fn expect(
        &self,
        candidate: &Candidate,
        start: &Oid,
        ours: &Oid,
        taken: &[&Candidate],
    ) -> Result<(Expected, Option<Oid>), LeftOut> {
        let preview = self.repo.preview_merge(ours, &candidate.tip)?;
        let expected = match (preview, self.how) {
            (Preview::UpToDate, _) if candidate.view.base_commit.as_ref() == Some(&candidate.tip) => {
                return Ok((Expected::Empty, None));
            }
            (Preview::UpToDate, _) => return Ok((Expected::AlreadyThere, None)),
            (Preview::Conflicts(files), _) => {
                let mut with = Vec::new();
                if ours != start
                    && !matches!(self.repo.preview_merge(start, &candidate.tip)?, Preview::Conflicts(_))
                {
                    for other in taken {
                        if self.repo.would_conflict(&other.tip, &candidate.tip)? {
                            with.push(other.spec.name.to_string());
                        }
                    }
                }
                return Ok((Expected::Conflicts { files, with }, None));
            }
            (Preview::FastForward | Preview::Clean, MergeStyle::Squash) => Expected::Squash,
            (Preview::FastForward, MergeStyle::Merge) => Expected::FastForward,
            (Preview::Clean, MergeStyle::Merge) => Expected::Merge,
        };
        let next = self.repo.trial_merge(ours, &candidate.tip, self.how)?;
        Ok((expected, next))
    }

    fn planned(&self, candidate: &Candidate, start: &Oid, expected: Expected) -> Result<Planned, LeftOut> {
        let base = self.repo.merge_base(start, &candidate.tip)?;
        let files = self.repo.changed_between(base.as_ref(), &candidate.tip)?;
        let stays = expected == Expected::FastForward && self.query.is_none();
        let needs_agent = self.query.is_some() || matches!(expected, Expected::Conflicts { .. });
        Ok(Planned {
            name: candidate.spec.name.to_string(),
            commits: self.repo.commits_between(start, &candidate.tip)?,
            files: files.into_iter().map(|change| change.path).collect(),
            checks: candidate
                .judged_by()
                .map(|check| (check.clone(), stays && candidate.has_receipt(check, &candidate.tip)))
                .collect(),
            agent: candidate.agents.first().filter(|_| needs_agent).map(|agent| agent.name.clone()),
            tests: candidate.view.tests().and_then(TestsResult::mark),
            uncommitted: match &candidate.spec.place {
                Place::Worktree { path, .. } => super::home::uncommitted(self.repo, path),
                Place::InPlace { .. } => 0,
            },
            expected,
        })
    }
}

impl Candidate {
    /// The checks that a proof runs, held-out ones included.
    pub(super) fn judged_by(&self) -> impl Iterator<Item = &String> {
        self.checks.iter().chain(&self.view.proof_policy.hidden_checks)
    }

    /// Whether the task's own record proves this check on exactly this commit.
    pub(super) fn has_receipt(&self, check: &str, commit: &Oid) -> bool {
        self.view.proves(check, commit)
    }
}
