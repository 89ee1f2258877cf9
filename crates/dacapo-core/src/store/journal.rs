//! The journal: every event that decides anything, one JSON object a line. The only truth about a task.
//!
//! It has one writer, the process that holds the task's lock. A line is written, in one call, before it is acted on. What
//! a crash can leave is a torn last line, which is no JSON: readers pass over it and the next writer cuts it off. An event
//! of a type that this version does not know is kept and skipped. Anything else that does not read is damage, and nothing
//! is written behind it. The rules are in docs/design/journal.md.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::record::{Numbering, Record};
use super::{Lock, TaskDir, files};
use crate::event::{Envelope, Event, FORMAT};

/// No line we write comes near this; a longer one is not ours, and is not read into memory.
const LONGEST_LINE: u64 = 64 << 20;

/// A journal that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file system says no.
    #[error("cannot {what} {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// The journal.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line in the middle does not read.
    #[error("{path} is damaged at line {line}: {message}")]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// What is wrong.
        message: String,
    },
    /// Somebody removed it under its writer: what is written now would be lost without a word.
    #[error("{path} was removed while the task ran")]
    Removed {
        /// The journal.
        path: PathBuf,
    },
    /// Somebody put another file in its place.
    #[error("{path} was replaced by another file while the task ran")]
    Replaced {
        /// The journal.
        path: PathBuf,
    },
    /// A newer Dacapo wrote it.
    #[error("{path} was written by a newer Dacapo (format {found}, this one reads up to {FORMAT})")]
    Newer {
        /// The journal.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
}

/// The writer of a journal. Whoever has one holds the task's lock.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    length: u64,
    next_seq: u64,
    record: Record,
}

impl Journal {
    /// Opens the journal at `path` to append to it, cutting a torn last line off, and gives back what it says.
    pub fn open(path: &Path, mut each: impl FnMut(Envelope)) -> Result<Self, JournalError> {
        let io = |what| move |source| JournalError::Io { what, path: path.to_owned(), source };
        let file = files::append_existing(path).map_err(io("open"))?;
        let mut reader = Reader::from_start(path.to_owned(), file.try_clone().map_err(io("open"))?);
        while let Some(line) = reader.next_line()? {
            each(line);
        }
        let length = reader.offset;
        if file.metadata().map_err(io("read"))?.len() > length {
            file.set_len(length).map_err(io("mend"))?;
        }
        let next_seq = reader.numbering.next();
        let record = reader.numbering.into_record();
        Ok(Self { file, path: path.to_owned(), length, next_seq, record })
    }

    /// Whether what was there already is whole.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The number of the next line.
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Appends a line. When this returns, SIGKILL cannot take it back; on an error nothing of it is left.
    pub fn append(&mut self, line: &Envelope) -> Result<(), JournalError> {
        debug_assert_eq!(line.seq, self.next_seq, "one writer, no gap");
        let failed = |source| JournalError::Io { what: "write", path: self.path.clone(), source };
        self.is_still_there()?;
        let mut bytes = serde_json::to_vec(line).map_err(|error| failed(error.into()))?;
        bytes.push(b'\n');
        if let Err(error) = self.file.write_all(&bytes) {
            // A short write (full disk) must not leave half a line for the next one to be glued to.
            let _ = self.file.set_len(self.length);
            return Err(failed(error));
        }
        self.length += bytes.len() as u64;
        self.next_seq += 1;
        Ok(())
    }

    /// What is written to a file that its name does not lead to any more would be lost without a word, and another process
    /// may write the one that it leads to.
    fn is_still_there(&self) -> Result<(), JournalError> {
        let inode = |found: std::fs::Metadata| (found.dev(), found.ino());
        let failed = |source| JournalError::Io { what: "look at", path: self.path.clone(), source };
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
    pub fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}

/// Writes down what happened to a task that nobody drives; the caller holds its lock. Active time does not pass.
pub fn note(dir: &TaskDir, _held: &Lock, event: Event) -> Result<(), JournalError> {
    let mut last = None;
    let mut journal = Journal::open(&dir.journal_path(), |line| last = Some(line))?;
    let line = Envelope {
        v: FORMAT,
        seq: journal.next_seq(),
        at: Timestamp::now(),
        elapsed_ms: last.map_or(0, |line| line.elapsed_ms),
        task: dir.name(),
        event,
    };
    journal.append(&line)
}

/// Reads a journal line by line; at its end it can be asked again later.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    file: BufReader<File>,
    /// Behind the last whole line that was read.
    offset: u64,
    lines: u64,
    numbering: Numbering,
}

impl Reader {
    /// Opens the journal at `path`.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let file = files::open(path).map_err(|source| JournalError::Io {
            what: "open",
            path: path.to_owned(),
            source,
        })?;
        Ok(Self::from_start(path.to_owned(), file))
    }

    fn from_start(path: PathBuf, file: File) -> Self {
        Self { path, file: BufReader::new(file), offset: 0, lines: 0, numbering: Numbering::default() }
    }

    /// Whether the lines so far are all there, once and in order.
    pub fn record(&self) -> &Record {
        self.numbering.record()
    }

    /// The next line; none at the end, or where the last line is not whole (yet). Events of unknown types are skipped.
    pub fn next_line(&mut self) -> Result<Option<Envelope>, JournalError> {
        loop {
            let mut bytes = Vec::new();
            let read = (&mut self.file).take(LONGEST_LINE).read_until(b'\n', &mut bytes);
            read.map_err(|source| JournalError::Io { what: "read", path: self.path.clone(), source })?;
            let whole = bytes.last() == Some(&b'\n');
            if !whole {
                return self.torn();
            }
            match Parsed::of(&bytes) {
                Parsed::Event(line) => {
                    self.passed(bytes.len(), line.seq);
                    return Ok(Some(*line));
                }
                Parsed::Unknown { seq } => self.passed(bytes.len(), seq),
                Parsed::Newer(found) => {
                    return Err(JournalError::Newer { path: self.path.clone(), found });
                }
                // A power cut can leave a tail of zeros, with a newline of the same write behind them.
                Parsed::NoJson if self.nothing_follows()? => return self.torn(),
                Parsed::NoJson => return Err(self.damaged(&bytes, "not JSON")),
                Parsed::NoEvent(why) => return Err(self.damaged(&bytes, &why)),
            }
        }
    }

    fn passed(&mut self, bytes: usize, seq: u64) {
        self.offset += bytes as u64;
        self.lines += 1;
        self.numbering.saw(self.lines, seq);
    }

    fn damaged(&self, bytes: &[u8], why: &str) -> JournalError {
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]);
        let message = format!("not an event ({why}): {}", start.trim_end().escape_debug());
        JournalError::Damaged { path: self.path.clone(), line: self.lines + 1, message }
    }

    fn torn(&mut self) -> Result<Option<Envelope>, JournalError> {
        let seek = self.file.seek(SeekFrom::Start(self.offset));
        seek.map_err(|source| JournalError::Io { what: "read", path: self.path.clone(), source })?;
        Ok(None)
    }

    fn nothing_follows(&mut self) -> Result<bool, JournalError> {
        let rest = self.file.fill_buf().map_err(|source| JournalError::Io {
            what: "read",
            path: self.path.clone(),
            source,
        })?;
        Ok(rest.is_empty())
    }
}

/// What a whole line is.
enum Parsed {
    Event(Box<Envelope>),
    /// A later version of the same format has more types of events; they decide nothing for this one.
    Unknown {
        seq: u64,
    },
    Newer(u32),
    NoJson,
    NoEvent(String),
}

impl Parsed {
    fn of(bytes: &[u8]) -> Self {
        let why = match serde_json::from_slice::<Envelope>(bytes) {
            Ok(line) if line.v > FORMAT => return Self::Newer(line.v),
            Ok(line) => return Self::Event(Box::new(line)),
            Err(why) => why,
        };
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(bytes) else { return Self::NoJson };
        let number = |field: &str| value.get(field).and_then(serde_json::Value::as_u64);
        match (number("v"), number("seq")) {
            (Some(v), _) if v > u64::from(FORMAT) => Self::Newer(u32::try_from(v).unwrap_or(u32::MAX)),
            (Some(_), Some(seq)) if !Event::is_known(&value) => Self::Unknown { seq },
            _ => Self::NoEvent(why.to_string()),
        }
    }
}

/// All lines of the journal at `path`; gives back whether they are all there, once and in order.
pub fn read(path: &Path, mut each: impl FnMut(Envelope)) -> Result<Record, JournalError> {
    let mut reader = Reader::open(path)?;
    while let Some(line) = reader.next_line()? {
        each(line);
    }
    Ok(reader.numbering.into_record())
}

#[cfg(test)]
mod tests;
