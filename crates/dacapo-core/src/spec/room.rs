//! How far the kernel confines agents, and the commands that run what they wrote (R5).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What agents, checks and setup commands may change. A later one is stricter.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RoomMode {
    /// Everything that the user may change.
    None,
    /// Everything but what judges them: Dacapo's data, settings and program, git's settings and hooks.
    #[default]
    Guarded,
    /// Their worktree, temp, the agent's own state and the caches of the project's tools.
    Strict,
}

impl RoomMode {
    /// The word for it in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Guarded => "guarded",
            Self::Strict => "strict",
        }
    }
}
