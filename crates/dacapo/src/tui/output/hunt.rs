//! A search through all of the document, step by step.

use std::time::Instant;

use dacapo_core::follow::FollowError;

use super::entry::{Anchor, Entry};
use super::reader::{Reader, unreadable};
use super::search::Query;
use super::shared::{Direction, Hunted, Progress};
use super::span::{From, Span, Spanned};

/// How much is read at once when one searches upwards: forward, from a place that far before.
const BLOCK: u64 = if cfg!(test) { 300 } else { 1 << 20 };

/// What a step came to.
pub(super) enum Hunting {
    On(Progress),
    Over(Hunted),
}

pub(super) struct Hunt {
    query: Query,
    direction: Direction,
    from: Option<Anchor>,
    span: Option<Block>,
    /// Bytes that were searched.
    done: u64,
    of: Option<u64>,
}

struct Block {
    span: Span,
    /// Offset of its first byte.
    place: u64,
    /// How much of it was counted.
    counted: u64,
    bytes: u64,
    stop: Option<Anchor>,
    /// The first entry of it; what is before is for the next block.
    first: Option<Anchor>,
    /// The last one that has it.
    found: Option<Anchor>,
}

impl Hunt {
    pub(super) fn new(query: Query, direction: Direction, from: Option<Anchor>) -> Self {
        Self { query, direction, from, span: None, done: 0, of: None }
    }

    pub(super) fn step(&mut self, reader: &mut Reader, deadline: Instant) -> Result<Hunting, FollowError> {
        let of = match self.of {
            Some(of) => of,
            None => *self.of.insert(self.length(reader)?),
        };
        if self.span.is_none() {
            self.span = self.begin(reader)?;
        }
        while Instant::now() < deadline {
            let Some(block) = self.span.take() else {
                return Ok(Hunting::Over(Hunted::NotFound(self.direction)));
            };
            match self.direction {
                Direction::Down => {
                    if let Some(found) = self.down(block, reader)? {
                        return Ok(Hunting::Over(Hunted::Found(found)));
                    }
                }
                Direction::Up => {
                    if let Some(found) = self.up(block, reader)? {
                        return Ok(Hunting::Over(Hunted::Found(found)));
                    }
                }
            }
        }
        Ok(Hunting::On(Progress { done: self.done, of }))
    }

    fn has(&self, entry: &Entry) -> bool {
        entry.texts().any(|text| self.query.is_in(text))
    }

    /// Bytes that are to be searched.
    fn length(&self, reader: &mut Reader) -> Result<u64, FollowError> {
        let at = self.from.and_then(|from| Some((reader.source_of(from.turn)?, from.offset)));
        let mut length = 0;
        for nth in 0..reader.sources.len() {
            let own = reader.pages(nth)?.map_or(0, |pages| pages.length());
            length += match (self.direction, at) {
                (_, None) => own,
                (Direction::Down, Some((source, offset))) if nth == source => own.saturating_sub(offset),
                (Direction::Up, Some((source, offset))) if nth == source => offset,
                (Direction::Down, Some((source, _))) if nth > source => own,
                (Direction::Up, Some((source, _))) if nth < source => own,
                _ => 0,
            };
        }
        Ok(length)
    }

    fn begin(&self, reader: &mut Reader) -> Result<Option<Block>, FollowError> {
        let last = reader.sources.len().saturating_sub(1);
        match (self.direction, self.from) {
            (Direction::Down, None) => Self::block(reader, 0, From::Start, 0),
            (Direction::Down, Some(from)) => {
                let source = reader.source_of(from.turn).unwrap_or(0);
                let start = if from.part == 0 { From::Start } else { From::Behind(from) };
                Self::block(reader, source, start, from.offset)
            }
            (Direction::Up, None) => Self::block_before(reader, last, None, BLOCK),
            (Direction::Up, Some(from)) => {
                let source = reader.source_of(from.turn).unwrap_or(last);
                Self::block_before(reader, source, Some(from), BLOCK)
            }
        }
    }

    fn block(
        reader: &mut Reader,
        source: usize,
        from: From<'_>,
        place: u64,
    ) -> Result<Option<Block>, FollowError> {
        let Some(span) = reader.span(source, from)? else { return Ok(None) };
        Ok(Some(Block { span, place, counted: place, bytes: 0, stop: None, first: None, found: None }))
    }

    /// The part of a turn that is before `stop`; without it, its end.
    fn block_before(
        reader: &mut Reader,
        source: usize,
        stop: Option<Anchor>,
        bytes: u64,
    ) -> Result<Option<Block>, FollowError> {
        let Some(pages) = reader.pages(source)? else { return Ok(None) };
        let at = stop.map_or_else(|| pages.length(), |stop| stop.offset);
        let place = pages.place_before(at, bytes).map_err(unreadable)?;
        let Some(mut span) = reader.span(source, From::Place(place))? else { return Ok(None) };
        if let Some(stop) = stop {
            span = span.until(stop);
        }
        Ok(Some(Block { span, place, counted: place, bytes, stop, first: None, found: None }))
    }

    fn down(&mut self, mut block: Block, reader: &mut Reader) -> Result<Option<Anchor>, FollowError> {
        let mut out = Vec::new();
        let at_end = block.span.step(&mut out).map_err(unreadable)? == Spanned::End;
        if at_end {
            block.span.finish(&mut out).map_err(unreadable)?;
        }
        if let Some(found) = out.iter().find(|entry| self.has(entry)) {
            return Ok(Some(found.at));
        }
        self.done += block.span.at().saturating_sub(block.counted);
        block.counted = block.counted.max(block.span.at());
        self.span =
            if at_end { Self::block(reader, block.span.source + 1, From::Start, 0)? } else { Some(block) };
        Ok(None)
    }

    /// One step in a block; at its end the block before it.
    fn up(&mut self, mut block: Block, reader: &mut Reader) -> Result<Option<Anchor>, FollowError> {
        let mut out = Vec::new();
        let at_end = block.span.step(&mut out).map_err(unreadable)? == Spanned::End;
        if at_end {
            block.span.finish(&mut out).map_err(unreadable)?;
            out.retain(|entry| block.stop.is_none_or(|stop| entry.at < stop));
        }
        block.first = block.first.or(out.first().map(|entry| entry.at));
        // The block is read forward although the search goes up, because a message can only be read from its
        // beginning. So no match is the answer until the whole block is read: the last one is the nearest.
        if let Some(found) = out.iter().rev().find(|entry| self.has(entry)) {
            block.found = Some(found.at);
        }
        if !at_end {
            self.span = Some(block);
            return Ok(None);
        }
        if block.found.is_some() {
            return Ok(block.found);
        }
        let source = block.span.source;
        let searched = block.stop.map_or_else(|| block.span.at(), |stop| stop.offset);
        self.done += searched.saturating_sub(block.first.map_or(searched, |first| first.offset));
        self.span = match (block.place, block.first) {
            (0, _) => match source.checked_sub(1) {
                Some(earlier) => Self::block_before(reader, earlier, None, BLOCK)?,
                None => None,
            },
            // The block may begin inside a message, which is then skipped. The next one ends at the first entry that
            // was whole, so that what was skipped is searched there.
            (_, Some(first)) => Self::block_before(reader, source, Some(first), BLOCK)?,
            // A message that is longer than the block.
            (_, None) => Self::block_before(reader, source, block.stop, block.bytes.saturating_mul(4))?,
        };
        Ok(None)
    }
}
