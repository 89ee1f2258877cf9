//! What the agent is told about a merge, and what the commit says.

use std::fmt::Write as _;

use super::{Candidate, LeftOut, Merger, Resolved};
use crate::context::MergeMessage;
use crate::engine::{KindView, Purpose, masker};
use crate::git::{MergeStyle, Oid, OpenMerge, display_path};

/// How many commits of each side are named to the agent.
const MOST_COMMITS: usize = 20;

impl Merger<'_> {
    /// User text is put in as it is, never expanded (C8).
    pub(super) fn prompt(&self, candidate: &Candidate, open: &OpenMerge) -> Result<String, LeftOut> {
        let into = self.into.strip_prefix("refs/heads/").unwrap_or(&self.into);
        let name = &candidate.spec.name;
        let masker = masker(&(self.setting)().env, &candidate.spec);
        let purpose = candidate.view.own().and_then(KindView::purpose);
        let mut out = format!(
            "Two lines of work in this git repository are being joined: the branch of task '{name}' is merged into \
             {into}. The merge is under way in this directory; `git status` and `git diff` show it.\n\n\
             ## What task '{name}' is for\n{}\n",
            purpose.as_ref().map_or(&candidate.spec.prompt, |purpose| &purpose.goal)
        );
        for part in purpose.iter().flat_map(|purpose| &purpose.parts) {
            let _ = writeln!(out, "- {part}");
        }
        let base = self.repo.merge_base(&open.ours, &open.theirs)?;
        if let Some(base) = &base {
            let mut commits = String::new();
            self.name_commits(&mut commits, &format!("What was done for task '{name}'"), base, &open.theirs)?;
            self.name_commits(&mut commits, &format!("What happened on {into} meanwhile"), base, &open.ours)?;
            // An agent words its own commits.
            out.push_str(&masker.mask_str(&commits));
        }
        if !open.conflicts.is_empty() {
            out.push_str("\n## Files with conflicts\n");
            for path in &open.conflicts {
                let _ = writeln!(out, "- {}", masker.mask_str(&display_path(path)));
            }
        }
        if let Some(query) = &self.query {
            let _ = write!(out, "\n## What the person who merges wants\n{query}\n");
        }
        out.push_str(
            "\n## Rules\n\
             - Keep what both sides are for. Where they contradict each other, follow the person who merges; else keep \
             both as far as they can be kept.\n\
             - Leave no conflict markers in any file. A conflict without markers (a file that one side removed, a binary \
             file, a submodule) is decided by `git add` or `git rm` of that path.\n\
             - Change nothing that this merge does not need.\n\
             - Do not commit, and do not abort the merge: it is committed for you when you are done.\n",
        );
        if !candidate.checks.is_empty() {
            out.push_str("- These decide whether the result is taken; run them if you can:\n");
            for check in &candidate.checks {
                let _ = writeln!(out, "  {check}");
            }
        }
        Ok(out)
    }

    fn name_commits(&self, out: &mut String, title: &str, base: &Oid, tip: &Oid) -> Result<(), LeftOut> {
        let subjects = self.repo.subjects_between(base, tip, MOST_COMMITS)?;
        if !subjects.is_empty() {
            let _ = write!(out, "\n## {title} (newest first)\n");
        }
        for subject in subjects {
            let _ = writeln!(out, "- {subject}");
        }
        Ok(())
    }

    /// No known secret gets into it (S15).
    pub(super) fn message(
        &self,
        candidate: &Candidate,
        ours: &Oid,
        resolved: Option<&Resolved>,
    ) -> Result<String, LeftOut> {
        let conflicts: Vec<String> =
            resolved.iter().flat_map(|resolved| &resolved.conflicts).map(|path| display_path(path)).collect();
        let purpose = candidate.view.own().and_then(KindView::purpose);
        let title = purpose.as_ref().map_or(candidate.spec.prompt.as_str(), |purpose| &purpose.title);
        let message = MergeMessage {
            task: candidate.spec.name.as_str(),
            kind: purpose.as_ref().map_or("task", |purpose| purpose.word),
            prompt: title,
            branch: candidate.branch.strip_prefix("refs/heads/").unwrap_or(&candidate.branch),
            parts: purpose.as_ref().map_or(&[], |Purpose { parts_done, .. }| parts_done),
            commits: self.repo.commits_between(ours, &candidate.tip)?,
            checks: &candidate.checks,
            agent: resolved.map(|resolved| resolved.agent.as_str()),
            conflicts: &conflicts,
            query: self.query.as_deref(),
        };
        let text = match self.how {
            MergeStyle::Merge => message.merge(),
            MergeStyle::Squash => {
                let done = candidate.view.iterations.iter().filter(|record| record.commit_id.is_some());
                message.squash(done.map(|record| record.summary.as_str()))
            }
        };
        Ok(masker(&(self.setting)().env, &candidate.spec).mask_str(&text))
    }
}
