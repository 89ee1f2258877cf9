//! The journal: every event that decides anything, one JSON object a line. The only truth about a task.
//!
//! It has one writer, the process that holds the task's lock. A line is written, in one call, before it is acted on. What
//! a crash can leave is a torn last line, which is no JSON: readers pass over it and the next writer cuts it off. An event
//! of a type that this version does not know is kept and skipped. Anything else that does not read is damage, and nothing
//! is written behind it. The rules are in docs/design/journal.md.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::integrity::{Fault, Record, SpecDoubt};
use super::seal::{Extent, Running, Sealer};
use super::{Lock, TaskDir, files};
use crate::event::{Envelope, Event, FORMAT};
use crate::files::FileAction;

pub use reader::Reader;

/// No line we write comes near this; a longer one is not ours, and is not read into memory.
const LONGEST_LINE: u64 = 64 << 20;

/// A journal that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file system says no.
    #[error("cannot {what} {path}: {source}")]
    Io { what: FileAction, path: PathBuf, source: io::Error },
    /// A line in the middle does not read.
    #[error("{path} is damaged at line {line}: {message}")]
    Damaged {
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        message: String,
    },
    /// Somebody removed it under its writer: what is written now would be lost without a word.
    #[error("{path} was removed while the task was running")]
    Removed { path: PathBuf },
    /// Somebody put another file in its place.
    #[error("{path} was replaced by another file while the task was running")]
    Replaced { path: PathBuf },
    /// Somebody else has written behind its last line. That was cut off and kept; nothing is lost by trying again.
    #[error("{bytes} bytes in {path} were not written by Dacapo and are now in {kept}")]
    Foreign { path: PathBuf, bytes: u64, kept: PathBuf },
    /// Somebody has changed or cut what was written.
    #[error("something other than Dacapo changed {path} while the task was running")]
    Altered { path: PathBuf },
    /// A newer Dacapo wrote it.
    #[error("{path} was written by a newer Dacapo (format {found}; this one reads up to {FORMAT})")]
    Newer { path: PathBuf, found: u32 },
    /// An older Dacapo wrote it, in a format that was given up.
    #[error("{path} was written by an older Dacapo (format {found}; this one reads {FORMAT})")]
    Older { path: PathBuf, found: u32 },
    /// The task has run, and what it did is not on record any more.
    #[error("its journal is gone; its commits are still in git")]
    Gone,
}

/// The writer of a journal. Whoever has one holds the task's lock.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    length: u64,
    next_seq: u64,
    record: Record,
    /// Hash of everything in it.
    hash: Running,
    /// How it was left after the last write of our own.
    left: FileStamp,
    sealer: Option<Sealer>,
}

/// The state of a file, by which a foreign write is noticed without reading it: length, and times of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp(u64, (i64, i64), (i64, i64));

impl FileStamp {
    fn of(file: &File) -> io::Result<Self> {
        let found = file.metadata()?;
        Ok(Self(found.len(), (found.mtime(), found.mtime_nsec()), (found.ctime(), found.ctime_nsec())))
    }
}

impl Journal {
    /// Opens the journal at `path` to append to it, cutting a torn last line off, and gives back what it says.
    pub(crate) fn open(path: &Path, mut each: impl FnMut(Envelope)) -> Result<Self, JournalError> {
        let io = |what| move |source| JournalError::Io { what, path: path.to_owned(), source };
        let file = files::append_existing(path).map_err(io(FileAction::Open))?;
        let mut reader = Reader::from_start(path.to_owned(), file.try_clone().map_err(io(FileAction::Open))?);
        while let Some(line) = reader.next_line()? {
            each(line);
        }
        let length = reader.offset;
        // Only the tail behind the last whole line is cut: `next_line` has returned an error for anything else that
        // does not read. Without the cut the next line would be glued to the torn one, and both would be lost.
        if file.metadata().map_err(io(FileAction::Read))?.len() > length {
            file.set_len(length).map_err(io(FileAction::Repair))?;
        }
        let next_seq = reader.numbering.next();
        let (record, hash) = (reader.numbering.into_record(), reader.hash);
        let left = FileStamp::of(&file).map_err(io(FileAction::Read))?;
        Ok(Self { file, path: path.to_owned(), length, next_seq, record, hash, left, sealer: None })
    }

    /// Whether what was there already is whole.
    pub(crate) fn record(&self) -> &Record {
        &self.record
    }

    /// The number of the next line.
    pub(crate) fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Appends a line. When this returns, SIGKILL cannot take it back; on an error nothing of it is left.
    pub(crate) fn append(&mut self, line: &Envelope) -> Result<(), JournalError> {
        debug_assert_eq!(line.seq, self.next_seq, "one writer, no gap");
        // Each time, at the price of two system calls: an agent runs with the user's rights and may remove or write
        // this file.
        self.is_still_there()?;
        self.is_still_ours()?;
        let bytes = line_of(line).map_err(|source| self.failed(FileAction::Write, source))?;
        // The line and its newline in one call: whatever a kill leaves of it lacks the newline, and the next writer
        // cuts it off. Not synced here; what must survive a power cut is forced to disk by `engine/durability`.
        if let Err(error) = self.file.write_all(&bytes) {
            // A short write (full disk) must not leave half a line for the next one to be glued to.
            let _ = self.file.set_len(self.length);
            return Err(self.failed(FileAction::Write, error));
        }
        self.length += bytes.len() as u64;
        self.next_seq += 1;
        self.hash.update(&bytes);
        self.left = FileStamp::of(&self.file).map_err(|source| self.failed(FileAction::Inspect, source))?;
        Ok(())
    }

    /// Something of the record beside the journal is not Dacapo's own: nothing is proven any more (R4).
    pub(crate) fn add_fault(&mut self, fault: Fault) {
        self.record.add(fault);
    }

    fn failed(&self, what: FileAction, source: io::Error) -> JournalError {
        JournalError::Io { what, path: self.path.clone(), source }
    }

    fn task(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// A process begins to drive the task; to be called before that is put on record.
    pub(crate) fn begin_seal(&mut self) -> io::Result<()> {
        self.sealer = Some(Sealer::begin(self.task())?);
        Ok(())
    }

    /// The task is going to end with this line; to be called before it is appended. What lies in the file by then must be
    /// our own to the last byte: it is read once more.
    pub(crate) fn seal(&mut self, end: &Envelope) -> io::Result<()> {
        // The key signs once: whatever comes of this, nothing else is sealed with it.
        let Some(sealer) = self.sealer.take() else { return Ok(()) };
        self.is_still_there().and_then(|()| self.is_untouched(self.length)).map_err(io::Error::other)?;
        let bytes = line_of(end)?;
        let mut hash = self.hash;
        hash.update(&bytes);
        let journal = Extent { length: self.length + bytes.len() as u64, digest: hash.digest() };
        // The seal is written before the line that it covers. Killed in between, the task has no end, and whoever
        // resumes it seals it anew. The other way round it would have ended, and stay unproven for ever.
        sealer.end(self.task(), &journal)
    }

    /// Whether nobody else has written to it since we did. The kernel's times are looked at each time, the bytes only
    /// where these say that something happened: a backup that makes a hard link changes them too.
    fn is_still_ours(&mut self) -> Result<(), JournalError> {
        let now = FileStamp::of(&self.file).map_err(|source| self.failed(FileAction::Inspect, source))?;
        if now == self.left {
            return Ok(());
        }
        let length = now.0;
        if let Err(error) = self.is_untouched(self.length.min(length)) {
            self.mark_altered();
            return Err(error);
        }
        if length > self.length {
            return Err(self.cut_off(length - self.length));
        }
        self.left = now;
        Ok(())
    }

    /// Whether the first bytes are those that we know.
    fn is_untouched(&self, length: u64) -> Result<(), JournalError> {
        if length != self.length {
            return Err(JournalError::Altered { path: self.path.clone() });
        }
        let mut hash = Running::new();
        let mut buffer = vec![0; 64 << 10];
        let mut at = 0;
        while at < length {
            let most = usize::try_from(length - at).unwrap_or(buffer.len()).min(buffer.len());
            match self.file.read_at(&mut buffer[..most], at) {
                Ok(0) => break,
                Ok(read) => {
                    hash.update(&buffer[..read]);
                    at += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(FileAction::Read, error)),
            }
        }
        if hash.digest() == self.hash.digest() {
            Ok(())
        } else {
            Err(JournalError::Altered { path: self.path.clone() })
        }
    }

    /// Puts what somebody wrote behind our last line aside.
    fn cut_off(&mut self, bytes: u64) -> JournalError {
        let cut = || -> io::Result<PathBuf> {
            let mut foreign = vec![0; usize::try_from(bytes.min(LONGEST_LINE)).unwrap_or_default()];
            // Copied before it is cut: nothing that somebody wrote is thrown away.
            self.file.read_exact_at(&mut foreign, self.length)?;
            let kept = self.task().join(format!("foreign-{:04}", self.next_seq));
            files::replace(&kept, &foreign)?;
            self.file.set_len(self.length)?;
            Ok(kept)
        };
        match cut().and_then(|kept| Ok((kept, FileStamp::of(&self.file)?))) {
            Ok((kept, left)) => {
                self.left = left;
                let foreign = JournalError::Foreign { path: self.path.clone(), bytes, kept };
                self.record.add(Fault::Altered { message: foreign.to_string() });
                foreign
            }
            Err(error) => self.failed(FileAction::Repair, error),
        }
    }

    /// Leaves word for all later readers. What is there is not ours to mend, so this is the last that is written.
    fn mark_altered(&mut self) {
        let message = JournalError::Altered { path: self.path.clone() }.to_string();
        let event = Event::RecordAltered { message };
        let (at, task) = (Timestamp::now(), self.task().file_name().unwrap_or_default());
        let task = task.to_string_lossy().into_owned();
        let line = Envelope { v: FORMAT, seq: self.next_seq, at, elapsed_ms: 0, task, came_at: None, event };
        let _ = line_of(&line).and_then(|bytes| self.file.write_all(&bytes));
    }

    /// What is written to a file that its name does not lead to any more would be lost without a word, and another process
    /// may write the one that it leads to.
    fn is_still_there(&self) -> Result<(), JournalError> {
        let inode = |found: std::fs::Metadata| (found.dev(), found.ino());
        let failed = |source| JournalError::Io { what: FileAction::Inspect, path: self.path.clone(), source };
        let own = self.file.metadata().map(inode).map_err(failed)?;
        match std::fs::symlink_metadata(&self.path).map(inode) {
            Ok(there) if there == own => Ok(()),
            Ok(_) => Err(JournalError::Replaced { path: self.path.clone() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(JournalError::Removed { path: self.path.clone() })
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// A handle to force it to disk with, from another thread.
    pub(crate) fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}

/// Writes down what happened to a task that nobody drives; the caller holds its lock. Active time does not pass.
pub fn note(dir: &TaskDir, _held: &Lock, event: Event) -> Result<(), JournalError> {
    let mut last = None;
    let mut journal = Journal::open(&dir.journal_path(), |line| last = Some(line))?;
    let last = last.ok_or(JournalError::Gone)?;
    let line = Envelope {
        v: FORMAT,
        seq: journal.next_seq(),
        at: Timestamp::now(),
        elapsed_ms: last.elapsed_ms,
        task: dir.name(),
        came_at: None,
        event,
    };
    journal.append(&line)
}

fn line_of(line: &Envelope) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// All lines of the journal at `path`; gives back whether they are all there, once and in order.
pub fn read(path: &Path, mut each: impl FnMut(Envelope)) -> Result<Record, JournalError> {
    let mut reader = Reader::open(path)?;
    while let Some(line) = reader.next_line()? {
        each(line);
    }
    Ok(reader.numbering.into_record())
}

/// The same of the task in `dir`; where it says that something is proven, also whether its own process has sealed that.
pub fn read_sealed(dir: &TaskDir, mut each: impl FnMut(Envelope)) -> Result<Record, JournalError> {
    let mut reader = Reader::open(&dir.journal_path())?;
    while let Some(line) = reader.next_line()? {
        each(line);
    }
    // A spec that does not read has no hash; whoever needs it is told so.
    let spec_sha256 = dir.spec_sha256().ok();
    Ok(reader.sealed(dir, spec_sha256.as_deref()))
}

/// The same, beside a spec that was read already.
pub(crate) fn read_beside(
    dir: &TaskDir,
    spec_sha256: &str,
    mut each: impl FnMut(Envelope),
) -> Result<Record, JournalError> {
    let mut reader = Reader::open(&dir.journal_path())?;
    while let Some(line) = reader.next_line()? {
        each(line);
    }
    Ok(reader.sealed(dir, Some(spec_sha256)))
}

/// Why the task's journal does not vouch for a `spec.json` with this hash. None: it does, or has not begun.
pub(super) fn doubt_of_spec(dir: &TaskDir, spec_sha256: &str) -> Result<Option<SpecDoubt>, JournalError> {
    let mut reader = match Reader::open(&dir.journal_path()) {
        Ok(reader) => reader,
        Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    reader.next_line()?;
    Ok(reader.doubts(spec_sha256))
}

mod parsed;
mod reader;
#[cfg(test)]
mod tests;
