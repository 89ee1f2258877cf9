//! What is in the way of a task's worktree and branch, with the command that removes it (S7).

use std::fs;

use dacapo_core::git::Repo;
use dacapo_core::spec::{Place, TaskSpec};

use crate::error::Failure;
use crate::messages::{Messages, Text, say};
use crate::present::kind_words;
use crate::present::words::shell_word;

/// A branch or a directory that is there already is somebody's: the task of this name cannot have it.
pub(super) fn in_the_way(repo: &Repo, spec: &TaskSpec) -> Option<Failure> {
    let (path, branch) = match &spec.place {
        Place::InPlace { branch: None, .. } => return None,
        Place::InPlace { branch: Some(new), .. } => (None, &new.name),
        Place::Worktree { path, branch, .. } => (Some(path), branch),
    };
    let short = branch.strip_prefix("refs/heads/").unwrap_or(branch);
    let occupant = path.and_then(|path| Some((path, fs::symlink_metadata(path).ok()?)));
    let taken = if let Some((path, meta)) = occupant {
        Failure::usage(say(|m| m.worktree_exists(spec.name.as_str())))
            .hint(how_to_remove(&meta, &shell_word(&path.to_string_lossy())))
    } else if repo.read_ref(branch).is_ok_and(|at| at.is_some()) {
        Failure::usage(say(|m| m.branch_exists(short))).hint(say(|m| m.branch_rename_or_delete(short)))
    } else if let Some(above) = branch_above(repo, branch) {
        // Another name of the task would not help.
        return Some(
            Failure::usage(say(|m| m.branch_above(&above, short)))
                .kept(say(Messages::kept_nothing_started))
                .hint(say(|m| m.branch_rename_or_delete(&above))),
        );
    } else {
        return None;
    };
    let another = match kind_words::of(&spec.kind) {
        Some(own) => say(|messages| own.another_name(messages)),
        None => say(Messages::hint_another_name),
    };
    Some(taken.kept(say(Messages::kept_nothing_started)).hint(another))
}

/// A branch `a`, where `a/b` is wanted.
fn branch_above(repo: &Repo, branch: &str) -> Option<String> {
    let mut name = branch;
    while let Some((above, _)) = name.rsplit_once('/') {
        let short = above.strip_prefix("refs/heads/")?;
        if repo.read_ref(above).is_ok_and(|at| at.is_some()) {
            return Some(short.to_owned());
        }
        name = above;
    }
    None
}

/// As it can be typed, and when.
fn how_to_remove(meta: &fs::Metadata, path: &str) -> Text {
    if meta.is_dir() {
        say(|m| m.worktree_remove_directory(&format!("rm -r {path}")))
    } else {
        say(|m| m.worktree_remove_file(&format!("rm {path}")))
    }
}
