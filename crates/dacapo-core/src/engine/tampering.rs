//! What agents change beside their work: git's own settings and hooks, and those of Dacapo. It is not undone, since a task may ask
//! for it; but it is said at once, and named in the result (R6).

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::driver::Driver;
use super::machine::Input;
use super::surroundings::DriverError;
use crate::git::SettingsFiles;

/// What they were before the first turn, and what was said of them since.
#[derive(Debug, Default)]
pub(super) struct Tampering {
    before: Option<SettingsFiles>,
    said: Vec<String>,
}

impl Driver<'_> {
    /// Before the first turn: how everything is that no agent has touched yet. A process that takes the task up goes by what the
    /// first one saw.
    pub(super) fn remember_settings_files(&mut self) {
        let Some(workspace) = self.workspace.as_ref().filter(|_| self.tampering.before.is_none()) else {
            return;
        };
        let path = self.dir.settings_files_path();
        let seen = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let before = seen.unwrap_or_else(|| {
            let now = SettingsFiles::of(&workspace.repo, &self.spec.top, None);
            // Without it a process that takes the task up starts from what it finds.
            let _ = serde_json::to_vec(&now).map(|bytes| write(&path, &bytes));
            now
        });
        self.tampering.before = Some(before);
    }

    /// The files that are not what they were before the first turn.
    pub(super) fn changed_settings_files(&self) -> Vec<String> {
        let (Some(workspace), Some(before)) = (&self.workspace, &self.tampering.before) else {
            return Vec::new();
        };
        SettingsFiles::of(&workspace.repo, &self.spec.top, Some(before)).changed_since(before)
    }

    /// Says what was changed in a turn, each file once.
    pub(super) fn report_settings_files(&mut self) -> Result<(), DriverError> {
        let mut changed = self.changed_settings_files();
        changed.retain(|name| !self.tampering.said.contains(name));
        if changed.is_empty() {
            return Ok(());
        }
        let named = changed.join(", ");
        self.tampering.said.extend(changed);
        self.input(&Input::Notice(format!(
            "changed while the agent was at work: {named}; it decides what your own commands do here"
        )))
    }
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(bytes)
}
