//! What is done for a task that is found interrupted (R1): runner and guard may have been killed together, and then whatever
//! left their session lives on until somebody looks for it.

use std::fs;

use crate::engine::Kinds;
use crate::process::{Swept, can_see_processes, sweep};
use crate::store::{Lock, TaskDir, files};
use crate::view::TaskView;

/// Says how long the journal was when its task was last cleared up behind. A task that nobody drives gets no longer.
const SWEPT: &str = "swept";

/// Ends the processes that a task which was found interrupted has left, once an interruption. Nothing is done where
/// somebody has the task's lock: whoever takes it up again clears up by itself.
pub fn end_leftovers(dir: &TaskDir, kinds: Kinds) -> Swept {
    if is_cleared(dir) {
        return Swept::default();
    }
    match dir.lock_briefly() {
        Ok(lock) => end_leftovers_of(dir, &lock, kinds),
        Err(_) => Swept::default(),
    }
}

/// The same, for who holds the task's lock.
pub fn end_leftovers_of(dir: &TaskDir, _held: &Lock, kinds: Kinds) -> Swept {
    let (Ok(spec), Ok(view)) = (dir.spec(), TaskView::fold(dir, kinds)) else { return Swept::default() };
    // One that came to its end, or paused, left nothing.
    // Asked again under the lock: somebody may have taken the task up, and ended it, since the first look.
    if view.status.is_settled() || is_cleared(dir) {
        return Swept::default();
    }
    let swept = sweep(&spec.tag);
    // Who cannot look has found nothing.
    if can_see_processes().is_ok()
        && let Some(length) = journal_length(dir)
    {
        // Without it the next look only takes longer.
        let _ = files::replace(&dir.path().join(SWEPT), length.to_string().as_bytes());
    }
    swept
}

fn is_cleared(dir: &TaskDir) -> bool {
    let text = files::read(&dir.path().join(SWEPT), 32).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let known = text.and_then(|text| text.trim().parse().ok());
    known.is_some() && known == journal_length(dir)
}

fn journal_length(dir: &TaskDir) -> Option<u64> {
    fs::metadata(dir.journal_path()).ok().map(|meta| meta.len())
}
