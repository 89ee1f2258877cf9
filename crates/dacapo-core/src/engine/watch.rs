//! A task that another process drives, shown as if it were driven here: the journal as it grows and, through the same
//! parsers, what the agent prints meanwhile. What is going on between two events follows from the machine: it derives
//! the same effect as the driver's does.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;

use super::machine::{Effect, Machine, TurnPlan};
use super::reader::{Reader, setting};
use super::surroundings::{Activity, Sink};
use super::writing::name_of;
use crate::agent::acp::Heard;
use crate::agent::{self, Adapter, Parser};
use crate::event::{AgentEvent, Envelope, Event, TaskResult, Writing};
use crate::spec::TaskSpec;
use crate::store::{self, JournalError, OpenError, TaskDir, files};
use crate::task::Kinds;

/// So much of what the agent did last is shown to somebody who comes in the middle of a turn.
const RECENT: usize = 5;

/// What is read at once, at most.
const CHUNK: usize = 64 << 10;

/// A task cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// Its spec.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Its journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// What its agent prints.
    #[error("cannot read {}: {source}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Something was shown; there may be more.
    Shown,
    /// All that is on file has been shown.
    UpToDate,
}

/// Reads a task's record and shows it. One step is a line of the journal or a piece of output: memory does not grow with
/// either, and whoever watches can listen to something else in between.
pub struct Watch {
    dir: TaskDir,
    spec: Arc<TaskSpec>,
    /// None for a kind that is not known here: its record reads all the same, and only what goes on between two events
    /// stays unsaid.
    machine: Option<Box<dyn Machine + Send>>,
    journal: Option<store::Reader>,
    /// Read, and to be shown when what the agent did before it, in so many bytes, has been.
    ahead: Option<(Envelope, u64)>,
    turn: Option<Turn>,
    last: Option<Envelope>,
    /// The end of the task, unless it was taken up again since.
    end: Option<(u64, TaskResult)>,
    sub: u64,
}

impl Watch {
    /// Watches the task in `dir` from its first event on.
    pub fn new(dir: &TaskDir, kinds: Kinds) -> Result<Self, WatchError> {
        let spec = Arc::new(dir.spec()?);
        let machine = kinds.machine(&spec).ok();
        Ok(Self {
            dir: dir.clone(),
            spec,
            machine,
            journal: None,
            ahead: None,
            turn: None,
            last: None,
            end: None,
            sub: 0,
        })
    }

    /// What was asked.
    pub fn spec(&self) -> &TaskSpec {
        &self.spec
    }

    /// The number of the event by which the task has ended, and its result. More may have been noted since: whom it was
    /// told, where its work went.
    pub fn end(&self) -> Option<(u64, &TaskResult)> {
        self.end.as_ref().map(|(seq, result)| (*seq, result))
    }

    /// Takes in all events that are on record, without what agents did in turns that are over.
    pub fn catch_up(&mut self, mut each: impl FnMut(&Envelope)) -> Result<(), WatchError> {
        while let Some((line, _)) = self.next_line()? {
            each(&line);
            self.take_in(line);
        }
        Ok(())
    }

    /// Shows the last few things that the agent at work has done, and what is going on.
    pub fn show_recent(&mut self, sink: &mut dyn Sink) -> Result<(), WatchError> {
        let mut recent = Recent::default();
        if let Some(turn) = &self.turn {
            // What comes from now on is news.
            let until = turn.raw.length();
            while self.output(&mut recent, until)? {}
        }
        if let Some(after) = self.last.clone() {
            for (sub, event) in recent.usage.into_iter().chain(recent.events) {
                sink.agent(&after, sub, &event);
            }
        }
        self.say_what_goes_on(sink);
        Ok(())
    }

    /// Shows the next thing, if there is one.
    pub fn step(&mut self, sink: &mut dyn Sink) -> Result<Step, WatchError> {
        let Some((line, before)) = self.next_line()? else {
            return Ok(if self.output(sink, u64::MAX)? { Step::Shown } else { Step::UpToDate });
        };
        if self.output(sink, before)? {
            self.ahead = Some((line, before));
            return Ok(Step::Shown);
        }
        if matches!(line.event, Event::TurnFinished(_)) {
            self.end_turn(sink);
        }
        sink.event(&line);
        self.take_in(line);
        self.say_what_goes_on(sink);
        Ok(Step::Shown)
    }

    /// The next event, and how much of the output of the turn at work was there before it.
    fn next_line(&mut self) -> Result<Option<(Envelope, u64)>, WatchError> {
        if let Some(ahead) = self.ahead.take() {
            return Ok(Some(ahead));
        }
        if self.journal.is_none() {
            let path = self.dir.journal_path();
            // One that waits for its turn may have none yet.
            if !path.exists() {
                return Ok(None);
            }
            self.journal = Some(store::Reader::open(&path)?);
        }
        let Some(journal) = &mut self.journal else { return Ok(None) };
        let Some(line) = journal.next_line()? else { return Ok(None) };
        let before = match (&self.turn, &line.event) {
            (None, _) | (_, Event::TurnFinished(_)) => u64::MAX,
            (Some(turn), _) => turn.length_at(line.at),
        };
        Ok(Some((line, before)))
    }

    fn take_in(&mut self, line: Envelope) {
        if let Some(machine) = &mut self.machine {
            machine.apply(&line);
        }
        self.sub = 0;
        match &line.event {
            Event::TurnStarted { .. } => {
                self.turn = match self.next_effect() {
                    Some(Effect::RunTurn(plan)) => Some(Turn::new(&self.dir, &self.spec, plan)),
                    _ => None,
                };
            }
            Event::TurnFinished(_) => self.turn = None,
            Event::TaskFinished(result) => self.end = Some((line.seq, result.clone())),
            Event::TaskStarted { .. } | Event::Resumed { .. } => self.end = None,
            _ => {}
        }
        self.last = Some(line);
    }

    /// Shows a piece of what the agent at work prints, of its first `until` bytes. False: there is no more of it.
    fn output(&mut self, sink: &mut dyn Sink, until: u64) -> Result<bool, WatchError> {
        let (Some(turn), Some(after)) = (&mut self.turn, &self.last) else { return Ok(false) };
        let sub = &mut self.sub;
        let mut show = |event: &AgentEvent| {
            sink.agent(after, *sub, event);
            *sub += 1;
        };
        let overheard = turn.overhear(&mut show)?;
        let heard = turn.hear(&self.dir, &self.spec, until, &mut show)?;
        // An event is not kept waiting by an agent that never stops complaining.
        Ok(heard || (overheard && until == u64::MAX))
    }

    fn end_turn(&mut self, sink: &mut dyn Sink) {
        let (Some(turn), Some(after)) = (&mut self.turn, &self.last) else { return };
        let sub = &mut self.sub;
        turn.finish(&mut |event| {
            sink.agent(after, *sub, event);
            *sub += 1;
        });
    }

    fn next_effect(&self) -> Option<Effect> {
        self.machine.as_ref()?.next()
    }

    fn say_what_goes_on(&self, sink: &mut dyn Sink) {
        match self.next_effect() {
            Some(Effect::RunCheck(plan)) => sink.activity(&Activity::Check(&plan.command)),
            Some(Effect::PrepareProof(plan)) => sink.activity(&Activity::Proving(&plan.commit)),
            Some(Effect::PrepareCommit(_)) => sink.activity(&Activity::Committing),
            Some(Effect::Write(plan)) => {
                let writer = match plan.what {
                    Writing::Summary => &self.spec.context.summary_by,
                    Writing::CommitMessage => &self.spec.context.message_by,
                };
                if let Some(writer) = writer {
                    sink.activity(&Activity::Writing { what: plan.what, by: name_of(writer) });
                }
            }
            _ => {}
        }
    }
}

/// A turn whose end is not on record yet.
struct Turn {
    plan: TurnPlan,
    raw: Output,
    index: PathBuf,
    reader: Reading,
    /// Standard error, for agents of which it is listened to.
    overheard: Option<(Output, Box<dyn Parser>)>,
}

enum Reading {
    /// Nothing has been printed yet.
    Before,
    Begun(Box<Reader>),
    Over,
}

impl Turn {
    fn new(dir: &TaskDir, spec: &TaskSpec, plan: TurnPlan) -> Self {
        let adapter = agent::adapter(spec.agents[plan.agent].output);
        let parser = adapter.and_then(Adapter::stderr_parser);
        Self {
            raw: Output::new(dir.turn_path(plan.turn, "raw")),
            index: dir.turn_path(plan.turn, "idx"),
            overheard: parser.map(|parser| (Output::new(dir.turn_path(plan.turn, "err")), parser)),
            reader: Reading::Before,
            plan,
        }
    }

    fn hear(
        &mut self,
        dir: &TaskDir,
        spec: &TaskSpec,
        until: u64,
        show: &mut dyn FnMut(&AgentEvent),
    ) -> Result<bool, WatchError> {
        if matches!(self.reader, Reading::Over) {
            return Ok(false);
        }
        if !self.raw.advance(until)? {
            return Ok(false);
        }
        if let (Reading::Before, Some(file)) = (&self.reader, &self.raw.file) {
            let agent = &spec.agents[self.plan.agent];
            let own = |source| WatchError::Output { path: self.raw.path.clone(), source };
            let file = file.try_clone().map_err(own)?;
            let setting = setting(spec.name.as_str(), dir, &self.plan, agent, &file);
            // Whether it promised something is for the driver to say.
            self.reader = Reading::Begun(Box::new(Reader::new(agent, setting, None, "", file)));
        }
        let Reading::Begun(reader) = &mut self.reader else { return Ok(false) };
        let over = reader.feed(&self.raw.buffer, &mut |heard| {
            if let Heard::Event(event) = heard {
                show(&event);
            }
        });
        if over {
            self.finish(show);
        }
        Ok(true)
    }

    fn overhear(&mut self, show: &mut dyn FnMut(&AgentEvent)) -> Result<bool, WatchError> {
        let Some((output, parser)) = &mut self.overheard else { return Ok(false) };
        let more = output.advance(u64::MAX)?;
        parser.feed(&output.buffer, &mut |event| show(&event));
        Ok(more)
    }

    fn finish(&mut self, show: &mut dyn FnMut(&AgentEvent)) {
        if let Reading::Begun(reader) = std::mem::replace(&mut self.reader, Reading::Over) {
            reader.finish(&mut |heard| {
                if let Heard::Event(event) = heard {
                    show(&event);
                }
            });
        }
    }

    /// About how much had been printed at a time, by the index beside the raw file; without a later line in it, all that
    /// is there now.
    fn length_at(&self, time: Timestamp) -> u64 {
        let Ok(index) = files::open(&self.index) else { return self.raw.length() };
        let entries = BufReader::new(index).lines().map_while(Result::ok).filter_map(|line| {
            let (offset, millis) = line.split_once(' ')?;
            Some((offset.parse::<u64>().ok()?, millis.parse::<i64>().ok()?))
        });
        let mut later = entries.filter(|(_, millis)| *millis > time.as_millisecond());
        later.next().map_or_else(|| self.raw.length(), |(offset, _)| offset)
    }
}

/// A file that an agent's output goes to.
struct Output {
    path: PathBuf,
    file: Option<File>,
    at: u64,
    /// What was read last.
    buffer: Vec<u8>,
}

impl Output {
    fn new(path: PathBuf) -> Self {
        Self { path, file: None, at: 0, buffer: Vec::new() }
    }

    fn length(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |meta| meta.len())
    }

    /// Reads the next bytes, of the first `until`. False: there are none now.
    fn advance(&mut self, until: u64) -> Result<bool, WatchError> {
        self.buffer.clear();
        let failed = |source| WatchError::Output { path: self.path.clone(), source };
        // A turn that begins once more has new files: as long as nothing was read it may be the other one.
        if self.at == 0 {
            self.file = match files::open(&self.path) {
                Ok(file) => Some(file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(failed(error)),
            };
        }
        let Some(file) = &self.file else { return Ok(false) };
        let most = usize::try_from(until.saturating_sub(self.at)).unwrap_or(CHUNK).min(CHUNK);
        self.buffer.resize(most, 0);
        let count = loop {
            match file.read_at(&mut self.buffer, self.at) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other.map_err(failed)?,
            }
        };
        self.buffer.truncate(count);
        self.at += count as u64;
        Ok(count > 0)
    }
}

/// Remembers only the last of what an agent did.
#[derive(Default)]
struct Recent {
    usage: Option<(u64, AgentEvent)>,
    events: VecDeque<(u64, AgentEvent)>,
}

impl Sink for Recent {
    fn event(&mut self, _: &Envelope) {}

    fn agent(&mut self, _: &Envelope, sub: u64, event: &AgentEvent) {
        if matches!(event, AgentEvent::Usage(_)) {
            self.usage = Some((sub, event.clone()));
            return;
        }
        if self.events.len() == RECENT {
            self.events.pop_front();
        }
        self.events.push_back((sub, event.clone()));
    }

    fn activity(&mut self, _: &Activity<'_>) {}
}
