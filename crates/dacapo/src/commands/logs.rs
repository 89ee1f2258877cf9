//! `dacapo logs`: the journal as people read it, the raw output of a turn, and both as they grow.

use std::io::{self, Write as _};

use dacapo_core::engine::{Activity, Sink, Step, Watch};
use dacapo_core::event::{AgentEvent, Envelope};
use dacapo_core::store::{Changes, TaskDir, files};
use dacapo_core::task::Kinds;

use super::attach::unreadable;
use super::task;
use crate::args::Logs;
use crate::error::Failure;
use crate::output::log::{AgentLines, LogLines, clock};

pub(super) fn run(args: &Logs) -> Result<u8, Failure> {
    let (_, dir) = task(args.name.as_deref())?;
    if let Some(turn) = args.turn {
        return raw(&dir, turn);
    }
    if !args.follow {
        // Whether it is interrupted is asked for what that lets happen; what does not read is said below.
        let _ = super::view(&dir);
    }
    let failed = |error| unreadable(&dir, &error);
    let unable = |error: io::Error| {
        Failure::failed(format!("cannot follow task '{}': {error}", dir.name()))
            .kept("the task, which goes on")
            .hint(format!("dacapo logs {} shows what there is", dir.name()))
    };
    // Told of growth before the first look, so that none is missed.
    let changes = args.follow.then(|| Changes::of(&dir)).transpose().map_err(unable)?;
    let mut watch = Watch::new(&dir, Kinds::default()).map_err(failed)?;
    let mut log = Log { json: args.json, lines: LogLines::for_task(watch.spec()), ..Log::default() };
    watch.catch_up(|line| log.event(line)).map_err(failed)?;
    let Some(mut changes) = changes else { return Ok(0) };
    watch.show_recent(&mut log).map_err(failed)?;
    let mut over = false;
    while !log.gone {
        match watch.step(&mut log).map_err(failed)? {
            Step::Shown => {}
            Step::UpToDate if over => break,
            // What was written last before the end is read once more above.
            Step::UpToDate => over = changes.wait(&[], None).map_err(unable)?.over,
        }
    }
    Ok(0)
}

/// The log on standard output.
#[derive(Default)]
struct Log {
    json: bool,
    lines: LogLines,
    agent: AgentLines,
    /// A reader that has gone is no failure.
    gone: bool,
}

impl Log {
    fn print(&mut self, at: jiff::Timestamp, lines: impl IntoIterator<Item = String>) {
        let mut out = anstream::stdout().lock();
        let print = || -> io::Result<()> {
            for text in lines {
                writeln!(out, "[{}] {text}", clock(at))?;
            }
            out.flush()
        };
        self.gone |= print().is_err();
    }
}

impl Sink for Log {
    fn event(&mut self, line: &Envelope) {
        if self.json {
            let text = serde_json::to_string(line).map_err(io::Error::from);
            let mut out = anstream::stdout().lock();
            self.gone |= text.and_then(|text| writeln!(out, "{text}")).is_err();
            return;
        }
        let said = self.agent.end();
        let lines = self.lines.lines(line).into_iter().map(|(_, text)| text);
        let lines: Vec<String> = said.into_iter().chain(lines).collect();
        self.print(line.at, lines);
    }

    /// What an agent does is in no journal: as JSON lines `attach --json` has it.
    fn agent(&mut self, _: &Envelope, _: u64, event: &AgentEvent) {
        if !self.json {
            let lines = self.agent.lines(event);
            self.print(jiff::Timestamp::now(), lines);
        }
    }

    fn activity(&mut self, _: &Activity<'_>) {}
}

/// Byte for byte: no text layer in between.
fn raw(dir: &TaskDir, turn: u32) -> Result<u8, Failure> {
    let path = dir.turn_path(turn, "raw");
    let mut file = files::open(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::usage(format!("task '{}' has no turn {turn}", dir.name()))
            .hint("turns count from 0: --turn 0"),
        _ => Failure::failed(format!("cannot read turn {turn} of task '{}': {error}", dir.name())),
    })?;
    // A reader that has gone is no failure.
    let _ = io::copy(&mut file, &mut io::stdout().lock());
    Ok(0)
}
