//! Splits bytes into lines in bounded memory: an overlong line is passed over, not gathered.

use super::Parser;
use crate::event::AgentEvent;

/// No agent writes events this long; what does is not an event for us (it stays in the raw file all the same).
const LONGEST: usize = 8 << 20;

/// How much of the beginning of an overlong line is kept: enough to tell who has to be answered.
const HEAD: usize = 4 << 10;

/// Gathers lines from chunks.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    held: Vec<u8>,
    skipping: bool,
}

/// A line, or as much of it as is kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Whole(&'a [u8]),
    /// The beginning of an overlong one.
    Head(&'a [u8]),
}

impl Lines {
    /// Calls `each` for every line that ends in these bytes.
    pub(super) fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8])) {
        self.feed_all(bytes, |line| match line {
            Line::Whole(line) => each(line),
            Line::Head(_) => {}
        });
    }

    /// The same, with the beginnings of overlong lines.
    pub(super) fn feed_all(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            if self.skipping || self.held.len() + line.len() > LONGEST {
                self.hold_head(line);
                each(Line::Head(&self.held));
            } else if self.held.is_empty() {
                each(Line::Whole(line));
            } else {
                self.held.extend_from_slice(line);
                each(Line::Whole(&self.held));
            }
            self.skipping = false;
            // Not `clear`: one long line would otherwise keep its megabytes for the rest of the turn.
            self.held = Vec::new();
            bytes = rest;
        }
        if self.skipping || self.held.len() + bytes.len() > LONGEST {
            self.hold_head(bytes);
            self.skipping = true;
        } else {
            self.held.extend_from_slice(bytes);
        }
    }

    fn hold_head(&mut self, more: &[u8]) {
        let room = HEAD.saturating_sub(self.held.len());
        self.held.extend_from_slice(&more[..room.min(more.len())]);
        self.held.truncate(HEAD);
        self.held.shrink_to_fit();
    }

    /// The last line may lack its newline.
    pub(super) fn finish(&mut self, mut each: impl FnMut(&[u8])) {
        if !self.held.is_empty() && !self.skipping {
            each(&std::mem::take(&mut self.held));
        }
    }
}

/// What is made of an agent's lines.
pub(super) trait LineReader: Send {
    /// Takes the next line.
    fn line(&mut self, line: &[u8], sink: &mut dyn FnMut(AgentEvent));

    /// The last line has been read.
    fn end(&mut self, sink: &mut dyn FnMut(AgentEvent)) {
        let _ = sink;
    }
}

/// Where each line tells all by itself.
impl<F: FnMut(&[u8], &mut dyn FnMut(AgentEvent)) + Send> LineReader for F {
    fn line(&mut self, line: &[u8], sink: &mut dyn FnMut(AgentEvent)) {
        self(line, sink);
    }
}

/// A parser for an agent that writes line by line.
#[derive(Debug, Clone, Default)]
pub(super) struct ByLine<R> {
    lines: Lines,
    reader: R,
}

impl<R: LineReader> ByLine<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { lines: Lines::default(), reader }
    }
}

impl<R: LineReader + Clone + 'static> Parser for ByLine<R> {
    fn feed(&mut self, bytes: &[u8], sink: &mut dyn FnMut(AgentEvent)) {
        self.lines.feed(bytes, |line| self.reader.line(line, sink));
    }

    fn finish(&mut self, sink: &mut dyn FnMut(AgentEvent)) {
        self.lines.finish(|line| self.reader.line(line, sink));
        self.reader.end(sink);
    }

    fn checkpoint(&self) -> Box<dyn Parser> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_are_the_same_however_they_are_cut(bytes in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200), size in 1_usize..20) {
            let mut seen = Vec::new();
            let mut lines = Lines::default();
            for chunk in bytes.chunks(size) {
                lines.feed(chunk, |line| seen.push(line.to_vec()));
            }
            lines.finish(|line| seen.push(line.to_vec()));
            let mut expected: Vec<Vec<u8>> = bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
            if expected.last().is_some_and(Vec::is_empty) {
                expected.pop();
            }
            prop_assert_eq!(seen, expected);
        }
    }

    #[test]
    fn r3_an_overlong_line_is_passed_over_in_bounded_memory() {
        let mut seen = Vec::new();
        let mut lines = Lines::default();
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..40 {
            lines.feed(&chunk, |_| panic!("no line has ended"));
            assert!(lines.held.capacity() <= LONGEST);
        }
        lines.feed(b"\nnext\n", |line| seen.push(line.to_vec()));
        assert_eq!(seen, [b"next".to_vec()]);
    }

    #[test]
    fn the_beginning_of_an_overlong_line_is_the_same_however_it_is_cut() {
        let mut long = b"{\"id\":7,".to_vec();
        long.resize(LONGEST + 1, b'x');
        long.extend_from_slice(b"\nnext\n");
        for size in [10_000, 1 << 20, LONGEST, long.len()] {
            let (mut lines, mut heads, mut wholes) = (Lines::default(), Vec::new(), 0);
            for chunk in long.chunks(size) {
                lines.feed_all(chunk, |line| match line {
                    Line::Head(head) => heads.push(head.to_vec()),
                    Line::Whole(line) => wholes += usize::from(line == b"next"),
                });
            }
            assert_eq!((heads, wholes), (vec![long[..HEAD].to_vec()], 1), "chunks of {size}");
        }
    }
}
