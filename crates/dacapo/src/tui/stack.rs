//! The screens that are open, one on top of the other. Each is known by its id alone: whatever closes meanwhile, an id never
//! means another screen, and one that is closed means none.

use super::message::ScreenId;
use super::screen::{Screen, Shape};

#[derive(Default)]
pub(super) struct Stack {
    /// The lowest is the home screen, and is never closed.
    open: Vec<Opened>,
    next_id: u64,
}

struct Opened {
    id: ScreenId,
    screen: Box<dyn Screen>,
}

impl Stack {
    /// Opens a screen on top.
    pub(super) fn open(&mut self, screen: Box<dyn Screen>) -> ScreenId {
        let id = ScreenId(self.next_id);
        self.next_id += 1;
        self.open.push(Opened { id, screen });
        id
    }

    /// Closes a screen, wherever it is; the home screen stays.
    pub(super) fn close(&mut self, id: ScreenId) {
        if let Some(at) = self.place_of(id).filter(|at| *at > 0) {
            self.open.remove(at);
        }
    }

    /// Closes every screen but the home screen.
    pub(super) fn close_all(&mut self) {
        self.open.truncate(1);
    }

    pub(super) fn get_mut(&mut self, id: ScreenId) -> Option<&mut dyn Screen> {
        let at = self.place_of(id)?;
        Some(self.open[at].screen.as_mut())
    }

    pub(super) fn is_open(&self, id: ScreenId) -> bool {
        self.place_of(id).is_some()
    }

    /// The one that a screen lies on; none: it is the home screen, or closed.
    pub(super) fn below(&self, id: ScreenId) -> Option<ScreenId> {
        let at = self.place_of(id)?.checked_sub(1)?;
        Some(self.open[at].id)
    }

    pub(super) fn top(&self) -> Option<ScreenId> {
        self.open.last().map(|opened| opened.id)
    }

    /// All that are open now, from the top.
    pub(super) fn ids(&self) -> Vec<ScreenId> {
        self.open.iter().rev().map(|opened| opened.id).collect()
    }

    /// From the home screen to the top.
    pub(super) fn screens(&self) -> impl DoubleEndedIterator<Item = &dyn Screen> {
        self.open.iter().map(|opened| opened.screen.as_ref())
    }

    /// The highest page, and what is on top of it.
    pub(super) fn visible(&self) -> impl Iterator<Item = &dyn Screen> {
        let page = self.open.iter().rposition(|opened| opened.screen.shape() == Shape::Page);
        self.screens().skip(page.unwrap_or(0))
    }

    fn place_of(&self, id: ScreenId) -> Option<usize> {
        self.open.iter().position(|opened| opened.id == id)
    }
}
