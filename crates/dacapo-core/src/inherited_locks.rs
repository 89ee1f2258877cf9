//! Descriptors that children are handed by number. All of ours close on exec (see `process/start.rs`); what a child keeps
//! open is said when it is started.

use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What is held by open descriptors, such as a lock.
pub trait Descriptors {
    /// The open files that hold the lock.
    fn descriptors(&self) -> &Arc<Vec<File>>;
}

/// Locks that our own git and guards hold together with us: each that they are started under, as long as we have it
/// ourselves. Clones are the same set.
#[derive(Debug, Clone, Default)]
pub struct InheritedLocks(Arc<Mutex<Vec<Weak<Vec<File>>>>>);

impl InheritedLocks {
    pub fn of<'l, L: Descriptors + 'l>(locks: impl IntoIterator<Item = &'l L>) -> Self {
        let handed = Self::default();
        locks.into_iter().for_each(|lock| handed.add(lock));
        handed
    }

    pub fn add(&self, lock: &impl Descriptors) {
        let held = Arc::downgrade(lock.descriptors());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known.strong_count() > 0 && !known.ptr_eq(&held));
        all.push(held);
    }

    /// What we hold of them now.
    pub(crate) fn held(&self) -> Vec<Arc<Vec<File>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(Weak::upgrade).collect()
    }

    /// Descriptors of our own for all of them, to be sent to a guard.
    pub(crate) fn shares(&self) -> io::Result<Vec<OwnedFd>> {
        let held = self.held();
        held.iter().flat_map(|files| files.iter()).map(|file| Ok(file.try_clone()?.into())).collect()
    }
}

/// Lets a command have descriptors, under the numbers that they have here. Slower than `Child::start`; for what is
/// started once.
pub fn hand_down(command: &mut Command, descriptors: &[BorrowedFd<'_>]) {
    use std::os::fd::AsRawFd;
    use std::os::unix::process::CommandExt as _;
    let numbers: Vec<i32> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
    #[expect(unsafe_code, reason = "what the child does to itself before exec has no safe form")]
    // SAFETY: the closure makes only async-signal-safe calls and does not allocate; a number that is not open is an error.
    unsafe {
        command.pre_exec(move || {
            for number in &numbers {
                rustix::io::fcntl_setfd(BorrowedFd::borrow_raw(*number), rustix::io::FdFlags::empty())?;
            }
            Ok(())
        });
    }
}
