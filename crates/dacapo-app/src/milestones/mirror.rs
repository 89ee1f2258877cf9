//! What a milestone's mirror says (M8), for when its task is not there any more.

use std::path::Path;

use serde::Deserialize;

use super::files::read_text;
use crate::messages::{Messages, Text, say};
use crate::present;

/// No mirror is larger.
const MOST_BYTES: usize = 64 << 10;

/// What is read of `ID.json`. Whoever wrote it may be a later version: what is not known is left alone.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Mirror {
    pub status: String,
    /// Rounds that were accepted.
    #[serde(default)]
    pub iteration_count: u32,
    #[serde(default)]
    pub rounds: Option<u32>,
    #[serde(default)]
    pub tokens_used: u64,
    /// What it cost, where that is known.
    #[serde(default)]
    pub cost_usd: Option<f64>,
    #[serde(default)]
    pub branch_name: Option<String>,
}

impl Mirror {
    /// Reads a file; `None` if there is no file.
    pub fn read(path: &Path) -> Result<Option<Self>, Text> {
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let text = read_text(path, MOST_BYTES)?;
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| say(|m| m.milestones_not_a_mirror(&error.to_string())))
    }

    /// Its status for people; a word that this version does not know stays as it is.
    pub fn status_in_words(&self, messages: Messages) -> String {
        match serde_json::from_value(self.status.clone().into()) {
            Ok(status) => present::milestone::status(status, messages),
            Err(_) => self.status.clone(),
        }
    }
}
