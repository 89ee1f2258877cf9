//! Text that is marked with the mouse: from where the button went down to where it is, whatever scrolls meanwhile. Nothing here
//! knows what the rows are of; they only have an order.

use std::ops::RangeInclusive;

use ratatui::layout::Rect;
use unicode_width::UnicodeWidthChar as _;

/// A row of a document, and a column of it as the screen counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot<R> {
    pub(crate) row: R,
    pub(crate) column: usize,
}

/// What is marked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Selection<R> {
    #[default]
    Nothing,
    /// The button is down, and has not moved: a click, so far.
    Pressed(Spot<R>),
    Dragging {
        from: Spot<R>,
        to: Spot<R>,
    },
    /// The button is up again.
    Done {
        from: Spot<R>,
        to: Spot<R>,
    },
}

/// What it was when the button went up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Released<R> {
    /// The button went down somewhere else.
    Elsewhere,
    Click(Spot<R>),
    Marked,
}

impl<R: Copy + Ord> Selection<R> {
    pub(crate) fn press(&mut self, at: Spot<R>) {
        *self = Self::Pressed(at);
    }

    pub(crate) fn drag(&mut self, to: Spot<R>) {
        *self = match *self {
            Self::Pressed(from) if from == to => return,
            Self::Pressed(from) | Self::Dragging { from, .. } => Self::Dragging { from, to },
            Self::Nothing | Self::Done { .. } => return,
        };
    }

    pub(crate) fn release(&mut self) -> Released<R> {
        let (next, was) = match *self {
            Self::Nothing | Self::Done { .. } => return Released::Elsewhere,
            Self::Pressed(at) => (Self::Nothing, Released::Click(at)),
            Self::Dragging { from, to } => (Self::Done { from, to }, Released::Marked),
        };
        *self = next;
        was
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::Nothing;
    }

    /// Whether the button went down here, and is down still.
    pub(crate) fn is_held(&self) -> bool {
        matches!(self, Self::Pressed(_) | Self::Dragging { .. })
    }

    /// The first and the last place that are marked, in the order in which one reads.
    pub(crate) fn ends(&self) -> Option<(Spot<R>, Spot<R>)> {
        match *self {
            Self::Nothing | Self::Pressed(_) => None,
            Self::Dragging { from, to } | Self::Done { from, to } => Some((from.min(to), from.max(to))),
        }
    }

    /// The columns of a row that are marked.
    pub(crate) fn columns(&self, row: R) -> Option<RangeInclusive<usize>> {
        let (first, last) = self.ends().filter(|(first, last)| (first.row..=last.row).contains(&row))?;
        let from = if row == first.row { first.column } else { 0 };
        let to = if row == last.row { last.column } else { usize::MAX };
        Some(from..=to)
    }
}

/// The cells of a line on the screen that are marked; its text has this width.
pub(crate) fn cells(columns: &RangeInclusive<usize>, width: usize, line: Rect) -> Rect {
    let at = |column: usize| u16::try_from(column.min(width)).unwrap_or(u16::MAX).min(line.width);
    let (from, to) = (at(*columns.start()), at(columns.end().saturating_add(1)));
    Rect { x: line.x + from, width: to.saturating_sub(from), ..line }
}

/// The text in these columns. A character of which one half is marked is marked; no row ends in spaces.
pub(crate) fn cut_out(text: &str, columns: &RangeInclusive<usize>) -> String {
    let mut at = 0;
    let mut out = String::new();
    let mut marked = false;
    for c in text.chars() {
        let width = c.width().unwrap_or(0);
        // What has no width of its own belongs to the character before it.
        if width > 0 {
            marked = at + width > *columns.start() && at <= *columns.end();
        }
        if marked {
            out.push(c);
        }
        at += width;
    }
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(row: u32, column: usize) -> Spot<u32> {
        Spot { row, column }
    }

    #[test]
    fn a_button_that_does_not_move_is_a_click() {
        let mut selection = Selection::default();
        selection.press(spot(3, 4));
        selection.drag(spot(3, 4));
        assert_eq!((selection.ends(), selection.columns(3)), (None, None));
        assert_eq!(selection.release(), Released::Click(spot(3, 4)));
        assert_eq!(selection.release(), Released::Elsewhere);
    }

    #[test]
    fn what_is_between_both_ends_is_marked_whichever_way_one_drags() {
        for (from, to) in [(spot(2, 5), spot(4, 1)), (spot(4, 1), spot(2, 5))] {
            let mut selection = Selection::default();
            selection.press(from);
            selection.drag(spot(9, 9));
            selection.drag(to);
            assert!(selection.is_held());
            let rows: Vec<_> = (1..6).map(|row| selection.columns(row)).collect();
            assert_eq!(rows, [None, Some(5..=usize::MAX), Some(0..=usize::MAX), Some(0..=1), None]);
            assert_eq!(selection.release(), Released::Marked);
            assert!(!selection.is_held() && selection.ends().is_some(), "it stays in sight");
            // What moves now began somewhere else.
            selection.drag(spot(9, 9));
            assert_eq!(selection.columns(9), None);
            selection.clear();
            assert_eq!(selection, Selection::Nothing);
        }
    }

    #[test]
    fn a_row_that_is_marked_backwards_has_the_same_columns() {
        let mut selection = Selection::default();
        selection.press(spot(1, 9));
        selection.drag(spot(1, 3));
        assert_eq!(selection.columns(1), Some(3..=9));
    }

    #[test]
    fn wide_characters_are_marked_whole() {
        assert_eq!(cut_out("fix the parser", &(4..=6)), "the");
        assert_eq!(cut_out("修复 it", &(1..=2)), "修复");
        assert_eq!(cut_out("修复 it", &(2..=usize::MAX)), "复 it");
        assert_eq!(cut_out("a   ", &(0..=3)), "a");
        assert_eq!(cut_out("e\u{301}x", &(0..=0)), "e\u{301}");
        assert_eq!(cut_out("e\u{301}x", &(1..=1)), "x");
        assert_eq!(cut_out("short", &(9..=12)), "");
    }
}
