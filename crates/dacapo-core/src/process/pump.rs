//! The thread of one job: moves its bytes, hears its guard, and says when nothing of it is left.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{ffi::OsString, io};

use rustix::event::{PollFd, PollFlags, poll};

use super::guards::{GuardProcess, Spare};
use super::job::{Exit, Finished, Unreachable};
use super::launcher::{Files, Shared};
use super::stream::{Capture, Pulled};
use super::wire::{Failed, Order, Status};

/// How long to wait for the end of a stream once the tree is empty.
const DRAIN_TIME: Duration = Duration::from_millis(500);
/// More than the pipes can hold: what comes after that is from someone we could not end.
const DRAIN_BYTES: u64 = 4 << 20;

/// What is written to a job's standard input.
pub(super) struct Feed {
    pub(super) pipe: OwnedFd,
    pub(super) bytes: Vec<u8>,
    pub(super) sent: usize,
}

impl Feed {
    /// Writes what the pipe takes; true when there is nothing more to write, or nobody to read it.
    fn push(&mut self) -> bool {
        match rustix::io::write(&self.pipe, &self.bytes[self.sent..]) {
            Ok(count) => self.sent += count,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            Err(_) => return true,
        }
        self.sent == self.bytes.len()
    }
}

/// One of a job's output streams.
pub(super) struct Tap {
    capture: Capture,
    /// The file to go on in at the next border between two lines.
    next: Option<Capture>,
    /// `None` after its end.
    pipe: Option<OwnedFd>,
    /// Someone we could not end still holds the other end.
    cut: bool,
    /// What was lost of files that are finished: why, and how much.
    lost: Option<(io::Error, u64)>,
}

impl Tap {
    pub(super) fn new(capture: Capture, pipe: OwnedFd) -> Self {
        Self { capture, next: None, pipe: Some(pipe), cut: false, lost: None }
    }

    fn pull(&mut self) {
        let Some(pipe) = &self.pipe else { return };
        let pulled = match &mut self.next {
            None => self.capture.pull(pipe.as_fd()),
            Some(next) => {
                let (pulled, turned) = self.capture.pull_over(pipe.as_fd(), next);
                if turned {
                    self.turn_over();
                }
                pulled
            }
        };
        if pulled == Pulled::End {
            self.pipe = None;
        }
    }

    fn continue_in(&mut self, next: Option<Capture>) {
        // One that never had its turn is empty, and ends so.
        self.turn_over();
        self.next = next;
    }

    fn turn_over(&mut self) {
        if let Some(next) = self.next.take() {
            let report = std::mem::replace(&mut self.capture, next).finish();
            self.lost = self.lost.take().or(report.error.map(|error| (error, report.lost_bytes)));
        }
    }
}

pub(super) struct Pump {
    shared: Arc<Shared>,
    guard: GuardProcess,
    /// Where a guard waits for the next job.
    spare: Arc<Spare>,
    begun: Instant,
    /// The job's process, 0 until it has started.
    job: u32,
    program: OsString,
    cwd: PathBuf,
    taps: Vec<Tap>,
    feed: Option<Feed>,
    exit: Option<(Exit, Duration)>,
    /// Set when the tree is empty.
    end: Option<End>,
}

struct End {
    leftovers: u32,
    cpu_ms: u64,
    unreachable: Vec<Unreachable>,
    guard_lost: bool,
    drain_until: Instant,
    seen: u64,
}

impl Pump {
    pub(super) fn new(
        shared: Arc<Shared>,
        (guard, spare): (GuardProcess, Arc<Spare>),
        begun: Instant,
        order: &Order,
        output: Option<Tap>,
        errors: Option<Tap>,
        feed: Option<Feed>,
    ) -> Self {
        let program = order.argv.first().cloned().unwrap_or_default();
        let taps = [output, errors].into_iter().flatten().collect();
        Self {
            shared,
            guard,
            spare,
            begun,
            job: 0,
            program,
            cwd: order.cwd.clone(),
            taps,
            feed,
            exit: None,
            end: None,
        }
    }

    pub(super) fn run(mut self, done: impl FnOnce(Finished)) {
        while self.end.is_none() || self.taps.iter().any(|tap| tap.pipe.is_some()) {
            self.step();
        }
        let (shared, spare) = (Arc::clone(&self.shared), Arc::clone(&self.spare));
        let (finished, guard) = self.finish();
        // Before the guard is handed to the next job: see `Shared::close`.
        let never_stopped = shared.close();
        shared.tell_frozen();
        // Told nothing but its order, and left with nothing: as good as new.
        let as_new = never_stopped && !finished.guard_lost && finished.unreachable.is_empty();
        let used_up = if as_new { spare.put(guard) } else { Some(guard) };
        // What follows the job need not wait for the guard's memory to be given back.
        done(finished);
        drop(used_up);
    }

    /// Waits until something can be moved or heard, and does it.
    fn step(&mut self) {
        let timeout = self.end.as_ref().map(|end| end.drain_until.saturating_duration_since(Instant::now()));
        let timeout_spec = timeout.and_then(|timeout| timeout.try_into().ok());
        let mut sources = Vec::with_capacity(4);
        // The guard says nothing more after its last message, but its socket would report its end again and again.
        if self.end.is_none() {
            sources.push(PollFd::new(&self.guard.socket, PollFlags::IN));
        }
        for pipe in self.taps.iter().filter_map(|tap| tap.pipe.as_ref()) {
            sources.push(PollFd::new(pipe, PollFlags::IN));
        }
        if let Some(feed) = &self.feed {
            sources.push(PollFd::new(&feed.pipe, PollFlags::OUT));
        }
        let ready: Vec<bool> = match poll(&mut sources, timeout_spec.as_ref()) {
            Ok(_) => sources.iter().map(|source| !source.revents().is_empty()).collect(),
            Err(_) => return,
        };
        drop(sources);
        // Before anything is read in this step: what is read from here on goes to the new files, once the line that
        // has begun is complete.
        if let Some(files) = self.shared.take_next() {
            self.continue_in(files);
        }
        let mut ready = ready.into_iter();
        let heard = self.end.is_none() && ready.next() == Some(true);
        let mut moved = false;
        for tap in self.taps.iter_mut().filter(|tap| tap.pipe.is_some()) {
            if ready.next() == Some(true) {
                moved = true;
                tap.pull();
            }
        }
        if ready.next() == Some(true) && self.feed.as_mut().is_some_and(Feed::push) {
            self.feed = None;
        }
        // Output first, then what the guard says: when it reports the end, everything that was in the pipes by then
        // has been read in this step or is drained below.
        if heard {
            self.hear();
        } else {
            self.cut_off_strangers(moved);
        }
    }

    /// The taps are in the order of the files: output, then standard error where it has one of its own.
    fn continue_in(&mut self, files: Files) {
        for (tap, next) in self.taps.iter_mut().zip([Some(files.stdout), files.stderr]) {
            tap.continue_in(next);
        }
    }

    /// Stops waiting for streams that someone out of reach keeps open.
    fn cut_off_strangers(&mut self, moved: bool) {
        let Some(end) = &self.end else { return };
        // The tree is empty, so the pipes should be at their end. One that is not is held open by a process that
        // could not be ended (of another user, or in another container): it must not hold the turn up for ever.
        let late = Instant::now() >= end.drain_until;
        if late && (!moved || self.seen().saturating_sub(end.seen) > DRAIN_BYTES) {
            for tap in &mut self.taps {
                tap.cut |= tap.pipe.take().is_some();
            }
        }
    }

    fn seen(&self) -> u64 {
        self.taps.iter().map(|tap| tap.capture.progress().seen()).sum()
    }

    fn hear(&mut self) {
        match Status::read(&mut &self.guard.socket) {
            Ok(Some(Status::Started { pid })) => {
                self.job = pid;
                tracing::debug!(pid, guard = self.shared.guard, "job started");
            }
            Ok(Some(Status::SpawnFailed { what, errno })) => {
                let exit = self.spawn_failed(what, errno);
                self.exit = Some((exit, self.begun.elapsed()));
            }
            Ok(Some(Status::RoomMade(made))) => drop(self.shared.room.set(made)),
            Ok(Some(Status::Frozen)) => self.shared.tell_frozen(),
            Ok(Some(Status::Exited { code, signal })) => {
                self.exit = Some((code.map_or(Exit::Signal(signal), Exit::Code), self.begun.elapsed()));
            }
            Ok(Some(Status::Empty { leftovers, cpu_ms, unreachable })) => {
                self.ended(leftovers, cpu_ms, unreachable, false);
            }
            Ok(None) | Err(_) => self.clear_up_after_guard(),
        }
    }

    /// The guard was killed: ends what it watched over.
    fn clear_up_after_guard(&mut self) {
        // Those seen below the guard by the last sample. A process that emptied its environment and left its session
        // is known by nothing else.
        let members = self.shared.members();
        let swept = self.guard.clear_up(self.job, self.shared.tag.as_deref(), &members);
        let leftovers = u32::try_from(swept.killed.len()).unwrap_or(u32::MAX);
        self.ended(leftovers, 0, swept.unreachable, true);
    }

    fn ended(&mut self, leftovers: u32, cpu_ms: u64, unreachable: Vec<Unreachable>, guard_lost: bool) {
        let drain_until = Instant::now() + DRAIN_TIME;
        self.end = Some(End { leftovers, cpu_ms, unreachable, guard_lost, drain_until, seen: self.seen() });
        self.feed = None;
    }

    fn spawn_failed(&self, what: Failed, errno: i32) -> Exit {
        let error = io::Error::from_raw_os_error(errno);
        let program = self.program.to_string_lossy();
        let message = match what {
            Failed::Cwd => format!("cannot enter {}: {error}", self.cwd.display()),
            Failed::Room(step) => format!("cannot confine {program}: {}: {error}", step.call()),
            Failed::Program if errno == libc::ENOENT && self.cwd.join(&self.program).is_file() => {
                format!("cannot run {program}: the interpreter in its first line was not found")
            }
            Failed::Program => format!("cannot run {program}: {error}"),
        };
        Exit::SpawnFailed { kind: error.kind(), errno, message }
    }

    fn finish(mut self) -> (Finished, GuardProcess) {
        if let Some(files) = self.shared.take_last() {
            self.continue_in(files);
        }
        let cut = self.taps.iter().any(|tap| tap.cut);
        let mut capture_error =
            cut.then(|| "cut off: a process that could not be ended keeps the stream open".to_owned());
        let mut output_bytes = None;
        for mut tap in self.taps {
            tap.turn_over();
            let report = tap.capture.finish();
            output_bytes.get_or_insert(report.bytes);
            let lost = tap.lost.or(report.error.map(|error| (error, report.lost_bytes)));
            if let Some((error, bytes)) = lost {
                capture_error.get_or_insert(format!("{bytes} bytes lost: {error}"));
            }
        }
        let (exit, duration) = self.exit.unwrap_or_else(|| (Exit::Lost, self.begun.elapsed()));
        // `run` gets here only with an end.
        let end = self.end;
        let finished = Finished {
            exit,
            stopped: self.shared.stopped(),
            duration,
            cpu_ms: end.as_ref().map_or(0, |end| end.cpu_ms),
            output_bytes: output_bytes.unwrap_or(0),
            capture_error,
            leftovers: end.as_ref().map_or(0, |end| end.leftovers),
            room: self.shared.room.get().copied(),
            guard_lost: end.as_ref().is_some_and(|end| end.guard_lost),
            unreachable: end.map(|end| end.unreachable).unwrap_or_default(),
        };
        (finished, self.guard)
    }
}
