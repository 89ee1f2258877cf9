//! The journal: every event that decides anything, one JSON object a line. The only truth about a task.
//!
//! It has one writer, the process that holds the task's lock. A line is written, in one call, before it is acted on. What
//! a crash can leave is a torn last line, which readers pass over and the next writer cuts off; anything else that does
//! not read is damage, and nothing is written behind it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{Lock, TaskDir};
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
}

impl Journal {
    /// Opens the journal at `path` to append to it, cutting a torn last line off, and gives back what it says.
    pub fn open(path: &Path, mut each: impl FnMut(Envelope)) -> Result<Self, JournalError> {
        let io = |what| move |source| JournalError::Io { what, path: path.to_owned(), source };
        let file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(io("open"))?;
        let mut reader = Reader::from_start(path.to_owned(), file.try_clone().map_err(io("open"))?);
        let mut next_seq = 0;
        while let Some(line) = reader.next_line()? {
            next_seq = line.seq + 1;
            each(line);
        }
        let length = reader.offset;
        if file.metadata().map_err(io("read"))?.len() > length {
            file.set_len(length).map_err(io("mend"))?;
        }
        Ok(Self { file, path: path.to_owned(), length, next_seq })
    }

    /// The number of the next line.
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Appends a line. When this returns, SIGKILL cannot take it back; on an error nothing of it is left.
    pub fn append(&mut self, line: &Envelope) -> Result<(), JournalError> {
        debug_assert_eq!(line.seq, self.next_seq, "one writer, no gap");
        let failed = |source| JournalError::Io { what: "write", path: self.path.clone(), source };
        if self.file.metadata().map_err(failed)?.nlink() == 0 {
            return Err(JournalError::Removed { path: self.path.clone() });
        }
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
}

impl Reader {
    /// Opens the journal at `path`.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let file = File::open(path).map_err(|source| JournalError::Io {
            what: "open",
            path: path.to_owned(),
            source,
        })?;
        Ok(Self::from_start(path.to_owned(), file))
    }

    fn from_start(path: PathBuf, file: File) -> Self {
        Self { path, file: BufReader::new(file), offset: 0, lines: 0 }
    }

    /// The next line; none at the end, or where the last line is not whole (yet).
    pub fn next_line(&mut self) -> Result<Option<Envelope>, JournalError> {
        let mut bytes = Vec::new();
        let read = (&mut self.file).take(LONGEST_LINE).read_until(b'\n', &mut bytes);
        read.map_err(|source| JournalError::Io { what: "read", path: self.path.clone(), source })?;
        let whole = bytes.last() == Some(&b'\n');
        if !whole {
            return self.torn();
        }
        match parse(&bytes) {
            Ok(line) if line.v > FORMAT => {
                Err(JournalError::Newer { path: self.path.clone(), found: line.v })
            }
            Ok(line) => {
                self.offset += bytes.len() as u64;
                self.lines += 1;
                Ok(Some(line))
            }
            Err(found) if found.is_some_and(|v| v > FORMAT) => {
                Err(JournalError::Newer { path: self.path.clone(), found: found.unwrap_or_default() })
            }
            // A power cut can leave a tail of zeros, with a newline of the same write behind them.
            Err(_) if self.nothing_follows()? => self.torn(),
            Err(_) => {
                let text = String::from_utf8_lossy(&bytes[..bytes.len().min(80)])
                    .trim_end()
                    .escape_debug()
                    .to_string();
                let message = format!("not an event: {text}");
                Err(JournalError::Damaged { path: self.path.clone(), line: self.lines + 1, message })
            }
        }
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

/// A line, or the version that a line of a later format claims.
fn parse(bytes: &[u8]) -> Result<Envelope, Option<u32>> {
    #[derive(serde::Deserialize)]
    struct Version {
        v: u32,
    }
    serde_json::from_slice(bytes)
        .map_err(|_| serde_json::from_slice::<Version>(bytes).ok().map(|version| version.v))
}

/// All lines of the journal at `path`.
pub fn read(path: &Path, mut each: impl FnMut(Envelope)) -> Result<(), JournalError> {
    let mut reader = Reader::open(path)?;
    while let Some(line) = reader.next_line()? {
        each(line);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(seq: u64) -> Envelope {
        Envelope {
            v: FORMAT,
            seq,
            at: "2026-11-15T10:00:00Z".parse().unwrap(),
            elapsed_ms: 7,
            task: "t".into(),
            event: Event::Notice { message: format!("n\n{seq} 繼") },
        }
    }

    fn written(lines: u64) -> (tempfile::TempDir, PathBuf, Vec<u8>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let mut journal = Journal::open(&path, |_| panic!("empty")).unwrap();
        for seq in 0..lines {
            journal.append(&line(seq)).unwrap();
        }
        let bytes = std::fs::read(&path).unwrap();
        (dir, path, bytes)
    }

    fn reopened(path: &Path) -> Result<Vec<u64>, JournalError> {
        let mut seen = Vec::new();
        let mut journal = Journal::open(path, |line| seen.push(line.seq))?;
        let next = seen.last().map_or(0, |seq| seq + 1);
        assert_eq!(journal.next_seq(), next);
        journal.append(&line(next))?;
        let mut all = Vec::new();
        read(path, |line| all.push(line.seq)).unwrap();
        assert_eq!(
            all,
            (0..=next).collect::<Vec<_>>(),
            "whatever was cut, the journal goes on without a gap"
        );
        Ok(seen)
    }

    #[test]
    fn r1_a_journal_cut_at_every_byte_is_read_up_to_its_last_whole_line() {
        let (_dir, path, bytes) = written(4);
        for cut in 0..=bytes.len() {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let whole = bytes[..cut].iter().filter(|&&b| b == b'\n').count() as u64;
            assert_eq!(reopened(&path).unwrap(), (0..whole).collect::<Vec<_>>(), "cut at {cut}");
        }
    }

    #[test]
    fn r2_zeros_at_the_end_are_a_torn_line() {
        let (_dir, path, bytes) = written(2);
        for tail in [&[0_u8; 500][..], &[0, 0, 0, b'\n'][..]] {
            std::fs::write(&path, [&bytes[..], tail].concat()).unwrap();
            assert_eq!(reopened(&path).unwrap(), [0, 1]);
        }
    }

    #[test]
    fn r2_damage_in_the_middle_is_named_and_nothing_is_overwritten() {
        let (_dir, path, bytes) = written(3);
        let mut broken = bytes;
        broken[10] = 0;
        std::fs::write(&path, &broken).unwrap();
        let error = Journal::open(&path, |_| ()).unwrap_err();
        assert!(error.to_string().contains("damaged at line 1"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), broken);
    }

    #[test]
    fn a_newer_format_is_refused_even_where_its_events_are_unknown() {
        let (_dir, path, bytes) = written(1);
        let newer = b"{\"v\":2,\"seq\":1,\"type\":\"unheard_of\"}\n";
        std::fs::write(&path, [&bytes[..], newer].concat()).unwrap();
        assert!(matches!(Journal::open(&path, |_| ()), Err(JournalError::Newer { found: 2, .. })));
    }

    #[test]
    fn a_reader_at_the_end_goes_on_when_more_comes() {
        let (_dir, path, bytes) = written(2);
        std::fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
        let mut reader = Reader::open(&path).unwrap();
        assert_eq!(reader.next_line().unwrap().unwrap().seq, 0);
        assert!(reader.next_line().unwrap().is_none());
        OpenOptions::new().append(true).open(&path).unwrap().write_all(&bytes[bytes.len() - 3..]).unwrap();
        assert_eq!(reader.next_line().unwrap().unwrap().seq, 1);
        assert!(reader.next_line().unwrap().is_none());
    }
}
