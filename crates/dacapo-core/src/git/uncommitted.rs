//! The user's own uncommitted changes: kept as a commit before a loop in place, or copied into a worktree.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::error::GitError;
use super::status::Entry;
use super::{CommitRequest, Head, Landed, Landing, LeftOut, Prepared, Problem, Repo, Rescued};

/// The user's changes as a commit of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedChanges {
    /// HEAD afterwards: the base of the iterations.
    pub head: Head,
    /// What was kept, and under which refs: the files, and the index where it said something else.
    pub rescued: Vec<Rescued>,
    /// Files that are in neither, and stay untracked.
    pub left_out: Vec<LeftOut>,
    /// Nested repositories; they stay as they are.
    pub nested: Vec<PathBuf>,
    /// Conflicts or an operation half done: then nothing was changed, and no loop can start.
    pub problems: Vec<Problem>,
}

/// What was brought into a fresh worktree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copied {
    /// Files and links written.
    pub written: usize,
    /// Files taken away.
    pub removed: usize,
    /// What cannot be copied as files: nested repositories, changed submodules, special files.
    pub skipped: Vec<PathBuf>,
}

impl Repo {
    /// Makes the user's changes a commit on their branch, so that no iteration's commit is mixed with them.
    /// The same files stay out as of any commit of ours. `request.home` must be HEAD as it is.
    pub fn keep_user_changes(&self, request: &CommitRequest<'_>) -> Result<SavedChanges, GitError> {
        // Before anything is staged: what the user had staged may differ from both HEAD and the files, and once the index
        // has changed nothing else names it. Cut short in between, it is under its ref.
        let before = request.home.commit.as_ref().map(|head| self.tree_of(head)).transpose()?;
        let staged = match self.write_tree(None).ok().filter(|index| before.as_ref() != Some(index)) {
            Some(tree) => {
                let commit = self.commit_tree(&tree, request.home.commit.as_ref(), request)?;
                Some((tree, self.rescue(request.rescue_prefix, "index", &commit)?))
            }
            None => None,
        };
        let prepared = self.prepare_commit(request)?;
        let Prepared { head, commit, left_out, problems, .. } = prepared;
        let (nested, problems): (Vec<_>, Vec<_>) =
            problems.into_iter().partition(|problem| matches!(problem, Problem::NestedRepository(_)));
        let nested = nested
            .into_iter()
            .filter_map(
                |problem| if let Problem::NestedRepository(path) = problem { Some(path) } else { None },
            )
            .collect();
        let mut kept = SavedChanges { head, rescued: Vec::new(), left_out, nested, problems };
        let Some(commit) = commit.filter(|_| kept.problems.is_empty()) else {
            kept.rescued.extend(staged.map(|(_, rescued)| rescued));
            return Ok(kept);
        };
        let mut needless = Vec::new();
        match staged {
            Some((tree, rescued)) if tree == commit.tree => needless.push(rescued.name),
            Some((_, rescued)) => kept.rescued.push(rescued),
            None => {}
        }
        // Under a ref before the branch moves, so that a reset of the branch later does not lose it.
        kept.rescued.push(self.rescue(request.rescue_prefix, "tree", &commit.oid)?);
        self.forget_refs(&needless)?;
        let landed = self.land(&Landing {
            branch: kept.head.branch.as_deref(),
            old: commit.parent.as_ref(),
            new: &commit.oid,
            reason: "dacapo: uncommitted changes",
            rescue_prefix: request.rescue_prefix,
            exclusive: request.exclusive,
        })?;
        if let Landed::Elsewhere { .. } = landed {
            return Err(GitError::unexpected(
                "keep the changes",
                b"another HEAD: somebody else is committing",
            ));
        }
        kept.head.commit = Some(commit.oid);
        Ok(kept)
    }

    /// Brings what is uncommitted here into another working tree of the repository.
    pub fn copy_uncommitted(&self, to: &Self) -> Result<Copied, GitError> {
        let (status, _) = self.status(None)?;
        let mut copied = Copied::default();
        let mut paths = Vec::new();
        for entry in status.entries {
            match entry {
                Entry::Untracked(path) if path.starts_with(".dacapo") => {}
                Entry::Untracked(path) if path.as_os_str().as_bytes().ends_with(b"/") => {
                    copied.skipped.push(path);
                }
                Entry::Tracked(tracked) if tracked.submodule.is_some() => copied.skipped.push(tracked.path),
                Entry::Tracked(tracked) => paths.push(tracked.path),
                Entry::Untracked(path) | Entry::Unmerged(path) => paths.push(path),
            }
        }
        paths.sort();
        paths.dedup();
        // Removals first: a directory may have become a file, a link a directory.
        let is_there = |path: &PathBuf| {
            let found = fs::symlink_metadata(self.toplevel().join(path));
            is_below_directories(self.toplevel(), path) && found.is_ok_and(|found| !found.is_dir())
        };
        let (there, gone): (Vec<_>, Vec<_>) = paths.into_iter().partition(is_there);
        for path in &gone {
            if is_below_directories(to.toplevel(), path) && remove_file(&to.toplevel().join(path))? {
                copied.removed += 1;
                // As git does: a directory that is empty now goes too.
                for above in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
                    if fs::remove_dir(to.toplevel().join(above)).is_err() {
                        break;
                    }
                }
            }
        }
        for path in there {
            if copy_one(self.toplevel(), to.toplevel(), &path)? {
                copied.written += 1;
            } else {
                copied.skipped.push(path);
            }
        }
        Ok(copied)
    }
}

const COPY: &str = "copy uncommitted changes";

/// Whether all that leads to a path are real directories: a link would lead out of the tree.
fn is_below_directories(root: &Path, path: &Path) -> bool {
    path.ancestors()
        .skip(1)
        .filter(|above| !above.as_os_str().is_empty())
        .all(|above| fs::symlink_metadata(root.join(above)).is_ok_and(|found| found.is_dir()))
}

fn remove_file(file: &Path) -> Result<bool, GitError> {
    match fs::remove_file(file) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(GitError::io(COPY, file)(error)),
    }
}

fn copy_one(from: &Path, to: &Path, path: &Path) -> Result<bool, GitError> {
    let (source, target) = (from.join(path), to.join(path));
    let found = fs::symlink_metadata(&source).map_err(GitError::io(COPY, &source))?;
    if !found.is_file() && !found.is_symlink() {
        return Ok(false);
    }
    let mut directory = to.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        let Component::Normal(name) = part else { return Ok(false) };
        directory.push(name);
        match fs::symlink_metadata(&directory) {
            Ok(found) if found.is_dir() => continue,
            Ok(_) => fs::remove_file(&directory).map_err(GitError::io(COPY, &directory))?,
            Err(_) => {}
        }
        fs::create_dir(&directory).map_err(GitError::io(COPY, &directory))?;
    }
    if fs::symlink_metadata(&target).is_ok_and(|there| there.is_dir()) {
        fs::remove_dir_all(&target).map_err(GitError::io(COPY, &target))?;
    } else {
        remove_file(&target)?;
    }
    if found.is_symlink() {
        let leads_to = fs::read_link(&source).map_err(GitError::io(COPY, &source))?;
        std::os::unix::fs::symlink(leads_to, &target).map_err(GitError::io(COPY, &target))?;
    } else {
        fs::copy(&source, &target).map_err(GitError::io(COPY, &source))?;
    }
    Ok(true)
}
