//! What is in the way of a start: changes that are not committed, an operation half done.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Repo;
use super::error::GitError;
use super::merge::paths;
use super::status::Entry;

/// Something git began and did not finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// `git merge`.
    Merge,
    /// `git rebase`.
    Rebase,
    /// `git cherry-pick`.
    CherryPick,
    /// `git revert`.
    Revert,
    /// `git am`.
    Am,
    /// `git bisect`.
    Bisect,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Merge => "merge",
            Self::Rebase => "rebase",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Am => "am",
            Self::Bisect => "bisect",
        })
    }
}

/// What is not committed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dirt {
    /// Tracked files that differ from HEAD, staged or not.
    pub tracked: Vec<PathBuf>,
    /// Files git does not know and does not ignore; a nested repository ends in `/`.
    pub untracked: Vec<PathBuf>,
    pub unmerged: Vec<PathBuf>,
    /// What was begun and not finished.
    pub operation: Option<Operation>,
}

impl Dirt {
    /// Whether the tree is clean.
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }

    /// How many paths are not committed.
    pub fn count(&self) -> usize {
        self.tracked.len() + self.untracked.len() + self.unmerged.len()
    }
}

impl Repo {
    /// What is not committed now. Untracked files below `.dacapo/` do not count.
    pub fn dirt(&self) -> Result<Dirt, GitError> {
        let (status, _) = self.status(None)?;
        let mut dirt = Dirt { operation: self.operation(), ..Dirt::default() };
        for entry in status.entries {
            match entry {
                Entry::Tracked(tracked) => dirt.tracked.push(tracked.path),
                Entry::Unmerged(path) => dirt.unmerged.push(path),
                Entry::Untracked(path) if path.starts_with(".dacapo") => {}
                Entry::Untracked(path) => dirt.untracked.push(path),
            }
        }
        // Git tells a path twice that is out of the index and still on disk.
        let tracked: HashSet<&PathBuf> = dirt.tracked.iter().collect();
        dirt.untracked.retain(|path| !tracked.contains(path));
        Ok(dirt)
    }

    /// Files that git does not track, ignored ones too, where these paths are to be: written there, they would be lost.
    pub fn untracked_in_the_way<'a>(
        &self,
        incoming: impl IntoIterator<Item = &'a Path>,
    ) -> Result<Vec<PathBuf>, GitError> {
        /// How many names fit on any command line.
        const AT_ONCE: usize = 200;
        let there: BTreeSet<PathBuf> =
            incoming.into_iter().filter_map(|path| occupied(self.toplevel(), path)).collect();
        let there: Vec<PathBuf> = there.into_iter().collect();
        let mut found = Vec::new();
        for some in there.chunks(AT_ONCE) {
            let call = self.call("look for untracked files");
            let call = call.args(["--literal-pathspecs", "ls-files", "-z", "--others", "--"]);
            found.extend(paths(&call.args(some).stdout()?, 0));
        }
        Ok(found)
    }

    /// The operation that is under way in this working tree, by the files git keeps for it.
    pub(crate) fn operation(&self) -> Option<Operation> {
        let has = |name: &str| self.git_dir().join(name).exists();
        if has("rebase-merge") || has("rebase-apply/rebasing") {
            Some(Operation::Rebase)
        } else if has("rebase-apply") {
            Some(Operation::Am)
        } else if has("MERGE_HEAD") {
            Some(Operation::Merge)
        } else if has("REVERT_HEAD") {
            Some(Operation::Revert)
        } else if has("CHERRY_PICK_HEAD") || has("sequencer") {
            Some(Operation::CherryPick)
        } else if has("BISECT_LOG") {
            Some(Operation::Bisect)
        } else {
            None
        }
    }
}

/// What is on disk where this path is to be: itself, or a file where one of its directories is.
fn occupied(top: &Path, path: &Path) -> Option<PathBuf> {
    let mut above: Vec<&Path> = path.ancestors().filter(|above| !above.as_os_str().is_empty()).collect();
    above.reverse();
    for part in above {
        let meta = top.join(part).symlink_metadata().ok()?;
        if part == path || !meta.is_dir() {
            return Some(part.to_owned());
        }
    }
    None
}
