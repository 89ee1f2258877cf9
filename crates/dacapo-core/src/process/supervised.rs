//! Short commands of our own, git above all, that may never end by themselves: a filter that waits for a network, a file that
//! is a FIFO. Each has a limit of time, and whoever ends the task ends it too, by an event and never by looking again and
//! again. One that can start other programs runs under a guard, so that they go with it, whoever dies first.

use std::io::{self, PipeReader, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::Signal;

use super::guards::{GuardProcess, Guards};
use super::job::Job;
use super::start::{Child, With};
use super::tree::{self, TAG_VARIABLE};
use super::wire::{Order, STOP_GENTLY, STOP_NOW, Status, send_all};

/// Between SIGTERM, at which git removes its locks, and SIGKILL.
const GRACE: Duration = Duration::from_secs(1);
/// What is left to a command whose runner is gone: nearly every git has ended by then, and left no lock.
const WITHOUT_RUNNER: Duration = Duration::from_secs(1);
/// One that takes longer may be stuck: then it is looked, once, whether something is in its way.
const SUSPICIOUS: Duration = Duration::from_secs(5);
/// A guard that was told to end all and says nothing for so long is stopped or stuck.
const DEAF_GUARD: Duration = Duration::from_secs(15);

/// Says once, to whoever waits for a command, that it is to end soon. Clones are the same.
#[derive(Debug, Clone)]
pub struct StopSignal(Arc<Bell>);

#[derive(Debug)]
struct Bell {
    asked: OnceLock<Instant>,
    /// None where there are no descriptors to be had; then no command can be started either.
    heard: Option<PipeReader>,
    /// Closed when it rings, which everyone who waits hears.
    rings: Mutex<Option<io::PipeWriter>>,
}

impl Default for StopSignal {
    fn default() -> Self {
        let (heard, rings) = io::pipe().map_or((None, None), |(heard, rings)| (Some(heard), Some(rings)));
        Self(Arc::new(Bell { asked: OnceLock::new(), heard, rings: Mutex::new(rings) }))
    }
}

impl StopSignal {
    /// Commands that run now, and those that are started from now on, are ended if they take longer than a grace.
    pub fn ask(&self) {
        self.0.asked.get_or_init(Instant::now);
        drop(self.0.rings.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn asked(&self) -> Option<Instant> {
        self.0.asked.get().copied()
    }
}

/// How commands of ours are kept from running for ever.
#[derive(Debug, Clone)]
pub struct Supervision {
    guards: Option<Guards>,
    limit: Duration,
    stop: Option<StopSignal>,
    tag: Option<String>,
}

impl Default for Supervision {
    /// Without guards: for programs that have no `main` of ours.
    fn default() -> Self {
        Self { guards: None, limit: Self::LIMIT, stop: None, tag: None }
    }
}

impl Supervision {
    /// How long a command may take. Only one that hangs takes longer, or a filter that fetches very much.
    pub const LIMIT: Duration = Duration::from_secs(10 * 60);

    /// What can start other programs runs under one of these guards.
    #[must_use]
    pub fn under(mut self, guards: &Guards) -> Self {
        self.guards = Some(guards.clone());
        self
    }

    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    #[must_use]
    pub fn stopped_by(mut self, stop: &StopSignal) -> Self {
        self.stop = Some(stop.clone());
        self
    }

    pub fn guards(&self) -> Option<&Guards> {
        self.guards.as_ref()
    }

    pub fn stop_signal(&self) -> Option<&StopSignal> {
        self.stop.as_ref()
    }

    /// For what is to be done to its end, whoever stops the task.
    pub(crate) fn heedless(mut self) -> Self {
        self.stop = None;
        self
    }

    /// Ties what is started under a guard to a run: should the guard be killed too, a sweep finds it.
    #[must_use]
    pub fn tagged(mut self, tag: &str) -> Self {
        self.tag = Some(tag.to_owned());
        self
    }

    /// Starts a command whose program is a path and whose environment is complete (`Env::dress`).
    pub(crate) fn start(
        &self,
        command: &mut Command,
        with: With<'_>,
        reach: Reach,
    ) -> io::Result<Supervised> {
        let started = Instant::now();
        let worker = match (&self.guards, reach) {
            (Some(guards), Reach::OtherPrograms) => {
                Worker::Guarded(Box::new(Guarded::start(guards, self.tag.as_deref(), command, &with)?))
            }
            (None, _) | (Some(_), Reach::Itself) => Worker::Direct(Child::start(command, with)?),
        };
        Ok(Supervised { worker, started, limit: self.limit, stop: self.stop.clone() })
    }
}

/// What a command can start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Nothing but itself.
    Itself,
    /// Programs that somebody else has named: filters, hooks, helpers.
    OtherPrograms,
}

/// Why a command was ended before it had done its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cut {
    /// The task is to end.
    Stop,
    /// It took longer than this.
    Limit(Duration),
    /// It would never have ended: something is in its way.
    Stuck,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// Why it was ended, and what it was waiting for: the command lines of what it had started.
    pub(crate) cut: Option<(Cut, Vec<String>)>,
    /// It had said as much as anybody reads, and was ended.
    pub(crate) flooded: bool,
}

/// Takes what a command says as it comes.
pub(crate) type Take<'a> = &'a mut dyn FnMut(&[u8]);

/// How the output of a command is read.
pub(crate) struct Reading<'a> {
    /// Its stdout and stderr.
    pub(crate) pipes: [PipeReader; 2],
    /// Ends it as soon as it has said this many bytes on stdout.
    pub(crate) most: u64,
    /// Takes what it says on stdout as it comes, in place of [`Ended::stdout`].
    pub(crate) take: Option<Take<'a>>,
}

/// A command under way.
#[derive(Debug)]
pub(crate) struct Supervised {
    worker: Worker,
    started: Instant,
    limit: Duration,
    stop: Option<StopSignal>,
}

#[derive(Debug)]
enum Worker {
    Direct(Child),
    Guarded(Box<Guarded>),
}

/// Where a command is on its way to its end.
enum Phase {
    Running,
    /// It was told to end.
    Told {
        until: Instant,
        cut: (Cut, Vec<String>),
    },
    /// It was killed: nothing is waited for any more but its end.
    Killed {
        cut: Option<(Cut, Vec<String>)>,
    },
}

impl Supervised {
    /// Ends it at once.
    pub(crate) fn kill(self) {
        match self.worker {
            Worker::Direct(child) => {
                drop(child.kill());
                drop(child.wait());
            }
            // Dropped, its guard ends all.
            Worker::Guarded(guarded) => drop(guarded.guard),
        }
    }

    /// Sees it to its end, and reads what it says. One that takes long is ended if `is_stuck`, which is asked once.
    pub(crate) fn finish(
        mut self,
        reading: Reading<'_>,
        is_stuck: impl FnOnce() -> bool,
    ) -> io::Result<Ended> {
        let mut is_stuck = Some(is_stuck);
        // From here on its time counts: one that was started ahead has only waited for its input.
        self.started = Instant::now();
        let mut pipes = Pipes::new(reading)?;
        let mut phase = Phase::Running;
        loop {
            let over = match &self.worker {
                Worker::Direct(_) => pipes.are_over(),
                Worker::Guarded(guarded) => guarded.end.is_some(),
            };
            if over || matches!((&phase, &self.worker), (Phase::Killed { .. }, Worker::Direct(_))) {
                break;
            }
            let until = match &phase {
                Phase::Running => Some(match &is_stuck {
                    Some(_) => self.ends_at().0.min(self.started + SUSPICIOUS),
                    None => self.ends_at().0,
                }),
                Phase::Told { until, .. } => Some(*until),
                Phase::Killed { .. } => None,
            };
            self.wait(&mut pipes, &phase, until)?;
            phase = self.next(phase, pipes.is_full());
            if matches!(phase, Phase::Running)
                && self.started.elapsed() >= SUSPICIOUS
                && is_stuck.take().is_some_and(|is_stuck| is_stuck())
            {
                phase = self.tell_to_end(Cut::Stuck);
            }
        }
        let flooded = pipes.is_full();
        let (code, signal) = match self.worker {
            Worker::Direct(child) => {
                let status = child.wait()?;
                (status.exit_status(), status.terminating_signal())
            }
            Worker::Guarded(guarded) => guarded.leave()?,
        };
        pipes.drain();
        let [stdout, stderr] = pipes.read;
        let cut = match phase {
            Phase::Running => None,
            Phase::Told { cut, .. } => Some(cut),
            Phase::Killed { cut } => cut,
        };
        // Told to end, it may have been done all the same.
        let cut = cut.filter(|_| code != Some(0));
        Ok(Ended { code, signal, stdout, stderr, cut, flooded })
    }

    /// When it is told to end, and why.
    fn ends_at(&self) -> (Instant, Cut) {
        let by_limit = self.started + self.limit;
        match self.stop.as_ref().and_then(StopSignal::asked) {
            Some(asked) if asked.max(self.started) + Job::GRACE < by_limit => {
                (asked.max(self.started) + Job::GRACE, Cut::Stop)
            }
            _ => (by_limit, Cut::Limit(self.limit)),
        }
    }

    /// Waits until something can be read, the guard speaks, somebody stops it, or the time is up.
    fn wait(&mut self, pipes: &mut Pipes<'_>, phase: &Phase, until: Option<Instant>) -> io::Result<()> {
        let timeout = until.map(|until| until.saturating_duration_since(Instant::now()));
        let timeout = timeout.and_then(|timeout| timeout.try_into().ok());
        // Once it has rung it is heard for ever.
        let stop =
            self.stop.as_ref().filter(|stop| matches!(phase, Phase::Running) && stop.asked().is_none());
        let stop = stop.and_then(|stop| stop.0.heard.as_ref());
        let mut sources = Vec::with_capacity(4);
        let open: Vec<usize> = (0..2).filter(|at| pipes.open[*at].is_some()).collect();
        sources.extend(
            pipes
                .open
                .iter()
                .flatten()
                .map(|pipe| PollFd::from_borrowed_fd(pipe.get_ref().as_fd(), PollFlags::IN)),
        );
        if let Worker::Guarded(guarded) = &self.worker {
            sources.push(PollFd::new(&guarded.guard.socket, PollFlags::IN));
        }
        sources.extend(stop.map(|stop| PollFd::new(stop, PollFlags::IN)));
        match poll(&mut sources, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let ready: Vec<bool> = sources.iter().map(|source| !source.revents().is_empty()).collect();
        drop(sources);
        for (at, ready) in open.iter().zip(&ready) {
            if *ready {
                pipes.pull(*at)?;
            }
        }
        if let Worker::Guarded(guarded) = &mut self.worker
            && ready.get(open.len()) == Some(&true)
        {
            guarded.hear();
        }
        Ok(())
    }

    fn tell_to_end(&mut self, cut: Cut) -> Phase {
        // Before it is told: afterwards they are gone.
        let programs = self.worker.programs();
        let patience = self.worker.tell_to_end();
        Phase::Told { until: Instant::now() + patience, cut: (cut, programs) }
    }

    /// What follows once the time of a phase is up, or nobody reads any more of what it says.
    fn next(&mut self, phase: Phase, flooded: bool) -> Phase {
        let now = Instant::now();
        match phase {
            Phase::Running if flooded => {
                self.worker.kill();
                Phase::Killed { cut: None }
            }
            Phase::Running => match self.ends_at() {
                (until, _) if now < until => Phase::Running,
                (_, cut) => self.tell_to_end(cut),
            },
            Phase::Told { until, cut } if until <= now => {
                self.worker.kill_in_earnest();
                Phase::Killed { cut: Some(cut) }
            }
            phase @ (Phase::Told { .. } | Phase::Killed { .. }) => phase,
        }
    }
}

impl Worker {
    /// Asks it to end; says how long it is waited for.
    fn tell_to_end(&mut self) -> Duration {
        match self {
            Self::Direct(child) => {
                drop(child.signal(Signal::TERM));
                GRACE
            }
            Self::Guarded(guarded) => {
                guarded.guard.wake();
                guarded.stop(STOP_GENTLY);
                GRACE + DEAF_GUARD
            }
        }
    }

    fn kill(&mut self) {
        match self {
            Self::Direct(child) => drop(child.kill()),
            Self::Guarded(guarded) => guarded.stop(STOP_NOW),
        }
    }

    /// The same when it was told already: a guard that has not done it by then is past hearing.
    fn kill_in_earnest(&mut self) {
        match self {
            Self::Direct(child) => drop(child.kill()),
            Self::Guarded(guarded) => guarded.lost(),
        }
    }

    /// The command lines of what it has started.
    fn programs(&self) -> Vec<String> {
        match self {
            Self::Direct(child) => tree::programs_below(child.id()),
            Self::Guarded(guarded) => tree::programs_below(guarded.job),
        }
    }
}

/// A command under a guard, which is nobody else's meanwhile.
#[derive(Debug)]
struct Guarded {
    guard: GuardProcess,
    guards: Guards,
    tag: Option<String>,
    /// The command's process, 0 until it has started.
    job: u32,
    /// Exit code and signal.
    exit: (Option<i32>, Option<i32>),
    /// Why it could not be started.
    failed: Option<i32>,
    /// It was told something but its order.
    told: bool,
    /// Set when nothing of it is left.
    end: Option<Left>,
}

/// What became of the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// It can take another order.
    Free,
    /// It is dead, or could not end all.
    Spent,
}

impl Guarded {
    fn start(guards: &Guards, tag: Option<&str>, command: &Command, with: &With<'_>) -> io::Result<Self> {
        let variables = command.get_envs().filter_map(|(name, value)| Some((name.into(), value?.into())));
        let order = Order {
            argv: std::iter::once(command.get_program()).chain(command.get_args()).map(Into::into).collect(),
            cwd: command.get_current_dir().unwrap_or("/".as_ref()).to_owned(),
            env: variables.chain(tag.map(|tag| (TAG_VARIABLE.into(), tag.into()))).collect(),
            grace: GRACE,
            without_runner: WITHOUT_RUNNER,
            room: None,
        };
        let holds: Vec<OwnedFd> =
            with.handed.iter().map(BorrowedFd::try_clone_to_owned).collect::<io::Result<_>>()?;
        let guard = guards.give(&order, &with.streams, &holds)?;
        Ok(Self {
            guard,
            guards: guards.clone(),
            tag: tag.map(str::to_owned),
            job: 0,
            exit: (None, None),
            failed: None,
            told: false,
            end: None,
        })
    }

    fn hear(&mut self) {
        match Status::read(&mut &self.guard.socket) {
            Ok(Some(Status::Started { pid })) => self.job = pid,
            Ok(Some(Status::Exited { code, signal })) => {
                self.exit = (code, code.is_none().then_some(signal));
            }
            Ok(Some(Status::Empty { unreachable, .. })) => {
                let is_free = !self.told && unreachable.is_empty();
                self.end = Some(if is_free { Left::Free } else { Left::Spent });
            }
            Ok(Some(Status::SpawnFailed { errno, .. })) => self.failed = Some(errno),
            // Nobody asks how a room was made, or freezes.
            Ok(Some(Status::RoomMade(_) | Status::Frozen)) => {}
            Ok(None) | Err(_) => self.lost(),
        }
    }

    /// The guard was killed, or does not answer: we clear up in its place.
    fn lost(&mut self) {
        self.guard.clear_up(self.job, self.tag.as_deref(), &Vec::new());
        if self.exit == (None, None) {
            self.exit = (None, Some(Signal::KILL.as_raw()));
        }
        self.end = Some(Left::Spent);
    }

    fn stop(&mut self, how: u8) {
        self.told = true;
        // A guard that cannot be told is dead, which is heard from its socket.
        let _ = send_all(&self.guard.socket, &[how]);
    }

    /// Gives the guard back; the exit code and the signal of the command, or why it could not be started.
    fn leave(self) -> io::Result<(Option<i32>, Option<i32>)> {
        match self.end {
            Some(Left::Free) => drop(self.guards.spare.put(self.guard)),
            Some(Left::Spent) | None => drop(self.guard),
        }
        self.failed.map_or(Ok(self.exit), |errno| Err(io::Error::from_raw_os_error(errno)))
    }
}

/// Two pipes that are read as they fill, so that neither is full while the other is waited for.
struct Pipes<'a> {
    /// None after its end.
    open: [Option<io::Take<PipeReader>>; 2],
    read: [Vec<u8>; 2],
    take: Option<Take<'a>>,
    full: bool,
}

impl<'a> Pipes<'a> {
    fn new(reading: Reading<'a>) -> io::Result<Self> {
        let Reading { pipes: [first, second], most, take } = reading;
        let open = [first.take(most), second.take(u64::MAX)];
        for pipe in &open {
            // Non-blocking, so that `read_to_end` returns with WouldBlock when a pipe is empty. What it has read by then
            // stays in the buffer.
            rustix::io::ioctl_fionbio(pipe.get_ref(), true)?;
        }
        Ok(Self { open: open.map(Some), read: [Vec::new(), Vec::new()], take, full: false })
    }

    fn pull(&mut self, at: usize) -> io::Result<()> {
        let Some(pipe) = &mut self.open[at] else { return Ok(()) };
        let pulled = match &mut self.take {
            Some(take) if at == 0 => hand_on(pipe, take),
            _ => pipe.read_to_end(&mut self.read[at]).map(drop),
        };
        match pulled {
            Ok(()) => {
                self.full |= pipe.limit() == 0;
                self.open[at] = None;
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Reads what is there; nobody who could still hold an end open is waited for.
    fn drain(&mut self) {
        for at in [0, 1] {
            let _ = self.pull(at);
        }
    }

    fn are_over(&self) -> bool {
        self.open.iter().all(Option::is_none)
    }

    /// As much was said as anybody reads.
    fn is_full(&self) -> bool {
        self.full
    }
}

/// Reads a pipe to its end, a piece at a time.
fn hand_on(pipe: &mut impl io::Read, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    let mut piece = vec![0; 64 << 10];
    loop {
        match pipe.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => take(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
