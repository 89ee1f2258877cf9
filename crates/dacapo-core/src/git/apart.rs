//! Paths that git sees and that are nonetheless no part of a commit.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// What is left out of a commit as it is now. The paths are compared by their parts: `a/` is `a`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Apart {
    /// Changed by somebody else, a check for one, and untouched since. Who staged one wants it.
    pub litter: BTreeSet<PathBuf>,
    /// The user's own: untracked before the task began, and unchanged (C10). Whoever staged one, it stays out.
    pub users: BTreeSet<PathBuf>,
    /// The user's own that somebody has changed since: part of the commit, and never removed with what is put aside.
    pub changed: BTreeSet<PathBuf>,
}

impl Apart {
    /// Everything that git sees is part of the commit.
    pub fn nothing() -> &'static Self {
        static NOTHING: Apart =
            Apart { litter: BTreeSet::new(), users: BTreeSet::new(), changed: BTreeSet::new() };
        &NOTHING
    }

    /// Whether a path is left out while nobody has staged it.
    pub(crate) fn contains(&self, path: &std::path::Path) -> bool {
        self.litter.contains(path) || self.users.contains(path)
    }
}
