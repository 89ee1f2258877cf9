//! The plan that goes with a task (C1): the one that was named, else the newest that is found, where it is not an old one.

use std::path::{Path, PathBuf};

use dacapo_core::git::Repo;
use dacapo_core::spec::Plan;
use dacapo_core::store::RepoDir;

use super::TaskRequest;
use crate::error::Failure;
use crate::found_checks::{Question, remember, remembered};
use crate::messages::{Messages, Text, say};

/// A plan that nobody named is only taken when it is of a sensible size.
const LARGEST_FOUND: u64 = 256 << 10;

pub(super) fn plan(
    args: &TaskRequest,
    repo: &Repo,
    data: &RepoDir,
    notes: &mut Vec<Text>,
) -> Result<Option<Plan>, Failure> {
    if args.no_plan {
        return Ok(None);
    }
    if let Some(path) = &args.plan {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let (path, error) = (path.display().to_string(), error.to_string());
            Failure::usage(say(|m| m.plan_unreadable(&path, &error)))
                .kept(say(Messages::kept_nothing_started))
                .hint(say(Messages::plan_go_without))
        })?;
        return Ok(Some(Plan { path: path.clone(), text: text.trim_end().to_owned(), named: true }));
    }
    let Some(FoundPlan { path, name, text }) = found(repo) else { return Ok(None) };
    if is_committed(repo, &name) {
        let old = OldPlan { name, text };
        if old.answer(data) != Some(true) {
            let name = old.name.display().to_string();
            notes.push(say(|m| m.plan_not_used(&name)));
            return Ok(None);
        }
        return Ok(Some(Plan { path, text: old.text.trim_end().to_owned(), named: false }));
    }
    Ok(Some(Plan { path, text: text.trim_end().to_owned(), named: false }))
}

/// A plan that nobody named.
struct FoundPlan {
    path: PathBuf,
    /// From the top of the repository.
    name: PathBuf,
    text: String,
}

fn found(repo: &Repo) -> Option<FoundPlan> {
    let top = repo.toplevel();
    let path = newest(top)?;
    let text = std::fs::read_to_string(&path).ok()?;
    let name = path.strip_prefix(top).unwrap_or(&path).to_owned();
    Some(FoundPlan { path, name, text })
}

/// A plan that is committed and unchanged: it is not of today, and is used only after the user said so once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldPlan {
    /// From the top of the repository.
    pub name: PathBuf,
    text: String,
}

impl OldPlan {
    /// The one that a request would take if the user said so, where that has not been asked yet.
    pub fn unasked(args: &TaskRequest, repo: &Repo, data: &RepoDir) -> Option<Self> {
        if args.no_plan || args.plan.is_some() {
            return None;
        }
        let FoundPlan { name, text, .. } = found(repo)?;
        let old = Self { name, text };
        (is_committed(repo, &old.name) && old.answer(data).is_none()).then_some(old)
    }

    /// Keeps the user's word, for exactly this content.
    pub fn keep(&self, data: &RepoDir, answer: Answer) {
        let asked = self.asked();
        let used: &[String] = match answer {
            Answer::Use => &asked,
            Answer::LeaveOut => &[],
        };
        remember(data.path(), Question::Plan, &asked, used);
    }

    fn answer(&self, data: &RepoDir) -> Option<bool> {
        remembered(data.path(), Question::Plan, &self.asked()).map(|used| !used.is_empty())
    }

    fn asked(&self) -> [String; 2] {
        let hash = hmac_sha256::Hash::hash(self.text.as_bytes());
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        [self.name.to_string_lossy().into_owned(), hash]
    }
}

/// What is to become of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Use,
    LeaveOut,
}

/// Returns true if the plan comes from a commit as it is: then it is not of today. Outside of the repository, where links can
/// lead, the link counts.
fn is_committed(repo: &Repo, name: &Path) -> bool {
    let top = repo.toplevel();
    let is_unchanged = |path: &Path| repo.is_unchanged(path).unwrap_or(true);
    let real = top.canonicalize().ok().zip(top.join(name).canonicalize().ok());
    match real.as_ref().and_then(|(top, real)| real.strip_prefix(top).ok()) {
        Some(inside) => is_unchanged(inside),
        None => name.ancestors().filter(|part| top.join(part).is_symlink()).any(is_unchanged),
    }
}

/// The newest `*.md` in `.dacapo/plans/`, else in `.claude/plans/` (C1).
fn newest(top: &Path) -> Option<PathBuf> {
    [".dacapo/plans", ".claude/plans"].iter().find_map(|dir| {
        let entries = std::fs::read_dir(top.join(dir)).ok()?;
        entries
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "md"))
            .filter_map(|entry| {
                let meta =
                    entry.metadata().ok().filter(|meta| meta.is_file() && meta.len() <= LARGEST_FOUND)?;
                Some((meta.modified().ok()?, entry.path()))
            })
            .max()
            .map(|(_, path)| path)
    })
}
