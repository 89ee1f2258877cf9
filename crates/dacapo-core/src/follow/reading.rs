//! Bytes of a turn's output, line by line, into what the agent did.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use crate::agent::{Parser, unfinished};
use crate::event::AgentEvent;

/// What is read at once. A line of plain text that is longer comes in pieces of this size, counted from its beginning: the
/// same whenever it is read.
const CHUNK: usize = if cfg!(test) { 97 } else { 64 << 10 };

/// What comes of one line, or of a piece of a very long one.
#[derive(Debug, PartialEq)]
pub struct Group {
    /// Offset of its first byte.
    pub start: u64,
    /// Offset after its last byte.
    pub end: u64,
    /// Never empty.
    pub events: Vec<AgentEvent>,
}

/// Reads a file on from some place.
pub(super) struct Reading {
    /// None for plain text, of which each line tells all by itself.
    parser: Option<Box<dyn Parser>>,
    /// Where the line begins that has not come to its end yet.
    line: u64,
    /// How much has been read; the beginning of a line waits in the parser.
    read: u64,
    /// Events of the line that has not come to its end yet.
    early: Vec<AgentEvent>,
    /// At the end of the first line behind this the parser is kept as it stands there.
    keep_behind: Option<u64>,
    kept: Option<(u64, Box<dyn Parser>)>,
}

impl Reading {
    /// From a place at which a line begins, with the parser as it was there.
    pub(super) fn new(parser: Option<Box<dyn Parser>>, at: u64) -> Self {
        Self { parser, line: at, read: at, early: Vec::new(), keep_behind: None, kept: None }
    }

    /// All lines before this have been read.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Nothing was read yet.
    pub(super) fn is_fresh(&self) -> bool {
        self.read == 0
    }

    /// The parser is to be kept as it stands at the end of the first line behind `place`. A piece that is read hardly ever ends
    /// where a line does, so it is for the reader to see the place.
    pub(super) fn keep_behind(&mut self, place: u64) {
        self.keep_behind = Some(place);
    }

    /// The checkpoint that was kept, and its offset.
    pub(super) fn take_kept(&mut self) -> Option<(u64, Box<dyn Parser>)> {
        self.kept.take()
    }

    /// Takes the next bytes in. False: there are none that say anything yet.
    pub(super) fn advance(&mut self, file: &File, each: &mut dyn FnMut(Group)) -> io::Result<bool> {
        let Self { parser: Some(parser), line, read, early, keep_behind, kept } = self else {
            return self.advance_text(file, each);
        };
        if parser.is_over() {
            return Ok(false);
        }
        let bytes = read_at(file, *read)?;
        let mut rest = bytes.as_slice();
        while let Some(end) = memchr::memchr(b'\n', rest) {
            parser.feed(&rest[..=end], &mut |event| early.push(event));
            *read += end as u64 + 1;
            if !early.is_empty() {
                each(Group { start: *line, end: *read, events: std::mem::take(early) });
            }
            *line = *read;
            rest = &rest[end + 1..];
            if keep_behind.take_if(|place| *place <= *line).is_some() {
                *kept = Some((*line, parser.checkpoint()));
            }
            // A process that lives on prints more, but not of this turn.
            if parser.is_over() {
                return Ok(true);
            }
        }
        parser.feed(rest, &mut |event| early.push(event));
        *read += rest.len() as u64;
        Ok(!bytes.is_empty())
    }

    fn advance_text(&mut self, file: &File, each: &mut dyn FnMut(Group)) -> io::Result<bool> {
        let bytes = read_at(file, self.line)?;
        let mut rest = bytes.as_slice();
        while let Some(end) = memchr::memchr(b'\n', rest) {
            each(self.said(&rest[..=end]));
            rest = &rest[end + 1..];
        }
        // A line that is longer than a chunk is cut at a multiple of it, minus a character that is not complete. So
        // the pieces are the same for everybody, whenever they read.
        if rest.len() == CHUNK {
            let whole = &rest[..rest.len() - unfinished(rest)];
            each(self.said(whole));
            rest = &rest[whole.len()..];
        }
        Ok(rest.len() < bytes.len())
    }

    fn said(&mut self, bytes: &[u8]) -> Group {
        let start = self.line;
        self.line += bytes.len() as u64;
        self.read = self.line;
        let text = String::from_utf8_lossy(bytes).into_owned();
        Group { start, end: self.line, events: vec![AgentEvent::Text { text }] }
    }

    /// What comes at the end of the turn, all lines before having been read. It can be asked again.
    pub(super) fn last(&self, file: &File) -> io::Result<Option<Group>> {
        let (mut events, mut end) = (Vec::new(), self.read);
        if let Some(parser) = &self.parser {
            // On a copy: the turn may not be over after all, and the next bytes go to the parser as it is.
            let mut parser = parser.checkpoint();
            events.extend(self.early.iter().cloned());
            parser.finish(&mut |event| events.push(event));
        } else {
            let bytes = read_at(file, self.line)?;
            end = self.line + bytes.len() as u64;
            if !bytes.is_empty() {
                events.push(AgentEvent::Text { text: String::from_utf8_lossy(&bytes).into_owned() });
            }
        }
        Ok((!events.is_empty()).then_some(Group { start: self.line, end, events }))
    }
}

/// The next bytes from `at` on, as many as are read at once.
fn read_at(file: &File, at: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; CHUNK];
    let mut filled = 0;
    // Short reads must not decide where a line is cut.
    while filled < CHUNK {
        match file.read_at(&mut bytes[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Where the last `lines` whole lines of plain text begin: from there on they are read as from the start. None
/// where a line is so long that its pieces are only known from its beginning.
pub(super) fn last_lines(file: &File, length: u64, lines: usize) -> io::Result<Option<u64>> {
    let (mut at, mut left) = (length, lines);
    let mut line_end = length;
    while at > 0 {
        let size = (CHUNK as u64).min(at);
        at -= size;
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(CHUNK)];
        file.read_exact_at(&mut bytes, at)?;
        for place in memchr::memrchr_iter(b'\n', &bytes) {
            let behind = at + place as u64 + 1;
            if left == 0 {
                return Ok(Some(behind));
            }
            left -= 1;
            line_end = behind;
        }
        if line_end - at > 4 * CHUNK as u64 {
            return Ok(None);
        }
    }
    Ok(Some(0))
}

/// The place nearest before `at` at which a line of plain text begins.
pub(super) fn line_start(file: &File, at: u64) -> io::Result<u64> {
    let mut end = at;
    while end > 0 {
        let size = (CHUNK as u64).min(end);
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(CHUNK)];
        file.read_exact_at(&mut bytes, end - size)?;
        if let Some(place) = memchr::memrchr(b'\n', &bytes) {
            return Ok(end - size + place as u64 + 1);
        }
        end -= size;
    }
    Ok(0)
}

/// The place nearest behind `at` at which a line begins; none where the last line of the file is too long to look for it.
pub(super) fn next_line_start(file: &File, at: u64) -> io::Result<Option<u64>> {
    if at == 0 {
        return Ok(Some(0));
    }
    // One byte earlier: if that is the newline, a line begins exactly at `at`.
    let mut from = at - 1;
    loop {
        let bytes = read_at(file, from)?;
        if let Some(place) = memchr::memchr(b'\n', &bytes) {
            return Ok(Some(from + place as u64 + 1));
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        from += bytes.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn the_last_whole_lines_are_found_from_the_end() {
        let long = format!("{}\nlast\n", "x".repeat(2 * CHUNK));
        for (text, lines, from) in [
            ("a\nb\nc\n", 2, 2),
            ("a\nb\nc", 1, 2),
            ("a\nb\nc", 0, 4),
            ("a\nb\n", 0, 4),
            ("a\nb\n", 9, 0),
            ("", 3, 0),
            (long.as_str(), 1, 2 * CHUNK as u64 + 1),
            (long.as_str(), 2, 0),
        ] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            assert_eq!(
                last_lines(&file, text.len() as u64, lines).unwrap(),
                Some(from),
                "{lines} of {text:.20}"
            );
        }
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[b'x'; 8 * CHUNK]).unwrap();
        assert_eq!(last_lines(&file, 8 * CHUNK as u64, 1).unwrap(), None);
    }
}
