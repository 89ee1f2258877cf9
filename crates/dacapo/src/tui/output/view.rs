//! A pane that shows output: where one is in it, what is folded, what is searched for.

use std::cell::Cell;
use std::collections::HashSet;
use std::io;
use std::path::PathBuf;

use dacapo_core::follow::{Bell, Side};
use ratatui::layout::Rect;

use super::entry::Anchor;
use super::feed;
use super::search::Query;
use super::shared::{Direction, Hunted, Request, Shared, State, Target};
use super::span::Source;
use crate::messages::Messages;
use crate::tui::effect::Feed;
use crate::tui::key::Key;
use crate::tui::live::TaskId;
use crate::tui::screen::Binding;
use crate::tui::selection::Selection;

/// How many screens above and below what is looked at are read ahead.
const AHEAD: usize = 3;

/// A row of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) at: Anchor,
    pub(super) row: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pressed {
    Used,
    /// This is to be put on the clipboard.
    Copy(String),
    /// What was searched for is forgotten, and the pane stays where it is.
    SearchEnded,
    Unused,
}

/// A pane of output.
#[derive(Debug)]
pub(crate) struct Output {
    pub(super) shared: Shared,
    pub(super) side: Side,
    pub(super) sources: Vec<Source>,
    /// The first row that is shown; none: the end is.
    pub(super) top: Option<Place>,
    /// How many rows further up one wanted to be when what is there was not read yet.
    owed: usize,
    pub(super) unfolded: HashSet<Anchor>,
    /// Everything is unfolded, but what was folded by itself.
    pub(super) all: bool,
    /// The tool call that was gone to.
    pub(super) selected: Option<Anchor>,
    pub(super) query: Option<Query>,
    /// In which direction one searches on.
    pub(super) direction: Direction,
    pub(super) hit: Option<Anchor>,
    /// A new search that finds nothing below looks above, too.
    pub(super) looks_above: bool,
    /// What is being typed to search for.
    pub(super) typing: Option<String>,
    /// What is marked with the mouse.
    pub(super) marked: Selection<Place>,
    /// The room there was last, and where that was.
    pub(super) size: Cell<(usize, usize)>,
    pub(super) area: Cell<Rect>,
    pub(super) messages: Messages,
}

impl Output {
    pub(crate) fn new(messages: Messages) -> io::Result<Self> {
        let shared = Shared::new(Bell::new()?);
        shared.lock().following = true;
        Ok(Self {
            shared,
            side: Side::Told,
            sources: Vec::new(),
            top: None,
            owed: 0,
            unfolded: HashSet::new(),
            all: false,
            selected: None,
            query: None,
            direction: Direction::Up,
            hit: None,
            looks_above: false,
            typing: None,
            marked: Selection::Nothing,
            size: Cell::new((80, 20)),
            area: Cell::default(),
            messages,
        })
    }

    /// One that begins at the start.
    pub(crate) fn from_start(messages: Messages) -> io::Result<Self> {
        let mut output = Self::new(messages)?;
        output.shared.lock().following = false;
        output.top = Some(Place { at: Anchor::default(), row: 0 });
        Ok(output)
    }

    /// The thread that reads for it; the screen starts it once.
    pub(crate) fn feed(&self, task: TaskId) -> Feed {
        feed::of_task(self.shared.clone(), task)
    }

    /// The same for a patch, which is one turn whose number is 0.
    pub(crate) fn feed_patch(&self, path: PathBuf) -> Feed {
        feed::of_patch(self.shared.clone(), path)
    }

    /// Goes to what begins at this byte of the first turn.
    pub(crate) fn go_to_offset(&mut self, offset: u64) {
        let turn = self.sources.first().map_or(0, |source| source.turn);
        let at = Anchor { turn, offset, part: 1, line: 0 };
        let mut state = self.shared.lock();
        state.following = false;
        let holds = state.window.holds(at);
        drop(state);
        self.top = Some(Place { at, row: 0 });
        if !holds {
            self.shared.ask(Request::GoTo(Target::At(at)));
        }
        self.settle();
    }

    /// The byte at which what is shown first begins.
    pub(crate) fn offset(&self) -> Option<u64> {
        self.visible_places().0.map(|place| place.at.offset)
    }

    /// The turns that it shows.
    pub(crate) fn show(&mut self, sources: Vec<Source>) {
        if self.sources == sources {
            return;
        }
        let goes_on = !self.sources.is_empty()
            && self.sources.iter().zip(&sources).all(|(old, new)| old.turn == new.turn)
            && self.sources.len() <= sources.len();
        let is_first = self.sources.is_empty();
        if !goes_on && !is_first {
            self.go_to_end();
            self.hit = None;
        }
        self.sources.clone_from(&sources);
        self.shared.ask(Request::Sources(sources));
        if is_first && !self.follows() {
            self.shared.ask(Request::GoTo(Target::Start));
        }
    }

    pub(crate) fn follows(&self) -> bool {
        self.top.is_none()
    }

    /// Whether text is being typed here: then all keys are for it.
    pub(crate) fn is_typing(&self) -> bool {
        self.typing.is_some()
    }

    /// The thread has read something.
    pub(crate) fn changed(&mut self) {
        let mut state = self.shared.lock();
        state.told = false;
        let hunted = state.hunted;
        drop(state);
        if let Hunted::Found(at) = hunted
            && self.hit != Some(at)
        {
            self.show_hit(at);
        }
        if hunted == Hunted::NotFound(Direction::Down) && std::mem::take(&mut self.looks_above) {
            self.direction = Direction::Up;
            self.search_on(Direction::Up);
        }
        self.pay();
        self.settle();
    }

    /// Scrolls on by what could not be scrolled before, where more has been read since.
    fn pay(&mut self) {
        let Some(top) = self.top.filter(|_| self.owed > 0) else { return };
        let state = self.shared.lock();
        let more = state.window.begins || state.window.index_of(top.at) > 0;
        drop(state);
        if more {
            let owed = std::mem::take(&mut self.owed);
            self.scroll_up(owed);
        }
    }

    /// A key was pressed while this pane has the keys.
    pub(crate) fn key(&mut self, key: Key) -> Pressed {
        self.marked.clear();
        self.owed = 0;
        if self.typing.is_some() {
            return self.type_key(key);
        }
        let (_, height) = self.size.get();
        let page = height.saturating_sub(2).max(1);
        match key {
            Key::Up | Key::Char('k') => self.scroll_up(1),
            Key::Down | Key::Char('j') => self.scroll_down(1),
            Key::PageUp | Key::Ctrl('b') => self.scroll_up(page),
            Key::PageDown | Key::Char(' ') => self.scroll_down(page),
            Key::Ctrl('u') => self.scroll_up(height / 2),
            Key::Ctrl('d') => self.scroll_down(height / 2),
            Key::Home | Key::Char('<') => self.go_to_start(),
            Key::End | Key::Char('>' | 'G') => self.go_to_end(),
            Key::Char('f') if self.follows() => self.hold(),
            Key::Char('f') => self.go_to_end(),
            Key::Char('[') => self.select(Direction::Up),
            Key::Char(']') => self.select(Direction::Down),
            Key::Enter => self.toggle_selected(),
            Key::Char('z') => {
                self.all = !self.all;
                self.unfolded.clear();
            }
            Key::Char('v') => self.next_side(),
            Key::Ctrl('f') => self.typing = Some(String::new()),
            Key::Char('n') if self.query.is_some() => self.search_on(self.direction),
            Key::Char('N') if self.query.is_some() => self.search_on(match self.direction {
                Direction::Down => Direction::Up,
                Direction::Up => Direction::Down,
            }),
            Key::Char('y') => return Pressed::Copy(self.shown_text()),
            Key::Esc if self.query.is_some() => {
                self.stop_search();
                return Pressed::SearchEnded;
            }
            _ => return Pressed::Unused,
        }
        self.settle();
        Pressed::Used
    }

    /// The keys of this pane.
    pub(crate) fn bindings(&self) -> Vec<Binding> {
        let messages = self.messages;
        let follow = if self.follows() { messages.output_key_hold() } else { messages.output_key_follow() };
        let search = self.query.is_none().then(|| messages.output_no_search_yet());
        vec![
            Binding::new(Key::Char('f'), follow),
            Binding::new(Key::Ctrl('f'), messages.output_key_search()),
            Binding::new(Key::Char('n'), messages.output_key_next()).not_now(search.clone()),
            Binding::new(Key::Char('N'), messages.output_key_previous()).not_now(search),
            Binding::new(Key::PageUp, messages.output_key_scroll()).or(Key::PageDown),
            Binding::new(Key::Home, messages.output_key_start()).or(Key::Char('<')),
            Binding::new(Key::End, messages.output_key_end()).or(Key::Char('>')).or(Key::Char('G')),
            Binding::new(Key::Enter, messages.output_key_unfold()),
            Binding::new(Key::Char('['), messages.output_key_calls()).or(Key::Char(']')),
            Binding::new(Key::Char('z'), messages.output_key_unfold_all()),
            Binding::new(Key::Char('v'), messages.output_key_side()),
            Binding::new(Key::Char('y'), messages.output_key_copy()),
        ]
    }

    fn next_side(&mut self) {
        self.side = match self.side {
            Side::Told => Side::Raw,
            Side::Raw => Side::Stderr,
            Side::Stderr => Side::Told,
        };
        self.go_to_end();
        (self.hit, self.selected) = (None, None);
        self.unfolded.clear();
        self.shared.ask(Request::Side(self.side));
    }

    fn go_to_start(&mut self) {
        let mut state = self.shared.lock();
        state.following = false;
        let begins = state.window.begins;
        let first = state.window.first().map(|first| first.at);
        drop(state);
        self.top = Some(Place { at: first.unwrap_or_default(), row: 0 });
        if !begins {
            let turn = self.sources.first().map_or(0, |source| source.turn);
            self.top = Some(Place { at: Anchor::heading(turn), row: 0 });
            self.shared.ask(Request::GoTo(Target::Start));
        }
    }

    fn go_to_end(&mut self) {
        self.top = None;
        let mut state = self.shared.lock();
        state.following = true;
        // Who follows the end does not look for anything any more.
        if matches!(state.hunted, Hunted::NotFound(_)) {
            state.hunted = Hunted::Nothing;
        }
        let ends = state.window.ends;
        drop(state);
        if !ends {
            self.shared.ask(Request::GoTo(Target::End));
        }
    }

    /// Stays where it is, whatever comes.
    pub(super) fn hold(&mut self) {
        let (first, _) = self.visible_places();
        self.top = first;
        self.shared.lock().following = false;
    }

    pub(super) fn scroll_up(&mut self, rows: usize) {
        let (first, _) = self.visible_places();
        let Some(mut place) = self.top.or(first) else { return };
        let state = self.shared.lock();
        let layout = self.layout();
        let mut left = rows;
        let mut owed = 0;
        let mut nth = state.window.index_of(place.at);
        while left > 0 {
            if place.row >= left {
                place.row -= left;
                break;
            }
            left -= place.row;
            let Some(before) = nth.checked_sub(1).and_then(|nth| state.window.get(nth)) else {
                place.row = 0;
                if !state.window.begins {
                    owed = left;
                }
                break;
            };
            nth -= 1;
            place = Place { at: before.at, row: layout.rows(before, self.fold(before.at)).len() };
        }
        drop(state);
        self.top = Some(place);
        self.owed = owed;
        self.shared.lock().following = false;
    }

    pub(super) fn scroll_down(&mut self, rows: usize) {
        let Some(mut place) = self.top else { return };
        let state = self.shared.lock();
        let layout = self.layout();
        let mut left = rows;
        let mut nth = state.window.index_of(place.at);
        while let Some(entry) = state.window.get(nth) {
            let own = layout.rows(entry, self.fold(entry.at)).len();
            if place.row + left < own {
                place = Place { at: entry.at, row: place.row + left };
                break;
            }
            left -= own - place.row.min(own);
            nth += 1;
            match state.window.get(nth) {
                Some(next) => place = Place { at: next.at, row: 0 },
                None => break,
            }
        }
        let (columns, height) = self.size.get();
        let last = self.rows_from(&state.window, place, columns, height + 1);
        let at_end = last.len() <= height && state.window.ends && !state.window.glimpse;
        drop(state);
        if at_end {
            self.go_to_end();
        } else {
            self.top = Some(place);
        }
    }

    /// Goes to the next tool call that can be unfolded.
    fn select(&mut self, direction: Direction) {
        let (first, last) = self.seen();
        let state = self.shared.lock();
        let from = match (self.selected, direction) {
            (Some(selected), _) => state.window.index_of(selected),
            (None, Direction::Up) => last.map_or(0, |last| state.window.index_of(last) + 1),
            (None, Direction::Down) => match first.map_or(0, |first| state.window.index_of(first)) {
                0 => usize::MAX,
                nth => nth - 1,
            },
        };
        let foldable = |nth: &usize| state.window.get(*nth).is_some_and(super::entry::Entry::can_unfold);
        let found = match direction {
            Direction::Up => (0..from.min(state.window.len())).rev().find(foldable),
            Direction::Down => (from.wrapping_add(1)..state.window.len()).find(foldable),
        };
        let found = found.and_then(|nth| state.window.get(nth)).map(|entry| entry.at);
        drop(state);
        let Some(found) = found else { return };
        self.selected = Some(found);
        if first.is_none_or(|first| found < first) || last.is_none_or(|last| found > last) {
            self.top = Some(Place { at: found, row: 0 });
            let (_, height) = self.size.get();
            self.scroll_up(height / 3);
        }
    }

    /// Folds or unfolds the call that was gone to, else the last one that is seen.
    pub(super) fn toggle_selected(&mut self) {
        if self.selected.is_none() {
            self.select(Direction::Up);
        }
        let Some(selected) = self.selected else { return };
        if self.follows() {
            self.hold();
        }
        if !self.unfolded.remove(&selected) {
            self.unfolded.insert(selected);
        }
    }

    /// Has read what is near to what is seen.
    pub(super) fn settle(&mut self) {
        let (first, last) = self.seen();
        let (Some(first), Some(last)) = (first, last) else { return };
        let mut state = self.shared.lock();
        state.seen = Some((first, last));
        if self.top.is_none() {
            return;
        }
        let near = AHEAD * self.size.get().1;
        let State { window, .. } = &*state;
        let before = window.index_of(first) < near && !window.begins && !window.glimpse;
        let behind = window.index_of(last) + near > window.len() && !window.ends;
        drop(state);
        if before {
            self.shared.ask(Request::Before);
        }
        if behind {
            self.shared.ask(Request::Behind);
        }
    }
}
