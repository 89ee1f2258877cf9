//! Going back: what is before the window is read forward from a place before it.

use std::time::Instant;

use dacapo_core::follow::FollowError;

use super::entry::{Anchor, Entry};
use super::reader::{BACK, Job, PAGE, Reader, unreadable};
use super::shared::Progress;
use super::span::{From, Span, Spanned};

/// More comes before the window.
pub(super) struct Before {
    span: Span,
    place: u64,
    bytes: u64,
    stop: Option<Anchor>,
    entries: Vec<Entry>,
}

impl Reader {
    pub(super) fn before(&mut self) -> Result<(), FollowError> {
        let state = self.shared.lock();
        if state.window.begins || state.window.glimpse || self.job.is_some() {
            return Ok(());
        }
        let first = state.window.first().map(|first| first.at);
        drop(state);
        let Some(first) = first else { return Ok(()) };
        let Some(source) = self.source_of(first.turn) else { return Ok(()) };
        if first.part == 0 {
            return self.turn_before(source);
        }
        self.begin_before(source, Some(first), BACK)
    }

    /// Reads what is before `stop` in a turn; without it, its end.
    fn begin_before(&mut self, source: usize, stop: Option<Anchor>, bytes: u64) -> Result<(), FollowError> {
        let Some(pages) = self.pages(source)? else { return self.turn_before(source) };
        let at = stop.map_or_else(|| pages.length(), |stop| stop.offset);
        let place = pages.place_before(at, bytes).map_err(unreadable)?;
        let Some(mut span) = self.span(source, From::Place(place))? else { return Ok(()) };
        if let Some(stop) = stop {
            span = span.until(stop);
        }
        self.job = Some(Job::Before(Before { span, place, bytes, stop, entries: Vec::new() }));
        Ok(())
    }

    /// The end of the turn before this one.
    fn turn_before(&mut self, source: usize) -> Result<(), FollowError> {
        match source.checked_sub(1) {
            Some(earlier) => self.begin_before(earlier, None, BACK),
            None => {
                self.shared.lock().window.begins = true;
                Ok(())
            }
        }
    }

    pub(super) fn fill_before(
        &mut self,
        mut job: Before,
        deadline: Instant,
    ) -> Result<Option<Job>, FollowError> {
        let source = job.span.source;
        let mut at_end = false;
        while Instant::now() < deadline && !at_end {
            at_end = job.span.step(&mut job.entries).map_err(unreadable)? == Spanned::End;
            if job.entries.len() > 2 * PAGE {
                job.entries.drain(..PAGE);
                // What is before these is for the next time.
                job.place = job.place.max(1);
            }
        }
        if !at_end {
            let of = job.stop.map(|stop| stop.offset).or(self.pages(source)?.map(|pages| pages.length()));
            let reading = Progress { done: job.span.at(), of: of.unwrap_or(0) };
            // Within a few megabytes of a checkpoint it is not worth a word.
            self.shared.lock().reading = (job.stop.is_none()).then_some(reading);
            return Ok(Some(Job::Before(job)));
        }
        // The last line may be one without an end.
        job.span.finish(&mut job.entries).map_err(unreadable)?;
        job.entries.retain(|entry| job.stop.is_none_or(|stop| entry.at < stop));
        // No entry begins in this part: it is the middle of one long message. Reading further back in growing steps
        // finds its beginning without reading a large turn from the start.
        if job.entries.is_empty() && job.place > 0 {
            self.begin_before(source, job.stop, job.bytes.saturating_mul(4))?;
            return Ok(self.job.take());
        }
        if job.place == 0 {
            job.entries.splice(0..0, self.heading(source));
        }
        if job.entries.is_empty() {
            self.turn_before(source)?;
            return Ok(self.job.take());
        }
        let begins = source == 0 && job.place == 0;
        let mut state = self.shared.lock();
        state.reading = None;
        state.window.push_front(job.entries);
        state.window.begins = begins;
        // The screen must not lose what it shows now. Only entries behind the last visible one are dropped; the
        // reader then no longer stands at the end of the window, and its place there is given up.
        let seen = state.seen.map(|(_, last)| last).filter(|last| state.window.holds(*last));
        let keep = seen.or(state.window.first().map(|first| first.at));
        if keep.is_some_and(|keep| state.window.trim_back(keep)) {
            self.edge = None;
        }
        Ok(None)
    }
}
