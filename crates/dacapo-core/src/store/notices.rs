//! What the kernel tells of changes in directories: the part that all who wait for files share.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};

/// Can be read, and so waited for, when something has changed.
#[derive(Debug)]
pub(super) struct Notices(OwnedFd);

impl Notices {
    /// Of nothing yet. Fails where too many are in use already.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?))
    }

    /// Tells of this in `dir` too. The same directory again is no second watch.
    pub(super) fn of(&self, dir: &Path, what: WatchFlags) -> io::Result<()> {
        Ok(add_watch(&self.0, dir, what).map(drop)?)
    }

    /// Takes all that was told: that there was something is all that anybody wants to know.
    pub(super) fn drain(&self) {
        let mut buffer = [0_u8; 4096];
        while rustix::io::read(&self.0, &mut buffer).is_ok_and(|read| read > 0) {}
    }
}

impl AsFd for Notices {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
