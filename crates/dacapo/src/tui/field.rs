//! Text that is typed: a line or several, with a caret where the real cursor is.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::key::Key;
use super::screen::Context;
use super::text;
use super::theme::Role;

/// Whether Enter and pasted line breaks are part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    One,
    Many,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Next,
    Previous,
}

impl Way {
    /// The neighbour of a place among so many, as if the last stood before the first.
    pub(crate) fn around(self, at: usize, many: usize) -> usize {
        let many = many.max(1);
        match self {
            Self::Next => (at + 1) % many,
            Self::Previous => (at + many - 1) % many,
        }
    }
}

/// A text with a caret.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    text: String,
    /// A byte offset between two characters.
    caret: usize,
    lines: Lines,
    /// The column that moves up and down keep to.
    column: Option<usize>,
}

/// A part of the text that is one line on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    start: usize,
    end: usize,
}

impl Field {
    pub(crate) fn new(lines: Lines) -> Self {
        Self { text: String::new(), caret: 0, lines, column: None }
    }

    /// Filled, the caret at its end.
    pub(crate) fn with(lines: Lines, text: &str) -> Self {
        let mut field = Self::new(lines);
        field.insert(text);
        field
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text before the caret.
    pub(crate) fn before(&self) -> &str {
        &self.text[..self.caret]
    }

    pub(crate) fn set(&mut self, text: &str) {
        self.text.clear();
        self.caret = 0;
        self.insert(text);
    }

    /// Takes the last bytes before the caret away and puts this there.
    pub(crate) fn replace_before(&mut self, bytes: usize, with: &str) {
        let from = self.caret.saturating_sub(bytes);
        self.text.replace_range(from..self.caret, with);
        self.caret = from + with.len();
    }

    /// Puts text at the caret, without anything that could drive the terminal.
    pub(crate) fn insert(&mut self, text: &str) {
        let normal = text.replace("\r\n", "\n").replace('\r', "\n");
        let lines: Vec<String> = normal.split('\n').map(text::clean).collect();
        let text = lines.join(if self.lines == Lines::Many { "\n" } else { " " });
        self.text.insert_str(self.caret, &text);
        self.caret += text.len();
        self.column = None;
    }

    /// Edits the text; false where the key is none for that. `columns`: how wide it is shown.
    pub(crate) fn key(&mut self, key: Key, columns: usize) -> bool {
        let column = self.column.take();
        match key {
            Key::Char(c) => self.insert(c.encode_utf8(&mut [0; 4])),
            Key::NewLine if self.lines == Lines::Many => self.insert("\n"),
            Key::Backspace | Key::Ctrl('h') => self.delete(self.left()..self.caret),
            Key::Delete | Key::Ctrl('d') => self.delete(self.caret..self.right()),
            Key::DeleteWord | Key::Ctrl('w') => self.delete(self.word_left()..self.caret),
            Key::Ctrl('u') => self.delete(self.line_start()..self.caret),
            Key::Ctrl('k') => self.delete(self.caret..self.line_end()),
            Key::Left | Key::Ctrl('b') => self.caret = self.left(),
            Key::Right => self.caret = self.right(),
            Key::WordLeft | Key::Alt('b') => self.caret = self.word_left(),
            Key::WordRight | Key::Alt('f') => self.caret = self.word_right(),
            Key::Home | Key::Ctrl('a') => self.caret = self.line_start(),
            Key::End | Key::Ctrl('e') => self.caret = self.line_end(),
            Key::Up | Key::Down if self.lines == Lines::Many => return self.vertically(key, column, columns),
            _ => return false,
        }
        true
    }

    fn delete(&mut self, range: std::ops::Range<usize>) {
        self.caret = range.start;
        self.text.replace_range(range, "");
    }

    fn left(&self) -> usize {
        self.before().grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn right(&self) -> usize {
        self.caret + self.text[self.caret..].graphemes(true).next().map_or(0, str::len)
    }

    fn word_left(&self) -> usize {
        let before = self.before().trim_end();
        before
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8))
    }

    fn word_right(&self) -> usize {
        let after = &self.text[self.caret..];
        let word = after.len() - after.trim_start().len();
        after[word..].find(char::is_whitespace).map_or(self.text.len(), |end| self.caret + word + end)
    }

    fn line_start(&self) -> usize {
        self.before().rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.caret..].find('\n').map_or(self.text.len(), |at| self.caret + at)
    }

    /// Up or down by a line of the screen; false at the first and the last.
    fn vertically(&mut self, key: Key, column: Option<usize>, columns: usize) -> bool {
        let rows = self.rows(columns);
        let (row, at) = self.place(&rows);
        let wanted = column.unwrap_or(at);
        let other = if key == Key::Up { row.checked_sub(1) } else { Some(row + 1) };
        let Some(Row { start, end }) = other.and_then(|row| rows.get(row)).copied() else { return false };
        let mut width = 0;
        self.caret = end;
        for (offset, grapheme) in self.text[start..end].grapheme_indices(true) {
            if width >= wanted {
                self.caret = start + offset;
                break;
            }
            width += grapheme.width();
        }
        self.column = Some(wanted);
        true
    }

    /// The text in lines of the screen.
    fn rows(&self, columns: usize) -> Vec<Row> {
        let columns = columns.max(2);
        let mut rows = Vec::new();
        let mut start = 0;
        for line in self.text.split('\n') {
            let (mut from, mut width) = (start, 0);
            for (offset, grapheme) in line.grapheme_indices(true) {
                if width + grapheme.width() > columns {
                    rows.push(Row { start: from, end: start + offset });
                    (from, width) = (start + offset, 0);
                }
                width += grapheme.width();
            }
            rows.push(Row { start: from, end: start + line.len() });
            start += line.len() + 1;
        }
        rows
    }

    /// The row and the column of the caret.
    fn place(&self, rows: &[Row]) -> (usize, usize) {
        let row = rows.iter().rposition(|row| row.start <= self.caret).unwrap_or(0);
        let start = rows.get(row).map_or(0, |row| row.start);
        (row, self.text[start..self.caret].width())
    }

    /// How many lines of the screen it takes.
    pub(crate) fn height(&self, columns: usize) -> usize {
        self.rows(columns).len()
    }

    /// Draws it, with the cursor at the caret; what has no room is scrolled away.
    pub(crate) fn draw(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        self.draw_still(frame, area, context);
        if area.is_empty() {
            return;
        }
        let (x, y) = match self.lines {
            Lines::One => (text::width(self.before()).saturating_sub(self.scrolled(area.width)), 0),
            Lines::Many => {
                let rows = self.rows(area.width.into());
                let (row, column) = self.place(&rows);
                (column, row.saturating_sub(self.first_row(&rows, area.height)))
            }
        };
        let column = area.x + u16::try_from(x).unwrap_or(0).min(area.width - 1);
        frame.set_cursor_position((column, area.y + u16::try_from(y).unwrap_or(0).min(area.height - 1)));
    }

    /// The same without a cursor: somebody else has the keys.
    pub(crate) fn draw_still(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        let style = context.style(Role::Plain);
        match self.lines {
            Lines::One => {
                let mut left = self.scrolled(area.width);
                let shown = self.text.graphemes(true).skip_while(|grapheme| {
                    let skip = left > 0;
                    left = left.saturating_sub(grapheme.width());
                    skip
                });
                frame.render_widget(Span::styled(shown.collect::<String>(), style), area);
            }
            Lines::Many => {
                let rows = self.rows(area.width.into());
                let first = self.first_row(&rows, area.height);
                for (nth, row) in rows.iter().skip(first).take(area.height.into()).enumerate() {
                    let at = Rect { y: area.y + u16::try_from(nth).unwrap_or(0), height: 1, ..area };
                    let line = Line::from(Span::styled(self.text[row.start..row.end].to_owned(), style));
                    frame.render_widget(line, at);
                }
            }
        }
    }

    /// Columns of a single line that are left of what is shown.
    fn scrolled(&self, width: u16) -> usize {
        (text::width(self.before()) + 1).saturating_sub(width.into())
    }

    fn first_row(&self, rows: &[Row], height: u16) -> usize {
        (self.place(rows).0 + 1).saturating_sub(height.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(lines: Lines, text: &str, keys: &[Key]) -> (String, usize) {
        let mut field = Field::with(lines, text);
        for key in keys {
            field.key(*key, 10);
        }
        (field.text, field.caret)
    }

    #[test]
    fn text_is_edited_by_characters_and_words() {
        use Key::{Backspace, Char, Ctrl, Delete, DeleteWord, Home, Left, WordLeft};
        let one = |keys: &[Key]| typed(Lines::One, "fix the tests", keys);
        assert_eq!(one(&[Char('!')]), ("fix the tests!".into(), 14));
        assert_eq!(one(&[DeleteWord]), ("fix the ".into(), 8));
        assert_eq!(one(&[WordLeft, WordLeft, Char('a')]), ("fix athe tests".into(), 5));
        assert_eq!(one(&[Home, Delete]), ("ix the tests".into(), 0));
        assert_eq!(one(&[Ctrl('u')]), (String::new(), 0));
        assert_eq!(one(&[Left, Ctrl('k')]), ("fix the test".into(), 12));
        assert_eq!(
            typed(Lines::One, "e\u{301}", &[Backspace]),
            (String::new(), 0),
            "one character to a person"
        );
    }

    #[test]
    fn what_is_pasted_stays_text() {
        assert_eq!(typed(Lines::One, "a\r\nb\u{1b}[31mc", &[]).0, "a bc");
        assert_eq!(typed(Lines::Many, "a\r\nb\tc", &[]).0, "a\nb       c");
    }

    #[test]
    fn up_and_down_go_by_lines_of_the_screen() {
        let text = "0123456789abc\nxy";
        let mut field = Field::with(Lines::Many, text);
        assert_eq!(field.place(&field.rows(10)), (2, 2));
        assert!(field.key(Key::Up, 10));
        assert_eq!(field.caret, 12);
        assert!(field.key(Key::Up, 10));
        assert_eq!(field.caret, 2);
        assert!(!field.key(Key::Up, 10), "there is nothing above");
        assert_eq!(field.height(10), 3);
        let wide = Field::with(Lines::Many, "任务完成了");
        assert_eq!(wide.rows(5).len(), 3);
    }
}
