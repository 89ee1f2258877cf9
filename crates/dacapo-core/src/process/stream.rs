//! A job's output on its way from the pipe to the raw file, and from there to whoever reads it.
//!
//! The raw file is the truth: parser, log and replay all read it through a [`Follower`], live or years later. So a slow
//! reader never slows the agent, and memory stays flat whatever the agent writes.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::mask::StreamMask;
use crate::files;

/// What a follower returns at once, at most.
const CHUNK: usize = 64 * 1024;
/// The index gets at most one line in this time.
const INDEX_EVERY: Duration = Duration::from_millis(100);

/// How far a stream has come; shared between the thread that writes the file and those that follow it.
#[derive(Debug)]
pub struct Progress {
    path: PathBuf,
    /// The same open file: an agent that removes its name does not take it from who reads it.
    file: File,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    written: u64,
    seen: u64,
    closed: bool,
}

impl Progress {
    fn new(path: PathBuf, file: File) -> Arc<Self> {
        Arc::new(Self { path, file, state: Mutex::default(), changed: Condvar::new() })
    }

    /// A handle to read the raw file by position, whatever has become of its name.
    pub(crate) fn reader(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes in the raw file.
    pub fn bytes(&self) -> u64 {
        self.state().written
    }

    /// Bytes that came out of the job, whether or not they could be written: what liveness is judged by.
    pub fn seen(&self) -> u64 {
        self.state().seen
    }

    fn state(&self) -> State {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }

    /// Blocks until the file is longer than `at`; false when it has ended and never will be.
    fn wait_past(&self, at: u64) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self
            .changed
            .wait_while(state, |state| state.written <= at && !state.closed)
            .unwrap_or_else(PoisonError::into_inner);
        state.written > at
    }
}

/// How a capture ended.
#[derive(Debug)]
pub(crate) struct CaptureReport {
    /// Bytes in the raw file: always the beginning of the stream, without holes.
    pub bytes: u64,
    /// Why writing stopped, if it did. Reading never stops, so that a full disk does not block the agent.
    pub error: Option<io::Error>,
    /// Bytes that came after that.
    pub lost_bytes: u64,
}

/// What one read from the pipe gave.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pulled {
    Bytes,
    Nothing,
    End,
}

/// Writes one stream to its raw file, without its secrets.
pub(super) struct Capture {
    file: File,
    index: Option<(File, Option<Instant>)>,
    mask: StreamMask,
    progress: Arc<Progress>,
    buffer: Vec<u8>,
    /// Bytes at the front of the buffer that may be the beginning of a secret.
    held: usize,
    /// The last byte that came ended a line, or none has come yet.
    at_line_border: bool,
    error: Option<io::Error>,
    lost: u64,
}

impl Capture {
    /// Creates the raw file, which must not exist yet: a turn never overwrites an earlier one's.
    pub(super) fn create(
        path: &Path,
        index: Option<&Path>,
        mask: StreamMask,
        buffer: usize,
    ) -> io::Result<Self> {
        let file = files::create_new(path)?;
        let shared = file.try_clone()?;
        let index = match index.map(files::create_new).transpose() {
            Ok(index) => index,
            Err(error) => {
                let _ = std::fs::remove_file(path);
                return Err(error);
            }
        };
        Ok(Self::new(file, index, Progress::new(path.to_path_buf(), shared), mask, buffer))
    }

    fn new(
        file: File,
        index: Option<File>,
        progress: Arc<Progress>,
        mask: StreamMask,
        buffer: usize,
    ) -> Self {
        // Zeroed memory costs no pages until it is written to.
        let buffer = vec![0; buffer + mask.longest()];
        let index = index.map(|file| (file, None));
        Self { file, index, mask, progress, buffer, held: 0, at_line_border: true, error: None, lost: 0 }
    }

    pub(super) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Takes what the pipe has, as much as the buffer holds, and puts it on file.
    pub(super) fn pull(&mut self, pipe: impl AsFd) -> Pulled {
        match self.read(pipe) {
            Ok(count) => {
                self.take_in(count);
                Pulled::Bytes
            }
            Err(nothing) => nothing,
        }
    }

    /// The same for a stream that goes on in another file: the line that has begun is ended here, what follows it is
    /// given to `next`. True when `next` is the one to go on with.
    pub(super) fn pull_over(&mut self, pipe: impl AsFd, next: &mut Capture) -> (Pulled, bool) {
        if self.at_line_border {
            return (next.pull(pipe), true);
        }
        let count = match self.read(pipe) {
            Ok(count) => count,
            Err(nothing) => return (nothing, false),
        };
        let new = &self.buffer[self.held..self.held + count];
        // The files of two turns meet between two lines, never inside one: a parser of either must not see half an
        // event.
        let own = memchr::memchr(b'\n', new).map_or(count, |newline| newline + 1);
        let rest = new[own..].to_vec();
        self.take_in(own);
        if !rest.is_empty() {
            next.buffer[next.held..next.held + rest.len()].copy_from_slice(&rest);
            next.take_in(rest.len());
        }
        (Pulled::Bytes, self.at_line_border)
    }

    fn read(&mut self, pipe: impl AsFd) -> Result<usize, Pulled> {
        match rustix::io::read(pipe, &mut self.buffer[self.held..]) {
            Ok(0) => Err(Pulled::End),
            Ok(count) => Ok(count),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Err(Pulled::Nothing),
            Err(_) => Err(Pulled::End),
        }
    }

    fn take_in(&mut self, count: usize) {
        let filled = self.held + count;
        self.at_line_border = self.buffer[filled - 1] == b'\n';
        // The mask may keep back the last bytes, which could be the first half of a secret. They are written with the
        // next read, or at the end.
        let done = self.mask.mask(&mut self.buffer[..filled]);
        self.note_time(Instant::now());
        let written = self.write(done);
        self.buffer.copy_within(done..filled, 0);
        self.held = filled - done;
        self.progress.update(|state| {
            state.written += written;
            state.seen += count as u64;
        });
    }

    /// Writes the first `count` bytes of the buffer and returns how many arrived.
    fn write(&mut self, count: usize) -> u64 {
        let mut rest = &self.buffer[..count];
        while !rest.is_empty() && self.error.is_none() {
            match self.file.write(rest) {
                Ok(0) => self.error = Some(io::ErrorKind::WriteZero.into()),
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.error = Some(error),
            }
        }
        // After the first error nothing more is written, even if space comes back: the file stays a prefix of the
        // stream without holes, so that offsets in it keep their meaning.
        self.lost += rest.len() as u64;
        (count - rest.len()) as u64
    }

    /// Leaves a line `offset unix_millis` in the index, from time to time. Losing one is no loss.
    fn note_time(&mut self, now: Instant) {
        let Some((index, last)) = &mut self.index else { return };
        if last.is_some_and(|last| now.duration_since(last) < INDEX_EVERY) {
            return;
        }
        *last = Some(now);
        // Where the next bytes go in the file: this is called before they are written.
        let offset = self.progress.bytes();
        let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        let _ = index.write_all(format!("{offset} {millis}\n").as_bytes());
    }

    /// Writes what was held back and tells the followers that this is the end.
    pub(super) fn finish(mut self) -> CaptureReport {
        let held = self.held;
        self.mask.finish(&mut self.buffer[..held]);
        let written = self.write(held);
        self.progress.update(|state| {
            state.written += written;
            state.closed = true;
        });
        CaptureReport { bytes: self.progress.bytes(), error: self.error, lost_bytes: self.lost }
    }
}

/// Reads a raw file from any offset to its end, waiting for what is yet to be written if the job still runs.
#[derive(Debug)]
pub struct Follower {
    file: File,
    at: u64,
    live: Option<Arc<Progress>>,
}

impl Follower {
    /// Follows a running job's output from `from` on.
    pub fn live(progress: Arc<Progress>, from: u64) -> io::Result<Self> {
        Ok(Self { file: progress.reader()?, at: from, live: Some(progress) })
    }

    /// Reads the file of an earlier job from `from` on.
    pub(crate) fn replay(path: &Path, from: u64) -> io::Result<Self> {
        Ok(Self { file: files::open(path)?, at: from, live: None })
    }

    /// Replaces `buffer` by the next bytes, at most 64 KiB; blocks until there are some. False at the end.
    pub fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        if self.read(buffer)? {
            return Ok(true);
        }
        // The file is read first and waited for second: bytes that were written before this call are found without
        // the lock, and those written in between are seen by `wait_past` under it.
        if !self.live.as_ref().is_some_and(|progress| progress.wait_past(self.at)) {
            return Ok(false);
        }
        if self.read(buffer)? {
            return Ok(true);
        }
        // Someone has cut the file: waiting would never end.
        Err(io::ErrorKind::UnexpectedEof.into())
    }

    fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        buffer.resize(CHUNK, 0);
        let count = loop {
            match self.file.read_at(buffer, self.at) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        buffer.truncate(count);
        self.at += count as u64;
        Ok(count > 0)
    }
}

/// The last bytes of a file, `max_bytes` at most, beginning with a whole line if one begins early enough, otherwise with
/// a whole character.
pub fn tail(path: &Path, max_bytes: usize) -> io::Result<Vec<u8>> {
    let file = files::open(path)?;
    let length = file.metadata()?.len();
    let from = length.saturating_sub(max_bytes as u64);
    // One byte more, to see whether the cut falls on the beginning of a line.
    let before = usize::from(from > 0);
    let mut bytes = vec![0; usize::try_from(length - from).unwrap_or(max_bytes) + before];
    file.read_exact_at(&mut bytes, from - before as u64)?;
    if before == 0 {
        return Ok(bytes);
    }
    let line = memchr::memchr(b'\n', &bytes[..bytes.len().div_ceil(2)]).map(|newline| newline + 1);
    let character = || 1 + bytes[1..].iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
    let begin = line.unwrap_or_else(character);
    Ok(bytes.split_off(begin))
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::super::mask::{Content, Masker};
    use super::*;

    fn nothing() -> StreamMask {
        StreamMask::new(Arc::new(Masker::new([])), Content::Text)
    }

    fn capture(path: &Path, index: Option<&Path>, secrets: &[&str]) -> Capture {
        let masker = Masker::new(secrets.iter().map(|secret| secret.as_bytes().to_vec()));
        Capture::create(path, index, StreamMask::new(Arc::new(masker), Content::Text), 1024).unwrap()
    }

    fn read_all(mut follower: Follower) -> Vec<u8> {
        let (mut all, mut buffer) = (Vec::new(), Vec::new());
        while follower.next(&mut buffer).unwrap() {
            all.extend_from_slice(&buffer);
        }
        all
    }

    #[test]
    fn a_follower_sees_every_byte_and_the_end_and_no_secret() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("raw");
        let index = dir.path().join("raw.idx");
        let mut capture = capture(&path, Some(&index), &["topsecret-value"]);
        let live = Follower::live(capture.progress(), 0).unwrap();
        let reader = std::thread::spawn(move || read_all(live));
        let (from, mut to) = io::pipe().unwrap();
        for part in [b"one \xff\xfe tops".as_slice(), b"ecret-val", b"ue two top"] {
            to.write_all(part).unwrap();
            assert_eq!(capture.pull(&from), Pulled::Bytes);
        }
        drop(to);
        assert_eq!(capture.pull(&from), Pulled::End);
        let report = capture.finish();
        let expected = b"one \xff\xfe *************** two top".to_vec();
        assert_eq!((report.bytes, report.lost_bytes), (expected.len() as u64, 0));
        assert_eq!(reader.join().unwrap(), expected);
        assert_eq!(read_all(Follower::replay(&path, 4).unwrap()), expected[4..]);
        let index = std::fs::read_to_string(index).unwrap();
        assert!(index.starts_with("0 1") && index.lines().count() == 1, "{index}");
    }

    #[test]
    fn a_stream_goes_on_in_another_file_where_a_line_begins_and_no_byte_is_lost() {
        let stream = b"one\ntwo\n\nthree";
        // Asked for after so many bytes, it turns over after so many.
        for (asked, turned) in [(0, 0), (1, 4), (4, 4), (6, 8), (8, 8), (9, 9), (11, 14), (14, 14)] {
            let dir = tempfile::tempdir().unwrap();
            let paths = ["a", "b"].map(|name| dir.path().join(name));
            let [mut first, mut second] = paths.each_ref().map(|path| capture(path, None, &["topsecret"]));
            let (from, mut to) = io::pipe().unwrap();
            if asked > 0 {
                to.write_all(&stream[..asked]).unwrap();
                first.pull(&from);
            }
            if asked < stream.len() {
                to.write_all(&stream[asked..]).unwrap();
                assert_eq!(first.pull_over(&from, &mut second), (Pulled::Bytes, turned < stream.len()));
            }
            first.finish();
            second.finish();
            let read = paths.map(|path| std::fs::read(path).unwrap());
            let (left, right) = stream.split_at(turned);
            assert_eq!(read, [left, right], "asked for after {asked}");
        }
    }

    #[test]
    fn an_earlier_file_is_never_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("raw");
        std::fs::write(&path, "kept").unwrap();
        let error = Capture::create(&path, None, nothing(), 10).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&path).unwrap(), b"kept");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_reported_and_the_pipe_still_drained() {
        let full = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let progress = Progress::new("/dev/full".into(), full.try_clone().unwrap());
        let mut capture = Capture::new(full, None, Arc::clone(&progress), nothing(), 1024);
        let (from, mut to) = io::pipe().unwrap();
        for _ in 0..3 {
            to.write_all(b"0123456789").unwrap();
            assert_eq!(capture.pull(&from), Pulled::Bytes);
        }
        let report = capture.finish();
        assert_eq!(report.error.unwrap().kind(), io::ErrorKind::StorageFull);
        assert_eq!((report.bytes, report.lost_bytes, progress.seen()), (0, 30, 30));
    }

    #[test]
    fn a_cut_file_is_an_error_and_not_a_hang() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("raw");
        let mut capture = capture(&path, None, &[]);
        let (from, mut to) = io::pipe().unwrap();
        to.write_all(b"0123456789").unwrap();
        capture.pull(&from);
        OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
        let error = Follower::live(capture.progress(), 0).unwrap().next(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_tail_begins_with_a_line_or_a_character() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("raw");
        let tail_of = |text: &str, max| {
            std::fs::write(&path, text).unwrap();
            String::from_utf8(tail(&path, max).unwrap()).unwrap()
        };
        assert_eq!(tail_of("one\ntwo\nthree\n", 100), "one\ntwo\nthree\n");
        assert_eq!(tail_of("one\ntwo\nthree\n", 11), "two\nthree\n");
        assert_eq!(tail_of("one\ntwo\nthree\n", 10), "two\nthree\n");
        assert_eq!(tail_of("ääää", 5), "ää");
        assert_eq!(tail_of("0123456789\n", 4), "789\n");
        assert_eq!(tail_of("", 4), "");
    }
}
