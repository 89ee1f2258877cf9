//! What the kernel tells of changes in directories: the part that all who wait for files share.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init, remove_watch};

/// Can be read, and so waited for, when something has changed.
#[derive(Debug)]
pub(crate) struct Notices(OwnedFd);

impl Notices {
    /// Of nothing yet. Fails where too many are in use already.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?))
    }

    /// Tells of this in `dir` too. The same directory again is no second watch.
    pub(super) fn of(&self, dir: &Path, what: WatchFlags) -> io::Result<()> {
        Ok(add_watch(&self.0, dir, what).map(drop)?)
    }

    /// The same, with the number that notices of it carry.
    pub(crate) fn numbered(&self, dir: &Path, what: WatchFlags) -> io::Result<i32> {
        Ok(add_watch(&self.0, dir, what)?)
    }

    /// Tells no more of what has this number.
    pub(crate) fn forget(&self, number: i32) {
        // What is not there any more was forgotten with it.
        let _ = remove_watch(&self.0, number);
    }

    /// Takes all that was told, one by one: of which number, what, and the name in that directory.
    pub(crate) fn take(&self, mut each: impl FnMut(i32, ReadFlags, &[u8])) {
        let mut buffer = [MaybeUninit::<u8>::uninit(); 16 << 10];
        let mut told = Reader::new(&self.0, &mut buffer);
        while let Ok(event) = told.next() {
            each(event.wd(), event.events(), event.file_name().map_or(&[], CStr::to_bytes));
        }
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
