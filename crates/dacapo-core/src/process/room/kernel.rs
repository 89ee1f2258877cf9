//! Calls of the kernel for which there is no safe form.
#![expect(unsafe_code, reason = "mount_setattr and Landlock exist only as numbers of system calls")]

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};

/// `struct mount_attr`.
#[repr(C)]
#[derive(Default)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

const READ_ONLY: u64 = 1;

fn set_read_only(at: i32, path: &[u8], attributes: &MountAttributes, flags: libc::c_int) -> io::Result<()> {
    let path = std::ffi::CString::new(path)?;
    // SAFETY: the path and the attributes outlive the call, and the size is that of the attributes.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            at,
            path.as_ptr(),
            flags,
            std::ptr::from_ref(attributes),
            size_of::<MountAttributes>(),
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes a tree of mounts that is not attached anywhere read-only.
pub(super) fn protect_tree(tree: BorrowedFd<'_>) -> io::Result<()> {
    let read_only = MountAttributes { set: READ_ONLY, ..MountAttributes::default() };
    set_read_only(tree.as_raw_fd(), b"", &read_only, libc::AT_EMPTY_PATH | libc::AT_RECURSIVE)
}

/// Makes all mounts from the root down read-only.
pub(super) fn protect_all() -> io::Result<()> {
    let read_only = MountAttributes { set: READ_ONLY, ..MountAttributes::default() };
    set_read_only(libc::AT_FDCWD, b"/", &read_only, libc::AT_RECURSIVE)
}

/// Makes a mount writable again. In a room that must fail.
pub(super) fn unprotect(path: &Path) -> io::Result<()> {
    let writable = MountAttributes { clear: READ_ONLY, ..MountAttributes::default() };
    set_read_only(libc::AT_FDCWD, path.as_os_str().as_encoded_bytes(), &writable, 0)
}

/// `struct landlock_ruleset_attr`.
#[repr(C)]
#[derive(Default)]
struct Ruleset {
    files: u64,
    network: u64,
    scopes: u64,
}

/// `struct landlock_path_beneath_attr`.
#[repr(C, packed)]
struct Beneath {
    allowed: u64,
    directory: i32,
}

const WRITE_FILE: u64 = 1 << 1;
/// To write, remove, make, link and truncate; the last two from versions 2 and 3 on.
const CHANGES: u64 = WRITE_FILE | 0b1_1111_1111 << 4;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
/// Abstract sockets and signals, from version 6 on.
const SCOPES: u64 = 0b11;

/// What a job may do beside reading.
#[derive(Debug, Clone, Copy)]
pub(super) enum Changes<'a> {
    /// As much as everybody.
    All,
    /// To change what is in these directories.
    In(&'a [&'a Path]),
}

/// The version of Landlock that the kernel has; none: it has none.
fn version() -> Option<i64> {
    const VERSION: libc::c_uint = 1;
    // SAFETY: asks for a number; no memory is read.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<Ruleset>(), 0usize, VERSION)
    };
    (version > 0).then_some(version)
}

/// Returns true if this kernel can keep signals in.
pub(super) fn has_scopes() -> bool {
    version().is_some_and(|version| version >= 6)
}

/// Keeps this process and whatever it starts from changing anything else, and from reaching processes outside.
pub(super) fn restrict(changes: Changes<'_>) -> io::Result<()> {
    let version = version().ok_or_else(|| io::Error::from_raw_os_error(libc::ENOSYS))?;
    let files = match changes {
        Changes::All => 0,
        Changes::In(_) => {
            CHANGES | if version >= 2 { REFER } else { 0 } | if version >= 3 { TRUNCATE } else { 0 }
        }
    };
    let scopes = if version >= 6 { SCOPES } else { 0 };
    if files | scopes == 0 {
        return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
    }
    let rules = Ruleset { files, scopes, ..Ruleset::default() };
    // SAFETY: the rules outlive the call, and the size is theirs; older kernels take what they do not know if it is zero.
    let ruleset = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::from_ref(&rules),
            size_of::<Ruleset>(),
            0 as libc::c_uint,
        )
    };
    let ruleset = i32::try_from(ruleset).ok().filter(|number| *number >= 0);
    let ruleset = ruleset.ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the kernel has just given us this number.
    let ruleset = unsafe { OwnedFd::from_raw_fd(ruleset) };
    if let Changes::In(directories) = changes {
        for directory in directories {
            grant(&ruleset, directory, files)?;
        }
    }
    // SAFETY: takes numbers.
    let done =
        unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0 as libc::c_uint) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn grant(ruleset: &OwnedFd, path: &Path, files: u64) -> io::Result<()> {
    const PATH_BENEATH: libc::c_int = 1;
    let place = match openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        Err(rustix::io::Errno::NOENT) => return Ok(()),
        opened => opened?,
    };
    // A file has no entries.
    let is_dir = rustix::fs::fstat(&place)?.st_mode & libc::S_IFMT == libc::S_IFDIR;
    let allowed = if is_dir { files } else { files & (WRITE_FILE | TRUNCATE) };
    let rule = Beneath { allowed, directory: place.as_raw_fd() };
    // SAFETY: the rule outlives the call.
    let done = unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            PATH_BENEATH,
            std::ptr::from_ref(&rule),
            0 as libc::c_uint,
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
