//! Nobody steers Dacapo from inside a task (R7): an agent that could raise its own limits, approve its own work or end
//! its neighbours would make every promise about them void.
//!
//! Told by ancestry alone: a process below a guard of this data directory is an agent, a check, or something they started.
//! Who asks an outside service to run the command (a user's systemd, cron, a tmux server), or writes into the data
//! directory by hand, is not told from the user: agents run as the user.

use std::path::{Path, PathBuf};

use dacapo_core::process::{HomeId, guards_above};

use crate::App;
use crate::error::Failure;
use crate::messages::{Messages, say};

/// Refuses an order that comes from below a guard of this data directory. `order` is how it is called.
pub fn refuse_order(app: &App, order: &str) -> Result<(), Failure> {
    if !is_inside(app)? {
        return Ok(());
    }
    Err(Failure::usage(say(|m| m.inside_a_task(order)))
        .kept(say(Messages::kept_nothing_changed))
        .hint(say(|m| m.inside_use_your_terminal(order)))
        .hint(say(Messages::inside_own_home)))
}

/// Whether this process was started, by whatever detour, by an agent or check of a task in this data directory.
pub fn is_inside(app: &App) -> Result<bool, Failure> {
    // Not knowing is refused: it must not be possible to become a person by hiding `/proc`.
    let guards = guards_above().map_err(|error| {
        let error = error.to_string();
        Failure::usage(say(|m| m.inside_unknown_caller(&error)))
            .kept(say(Messages::kept_nothing_changed))
            .hint(say(Messages::inside_mount_proc))
    })?;
    if guards.is_empty() {
        return Ok(false);
    }
    let home = app.home()?;
    let mut homes = guards.iter().map(|guard| guard.home);
    Ok(homes.any(|of_guard| of_guard.is_none_or(|id| reaches(home.path(), id))))
}

/// Whether what commands act on in `home` lies in the other data directory: as a whole, or by a link in it.
fn reaches(home: &Path, other: HomeId) -> bool {
    let repos = home.join("repos");
    other.contains(home)
        || other.contains(&repos)
        || entries(&repos).iter().any(|repo| {
            let tasks = repo.join("tasks");
            other.contains(repo)
                || other.contains(&tasks)
                || entries(&tasks).iter().any(|task| other.contains(task))
        })
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
