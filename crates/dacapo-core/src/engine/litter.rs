//! What lies uncommitted in a workspace and is not the work of an iteration.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::SystemTime;

use jiff::Timestamp;

use super::context::DriverError;
use super::workspace::Workspace;
use crate::git::{Apart, Compared, display_path};

/// How a path looks. None: it is not there.
pub(super) type Look = Option<(u64, SystemTime)>;

impl Workspace {
    fn look(&self, path: &PathBuf) -> Look {
        let meta = std::fs::symlink_metadata(self.repo.toplevel().join(path)).ok()?;
        Some((meta.len(), meta.modified().ok()?))
    }

    /// The tree was clean but for what was left out before, so these are a check's. Gives back the new ones.
    pub(super) fn note_litter(&mut self, dirty: Vec<PathBuf>) -> Vec<PathBuf> {
        let known: BTreeSet<&PathBuf> = self.left_out.iter().collect();
        let mut fresh = Vec::new();
        for path in dirty.into_iter().filter(|path| !known.contains(path)) {
            let look = self.look(&path);
            if self.litter.get(&path) != Some(&look) {
                fresh.push((path, look));
            }
        }
        self.litter.extend(fresh.iter().cloned());
        fresh.into_iter().map(|(path, _)| path).collect()
    }

    /// Files that a check changed are reported and not committed as if the agent had.
    pub(super) fn note_new_litter(&mut self) -> Result<Vec<String>, DriverError> {
        if !self.repo.what_is_gone().is_empty() {
            return Ok(Vec::new());
        }
        let users = self.compare_users()?;
        let dirt = self.repo.dirt()?;
        let mut paths: Vec<PathBuf> = dirt.tracked.into_iter().chain(dirt.untracked).collect();
        paths.retain(|path| !users.same.contains(path));
        // Git does not tell of an untracked file that is gone.
        paths.extend(users.gone);
        Ok(self.note_litter(paths).iter().map(|path| display_path(path)).collect())
    }

    /// What checks of an earlier process left and nobody has touched since they were seen.
    pub(super) fn recall_litter(&mut self, seen: &HashMap<String, Timestamp>) -> Result<(), DriverError> {
        if seen.is_empty() {
            return Ok(());
        }
        let dirt = self.repo.dirt()?;
        for path in dirt.tracked.into_iter().chain(dirt.untracked) {
            let look = self.look(&path);
            let changed = look.and_then(|(_, modified)| Timestamp::try_from(modified).ok());
            if seen.get(&display_path(&path)).is_some_and(|at| changed.is_none_or(|changed| changed <= *at)) {
                self.litter.insert(path, look);
            }
        }
        Ok(())
    }

    /// What is no part of a commit as it is now, given what has become of the user's files.
    pub(super) fn apart(&self, users: &Compared) -> Apart {
        Apart {
            litter: self.untouched_litter().collect(),
            users: users.same.clone(),
            changed: users.changed.clone(),
        }
    }

    /// What lies here uncommitted and is not the work of an iteration.
    pub(super) fn not_the_agents(&self, users: &Compared) -> Apart {
        let mut apart = self.apart(users);
        apart.litter.extend(self.left_out.iter().cloned());
        apart
    }

    /// What checks left and nobody has touched since.
    fn untouched_litter(&self) -> impl Iterator<Item = PathBuf> {
        self.litter.iter().filter(|(path, look)| self.look(path) == **look).map(|(path, _)| path.clone())
    }
}
