//! What a milestone's mirror says (M8), for when its task is not there any more.

use std::path::Path;

use serde::Deserialize;

use super::files::read_text;

/// No mirror is larger.
const MOST_BYTES: usize = 64 << 10;

/// What is read of `ID.json`. Whoever wrote it may be a later version: what is not known is left alone.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Mirror {
    /// Its status then.
    pub status: String,
    /// Rounds that were accepted.
    #[serde(default)]
    pub iteration_count: u32,
    /// All rounds.
    #[serde(default)]
    pub rounds: Option<u32>,
    /// What it used.
    #[serde(default)]
    pub tokens_used: u64,
    /// What it cost, where that is known.
    #[serde(default)]
    pub cost_usd: Option<f64>,
    /// Its branch.
    #[serde(default)]
    pub branch_name: Option<String>,
}

impl Mirror {
    /// Reads a file; none: there is none.
    pub fn read(path: &Path) -> Result<Option<Self>, String> {
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let text = read_text(path, MOST_BYTES)?;
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| format!("it is no mirror of a milestone: {error}"))
    }
}
