//! Tells when something is put into an inbox.

use std::io::{self, PipeWriter};
use std::path::Path;

/// A watch over an inbox; dropping it ends the watch.
#[derive(Debug)]
pub struct Watch {
    _end: PipeWriter,
}

impl Watch {
    /// Calls `ring`, from a thread of its own, after every change in `dir`.
    pub(super) fn over(dir: &Path, ring: impl FnMut() + Send + 'static) -> io::Result<Self> {
        let (ended, end) = io::pipe()?;
        system::watch(dir, ended, ring)?;
        Ok(Self { _end: end })
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::io::{self, PipeReader};
    use std::path::Path;

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::fs::inotify::WatchFlags;

    use crate::store::notices::Notices;

    pub(super) fn watch(
        dir: &Path,
        ended: PipeReader,
        mut ring: impl FnMut() + Send + 'static,
    ) -> io::Result<()> {
        let changes = Notices::new()?;
        changes.of(dir, WatchFlags::CREATE | WatchFlags::MOVED_TO)?;
        let listen = move || {
            loop {
                let mut ready = [PollFd::new(&changes, PollFlags::IN), PollFd::new(&ended, PollFlags::IN)];
                match poll(&mut ready, None) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(_) => return,
                }
                if !ready[1].revents().is_empty() {
                    return;
                }
                changes.drain();
                ring();
            }
        };
        std::thread::Builder::new().name("inbox".into()).spawn(listen).map(drop)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io::{self, PipeReader};
    use std::path::Path;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    /// Without a kernel that tells of files, the driver looks from time to time.
    const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };

    pub(super) fn watch(
        _: &Path,
        ended: PipeReader,
        mut ring: impl FnMut() + Send + 'static,
    ) -> io::Result<()> {
        let listen = move || {
            loop {
                let mut ready = [PollFd::new(&ended, PollFlags::IN)];
                match poll(&mut ready, Some(&LOOK_EVERY)) {
                    Ok(0) => ring(),
                    Err(rustix::io::Errno::INTR) => {}
                    Ok(_) | Err(_) => return,
                }
            }
        };
        std::thread::Builder::new().name("inbox".into()).spawn(listen).map(drop)
    }
}
