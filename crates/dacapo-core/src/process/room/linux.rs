//! Rooms by mount, pid and user namespaces.
//!
//! ```text
//! guard ──clone──► first process: mounts, /proc, fewer rights ──► job ──► whatever it starts
//!   ▲                    │ waits for all of them; in its pid namespace nothing outlives it
//!   └──── report pipe ───┘ started, or why not; later how the job ended
//! ```
//!
//! The first process is a copy of the guard, deaf to signals as the guard is, and has the guard's command line: whoever looks
//! for guards above itself from inside (`ancestry`) finds this one. It takes no part in the job: signals go from the guard to
//! the job's own processes, which it sees in its own `/proc`. Root gets no user namespace (in one, files of other users could
//! not be given away), it gives up the rights that could undo the room instead.

use std::ffi::CString;
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change, move_mount,
    open_tree,
};
use rustix::process::{Gid, Uid, getegid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

use super::{Place, Room, RoomRefused, RoomStep, Shows};
use crate::process::guard;
use crate::process::signals::{self, Ended};
use crate::process::tree;
use crate::process::wire::{Failed, Order};

/// A job that was started in a room.
pub(in crate::process) struct Inside {
    /// The first process of the room.
    pub(in crate::process) pid: u32,
    /// Tells when the job itself has ended.
    pub(in crate::process) report: OwnedFd,
}

impl Inside {
    /// How the job ended; none: its first process was ended with it.
    pub(in crate::process) fn ending(&self) -> Option<(Option<i32>, i32)> {
        match Report::read(&self.report)? {
            Report::Ended { code, signal } => Some((code, signal)),
            Report::Started | Report::Refused(_) | Report::NotStarted { .. } => None,
        }
    }
}

/// Starts the job in the room. The inner error is the job's own.
pub(in crate::process) fn enter(
    order: &Order,
    room: &Room,
    streams: &[OwnedFd; 3],
) -> Result<Result<Inside, (Failed, io::Error)>, RoomRefused> {
    match enter_with(Pids::Own, order, room, streams) {
        // Some containers hide parts of /proc, and then nobody may mount another one. A job that sees the processes of
        // others is still a job that does not see their files.
        Err(refused) if refused.step == RoomStep::Processes => enter_with(Pids::Shared, order, room, streams),
        entered => entered,
    }
}

/// Which processes can be seen in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pids {
    Own,
    Shared,
}

fn enter_with(
    pids: Pids,
    order: &Order,
    room: &Room,
    streams: &[OwnedFd; 3],
) -> Result<Result<Inside, (Failed, io::Error)>, RoomRefused> {
    let refused = RoomRefused::at(RoomStep::Namespaces);
    let (report, theirs) = io::pipe().map_err(refused)?;
    let (report, theirs) = (OwnedFd::from(report), OwnedFd::from(theirs));
    let maker = Maker { user: geteuid(), group: getegid(), pids };
    let Some(pid) = maker.clone_process().map_err(refused)? else {
        // Never returns into the guard's own code, not even by a panic.
        let _exit = Exit;
        maker.run(order, room, streams, &theirs);
        return Err(refused(io::Error::from_raw_os_error(libc::ECHILD)));
    };
    drop(theirs);
    let began = Report::read(&report);
    if let Some(Report::Started) = began {
        return Ok(Ok(Inside { pid, report }));
    }
    signals::wait_for(pid);
    match began {
        Some(Report::Refused(why)) => Err(why),
        Some(Report::NotStarted { what, errno }) => Ok(Err((what, io::Error::from_raw_os_error(errno)))),
        Some(Report::Started | Report::Ended { .. }) | None => {
            Err(refused(io::Error::from_raw_os_error(libc::ECHILD)))
        }
    }
}

/// Ends the process, whatever happens before.
struct Exit;

impl Drop for Exit {
    fn drop(&mut self) {
        signals::exit_now();
    }
}

/// What the first process of a room says to its guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Report {
    Started,
    Refused(RoomRefused),
    NotStarted { what: Failed, errno: i32 },
    Ended { code: Option<i32>, signal: i32 },
}

impl Report {
    const LENGTH: usize = 10;

    fn encode(self) -> [u8; Self::LENGTH] {
        let (kind, which, a, b) = match self {
            Self::Started => (b'S', 0, 0, 0),
            Self::Refused(refused) => (b'R', refused.step.to_byte(), refused.errno, 0),
            Self::NotStarted { what: Failed::Program, errno } => (b'P', 0, errno, 0),
            Self::NotStarted { what: Failed::Cwd, errno } => (b'D', 0, errno, 0),
            Self::Ended { code: Some(code), signal } => (b'C', 0, code, signal),
            Self::Ended { code: None, signal } => (b'G', 0, 0, signal),
        };
        let mut bytes = [0; Self::LENGTH];
        (bytes[0], bytes[1]) = (kind, which);
        bytes[2..6].copy_from_slice(&a.to_le_bytes());
        bytes[6..].copy_from_slice(&b.to_le_bytes());
        bytes
    }

    fn decode(bytes: [u8; Self::LENGTH]) -> Option<Self> {
        let number = |at: usize| i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let (a, b) = (number(2), number(6));
        Some(match bytes[0] {
            b'S' => Self::Started,
            b'R' => Self::Refused(RoomRefused { step: RoomStep::from_byte(bytes[1])?, errno: a }),
            b'P' => Self::NotStarted { what: Failed::Program, errno: a },
            b'D' => Self::NotStarted { what: Failed::Cwd, errno: a },
            b'C' => Self::Ended { code: Some(a), signal: b },
            b'G' => Self::Ended { code: None, signal: b },
            _ => return None,
        })
    }

    /// Waits for the next one; none: there will be none.
    fn read(pipe: &OwnedFd) -> Option<Self> {
        let mut bytes = [0; Self::LENGTH];
        File::from(pipe.try_clone().ok()?).read_exact(&mut bytes).ok()?;
        Self::decode(bytes)
    }

    fn write(self, pipe: &OwnedFd) {
        // A guard that does not read is dead, and so are we.
        if let Ok(pipe) = pipe.try_clone() {
            let _ = File::from(pipe).write_all(&self.encode());
        }
    }
}

/// Why there is no job in the room.
enum NoJob {
    Refused(RoomRefused),
    NotStarted(Failed, io::Error),
}

impl From<RoomRefused> for NoJob {
    fn from(refused: RoomRefused) -> Self {
        Self::Refused(refused)
    }
}

/// The user that a room is made for.
struct Maker {
    user: Uid,
    group: Gid,
    pids: Pids,
}

impl Maker {
    /// Forks into new namespaces; none: this is the new process.
    fn clone_process(&self) -> io::Result<Option<u32>> {
        let user = if self.user.is_root() { 0 } else { libc::CLONE_NEWUSER };
        let pids = match self.pids {
            Pids::Own => libc::CLONE_NEWPID,
            Pids::Shared => 0,
        };
        signals::clone_process(libc::CLONE_NEWNS | user | pids)
    }

    /// The life of the first process.
    fn run(&self, order: &Order, room: &Room, streams: &[OwnedFd; 3], report: &OwnedFd) {
        let job = match self.begin(order, room, streams, report) {
            Ok(job) => job,
            Err(NoJob::Refused(refused)) => return Report::Refused(refused).write(report),
            Err(NoJob::NotStarted(what, error)) => {
                let errno = error.raw_os_error().unwrap_or(libc::EINVAL);
                return Report::NotStarted { what, errno }.write(report);
            }
        };
        Report::Started.write(report);
        // Nobody else here waits for orphans. When none is left, neither is the room.
        while let Some(Ended { pid, code, signal, .. }) = signals::wait_next() {
            if pid == job {
                Report::Ended { code, signal }.write(report);
            }
        }
    }

    fn begin(
        &self,
        order: &Order,
        room: &Room,
        streams: &[OwnedFd; 3],
        report: &OwnedFd,
    ) -> Result<u32, NoJob> {
        self.leave_guard(streams, report).map_err(RoomRefused::at(RoomStep::Namespaces))?;
        if !self.user.is_root() {
            self.name_user().map_err(RoomRefused::at(RoomStep::User))?;
        }
        mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)
            .map_err(|error| RoomRefused::at(RoomStep::Mounts)(error.into()))?;
        furnish(room)?;
        if self.pids == Pids::Own {
            let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
            mount("proc", "/proc", "proc", flags, None)
                .map_err(|error| RoomRefused::at(RoomStep::Processes)(error.into()))?;
        }
        // The old directory would lead to the old mounts.
        rustix::process::chdir(&order.cwd).map_err(|error| NoJob::NotStarted(Failed::Cwd, error.into()))?;
        self.give_up_rights().map_err(RoomRefused::at(RoomStep::Rights))?;
        let duplicates = || {
            let [stdin, stdout, stderr] = streams;
            Ok([stdin.try_clone()?, stdout.try_clone()?, stderr.try_clone()?])
        };
        let failed = |error| NoJob::NotStarted(Failed::Program, error);
        guard::command(order, duplicates().map_err(failed)?).and_then(guard::spawn).map_err(failed)
    }

    /// Keeps nothing of the guard's but the pipe to it, and dies with it.
    fn leave_guard(&self, streams: &[OwnedFd; 3], report: &OwnedFd) -> io::Result<()> {
        signals::forget_children();
        rustix::process::setsid()?;
        tree::die_with_parent()?;
        let null = File::open("/dev/null")?;
        // The guard's standard input is its socket.
        rustix::stdio::dup2_stdin(null)?;
        let mut kept: Vec<u32> =
            streams.iter().chain([report]).map(|kept| kept.as_raw_fd().cast_unsigned()).collect();
        kept.sort_unstable();
        signals::close_all_but(&kept);
        // It may have died before it could have taken us along. Its id does not tell: from inside it is 0 either way.
        let mut pipe = [PollFd::from_borrowed_fd(report.as_fd(), PollFlags::empty())];
        poll(&mut pipe, Some(&rustix::time::Timespec::default()))?;
        if pipe[0].revents().is_empty() { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
    }

    /// The user and the group keep their numbers; all others are nobody here.
    fn name_user(&self) -> io::Result<()> {
        let (user, group) = (self.user.as_raw(), self.group.as_raw());
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
    }

    fn give_up_rights(&self) -> io::Result<()> {
        let undoing = if self.user.is_root() { UNDOING } else { CapabilitySet::all() };
        for bit in 0..u64::BITS {
            let right = CapabilitySet::from_bits_retain(1 << bit);
            if undoing.contains(right) {
                match remove_capability_from_bounding_set(right) {
                    // This kernel knows no more.
                    Err(rustix::io::Errno::INVAL) => break,
                    removed => removed?,
                }
            }
        }
        clear_ambient_capability_set()?;
        let CapabilitySets { effective, permitted, inheritable } = capabilities(None)?;
        set_capabilities(
            None,
            CapabilitySets {
                effective: effective & !undoing,
                permitted: permitted & !undoing,
                inheritable: inheritable & !undoing,
            },
        )?;
        Ok(set_no_new_privs(true)?)
    }
}

/// The rights of root by which the room could be undone or looked out of.
const UNDOING: CapabilitySet = CapabilitySet::SYS_ADMIN
    .union(CapabilitySet::SYS_PTRACE)
    .union(CapabilitySet::SYS_CHROOT)
    .union(CapabilitySet::SYS_RAWIO)
    .union(CapabilitySet::SYS_MODULE)
    .union(CapabilitySet::MKNOD)
    .union(CapabilitySet::SYS_BOOT)
    .union(CapabilitySet::SETPCAP)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::BPF)
    .union(CapabilitySet::PERFMON);

/// Puts everything in its place.
fn furnish(room: &Room) -> Result<(), RoomRefused> {
    let places = room.ordered();
    // All of them before the first one is covered.
    let trees: Vec<Option<OwnedFd>> = places
        .iter()
        .map(|place| take_hold(place).map_err(RoomRefused::at(RoomStep::Keep)))
        .collect::<Result<_, _>>()?;
    for (place, tree) in places.iter().zip(trees) {
        let placed = match tree {
            Some(tree) => put(&tree, &place.path),
            None if place.shows == Shows::Nothing => cover(&place.path),
            None => Ok(()),
        };
        placed.map_err(RoomRefused::at(RoomStep::Hide))?;
    }
    Ok(())
}

/// A copy of the mounts at what a place shows; none: there is nothing.
fn take_hold(place: &Place) -> io::Result<Option<OwnedFd>> {
    let from = match &place.shows {
        Shows::Nothing => return Ok(None),
        Shows::Other(path) => path,
        Shows::Itself => &place.path,
    };
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        // Mounts that came from outside must not be separated from what is mounted on them.
        | OpenTreeFlags::AT_RECURSIVE;
    match open_tree(CWD, from, flags) {
        Err(rustix::io::Errno::NOENT) if place.shows == Shows::Itself => Ok(None),
        opened => Ok(Some(opened?)),
    }
}

/// Mounts a tree. In a directory that is covered the place has to be made first.
fn put(tree: &OwnedFd, at: &Path) -> io::Result<()> {
    if fs::symlink_metadata(at).is_err() {
        if rustix::fs::fstat(tree).is_ok_and(|found| found.st_mode & libc::S_IFMT == libc::S_IFDIR) {
            fs::create_dir_all(at)?;
        } else {
            fs::create_dir_all(at.parent().unwrap_or(at))?;
            File::create(at)?;
        }
    }
    Ok(move_mount(tree, "", CWD, at, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// Mounts an empty directory.
fn cover(path: &Path) -> io::Result<()> {
    let mode = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Permissions::mode(&found.permissions()) & 0o7777,
        // There is nothing to hide, or it is covered already.
        Ok(_) | Err(_) => return Ok(()),
    };
    let mode = CString::new(format!("mode={mode:o}"))?;
    Ok(mount("tmpfs", path, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, mode.as_c_str())?)
}
