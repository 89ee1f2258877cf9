//! What a terminal shows after a program wrote to it, redraws included. The terminal itself is `vt100`.

use std::num::NonZeroU16;

use vt100::Cell;

use super::Size;

/// The lines without the empty ones at the end, each without its blank end. What scrolled off the top is there too, so that a
/// long output is pictured whole.
pub(super) fn lines(size: Size, written: &[u8]) -> Vec<Vec<Cell>> {
    let mut terminal = vt100::Parser::new(size.rows, size.cols, usize::from(u16::MAX - size.rows.get()));
    terminal.process(written);
    let screen = terminal.screen_mut();
    let scrolled = u16::try_from(screen.scrollback_len()).unwrap_or(u16::MAX);
    // A taller terminal takes back what had scrolled away.
    let rows: NonZeroU16 = size.rows.saturating_add(scrolled);
    screen.set_size(rows, size.cols);
    let line = |row| {
        let mut line: Vec<Cell> =
            (0..size.cols.get()).filter_map(|col| screen.cell(row, col)).cloned().collect();
        line.truncate(line.iter().rposition(shows).map_or(0, |last| last + 1));
        line
    };
    let mut lines: Vec<Vec<Cell>> = (0..rows.get()).map(line).collect();
    lines.truncate(lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
    lines
}

fn shows(cell: &Cell) -> bool {
    !cell.contents().trim().is_empty()
        || cell.is_wide_continuation()
        || cell.bgcolor() != vt100::Color::Default
        || cell.has_contents() && cell.inverse()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { cols: NonZeroU16::new(20).unwrap(), rows: NonZeroU16::new(4).unwrap() };

    fn shown(input: &str) -> Vec<String> {
        let text = |cell: &Cell| match cell.contents() {
            "" if !cell.is_wide_continuation() => " ".to_owned(),
            contents => contents.to_owned(),
        };
        lines(SIZE, input.as_bytes()).iter().map(|line| line.iter().map(text).collect()).collect()
    }

    #[test]
    fn blank_ends_are_left_out() {
        assert_eq!(shown("one  \r\n\r\ntwo\r\n\r\n"), ["one", "", "two"]);
        assert_eq!(shown("\x1b[44m \x1b[0m "), [" "]);
        assert_eq!(shown("\x1b[7m  \x1b[0m"), ["  "]);
        assert_eq!(shown("abc\x1b[7m\r\x1b[K"), [""; 0]);
        assert_eq!(shown("繼續"), ["繼續"]);
    }

    #[test]
    fn a_block_is_drawn_again_in_place() {
        let input = "head\r\nspin 1\r\nmore 1\r\n\x1b[2A\x1b[Jspin 2\r\nmore 2\r\n";
        assert_eq!(shown(input), ["head", "spin 2", "more 2"]);
    }

    #[test]
    fn what_scrolled_away_stays_and_is_out_of_reach() {
        let input = "1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[9Ax";
        assert_eq!(shown(input), ["1", "2", "3x", "4", "5", "6"]);
        assert_eq!(shown("1\r\n2\r\n3\r\n4\r\n5\x1b[H\x1b[2Jnew"), ["1", "new"]);
        let long: String = (0..1000).map(|n| format!("{n}\r\n")).collect();
        assert_eq!(shown(&long), (0..1000).map(|n| n.to_string()).collect::<Vec<_>>());
    }
}
