//! `dacapo list` for people: grouped by what needs them, each task with what it came to and what to type next.

use std::cmp::Reverse;
use std::time::Duration;

use dacapo_core::event::{Outcome, StopReason};
use dacapo_core::overview::Brief;
use dacapo_core::view::Status;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::table::{self, Line, Next, Room};
use super::words::{self, BAD, BOLD, DIM, GOOD, WARN};
use super::{ends, face, needs};

/// What a task takes on disk is worth a word from here on, in bytes.
const WORTH_SAYING: u64 = 100_000_000;

/// One task of a list.
#[derive(Debug, Clone)]
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
    /// Without a conflict.
    Clean,
    /// Not into the branch that is checked out.
    Branch(String),
    /// Not after another task.
    Task(String),
}

/// Where a list is shown, and of what.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Columns of the terminal; none where nothing is to be cut.
    pub width: Option<usize>,
    /// By the wall clock.
    pub now: Timestamp,
    /// The user's own.
    pub zone: TimeZone,
    /// What becomes of tasks that need nothing any more.
    pub done: Done,
    /// Which tasks these are.
    pub scope: Scope,
    /// Whether somebody asked what they take on disk.
    pub sizes: Sizes,
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
pub enum Done {
    /// In one line.
    Counted,
    /// Each.
    Shown,
}

/// Which tasks a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Those of this repository; there are so many in all.
    Here {
        /// Other repositories included.
        everywhere: usize,
    },
    /// All.
    Everywhere,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    NeedsYou,
    Ready,
    Stopped,
    Running,
    Queued,
    Done,
}

impl Group {
    fn of(brief: &Brief) -> Self {
        match brief.status {
            // Who paused it knows.
            Status::Paused if brief.is_paused_by_hand() => Group::Stopped,
            // At work, it waits for an answer.
            Status::Paused | Status::Running if brief.needs.is_some() => Group::NeedsYou,
            _ if brief.merged_into.is_some() && brief.status.has_ended() => Group::Done,
            // In the user's own checkout there is nothing left to merge.
            Status::Completed if brief.own_branch.is_none() || !brief.has_changes() => Group::Done,
            Status::Completed if brief.left_by_hand > 0 => Group::Stopped,
            Status::Completed => Group::Ready,
            Status::Paused | Status::Interrupted | Status::Failed | Status::Stopped | Status::Cancelled => {
                Group::Stopped
            }
            Status::Running | Status::Waiting => Group::Running,
            Status::Queued => Group::Queued,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Group::NeedsYou => "NEEDS YOU",
            Group::Ready => "READY",
            Group::Stopped => "STOPPED",
            Group::Running => "RUNNING",
            Group::Queued => "QUEUED",
            Group::Done => "DONE",
        }
    }
}

/// Whether a task waits for nothing but to be merged.
pub fn is_ready(brief: &Brief) -> bool {
    Group::of(brief) == Group::Ready
}

/// The whole list, its last line the totals; without a line break at its end.
pub fn list(entries: &[Entry], frame: &Frame) -> String {
    let mut sorted: Vec<(Group, &Entry)> =
        entries.iter().map(|entry| (Group::of(&entry.brief), entry)).collect();
    // The newest first, but for those who wait: these in the order in which they get their turn.
    sorted.sort_by_key(|(group, entry)| {
        let Brief { created_at, queued_at, .. } = entry.brief;
        let waits = *group == Group::Queued;
        let since = waits.then(|| queued_at.unwrap_or(created_at));
        (*group, since, Reverse(created_at))
    });
    let mut blocks: Vec<(&str, Vec<Line>)> = Vec::new();
    let repos: Vec<&str> = match frame.scope {
        Scope::Here { .. } => vec![""],
        Scope::Everywhere => {
            let mut repos: Vec<&str> = entries.iter().map(|entry| entry.brief.repo.as_str()).collect();
            repos.sort_unstable();
            repos.dedup();
            repos
        }
    };
    for repo in repos {
        let own: Vec<&(Group, &Entry)> =
            sorted.iter().filter(|(_, entry)| repo.is_empty() || entry.brief.repo == repo).collect();
        let shown = |group: Group| group != Group::Done || frame.done == Done::Shown;
        let mut lines: Vec<Line> = own
            .iter()
            .filter(|(group, _)| shown(*group))
            .map(|(group, entry)| row(*group, entry, frame))
            .collect();
        let done: Vec<&Entry> =
            own.iter().filter(|(group, _)| !shown(*group)).map(|(_, entry)| *entry).collect();
        lines.extend(counted(&done));
        blocks.push((repo, lines));
    }
    let mut out = table::render(&blocks, frame.width);
    out.push_str(&table::wrapped(&total(entries, frame), frame.width, DIM));
    out
}

fn row(group: Group, entry: &Entry, frame: &Frame) -> Line {
    let brief = &entry.brief;
    let next = |before: &str, after: &str| {
        Some(Next { before: before.to_owned(), name: brief.name.clone(), after: after.to_owned() })
    };
    let face = face::of(&brief.kind);
    let of = |sign: &str| match (face.and_then(|face| face.progress(brief, sign)), brief.max_iterations) {
        (Some(progress), _) => progress,
        (None, Some(max)) => format!("{}{sign}{max}", brief.iteration),
        (None, None) => words::count(u64::from(brief.iteration), face::ITERATION),
    };
    let (style, mut facts, next) = match group {
        Group::NeedsYou => {
            let question = brief.needs.as_ref().map(needs::question).unwrap_or_default();
            let question = words::line(&question, words::WHOLE);
            let next = if brief.is_blocked() {
                next("dacapo resume", "\"your answer\"")
            } else {
                next("dacapo status", "")
            };
            (WARN, vec![question], next)
        }
        Group::Ready => {
            (if brief.verified { GOOD } else { BOLD }, vec![proof(brief)], next("dacapo merge", ""))
        }
        Group::Stopped => {
            let (fact, before, after) = stopped(brief, &of(" of "));
            let style = if brief.status == Status::Failed { BAD } else { WARN };
            (style, vec![fact], next(before, after))
        }
        Group::Running => {
            let mut fact = face.and_then(|face| face.under_way(brief)).unwrap_or_else(|| of("/"));
            if brief.status == Status::Waiting {
                let until = brief
                    .waiting_until
                    .map_or_else(String::new, |at| format!(" until {}", time(at, frame.now, &frame.zone)));
                fact += &format!(", waiting{until} ({} limit)", words::line(&brief.agent, 20));
            }
            (BOLD, vec![fact + &at_work(brief, frame)], next("dacapo attach", ""))
        }
        Group::Queued => (DIM, vec!["waits for a place".into()], next("dacapo attach", "")),
        Group::Done => {
            let what = match &brief.merged_into {
                Some(branch) => {
                    format!("merged into {}, {}", words::line(words::branch(branch), 30), proof(brief))
                }
                None if brief.own_branch.is_some() => format!("{}, no changes", proof(brief)),
                None => format!("{}, in place", proof(brief)),
            };
            (DIM, vec![what], next("dacapo status", ""))
        }
    };
    if let (Some(cost), Some(first)) = (brief.cost_usd.filter(|cost| *cost > 0.0), facts.first_mut()) {
        // `✓ proven $1.20`, as one speaks.
        let comma = if group == Group::Ready { "" } else { "," };
        *first += &format!("{comma} {}", words::money(cost));
    }
    facts.extend(brief.broken_record.as_ref().map(|_| "record broken".to_owned()));
    facts.extend(entry.radar.as_ref().filter(|_| group == Group::Ready).map(conflicts));
    facts.extend(brief.pull_request.as_deref().map(offered));
    facts.extend(entry.occupies.filter(|bytes| frame.sizes.shows(*bytes)).map(words::bytes));
    let room = if group == Group::NeedsYou && brief.is_blocked() { Room::All } else { Room::Line };
    Line { title: group.title(), style, name: brief.name.clone(), what: facts.join(", "), room, next }
}

/// `, 3m12s, claude works: Fix the failing tests`; the prompt last, where a narrow terminal cuts.
fn at_work(brief: &Brief, frame: &Frame) -> String {
    if brief.status != Status::Running {
        return String::new();
    }
    let since = brief.last_at.map(|at| frame.now.duration_since(at));
    let since = since.and_then(|since| Duration::try_from(since).ok()).unwrap_or_default();
    let elapsed = Duration::from_secs_f64(brief.elapsed_seconds.max(0.0)) + since;
    let mut out = String::new();
    if elapsed >= Duration::from_secs(1) {
        out += &format!(", {}", words::duration(elapsed));
    }
    let prompt = words::line(&brief.prompt, words::WHOLE);
    match (&brief.doing, prompt.is_empty() || brief.own.is_some()) {
        (Some(doing), true) => out += &format!(", {}", words::line(doing, 40)),
        (Some(doing), false) => out += &format!(", {}: {prompt}", words::line(doing, 40)),
        (None, true) => {}
        (None, false) => out += &format!(": {prompt}"),
    }
    out
}

fn proof(brief: &Brief) -> String {
    match brief.status {
        Status::Completed if brief.verified => "✓ proven".into(),
        Status::Completed => "finished, unverified".into(),
        status => status.as_str().into(),
    }
}

/// What stopped it, and what to type.
fn stopped(brief: &Brief, at: &str) -> (String, &'static str, &'static str) {
    let message = brief.detail.as_ref().map(|detail| ends::detail(detail, &brief.name)).unwrap_or_default();
    let message = words::line(&message, words::WHOLE);
    let resume = "dacapo resume";
    // What has used all its iterations goes on only with more of them.
    let more = match brief.max_iterations {
        Some(max) if brief.iteration >= max && brief.status.has_ended() => "--iter 5",
        _ => "",
    };
    match (brief.status, brief.outcome) {
        _ if brief.stop_reason == Some(StopReason::Abandoned) => {
            (format!("{at}, abandoned"), "dacapo drop", "")
        }
        (Status::Completed, _) if brief.left_by_hand > 0 => {
            let files = words::count(brief.left_by_hand, "uncommitted file");
            (format!("{files} left by takeover, {}", proof(brief)), resume, "--iter 1")
        }
        (Status::Paused, _) if brief.is_paused_by_hand() => (format!("{at}, paused by you"), resume, more),
        (Status::Failed, _) if message.is_empty() => (format!("{at}, failed"), "dacapo status", ""),
        (Status::Failed, _) => (format!("failed: {message}"), "dacapo status", ""),
        (_, Some(Outcome::MaxReached)) if brief.red => (format!("{at}, still red"), resume, "--iter 5"),
        (_, Some(Outcome::MaxReached)) => (format!("{at}, not done"), resume, "--iter 5"),
        (_, Some(Outcome::Stalled)) => (format!("{at}, no progress"), resume, "--iter 5"),
        (_, Some(Outcome::TimeElapsed)) if brief.stop_reason == Some(StopReason::LimitWait) => {
            (format!("{at}, usage limit too long"), resume, more)
        }
        (_, Some(Outcome::TimeElapsed)) => (format!("{at}, time is up"), resume, more),
        (_, Some(Outcome::BudgetExhausted)) => (format!("{at}, budget used up"), resume, more),
        (status, _) => (format!("{at}, {}", status.as_str()), resume, more),
    }
}

/// The number of a pull request; where it is, `dacapo status` says.
fn offered(url: &str) -> String {
    let last = url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let number = last.bytes().all(|byte| byte.is_ascii_digit()) && (1..=10).contains(&last.len());
    if number { format!("pull request {last}") } else { "pull request".into() }
}

fn conflicts(radar: &Radar) -> String {
    match radar {
        Radar::Clean => "merges cleanly".into(),
        Radar::Branch(name) => format!("conflicts with {}", words::line(words::branch(name), 30)),
        Radar::Task(name) => format!("conflicts with {name}"),
    }
}

/// `07:40`; on another day with that day.
fn time(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (at, now) = (at.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
    let format = if at.date() == now.date() { "%H:%M" } else { "%b %-d %H:%M" };
    at.strftime(format).to_string()
}

/// Those that need nothing any more, in one line.
fn counted(done: &[&Entry]) -> Option<Line> {
    let newest = done.first()?;
    let merged = done.iter().filter(|entry| entry.brief.merged_into.is_some()).count();
    let own = |entry: &&&Entry| entry.brief.merged_into.is_none() && entry.brief.own_branch.is_some();
    let unchanged = done.iter().filter(own).count();
    let counts =
        [(merged, "merged"), (done.len() - merged - unchanged, "in place"), (unchanged, "unchanged")];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let unverified = done.iter().filter(|entry| !entry.brief.verified).count();
    let mut what = counts.join(", ");
    if unverified > 0 {
        what += &format!(" ({unverified} unverified)");
    }
    let name = match done.len() - 1 {
        0 => newest.brief.name.clone(),
        more => format!("{} and {more} more", newest.brief.name),
    };
    // Of what was merged the worktrees went with the merge.
    let command = if unchanged > 0 { "dacapo prune" } else { "dacapo list --done" };
    let next = Some(Next { before: command.into(), name: String::new(), after: String::new() });
    Some(Line { title: Group::Done.title(), style: DIM, name, what, room: Room::Line, next })
}

fn total(entries: &[Entry], frame: &Frame) -> Vec<String> {
    let counted = |unit: &'static str| {
        let such = || entries.iter().filter(move |entry| face::unit(&entry.brief.kind) == unit);
        let sum = such().map(|entry| u64::from(entry.brief.iteration)).sum();
        such().next().map(|_| words::count(sum, unit))
    };
    let cost: f64 = entries.iter().filter_map(|entry| entry.brief.cost_usd).sum();
    let bytes: u64 = entries.iter().filter_map(|entry| entry.occupies).sum();
    let mut parts = vec![words::count(entries.len() as u64, "task")];
    parts.extend(face::units().filter_map(counted));
    if cost > 0.0 {
        parts.push(words::money(cost));
    }
    if bytes > 0 && frame.sizes.shows(bytes) {
        parts.push(format!("{} on disk", words::bytes(bytes)));
    }
    parts.push(match frame.scope {
        Scope::Everywhere => "all repositories".into(),
        Scope::Here { everywhere } if everywhere > entries.len() => {
            format!("this repository (--all: {everywhere})")
        }
        Scope::Here { .. } => "this repository".into(),
    });
    parts
}

#[cfg(test)]
mod tests;
