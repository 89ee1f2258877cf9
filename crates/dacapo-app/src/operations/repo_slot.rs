//! A kind of task of which one is at work in a repository at a time, as milestones are (M2): who waits, who is refused.

use dacapo_core::engine::QueueEntry;
use dacapo_core::spec::TaskSpec;
use dacapo_core::store::{RepoDir, Slots, TaskDir};

use crate::App;
use crate::error::Failure;

/// The slot that only one task of the kind has at a time; none: the kind needs none.
fn slots_of(app: &App, data: Option<RepoDir>, spec: &TaskSpec) -> Option<Slots> {
    app.kinds.take_turns(&spec.kind).then(|| data.map(|data| data.repo_slot(&spec.kind))).flatten()
}

/// In the foreground nobody waits: where another one is at work, this one is refused. `data` is the repository's, since the
/// task itself may not have been made yet.
pub(super) fn take(app: &App, data: &RepoDir, spec: &TaskSpec) -> Result<Option<QueueEntry>, Failure> {
    let Some(slots) = slots_of(app, Some(data.clone()), spec) else { return Ok(None) };
    let kind = &spec.kind;
    match slots.try_enter(spec.name.as_str()) {
        Ok(Ok(lease)) => Ok(Some(QueueEntry::at(slots, lease))),
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

/// In the background it waits. Where others come first the machine's slots are for those who can work.
pub(super) fn enter(
    app: &App,
    dir: &TaskDir,
    spec: &TaskSpec,
    machine: Slots,
) -> Result<(Option<QueueEntry>, QueueEntry), Failure> {
    let failed =
        |error| Failure::failed(format!("cannot stand in the row of tasks that wait for a place: {error}"));
    let repo_slot = slots_of(app, dir.repo(), spec).map(QueueEntry::entered).transpose().map_err(failed)?;
    let waits = repo_slot.as_ref().is_some_and(QueueEntry::waits);
    let machine_slot =
        if waits { QueueEntry::later(machine) } else { QueueEntry::entered(machine).map_err(failed)? };
    Ok((repo_slot, machine_slot))
}
