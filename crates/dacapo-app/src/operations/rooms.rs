//! Finds out how agents are confined on this machine (R5).

use dacapo_core::engine::try_room;
use dacapo_core::event::RoomReceipt;
use dacapo_core::git::Repo;
use dacapo_core::spec::RoomMode;

use super::run::context;
use crate::App;
use crate::error::Failure;
use crate::inside_task::is_inside;
use crate::messages::{Messages, say};
use crate::present::errors;

/// How commands are confined here; the inner error says why none would start. None: they would not be confined.
pub(super) fn held(
    app: &App,
    mode: RoomMode,
    repo: Option<&Repo>,
) -> Result<Option<Result<RoomReceipt, String>>, Failure> {
    let failed = |error: &std::io::Error| Failure::failed(error.to_string());
    let scratch =
        tempfile::Builder::new().prefix("dacapo-room-").tempdir().map_err(|error| failed(&error))?;
    try_room(mode, &context(app)?, repo, scratch.path())
        .map_err(|error| Failure::failed(errors::text(&error)))
}

/// Why a task cannot be made from inside another one; none: we are not inside one.
pub(super) fn inside(app: &App) -> Option<Failure> {
    is_inside(app).is_ok_and(|inside| inside).then(|| {
        Failure::usage(say(Messages::room_no_new_task))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(Messages::inside_own_home))
    })
}

/// Refuses a task that asks for a sandbox where there is none to be had.
pub(super) fn refuse_unless_held(app: &App, in_place: Option<&Repo>) -> Result<(), Failure> {
    let why = match held(app, RoomMode::Strict, in_place)? {
        Some(Ok(receipt)) if receipt.holds() => return Ok(()),
        Some(Ok(receipt)) => crate::present::rooms::told(&receipt, Messages::ENGLISH),
        Some(Err(why)) => why,
        None => return Ok(()),
    };
    Err(Failure::usage(say(|m| m.room_sandbox_impossible(&why)))
        .kept(say(Messages::kept_nothing_started))
        .hint(say(Messages::room_see_doctor))
        .hint(say(Messages::room_without_sandbox)))
}
