//! Whether there is room for what comes in: only files that the merge touches must be as they were committed (S11).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dacapo_core::git::{ChangeKind, GitError, Oid, Repo, display_path};
use dacapo_core::merge::Candidate;

use super::unmerged;
use crate::error::Failure;
use crate::messages::say;
use crate::present::errors;

/// Refused where the user has changed what comes in, or has files that git does not track where others come in: nothing is to
/// be mixed up or lost, and nobody is to wait for agents and checks first. Git itself stops at what only turns out later.
pub(super) fn look(repo: &Repo, from: &Oid, candidates: &[Candidate]) -> Result<(), Failure> {
    let failed = |error: GitError| Failure::failed(errors::text(&error)).kept(unmerged());
    let dirt = repo.dirt().map_err(failed)?;
    if let Some(operation) = dirt.operation.map(|operation| operation.to_string()) {
        return Err(Failure::usage(say(|m| m.merge_operation_under_way(&operation)))
            .kept(unmerged())
            .hint(say(|m| m.merge_finish_operation(&operation))));
    }
    if let Some(path) = dirt.unmerged.first() {
        return Err(Failure::usage(say(|m| m.merge_unresolved_conflicts(&display_path(path))))
            .kept(unmerged())
            .hint(say(|m| m.merge_resolve_first())));
    }
    let (mut touched, mut incoming) = (BTreeSet::new(), BTreeSet::new());
    for candidate in candidates {
        let base = repo.merge_base(from, &candidate.tip).map_err(failed)?;
        for change in repo.changed_between(base.as_ref(), &candidate.tip).map_err(failed)? {
            if change.kind != ChangeKind::Deleted {
                incoming.insert(change.path.clone());
            }
            touched.insert(change.path);
        }
    }
    let changed = in_the_way(&dirt.tracked, &touched);
    if !changed.is_empty() {
        let (count, names) = (changed.len() as u64, named(&changed));
        return Err(Failure::usage(say(|m| m.merge_changes_in_the_way(count, &names)))
            .kept(unmerged())
            .hint(say(|m| m.merge_commit_or_stash())));
    }
    let untracked = repo.untracked_in_the_way(incoming.iter().map(PathBuf::as_path)).map_err(failed)?;
    if !untracked.is_empty() {
        let (count, names) = (untracked.len() as u64, named(&untracked));
        return Err(Failure::usage(say(|m| m.merge_untracked_in_the_way(count, &names)))
            .kept(unmerged())
            .hint(say(|m| m.merge_move_away())));
    }
    Ok(())
}

/// Three names, and whether there are more.
fn named(paths: &[impl AsRef<Path>]) -> String {
    let mut named: Vec<String> = paths.iter().take(3).map(|path| display_path(path.as_ref())).collect();
    if paths.len() > named.len() {
        named.push("…".into());
    }
    named.join(", ")
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
