//! The process between runner and job, which outlives both just long enough to leave nothing behind.
//!
//! It is this same program, started as `dacapo __guard`. It has one thread and its own session, is deaf to signals, and
//! is a subreaper: whatever loses its parent below it becomes its child. On its standard input it has a socket to the
//! runner; when that ends, however the runner died, everything is killed. That it has no child left proves that the tree
//! is empty; only then it lets go of the locks that came with the order, and takes another one or exits.

use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use super::room::{self, Inside};
use super::signals::{self, Waited};
use super::tree::{self, Frozen, Hunt};
use super::wire::{FREEZE, Failed, HEADER, Order, STOP_GENTLY, Status, THAW, read_members, send_all};

/// The argument that turns the program into a guard. What follows it is not for the guard itself: it names the data
/// directory to whoever looks at the command line.
pub const ARGUMENT: &str = "__guard";

/// Descriptors that can come with one order: the job's three streams and what is to be held open.
pub(super) const MOST_DESCRIPTORS: usize = 32;

/// The shortest and the longest time between two attempts to kill what is left.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

/// Runs the guard. `main` calls it before anything else when the first argument is [`ARGUMENT`].
pub fn main() -> ! {
    let code = match run() {
        Ok(()) => 0,
        Err(_) => 70,
    };
    std::process::exit(code);
}

fn run() -> io::Result<()> {
    // Before anything else: a SIGTERM that arrives between here and the first order must not end the guard, because
    // its job would then outlive everyone.
    let bell = signals::hear_only_children()?;
    // Fails only for a group leader, whose group nobody else is in.
    let _ = rustix::process::setsid();
    // Without this a daemon that forks twice would become a child of init, and nobody could say any more that it
    // belongs to the job.
    tree::adopt(tree::Adopt::Orphans)?;
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_name(c"dacapo-guard");
    // Its working directory would keep a file system busy or a removed worktree alive.
    std::env::set_current_dir("/")?;
    // The job gets streams of its own, so standard input is free to carry the socket. The copy closes on exec: a job
    // that inherited it could give orders, and would keep it open after the guard's death.
    let socket = UnixStream::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?);
    // One order after the other: to start a process for each would cost more than all the rest of a short job.
    while let Some((order, streams, held)) = receive(&socket)? {
        if !carry_out(order, streams, &socket, &bell) {
            break;
        }
        drop(held);
    }
    Ok(())
}

/// Starts the job and sees it to its end. False when no further order can follow.
fn carry_out(order: Order, streams: [OwnedFd; 3], socket: &UnixStream, bell: &OwnedFd) -> bool {
    // The locks that came with the order stay open here until the end; the job must not have them.
    signals::keep_descriptors_to_ourselves();
    let mut guard = Guard {
        socket,
        bell,
        grace: order.grace,
        without_runner: order.without_runner,
        job: 0,
        whereabouts: Whereabouts::Here,
        phase: Phase::Running,
        frozen: Frozen::default(),
        cpu: Duration::ZERO,
    };
    match guard.start(&order, streams) {
        Ok(pid) => {
            // The id cannot be reused before the guard itself has waited for the child, so it stays valid for signals
            // until then.
            guard.job = pid;
            guard.tell(&Status::Started { pid });
        }
        Err((what, error)) => {
            guard.tell(&Status::SpawnFailed { what, errno: error.raw_os_error().unwrap_or(libc::EINVAL) });
        }
    }
    // Arguments and environment can be large, and the job can take hours.
    drop(order);
    guard.watch()
}

/// An order, the job's three streams, and what is to be held open until the end.
type Received = (Order, [OwnedFd; 3], Vec<OwnedFd>);

/// Waits for the order; `None` when the runner goes away without giving one.
fn receive(mut socket: &UnixStream) -> io::Result<Option<Received>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut header = [0; HEADER];
    // The descriptors come with the first byte of the header, whatever part of it is read at once. So they are
    // collected from this call, and only the rest of the header is read with an ordinary `read`.
    let got =
        recvmsg(socket, &mut [io::IoSliceMut::new(&mut header)], &mut control, RecvFlags::empty())?.bytes;
    if got == 0 {
        return Ok(None);
    }
    socket.read_exact(&mut header[got..])?;
    let mut descriptors: Vec<OwnedFd> = control
        .drain()
        .flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect(),
            _ => Vec::new(),
        })
        .collect();
    let refused = || io::Error::from(io::ErrorKind::InvalidData);
    let mut body = vec![0; Order::body_len(header).ok_or_else(refused)?];
    socket.read_exact(&mut body)?;
    let held = descriptors.split_off(descriptors.len().min(3));
    let streams = descriptors.try_into().map_err(|_| refused())?;
    Ok(Some((Order::decode(&body).ok_or_else(refused)?, streams, held)))
}

/// The job as a command. Its streams are closed here when this is dropped.
pub(super) fn command(order: &Order, [stdin, stdout, stderr]: [OwnedFd; 3]) -> io::Result<Command> {
    let [program, arguments @ ..] = order.argv.as_slice() else {
        return Err(io::Error::from_raw_os_error(libc::ENOENT));
    };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(order.env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::from(stdin)).stdout(Stdio::from(stdout)).stderr(Stdio::from(stderr));
    Ok(command)
}

/// How far a new process has come on its way to the job's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Starting {
    /// It has a session of its own.
    Begun,
    /// All but the program is as it will be.
    Ready,
}

/// Starts a command as a child of this process that ends with it. `confine` is called in the new process.
pub(super) fn spawn(
    mut command: Command,
    mut confine: impl FnMut(Starting) -> io::Result<()> + Send + Sync + 'static,
) -> io::Result<u32> {
    let parent = rustix::process::getpid();
    #[expect(unsafe_code, reason = "what the child does to itself before exec has no safe form")]
    // SAFETY: the closure runs in a copy of this process, which has one thread: no lock can be held by another one that is not
    // there, so whatever is safe here is safe in it.
    unsafe {
        command.pre_exec(move || {
            // A session of its own: Ctrl-C at the terminal does not reach the job, and a signal to its group reaches
            // all of it.
            rustix::process::setsid()?;
            confine(Starting::Begun)?;
            // The kernel sends this when the forking *thread* ends. The guard has only one, so it means: when the
            // guard dies.
            tree::die_with_parent()?;
            // The guard may have died before the line above could have had an effect.
            if rustix::process::getppid() != Some(parent) {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            // The guard blocks nearly all signals, and a blocked mask is inherited over exec: an agent could not be
            // interrupted.
            signals::reset_all();
            confine(Starting::Ready)
        });
    }
    command.spawn().map(|child| child.id())
}

/// Where the job is.
enum Whereabouts {
    /// Our own child.
    Here,
    /// In a room, whose first process is our child.
    Inside(Inside),
    /// Its end is known; the first process of its room may still be there.
    Ended,
}

enum Phase {
    /// The job runs as it likes.
    Running,
    /// The runner is gone; the job may end by itself until then.
    Alone { until: Instant },
    /// Everything was asked to end.
    Stopping { until: Instant },
    /// Everything is being killed.
    Killing { hunt: Hunt, pause: Duration },
}

struct Guard<'a> {
    socket: &'a UnixStream,
    bell: &'a OwnedFd,
    grace: Duration,
    without_runner: Duration,
    /// The job's process, or the first one of its room; 0 when it could not be started.
    job: u32,
    whereabouts: Whereabouts,
    phase: Phase,
    frozen: Frozen,
    cpu: Duration,
}

impl Guard<'_> {
    /// Starts the job, in its room where the kernel lets it have one. Our own copies of its streams are closed when this
    /// returns.
    fn start(&mut self, order: &Order, streams: [OwnedFd; 3]) -> Result<u32, (Failed, io::Error)> {
        // Done here and not in the child, so that a missing directory is not taken for a missing program.
        std::env::set_current_dir(&order.cwd).map_err(|error| (Failed::Cwd, error))?;
        let started = self.start_here(order, streams);
        let _ = std::env::set_current_dir("/");
        started
    }

    fn start_here(&mut self, order: &Order, streams: [OwnedFd; 3]) -> Result<u32, (Failed, io::Error)> {
        let Some(room) = &order.room else {
            let spawned = command(order, streams).and_then(|command| spawn(command, |_| Ok(())));
            return spawned.map_err(|error| (Failed::Program, error));
        };
        let begun = room::enter(order, room, &streams)?;
        self.tell(&Status::RoomMade(begun.made));
        if let Some(inside) = begun.inside {
            self.whereabouts = Whereabouts::Inside(inside);
        }
        Ok(begun.pid)
    }

    /// Sees the job and its tree to their end. True when nothing is left and the runner is still there.
    fn watch(&mut self) -> bool {
        let mut runner_there = true;
        let mut emptied = self.reap();
        while !emptied {
            let timeout = match &mut self.phase {
                Phase::Running => None,
                Phase::Alone { until } | Phase::Stopping { until } => {
                    Some(until.saturating_duration_since(Instant::now()))
                }
                Phase::Killing { hunt, pause } => {
                    tree::kill_descendants(hunt, self.job);
                    if hunt.is_hopeless() {
                        break;
                    }
                    *pause =
                        if hunt.is_fresh() { Duration::ZERO } else { (*pause * 2).clamp(PAUSES.0, PAUSES.1) };
                    Some(*pause)
                }
            };
            runner_there = self.wait(timeout, runner_there);
            match &self.phase {
                Phase::Alone { until } if *until <= Instant::now() => self.stop_gently(),
                Phase::Stopping { until } if *until <= Instant::now() => self.kill(),
                Phase::Running | Phase::Alone { .. } | Phase::Stopping { .. } | Phase::Killing { .. } => {}
            }
            // Reaped after every wake-up and not only when the bell rang: several SIGCHLD can merge into one, and
            // `poll` also ends with EINTR, with nothing to read yet.
            emptied = self.reap();
        }
        let (leftovers, unreachable) = match &self.phase {
            Phase::Running | Phase::Alone { .. } | Phase::Stopping { .. } => (0, Vec::new()),
            Phase::Killing { hunt, .. } => {
                let unreachable = if emptied { Vec::new() } else { hunt.survivors() };
                let ended =
                    |pid: &&u32| **pid != self.job && unreachable.iter().all(|process| process.pid != **pid);
                (hunt.killed().iter().filter(ended).count(), unreachable)
            }
        };
        self.tell(&Status::Empty {
            leftovers: u32::try_from(leftovers).unwrap_or(u32::MAX),
            cpu_ms: u64::try_from(self.cpu.as_millis()).unwrap_or(u64::MAX),
            unreachable,
        });
        emptied && runner_there
    }

    /// Waits for all children that have ended. True when none is left at all.
    fn reap(&mut self) -> bool {
        loop {
            match signals::wait_any() {
                // ECHILD from a subreaper is the proof that the tree is empty: whatever a descendant started and left
                // would have become a child of ours.
                Waited::Childless => return true,
                Waited::Nothing => return false,
                Waited::Ended(ended) => {
                    self.cpu += ended.cpu;
                    if ended.pid == self.job {
                        self.job_ended((ended.code, ended.signal));
                    }
                }
            }
        }
    }

    /// The job has ended, or the first process of its room has, like this.
    fn job_ended(&mut self, like: (Option<i32>, i32)) {
        let (code, signal) = match std::mem::replace(&mut self.whereabouts, Whereabouts::Ended) {
            Whereabouts::Here => like,
            // By now it has told all it knows. If it was killed, so was the job.
            Whereabouts::Inside(inside) => inside.ending().unwrap_or((None, libc::SIGKILL)),
            Whereabouts::Ended => return,
        };
        self.tell(&Status::Exited { code, signal });
        // Asked to end, the others keep what is left of their grace.
        // What the main process leaves running is killed without a grace: nobody waits for its result any more, and a
        // server in the background would hold the next step up.
        if matches!(self.phase, Phase::Running | Phase::Alone { .. }) {
            self.kill();
        }
    }

    /// Sleeps until a child ends, the runner speaks or goes, or the time is up. False when the runner is gone.
    fn wait(&mut self, timeout: Option<Duration>, runner_there: bool) -> bool {
        let listen = if runner_there { PollFlags::IN } else { PollFlags::empty() };
        let mut sources = vec![PollFd::from_borrowed_fd(self.bell.as_fd(), PollFlags::IN)];
        // Without the runner its socket would report its end for ever.
        if runner_there {
            sources.push(PollFd::new(self.socket, listen));
        }
        if let Whereabouts::Inside(inside) = &self.whereabouts {
            sources.push(PollFd::from_borrowed_fd(inside.report().as_fd(), PollFlags::IN));
        }
        let timeout = timeout.and_then(|timeout| timeout.try_into().ok());
        if poll(&mut sources, timeout.as_ref()).is_err() {
            return runner_there;
        }
        let is_ready = |at: usize| sources.get(at).is_some_and(|source| !source.revents().is_empty());
        let heard = runner_there && is_ready(1);
        let ended_in_room = is_ready(1 + usize::from(runner_there));
        drop(sources);
        if ended_in_room {
            self.job_ended((None, libc::SIGKILL));
        }
        let mut rung = [0; 64];
        // Emptied before the children are reaped (by the caller), never after: a child that ends in between rings
        // again, and the next `poll` returns at once.
        while rustix::io::read(self.bell, &mut rung).is_ok_and(|count| count == rung.len()) {}
        if !heard {
            return runner_there;
        }
        // One at a time: more than a byte may belong to an order.
        let mut order = [0];
        match rustix::io::read(self.socket, &mut order) {
            Ok(count) if count > 0 => {
                match order[0] {
                    STOP_GENTLY => self.stop_gently(),
                    FREEZE => self.freeze(),
                    THAW => self.frozen.thaw(),
                    _ => self.kill(),
                }
                true
            }
            Err(rustix::io::Errno::INTR) => true,
            // End of file: the runner has exited or was killed. From here on nobody can tell the guard to stop, so it
            // ends everything.
            Ok(_) | Err(_) => {
                self.go_on_alone();
                false
            }
        }
    }

    fn go_on_alone(&mut self) {
        if self.without_runner.is_zero() {
            self.kill();
        } else if matches!(self.phase, Phase::Running) {
            self.phase = Phase::Alone { until: Instant::now() + self.without_runner };
        }
    }

    fn freeze(&mut self) {
        // A runner that is gone is noticed by the next look at its socket.
        let Some(own) = read_members(&mut &*self.socket) else { return };
        self.frozen.freeze(self.job, own);
        self.tell(&Status::Frozen);
    }

    fn stop_gently(&mut self) {
        if matches!(self.phase, Phase::Running | Phase::Alone { .. }) {
            // Who is stopped hears nothing.
            self.frozen.thaw();
            tree::ask_descendants_to_end(self.job);
            self.phase = Phase::Stopping { until: Instant::now() + self.grace };
        }
    }

    fn kill(&mut self) {
        if !matches!(self.phase, Phase::Killing { .. }) {
            self.phase = Phase::Killing { hunt: Hunt::new(), pause: Duration::ZERO };
        }
    }

    /// Tells the runner, if there still is one.
    fn tell(&self, status: &Status) {
        let _ = send_all(self.socket, &status.encode());
    }
}
