//! What agents change beside their work: git's own settings and hooks, those of Dacapo, and the user's own. It is not undone, since a task may ask
//! for it; but it is said at once, and named in the result (R6).

use std::path::{Path, PathBuf};

use super::context::DriverError;
use super::driver::Driver;
use super::workspace::Workspace;
use crate::event::WorkspaceNotice;
use crate::files;
use crate::git::{LONGEST_LIST, Repo, SettingsFiles};
use crate::proof::{Suspects, Watch};
use crate::store::TaskDir;

/// What they were before the first turn, and what was said of them since.
#[derive(Debug, Default)]
pub(super) struct Tampering {
    before: Option<SettingsFiles>,
    /// The user's own settings. Only since this process began: what the user changes while nobody works is no agent's doing.
    user_before: Option<SettingsFiles>,
    said: Vec<String>,
    /// So that proofs of later tasks know what appeared meanwhile.
    watch: Option<Watch>,
}

impl Tampering {
    /// Before the first turn: how everything is that no agent has touched yet. A process that takes the task up goes by what the
    /// first one saw.
    fn remember(&mut self, places: &Places<'_>, dir: &TaskDir) {
        if self.before.is_some() {
            return;
        }
        self.user_before = Some(SettingsFiles::of_user(places.user, None));
        let path = dir.settings_files_path();
        let seen =
            files::read(&path, LONGEST_LIST).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        self.before = Some(seen.unwrap_or_else(|| {
            let now = SettingsFiles::of(places.repo, places.tree, None);
            // Without it a process that takes the task up starts from what it finds.
            let _ = serde_json::to_vec(&now).map(|bytes| files::replace(&path, &bytes));
            now
        }));
    }

    /// The files that are not what they were before the first turn.
    fn changed(&self, places: &Places<'_>) -> Vec<String> {
        let (Some(before), Some(user_before)) = (&self.before, &self.user_before) else { return Vec::new() };
        let mut changed = SettingsFiles::of(places.repo, places.tree, Some(before)).changed_since(before);
        changed.extend(SettingsFiles::of_user(places.user, Some(user_before)).changed_since(user_before));
        changed
    }

    /// Those of which it was not said yet.
    fn newly_changed(&mut self, places: &Places<'_>) -> Vec<String> {
        let mut changed = self.changed(places);
        changed.retain(|name| !self.said.contains(name));
        self.said.extend(changed.iter().cloned());
        changed
    }
}

/// Where settings are.
struct Places<'a> {
    /// The user's repository.
    repo: &'a Repo,
    /// The working tree of the task.
    tree: &'a Path,
    /// Files and directories of the user's own.
    user: &'a [PathBuf],
}

impl<'a> Places<'a> {
    fn of(workspace: &'a Workspace, user: &'a [PathBuf]) -> Self {
        Self { repo: workspace.users(), tree: workspace.repo.toplevel(), user }
    }
}

impl Driver<'_> {
    pub(super) fn remember_settings_files(&mut self) {
        self.watch_settings();
        if let Some(workspace) = &self.workspace {
            let places = Places::of(workspace, &self.context.user_settings);
            self.turns.tampering.remember(&places, &self.dir);
        }
    }

    /// The files that are not what they were before the first turn.
    pub(super) fn changed_settings_files(&self) -> Vec<String> {
        let Some(workspace) = &self.workspace else { return Vec::new() };
        let places = Places::of(workspace, &self.context.user_settings);
        self.turns.tampering.changed(&places)
    }

    /// Says what was changed in a turn, each file once.
    pub(super) fn report_settings_files(&mut self) -> Result<(), DriverError> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        let places = Places::of(workspace, &self.context.user_settings);
        let changed = self.turns.tampering.newly_changed(&places);
        if changed.is_empty() {
            return Ok(());
        }
        self.note_of_workspace(WorkspaceNotice::SettingsChanged { files: changed })
    }

    /// From before the first turn on. Without it the task runs all the same.
    fn watch_settings(&mut self) {
        if self.turns.tampering.watch.is_some() {
            return;
        }
        let Ok(user) = self.discover(&self.spec.top) else { return };
        match Watch::begin(&user, &self.dir.repo_path(), self.spec.name.as_str()) {
            Ok(watch) => self.turns.tampering.watch = Some(watch),
            Err(error) => tracing::warn!(%error, "cannot watch the settings of git"),
        }
    }

    /// When no agent of the task runs any more.
    pub(super) fn end_watch(&mut self) {
        let Some(watch) = self.turns.tampering.watch.take() else { return };
        let Ok(user) = self.discover(&self.spec.top) else { return };
        if let Err(error) = watch.end(&user) {
            tracing::warn!(%error, "cannot note which settings of git an agent changed");
        }
    }

    /// The settings that have no part in this task's proofs: an agent may have made them.
    pub(super) fn suspects(&mut self, user: &Repo) -> Result<Suspects, DriverError> {
        let suspects = Suspects::look(user, &self.dir.repo_path()).unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot tell which settings of git an agent made");
            Suspects::default()
        });
        let mut settings: Vec<String> = suspects.names().into_iter().map(|suspect| suspect.name).collect();
        settings.dedup();
        if !settings.is_empty() {
            self.note_of_workspace(WorkspaceNotice::SettingsLeftOut { settings })?;
        }
        Ok(suspects)
    }
}
