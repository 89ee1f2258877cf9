//! The mouse in a pane of output: the wheel scrolls it, a click goes to a tool call or unfolds it, dragging marks text.

use ratatui::layout::Position;

use super::rows::Row;
use super::view::{Output, Place, Pressed};
use crate::tui::mouse::{Did, Mouse};
use crate::tui::selection::{Released, Spot, cut_out};

/// Rows by which one step of the wheel scrolls.
const WHEEL: usize = 3;
/// So many rows are copied at most.
const MOST_COPIED: usize = 10_000;

impl Output {
    /// Whether it was drawn there, or text of it is being marked from elsewhere on the screen.
    pub(crate) fn is_under(&self, mouse: Mouse) -> bool {
        let held = matches!(mouse.did, Did::Drag | Did::Release) && self.marked.is_held();
        held || self.area.get().contains(mouse.at)
    }

    pub(crate) fn mouse(&mut self, mouse: Mouse) -> Pressed {
        match mouse.did {
            Did::WheelUp => self.scroll_up(WHEEL),
            Did::WheelDown => self.scroll_down(WHEEL),
            Did::Press => match self.spot(mouse.at) {
                Some(spot) => self.marked.press(spot),
                None => self.marked.clear(),
            },
            Did::Drag => {
                self.scroll_to(mouse.at);
                if let Some(spot) = self.spot(mouse.at) {
                    self.marked.drag(spot);
                }
            }
            Did::Release => match self.marked.release() {
                Released::Elsewhere => return Pressed::Unused,
                Released::Click(spot) => self.click(spot.row),
                Released::Marked => return Pressed::Copy(self.marked_text()),
            },
        }
        self.settle();
        Pressed::Used
    }

    /// What is dragged over the edge goes on there.
    fn scroll_to(&mut self, at: Position) {
        let area = self.area.get();
        if !self.marked.is_held() || area.is_empty() {
            return;
        }
        if at.y < area.y {
            self.scroll_up(1);
        } else if at.y >= area.bottom() {
            self.scroll_down(1);
        }
    }

    /// The place in the document that is nearest to one on the screen.
    fn spot(&self, at: Position) -> Option<Spot<Place>> {
        let area = self.area.get();
        let state = self.shared.lock();
        let rows = self.visible(&state.window);
        let nth = usize::from(at.y.saturating_sub(area.y)).min(rows.len().checked_sub(1)?);
        let column = usize::from(at.x.saturating_sub(area.x).min(area.width.saturating_sub(1)));
        Some(Spot { row: rows[nth].0, column })
    }

    /// Goes to the call in this row; one that was gone to already is unfolded or folded.
    fn click(&mut self, place: Place) {
        let state = self.shared.lock();
        let entry = state.window.get(state.window.index_of(place.at));
        let foldable = entry.is_some_and(|entry| entry.at == place.at && entry.can_unfold());
        drop(state);
        if !foldable || place.row > 0 {
            self.selected = None;
        } else if self.selected == Some(place.at) {
            self.toggle_selected();
        } else {
            self.selected = Some(place.at);
        }
    }

    fn marked_text(&self) -> String {
        let Some((first, last)) = self.marked.ends() else { return String::new() };
        let state = self.shared.lock();
        let rows = self.rows_from(&state.window, first.row, self.size.get().0, MOST_COPIED);
        let text = |(place, row): &(Place, Row)| {
            let whole: String = row.iter().map(|run| run.text.as_str()).collect();
            self.marked.columns(*place).map(|columns| cut_out(&whole, &columns))
        };
        let rows = rows.iter().take_while(|(place, _)| *place <= last.row);
        rows.filter_map(text).collect::<Vec<_>>().join("\n")
    }
}
