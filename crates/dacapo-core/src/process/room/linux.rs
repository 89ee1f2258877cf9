//! Rooms by mount, pid and user namespaces, and by Landlock.
//!
//! A job that sees all processes is a child of the guard that makes its room itself, between fork and exec. One with processes
//! of its own has one more process above it:
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

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Gid, Pid, Uid, getegid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs, unshare_unsafe,
};

use super::kernel::{self, Changes};
use super::mounts::furnish;
use super::trials::Trier;
use super::{Otherwise, Processes, Room, RoomMade, RoomRefused, RoomStep, Trial, Trials, Walls};
use crate::process::guard;
use crate::process::signals::{self, Ended};
use crate::process::tree;
use crate::process::wire::{Failed, Order};

/// A job that was started, in its room or with what there is of it.
pub(in crate::process) struct Begun {
    /// The job, or the first process of its room.
    pub(in crate::process) pid: u32,
    /// Set if there is such a first process.
    pub(in crate::process) inside: Option<Inside>,
    pub(in crate::process) made: RoomMade,
}

/// A job below the first process of a room.
pub(in crate::process) struct Inside {
    /// Tells when the job itself has ended.
    report: OwnedFd,
}

impl Inside {
    /// How the job ended; none: its first process was ended with it.
    pub(in crate::process) fn ending(&self) -> Option<(Option<i32>, i32)> {
        match Report::read(&self.report)? {
            Report::Ended { code, signal } => Some((code, signal)),
            Report::Started | Report::Tried(_) | Report::Refused(_) | Report::NotStarted { .. } => None,
        }
    }

    pub(in crate::process) fn report(&self) -> &OwnedFd {
        &self.report
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

/// Starts the job in the room, or with what the kernel grants of it.
pub(in crate::process) fn enter(
    order: &Order,
    room: &Room,
    streams: &[OwnedFd; 3],
) -> Result<Begun, (Failed, io::Error)> {
    let maker = Maker { user: geteuid(), group: getegid() };
    let processes = match (room.processes, room.otherwise) {
        // Nobody signals what they cannot see.
        (Processes::Shared, Otherwise::Refuse) if !kernel::has_scopes() => Processes::Own,
        (processes, Otherwise::Run | Otherwise::Refuse) => processes,
    };
    let begun = match processes {
        Processes::Own => maker.enter_with_first_process(order, room, streams),
        Processes::Shared => maker.enter_here(order, room, streams, Means::Mounts),
    };
    let begun = match begun {
        // Some containers hide parts of /proc, and then nobody may mount another one. A job that sees the processes of
        // others is still a job that does not see their files.
        Err(NoJob::Refused(RoomRefused { step: RoomStep::Processes, .. })) => {
            maker.enter_here(order, room, streams, Means::Mounts)
        }
        begun => begun,
    };
    let begun = match begun {
        Err(NoJob::Refused(refused)) if room.granted().is_some() => {
            maker.enter_here(order, room, streams, Means::Landlock(refused))
        }
        begun => begun,
    };
    let begun = match (begun, room.otherwise) {
        (Err(NoJob::Refused(refused)), Otherwise::Run) => {
            maker.enter_here(order, room, streams, Means::None(refused))
        }
        (begun, Otherwise::Run | Otherwise::Refuse) => begun,
    };
    begun.map_err(|no_job| match no_job {
        NoJob::Refused(refused) => (Failed::Room(refused.step), io::Error::from_raw_os_error(refused.errno)),
        NoJob::NotStarted(what, error) => (what, error),
    })
}

/// What a room is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Means {
    Mounts,
    /// There are no mounts to be had, for this reason.
    Landlock(RoomRefused),
    /// Landlock cannot express the room either.
    None(RoomRefused),
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
    Tried(Trials),
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
            Self::Tried(trials) => {
                let [made, failed] = trials.to_bytes();
                (b'T', 0, made.into(), failed.into())
            }
            Self::Refused(refused) => (b'R', refused.step.to_byte(), refused.errno, 0),
            Self::NotStarted { what: Failed::Program, errno } => (b'P', 0, errno, 0),
            Self::NotStarted { what: Failed::Cwd, errno } => (b'D', 0, errno, 0),
            Self::NotStarted { what: Failed::Room(step), errno } => (b'R', step.to_byte(), errno, 0),
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
            b'T' => Self::Tried(Trials::from_bytes([u8::try_from(a).ok()?, u8::try_from(b).ok()?])),
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

/// The user that a room is made for.
#[derive(Debug, Clone, Copy)]
struct Maker {
    user: Uid,
    group: Gid,
}

impl Maker {
    fn namespaces(self) -> libc::c_int {
        libc::CLONE_NEWNS | if self.user.is_root() { 0 } else { libc::CLONE_NEWUSER }
    }

    /// Starts the job below a first process, which makes the room and sees nothing but what is in it.
    fn enter_with_first_process(
        self,
        order: &Order,
        room: &Room,
        streams: &[OwnedFd; 3],
    ) -> Result<Begun, NoJob> {
        let refused = RoomRefused::at(RoomStep::Namespaces);
        let (report, theirs) = io::pipe().map_err(refused)?;
        let (report, theirs) = (OwnedFd::from(report), OwnedFd::from(theirs));
        let cloned = signals::clone_process(self.namespaces() | libc::CLONE_NEWPID).map_err(refused)?;
        let Some(pid) = cloned else {
            // Never returns into the guard's own code, not even by a panic.
            let _exit = Exit;
            self.run(order, room, streams, &theirs);
            return Err(refused(io::Error::from_raw_os_error(libc::ECHILD)).into());
        };
        drop(theirs);
        let mut trials = Trials::default();
        let error = loop {
            match Report::read(&report) {
                Some(Report::Tried(tried)) => trials = tried,
                Some(Report::Started) => {
                    let made = RoomMade { walls: Walls::Mounts, trials };
                    return Ok(Begun { pid, inside: Some(Inside { report }), made });
                }
                Some(Report::Refused(why)) => break why.into(),
                Some(Report::NotStarted { what, errno }) => {
                    break NoJob::NotStarted(what, io::Error::from_raw_os_error(errno));
                }
                Some(Report::Ended { .. }) | None => {
                    break refused(io::Error::from_raw_os_error(libc::ECHILD)).into();
                }
            }
        };
        signals::wait_for(pid);
        Err(error)
    }

    /// The life of the first process.
    fn run(self, order: &Order, room: &Room, streams: &[OwnedFd; 3], report: &OwnedFd) {
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
        self,
        order: &Order,
        room: &Room,
        streams: &[OwnedFd; 3],
        report: &OwnedFd,
    ) -> Result<u32, NoJob> {
        self.leave_guard(streams, report).map_err(RoomRefused::at(RoomStep::Namespaces))?;
        self.make(&order.cwd, room, Processes::Own)?;
        let (room, told) = (room.clone(), share(report)?);
        spawn(order, streams, move |phase| match phase {
            guard::Starting::Begun => Ok(()),
            guard::Starting::Ready => seal(&room, Means::Mounts, None, &told),
        })
    }

    /// Starts the job as a child of this process, which makes its room itself.
    fn enter_here(
        self,
        order: &Order,
        room: &Room,
        streams: &[OwnedFd; 3],
        means: Means,
    ) -> Result<Begun, NoJob> {
        let (report, theirs) = io::pipe().map_err(RoomRefused::at(RoomStep::Namespaces))?;
        let (report, theirs) = (OwnedFd::from(report), OwnedFd::from(theirs));
        let (cwd, own_room) = (order.cwd.clone(), room.clone());
        let confine = move |phase: guard::Starting| {
            let done = match phase {
                guard::Starting::Begun if means == Means::Mounts => self.make_here(&cwd, &own_room),
                guard::Starting::Begun => Ok(()),
                guard::Starting::Ready => return seal(&own_room, means, rustix::process::getppid(), &theirs),
            };
            done.map_err(|no_job| match no_job {
                NoJob::Refused(refused) => tell_refused(refused, &theirs),
                NoJob::NotStarted(what, error) => {
                    let errno = error.raw_os_error().unwrap_or(libc::EINVAL);
                    Report::NotStarted { what, errno }.write(&theirs);
                    error
                }
            })
        };
        // Only the job has the other end of the pipe from here on, and it has written by now or never will.
        let started = spawn(order, streams, confine);
        let mut trials = Trials::default();
        while let Some(told) = Report::read(&report) {
            match told {
                Report::Tried(tried) => trials = tried,
                Report::Refused(refused) => return Err(refused.into()),
                Report::NotStarted { what, errno } => {
                    return Err(NoJob::NotStarted(what, io::Error::from_raw_os_error(errno)));
                }
                Report::Started | Report::Ended { .. } => {}
            }
        }
        let walls = match means {
            Means::Mounts => Walls::Mounts,
            Means::Landlock(refused) => Walls::Landlock(refused),
            Means::None(refused) => Walls::None(refused),
        };
        Ok(Begun { pid: started?, inside: None, made: RoomMade { walls, trials } })
    }

    fn make_here(self, cwd: &Path, room: &Room) -> Result<(), NoJob> {
        let flags = UnshareFlags::from_bits_retain(self.namespaces().cast_unsigned());
        #[expect(unsafe_code, reason = "descriptors that are shared are closed by nobody")]
        // SAFETY: this is the only thread, and it shares nothing with the guard that it was forked from.
        unsafe { unshare_unsafe(flags) }
            .map_err(|error| RoomRefused::at(RoomStep::Namespaces)(error.into()))?;
        self.make(cwd, room, Processes::Shared)
    }

    /// Makes the room around this process, in its new namespaces.
    fn make(self, cwd: &Path, room: &Room, processes: Processes) -> Result<(), NoJob> {
        if !self.user.is_root() {
            self.name_user().map_err(RoomRefused::at(RoomStep::User))?;
        }
        mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)
            .map_err(|error| RoomRefused::at(RoomStep::Mounts)(error.into()))?;
        // Before anything is protected in it.
        if processes == Processes::Own {
            let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
            mount("proc", "/proc", "proc", flags, None)
                .map_err(|error| RoomRefused::at(RoomStep::Processes)(error.into()))?;
        }
        furnish(room)?;
        // The old directory would lead to the old mounts.
        rustix::process::chdir(cwd).map_err(|error| NoJob::NotStarted(Failed::Cwd, error.into()))?;
        Ok(self.give_up_rights().map_err(RoomRefused::at(RoomStep::Rights))?)
    }

    /// Keeps nothing of the guard's but the pipe to it, and dies with it.
    fn leave_guard(self, streams: &[OwnedFd; 3], report: &OwnedFd) -> io::Result<()> {
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
    fn name_user(self) -> io::Result<()> {
        let (user, group) = (self.user.as_raw(), self.group.as_raw());
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
    }

    fn give_up_rights(self) -> io::Result<()> {
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

/// Starts the job's program. `confine` is called in the new process: at once, and just before it becomes the program.
fn spawn(
    order: &Order,
    streams: &[OwnedFd; 3],
    confine: impl FnMut(guard::Starting) -> io::Result<()> + Send + Sync + 'static,
) -> Result<u32, NoJob> {
    let failed = |error| NoJob::NotStarted(Failed::Program, error);
    let [stdin, stdout, stderr] = streams;
    let duplicates = [stdin, stdout, stderr].map(OwnedFd::try_clone);
    let [stdin, stdout, stderr] = duplicates;
    let streams = [stdin.map_err(failed)?, stdout.map_err(failed)?, stderr.map_err(failed)?];
    guard::command(order, streams).and_then(|command| guard::spawn(command, confine)).map_err(failed)
}

fn share(report: &OwnedFd) -> Result<OwnedFd, RoomRefused> {
    report.try_clone().map_err(RoomRefused::at(RoomStep::Trials))
}

/// Reports why there is no room, and gives it back as an error of the start.
fn tell_refused(refused: RoomRefused, report: &OwnedFd) -> io::Error {
    Report::Refused(refused).write(report);
    io::Error::from_raw_os_error(refused.errno)
}

/// Closes the last ways out of the room, and tries them all.
fn seal(room: &Room, means: Means, outside: Option<Pid>, report: &OwnedFd) -> io::Result<()> {
    let granted = room.granted().unwrap_or_default();
    let changes = if matches!(means, Means::Landlock(_)) { Changes::In(&granted) } else { Changes::All };
    let restricted = set_no_new_privs(true).map_err(io::Error::from).and_then(|()| kernel::restrict(changes));
    let has_mounts = means == Means::Mounts;
    let trier = Trier { protected: room.protected(), outside, has_mounts };
    let trials = match means {
        Means::None(_) => Trials::default(),
        Means::Mounts | Means::Landlock(_) => trier.try_all(),
    };
    let open = trials.failed().any(|trial| has_mounts || trial == Trial::Write);
    // Without Landlock only signals are not kept in.
    let failed = match (restricted, means) {
        (Err(error), Means::Landlock(_)) => Some(RoomRefused::at(RoomStep::Landlock)(error)),
        _ if open && room.otherwise == Otherwise::Refuse => {
            Some(RoomRefused::because(RoomStep::Trials, libc::EPERM))
        }
        _ => None,
    };
    match failed {
        Some(refused) => Err(tell_refused(refused, report)),
        None => {
            Report::Tried(trials).write(report);
            Ok(())
        }
    }
}
