//! A line that is edited in place, beginning with a text that is there already.

use unicode_width::UnicodeWidthChar as _;

/// A line and where the cursor is in it.
#[derive(Debug, Default)]
pub struct Line {
    text: Vec<char>,
    /// Index of the character that the cursor is on.
    cursor: usize,
    /// The beginning of a character of which the rest was not read yet.
    pending: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited {
    /// The line is as it is shown.
    GoOn,
    /// Enter was pressed.
    Done,
    /// Esc, Ctrl-C, or Ctrl-D: as if nothing had been edited.
    Cancelled,
}

impl Line {
    /// The cursor is at its end.
    pub fn new(text: &str) -> Self {
        let text: Vec<char> = text.chars().filter(|c| !c.is_control()).collect();
        Self { cursor: text.len(), text, pending: Vec::new() }
    }

    pub fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// Takes what came from the terminal.
    pub fn take(&mut self, bytes: &[u8]) -> Edited {
        match bytes {
            [] | [0x1b | 0x03 | 0x04] => return Edited::Cancelled,
            [0x1b, b'[' | b'O', rest @ ..] => {
                self.go(rest);
                return Edited::GoOn;
            }
            [0x1b, ..] => return Edited::GoOn,
            _ => self.pending.extend_from_slice(bytes),
        }
        let typed = std::mem::take(&mut self.pending);
        for chunk in typed.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '\r' | '\n' => return Edited::Done,
                    '\u{3}' => return Edited::Cancelled,
                    other => self.key(other),
                }
            }
            // Only the last one can be a beginning; anything else is none of ours.
            if typed.ends_with(chunk.invalid()) && chunk.invalid().len() < 4 {
                self.pending = chunk.invalid().to_vec();
            }
        }
        Edited::GoOn
    }

    fn key(&mut self, key: char) {
        match key {
            '\u{7f}' | '\u{8}' => self.remove_from(self.cursor.saturating_sub(1)),
            // Ctrl-U, Ctrl-W, Ctrl-K, Ctrl-A, Ctrl-E
            '\u{15}' => self.remove_from(0),
            '\u{17}' => {
                let before = &self.text[..self.cursor];
                let word = before.iter().rposition(|c| !c.is_whitespace());
                let gap = word.and_then(|end| before[..end].iter().rposition(|c| c.is_whitespace()));
                self.remove_from(gap.map_or(0, |at| at + 1));
            }
            '\u{b}' => self.text.truncate(self.cursor),
            '\u{1}' => self.cursor = 0,
            '\u{5}' => self.cursor = self.text.len(),
            c if c.is_control() => {}
            c => {
                self.text.insert(self.cursor, c);
                self.cursor += 1;
            }
        }
    }

    fn remove_from(&mut self, from: usize) {
        self.text.drain(from..self.cursor);
        self.cursor = from;
    }

    /// Arrows, Home, End, Delete.
    fn go(&mut self, sequence: &[u8]) {
        match sequence {
            b"D" => self.cursor = self.cursor.saturating_sub(1),
            b"C" => self.cursor = (self.cursor + 1).min(self.text.len()),
            b"H" | b"1~" => self.cursor = 0,
            b"F" | b"4~" => self.cursor = self.text.len(),
            b"3~" if self.cursor < self.text.len() => drop(self.text.remove(self.cursor)),
            _ => {}
        }
    }

    /// The part around the cursor that fits into so many columns, and in which column of it the cursor is.
    pub fn shown(&self, columns: usize) -> (String, usize) {
        let width = |c: &char| c.width().unwrap_or(0);
        let mut first = self.cursor;
        let mut used = 0;
        while first > 0 && used + width(&self.text[first - 1]) < columns {
            first -= 1;
            used += width(&self.text[first]);
        }
        let column = used;
        let mut last = self.cursor;
        while last < self.text.len() && used + width(&self.text[last]) <= columns {
            used += width(&self.text[last]);
            last += 1;
        }
        (self.text[first..last].iter().collect(), column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(begin: &str, keys: &[&[u8]]) -> (String, Edited) {
        let mut line = Line::new(begin);
        let last = keys.iter().map(|key| line.take(key)).last().unwrap();
        (line.text(), last)
    }

    #[test]
    fn l3_a_line_begins_with_what_is_there_and_is_edited_as_in_a_shell() {
        for (keys, text) in [
            (&[b"\r".as_slice()][..], "cargo test"),
            (&[b" -q", b"\r"], "cargo test -q"),
            (&[b"\x7f\x7f\x7f\x7f", b"check\r"], "cargo check"),
            (&[b"\x17", b"check", b"\n"], "cargo check"),
            (&[b"\x15make ci\r"], "make ci"),
            (&[b"\x1b[D", b"\x1b[D", b"x", b"\r"], "cargo texst"),
            (&[b"\x1b[H", b"\x1b[3~", b"\x1bOF", b"s", b"\r"], "argo tests"),
            (&[b"\x01\x0b", "測試".as_bytes(), b"\r"], "測試"),
            (&[&"測".as_bytes()[..2], &"測".as_bytes()[2..], b"\r"], "cargo test測"),
            (&[b"\x1b[A", b"\x1bx", b"\x02", b"\xff", b"\r"], "cargo test"),
        ] {
            assert_eq!(edited("cargo test", keys), (text.to_owned(), Edited::Done), "{keys:?}");
        }
        for key in [b"\x1b".as_slice(), b"\x03", b"\x04", b""] {
            assert_eq!(edited("cargo test", &[b"x", key]).1, Edited::Cancelled, "{key:?}");
        }
    }

    #[test]
    fn a_long_line_shows_the_part_around_its_cursor() {
        let mut line = Line::new("cargo test");
        assert_eq!(line.shown(80), ("cargo test".to_owned(), 10));
        assert_eq!(line.shown(5), ("test".to_owned(), 4));
        line.take(b"\x01");
        assert_eq!(line.shown(5), ("cargo".to_owned(), 0));
        assert_eq!(Line::new("測試").shown(4), ("試".to_owned(), 2));
    }
}
