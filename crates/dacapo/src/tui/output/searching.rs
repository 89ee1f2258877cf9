//! Searching in a pane: what is typed, where one goes with it, and what is shown of what was found.

use super::entry::Anchor;
use super::search::Query;
use super::shared::{Direction, Request};
use super::view::{Output, Place, Pressed};
use crate::tui::key::Key;

impl Output {
    pub(super) fn show_hit(&mut self, at: Anchor) {
        let state = self.shared.lock();
        if !state.window.holds(at) && state.window.begun.as_ref().is_none_or(|begun| begun.at != at) {
            // It is still being read.
            return;
        }
        let entry = state.window.get(state.window.index_of(at)).map(|entry| (entry.at, entry.can_unfold()));
        drop(state);
        self.hit = Some(at);
        let Some((found, can_unfold)) = entry else { return };
        if can_unfold && !self.all {
            self.unfolded.insert(found);
        }
        // What is seen already stays where it is.
        if let (Some(first), Some(last)) = self.seen()
            && (first..=last).contains(&found)
        {
            self.hold();
            return;
        }
        self.top = Some(Place { at: found, row: 0 });
        let (_, height) = self.size.get();
        self.scroll_up(height / 3);
        // Near the end less than a screen is below it: what is shown then is held, not the end.
        self.hold();
    }

    pub(super) fn type_key(&mut self, key: Key) -> Pressed {
        let Some(typed) = &mut self.typing else { return Pressed::Unused };
        match key {
            Key::Char(c) => typed.push(c),
            Key::Backspace => {
                typed.pop();
            }
            Key::Ctrl('u') => typed.clear(),
            Key::Esc => {
                self.typing = None;
                if self.query.is_some() {
                    self.stop_search();
                    return Pressed::SearchEnded;
                }
            }
            Key::Enter => {
                let query = Query::new(typed);
                self.typing = None;
                match query {
                    Some(query) => {
                        // At the end there is nothing below.
                        self.direction = if self.follows() { Direction::Up } else { Direction::Down };
                        self.query = Some(query);
                        self.hit = None;
                        self.looks_above = self.direction == Direction::Down;
                        self.search_on(self.direction);
                    }
                    None => self.stop_search(),
                }
            }
            _ => {}
        }
        Pressed::Used
    }

    /// Text was pasted; where it is typed into, it is typed.
    pub(crate) fn pasted(&mut self, text: &str) -> bool {
        let Some(typed) = &mut self.typing else { return false };
        typed.push_str(&crate::tui::text::one_line(text));
        true
    }

    pub(super) fn search_on(&mut self, direction: Direction) {
        let Some(query) = self.query.clone() else { return };
        let (first, last) = self.seen();
        // From what was found last, else from what is seen: what is on the screen counts.
        let from = self.hit.or(match direction {
            Direction::Down => first.and_then(|first| self.before(first)),
            Direction::Up => last,
        });
        let from = if self.follows() && self.hit.is_none() { None } else { from };
        if self.follows() {
            self.hold();
        }
        self.shared.ask(Request::Search { query, direction, from });
    }

    /// The place before one, so that a search that leaves its beginning out begins with it.
    fn before(&self, at: Anchor) -> Option<Anchor> {
        let state = self.shared.lock();
        let nth = state.window.index_of(at);
        nth.checked_sub(1).and_then(|nth| state.window.get(nth)).map(|entry| entry.at)
    }

    pub(super) fn stop_search(&mut self) {
        (self.query, self.hit) = (None, None);
        self.shared.ask(Request::StopSearch);
    }
}
