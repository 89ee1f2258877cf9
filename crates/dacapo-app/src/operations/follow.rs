//! A task as it goes on: what there is of it, then what comes.

use dacapo_core::store::TaskDir;

pub use dacapo_core::follow::{Follow, FollowError, Hub, Item, Opening};

use crate::App;
use crate::error::Failure;

impl App {
    /// Follows a task by the hub of this process; it belongs to whoever asks for it, and ends with it.
    pub fn follow(&self, hub: &Hub, dir: &TaskDir, opening: Opening) -> Result<Follow, Failure> {
        hub.open(dir, self.kinds, opening).map_err(|error| not_followed(dir, &error))
    }
}

/// A task whose record does not read, or does no more.
pub fn not_followed(dir: &TaskDir, error: &FollowError) -> Failure {
    Failure::failed(format!("task '{}' cannot be read: {error}", dir.name()))
        .kept("everything as it is; nothing was written")
        .hint(format!("look at {}", dir.path().display()))
}
