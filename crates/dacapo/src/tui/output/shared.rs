//! What the thread that reads and the screen that shows have in common.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dacapo_core::follow::{Bell, Side};

use super::entry::Anchor;
use super::search::Query;
use super::span::Source;
use super::window::Window;

/// What the screen wants to have read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Request {
    /// These are the turns of the document.
    Sources(Vec<Source>),
    Side(Side),
    /// The window goes there.
    GoTo(Target),
    /// More before the first entry.
    Before,
    /// More behind the last one.
    Behind,
    Search {
        query: Query,
        direction: Direction,
        /// Not this one, but those after or before it; none: from the end that the direction comes from.
        from: Option<Anchor>,
    },
    StopSearch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Start,
    End,
    At(Anchor),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Down,
    Up,
}

/// How far something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) done: u64,
    pub(crate) of: u64,
}

impl Progress {
    /// In hundredths, 100 only when it is done.
    pub(crate) fn percent(self) -> u64 {
        if self.done >= self.of { 100 } else { (self.done * 100 / self.of.max(1)).min(99) }
    }
}

/// What a search has come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Hunted {
    #[default]
    Nothing,
    Searching(Progress),
    Found(Anchor),
    /// There is none in this direction.
    NotFound(Direction),
}

/// What the lock protects.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) window: Window,
    pub(super) requests: VecDeque<Request>,
    /// How much is read of what must be read before it can be shown.
    pub(super) reading: Option<Progress>,
    pub(super) hunted: Hunted,
    /// Why nothing more can be read.
    pub(super) problem: Option<String>,
    /// Bytes on file behind the window.
    pub(super) below: u64,
    /// The end is looked at, and what comes is shown.
    pub(super) following: bool,
    /// The first and the last place that are looked at: these are not dropped.
    pub(super) seen: Option<(Anchor, Anchor)>,
    /// The screen was told of something new and has not looked yet.
    pub(super) told: bool,
}

/// What tells one picture from the next, without the picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Print {
    window: (usize, Option<Anchor>, Option<Anchor>, usize),
    reading: Option<Progress>,
    hunted: Hunted,
    below: u64,
    problem: bool,
}

impl State {
    pub(super) fn print(&self) -> Print {
        let Self { window, .. } = self;
        let begun = window.begun.as_ref().map_or(0, super::entry::Entry::size);
        let ends = (window.first().map(|entry| entry.at), window.last().map(|entry| entry.at));
        Print {
            // An answer that goes to its call changes nothing but the bytes.
            window: (window.bytes + window.len(), ends.0, ends.1, begun),
            reading: self.reading,
            hunted: self.hunted,
            below: self.below,
            problem: self.problem.is_some(),
        }
    }
}

/// Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    inner: Arc<(Mutex<State>, Condvar)>,
    bell: Bell,
}

impl Shared {
    pub(super) fn new(bell: Bell) -> Self {
        Self { inner: Arc::default(), bell }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.inner.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn bell(&self) -> &Bell {
        &self.bell
    }

    /// Wakes the thread that reads.
    pub(super) fn ask(&self, request: Request) {
        let mut state = self.lock();
        // The same wish twice is one.
        if state.requests.back() != Some(&request) {
            state.requests.push_back(request);
        }
        drop(state);
        // Two ways to wake the thread, because it sleeps in two places: in `rest` on the condition, else on the bell.
        self.inner.1.notify_all();
        self.bell.ring();
    }

    /// Sleeps until something is asked, or for so long: what comes faster than anybody can see is taken together.
    pub(super) fn rest(&self, time: Duration) {
        let state = self.lock();
        let asked = |state: &mut State| state.requests.is_empty();
        let _ = self.inner.1.wait_timeout_while(state, time, asked);
    }
}
