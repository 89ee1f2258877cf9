//! Reading one turn forward from some place, as entries.

use std::io;

use dacapo_core::follow::{PageReader, Pages, Read};

use super::entry::{Anchor, Entry, Footing, Manner, Weaver};

/// One turn of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) turn: u32,
    /// What stands above it, where there are several.
    pub(crate) heading: Option<String>,
    /// Nothing comes of it any more.
    pub(crate) over: bool,
}

/// Where in a turn reading begins.
#[derive(Debug, Clone, Copy)]
pub(super) enum From<'a> {
    Start,
    /// A place from which it reads as from the start; but a message may have begun before it.
    Place(u64),
    After(&'a Entry),
    /// The line of output in which an entry begins, of which nothing but the place is known; entries up to it are left out.
    Behind(Anchor),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spanned {
    More,
    /// All that is wanted, or all that is on file.
    End,
}

/// A reader of one turn.
#[derive(Debug)]
pub(super) struct Span {
    /// Index of the source.
    pub(super) source: usize,
    reader: PageReader,
    weaver: Weaver,
    /// Entries from here on are not wanted.
    stop: Option<Anchor>,
    /// The last line was taken, though it has no end: the turn is over.
    pub(super) finished: bool,
}

impl Span {
    pub(super) fn new(source: usize, turn: u32, pages: &Pages, from: From<'_>, manner: Manner) -> Self {
        let (at, weaver) = match from {
            From::Start | From::Place(0) => (0, Weaver::new(turn, manner, Footing::Sure)),
            From::Place(place) => (place, Weaver::new(turn, manner, Footing::Unsure)),
            From::After(entry) => (entry.at.offset, Weaver::after(entry, manner)),
            From::Behind(anchor) => (anchor.offset, Weaver::behind(anchor, manner)),
        };
        Self { source, reader: pages.reader(at), weaver, stop: None, finished: false }
    }

    /// Entries from `stop` on are not wanted.
    pub(super) fn until(mut self, stop: Anchor) -> Self {
        self.stop = Some(stop);
        self
    }

    /// How far it has come, in bytes.
    pub(super) fn at(&self) -> u64 {
        self.reader.at()
    }

    /// The line that has no end yet.
    pub(super) fn begun(&self) -> Option<Entry> {
        self.weaver.begun()
    }

    /// Reads a little on.
    pub(super) fn step(&mut self, out: &mut Vec<Entry>) -> io::Result<Spanned> {
        let before = out.len();
        match self.reader.next()? {
            Read::Group(group) => self.weaver.feed(&group, out),
            Read::More => return Ok(Spanned::More),
            Read::Nothing => return Ok(Spanned::End),
        }
        let Some(stop) = self.stop else { return Ok(Spanned::More) };
        match out[before..].iter().position(|entry| entry.at >= stop) {
            Some(wanted) => {
                out.truncate(before + wanted);
                Ok(Spanned::End)
            }
            None => Ok(Spanned::More),
        }
    }

    /// The turn is over and all of it was read: its last line may have no end.
    pub(super) fn finish(&mut self, out: &mut Vec<Entry>) -> io::Result<()> {
        if !std::mem::replace(&mut self.finished, true) {
            if let Some(group) = self.reader.last()? {
                self.weaver.feed(&group, out);
            }
            self.weaver.finish(out);
        }
        Ok(())
    }
}
