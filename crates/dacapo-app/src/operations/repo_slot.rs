//! A kind of task of which one is at work in a repository at a time, as milestones are (M2): who waits, who is refused.

use std::io;

use dacapo_core::engine::QueueEntry;
use dacapo_core::spec::TaskSpec;
use dacapo_core::store::{RepoDir, Slots, TaskDir};

use crate::App;
use crate::error::Failure;
use crate::messages::{Messages, say};
use crate::present::kind_words;

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
            let message = |m: Messages| {
                let other = taken.by.clone().unwrap_or_else(|| m.slot_another(&kind_words::name(kind, m)));
                m.slot_taken(&other, &kind_words::name(kind, m))
            };
            let failure = Failure::usage(say(message)).kept(say(Messages::kept_nothing_started));
            let failure = match &taken.by {
                Some(other) => failure.hint(say(|m| m.slot_wait_or_pause(other))),
                None => failure,
            };
            Err(failure.hint(say(|m| m.slot_spawn_waits(&kind_words::name(kind, m)))))
        }
        Err(error) => {
            let error = error.to_string();
            Err(Failure::failed(say(|m| m.slot_not_taken(&kind_words::name(kind, m), &error)))
                .kept(say(Messages::kept_nothing_started)))
        }
    }
}

/// In the background it waits. Where others come first the machine's slots are for those who can work.
pub(super) fn enter(
    app: &App,
    dir: &TaskDir,
    spec: &TaskSpec,
    machine: Slots,
) -> Result<(Option<QueueEntry>, QueueEntry), Failure> {
    let failed = |error: io::Error| {
        let error = error.to_string();
        Failure::failed(say(|m| m.slot_queue_failed(&error)))
    };
    // The repository first, then the machine: the same order as in the engine (`engine/admission.rs`).
    let repo_slot = slots_of(app, dir.repo(), spec).map(QueueEntry::entered).transpose().map_err(failed)?;
    let waits = repo_slot.as_ref().is_some_and(QueueEntry::waits);
    let machine_slot =
        if waits { QueueEntry::later(machine) } else { QueueEntry::entered(machine).map_err(failed)? };
    Ok((repo_slot, machine_slot))
}
