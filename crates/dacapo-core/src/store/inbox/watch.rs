//! Tells when something is put into an inbox.

use std::io::{self, PipeReader, PipeWriter};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use system::Changes;

/// Where nobody tells of files, the driver looks from time to time.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };

/// A watch over an inbox; dropping it ends the watch.
#[derive(Debug)]
pub struct InboxWatch {
    _end: PipeWriter,
}

impl InboxWatch {
    /// Calls `ring`, from a thread of its own, after every change in `dir`.
    pub(super) fn over(dir: &Path, ring: impl FnMut() + Send + 'static) -> io::Result<Self> {
        let (ended, end) = io::pipe()?;
        let changes = system::changes(dir);
        std::thread::Builder::new()
            .name("inbox".into())
            .spawn(move || listen(changes.as_ref(), &ended, ring))?;
        Ok(Self { _end: end })
    }
}

/// Rings until it is ended: after each change, or from time to time where nobody tells of changes.
fn listen(changes: Option<&Changes>, ended: &PipeReader, mut ring: impl FnMut()) {
    loop {
        let mut ready = vec![PollFd::new(ended, PollFlags::IN)];
        ready.extend(changes.map(|changes| PollFd::new(changes, PollFlags::IN)));
        match poll(&mut ready, changes.is_none().then_some(&LOOK_EVERY)) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        }
        if !ready[0].revents().is_empty() {
            return;
        }
        if let Some(changes) = changes {
            // Emptied before it rings: a command that is put in after this makes the descriptor readable again.
            system::drain(changes);
        }
        ring();
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::path::Path;

    use rustix::fs::inotify::WatchFlags;

    pub(super) use crate::store::notices::Notices as Changes;

    /// None where too many are told of files already: a user has 128 such watches by default, and each task that waits for
    /// a place needs one. It must not be deaf.
    pub(super) fn changes(dir: &Path) -> Option<Changes> {
        let changes = Changes::new().ok()?;
        changes.of(dir, WatchFlags::CREATE | WatchFlags::MOVED_TO).ok()?;
        Some(changes)
    }

    pub(super) fn drain(changes: &Changes) {
        changes.drain();
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::path::Path;

    /// There is no kernel that tells of files by a descriptor.
    pub(super) type Changes = std::os::fd::OwnedFd;

    pub(super) fn changes(_: &Path) -> Option<Changes> {
        None
    }

    pub(super) fn drain(_: &Changes) {}
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn without_a_kernel_that_tells_of_files_somebody_looks() {
        let (ended, end) = io::pipe().unwrap();
        let (rang, heard) = mpsc::channel();
        let listener = std::thread::spawn(move || {
            listen(None, &ended, || {
                let _ = rang.send(());
            });
        });
        for _ in 0..2 {
            heard.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
        }
        drop(end);
        listener.join().unwrap();
    }
}
