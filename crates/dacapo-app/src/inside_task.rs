//! Nobody steers Dacapo from inside a task (R7): an agent that could raise its own limits, approve its own work or end
//! its neighbours would make every promise about them void.
//!
//! Told by ancestry: a process below a guard or a runner of this data directory is an agent, a check, or something they started.
//! Where ancestry does not reach, in a pid namespace other than that of the tasks that run, nobody can tell, and the order is
//! refused. Who asks an outside service to run the command (a user's systemd, cron, a tmux server), or writes into the data
//! directory by hand, is not told from the user: agents run as the user.

use std::path::{Path, PathBuf};

use dacapo_core::process::{PidNamespace, WorksFor, tasks_above};
use dacapo_core::store::Home;

use crate::App;
use crate::error::Failure;
use crate::messages::{Messages, say};

/// Refuses an order that comes, or may come, from inside a task of this data directory. `order` is how it is called.
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
    let above = tasks_above().map_err(|error| {
        let error = error.to_string();
        Failure::usage(say(|m| m.inside_unknown_caller(&error)))
            .kept(say(Messages::kept_nothing_changed))
            .hint(say(Messages::inside_mount_proc))
    })?;
    // From the first pid namespace of the machine all ancestors are seen.
    let namespace = PidNamespace::own();
    let sees_all = namespace.is_some_and(PidNamespace::is_initial);
    if above.is_empty() && sees_all {
        return Ok(false);
    }
    let home = app.home()?;
    if above.iter().any(|task| reaches(home.path(), task.works_for)) {
        return Ok(true);
    }
    match runs_outside(&home, namespace).filter(|_| !sees_all) {
        None => Ok(false),
        Some(task) => Err(Failure::usage(say(|m| m.inside_other_namespace(&task)))
            .kept(say(Messages::kept_nothing_changed))
            .hint(say(Messages::inside_where_it_was_started))
            .hint(say(|m| m.inside_when_it_has_ended(&task)))),
    }
}

/// A task of this data directory that is driven from outside our pid namespace: we may be below it and not see it.
fn runs_outside(home: &Home, namespace: Option<PidNamespace>) -> Option<String> {
    let repos = home.repos().unwrap_or_default();
    let mut tasks = repos.iter().flat_map(|repo| repo.tasks().unwrap_or_default());
    // What cannot be told counts as driven.
    tasks.find(|task| task.is_driven_outside(namespace).unwrap_or(true)).map(|task| task.name())
}

/// Whether what commands act on in `home` lies in the data directory of another process: as a whole, or by a link in it.
fn reaches(home: &Path, other: WorksFor) -> bool {
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
