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

use super::signals::{self, Waited};
use super::tree::{self, Hunt};
use super::wire::{Failed, HEADER, Order, STOP_GENTLY, Status, send_all};

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
    let mut guard =
        Guard { socket, bell, grace: order.grace, job: 0, phase: Phase::Running, cpu: Duration::ZERO };
    match start(&order, streams) {
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

/// Starts the job. The guard's own copies of the job's streams are closed when this returns.
fn start(order: &Order, [stdin, stdout, stderr]: [OwnedFd; 3]) -> Result<u32, (Failed, io::Error)> {
    let [program, arguments @ ..] = order.argv.as_slice() else {
        return Err((Failed::Program, io::Error::from_raw_os_error(libc::ENOENT)));
    };
    // Done here and not in the child, so that a missing directory is not taken for a missing program.
    std::env::set_current_dir(&order.cwd).map_err(|error| (Failed::Cwd, error))?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(order.env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::from(stdin)).stdout(Stdio::from(stdout)).stderr(Stdio::from(stderr));
    let guard = rustix::process::getpid();
    #[expect(unsafe_code, reason = "what the child does to itself before exec has no safe form")]
    // SAFETY: the closure runs in a single-threaded child and makes only async-signal-safe calls, without allocating.
    unsafe {
        command.pre_exec(move || {
            // A session of its own: Ctrl-C at the terminal does not reach the job, and a signal to its group reaches
            // all of it.
            rustix::process::setsid()?;
            // The kernel sends this when the forking *thread* ends. The guard has only one, so it means: when the
            // guard dies.
            tree::die_with_parent()?;
            // The guard may have died before the line above could have had an effect.
            if rustix::process::getppid() != Some(guard) {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            // The guard blocks nearly all signals, and a blocked mask is inherited over exec: an agent could not be
            // interrupted.
            signals::reset_all();
            Ok(())
        });
    }
    let child = command.spawn();
    let _ = std::env::set_current_dir("/");
    child.map(|child| child.id()).map_err(|error| (Failed::Program, error))
}

enum Phase {
    /// The job runs as it likes.
    Running,
    /// Everything was asked to end.
    Stopping { until: Instant },
    /// Everything is being killed.
    Killing { hunt: Hunt, pause: Duration },
}

struct Guard<'a> {
    socket: &'a UnixStream,
    bell: &'a OwnedFd,
    grace: Duration,
    /// The job's process, 0 when it could not be started.
    job: u32,
    phase: Phase,
    cpu: Duration,
}

impl Guard<'_> {
    /// Sees the job and its tree to their end. True when nothing is left and the runner is still there.
    fn watch(&mut self) -> bool {
        let mut runner_there = true;
        let mut emptied = self.reap();
        while !emptied {
            let timeout = match &mut self.phase {
                Phase::Running => None,
                Phase::Stopping { until } => Some(until.saturating_duration_since(Instant::now())),
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
            if matches!(&self.phase, Phase::Stopping { until } if *until <= Instant::now()) {
                self.kill();
            }
            // Reaped after every wake-up and not only when the bell rang: several SIGCHLD can merge into one, and
            // `poll` also ends with EINTR, with nothing to read yet.
            emptied = self.reap();
        }
        let (leftovers, unreachable) = match &self.phase {
            Phase::Running | Phase::Stopping { .. } => (0, Vec::new()),
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
                        self.tell(&Status::Exited { code: ended.code, signal: ended.signal });
                        // Asked to end, the others keep what is left of their grace.
                        // What the main process leaves running is killed without a grace: nobody waits for its result
                        // any more, and a server in the background would hold the next step up.
                        if matches!(self.phase, Phase::Running) {
                            self.kill();
                        }
                    }
                }
            }
        }
    }

    /// Sleeps until a child ends, the runner speaks or goes, or the time is up. False when the runner is gone.
    fn wait(&mut self, timeout: Option<Duration>, runner_there: bool) -> bool {
        let listen = if runner_there { PollFlags::IN } else { PollFlags::empty() };
        let mut sources =
            [PollFd::from_borrowed_fd(self.bell.as_fd(), PollFlags::IN), PollFd::new(self.socket, listen)];
        // Without the runner its socket would report its end for ever.
        let sources = if runner_there { &mut sources[..] } else { &mut sources[..1] };
        let timeout = timeout.and_then(|timeout| timeout.try_into().ok());
        if poll(sources, timeout.as_ref()).is_err() {
            return runner_there;
        }
        let heard = sources.get(1).is_some_and(|runner| !runner.revents().is_empty());
        let mut rung = [0; 64];
        // Emptied before the children are reaped (by the caller), never after: a child that ends in between rings
        // again, and the next `poll` returns at once.
        while rustix::io::read(self.bell, &mut rung).is_ok_and(|count| count == rung.len()) {}
        if !heard {
            return runner_there;
        }
        let mut orders = [0; 16];
        match rustix::io::read(self.socket, &mut orders) {
            Ok(count) if count > 0 => {
                for order in &orders[..count] {
                    if *order == STOP_GENTLY { self.stop_gently() } else { self.kill() }
                }
                true
            }
            Err(rustix::io::Errno::INTR) => true,
            // End of file: the runner has exited or was killed. From here on nobody can tell the guard to stop, so it
            // ends everything.
            Ok(_) | Err(_) => {
                self.kill();
                false
            }
        }
    }

    fn stop_gently(&mut self) {
        if matches!(self.phase, Phase::Running) {
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
