//! Whether there is room for what comes in: only files that the merge touches must be as they were committed (S11).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dacapo_core::git::{GitError, Oid, Repo, display_path};
use dacapo_core::merge::Candidate;

use super::NOTHING;
use crate::error::Failure;
use crate::output::words;

/// Refused where the user has changed what comes in: it must not get mixed up. Git itself stops at what only turns out later, such
/// as untracked files in the way.
pub(super) fn look(repo: &Repo, from: &Oid, candidates: &[Candidate]) -> Result<(), Failure> {
    let failed = |error: GitError| Failure::failed(error.to_string()).kept(NOTHING);
    let dirt = repo.dirt().map_err(failed)?;
    if let Some(operation) = dirt.operation {
        return Err(Failure::usage(format!("this checkout is in the middle of something: {operation}"))
            .kept(NOTHING)
            .hint(format!("finish it or git {operation} --abort, then merge")));
    }
    if let Some(path) = dirt.unmerged.first() {
        return Err(Failure::usage(format!("{} has conflicts that are not resolved", display_path(path)))
            .kept(NOTHING)
            .hint("resolve and commit them, then merge"));
    }
    if dirt.tracked.is_empty() {
        return Ok(());
    }
    let mut touched = BTreeSet::new();
    for candidate in candidates {
        let base = repo.merge_base(from, &candidate.tip).map_err(failed)?;
        let changes = repo.changed_between(base.as_ref(), &candidate.tip).map_err(failed)?;
        touched.extend(changes.into_iter().map(|change| change.path));
    }
    let changed = in_the_way(&dirt.tracked, &touched);
    if changed.is_empty() {
        return Ok(());
    }
    let mut named: Vec<String> = changed.iter().take(3).map(|path| display_path(path)).collect();
    if changed.len() > named.len() {
        named.push("…".into());
    }
    let count = words::count(changed.len() as u64, "uncommitted change");
    Err(Failure::usage(format!("{count} here in files that the merge touches ({})", named.join(", ")))
        .kept(NOTHING)
        .hint("commit them, or git stash, then merge"))
}

/// Changed files that come in as well, or that are a directory on the other side.
fn in_the_way<'a>(changed: &'a [PathBuf], touched: &BTreeSet<PathBuf>) -> Vec<&'a Path> {
    let meets = |path: &&Path| {
        path.ancestors().any(|above| touched.contains(above))
            || touched.range(path.to_path_buf()..).next().is_some_and(|next| next.starts_with(path))
    };
    changed.iter().map(PathBuf::as_path).filter(meets).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s11_only_what_the_merge_touches_is_in_the_way() {
        let touched: BTreeSet<PathBuf> = ["a", "dir/b", "was-a-file/c"].map(PathBuf::from).into();
        let changed = ["a", "a.txt", "di", "dir/x", "dir/b/deep", "was-a-file", "z"].map(PathBuf::from);
        let found: Vec<String> =
            in_the_way(&changed, &touched).iter().map(|path| display_path(path)).collect();
        assert_eq!(found, ["a", "dir/b/deep", "was-a-file"]);
    }
}
