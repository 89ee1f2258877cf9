//! A client's place in one task.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::followed::{Bell, Followed, Watched};
use super::interleave::{Interleave, Interleaved, Output};
use super::position::Position;
use super::{FollowError, Item, Opening, Rest};
use crate::engine::Kinds;
use crate::spec::TaskSpec;
use crate::store::JournalError;

/// Follows one task for one client. Whoever asks reads: what is not asked for costs nothing but two watches of the kernel's.
pub struct Follow {
    watched: Watched,
    items: Interleave,
    position: Position,
    /// Found already, and to be delivered first.
    ready: VecDeque<(Position, Item)>,
    /// What agents did is passed over until all events have come; then this many of the last things are given.
    tail: Option<usize>,
    /// Whether anything of what agents do is wanted.
    output: Output,
    /// The news that were there when all had been delivered.
    seen: Option<u64>,
    caught_up: bool,
    told_rest: bool,
    cancelled: Arc<AtomicBool>,
}

/// Ends a client's sleep from another thread.
#[derive(Debug, Clone)]
pub struct Canceller {
    followed: Arc<Followed>,
    cancelled: Arc<AtomicBool>,
}

impl Canceller {
    /// What sleeps in [`Follow::next`] returns at once, and so does every later call.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        self.followed.wake_all();
    }
}

impl Follow {
    pub(super) fn open(watched: Watched, kinds: Kinds, opening: Opening) -> Result<Self, FollowError> {
        let mut items = Interleave::new(watched.hub.clone(), &watched.followed.dir, kinds)?;
        let (tail, output) = match opening {
            Opening::Start => (None, Output::Wanted),
            Opening::Tail(things) => (Some(things), Output::Wanted),
            Opening::Events => (None, Output::PassedOver),
            Opening::After(position) => {
                items.go_to(&position)?;
                (None, Output::Wanted)
            }
        };
        Ok(Self {
            watched,
            position: items.position.clone(),
            items,
            ready: VecDeque::new(),
            tail,
            output,
            seen: None,
            caught_up: false,
            told_rest: false,
            cancelled: Arc::default(),
        })
    }

    /// What was asked of the task.
    pub fn spec(&self) -> &Arc<TaskSpec> {
        &self.items.spec
    }

    /// Behind what was delivered last: [`Opening::After`] goes on there.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// Whether anybody drives the task, by the newest that is known.
    pub fn is_driven(&self) -> bool {
        self.watched.is_driven()
    }

    /// Whether all that was on file at the last look has been delivered.
    pub fn is_up_to_date(&self) -> bool {
        self.seen.is_some() && self.ready.is_empty()
    }

    /// Rings this bell whenever [`Follow::next`] may have something.
    pub fn ring(&self, bell: &Bell) {
        self.watched.ring(bell);
    }

    /// Ends a sleep from another thread.
    pub fn canceller(&self) -> Canceller {
        Canceller { followed: Arc::clone(&self.watched.followed), cancelled: Arc::clone(&self.cancelled) }
    }

    /// The next thing; waits for it until the deadline, without one for ever. None: the time is over, or it was cancelled.
    /// With a deadline in the past it is only a look, and a cheap one where nothing is new.
    pub fn next(&mut self, deadline: Option<Instant>) -> Result<Option<Item>, FollowError> {
        loop {
            if let Some((position, item)) = self.ready.pop_front() {
                self.position = position;
                return Ok(Some(item));
            }
            if self.cancelled.load(Ordering::Acquire) {
                return Ok(None);
            }
            if let Some(seen) = self.seen {
                let cancelled = &self.cancelled;
                if !self.watched.followed.wait(seen, deadline, || cancelled.load(Ordering::Acquire)) {
                    return Ok(None);
                }
            }
            self.look()?;
            // What is passed over can be long: it is not for the look to keep somebody who has other things to do.
            if self.ready.is_empty()
                && self.seen.is_none()
                && deadline.is_some_and(|deadline| deadline <= Instant::now())
            {
                return Ok(None);
            }
        }
    }

    /// Finds the next thing.
    fn look(&mut self) -> Result<(), FollowError> {
        self.seen = None;
        let followed = Arc::clone(&self.watched.followed);
        // Read before the files: what is written after this makes the next wait return at once.
        let news = followed.news();
        if followed.is_gone() {
            return self.gone();
        }
        // Asked before it is read: what nobody drives has all it will ever say on file.
        let driven = followed.is_driven();
        let output = if self.tail.is_some() { Output::PassedOver } else { self.output };
        match self.items.step(output) {
            Ok(Interleaved::Item(item)) => self.deliver(item),
            Ok(Interleaved::More) => {}
            Ok(Interleaved::UpToDate) => self.up_to_date(news, driven)?,
            // Files that are gone with their directory are no damage.
            Err(_) if !followed.is_there() => {
                followed.set_gone();
                return self.gone();
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn deliver(&mut self, item: Item) {
        let position = self.items.position.clone();
        let is_event = matches!(item, Item::Event(_));
        self.told_rest = false;
        self.ready.push_back((position.clone(), item));
        // While the past is told, what went on then is of no use.
        if is_event && self.caught_up {
            let doing = self.items.doing().map(Item::Activity);
            self.ready.extend(doing.map(|doing| (position, doing)));
        }
    }

    fn up_to_date(&mut self, news: u64, driven: bool) -> Result<(), FollowError> {
        if let Some(things) = self.tail.take() {
            self.ready.extend(self.items.last_of_turn(things)?);
            return Ok(());
        }
        let position = self.items.position.clone();
        if !self.caught_up {
            self.caught_up = true;
            let doing = self.items.doing().map(Item::Activity);
            self.ready.extend(doing.into_iter().chain([Item::CaughtUp]).map(|item| (position.clone(), item)));
            return Ok(());
        }
        if !driven && !self.told_rest {
            // By the last look; it may have been taken up since.
            if self.watched.followed.look().map_err(FollowError::Lock)? {
                return Ok(());
            }
            // Something arrived during the look: it is delivered before the end is told.
            if self.watched.followed.news() == news {
                self.told_rest = true;
                self.ready.push_back((position, Item::Over(self.items.rest())));
            }
            return Ok(());
        }
        self.seen = Some(news);
        Ok(())
    }

    fn gone(&mut self) -> Result<(), FollowError> {
        if self.items.position.seq == 0 && !self.caught_up {
            // It was gone before anything of it was read.
            let path = self.watched.followed.dir.journal_path();
            return Err(JournalError::Removed { path }.into());
        }
        self.ready.push_back((self.items.position.clone(), Item::Over(Rest::Gone)));
        Ok(())
    }
}
