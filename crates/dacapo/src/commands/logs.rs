//! `dacapo logs`: the journal as people read it, what agents and checks printed, and both as they grow.

use std::collections::VecDeque;
use std::io::{self, Write as _};

use dacapo_app::messages::say;
use dacapo_app::operations::follow::not_followed;
use dacapo_core::engine::{Activity, Sink};
use dacapo_core::event::{AgentEvent, Envelope};
use dacapo_core::follow::{FollowError, Hub, Item, Opening};
use dacapo_core::store::{TaskDir, read};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use self::kept::KeptOutput;
use super::attach::{RECENT, catch_up};
use super::console::Printer;
use crate::args::Logs;
use crate::commands::Console;
use crate::error::Failure;
use crate::output::log::{AgentLines, LogLines, clock};
use crate::output::shown::Shown;

mod kept;

pub(super) fn run(app: &Console, args: &Logs) -> Result<u8, Failure> {
    let (_, dir) = app.task(args.name.as_deref())?;
    if let Some(kept) = KeptOutput::asked(args) {
        return kept::show(app, &dir, kept, args.lines);
    }
    if !args.follow {
        // Whether it is interrupted is asked for what that lets happen; what does not read is said below.
        let _ = app.view(&dir);
    }
    let mut log = Log {
        json: args.json,
        since: args.since,
        last: args.lines.map(|most| (most, VecDeque::new())),
        printer: app.printer.clone(),
        ..Log::default()
    };
    if args.follow { follow(app, &dir, &mut log) } else { show(app, &dir, &mut log) }
}

fn show(app: &Console, dir: &TaskDir, log: &mut Log) -> Result<u8, Failure> {
    let failed = |error: FollowError| not_followed(dir, &error);
    log.lines = LogLines::for_task(&dir.spec().map_err(|error| failed(error.into()))?, app.kinds);
    // One that waits for its turn may have no journal yet.
    if dir.journal_path().exists() {
        read(&dir.journal_path(), |line| log.event(&line)).map_err(|error| failed(error.into()))?;
    }
    log.show_last();
    Ok(0)
}

/// The same, and what comes, until the task is at rest.
fn follow(app: &Console, dir: &TaskDir, log: &mut Log) -> Result<u8, Failure> {
    let hub = Hub::new().map_err(|error| {
        Failure::failed(say(|m| m.logs_cannot_follow(&dir.name(), &error.to_string())))
            .kept(say(|m| m.kept_task_goes_on()))
            .hint(say(|m| m.logs_shows_what_is_there(&dir.name())))
    })?;
    let failed = |error| not_followed(dir, &error);
    let mut follow = app.follow(&hub, dir, Opening::Tail(RECENT))?;
    log.lines = LogLines::for_task(follow.spec(), app.kinds);
    let mut shown = Shown::default();
    let mut item = catch_up(dir, &mut follow, |line| {
        log.event(line);
        shown.pass_over(line);
    })?;
    log.show_last();
    while !log.gone && !matches!(item, Item::Over(_)) {
        shown.show(&item, log);
        match follow.next(None).map_err(failed)? {
            Some(next) => item = next,
            None => break,
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
    last: Option<(usize, VecDeque<LogLine>)>,
    /// The day of the line before, for people; none: nothing was shown yet.
    day: Option<Date>,
    /// A reader that has gone is no failure.
    gone: bool,
    printer: Printer,
}

/// A line, and the day it is from where that is said.
type LogLine = (Option<Date>, String);

impl Log {
    fn print(&mut self, lines: impl IntoIterator<Item = LogLine>) {
        // Which lines are the last is known only when the journal has been read; until then only as many are held as
        // will be shown.
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
        let mut before = self.day.unwrap_or_else(|| Timestamp::now().to_zoned(TimeZone::system()).date());
        let print = || -> io::Result<()> {
            for (day, text) in lines {
                // Lines have the time alone; those of today need no more.
                if let Some(day) = day.filter(|day| *day != before) {
                    writeln!(out, "--- {day}")?;
                    before = day;
                }
                writeln!(out, "{text}")?;
            }
            out.flush()
        };
        self.gone |= !self.printer.wrote(print());
        self.day = Some(before);
    }

    fn print_at(&mut self, at: Timestamp, lines: Vec<String>) {
        let day = at.to_zoned(TimeZone::system()).date();
        self.print(lines.into_iter().map(|text| (Some(day), format!("[{}] {text}", clock(at)))));
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
            self.print(shown.then(|| (None, dacapo_app::present::json::event(line).to_string())));
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
