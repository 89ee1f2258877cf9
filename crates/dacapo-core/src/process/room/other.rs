//! Systems without namespaces.

use std::io;
use std::os::fd::OwnedFd;

use super::{Otherwise, Room, RoomMade, RoomRefused, RoomStep, Trials, Walls};
use crate::process::guard;
use crate::process::wire::{Failed, Order};

/// A job that was started without its room.
pub(in crate::process) struct Begun {
    pub(in crate::process) pid: u32,
    pub(in crate::process) inside: Option<Inside>,
    pub(in crate::process) made: RoomMade,
}

/// A job below the first process of a room; there is none here.
pub(in crate::process) struct Inside {
    report: OwnedFd,
}

impl Inside {
    pub(in crate::process) fn ending(&self) -> Option<(Option<i32>, i32)> {
        None
    }

    pub(in crate::process) fn report(&self) -> &OwnedFd {
        &self.report
    }
}

pub(in crate::process) fn enter(
    order: &Order,
    room: &Room,
    streams: &[OwnedFd; 3],
) -> Result<Begun, (Failed, io::Error)> {
    let unknown = io::Error::from_raw_os_error(libc::ENOSYS);
    if room.otherwise == Otherwise::Refuse {
        return Err((Failed::Room(RoomStep::Namespaces), unknown));
    }
    let failed = |error| (Failed::Program, error);
    let [stdin, stdout, stderr] = streams.each_ref().map(OwnedFd::try_clone);
    let streams = [stdin.map_err(failed)?, stdout.map_err(failed)?, stderr.map_err(failed)?];
    let command = guard::command(order, streams).map_err(failed)?;
    let pid = guard::spawn(command, |_| Ok(())).map_err(failed)?;
    let refused = RoomRefused::at(RoomStep::Namespaces)(unknown);
    Ok(Begun { pid, inside: None, made: RoomMade { walls: Walls::None(refused), trials: Trials::default() } })
}
