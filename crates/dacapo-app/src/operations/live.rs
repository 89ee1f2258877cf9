//! The tasks of a scope as they change: for surfaces that stay. Nothing is read while nothing happens.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use dacapo_core::follow::{Bell, Hub, WatchedDirectory, WatchedRecord};
use dacapo_core::store::{RepoDir, TaskDir};

use super::list::{Listed, Scope};
use crate::App;
use crate::error::Failure;
use crate::sizes::Measure;

/// A list that knows when it has changed.
pub struct LiveList {
    app: App,
    hub: Hub,
    scope: Scope,
    bell: Bell,
    state: State,
    tasks: HashMap<PathBuf, WatchedRecord>,
    /// Where tasks and repositories appear.
    places: HashMap<PathBuf, Option<WatchedDirectory>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// Something was shown; what happened since has yet to be looked for.
    Shown,
    Watching,
}

impl App {
    /// The tasks of a scope, to be looked at again whenever the bell rings.
    pub fn live_list(&self, hub: &Hub, scope: Scope, bell: Bell) -> LiveList {
        LiveList {
            app: self.clone(),
            hub: hub.clone(),
            scope,
            bell,
            state: State::New,
            tasks: HashMap::new(),
            places: HashMap::new(),
        }
    }
}

impl LiveList {
    /// All tasks, where something has changed since the last look. The bell is to be silenced before.
    pub fn look(&mut self) -> Result<Option<Listed>, Failure> {
        if self.state == State::New {
            // The first look is shown at once: watching a thousand tasks takes longer than reading their index.
            self.state = State::Shown;
            self.bell.ring();
            return self.app.list(self.scope, Measure::AsKnown).map(Some);
        }
        let mut changed = std::mem::replace(&mut self.state, State::Watching) == State::Shown;
        // Watched before what is new is asked for: a change in between rings again.
        changed |= self.watch()?;
        for watched in self.tasks.values_mut() {
            changed |= watched.is_new();
        }
        if changed { self.app.list(self.scope, Measure::AsKnown).map(Some) } else { Ok(None) }
    }

    /// Watches what is there now. True: that is not what was there.
    fn watch(&mut self) -> Result<bool, Failure> {
        let home = self.app.home()?;
        let repos = self.app.repositories(&home, self.scope)?;
        let mut places: Vec<PathBuf> = repos.iter().map(RepoDir::tasks_path).collect();
        if self.scope == Scope::Everywhere {
            places.push(home.repos_path());
        }
        let places: Vec<PathBuf> = places.iter().map(|path| nearest(path)).collect();
        self.places.retain(|path, _| places.contains(path));
        for path in places {
            let watch = || self.hub.watch_directory(&path, &self.bell);
            self.places.entry(path.clone()).or_insert_with(watch);
        }
        let before = self.tasks.len();
        self.tasks.retain(|_, watched| !watched.is_gone());
        let mut changed = self.tasks.len() != before;
        for dir in repos.iter().flat_map(|repo| repo.tasks().unwrap_or_default()) {
            changed |= self.watch_task(&dir);
        }
        Ok(changed)
    }

    /// True: it was not watched yet.
    fn watch_task(&mut self, dir: &TaskDir) -> bool {
        if self.tasks.contains_key(dir.path()) {
            return false;
        }
        // One that cannot be watched is seen as it is whenever another one changes.
        let Ok(watched) = self.hub.watch_record(dir, &self.bell) else { return false };
        self.tasks.insert(dir.path().to_owned(), watched);
        true
    }
}

/// The directory itself, or the nearest one above it that is there: what is missing will be made in it.
fn nearest(path: &Path) -> PathBuf {
    path.ancestors().find(|path| path.is_dir()).unwrap_or(Path::new("/")).to_owned()
}
