//! The turn at work: its output, and where among it the journal's events stand.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;

use super::position::Mark;
use super::tape::{Cursor, MakeParser, Next, Tape};
use super::{FollowError, Stream as From};
use crate::agent::{self, Adapter, Parser};
use crate::engine::machine::TurnPlan;
use crate::engine::reader::{Metered, setting};
use crate::event::{Envelope, Event};
use crate::spec::{OutputFormat, TaskSpec};
use crate::store::{TaskDir, files};

/// The tapes of a turn, for all who follow it.
pub(super) struct Tapes {
    raw: Arc<Tape>,
    /// Standard error, for agents of which it is listened to.
    stderr: Option<Arc<Tape>>,
}

impl Tapes {
    pub(super) fn raw(&self) -> Arc<Tape> {
        Arc::clone(&self.raw)
    }

    pub(super) fn of(dir: &TaskDir, spec: &Arc<TaskSpec>, plan: TurnPlan) -> Self {
        let turn = plan.turn;
        let format = spec.agents[plan.agent].output;
        let overheard = agent::adapter(format).filter(|adapter| adapter.stderr_parser().is_some());
        let stderr = overheard.map(|adapter: &'static dyn Adapter| {
            let parser: MakeParser = Box::new(move |_| {
                adapter.stderr_parser().unwrap_or_else(|| agent::parser(OutputFormat::Text, <_>::default()))
            });
            Tape::new(dir.turn_path(turn, "err"), Some(parser))
        });
        Self { raw: Tape::new(dir.turn_path(turn, "raw"), parser_of(dir, spec, plan)), stderr }
    }
}

fn parser_of(dir: &TaskDir, spec: &Arc<TaskSpec>, plan: TurnPlan) -> Option<MakeParser> {
    if spec.agents[plan.agent].output == OutputFormat::Text {
        return None;
    }
    // What it was told is of no use here, and can be long.
    let plan = TurnPlan { prompt: String::new(), ..plan };
    let (dir, spec) = (dir.clone(), Arc::clone(spec));
    Some(Box::new(move |file| {
        let agent = &spec.agents[plan.agent];
        let setting = setting(spec.name.as_str(), &dir, &plan, agent, file);
        let parser = agent::parser(agent.output, setting);
        Box::new(Metered::new(parser, agent.price)) as Box<dyn Parser>
    }))
}

/// How much of the output comes before something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Until {
    pub(super) raw: u64,
    pub(super) stderr: u64,
}

/// A turn whose end was not delivered yet, as one client sees it.
pub(super) struct Turn {
    pub(super) number: u32,
    raw: Cursor,
    stderr: Option<Cursor>,
    index: PathBuf,
    /// Others find them as long as somebody has them.
    _tapes: Arc<Tapes>,
}

/// Something that the agent did, and where it stands.
pub(super) struct Did {
    pub(super) from: From,
    pub(super) offset: u64,
    pub(super) behind: Mark,
    pub(super) event: crate::event::AgentEvent,
}

/// What a look came to.
pub(super) enum Look {
    Did(Did),
    More,
    Nothing,
}

impl Turn {
    pub(super) fn new(number: u32, dir: &TaskDir, tapes: Arc<Tapes>) -> Self {
        Self {
            number,
            raw: Cursor::new(Arc::clone(&tapes.raw), Mark::default()),
            stderr: tapes.stderr.as_ref().map(|tape| Cursor::new(Arc::clone(tape), Mark::default())),
            index: dir.turn_path(number, "idx"),
            _tapes: tapes,
        }
    }

    /// Goes to where a client was. False: there is not that much any more.
    pub(super) fn go_to(&mut self, raw: Mark, stderr: Mark) -> bool {
        let go = |cursor: &mut Cursor, mark: Mark| {
            let there = mark.bytes <= cursor.tape().length();
            *cursor = Cursor::new(cursor.shared_tape(), mark);
            there
        };
        let raw_is_there = go(&mut self.raw, raw);
        raw_is_there && self.stderr.as_mut().is_none_or(|cursor| go(cursor, stderr))
    }

    /// All that is on file now.
    pub(super) fn length(&self) -> Until {
        let stderr = self.stderr.as_ref().map_or(0, |cursor| cursor.tape().length());
        Until { raw: self.raw.tape().length(), stderr }
    }

    /// What comes before an event, of what was there when the look began. Older versions did not write down where that is:
    /// then it is by the times in the index beside the raw file, right to a tenth of a second.
    pub(super) fn before(&self, line: &Envelope, there: Until) -> Until {
        if matches!(line.event, Event::TurnFinished(_)) {
            // All output stands before the end of the turn, also what was flushed to the file after the event was
            // made.
            return Until { raw: u64::MAX, stderr: u64::MAX };
        }
        match line.came_at.filter(|came_at| came_at.turn == self.number) {
            Some(came_at) => Until { raw: came_at.raw, stderr: came_at.stderr },
            None => Until { raw: self.length_at(line.at).unwrap_or(there.raw), stderr: there.stderr },
        }
    }

    fn length_at(&self, time: Timestamp) -> Option<u64> {
        let index = files::open(&self.index).ok()?;
        let entries = BufReader::new(index).lines().map_while(Result::ok).filter_map(|line| {
            let (offset, millis) = line.split_once(' ')?;
            Some((offset.parse::<u64>().ok()?, millis.parse::<i64>().ok()?))
        });
        let mut later = entries.filter(|(_, millis)| *millis > time.as_millisecond());
        later.next().map(|(offset, _)| offset)
    }

    /// The next thing that comes of the output up to `until`: standard error first, so that the order depends only on how far
    /// a client is.
    pub(super) fn next(&mut self, until: Until) -> Result<Look, FollowError> {
        if let Some(stderr) = &mut self.stderr {
            match taken(stderr, From::Stderr, |cursor| cursor.next(until.stderr))? {
                Look::Nothing => {}
                step => return Ok(step),
            }
        }
        taken(&mut self.raw, From::Stdout, |cursor| cursor.next(until.raw))
    }

    /// The next thing that comes when the turn is over.
    pub(super) fn last(&mut self) -> Result<Look, FollowError> {
        taken(&mut self.raw, From::Stdout, Cursor::last)
    }

    /// Goes to the last few things, where they can be found without reading all that is before them.
    pub(super) fn skip_to_last(&mut self, things: usize, until: Until) -> Result<bool, FollowError> {
        let path = self.raw.tape().path().to_owned();
        self.raw.skip_to_last(things, until.raw).map_err(|source| FollowError::Output { path, source })
    }

    pub(super) fn marks(&self) -> (Mark, Mark) {
        (self.raw.at(), self.stderr.as_ref().map_or_else(Mark::default, Cursor::at))
    }
}

fn taken(
    cursor: &mut Cursor,
    from: From,
    look: impl FnOnce(&mut Cursor) -> std::io::Result<Next>,
) -> Result<Look, FollowError> {
    match look(cursor) {
        Ok(Next::Did { offset, behind, event }) => Ok(Look::Did(Did { from, offset, behind, event })),
        Ok(Next::More) => Ok(Look::More),
        Ok(Next::Nothing) => Ok(Look::Nothing),
        Err(source) => Err(FollowError::Output { path: cursor.tape().path().to_owned(), source }),
    }
}
