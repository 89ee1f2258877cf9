//! What an agent printed in a turn, read once for all who follow it.
//!
//! The tape has one parser at the newest place that anybody has come to, and a window of what came of the last lines: who
//! is there takes it from the window. Who is further back reads by itself, from the nearest checkpoint of the parser, until
//! it has come to the window. Neither holds more than a bounded part, however long the turn is.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::position::Mark;
use super::reading::{Group, Reading, last_lines, line_start, next_line_start};
use crate::agent::Parser;
use crate::event::AgentEvent;
use crate::store::files;

/// A checkpoint is kept every this many bytes; when there are too many checkpoints, every second one is dropped.
const CHECKPOINT_EVERY: u64 = if cfg!(test) { 256 } else { 4 << 20 };
const MOST_CHECKPOINTS: usize = if cfg!(test) { 4 } else { 256 };

/// What the window holds.
const WINDOW_GROUPS: usize = if cfg!(test) { 5 } else { 1024 };
const WINDOW_BYTES: u64 = 1 << 20;

/// Makes the parser of a file when something is in it.
pub(super) type MakeParser = Box<dyn Fn(&File) -> Box<dyn Parser> + Send + Sync>;

/// One file of a turn.
pub(super) struct Tape {
    path: PathBuf,
    /// None for plain text.
    parser: Option<MakeParser>,
    inner: Mutex<Inner>,
}

struct Inner {
    /// None before anything was printed.
    head: Option<Reading>,
    /// Device and inode: another file of the same name is not read on.
    inode: Option<(u64, u64)>,
    window: VecDeque<Arc<Group>>,
    /// All that came of lines from here on is in the window.
    window_from: u64,
    checkpoints: Vec<(u64, Box<dyn Parser>)>,
    spacing: u64,
}

impl Tape {
    pub(super) fn new(path: PathBuf, parser: Option<MakeParser>) -> Arc<Self> {
        let inner = Inner {
            head: None,
            inode: None,
            window: VecDeque::new(),
            window_from: 0,
            checkpoints: Vec::new(),
            spacing: CHECKPOINT_EVERY,
        };
        Arc::new(Self { path, parser, inner: Mutex::new(inner) })
    }

    pub(super) fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// How much is on file now.
    pub(super) fn length(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |found| found.len())
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reading_from_start(&self, file: &File) -> Reading {
        Reading::new(self.parser.as_ref().map(|make| make(file)), 0)
    }

    /// Opens the file, for as long as something is read of it: a thousand turns need no descriptor each. Another file under
    /// its name is not read on; only a turn of which nothing was read yet may begin anew.
    fn open(&self, inner: &mut Inner) -> io::Result<Option<File>> {
        let file = match files::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let found = file.metadata()?;
        let inode = Some((found.dev(), found.ino()));
        if inner.head.as_ref().is_none_or(Reading::is_fresh) {
            if found.len() == 0 {
                return Ok(None);
            }
            if inner.inode != inode {
                inner.inode = inode;
                inner.head = Some(self.reading_from_start(&file));
            }
        }
        Ok((inner.inode == inode).then_some(file))
    }
}

impl Inner {
    /// Takes what is in the window from `at` on.
    fn window_from(&self, at: u64, to: &mut VecDeque<Arc<Group>>) -> bool {
        let first = self.window.partition_point(|group| group.start < at);
        to.extend(self.window.range(first..).cloned());
        first < self.window.len()
    }

    /// Reads on at the newest place. False: there is nothing.
    fn advance(&mut self, file: &File) -> io::Result<bool> {
        let Some(head) = &mut self.head else { return Ok(false) };
        head.keep_behind(self.checkpoints.last().map_or(0, |(at, _)| *at) + self.spacing);
        let window = &mut self.window;
        let more = head.advance(file, &mut |group| window.push_back(Arc::new(group)))?;
        self.checkpoints.extend(head.take_kept());
        if self.checkpoints.len() > MOST_CHECKPOINTS {
            let mut nth = 0;
            self.checkpoints.retain(|_| {
                nth += 1;
                // Every second one goes and the distance doubles: memory stays bounded, and no place is further from
                // a checkpoint than the distance.
                nth % 2 == 0
            });
            self.spacing *= 2;
        }
        Ok(more)
    }

    fn trim(&mut self) {
        let newest = self.window.back().map_or(0, |group| group.end);
        while let Some(oldest) = self.window.front() {
            if self.window.len() <= WINDOW_GROUPS && newest - oldest.start <= WINDOW_BYTES {
                break;
            }
            self.window_from = oldest.end;
            self.window.pop_front();
        }
    }
}

/// Reading at any place.
impl Tape {
    pub(super) fn is_plain(&self) -> bool {
        self.parser.is_none()
    }

    /// Before this place every line can be reached from a checkpoint; behind it, all that is between is read first.
    pub(super) fn known(&self) -> u64 {
        if self.is_plain() {
            return self.length();
        }
        self.lock().head.as_ref().map_or(0, Reading::line)
    }

    /// Reads a piece at the newest place. False if there is nothing to read.
    pub(super) fn read_on(&self) -> io::Result<bool> {
        let mut inner = self.lock();
        let Some(file) = self.open(&mut inner)? else { return Ok(false) };
        let more = inner.advance(&file)?;
        inner.trim();
        Ok(more)
    }

    /// The nearest place that is at least `bytes` before `at` and from which everything is read as from the start.
    pub(super) fn place_before(&self, at: u64, bytes: u64) -> io::Result<u64> {
        let wanted = at.saturating_sub(bytes);
        let mut inner = self.lock();
        let Some(file) = self.open(&mut inner)? else { return Ok(0) };
        if self.is_plain() {
            drop(inner);
            return line_start(&file, wanted);
        }
        let behind = inner.checkpoints.partition_point(|(place, _)| *place <= wanted);
        Ok(behind.checked_sub(1).map_or(0, |last| inner.checkpoints[last].0))
    }

    /// What the last `bytes` say to a parser that has seen nothing before them.
    pub(super) fn glimpse(&self, bytes: u64) -> io::Result<Vec<Group>> {
        let Some(file) = self.open(&mut self.lock())? else { return Ok(Vec::new()) };
        let Some(from) = next_line_start(&file, file.metadata()?.len().saturating_sub(bytes))? else {
            return Ok(Vec::new());
        };
        let mut reading = Reading::new(self.parser.as_ref().map(|make| make(&file)), from);
        let mut groups = Vec::new();
        while reading.advance(&file, &mut |group| groups.push(group))? {}
        Ok(groups)
    }
}

/// What a look came to.
#[derive(Debug)]
pub(super) enum Next {
    /// The agent did something in the line that begins at `offset`; `behind` is the mark behind it.
    Did { offset: u64, behind: Mark, event: AgentEvent },
    /// A piece was read that says nothing; there may be more.
    More,
    /// All that may be read now has been.
    Nothing,
}

/// What came of the next line.
#[derive(Debug)]
pub(super) enum NextGroup {
    Group(Arc<Group>),
    /// A piece was read that says nothing; there may be more.
    More,
    /// All that is on file has been read.
    Nothing,
}

/// A place on a tape.
pub(super) struct Cursor {
    tape: Arc<Tape>,
    at: Mark,
    ready: VecDeque<Arc<Group>>,
    /// Of one who is further back than the window.
    own: Option<Reading>,
}

impl Cursor {
    pub(super) fn new(tape: Arc<Tape>, at: Mark) -> Self {
        Self { tape, at, ready: VecDeque::new(), own: None }
    }

    pub(super) fn tape(&self) -> &Tape {
        &self.tape
    }

    pub(super) fn shared_tape(&self) -> Arc<Tape> {
        Arc::clone(&self.tape)
    }

    pub(super) fn at(&self) -> Mark {
        self.at
    }

    /// The next thing that comes of the first `until` bytes.
    pub(super) fn next(&mut self, until: u64) -> io::Result<Next> {
        if self.ready.is_empty() && self.at.bytes < until && !self.fill()? {
            return Ok(Next::Nothing);
        }
        let Some(group) = self.ready.front() else {
            return Ok(if self.at.bytes < until { Next::More } else { Next::Nothing });
        };
        if group.end > until {
            return Ok(Next::Nothing);
        }
        let group = Arc::clone(group);
        Ok(self.of(&group))
    }

    /// All that comes of the next line that says something.
    pub(super) fn next_group(&mut self) -> io::Result<NextGroup> {
        if self.ready.is_empty() && !self.fill()? {
            return Ok(NextGroup::Nothing);
        }
        let Some(group) = self.ready.pop_front() else { return Ok(NextGroup::More) };
        self.at = Mark::at(group.end);
        Ok(NextGroup::Group(group))
    }

    /// What comes of the beginning of a line that has no end, all lines before it having been read.
    pub(super) fn last_group(&self) -> io::Result<Option<Group>> {
        let tape = Arc::clone(&self.tape);
        let mut inner = tape.lock();
        let Some(file) = tape.open(&mut inner)? else { return Ok(None) };
        if tape.is_plain() {
            return Reading::new(None, self.at.bytes).last(&file);
        }
        let last = inner.head.as_ref().map(|head| head.last(&file)).transpose()?.flatten();
        Ok(last.filter(|group| group.start >= self.at.bytes))
    }

    /// The next thing that comes at the end of the turn, all else having been delivered.
    pub(super) fn last(&mut self) -> io::Result<Next> {
        let tape = Arc::clone(&self.tape);
        let mut inner = tape.lock();
        let Some(file) = tape.open(&mut inner)? else { return Ok(Next::Nothing) };
        let Some(group) = inner.head.as_ref().map(|head| head.last(&file)).transpose()?.flatten() else {
            return Ok(Next::Nothing);
        };
        if group.end < self.at.bytes
            || (group.start == self.at.bytes && self.at.part as usize >= group.events.len())
        {
            return Ok(Next::Nothing);
        }
        if self.at.bytes < group.start {
            self.at = Mark::at(group.start);
        }
        let part = self.at.part;
        self.at.part += 1;
        let event = group.events.into_iter().nth(part as usize);
        Ok(event.map_or(Next::Nothing, |event| Next::Did { offset: group.start, behind: self.at, event }))
    }

    fn of(&mut self, group: &Group) -> Next {
        if self.at.bytes < group.start {
            self.at = Mark::at(group.start);
        }
        let Some(event) = group.events.get(self.at.part as usize) else {
            self.ready.pop_front();
            self.at = Mark::at(group.end);
            return Next::More;
        };
        self.at.part += 1;
        if self.at.part as usize == group.events.len() {
            self.ready.pop_front();
            self.at = Mark::at(group.end);
        }
        Next::Did { offset: group.start, behind: self.at, event: event.clone() }
    }

    /// Reads a piece. False if there is nothing to read.
    fn fill(&mut self) -> io::Result<bool> {
        let tape = Arc::clone(&self.tape);
        let mut inner = tape.lock();
        let Some(file) = tape.open(&mut inner)? else { return Ok(false) };
        let at = self.at.bytes;
        // It has caught up with the others, and takes the rest from the window.
        if let Some(own) = self.own.take_if(|own| own.line() >= inner.window_from) {
            self.at = self.at.max(Mark::at(own.line()));
        } else if self.own.is_none() && at < inner.window_from {
            self.own = Some(reading_near(&tape, &inner, &file, at));
        }
        if let Some(own) = &mut self.own {
            // Who is far behind reads without the lock, so that the others at the head do not wait for it.
            drop(inner);
            let ready = &mut self.ready;
            return own.advance(&file, &mut |group| {
                if group.start >= at {
                    ready.push_back(Arc::new(group));
                }
            });
        }
        let at = self.at.bytes;
        if inner.window_from(at, &mut self.ready) {
            return Ok(true);
        }
        // Plain text can be read from any line on.
        if inner.head.as_ref().is_some_and(|head| head.line() < at) && tape.parser.is_none() {
            inner.head = Some(Reading::new(None, at));
            inner.window.clear();
            inner.window_from = at;
        }
        let more = inner.advance(&file)?;
        inner.window_from(at, &mut self.ready);
        inner.trim();
        Ok(more)
    }

    /// Goes to the last few things that come of the first `until` bytes. True: they come next. False: all must be read to
    /// know them.
    pub(super) fn skip_to_last(&mut self, things: usize, until: u64) -> io::Result<bool> {
        let tape = Arc::clone(&self.tape);
        if tape.parser.is_some() {
            return Ok(false);
        }
        let Some(file) = tape.open(&mut tape.lock())? else { return Ok(true) };
        let Some(from) = last_lines(&file, until, things)? else { return Ok(false) };
        *self = Self::new(Arc::clone(&tape), Mark::at(from.max(self.at.bytes)));
        Ok(true)
    }
}

/// A reader of one's own, from the nearest place at which the parser is known.
fn reading_near(tape: &Tape, inner: &Inner, file: &File, at: u64) -> Reading {
    if tape.parser.is_none() {
        return Reading::new(None, at);
    }
    let behind = inner.checkpoints.partition_point(|(place, _)| *place <= at);
    match behind.checked_sub(1).and_then(|last| inner.checkpoints.get(last)) {
        Some((place, parser)) => Reading::new(Some(parser.checkpoint()), *place),
        None => tape.reading_from_start(file),
    }
}
