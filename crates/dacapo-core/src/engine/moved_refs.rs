//! Branches, tags and stashed changes of the user's that move while an agent works (R9). What a room or a private repository
//! does not prevent is at least named, once, and what no ref leads to any more is kept.

use super::context::DriverError;
use super::driver::Driver;
use super::machine::Input;
use crate::event::{GitNotice, Notice};
use crate::git::{MovedRef, Repo, WatchedRefs};
use crate::spec::Place;

/// An agent can move thousands: no more than these are named one by one, and no more than those are kept.
const NAMED: usize = 20;
const KEPT: usize = 1000;

/// The user's repository and where its refs were before a turn.
#[derive(Debug)]
pub(super) struct RefWatch {
    user: Repo,
    before: WatchedRefs,
    /// The branch that this task works on in the user's repository.
    own: Option<String>,
}

impl Driver<'_> {
    /// Notes where the user's refs are, before an agent works. Without it the turn runs all the same.
    pub(super) fn watch_refs(&mut self) {
        let last = self.turns.refs.take();
        let watch = match last {
            Some(RefWatch { user, before, .. }) => self.look_at_refs(user, Some(&before)),
            None => self.discover(&self.spec.top).and_then(|user| self.look_at_refs(user, None)),
        };
        match watch {
            Ok(watch) => self.turns.refs = Some(watch),
            Err(error) => tracing::warn!(%error, "cannot watch branches and tags"),
        }
    }

    fn look_at_refs(&self, user: Repo, before: Option<&WatchedRefs>) -> Result<RefWatch, DriverError> {
        let own = match &self.spec.place {
            Place::Worktree { branch, .. } => Some(branch.clone()),
            Place::InPlace { .. } => user.head()?.branch,
        };
        let before = user.watched_refs(before)?;
        Ok(RefWatch { user, before, own })
    }

    /// Says which of them moved in the turn.
    pub(super) fn report_moved_refs(&mut self) -> Result<(), DriverError> {
        let Some(RefWatch { user, before, own }) = self.turns.refs.take() else { return Ok(()) };
        let now = match user.watched_refs(Some(&before)) {
            Ok(now) => now,
            Err(error) => {
                tracing::warn!(%error, "cannot tell which branches and tags moved");
                return Ok(());
            }
        };
        let moved = user.moved_refs(&before, &now, own.as_deref());
        let prefix = format!("refs/dacapo/rescue/{}", self.spec.name);
        for (number, MovedRef { name, from, to }) in moved.iter().take(KEPT).enumerate() {
            let kept = user.keep_moved(&prefix, from).unwrap_or_else(|error| {
                tracing::warn!(%error, name, "cannot keep what a ref led to");
                None
            });
            if number < NAMED {
                let (reference, kept) = (name.clone(), kept.map(|kept| kept.name));
                self.note_of_git(GitNotice::RefMoved {
                    reference,
                    from: from.clone(),
                    to: to.clone(),
                    kept,
                })?;
            }
        }
        if let more @ 1.. = moved.len().saturating_sub(NAMED) {
            self.note_of_git(GitNotice::MoreRefsMoved { more: more as u64 })?;
        }
        self.turns.refs = Some(RefWatch { user, before: now, own });
        Ok(())
    }

    fn note_of_git(&mut self, notice: GitNotice) -> Result<(), DriverError> {
        self.input(&Input::Notice(Notice::Git(notice)))
    }
}
