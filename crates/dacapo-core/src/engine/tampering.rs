//! What agents change beside their work: git's own settings and hooks, and those of Dacapo. It is not undone, since a task may ask
//! for it; but it is said at once, and named in the result (R6).

use std::path::Path;

use super::context::DriverError;
use super::driver::Driver;
use crate::event::WorkspaceNotice;
use crate::files;
use crate::git::{LONGEST_LIST, Repo, SettingsFiles};
use crate::store::TaskDir;

/// What they were before the first turn, and what was said of them since.
#[derive(Debug, Default)]
pub(super) struct Tampering {
    before: Option<SettingsFiles>,
    said: Vec<String>,
}

impl Tampering {
    /// Before the first turn: how everything is that no agent has touched yet. A process that takes the task up goes by what the
    /// first one saw.
    pub(super) fn remember(&mut self, repo: &Repo, top: &Path, dir: &TaskDir) {
        if self.before.is_some() {
            return;
        }
        let path = dir.settings_files_path();
        let seen =
            files::read(&path, LONGEST_LIST).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        self.before = Some(seen.unwrap_or_else(|| {
            let now = SettingsFiles::of(repo, top, None);
            // Without it a process that takes the task up starts from what it finds.
            let _ = serde_json::to_vec(&now).map(|bytes| files::replace(&path, &bytes));
            now
        }));
    }

    /// The files that are not what they were before the first turn.
    fn changed(&self, repo: &Repo, top: &Path) -> Vec<String> {
        let Some(before) = &self.before else { return Vec::new() };
        SettingsFiles::of(repo, top, Some(before)).changed_since(before)
    }

    /// Those of which it was not said yet.
    fn newly_changed(&mut self, repo: &Repo, top: &Path) -> Vec<String> {
        let mut changed = self.changed(repo, top);
        changed.retain(|name| !self.said.contains(name));
        self.said.extend(changed.iter().cloned());
        changed
    }
}

impl Driver<'_> {
    pub(super) fn remember_settings_files(&mut self) {
        if let Some(workspace) = &self.workspace {
            self.turns.tampering.remember(&workspace.repo, &self.spec.top, &self.dir);
        }
    }

    /// The files that are not what they were before the first turn.
    pub(super) fn changed_settings_files(&self) -> Vec<String> {
        let workspace = self.workspace.as_ref();
        workspace
            .map_or_else(Vec::new, |workspace| self.turns.tampering.changed(&workspace.repo, &self.spec.top))
    }

    /// Says what was changed in a turn, each file once.
    pub(super) fn report_settings_files(&mut self) -> Result<(), DriverError> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        let changed = self.turns.tampering.newly_changed(&workspace.repo, &self.spec.top);
        if changed.is_empty() {
            return Ok(());
        }
        self.note_of_workspace(WorkspaceNotice::SettingsChanged { files: changed })
    }
}
