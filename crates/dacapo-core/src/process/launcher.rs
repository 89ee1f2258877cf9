//! Starts jobs and hands out the means to watch and stop them.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::guards::Guards;
use super::job::{Finished, Job, LaunchError, Outputs, Stderr, Stdin, Stop};
use super::liveness::TreeSample;
use super::mask::{Content, Masker, StreamMask};
use super::pump::{Feed, Pump, Tap};
use super::room::{Room, RoomMade};
use super::stream::{Capture, Progress};
use super::tree::{self, Members, TAG_VARIABLE};
use super::wire::{FREEZE, Order, STOP_GENTLY, STOP_NOW, THAW, encode_members, send_all};
use crate::inherited_locks::InheritedLocks;

/// The pipe of a job's output: large, so that it runs on while we are on the way to the disk.
#[cfg(target_os = "linux")]
const PIPE_SIZE: usize = 1 << 20;
const OUTPUT_BUFFER: usize = 256 * 1024;
const ERROR_BUFFER: usize = 64 * 1024;

/// Starts jobs under guards, and keeps a guard in reserve so that the next job starts without waiting for one: the guard
/// of the job before, or a new one.
#[derive(Debug)]
pub struct Launcher {
    guards: Guards,
    masker: Arc<Masker>,
    handed: InheritedLocks,
    room: Option<Room>,
}

impl Launcher {
    /// As long as one of its guards lives this process is a subreaper, so that it can clear up after one that was killed.
    ///
    /// `exe` is the program whose `main` knows [`guard::ARGUMENT`](super::guard::ARGUMENT). Where that is the one that runs
    /// here, pass `/proc/self/exe` on Linux: it stays the same program when the file is replaced.
    pub fn new(exe: PathBuf, masker: Arc<Masker>) -> io::Result<Self> {
        tree::can_see_processes()?;
        Ok(Self {
            guards: Guards::new(exe).of_runner(),
            masker,
            handed: InheritedLocks::default(),
            room: None,
        })
    }

    /// Hides the secrets that its children are given.
    pub(crate) fn masker(&self) -> &Arc<Masker> {
        &self.masker
    }

    /// Names the data directory that the jobs are run for. Orders for it that come from below its guards are refused;
    /// a guard without a name counts for every data directory.
    #[must_use]
    pub fn for_home(mut self, home: &Path) -> Self {
        self.guards = self.guards.for_home(home);
        self
    }

    /// Takes its guards from where others take theirs.
    #[must_use]
    pub fn under(mut self, guards: &Guards) -> Self {
        self.guards = guards.clone().of_runner();
        self
    }

    /// Where its guards come from, for others who need one between two jobs.
    pub fn guards(&self) -> &Guards {
        &self.guards
    }

    /// Names the locks that the guard of each job holds until its tree is empty.
    #[must_use]
    pub fn holding(mut self, handed: &InheritedLocks) -> Self {
        self.handed = handed.clone();
        self
    }

    /// Gives jobs a room that have none of their own.
    pub(crate) fn confine(&mut self, room: Option<Room>) {
        self.room = room;
    }

    /// The room of jobs that have none of their own.
    pub(crate) fn room(&self) -> Option<&Room> {
        self.room.as_ref()
    }

    /// Starts the guard of the next job now, typically while the previous one runs. Failing is not fatal: `launch` will
    /// try again.
    pub fn prepare(&mut self) {
        self.guards.prepare();
    }

    /// Ends the spare guard.
    pub fn discard_spare(&mut self) {
        drop(self.guards.spare.take());
    }

    /// Hands the job to a guard.
    ///
    /// `done` is called exactly once, from a thread of its own, when the tree is empty and all output is on file. If
    /// this returns an error it is never called.
    pub fn launch(
        &mut self,
        job: Job,
        done: impl FnOnce(Finished) + Send + 'static,
    ) -> Result<Running, LaunchError> {
        let begun = Instant::now();
        let Job { stdout, content, index, stderr, .. } = job;
        let outputs = Outputs { stdout, content, index, stderr };
        // Everything that can fail is done before the guard has its order: from then on a process runs, and an error
        // could not be reported as "not started".
        let streams = Streams::open(job.stdin, &outputs.stderr).map_err(LaunchError::Streams)?;
        let files = Files::create(&outputs, &self.masker)?;
        let order = Order {
            argv: job.argv,
            cwd: job.cwd,
            env: job.env,
            grace: job.grace,
            without_runner: Duration::ZERO,
            room: job.room.or_else(|| self.room.clone()),
        };
        let holds = self
            .handed
            .shares()
            .map_err(LaunchError::Streams)
            .map(|locks| job.holds.into_iter().chain(locks).collect::<Vec<OwnedFd>>());
        let holds = match holds {
            Ok(holds) => holds,
            Err(error) => {
                files.discard(&outputs);
                return Err(error);
            }
        };
        let guard = match self.guards.give(&order, &streams.theirs, &holds) {
            Ok(guard) => guard,
            Err(error) => {
                files.discard(&outputs);
                return Err(LaunchError::Guard(error));
            }
        };
        // Our copies of the write ends: while they are open, the pipes never report their end.
        drop(streams.theirs);
        let running = Running(Arc::new(Shared {
            socket: guard.socket.try_clone().map_err(LaunchError::Streams)?,
            guard: guard.pid(),
            tag: order
                .env
                .iter()
                .find(|(name, _)| name == TAG_VARIABLE)
                .and_then(|(_, tag)| tag.to_str().map(String::from)),
            masker: Arc::clone(&self.masker),
            progress: Mutex::new(files.progress()),
            next: Mutex::new(Next::None),
            stop: Mutex::new(None),
            members: Mutex::new(Vec::new()),
            own: Mutex::new(Vec::new()),
            frozen: Mutex::new(None),
            told: AtomicBool::new(false),
            room: OnceLock::new(),
            over: AtomicBool::new(false),
        }));
        let [output, errors] = [(Some(files.stdout), streams.output), (files.stderr, streams.errors)]
            .map(|(capture, pipe)| capture.zip(pipe).map(|(capture, pipe)| Tap::new(capture, pipe)));
        let guard = (guard, Arc::clone(&self.guards.spare));
        let pump = Pump::new(Arc::clone(&running.0), guard, begun, &order, output, errors, streams.feed);
        std::thread::Builder::new()
            .name("dacapo-pump".into())
            .spawn(move || pump.run(done))
            .map_err(LaunchError::Streams)?;
        Ok(running)
    }
}

/// The two sides of a job's streams.
struct Streams {
    theirs: [OwnedFd; 3],
    output: Option<OwnedFd>,
    errors: Option<OwnedFd>,
    feed: Option<Feed>,
}

impl Streams {
    fn open(stdin: Stdin, stderr: &Stderr) -> io::Result<Self> {
        let (their_stdin, feed) = match stdin {
            Stdin::From(descriptor) => (descriptor, None),
            Stdin::Bytes(bytes) if bytes.is_empty() => (std::fs::File::open("/dev/null")?.into(), None),
            Stdin::Bytes(bytes) => {
                let (theirs, ours) = io::pipe()?;
                rustix::io::ioctl_fionbio(&ours, true)?;
                (theirs.into(), Some(Feed { pipe: ours.into(), bytes, sent: 0 }))
            }
        };
        let (output, their_stdout) = io::pipe()?;
        // The kernel refuses when the user has many pipes already; then the ordinary size has to do.
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&output, PIPE_SIZE);
        rustix::io::ioctl_fionbio(&output, true)?;
        let (errors, their_stderr) = match stderr {
            Stderr::WithStdout => (None, OwnedFd::from(their_stdout.try_clone()?)),
            Stderr::File(_) => {
                let (errors, theirs) = io::pipe()?;
                rustix::io::ioctl_fionbio(&errors, true)?;
                (Some(errors.into()), theirs.into())
            }
        };
        Ok(Self {
            theirs: [their_stdin, their_stdout.into(), their_stderr],
            output: Some(output.into()),
            errors,
            feed,
        })
    }
}

/// The raw files of a job.
pub(super) struct Files {
    pub(super) stdout: Capture,
    pub(super) stderr: Option<Capture>,
}

impl Files {
    fn create(outputs: &Outputs, masker: &Arc<Masker>) -> Result<Self, LaunchError> {
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |source| LaunchError::Output { path, source }
        };
        let Outputs { stdout, content, index, stderr } = outputs;
        let mask = |content| StreamMask::new(Arc::clone(masker), content);
        let output = Capture::create(stdout, index.as_deref(), mask(*content), OUTPUT_BUFFER)
            .map_err(failed(stdout))?;
        let errors = match stderr {
            Stderr::WithStdout => None,
            Stderr::File(path) => match Capture::create(path, None, mask(Content::Text), ERROR_BUFFER) {
                Ok(capture) => Some(capture),
                Err(error) => {
                    for made in std::iter::once(stdout).chain(index) {
                        let _ = std::fs::remove_file(made);
                    }
                    return Err(failed(path)(error));
                }
            },
        };
        Ok(Self { stdout: output, stderr: errors })
    }

    fn progress(&self) -> Streamed {
        Streamed { output: self.stdout.progress(), errors: self.stderr.as_ref().map(Capture::progress) }
    }

    /// Removes what was created for a job that is not going to be.
    fn discard(self, outputs: &Outputs) {
        let errors = match &outputs.stderr {
            Stderr::File(path) => Some(path),
            Stderr::WithStdout => None,
        };
        for path in [Some(&outputs.stdout), outputs.index.as_ref(), errors].into_iter().flatten() {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// How far the streams of a job have come in their present files.
struct Streamed {
    output: Arc<Progress>,
    errors: Option<Arc<Progress>>,
}

/// The files that a job's streams are to go on in.
pub(super) enum Next {
    /// It keeps the files it has.
    None,
    Files(Box<Files>),
    /// Its streams have ended.
    Over,
}

/// What the handle and the thread of a job share.
pub(super) struct Shared {
    socket: UnixStream,
    pub(super) guard: u32,
    pub(super) tag: Option<String>,
    masker: Arc<Masker>,
    progress: Mutex<Streamed>,
    next: Mutex<Next>,
    stop: Mutex<Option<Stop>>,
    members: Mutex<Members>,
    /// The processes of the job itself; empty: its main process.
    own: Mutex<Members>,
    /// Called when the job is frozen, or over.
    frozen: Mutex<Option<WhenFrozen>>,
    /// The guard was told something beside its order.
    told: AtomicBool,
    /// How much of its room there is, once that is known.
    pub(super) room: OnceLock<RoomMade>,
    /// The guard's id may belong to someone else from now on.
    pub(super) over: AtomicBool,
}

type WhenFrozen = Box<dyn FnOnce() + Send>;

impl Shared {
    pub(super) fn stopped(&self) -> Option<Stop> {
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The job is over, and its guard cannot be told anything about it any more. True when it never was: words that
    /// it has not read yet would be taken for its next order.
    pub(super) fn close(&self) -> bool {
        // The lock of `stop` is held while `over` is set, and `Running::stop` sends while it holds it. So a late stop
        // is either sent before the guard goes back to the spares, or not at all: it can never hit the next job of
        // the same guard.
        let asked = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        self.over.store(true, Ordering::Release);
        asked.is_none() && !self.told.load(Ordering::Acquire)
    }

    /// The job is frozen, or will never be.
    pub(super) fn tell_frozen(&self) {
        let waiting = self.frozen.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(tell) = waiting {
            tell();
        }
    }

    /// The files to go on in, once.
    pub(super) fn take_next(&self) -> Option<Files> {
        self.replace_next(Next::None)
    }

    /// The streams have ended. Files that they were to go on in are empty, and end with them.
    pub(super) fn take_last(&self) -> Option<Files> {
        self.replace_next(Next::Over)
    }

    fn replace_next(&self, by: Next) -> Option<Files> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *next, by) {
            Next::Files(files) => Some(*files),
            Next::None | Next::Over => None,
        }
    }

    pub(super) fn members(&self) -> Members {
        self.members.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A job that was launched. Clones are handles to the same job; dropping them does not end it.
#[derive(Clone)]
pub struct Running(Arc<Shared>);

impl Running {
    /// How much of its room there is; none: it was to have none, or that is not known yet.
    pub(crate) fn room(&self) -> Option<RoomMade> {
        self.0.room.get().copied()
    }

    /// Stops the job. Only escalates: a second gentle stop changes nothing, nor does any after `Stop::Now`.
    pub fn stop(&self, stop: Stop) {
        let mut asked = self.0.stop.lock().unwrap_or_else(PoisonError::into_inner);
        if self.0.over.load(Ordering::Acquire) || asked.is_some_and(|asked| asked >= stop) {
            return;
        }
        *asked = Some(stop);
        let byte = match stop {
            Stop::Gentle => STOP_GENTLY,
            Stop::Now => STOP_NOW,
        };
        // A guard that cannot be told is dead, and the job's thread is clearing up already.
        let _ = send_all(&self.0.socket, &[byte]);
    }

    /// Takes all processes that the job has now for the job itself: wrappers, the program, helpers. What it starts from now on
    /// is its work.
    pub fn remember(&self) {
        if self.sample().is_some() {
            *self.own_lock() = self.0.members();
        }
    }

    fn own_lock(&self) -> std::sync::MutexGuard<'_, Members> {
        self.0.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the job itself and ends its work. `done` is called when that has happened, or the job is over.
    pub fn freeze(&self, done: impl FnOnce() + Send + 'static) {
        *self.0.frozen.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(done));
        let order = [vec![FREEZE], encode_members(&self.own_lock())].concat();
        if !self.tell(&order) {
            self.0.tell_frozen();
        }
    }

    /// Lets a frozen job go on.
    pub fn thaw(&self) {
        self.tell(&[THAW]);
    }

    /// False when there is nobody to be told any more.
    fn tell(&self, order: &[u8]) -> bool {
        // Under this lock, as a stop: it must not reach the guard's next job.
        let _stop = self.0.stop.lock().unwrap_or_else(PoisonError::into_inner);
        if self.0.over.load(Ordering::Acquire) {
            return false;
        }
        self.0.told.store(true, Ordering::Release);
        send_all(&self.0.socket, order).is_ok()
    }

    /// Lets the job's streams go on in other files, each from the beginning of its next line on. The job itself
    /// notices nothing. False, and nothing is created, when its streams have ended.
    pub fn continue_in(&self, outputs: &Outputs) -> Result<bool, LaunchError> {
        let files = Files::create(outputs, &self.0.masker)?;
        // Lock order: `next`, then `progress`. The job's thread takes only `next`, so it never waits for a reader of
        // `progress`.
        let mut next = self.0.next.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*next, Next::Over) {
            drop(next);
            files.discard(outputs);
            return Ok(false);
        }
        *self.progress_lock() = files.progress();
        *next = Next::Files(Box::new(files));
        Ok(true)
    }

    fn progress_lock(&self) -> std::sync::MutexGuard<'_, Streamed> {
        self.0.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far the output has come; make a `Follower` of it.
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress_lock().output)
    }

    /// How far the standard error has come, when it has a file of its own.
    pub fn stderr_progress(&self) -> Option<Arc<Progress>> {
        self.progress_lock().errors.clone()
    }

    /// What the tree uses at this moment; `None` when the job is over.
    pub fn sample(&self) -> Option<TreeSample> {
        // The guard's id may be another process's by now.
        if self.0.over.load(Ordering::Acquire) {
            return None;
        }
        let (sample, members) = tree::sample(self.0.guard)?;
        *self.0.members.lock().unwrap_or_else(PoisonError::into_inner) = members;
        Some(sample)
    }

    /// The guard's process id.
    pub fn pid(&self) -> u32 {
        self.0.guard
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("guard", &self.0.guard)
            .field("tag", &self.0.tag)
            .finish_non_exhaustive()
    }
}
