//! What the kernel tells of the directories of tasks.

/// Something was told of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change<'a> {
    /// A file in it was written to.
    Grown(&'a [u8]),
    /// It has a new entry.
    Made(&'a [u8]),
    /// Somebody who could write to this file has closed it.
    Closed(&'a [u8]),
    /// It was renamed or removed itself.
    Moved,
    /// No more will be told of it.
    Forgotten,
    /// Something was not told, of whichever directory: it was too much.
    Missed,
}

#[cfg(target_os = "linux")]
pub(super) use linux::Notices;
#[cfg(not(target_os = "linux"))]
pub(super) use other::Notices;

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::path::Path;

    use rustix::fs::inotify::{ReadFlags, WatchFlags};

    use super::Change;
    use crate::store::notices;

    #[derive(Debug)]
    pub(in super::super) struct Notices(notices::Notices);

    impl Notices {
        pub(in super::super) fn new() -> io::Result<Self> {
            notices::Notices::new().map(Self)
        }

        pub(in super::super) fn tell_of(&self, dir: &Path) -> io::Result<i32> {
            let what = WatchFlags::MODIFY
                | WatchFlags::CREATE
                | WatchFlags::MOVED_TO
                | WatchFlags::CLOSE_WRITE
                | WatchFlags::MOVE_SELF
                | WatchFlags::DELETE_SELF
                | WatchFlags::ONLYDIR;
            self.0.numbered(dir, what)
        }

        pub(in super::super) fn forget(&self, watch: i32) {
            self.0.forget(watch);
        }

        pub(in super::super) fn take(&self, mut each: impl FnMut(i32, Change<'_>)) {
            self.0.take(|watch, flags, name| {
                let told = [
                    (ReadFlags::QUEUE_OVERFLOW, Change::Missed),
                    (ReadFlags::IGNORED, Change::Forgotten),
                    (ReadFlags::MOVE_SELF, Change::Moved),
                    (ReadFlags::DELETE_SELF, Change::Moved),
                    (ReadFlags::CLOSE_WRITE, Change::Closed(name)),
                    (ReadFlags::CREATE, Change::Made(name)),
                    (ReadFlags::MOVED_TO, Change::Made(name)),
                    (ReadFlags::MODIFY, Change::Grown(name)),
                ];
                if let Some((_, change)) = told.into_iter().find(|(flag, _)| flags.contains(*flag)) {
                    each(watch, change);
                }
            });
        }
    }

    impl AsFd for Notices {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.0.as_fd()
        }
    }
}

/// Where the system tells of no files.
#[cfg(not(target_os = "linux"))]
mod other {
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::path::Path;

    use super::Change;

    #[derive(Debug)]
    pub(in super::super) struct Notices(std::convert::Infallible);

    impl Notices {
        pub(in super::super) fn new() -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(in super::super) fn tell_of(&self, _: &Path) -> io::Result<i32> {
            match self.0 {}
        }

        pub(in super::super) fn forget(&self, _: i32) {}

        pub(in super::super) fn take(&self, _: impl FnMut(i32, Change<'_>)) {}
    }

    impl AsFd for Notices {
        fn as_fd(&self) -> BorrowedFd<'_> {
            match self.0 {}
        }
    }
}
