//! Tries the ways out of a room from inside, after all is in place and before the job starts.

use std::fs;
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::{FdFlags, fcntl_getfd};
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Pid, WaitOptions, test_kill_process, waitpid};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::kernel;
use super::{Trial, Trials};
use crate::process::signals;

/// Who makes the trials.
pub(super) struct Trier<'a> {
    /// A read-only directory of the room.
    pub(super) protected: Option<&'a Path>,
    /// A process outside; none: it cannot be named from here.
    pub(super) outside: Option<Pid>,
    pub(super) has_mounts: bool,
}

impl Trier<'_> {
    pub(super) fn try_all(&self) -> Trials {
        let mut trials = Trials::default();
        if let Some(protected) = self.protected {
            trials.note(Trial::Write, !can_write(protected));
            if self.has_mounts {
                trials.note(Trial::Unmount, unmount(protected, UnmountFlags::DETACH).is_err());
                trials.note(Trial::Namespace, !can_undo_in_namespace(protected));
            }
            trials.note(Trial::Rename, !can_rename_around(protected));
        }
        if let Some(outside) = self.outside {
            trials.note(Trial::Signal, test_kill_process(outside).is_err());
        }
        trials.note(Trial::Descriptor, !leaves_descriptor());
        trials
    }
}

/// By a file without a name, so that nothing is left if it can.
fn can_write(dir: &Path) -> bool {
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    match openat(CWD, dir, flags, Mode::RUSR | Mode::WUSR) {
        Ok(_) => true,
        // This file system has no such files.
        Err(rustix::io::Errno::OPNOTSUPP) => rustix::fs::access(dir, rustix::fs::Access::WRITE_OK).is_ok(),
        Err(_) => false,
    }
}

/// In a copy of this process.
fn can_undo_in_namespace(protected: &Path) -> bool {
    match signals::clone_process(0) {
        Ok(None) => {
            #[expect(unsafe_code, reason = "descriptors that are shared are closed by nobody")]
            // SAFETY: this process has one thread, and ends below.
            let unshared = unsafe { unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNS) };
            let undone = unshared.is_ok()
                && (unmount(protected, UnmountFlags::DETACH).is_ok() || kernel::unprotect(protected).is_ok());
            signals::exit_with(i32::from(undone))
        }
        Ok(Some(pid)) => {
            let ended = waitpid(Pid::from_raw(pid.cast_signed()), WaitOptions::empty());
            let status = ended.ok().flatten().and_then(|(_, status)| status.exit_status());
            // One that was ended says nothing.
            status != Some(0)
        }
        // It could not be tried.
        Err(_) => true,
    }
}

fn can_rename_around(protected: &Path) -> bool {
    let Some(around) = protected.parent().filter(|around| around.file_name().is_some()) else { return false };
    let mut name = around.as_os_str().to_owned();
    name.push(".dacapo-trial");
    let renamed = fs::rename(around, &name).is_ok();
    if renamed {
        let _ = fs::rename(&name, around);
    }
    renamed
}

/// Returns true if the job would inherit anything but its streams.
fn leaves_descriptor() -> bool {
    let Ok(listed) = fs::read_dir("/proc/self/fd") else { return true };
    let open: Vec<RawFd> =
        listed.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    open.into_iter()
        .filter(|descriptor| *descriptor > 2)
        .any(|descriptor| stays_open(descriptor).unwrap_or(false))
}

fn stays_open(descriptor: RawFd) -> io::Result<bool> {
    #[expect(unsafe_code, reason = "the descriptor is known by its number alone")]
    // SAFETY: it was open a moment ago, this process has one thread, and only its flags are read.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    Ok(!fcntl_getfd(borrowed)?.contains(FdFlags::CLOEXEC))
}
