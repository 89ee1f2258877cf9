//! A tiny terminal: what the screen shows after a program wrote to it, redraws included.
//!
//! Lines that scroll off the top are kept, so that a long output is pictured whole; cursor movement reaches only
//! the last `rows` lines, as in a real terminal.

use unicode_width::UnicodeWidthChar as _;

use super::Size;

/// A colour as the program asked for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Colour {
    #[default]
    Default,
    /// One of 16, or of the 256 of the extended palette.
    Indexed(u8),
    Rgb(u8, u8, u8),
}

/// How a character looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) fg: Colour,
    pub(super) bg: Colour,
    pub(super) bold: bool,
    pub(super) dim: bool,
    pub(super) italic: bool,
    pub(super) underline: bool,
    pub(super) inverse: bool,
}

/// One column of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// A character with the marks that combine with it; empty in the right half of a wide one.
    pub(super) text: String,
    pub(super) style: Style,
}

impl Cell {
    fn blank(style: Style) -> Self {
        // What is erased keeps the background, no more.
        Self { text: " ".to_owned(), style: Style { bg: style.bg, ..Style::default() } }
    }
}

/// The screen and where the cursor is.
pub(super) struct Screen {
    size: Size,
    lines: Vec<Vec<Cell>>,
    row: usize,
    col: usize,
    saved: (usize, usize),
    style: Style,
    parsing: Parsing,
}

enum Parsing {
    Text,
    Escape,
    /// `ESC [ …`, parameters so far.
    Control(String),
    /// `ESC ] …` and its like: ended by BEL or `ESC \`.
    Command {
        escaped: bool,
    },
    /// `ESC ( B` and its like: one more character.
    Charset,
}

impl Screen {
    pub(super) fn new(size: Size) -> Self {
        let lines = vec![Vec::new()];
        Self { size, lines, row: 0, col: 0, saved: (0, 0), style: Style::default(), parsing: Parsing::Text }
    }

    /// Takes what a program wrote, from first byte to last.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for c in String::from_utf8_lossy(bytes).chars() {
            self.take(c);
        }
    }

    /// The lines without the empty ones at the end.
    pub(super) fn lines(&self) -> Vec<Vec<Cell>> {
        let blank = |cell: &Cell| cell.text == " " && cell.style.bg == Colour::Default && !cell.style.inverse;
        let mut lines = self.lines.clone();
        for line in &mut lines {
            while line.last().is_some_and(blank) {
                line.pop();
            }
        }
        while lines.last().is_some_and(Vec::is_empty) {
            lines.pop();
        }
        lines
    }

    fn take(&mut self, c: char) {
        match std::mem::replace(&mut self.parsing, Parsing::Text) {
            Parsing::Text => self.text(c),
            Parsing::Charset => {}
            Parsing::Escape => match c {
                '[' => self.parsing = Parsing::Control(String::new()),
                ']' | 'P' | '_' | '^' | 'X' => self.parsing = Parsing::Command { escaped: false },
                '(' | ')' | '#' | '%' => self.parsing = Parsing::Charset,
                '7' => self.saved = (self.row, self.col),
                '8' => (self.row, self.col) = self.saved,
                'M' => self.row = self.row.saturating_sub(1).max(self.top()),
                _ => {}
            },
            Parsing::Control(mut parameters) => match c {
                '\x40'..='\x7e' => self.control(&parameters, c),
                _ => {
                    parameters.push(c);
                    self.parsing = Parsing::Control(parameters);
                }
            },
            Parsing::Command { escaped } => {
                if c != '\x07' && !(escaped && c == '\\') {
                    self.parsing = Parsing::Command { escaped: c == '\x1b' };
                }
            }
        }
    }

    fn text(&mut self, c: char) {
        match c {
            '\x1b' => self.parsing = Parsing::Escape,
            '\r' => self.col = 0,
            '\n' => self.down_one(),
            '\x08' => self.col = self.col.min(self.size.cols - 1).saturating_sub(1),
            '\t' => self.col = ((self.col / 8 + 1) * 8).min(self.size.cols - 1),
            c if c.is_control() => {}
            c => self.put(c),
        }
    }

    fn put(&mut self, c: char) {
        let width = c.width().unwrap_or(0);
        if width == 0 {
            let before = self.col.checked_sub(1);
            if let Some(cell) = before.and_then(|col| self.lines[self.row].get_mut(col)) {
                cell.text.push(c);
            }
            return;
        }
        // The cursor may rest behind the last column: only the next character wraps.
        if self.col + width > self.size.cols {
            self.col = 0;
            self.down_one();
        }
        self.clear_wide(self.col);
        self.clear_wide(self.col + width);
        *self.cell(self.row, self.col) = Cell { text: c.to_string(), style: self.style };
        if width == 2 {
            *self.cell(self.row, self.col + 1) = Cell { text: String::new(), style: self.style };
        }
        self.col += width;
    }

    /// A wide character of which one half is about to go loses the other too.
    fn clear_wide(&mut self, col: usize) {
        let line = &mut self.lines[self.row];
        if col > 0 && line.get(col).is_some_and(|cell| cell.text.is_empty()) {
            line[col - 1].text = " ".to_owned();
            line[col].text = " ".to_owned();
        }
    }

    fn cell(&mut self, row: usize, col: usize) -> &mut Cell {
        let line = &mut self.lines[row];
        if line.len() <= col {
            line.resize(col + 1, Cell::blank(Style::default()));
        }
        &mut line[col]
    }

    fn down_one(&mut self) {
        self.row += 1;
        self.fill_rows();
    }

    fn fill_rows(&mut self) {
        if self.lines.len() <= self.row {
            self.lines.resize(self.row + 1, Vec::new());
        }
    }

    /// The first line that the cursor can still reach.
    fn top(&self) -> usize {
        self.lines.len().saturating_sub(self.size.rows)
    }

    fn go(&mut self, row: usize, col: usize) {
        let bottom = self.top() + self.size.rows - 1;
        self.row = row.clamp(self.top(), bottom);
        self.col = col.min(self.size.cols - 1);
        self.fill_rows();
    }

    fn control(&mut self, parameters: &str, end: char) {
        // `?25l` and its like switch modes of the terminal; none of them shows in a picture.
        if parameters.starts_with(['?', '>', '<', '=']) {
            return;
        }
        let numbers: Vec<usize> = parameters.split([';', ':']).map(|p| p.parse().unwrap_or(0)).collect();
        let first = numbers.first().copied().unwrap_or(0);
        let count = first.max(1);
        let (row, col) = (self.row, self.col);
        match end {
            'A' => self.go(row.saturating_sub(count), col),
            'B' => self.go(row + count, col),
            'C' => self.go(row, col + count),
            'D' => self.go(row, col.saturating_sub(count)),
            'E' => self.go(row + count, 0),
            'F' => self.go(row.saturating_sub(count), 0),
            'G' | '`' => self.go(row, count - 1),
            'd' => self.go(self.top() + count - 1, col),
            'H' | 'f' => {
                let column = numbers.get(1).copied().unwrap_or(0).max(1);
                self.go(self.top() + count - 1, column - 1);
            }
            'J' => self.erase_screen(first),
            'K' => self.erase_line(first),
            'X' => self.blank(col, col + count),
            'P' => {
                let line = &mut self.lines[row];
                let from = col.min(line.len());
                line.drain(from..(col + count).min(line.len()).max(from));
            }
            's' => self.saved = (row, col),
            'u' => (self.row, self.col) = self.saved,
            'm' => self.select(&numbers),
            _ => {}
        }
    }

    fn erase_line(&mut self, which: usize) {
        match which {
            0 => self.blank(self.col, self.size.cols),
            1 => self.blank(0, self.col + 1),
            _ => self.blank(0, self.size.cols),
        }
    }

    fn erase_screen(&mut self, which: usize) {
        self.erase_line(which);
        let rows = match which {
            0 => self.row + 1..self.lines.len(),
            1 => self.top()..self.row,
            _ => self.top()..self.lines.len(),
        };
        for line in &mut self.lines[rows] {
            line.clear();
        }
    }

    fn blank(&mut self, from: usize, to: usize) {
        let to = to.min(self.size.cols);
        if from >= to {
            return;
        }
        self.cell(self.row, to - 1);
        self.clear_wide(from);
        self.clear_wide(to);
        let blank = Cell::blank(self.style);
        self.lines[self.row][from..to].fill(blank);
    }

    /// Select graphic rendition: `ESC [ 1;31 m`.
    fn select(&mut self, numbers: &[usize]) {
        let mut rest = numbers.iter().copied();
        while let Some(number) = rest.next() {
            let style = &mut self.style;
            match number {
                0 => *style = Style::default(),
                1 => style.bold = true,
                2 => style.dim = true,
                3 => style.italic = true,
                4 => style.underline = true,
                7 => style.inverse = true,
                22 => (style.bold, style.dim) = (false, false),
                23 => style.italic = false,
                24 => style.underline = false,
                27 => style.inverse = false,
                30..=37 => style.fg = Colour::Indexed(small(number - 30)),
                38 => style.fg = extended(&mut rest).unwrap_or(style.fg),
                39 => style.fg = Colour::Default,
                40..=47 => style.bg = Colour::Indexed(small(number - 40)),
                48 => style.bg = extended(&mut rest).unwrap_or(style.bg),
                49 => style.bg = Colour::Default,
                90..=97 => style.fg = Colour::Indexed(small(number - 90 + 8)),
                100..=107 => style.bg = Colour::Indexed(small(number - 100 + 8)),
                _ => {}
            }
        }
    }
}

/// What follows 38 or 48: `5;N` or `2;R;G;B`.
fn extended(rest: &mut impl Iterator<Item = usize>) -> Option<Colour> {
    match rest.next()? {
        5 => Some(Colour::Indexed(small(rest.next()?))),
        2 => Some(Colour::Rgb(small(rest.next()?), small(rest.next()?), small(rest.next()?))),
        _ => None,
    }
}

fn small(number: usize) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(input: &str) -> Screen {
        let mut screen = Screen::new(Size { cols: 20, rows: 4 });
        screen.feed(input.as_bytes());
        screen
    }

    fn shown(input: &str) -> Vec<String> {
        screen(input)
            .lines()
            .iter()
            .map(|line| line.iter().map(|cell| cell.text.as_str()).collect())
            .collect()
    }

    #[test]
    fn plain_lines() {
        assert_eq!(shown("one\r\ntwo\r\n"), ["one", "two"]);
        assert_eq!(shown("a\tb\x08c\r\n\r\n"), ["a       c"]);
    }

    #[test]
    fn a_carriage_return_writes_over_and_k_erases() {
        assert_eq!(shown("working 10%\rdone"), ["doneing 10%"]);
        assert_eq!(shown("working 10%\r\x1b[Kdone"), ["done"]);
        assert_eq!(shown("abcdef\x1b[3D\x1b[1K"), ["    ef"]);
        assert_eq!(shown("abcdef\x1b[2Kx"), ["      x"]);
        assert_eq!(shown("abcdef\r\x1b[2Pzz\x1b[1X"), ["zz f"]);
    }

    #[test]
    fn a_block_is_drawn_again_in_place() {
        let input = "head\r\nspin 1\r\nmore 1\r\n\x1b[2A\x1b[Jspin 2\r\nmore 2\r\n";
        assert_eq!(shown(input), ["head", "spin 2", "more 2"]);
        assert_eq!(shown("a\r\nb\r\n\x1b[1A\x1b[2K\x1b[1Gc"), ["a", "c"]);
        assert_eq!(shown("a\r\nb\x1b[Fz\x1b[Ey"), ["z", "y"]);
    }

    #[test]
    fn what_scrolled_away_stays_and_is_out_of_reach() {
        let input = "1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[9Ax";
        assert_eq!(shown(input), ["1", "2", "3x", "4", "5", "6"]);
        assert_eq!(shown("1\r\n2\r\n3\r\n4\r\n5\x1b[H\x1b[2Jnew"), ["1", "new"]);
    }

    #[test]
    fn absolute_and_saved_positions() {
        assert_eq!(shown("\x1b[2;3Hx\x1b[Hy"), ["y", "  x"]);
        assert_eq!(shown("ab\x1b7\r\nc\x1b8d"), ["abd", "c"]);
        assert_eq!(shown("ab\x1b[s\r\nc\x1b[ud"), ["abd", "c"]);
    }

    #[test]
    fn long_lines_wrap_only_with_the_next_character() {
        let full = "x".repeat(20);
        assert_eq!(shown(&format!("{full}\r\ny")), [full.as_str(), "y"]);
        assert_eq!(shown(&format!("{full}y")), [full.as_str(), "y"]);
        assert_eq!(shown(&format!("{}繼", "x".repeat(19))), ["x".repeat(19), "繼".to_owned()]);
    }

    #[test]
    fn wide_and_combining_characters_keep_their_columns() {
        let line = &screen("繼e\u{301}x").lines()[0];
        let texts: Vec<&str> = line.iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(texts, ["繼", "", "e\u{301}", "x"]);
        assert_eq!(shown("繼續\rx"), ["x 續"]);
        assert_eq!(shown("繼續\x1b[3D\x1b[K"), [""; 0]);
    }

    #[test]
    fn titles_links_and_modes_do_not_show() {
        assert_eq!(
            shown("\x1b]0;title\x07a\x1b[?25l\x1b]8;;http://x\x1b\\b\x1b]8;;\x1b\\\x1b(Bc\x1b=d"),
            ["abcd"]
        );
    }

    #[test]
    fn styles() {
        let style = |input: &str| screen(input).lines()[0][0].style;
        let plain = Style::default();
        assert_eq!(style("\x1b[1;31mx"), Style { bold: true, fg: Colour::Indexed(1), ..plain });
        assert_eq!(
            style("\x1b[2;92;44mx"),
            Style { dim: true, fg: Colour::Indexed(10), bg: Colour::Indexed(4), ..plain }
        );
        assert_eq!(style("\x1b[1;2;22;3mx"), Style { italic: true, ..plain });
        assert_eq!(style("\x1b[38;5;208;4mx"), Style { fg: Colour::Indexed(208), underline: true, ..plain });
        assert_eq!(style("\x1b[48;2;1;2;3;7mx"), Style { bg: Colour::Rgb(1, 2, 3), inverse: true, ..plain });
        assert_eq!(style("\x1b[1;31m\x1b[mx"), plain);
        assert_eq!(style("\x1b[31;39mx"), plain);
    }

    #[test]
    fn odd_input_does_no_harm() {
        assert_eq!(
            shown("\x1b[999;999H.\x1b[99999A\x1b[0;0Hx\x1b[;mz"),
            ["xz", "", "", "                   ."]
        );
        assert_eq!(shown("a\u{200b}\u{301}\x1b[38;5mb\x1b["), ["a\u{200b}\u{301}b"]);
        assert_eq!(shown("\u{301}\x1b[1Kb"), ["b"]);
    }
}
