//! The mouse, where the user wants it to be ours (`mouse = true`): what it did, and which row of a list that was about.

use std::cell::{Cell, RefCell};

use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

/// What the mouse did, and where on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mouse {
    pub(crate) at: Position,
    pub(crate) did: Did,
}

/// The left button and the wheel; nothing is asked of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Did {
    Press,
    /// It moves while the button is down.
    Drag,
    Release,
    WheelUp,
    WheelDown,
}

impl Mouse {
    /// None for what means nothing here.
    pub(crate) fn parse(event: MouseEvent) -> Option<Self> {
        let did = match event.kind {
            MouseEventKind::Down(MouseButton::Left) => Did::Press,
            MouseEventKind::Drag(MouseButton::Left) => Did::Drag,
            MouseEventKind::Up(MouseButton::Left) => Did::Release,
            MouseEventKind::ScrollUp => Did::WheelUp,
            MouseEventKind::ScrollDown => Did::WheelDown,
            _ => return None,
        };
        Some(Self { at: Position::new(event.column, event.row), did })
    }
}

/// Rows that can be clicked, as they were drawn last.
pub(crate) struct Rows<T> {
    drawn: RefCell<Vec<(Rect, T)>>,
    clicked: Cell<Option<T>>,
}

/// A click on a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clicked<T> {
    Once(T),
    /// It was the row that was clicked last.
    Again(T),
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { drawn: RefCell::default(), clicked: Cell::new(None) }
    }
}

impl<T: Copy + PartialEq> Rows<T> {
    /// Nothing is drawn yet.
    pub(crate) fn clear(&self) {
        self.drawn.borrow_mut().clear();
    }

    pub(crate) fn put(&self, area: Rect, row: T) {
        self.drawn.borrow_mut().push((area, row));
    }

    /// The row that is there.
    pub(crate) fn at(&self, position: Position) -> Option<T> {
        self.drawn.borrow().iter().find(|(area, _)| area.contains(position)).map(|(_, row)| *row)
    }

    /// Where a row was drawn, its first line where it has several.
    pub(crate) fn area_of(&self, row: T) -> Option<Rect> {
        self.drawn.borrow().iter().find(|(_, drawn)| *drawn == row).map(|(area, _)| *area)
    }

    pub(crate) fn click(&self, position: Position) -> Option<Clicked<T>> {
        let row = self.at(position);
        let last = self.clicked.replace(row);
        row.map(|row| if last == Some(row) { Clicked::Again(row) } else { Clicked::Once(row) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_click_on_a_row_is_another_one() {
        let rows = Rows::default();
        for (y, row) in [(3, 'a'), (4, 'b')] {
            rows.put(Rect::new(2, y, 10, 1), row);
        }
        let click = |x, y| rows.click(Position::new(x, y));
        assert_eq!(click(2, 3), Some(Clicked::Once('a')));
        assert_eq!(click(11, 3), Some(Clicked::Again('a')));
        assert_eq!(click(5, 4), Some(Clicked::Once('b')));
        assert_eq!(click(12, 4), None);
        assert_eq!(click(5, 4), Some(Clicked::Once('b')), "something else was clicked between");
        rows.clear();
        assert_eq!(click(5, 4), None);
    }
}
