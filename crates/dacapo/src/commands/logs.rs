//! `dacapo logs`: the journal as people read it, what agents and checks printed, and both as they grow.

use std::collections::VecDeque;
use std::io::{self, Write as _};

use dacapo_core::engine::{Activity, Sink, Step, Watch};
use dacapo_core::event::{AgentEvent, Envelope};
use dacapo_core::store::Changes;
use dacapo_core::task::Kinds;
use jiff::Timestamp;

use self::kept::Kept;
use super::attach::unreadable;
use super::task;
use crate::args::Logs;
use crate::error::Failure;
use crate::output::log::{AgentLines, LogLines, clock};

mod kept;

pub(super) fn run(args: &Logs) -> Result<u8, Failure> {
    let (_, dir) = task(args.name.as_deref())?;
    if let Some(kept) = Kept::asked(args) {
        return kept::show(&dir, kept, args.lines);
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
    let mut log = Log {
        json: args.json,
        lines: LogLines::for_task(watch.spec()),
        since: args.since,
        last: args.lines.map(|most| (most, VecDeque::new())),
        ..Log::default()
    };
    watch.catch_up(|line| log.event(line)).map_err(failed)?;
    log.show_last();
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
    /// Nothing from before is shown.
    since: Option<Timestamp>,
    /// Only the last lines of what there is are shown, so many: they are held until all has been read.
    last: Option<(usize, VecDeque<String>)>,
    /// A reader that has gone is no failure.
    gone: bool,
}

impl Log {
    fn print(&mut self, lines: impl IntoIterator<Item = String>) {
        if let Some((most, held)) = &mut self.last {
            for line in lines {
                held.push_back(line);
                if held.len() > *most {
                    held.pop_front();
                }
            }
            return;
        }
        let mut out = anstream::stdout().lock();
        let print = || -> io::Result<()> {
            for text in lines {
                writeln!(out, "{text}")?;
            }
            out.flush()
        };
        self.gone |= !super::wrote(print());
    }

    fn print_at(&mut self, at: Timestamp, lines: Vec<String>) {
        self.print(lines.into_iter().map(|text| format!("[{}] {text}", clock(at))));
    }

    fn show_last(&mut self) {
        if let Some((_, held)) = self.last.take() {
            self.print(held);
        }
    }
}

impl Sink for Log {
    fn event(&mut self, line: &Envelope) {
        let shown = self.since.is_none_or(|since| line.at >= since);
        if self.json {
            self.print(serde_json::to_string(line).ok().filter(|_| shown));
            return;
        }
        let said = self.agent.end();
        // What later lines say hangs on earlier events.
        let lines = self.lines.lines(line).into_iter().map(|(_, text)| text);
        let lines: Vec<String> = said.into_iter().chain(lines).collect();
        if shown {
            self.print_at(line.at, lines);
        }
    }

    /// What an agent does is in no journal: as JSON lines `attach --json` has it.
    fn agent(&mut self, _: &Envelope, _: u64, event: &AgentEvent) {
        if !self.json {
            let lines = self.agent.lines(event);
            self.print_at(Timestamp::now(), lines);
        }
    }

    fn activity(&mut self, _: &Activity<'_>) {}
}
