//! A stream to people or programs that never makes its writer wait (R8).
//!
//! What is printed goes into a bounded queue, and a thread of its own writes it. A reader that stops reading holds that
//! thread up and nobody else. What must arrive goes on in an unnamed file once the queue is full; what need not is
//! dropped, and whoever offered it knows.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;

/// How much waits in memory.
const MOST_BYTES: usize = 256 << 10;
/// Written at once, so that progress is seen in small steps.
const AT_ONCE: usize = 16 << 10;
/// A reader that takes nothing for so long has stalled: nobody waits for it any more.
const STALLED: Duration = Duration::from_secs(1);
/// How long an offer waits for room while the reader does read: one that is only slow, or that a busy machine lets run
/// seldom, misses nothing then. A signal or a limit is heard so much later at most.
const PATIENCE: Duration = Duration::from_millis(250);
/// How long the end waits for a reader that takes nothing.
const GRACE: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

impl Stream {
    fn fd(self) -> BorrowedFd<'static> {
        match self {
            Self::Stdout => rustix::stdio::stdout(),
            Self::Stderr => rustix::stdio::stderr(),
        }
    }

    /// Nobody reads it: whatever is still printed goes nowhere, and nobody waits.
    fn give_up(self) {
        let Ok(nowhere) = File::options().write(true).open("/dev/null") else { return };
        // Descriptor 1 or 2 itself is replaced: libraries and a panic would otherwise still block on it.
        let _ = match self {
            Self::Stdout => rustix::stdio::dup2_stdout(&nowhere),
            Self::Stderr => rustix::stdio::dup2_stderr(&nowhere),
        };
    }
}

/// The queue of a stream. Clones share it.
#[derive(Debug, Clone)]
pub struct Outlet {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    stream: Stream,
    /// Where the unnamed file is made.
    spill_in: Option<PathBuf>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    queue: VecDeque<Vec<u8>>,
    /// In the queue, and being written.
    bytes: usize,
    spill: Option<Spill>,
    writer: Writer,
    /// Bytes that the reader has taken, and when it last did.
    taken: u64,
    progress: Instant,
    /// Closed when the reader has gone: whoever waits for that has the other end.
    alarm: Option<OwnedFd>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writer {
    NotStarted,
    AtWork,
    /// Nobody reads any more.
    Gone,
}

/// What did not fit into memory.
#[derive(Debug)]
struct Spill {
    file: File,
    written: u64,
    read: u64,
}

impl State {
    fn is_empty(&self) -> bool {
        self.bytes == 0 && self.spill.is_none()
    }

    fn has_room(&self, more: usize) -> bool {
        self.spill.is_none() && (self.bytes == 0 || self.bytes + more <= MOST_BYTES)
    }

    fn push(&mut self, bytes: Vec<u8>) {
        // A reader that had nothing to read has not stalled.
        if self.is_empty() {
            self.progress = Instant::now();
        }
        self.bytes += bytes.len();
        self.queue.push_back(bytes);
    }

    /// False: there is no place for it on disk either.
    fn spill(&mut self, bytes: &[u8], directory: Option<&PathBuf>) -> bool {
        if self.spill.is_none() {
            let made = directory.map_or_else(tempfile::tempfile, tempfile::tempfile_in);
            self.spill = made.ok().map(|file| Spill { file, written: 0, read: 0 });
        }
        let Some(spill) = &mut self.spill else { return false };
        let written = spill.file.write_all_at(bytes, spill.written).is_ok();
        spill.written += if written { bytes.len() as u64 } else { 0 };
        written
    }

    /// What is to be written next.
    fn next(&mut self) -> Option<Vec<u8>> {
        if let Some(mut chunk) = self.queue.pop_front() {
            while let Some(more) = self.queue.front()
                && chunk.len() + more.len() <= AT_ONCE
            {
                chunk.extend_from_slice(more);
                self.queue.pop_front();
            }
            return Some(chunk);
        }
        let spill = self.spill.as_mut()?;
        let mut chunk = vec![0; AT_ONCE.min(usize::try_from(spill.written - spill.read).unwrap_or(AT_ONCE))];
        let read = spill.file.read_exact_at(&mut chunk, spill.read).is_ok();
        spill.read += chunk.len() as u64;
        if !read || spill.read >= spill.written {
            self.spill = None;
        }
        self.bytes += chunk.len();
        read.then_some(chunk)
    }

    fn is_gone(&mut self) {
        self.writer = Writer::Gone;
        self.queue.clear();
        self.spill = None;
        self.bytes = 0;
        self.alarm = None;
    }
}

impl Outlet {
    /// For this stream; what does not fit into memory goes to a file in `spill_in`.
    pub fn new(stream: Stream, spill_in: Option<PathBuf>) -> Self {
        let state = State {
            queue: VecDeque::new(),
            bytes: 0,
            spill: None,
            writer: Writer::NotStarted,
            taken: 0,
            progress: Instant::now(),
            alarm: None,
        };
        let shared = Shared { stream, spill_in, state: Mutex::new(state), changed: Condvar::new() };
        Self { shared: Arc::new(shared) }
    }

    /// Prints what must arrive.
    pub fn keep(&self, bytes: Vec<u8>) {
        let mut state = self.state();
        if state.writer == Writer::Gone {
            return;
        }
        // Once something is on file, everything goes there until it is empty again (`has_room`): the order must stay.
        if !state.has_room(bytes.len()) && state.spill(&bytes, self.shared.spill_in.as_ref()) {
            return;
        }
        state.push(bytes);
        self.wake(state);
    }

    /// Prints what may be dropped. False: there was no room for it.
    pub fn offer(&self, bytes: Vec<u8>) -> bool {
        let mut state = self.state();
        if !state.has_room(bytes.len()) && state.progress.elapsed() < STALLED {
            state = self.wait_for_room(state, bytes.len());
        }
        if state.writer == Writer::Gone {
            return true;
        }
        if !state.has_room(bytes.len()) {
            return false;
        }
        state.push(bytes);
        self.wake(state);
        true
    }

    /// Prints what is only worth printing now.
    pub fn redraw(&self, bytes: Vec<u8>) -> bool {
        let mut state = self.state();
        if !state.is_empty() || state.writer == Writer::Gone {
            return false;
        }
        state.push(bytes);
        self.wake(state);
        true
    }

    /// Whether something can be printed without waiting.
    pub fn has_room(&self) -> bool {
        self.state().has_room(AT_ONCE)
    }

    /// Whether nobody reads what is printed any more.
    pub fn is_gone(&self) -> bool {
        self.state().writer == Writer::Gone
    }

    /// A descriptor that can be read once nobody reads what is printed any more: for who sleeps meanwhile. The newest alone.
    pub fn alarm(&self) -> io::Result<OwnedFd> {
        let (heard, kept) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let mut state = self.state();
        state.alarm = Some(kept).filter(|_| state.writer != Writer::Gone);
        Ok(heard)
    }

    /// Waits for the reader to take the rest, as long as it takes something. One that does not is given up.
    pub fn finish(&self) {
        let mut state = self.state();
        let (mut taken, mut since) = (state.taken, Instant::now());
        while !state.is_empty() && state.writer == Writer::AtWork {
            if state.taken != taken {
                (taken, since) = (state.taken, Instant::now());
            }
            let left = GRACE.saturating_sub(since.elapsed());
            if left.is_zero() {
                state.is_gone();
                drop(state);
                self.shared.stream.give_up();
                return;
            }
            state = self.wait(state, left);
        }
    }

    fn wait_for_room<'a>(&'a self, mut state: MutexGuard<'a, State>, bytes: usize) -> MutexGuard<'a, State> {
        let until = Instant::now() + PATIENCE;
        while !state.has_room(bytes) && state.writer != Writer::Gone {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.wait(state, left);
        }
        state
    }

    fn wait<'a>(&'a self, state: MutexGuard<'a, State>, at_most: Duration) -> MutexGuard<'a, State> {
        let waited = self.shared.changed.wait_timeout(state, at_most);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state()
    }

    /// Wakes the writer, and starts it the first time.
    fn wake(&self, mut state: MutexGuard<'_, State>) {
        if state.writer == Writer::NotStarted {
            let shared = Arc::clone(&self.shared);
            let started =
                std::thread::Builder::new().name("writer".into()).spawn(move || write_for_ever(&shared));
            if started.is_err() {
                // Without a thread it can only be written here; one that stalls is waited for then.
                while let Some(chunk) = state.next() {
                    let _ = write(self.shared.stream.fd(), &chunk, |_| {});
                    state.bytes = state.bytes.saturating_sub(chunk.len());
                }
                return;
            }
            state.writer = Writer::AtWork;
        }
        drop(state);
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends with the process, or with the reader.
fn write_for_ever(shared: &Shared) {
    loop {
        let mut state = shared.state();
        let chunk = loop {
            match state.next() {
                Some(chunk) => break chunk,
                None => state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(state);
        let written = write(shared.stream.fd(), &chunk, |count| {
            let mut state = shared.state();
            state.bytes = state.bytes.saturating_sub(count);
            state.taken += count as u64;
            state.progress = Instant::now();
            drop(state);
            shared.changed.notify_all();
        });
        let mut state = shared.state();
        if written.is_err() {
            // A reader that has gone does not end the task; there is just nobody to tell.
            state.is_gone();
        }
        if state.writer == Writer::Gone {
            drop(state);
            shared.changed.notify_all();
            return;
        }
    }
}

fn write(to: BorrowedFd<'_>, bytes: &[u8], mut taken: impl FnMut(usize)) -> Result<(), Errno> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match rustix::io::write(to, &rest[..rest.len().min(AT_ONCE)]) {
            Ok(0) => return Err(Errno::PIPE),
            Ok(count) => {
                rest = &rest[count..];
                taken(count);
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let _ = poll(&mut [PollFd::new(&to, PollFlags::OUT)], None);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The log on standard error: lines that a stalled reader has no room for are counted.
#[derive(Debug, Clone)]
pub struct LogOutlet {
    outlet: Outlet,
    dropped: Arc<Mutex<u64>>,
}

impl LogOutlet {
    pub fn new() -> Self {
        Self { outlet: Outlet::new(Stream::Stderr, None), dropped: Arc::default() }
    }

    /// Waits until what was logged is read, within reason.
    pub fn finish(&self) {
        let dropped = std::mem::take(&mut *self.dropped());
        if dropped > 0 {
            self.outlet.keep(dropped_lines(dropped));
        }
        self.outlet.finish();
    }

    fn dropped(&self) -> MutexGuard<'_, u64> {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for LogOutlet {
    fn default() -> Self {
        Self::new()
    }
}

fn dropped_lines(count: u64) -> Vec<u8> {
    format!("({count} log lines were dropped: nobody read them)\n").into_bytes()
}

impl Write for LogOutlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut dropped = self.dropped();
        if *dropped > 0 && self.outlet.offer(dropped_lines(*dropped)) {
            *dropped = 0;
        }
        if *dropped > 0 || !self.outlet.offer(bytes.to_vec()) {
            *dropped += 1;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
