//! One file of a turn at any place, for who scrolls and searches.
//!
//! A place is where a line begins, in bytes. Reading goes forward from a place; to go back, one reads forward from a place
//! before. Nothing is held but what is being read, so it does not matter how long the file is.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::position::Mark;
use super::reading::Group;
use super::tape::{Cursor, NextGroup, Tape};
use super::turn::Tapes;

/// What is read of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// What the agent did, by its parser.
    Told,
    /// The lines of its standard output as they are.
    Raw,
    /// The same of its standard error.
    Stderr,
}

/// One file of a turn. Cheap to clone; all who have it share what is known of it.
#[derive(Clone)]
pub struct Pages {
    tape: Arc<Tape>,
    /// Others find it as long as somebody has it.
    _tapes: Option<Arc<Tapes>>,
}

impl std::fmt::Debug for Pages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pages").field("path", &self.tape.path()).finish_non_exhaustive()
    }
}

impl Pages {
    pub(super) fn told(tapes: Arc<Tapes>) -> Self {
        Self { tape: tapes.raw(), _tapes: Some(tapes) }
    }

    pub(super) fn plain(path: PathBuf) -> Self {
        Self { tape: Tape::new(path, None), _tapes: None }
    }

    /// Any file of lines, such as a patch.
    pub fn file(path: PathBuf) -> Self {
        Self::plain(path)
    }

    /// Whether each line stands for itself, so that every place is reached at once.
    pub fn is_plain(&self) -> bool {
        self.tape.is_plain()
    }

    /// Bytes on file now.
    pub fn length(&self) -> u64 {
        self.tape.length()
    }

    /// How much is known: every place before it is reached within a few megabytes. What is behind is read first.
    pub fn known(&self) -> u64 {
        self.tape.known()
    }

    /// Makes a little more known. False: all that is on file is.
    pub fn read_on(&self) -> io::Result<bool> {
        if self.tape.is_plain() {
            return Ok(false);
        }
        self.tape.read_on()
    }

    /// Reads forward from a place.
    pub fn reader(&self, at: u64) -> PageReader {
        PageReader { cursor: Cursor::new(Arc::clone(&self.tape), Mark::at(at)) }
    }

    /// A place at least `bytes` before `at`, the nearest from which reading is cheap.
    pub fn place_before(&self, at: u64, bytes: u64) -> io::Result<u64> {
        self.tape.place_before(at, bytes)
    }

    /// What is in the last `bytes`, as far as that can be told without what comes before: messages and tools are right, sums
    /// are not. For who wants to see the end of a long turn while the rest is being read.
    pub fn glimpse(&self, bytes: u64) -> io::Result<Vec<Group>> {
        self.tape.glimpse(bytes)
    }
}

/// What came of reading on.
#[derive(Debug)]
pub enum Read {
    /// What the next line says.
    Group(Arc<Group>),
    /// A piece was read that says nothing; there may be more.
    More,
    /// All that is on file has been read.
    Nothing,
}

/// A place that moves forward.
pub struct PageReader {
    cursor: Cursor,
}

impl std::fmt::Debug for PageReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PageReader").field("at", &self.at()).finish_non_exhaustive()
    }
}

impl PageReader {
    /// Offset after what was read last.
    pub fn at(&self) -> u64 {
        self.cursor.at().bytes
    }

    /// Reads on; never more than a piece at once.
    #[expect(clippy::should_implement_trait, reason = "it can fail, and it can have nothing yet")]
    pub fn next(&mut self) -> io::Result<Read> {
        Ok(match self.cursor.next_group()? {
            NextGroup::Group(group) => Read::Group(group),
            NextGroup::More => Read::More,
            NextGroup::Nothing => Read::Nothing,
        })
    }

    /// What the beginning of a line says that has no end, after [`Read::Nothing`]; it is the last of a turn that is over.
    pub fn last(&self) -> io::Result<Option<Group>> {
        self.cursor.last_group()
    }
}
