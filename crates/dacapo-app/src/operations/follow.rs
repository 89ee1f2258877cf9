//! A task as it goes on: what there is of it, then what comes.

use dacapo_core::store::TaskDir;

pub use dacapo_core::follow::{Follow, FollowError, Hub, Item, Opening};

use crate::App;
use crate::error::Failure;
use crate::messages::{Messages, say};
use crate::present::errors::InWords as _;

impl App {
    /// Follows a task by the hub of this process; it belongs to whoever asks for it, and ends with it.
    pub fn follow(&self, hub: &Hub, dir: &TaskDir, opening: Opening) -> Result<Follow, Failure> {
        hub.open(dir, self.kinds, opening).map_err(|error| not_followed(dir, &error))
    }
}

/// A task whose record does not read, or does no more.
pub fn not_followed(dir: &TaskDir, error: &FollowError) -> Failure {
    let (name, path) = (dir.name(), dir.path().display().to_string());
    Failure::failed(say(|m| m.task_unreadable(&name, &error.in_words(m))))
        .kept(say(Messages::follow_kept))
        .hint(say(|m| m.hint_look_at(&path)))
}
