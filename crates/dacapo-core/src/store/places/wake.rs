//! Wakes who waits at the head of the row when a place may be free.

#[cfg(target_os = "linux")]
pub(super) use linux::Bell;
#[cfg(not(target_os = "linux"))]
pub(super) use other::Bell;

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::path::Path;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::inotify::WatchFlags;

    use crate::store::notices::Notices;

    /// The kernel tells of a file's closing just before it gives up the lock: what looks still taken may be free after
    /// so many moments.
    const AFTER_THE_BELL: [Duration; 4] = [
        Duration::from_millis(1),
        Duration::from_millis(2),
        Duration::from_millis(5),
        Duration::from_millis(20),
    ];

    /// Some file systems tell of nothing.
    const LOOK_ANYWAY: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

    /// Rings when a file in the directory is closed.
    pub(in super::super) struct Bell {
        watch: Notices,
        looks: std::slice::Iter<'static, Duration>,
    }

    impl Bell {
        pub(in super::super) fn hang_in(dir: &Path) -> io::Result<Self> {
            let watch = Notices::new()?;
            watch.of(dir, WatchFlags::CLOSE_WRITE | WatchFlags::CLOSE_NOWRITE)?;
            Ok(Self { watch, looks: [].iter() })
        }

        /// Returns when it is worth looking again.
        pub(in super::super) fn wait(&mut self) -> io::Result<()> {
            if let Some(moment) = self.looks.next() {
                std::thread::sleep(*moment);
                return Ok(());
            }
            let mut ready = [PollFd::new(&self.watch, PollFlags::IN)];
            match poll(&mut ready, Some(&LOOK_ANYWAY)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            self.watch.drain();
            self.looks = AFTER_THE_BELL.iter();
            Ok(())
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::io;
    use std::path::Path;
    use std::time::Duration;

    /// Without a kernel that tells, the one at the head of the row looks from time to time.
    const LOOK_EVERY: Duration = Duration::from_millis(250);

    pub(in super::super) struct Bell;

    impl Bell {
        pub(in super::super) fn hang_in(_dir: &Path) -> io::Result<Self> {
            Ok(Self)
        }

        pub(in super::super) fn wait(&mut self) -> io::Result<()> {
            std::thread::sleep(LOOK_EVERY);
            Ok(())
        }
    }
}
