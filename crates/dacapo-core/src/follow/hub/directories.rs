//! Directories in which something may appear, such as another task among tasks.

use std::collections::HashMap;
use std::path::Path;

use super::Hub;
use super::notices::Change;
use crate::follow::Bell;

/// Who hears of what is made in which directory, by the number of its watch.
#[derive(Debug, Default)]
pub(super) struct Directories(HashMap<i32, Vec<(u64, Bell)>>);

impl Directories {
    pub(super) fn has(&self, watch: i32) -> bool {
        self.0.contains_key(&watch)
    }

    pub(super) fn heard(&self, watch: i32, change: Change<'_>) {
        if matches!(change, Change::Made(_) | Change::Moved | Change::Forgotten) {
            self.0.get(&watch).into_iter().flatten().for_each(|(_, bell)| bell.ring());
        }
    }

    /// Something was missed, whatever it was.
    pub(super) fn ring_all(&self) {
        self.0.values().flatten().for_each(|(_, bell)| bell.ring());
    }
}

/// A directory in which new entries ring a bell, as long as this lives.
#[derive(Debug)]
pub struct WatchedDirectory {
    hub: Hub,
    watch: i32,
    id: u64,
}

impl Hub {
    /// Rings a bell whenever something is made in a directory. None: nobody tells of it.
    pub fn watch_directory(&self, path: &Path, bell: &Bell) -> Option<WatchedDirectory> {
        let notices = self.0.core.notices.as_ref()?;
        let mut tasks = self.0.core.lock();
        let watch = notices.tell_of(path).ok()?;
        tasks.next += 1;
        let id = tasks.next;
        tasks.directories.0.entry(watch).or_default().push((id, bell.clone()));
        drop(tasks);
        Some(WatchedDirectory { hub: self.clone(), watch, id })
    }
}

impl Drop for WatchedDirectory {
    fn drop(&mut self) {
        let core = &self.hub.0.core;
        let mut tasks = core.lock();
        let Some(who) = tasks.directories.0.get_mut(&self.watch) else { return };
        who.retain(|(id, _)| *id != self.id);
        if who.is_empty() {
            tasks.directories.0.remove(&self.watch);
            if !tasks.by_watch.contains_key(&self.watch) {
                core.notices.iter().for_each(|notices| notices.forget(self.watch));
            }
        }
    }
}
