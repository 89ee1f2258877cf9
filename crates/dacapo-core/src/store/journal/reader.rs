//! Reading a journal, once or again and again as it grows.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::parsed::Parsed;
use super::{JournalError, LONGEST_LINE};
use crate::event::{Envelope, Event};
use crate::files::FileAction;
use crate::store::integrity::{Fault, Numbering, Record, SpecDoubt};
use crate::store::seal::{self, Extent, Running};
use crate::store::{TaskDir, files};

/// Reads a journal line by line; at its end it can be asked again later.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    /// None while it is let go.
    file: Option<BufReader<File>>,
    /// Which file it is: another one under its name is not read on.
    inode: Option<(u64, u64)>,
    /// Behind the last whole line that was read.
    pub(super) offset: u64,
    lines: u64,
    pub(super) numbering: Numbering,
    /// Hash of all lines so far.
    pub(super) hash: Running,
    /// What its first line says of `spec.json`; none: that line is not there.
    created: Option<Created>,
    started: Option<Timestamp>,
    ending: Option<Ending>,
}

/// The line by which the task was created.
#[derive(Debug)]
struct Created {
    spec_sha256: Option<String>,
}

/// The end of a task that says that something is proven.
#[derive(Debug)]
struct Ending {
    journal: Extent,
    /// When the process that ended it began.
    started: Option<Timestamp>,
}

impl Reader {
    /// Opens the journal at `path`.
    pub(crate) fn open(path: &Path) -> Result<Self, JournalError> {
        let file = files::open(path).map_err(|source| JournalError::Io {
            what: FileAction::Open,
            path: path.to_owned(),
            source,
        })?;
        Ok(Self::from_start(path.to_owned(), file))
    }

    pub(super) fn from_start(path: PathBuf, file: File) -> Self {
        Self {
            path,
            inode: file.metadata().ok().map(|found| (found.dev(), found.ino())),
            file: Some(BufReader::new(file)),
            offset: 0,
            lines: 0,
            numbering: Numbering::default(),
            hash: Running::new(),
            created: None,
            started: None,
            ending: None,
        }
    }

    /// The next line; none at the end, or where the last line is not whole (yet). Events of unknown types are skipped.
    pub(crate) fn next_line(&mut self) -> Result<Option<Envelope>, JournalError> {
        loop {
            let mut bytes = Vec::new();
            let read = self.file()?.take(LONGEST_LINE).read_until(b'\n', &mut bytes);
            read.map_err(|source| self.unread(source))?;
            // A line without its newline is a write that is under way or was torn. Followers come back to it; a
            // writer cuts it off.
            let whole = bytes.last() == Some(&b'\n');
            if !whole {
                return self.torn();
            }
            match Parsed::of(&bytes) {
                Parsed::Event(line) => {
                    self.passed(&bytes, line.seq);
                    self.saw(&line);
                    return Ok(Some(*line));
                }
                Parsed::Unknown { seq } => self.passed(&bytes, seq),
                Parsed::Newer(found) => {
                    return Err(JournalError::Newer { path: self.path.clone(), found });
                }
                Parsed::Older(found) => {
                    return Err(JournalError::Older { path: self.path.clone(), found });
                }
                // A power cut can leave a tail of zeros, with a newline of the same write behind them.
                Parsed::NoJson if self.nothing_follows()? => return self.torn(),
                Parsed::NoJson => return Err(self.damaged(&bytes, "not JSON")),
                Parsed::NoEvent(why) => return Err(self.damaged(&bytes, &why)),
            }
        }
    }

    fn saw(&mut self, line: &Envelope) {
        match &line.event {
            Event::TaskCreated { spec_sha256, .. } if self.lines == 1 => {
                self.created = Some(Created { spec_sha256: spec_sha256.clone() });
            }
            Event::TaskStarted { .. } | Event::Resumed { .. } => {
                self.started = Some(line.at);
                self.ending = None;
            }
            Event::TaskFinished(result) => {
                let journal = Extent { length: self.offset, digest: self.hash.digest() };
                let proven = result.proof_state.as_ref().is_some_and(|state| state.proven().is_some());
                let claims = result.verified || proven;
                self.ending = claims.then_some(Ending { journal, started: self.started });
            }
            Event::RecordAltered { message } => {
                self.numbering.add(Fault::Altered { message: message.clone() });
            }
            _ => {}
        }
    }

    /// Why a `spec.json` with this hash is not the one that the journal vouches for. Before the first line nothing is on record,
    /// and a journal without that line is broken already.
    pub(super) fn doubts(&self, spec_sha256: &str) -> Option<SpecDoubt> {
        match &self.created {
            Some(Created { spec_sha256: Some(known) }) if known == spec_sha256 => None,
            Some(Created { spec_sha256: Some(_) }) => Some(SpecDoubt::Changed),
            Some(Created { spec_sha256: None }) => Some(SpecDoubt::Unknown),
            None => (self.lines > 0).then_some(SpecDoubt::Unknown),
        }
    }

    /// Whether it can be relied on, for the task in `dir` and its spec.
    pub(super) fn sealed(self, dir: &TaskDir, spec_sha256: Option<&str>) -> Record {
        let doubt = spec_sha256.and_then(|sha256| self.doubts(sha256));
        let mut record = self.numbering.into_record();
        if let Some(doubt @ SpecDoubt::Changed) = doubt {
            record.add(Fault::Spec(doubt));
        }
        if let Some(Ending { journal, started }) = &self.ending {
            let started = started.unwrap_or(Timestamp::MIN);
            if let Err(why) = seal::check(dir.path(), journal, started) {
                record.add(Fault::Unsealed { why: why.to_owned() });
            }
        }
        record
    }

    fn passed(&mut self, bytes: &[u8], seq: u64) {
        self.hash.update(bytes);
        self.offset += bytes.len() as u64;
        self.lines += 1;
        self.numbering.saw(self.lines, seq);
    }

    fn damaged(&self, bytes: &[u8], why: &str) -> JournalError {
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]);
        let message = format!("not an event ({why}): {}", start.trim_end().escape_debug());
        JournalError::Damaged { path: self.path.clone(), line: self.lines + 1, message }
    }

    fn torn(&mut self) -> Result<Option<Envelope>, JournalError> {
        // The buffered reader has taken the torn part in. Going back to the end of the last whole line makes the next
        // call read it again, complete by then perhaps.
        let offset = self.offset;
        let seek = self.file()?.seek(SeekFrom::Start(offset));
        seek.map_err(|source| self.unread(source))?;
        Ok(None)
    }

    fn nothing_follows(&mut self) -> Result<bool, JournalError> {
        let rest = self.file()?.fill_buf().map(<[u8]>::is_empty);
        rest.map_err(|source| self.unread(source))
    }

    /// Closes the file until it is read on: who follows a thousand tasks has no descriptor for each.
    pub(crate) fn let_go(&mut self) {
        self.file = None;
    }

    fn file(&mut self) -> Result<&mut BufReader<File>, JournalError> {
        if self.file.is_none() {
            let mut file = files::open(&self.path).map_err(|source| JournalError::Io {
                what: FileAction::Open,
                path: self.path.clone(),
                source,
            })?;
            let found = file.metadata().map_err(|source| self.unread(source))?;
            // Offsets and hash are those of the file that was read so far.
            if self.inode != Some((found.dev(), found.ino())) {
                return Err(JournalError::Replaced { path: self.path.clone() });
            }
            file.seek(SeekFrom::Start(self.offset)).map_err(|source| self.unread(source))?;
            self.file = Some(BufReader::new(file));
        }
        self.file.as_mut().ok_or_else(|| JournalError::Removed { path: self.path.clone() })
    }

    fn unread(&self, source: io::Error) -> JournalError {
        JournalError::Io { what: FileAction::Read, path: self.path.clone(), source }
    }
}
