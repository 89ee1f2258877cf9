//! Systems without namespaces.

use std::io;
use std::os::fd::OwnedFd;

use super::{Room, RoomRefused, RoomStep};
use crate::process::wire::{Failed, Order};

/// A job in a room; there is none here.
pub(in crate::process) struct Inside {
    pub(in crate::process) pid: u32,
    pub(in crate::process) report: OwnedFd,
}

impl Inside {
    pub(in crate::process) fn ending(&self) -> Option<(Option<i32>, i32)> {
        None
    }
}

pub(in crate::process) fn enter(
    _order: &Order,
    _room: &Room,
    _streams: &[OwnedFd; 3],
) -> Result<Result<Inside, (Failed, io::Error)>, RoomRefused> {
    let unknown = io::Error::from_raw_os_error(libc::ENOSYS);
    Err(RoomRefused::at(RoomStep::Namespaces)(unknown))
}
