//! What is in the way of a task's worktree and branch, with the command that removes it (S7).

use dacapo_core::git::{Occupant, Repo, There};
use dacapo_core::spec::{Place, TaskSpec};

use crate::error::Failure;
use crate::present::face::{self, Face};
use crate::present::words::shell_word;

/// A branch or a directory that is there already is somebody's: the task of this name cannot have it.
pub(super) fn in_the_way(repo: &Repo, spec: &TaskSpec) -> Option<Failure> {
    let (path, branch) = match &spec.place {
        Place::InPlace { branch: None, .. } => return None,
        Place::InPlace { branch: Some(new), .. } => (None, &new.name),
        Place::Worktree { path, branch, .. } => (Some(path), branch),
    };
    let short = branch.strip_prefix("refs/heads/").unwrap_or(branch);
    // What git cannot say now it says when the worktree is made.
    let occupant = path.and_then(|path| Some((path, repo.occupant(path).ok()??)));
    let taken = if let Some((path, occupant)) = occupant {
        Failure::usage(format!("Worktree for task '{}' already exists", spec.name))
            .hint(how_to_remove(&occupant, &shell_word(&path.to_string_lossy())))
    } else if repo.read_ref(branch).is_ok_and(|at| at.is_some()) {
        Failure::usage(format!("branch '{short}' already exists"))
            .hint(format!("git branch -m {short} NEW, or git branch -d {short} when it is merged"))
    } else if let Some(above) = branch_above(repo, branch) {
        // Another name of the task would not help.
        return Some(
            Failure::usage(format!("branch '{above}' leaves git no room for '{short}'"))
                .kept("everything; nothing was started")
                .hint(format!("git branch -m {above} NEW, or git branch -d {above} when it is merged")),
        );
    } else {
        return None;
    };
    let another = face::of(&spec.kind).map_or("choose another --name", Face::another_name);
    Some(taken.kept("everything; nothing was started").hint(another))
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
fn how_to_remove(occupant: &Occupant, path: &str) -> String {
    let unlock = if occupant.locked { format!("git worktree unlock {path} && ") } else { String::new() };
    let forget = |recorded: bool| {
        if recorded { format!(" && {unlock}git worktree remove {path}") } else { String::new() }
    };
    match occupant.there {
        There::Worktree { untidy: false } => {
            format!("{unlock}git worktree remove {path} when nothing in it is needed")
        }
        There::Worktree { untidy: true } => {
            format!("{unlock}git worktree remove --force {path} when nothing in it is needed")
        }
        There::Nothing => {
            format!("{unlock}git worktree remove {path} makes git forget it: its directory is gone")
        }
        There::Directory { recorded } => {
            format!("rm -r {path}{} when nothing in it is needed: it is no worktree", forget(recorded))
        }
        There::File { recorded } => {
            format!("rm {path}{} when it is not needed: it is no worktree", forget(recorded))
        }
    }
}
