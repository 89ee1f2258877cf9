//! Wakes who waits at the head of the queue when a slot may be free.

#[cfg(target_os = "linux")]
pub(crate) use linux::Bell;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::Bell;

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

    /// Where too many are told of files already (a user has 128 such watches by default), it looks from time to time.
    const LOOK_UNTOLD: Duration = Duration::from_millis(250);

    /// Rings when a file in the directory is closed.
    pub(crate) struct Bell {
        watch: Option<Notices>,
        looks: std::slice::Iter<'static, Duration>,
    }

    impl Bell {
        pub(crate) fn hang_in(dir: &Path) -> Self {
            let closed = WatchFlags::CLOSE_WRITE | WatchFlags::CLOSE_NOWRITE;
            let told = Notices::new().and_then(|watch| watch.of(dir, closed).map(|()| watch));
            Self { watch: told.ok(), looks: [].iter() }
        }

        /// Returns when it is worth looking again.
        pub(crate) fn wait(&mut self) -> io::Result<()> {
            if let Some(moment) = self.looks.next() {
                std::thread::sleep(*moment);
                return Ok(());
            }
            let Some(watch) = &self.watch else {
                std::thread::sleep(LOOK_UNTOLD);
                return Ok(());
            };
            let mut ready = [PollFd::new(watch, PollFlags::IN)];
            match poll(&mut ready, Some(&LOOK_ANYWAY)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            // The short looks that follow cover the gap between "closed" and "unlocked"; see `AFTER_THE_BELL`.
            watch.drain();
            self.looks = AFTER_THE_BELL.iter();
            Ok(())
        }
    }

    #[test]
    fn a_bell_that_could_not_be_hung_says_to_look_all_the_same() {
        let mut bell = Bell::hang_in(Path::new("/nowhere"));
        assert!(bell.watch.is_none());
        bell.wait().unwrap();
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::io;
    use std::path::Path;
    use std::time::Duration;

    /// Without a kernel that tells, the one at the head of the queue looks from time to time.
    const LOOK_EVERY: Duration = Duration::from_millis(250);

    pub(crate) struct Bell;

    impl Bell {
        pub(crate) fn hang_in(_dir: &Path) -> Self {
            Self
        }

        pub(crate) fn wait(&mut self) -> io::Result<()> {
            std::thread::sleep(LOOK_EVERY);
            Ok(())
        }
    }
}
