//! How a task's commands are confined, in words.

use dacapo_core::event::{RoomReceipt, RoomWalls};
use dacapo_core::process::Trial;

use crate::messages::Messages;

/// What came of trying a room, as one sentence.
pub fn told(receipt: &RoomReceipt, messages: Messages) -> String {
    let mode = receipt.mode.as_str();
    let why = receipt.refused.as_deref().unwrap_or_default();
    if !receipt.open.is_empty() {
        return messages.room_open(&trials(&receipt.open, messages));
    }
    match receipt.walls {
        RoomWalls::Namespace => messages.room_holds(mode, &trials(&receipt.closed, messages)),
        RoomWalls::Landlock => messages.room_by_landlock(mode, why),
        RoomWalls::None => messages.room_missing(why),
    }
}

fn trials(trials: &[Trial], messages: Messages) -> String {
    let words = trials.iter().map(|trial| match trial {
        Trial::Write => messages.room_trial_write(),
        Trial::Signal => messages.room_trial_signal(),
        Trial::Unmount => messages.room_trial_unmount(),
        Trial::Namespace => messages.room_trial_namespace(),
        Trial::Rename => messages.room_trial_rename(),
        Trial::Descriptor => messages.room_trial_descriptor(),
    });
    words.collect::<Vec<_>>().join(", ")
}
