//! Fills the window: reads turns forward from sparse places, in steps short enough that whatever is asked meanwhile is not kept
//! waiting. All of it happens in a thread of its own; tests call [`Reader::step`] themselves.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use dacapo_core::engine::Kinds;
use dacapo_core::follow::{FollowError, Hub, Pages, Side};
use dacapo_core::store::TaskDir;

use super::before::Before;
use super::entry::{Anchor, Body, Cloth, Entry, Footing, Manner, Weaver};
use super::hunt::{Hunt, Hunting};
use super::shared::{Hunted, Progress, Request, Shared, Target};
use super::span::{From, Source, Span, Spanned};
use super::window::{MOST_ENTRIES, Window};
use crate::messages::Messages;

/// How long a step takes, about.
const STEP: Duration = Duration::from_millis(8);

/// How many entries are read at once, beyond what is looked at.
pub(super) const PAGE: usize = MOST_ENTRIES / 8;

/// How much is read to get some entries before a place.
pub(super) const BACK: u64 = if cfg!(test) { 400 } else { 64 << 10 };

/// If more than this of a turn is not known yet, its end is shown before all that is between is read.
const SMALL: u64 = if cfg!(test) { 1000 } else { 2 << 20 };

/// How much of the end is shown then.
const GLIMPSE: u64 = if cfg!(test) { 600 } else { 256 << 10 };

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// There is more to do.
    Busy,
    /// All that is wanted now is done.
    Idle,
}

#[derive(Debug)]
pub(super) enum Paper {
    /// Turns of a task.
    Task { hub: Hub, dir: TaskDir, kinds: Kinds },
    /// One patch, whose only turn is 0.
    Patch(PathBuf),
}

/// A turn of the document.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) source: Source,
    pages: Option<Pages>,
}

/// Work that takes more than a step.
pub(super) enum Job {
    /// Reads on until all of the last turn is known; then its end is shown.
    Know {
        source: usize,
    },
    Fill(Fill),
    Before(Before),
}

/// The window is filled anew.
pub(super) struct Fill {
    span: Span,
    target: Target,
    before: VecDeque<Entry>,
    after: Vec<Entry>,
    /// It was read from the very beginning, and nothing of that was dropped.
    begins: bool,
}

pub(super) struct Reader {
    paper: Paper,
    pub(super) shared: Shared,
    pub(super) manner: Manner,
    pub(super) sources: Vec<Loaded>,
    pub(super) job: Option<Job>,
    /// Reads on behind the last entry of the window; none: it was dropped.
    pub(super) edge: Option<Span>,
    hunt: Option<Hunt>,
    /// How many entries are still wanted behind the window.
    wanted: usize,
    /// Something may be new.
    fresh: bool,
}

impl Reader {
    pub(super) fn new(paper: Paper, shared: Shared, messages: Messages) -> Self {
        let (side, cloth) = match &paper {
            Paper::Task { .. } => (Side::Told, Cloth::Text),
            Paper::Patch(_) => (Side::Raw, Cloth::Patch),
        };
        Self {
            paper,
            shared,
            manner: Manner { side, cloth, messages },
            sources: Vec::new(),
            job: None,
            edge: None,
            hunt: None,
            wanted: 0,
            fresh: false,
        }
    }

    /// Something may have been printed.
    pub(super) fn news(&mut self) {
        self.fresh = true;
    }

    /// Works for a moment.
    pub(super) fn step(&mut self) -> Step {
        let came = self.try_step();
        came.unwrap_or_else(|error| {
            // Nothing is left to do, or the same error would come up in an endless loop.
            (self.job, self.hunt, self.edge, self.fresh, self.wanted) = (None, None, None, false, 0);
            let mut state = self.shared.lock();
            state.problem = Some(error.to_string());
            state.reading = None;
            Step::Idle
        })
    }

    fn try_step(&mut self) -> Result<Step, FollowError> {
        let deadline = Instant::now() + STEP;
        // Requests first, in every step: what the user does now is worth more than what was being read.
        while let Some(request) = self.next_request() {
            self.take(request)?;
        }
        if let Some(job) = self.job.take() {
            self.job = self.work(job, deadline)?;
            return Ok(Step::Busy);
        }
        if self.wants_more() {
            self.read_behind(deadline)?;
            return Ok(Step::Busy);
        }
        if let Some(mut hunt) = self.hunt.take() {
            match hunt.step(self, deadline)? {
                Hunting::On(progress) => {
                    self.shared.lock().hunted = Hunted::Searching(progress);
                    self.hunt = Some(hunt);
                }
                Hunting::Over(hunted) => self.hunted(hunted)?,
            }
            return Ok(Step::Busy);
        }
        self.measure();
        Ok(Step::Idle)
    }

    fn next_request(&self) -> Option<Request> {
        self.shared.lock().requests.pop_front()
    }

    fn take(&mut self, request: Request) -> Result<(), FollowError> {
        match request {
            Request::Sources(sources) => self.set_sources(sources),
            Request::Side(side) => {
                self.manner.side = side;
                self.sources.iter_mut().for_each(|loaded| loaded.pages = None);
                self.reset();
                self.go_to(Target::End)
            }
            Request::GoTo(target) => self.go_to(target),
            Request::Before => self.before(),
            Request::Behind => {
                self.wanted = PAGE;
                Ok(())
            }
            Request::Search { query, direction, from } => {
                self.hunt = Some(Hunt::new(query, direction, from));
                Ok(())
            }
            Request::StopSearch => {
                self.hunt = None;
                self.shared.lock().hunted = Hunted::Nothing;
                Ok(())
            }
        }
    }

    fn reset(&mut self) {
        (self.job, self.hunt, self.edge, self.wanted) = (None, None, None, 0);
        let mut state = self.shared.lock();
        state.window.clear();
        (state.reading, state.problem, state.hunted) = (None, None, Hunted::Nothing);
    }

    fn set_sources(&mut self, sources: Vec<Source>) -> Result<(), FollowError> {
        // Turns are only added at the end as a rule; then the window, and where the user is in it, stays.
        let goes_on = !self.sources.is_empty()
            && self.sources.len() <= sources.len()
            && self.sources.iter().zip(&sources).all(|(old, new)| old.source.turn == new.turn);
        if goes_on {
            for (old, new) in self.sources.iter_mut().zip(&sources) {
                old.source = new.clone();
            }
            let more = sources.into_iter().skip(self.sources.len());
            self.sources.extend(more.map(|source| Loaded { source, pages: None }));
            self.fresh = true;
            return Ok(());
        }
        self.sources = sources.into_iter().map(|source| Loaded { source, pages: None }).collect();
        self.reset();
        self.go_to(Target::End)
    }

    /// The pages of a turn.
    pub(super) fn pages(&mut self, source: usize) -> Result<Option<Pages>, FollowError> {
        let Some(loaded) = self.sources.get_mut(source) else { return Ok(None) };
        if loaded.pages.is_none() {
            loaded.pages = match &self.paper {
                Paper::Task { hub, dir, kinds } => {
                    hub.pages(dir, *kinds, loaded.source.turn, self.manner.side)?
                }
                Paper::Patch(path) => Some(Pages::file(path.clone())),
            };
        }
        Ok(loaded.pages.clone())
    }

    pub(super) fn span(&mut self, source: usize, from: From<'_>) -> Result<Option<Span>, FollowError> {
        let Some(pages) = self.pages(source)? else { return Ok(None) };
        let turn = self.sources[source].source.turn;
        Ok(Some(Span::new(source, turn, &pages, from, self.manner)))
    }

    pub(super) fn source_of(&self, turn: u32) -> Option<usize> {
        self.sources.iter().position(|loaded| loaded.source.turn == turn)
    }

    /// The entry that stands above a turn.
    pub(super) fn heading(&self, source: usize) -> Option<Entry> {
        let source = &self.sources.get(source)?.source;
        let body = Body::Heading(source.heading.clone()?);
        Some(Entry { at: Anchor::heading(source.turn), body })
    }

    fn go_to(&mut self, target: Target) -> Result<(), FollowError> {
        (self.job, self.edge, self.wanted) = (None, None, 0);
        self.fresh = true;
        // What was looked at before says nothing about what may be dropped there.
        self.shared.lock().seen = None;
        let source = match target {
            Target::Start => Some(0),
            Target::End => self.sources.len().checked_sub(1),
            Target::At(anchor) => self.source_of(anchor.turn),
        };
        let Some((source, pages)) = source.and_then(|source| Some((source, self.pages(source).transpose()?)))
        else {
            // There is nothing to read yet.
            let mut state = self.shared.lock();
            state.window = Window { begins: true, ends: true, ..Window::default() };
            return Ok(());
        };
        let pages = pages?;
        let unknown = pages.length().saturating_sub(pages.known());
        if target == Target::End && unknown > SMALL {
            return self.glimpse(source, &pages);
        }
        let place = match target {
            Target::Start => 0,
            Target::End => pages.place_before(pages.length(), BACK).map_err(unreadable)?,
            Target::At(anchor) => pages.place_before(anchor.offset, BACK).map_err(unreadable)?,
        };
        let Some(span) = self.span(source, From::Place(place))? else { return Ok(()) };
        let mut before = VecDeque::new();
        if place == 0 {
            before.extend(self.heading(source));
        }
        let begins = source == 0 && place == 0;
        self.job = Some(Job::Fill(Fill { span, target, before, after: Vec::new(), begins }));
        Ok(())
    }

    /// The end of a long turn, before the rest of it is read.
    fn glimpse(&mut self, source: usize, pages: &Pages) -> Result<(), FollowError> {
        let turn = self.sources[source].source.turn;
        let mut weaver = Weaver::new(turn, self.manner, Footing::Unsure);
        let mut entries = Vec::new();
        for group in pages.glimpse(GLIMPSE).map_err(unreadable)? {
            weaver.feed(&group, &mut entries);
        }
        let mut state = self.shared.lock();
        state.window = Window { ends: true, glimpse: true, begun: weaver.begun(), ..Window::default() };
        state.window.push_back(entries);
        drop(state);
        self.job = Some(Job::Know { source });
        Ok(())
    }

    /// Goes on with a job; none: it is done.
    fn work(&mut self, job: Job, deadline: Instant) -> Result<Option<Job>, FollowError> {
        match job {
            Job::Know { source } => self.know(source, deadline),
            Job::Fill(fill) => self.fill(fill, deadline),
            Job::Before(before) => self.fill_before(before, deadline),
        }
    }

    fn know(&mut self, source: usize, deadline: Instant) -> Result<Option<Job>, FollowError> {
        let Some(pages) = self.pages(source)? else { return Ok(None) };
        while Instant::now() < deadline {
            if !pages.read_on().map_err(unreadable)? {
                self.shared.lock().reading = None;
                self.go_to(Target::End)?;
                return Ok(self.job.take());
            }
        }
        let progress = Progress { done: pages.known(), of: pages.length() };
        self.shared.lock().reading = Some(progress);
        Ok(Some(Job::Know { source }))
    }

    fn fill(&mut self, mut fill: Fill, deadline: Instant) -> Result<Option<Job>, FollowError> {
        let is_before = |entry: &Entry| match fill.target {
            Target::Start => false,
            Target::End => true,
            Target::At(anchor) => entry.at < anchor,
        };
        let mut out = Vec::new();
        let mut at_end = false;
        while Instant::now() < deadline && fill.after.len() < PAGE && !at_end {
            at_end = fill.span.step(&mut out).map_err(unreadable)? == Spanned::End;
            for entry in out.drain(..) {
                if is_before(&entry) {
                    fill.before.push_back(entry);
                    if fill.before.len() > PAGE {
                        fill.before.pop_front();
                        fill.begins = false;
                    }
                } else {
                    fill.after.push(entry);
                }
            }
        }
        if !at_end && fill.after.len() < PAGE {
            return Ok(Some(Job::Fill(fill)));
        }
        let Fill { span, before, after, begins, .. } = fill;
        let mut state = self.shared.lock();
        state.window = Window { begins, begun: span.begun(), ..Window::default() };
        state.window.push_back(before);
        state.window.push_back(after);
        drop(state);
        self.edge = Some(span);
        self.fresh = true;
        Ok(None)
    }

    /// Whether something is to be read behind the window.
    fn wants_more(&mut self) -> bool {
        let state = self.shared.lock();
        if state.window.glimpse || self.sources.is_empty() {
            return false;
        }
        let has_room = state.following || !state.window.is_full();
        self.wanted > 0 || (self.fresh && has_room)
    }

    fn read_behind(&mut self, deadline: Instant) -> Result<(), FollowError> {
        if self.edge.is_none() {
            self.edge = self.new_edge()?;
        }
        let Some(mut edge) = self.edge.take() else {
            (self.fresh, self.wanted) = (false, 0);
            return Ok(());
        };
        let mut out = Vec::new();
        let mut ends = false;
        // How much is held must not depend on how fast it is read.
        let state = self.shared.lock();
        let room = (MOST_ENTRIES + 1).saturating_sub(state.window.len());
        let most = if state.following || self.wanted > 0 { PAGE } else { PAGE.min(room) };
        drop(state);
        while Instant::now() < deadline && out.len() < most {
            if edge.step(&mut out).map_err(unreadable)? == Spanned::More {
                continue;
            }
            let is_last = edge.source + 1 >= self.sources.len();
            if !is_last || self.sources[edge.source].source.over {
                edge.finish(&mut out).map_err(unreadable)?;
            }
            if is_last {
                ends = true;
                break;
            }
            out.extend(self.heading(edge.source + 1));
            match self.span(edge.source + 1, From::Start)? {
                Some(next) => edge = next,
                None => {
                    ends = true;
                    break;
                }
            }
        }
        self.wanted = if ends { 0 } else { self.wanted.saturating_sub(out.len()) };
        self.fresh &= !ends;
        let mut state = self.shared.lock();
        state.window.push_back(out);
        state.window.begun = edge.begun().filter(|_| !edge.finished);
        state.window.ends = ends;
        let keep = match (state.following, state.seen) {
            (true, _) => state.window.last().map(|last| last.at),
            // What was seen before the window went elsewhere says nothing.
            (false, seen) => seen.map(|(first, _)| first).filter(|first| state.window.holds(*first)),
        };
        if let Some(keep) = keep {
            state.window.trim_front(keep);
        }
        drop(state);
        self.edge = Some(edge);
        Ok(())
    }

    /// A reader behind the last entry.
    fn new_edge(&mut self) -> Result<Option<Span>, FollowError> {
        let last = self.shared.lock().window.last().cloned();
        let Some(last) = last else { return self.span(0, From::Start) };
        let Some(source) = self.source_of(last.at.turn) else { return Ok(None) };
        match &last.body {
            Body::Heading(_) => self.span(source, From::Start),
            _ => self.span(source, From::After(&last)),
        }
    }

    /// A search is over.
    fn hunted(&mut self, hunted: Hunted) -> Result<(), FollowError> {
        let mut state = self.shared.lock();
        state.hunted = hunted;
        state.following = false;
        let away = matches!(hunted, Hunted::Found(at) if !state.window.holds(at));
        drop(state);
        match hunted {
            Hunted::Found(at) if away => self.go_to(Target::At(at)),
            Hunted::Found(_) | Hunted::Nothing | Hunted::NotFound(_) | Hunted::Searching(_) => Ok(()),
        }
    }

    /// How much is on file behind the window.
    fn measure(&mut self) {
        let edge = match &self.edge {
            Some(edge) => Some((edge.source, edge.at())),
            None => {
                let last = self.shared.lock().window.last().map(|last| last.at);
                last.and_then(|last| Some((self.source_of(last.turn)?, last.offset)))
            }
        };
        let Some((source, at)) = edge else { return };
        let mut below = 0_u64;
        for nth in source..self.sources.len() {
            let length = self.pages(nth).ok().flatten().map_or(0, |pages| pages.length());
            below += if nth == source { length.saturating_sub(at) } else { length };
        }
        let mut state = self.shared.lock();
        state.below = if state.window.ends { 0 } else { below };
    }
}

/// A file that does not read.
pub(super) fn unreadable(source: std::io::Error) -> FollowError {
    FollowError::Output { path: std::path::PathBuf::new(), source }
}
