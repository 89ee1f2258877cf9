//! `dacapo list` for people: grouped by what needs them, each task with what it came to and what to type next. Which rows
//! there are, and what each says, is decided in [`rows`]; here they become words for a terminal.

use dacapo_core::overview::Brief;
use dacapo_core::view::Status;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Serialize;

pub use self::rows::{Block, DoneCount, Ended, Fact, Group, Row, Stopped, is_ready};
use super::act::NextAct;
use super::changed_tests;
use super::kind_words::Unit;
use super::role::Role;
use super::table::{self, Line, Next, Room};
use super::words::{self, DIM};
use super::{ends, kind_words, needs};
use crate::messages::Messages;

pub mod columns;
pub mod rows;

/// What a task takes on disk is worth a word from here on, in bytes.
const WORTH_SAYING: u64 = 100_000_000;

/// One task of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What its journal says.
    pub brief: Brief,
    /// What is known of how its branch would merge.
    pub radar: Option<Radar>,
    /// What it takes on disk, where that was measured.
    pub occupies: Option<u64>,
}

/// How a task's branch would merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Radar {
    /// It can be merged without a conflict.
    Clean,
    /// It conflicts with the branch that is checked out.
    Branch(String),
    /// It would conflict with another task that is merged first.
    Task(String),
}

/// Whether a task's branch can be merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MergeForecast {
    /// True if no conflict is known.
    pub cleanly: bool,
    /// The branch that is checked out, which the task would be merged into.
    pub into: String,
    /// What it conflicts with. Empty if it merges cleanly.
    pub conflicts: Vec<Conflict>,
}

/// Something that a task's branch conflicts with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Conflict {
    /// The branch it conflicts with. Absent if it is another task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The task it conflicts with: whichever of the two is merged second has conflicts. Absent if it is a branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The files that conflict, at most 20.
    pub files: Vec<String>,
}

impl MergeForecast {
    /// As a list for people says it: by the first one that is in the way.
    pub fn radar(&self) -> Radar {
        match self.conflicts.first() {
            None => Radar::Clean,
            Some(Conflict { branch: Some(branch), .. }) => Radar::Branch(branch.clone()),
            Some(Conflict { task, .. }) => Radar::Task(task.clone().unwrap_or_default()),
        }
    }
}

/// Where a list is shown, and of what.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Columns of the terminal; none where nothing is to be cut.
    pub width: Option<usize>,
    /// By the wall clock.
    pub now: Timestamp,
    pub zone: TimeZone,
    /// What becomes of tasks that need nothing any more.
    pub done: DoneTasks,
    pub scope: Scope,
    /// Whether somebody asked what they take on disk.
    pub sizes: Sizes,
    /// The user's own language.
    pub messages: Messages,
}

/// Which sizes are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sizes {
    /// All that are known.
    All,
    /// Those that are worth a word.
    Large,
}

impl Sizes {
    fn shows(self, bytes: u64) -> bool {
        self == Sizes::All || bytes >= WORTH_SAYING
    }
}

/// How tasks are shown that need nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoneTasks {
    /// One line says how many there are.
    Counted,
    /// Each has a row.
    Shown,
}

/// Which tasks a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The tasks of this repository.
    Here {
        /// How many there are with those of other repositories.
        everywhere: usize,
    },
    /// Those of all repositories.
    Everywhere,
}

/// The whole list, its last line the totals; without a line break at its end.
pub fn list(entries: &[Entry], frame: &Frame) -> String {
    let blocks = rows::blocks(entries, frame.scope, frame.done, frame.now);
    let blocks: Vec<(&str, Vec<Line>)> = blocks
        .iter()
        .map(|block| {
            let rows = block.rows.iter().map(|row| line(row, frame));
            let done = block.done.iter().map(|done| counted(done, frame));
            (block.repo.unwrap_or_default(), rows.chain(done).collect())
        })
        .collect();
    let mut out = table::render(&blocks, frame.width);
    out.push_str(&table::wrapped(&total(entries, frame), frame.width, DIM));
    out
}

fn line(row: &Row<'_>, frame: &Frame) -> Line {
    let brief = &row.entry.brief;
    let messages = frame.messages;
    let mut what = joined(&row.facts, brief, frame);
    if let Some(cost) = row.cost_usd {
        let cost = words::money(cost);
        // `✓ proven $1.20`, as one speaks.
        what = if row.group == Group::Ready {
            format!("{what} {cost}")
        } else {
            messages.list_facts(&what, &cost)
        };
    }
    let what = row
        .remarks
        .iter()
        .filter(|remark| !matches!(remark, Fact::Occupies(bytes) if !frame.sizes.shows(*bytes)))
        .fold(what, |what, remark| messages.list_facts(&what, &said(remark, brief, frame)));
    let room = match row.group {
        Group::NeedsYou if brief.is_blocked() => Room::All,
        // What it was asked to do may be long.
        Group::Running if brief.status == Status::Running => Room::Column,
        Group::NeedsYou | Group::Ready | Group::Stopped | Group::Running | Group::Queued | Group::Done => {
            Room::Line
        }
    };
    Line {
        title: row.group.title(messages),
        style: row.role().style(),
        name: brief.name.clone(),
        what,
        green: green(brief, messages),
        room,
        next: Some(typed(&row.next, messages)),
    }
}

/// What of a row is green where it begins so: only proof is.
fn green(brief: &Brief, messages: Messages) -> String {
    if brief.verified { ended(Ended::of(brief), messages) } else { String::new() }
}

fn typed(act: &NextAct, messages: Messages) -> Next {
    Next {
        before: act.before_task(messages),
        name: act.task.clone().unwrap_or_default(),
        after: act.flags(messages),
    }
}

/// `4/10, 3m12s, claude working: Fix the failing tests`; the prompt last, where a narrow terminal cuts.
fn joined(facts: &[Fact<'_>], brief: &Brief, frame: &Frame) -> String {
    let messages = frame.messages;
    let join = |what: String, fact: &Fact<'_>| {
        let said = said(fact, brief, frame);
        match fact {
            Fact::Prompt(_) if said.is_empty() => what,
            Fact::Prompt(_) => messages.list_about(&what, &said),
            _ => messages.list_facts(&what, &said),
        }
    };
    let mut facts = facts.iter();
    let first = facts.next().map(|fact| said(fact, brief, frame)).unwrap_or_default();
    facts.fold(first, join)
}

fn said(fact: &Fact<'_>, brief: &Brief, frame: &Frame) -> String {
    let messages = frame.messages;
    let own = kind_words::of(&brief.kind);
    match fact {
        Fact::Question(kind) => words::line(&needs::question(kind, messages), words::WHOLE),
        Fact::UnderWay { iteration, max } => {
            let at = || match max {
                Some(max) => format!("{iteration}/{max}"),
                None => messages.iterations(u64::from(*iteration)),
            };
            own.and_then(|own| own.under_way(brief, messages)).unwrap_or_else(at)
        }
        Fact::Reached { iteration, max } => {
            let at = || match max {
                Some(max) => messages.list_at(*iteration, *max),
                None => messages.iterations(u64::from(*iteration)),
            };
            own.and_then(|own| own.progress(brief, messages)).unwrap_or_else(at)
        }
        Fact::Waits { until, agent } => {
            let agent = words::line(agent, 20);
            match until {
                Some(at) => messages.list_waiting_until(&time(*at, frame.now, &frame.zone), &agent),
                None => messages.list_waiting(&agent),
            }
        }
        Fact::Elapsed(elapsed) => words::duration(*elapsed),
        Fact::Doing(step) => words::line(&words::current_step(step, messages), 40),
        Fact::Prompt(prompt) => words::line(prompt, words::WHOLE),
        Fact::Queues => messages.list_queues(),
        Fact::Ended(came_to) => ended(*came_to, messages),
        Fact::MergedInto(branch) => messages.list_merged_into(&words::line(words::branch(branch), 30)),
        Fact::NoChanges => messages.list_no_changes(),
        Fact::InCheckout => messages.list_in_checkout(),
        Fact::Stopped(why) => stopped(*why, messages),
        Fact::Failed(detail) => {
            let why = ends::detail(detail, &brief.name, messages);
            messages.list_failed_because(&words::line(&why, words::WHOLE))
        }
        Fact::BrokenRecord => messages.list_record_broken(),
        Fact::Tests(mark) => format!("⚠ {}", changed_tests::mark(*mark, messages)),
        Fact::Merges(radar) => conflicts(radar, messages),
        Fact::PullRequest(url) => offered(url, messages),
        Fact::Occupies(bytes) => words::bytes(*bytes),
    }
}

fn ended(came_to: Ended, messages: Messages) -> String {
    match came_to {
        Ended::Proven => format!("✓ {}", messages.ended_proven()),
        Ended::TestsApproved => messages.ended_tests_approved(),
        Ended::Unverified => messages.ended_unverified(),
        Ended::Otherwise(status) => words::status(status, messages),
    }
}

fn stopped(why: Stopped, messages: Messages) -> String {
    match why {
        Stopped::Abandoned => messages.ended_abandoned(),
        Stopped::LeftByHand(changes) => messages.list_left_by_takeover(changes),
        Stopped::PausedByHand => messages.ended_paused_by_you(),
        Stopped::Failed => messages.list_failed(),
        Stopped::StillRed => messages.list_still_red(),
        Stopped::NotDone => messages.list_not_done(),
        Stopped::NoProgress => messages.list_no_progress(),
        Stopped::LimitTooLong => messages.list_limit_too_long(),
        Stopped::TimeUp => messages.list_time_up(),
        Stopped::BudgetUsed => messages.list_budget_used(),
        Stopped::Otherwise(status) => words::status(status, messages),
    }
}

/// The number of a pull request; where it is, `dacapo status` says.
fn offered(url: &str, messages: Messages) -> String {
    let last = url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let number = last.bytes().all(|byte| byte.is_ascii_digit()) && (1..=10).contains(&last.len());
    if number { messages.ended_pull_request(last) } else { messages.list_pull_request() }
}

fn conflicts(radar: &Radar, messages: Messages) -> String {
    match radar {
        Radar::Clean => messages.list_merges_cleanly(),
        Radar::Branch(name) => messages.list_conflicts(&words::line(words::branch(name), 30)),
        Radar::Task(name) => messages.list_conflicts(name),
    }
}

/// `07:40`; on another day with that day.
fn time(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    super::log::moment_seen(at, now, zone, "%H:%M")
}

/// Those that need nothing any more, in one line.
fn counted(all: &DoneCount<'_>, frame: &Frame) -> Line {
    let messages = frame.messages;
    let newest = &all.newest.brief;
    let (name, what) = match all.total() - 1 {
        0 => (newest.name.clone(), joined(&rows::done(newest), newest, frame)),
        more => {
            let counts = [
                (all.merged > 0).then(|| messages.list_count_merged(all.merged as u64)),
                (all.in_checkout > 0).then(|| messages.list_count_in_checkout(all.in_checkout as u64)),
                (all.unchanged > 0).then(|| messages.list_count_unchanged(all.unchanged as u64)),
            ];
            let counts = counts.into_iter().flatten();
            let mut what =
                counts.reduce(|what, count| messages.list_facts(&what, &count)).unwrap_or_default();
            if all.unverified > 0 {
                what += &messages.list_count_unverified(all.unverified as u64);
            }
            (messages.list_done_and_more(&newest.name, more as u64), what)
        }
    };
    Line {
        title: Group::Done.title(messages),
        style: Role::Hint.style(),
        name,
        what,
        green: green(newest, messages),
        room: Room::Line,
        next: Some(typed(&all.next, messages)),
    }
}

fn total(entries: &[Entry], frame: &Frame) -> Vec<String> {
    let messages = frame.messages;
    let counted = |unit: Unit| {
        let such = || entries.iter().filter(move |entry| kind_words::unit(&entry.brief.kind) == unit);
        let sum = such().map(|entry| u64::from(entry.brief.iteration)).sum();
        such().next().map(|_| unit.count(sum, messages))
    };
    let cost: f64 = entries.iter().filter_map(|entry| entry.brief.cost_usd).sum();
    let bytes: u64 = entries.iter().filter_map(|entry| entry.occupies).sum();
    let mut parts = vec![messages.tasks(entries.len() as u64)];
    parts.extend(Unit::ALL.into_iter().filter_map(counted));
    if cost > 0.0 {
        parts.push(words::money(cost));
    }
    if bytes > 0 && frame.sizes.shows(bytes) {
        parts.push(messages.list_on_disk(&words::bytes(bytes)));
    }
    parts.push(match frame.scope {
        Scope::Everywhere => messages.list_everywhere(),
        Scope::Here { everywhere } if everywhere > entries.len() => messages.list_here_of(everywhere),
        Scope::Here { .. } => messages.list_here(),
    });
    parts
}

#[cfg(test)]
mod tests;
