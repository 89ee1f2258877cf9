//! What helps a task that could not begin: its worktree, its setup or a check failed before the first iteration.

use std::path::Path;

use dacapo_core::agent::find_on_path;
use dacapo_core::event::{StopDetail, StopReason, TaskResult};
use dacapo_core::spec::{Place, TaskSpec};

use crate::App;
use crate::error::Failure;
use crate::found_checks::find_setup;
use crate::messages::{Messages, Text, say};
use crate::present::ends::detail;

/// What to do about it.
pub fn cure(app: &App, spec: &TaskSpec, result: &TaskResult) -> Text {
    let name = spec.name.as_str();
    let in_worktree = matches!(spec.place, Place::Worktree { .. });
    if in_worktree && (result.base_commit.is_none() || result.failed_setup.is_some()) {
        return say(|m| m.setup_fix_or_drop(name));
    }
    let check = result.proof.iter().find(|proof| proof.before == Some(false));
    let missing = check.filter(|check| {
        result.detail.as_ref().and_then(StopDetail::exit).is_some_and(|exit| exit.exit_code == Some(127))
            && is_there(app, spec, &check.command)
    });
    let setup: Vec<_> = missing.map(|_| find_setup(&spec.top)).unwrap_or_default();
    let (Some(check), Some(first)) = (missing, setup.first()) else {
        return say(Messages::setup_correct_the_check);
    };
    let check = check.command.as_str();
    if in_worktree {
        let commands: Vec<String> = setup.iter().map(|found| format!("{:?}", found.command)).collect();
        let commands = commands.join(", ");
        say(|m| m.setup_missing_in_worktree(check, &commands))
    } else {
        let commands: Vec<&str> = setup.iter().map(|found| found.command.as_str()).collect();
        let commands = commands.join(" && ");
        say(|m| m.setup_missing_here(check, &commands, &first.evidence))
    }
}

/// Whether the program that a check begins with can be found: then it is something else that cannot.
fn is_there(app: &App, spec: &TaskSpec, check: &str) -> bool {
    let program = check.split_whitespace().next().unwrap_or_default();
    find_on_path(Path::new(program), app.var("PATH"), &spec.top).is_some()
}

/// A task in the background that has ended already: what `spawn` says of it.
pub(super) fn failure(app: &App, spec: &TaskSpec, result: &TaskResult) -> Option<Failure> {
    if result.stop_reason != StopReason::SetupFailed || result.iterations_attempted > 0 {
        return None;
    }
    let name = spec.name.as_str();
    let message = |m: Messages| {
        let why = result.detail.as_ref().map_or_else(|| m.setup_could_not(), |why| detail(why, name, m));
        m.setup_could_not_begin(name, &why)
    };
    Some(Failure::failed(say(message)).kept(say(|m| m.setup_kept_record(name))).hint(cure(app, spec, result)))
}
