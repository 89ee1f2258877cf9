//! A kind of task of which one is at work in a repository at a time, as milestones are (M2): who waits, who is refused.

use dacapo_core::engine::QueueEntry;
use dacapo_core::spec::TaskSpec;
use dacapo_core::store::{Places, RepoDir, TaskDir};

use crate::App;
use crate::error::Failure;

/// The row for the task's turn; none: it need not wait for one.
fn row(app: &App, data: Option<RepoDir>, spec: &TaskSpec) -> Option<Places> {
    app.kinds.take_turns(&spec.kind).then(|| data.map(|data| data.turn_of(&spec.kind))).flatten()
}

/// In the foreground nobody waits: where another one is at work, this one is refused. `data` is the repository's, since the
/// task itself may not have been made yet.
pub(super) fn take(app: &App, data: &RepoDir, spec: &TaskSpec) -> Result<Option<QueueEntry>, Failure> {
    let Some(places) = row(app, Some(data.clone()), spec) else { return Ok(None) };
    let kind = &spec.kind;
    match places.try_enter(spec.name.as_str()) {
        Ok(Ok(held)) => Ok(Some(QueueEntry::at(places, held))),
        Ok(Err(taken)) => {
            let other = taken.by.unwrap_or_else(|| format!("another {kind}"));
            Err(Failure::usage(format!("'{other}' is at work; there is one {kind} per repository at a time"))
                .kept("everything; nothing was started")
                .hint(format!("dacapo wait {other} waits for it, dacapo pause {other} makes way"))
                .hint(format!("in the background a {kind} waits for its turn: --spawn")))
        }
        Err(error) => Err(Failure::failed(format!("cannot take this {kind}'s turn: {error}"))
            .kept("everything; nothing was started")),
    }
}

/// In the background it waits. Where others come first the machine's places are for those who can work.
pub(super) fn enter(
    app: &App,
    dir: &TaskDir,
    spec: &TaskSpec,
    machine: Places,
) -> Result<(Option<QueueEntry>, QueueEntry), Failure> {
    let failed =
        |error| Failure::failed(format!("cannot stand in the row of tasks that wait for a place: {error}"));
    let turn = row(app, dir.repo(), spec).map(QueueEntry::entered).transpose().map_err(failed)?;
    let waits = turn.as_ref().is_some_and(QueueEntry::waits);
    let place =
        if waits { QueueEntry::later(machine) } else { QueueEntry::entered(machine).map_err(failed)? };
    Ok((turn, place))
}
