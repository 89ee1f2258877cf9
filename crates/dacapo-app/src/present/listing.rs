//! `dacapo list` for people: grouped by what needs them, each task with what it came to and what to type next.

use std::cmp::Reverse;
use std::time::Duration;

use dacapo_core::event::{Outcome, StopReason};
use dacapo_core::overview::Brief;
use dacapo_core::view::Status;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::kind_words::Unit;
use super::table::{self, Line, Next, Room};
use super::words::{self, BAD, BOLD, DIM, GOOD, WARN};
use super::{ends, kind_words, needs};
use crate::messages::Messages;

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
    pub done: DoneTasks,
    /// Which tasks these are.
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

    fn title(self, messages: Messages) -> String {
        match self {
            Group::NeedsYou => messages.list_needs_you(),
            Group::Ready => messages.list_ready(),
            Group::Stopped => messages.list_stopped(),
            Group::Running => messages.list_running(),
            Group::Queued => messages.list_queued(),
            Group::Done => messages.list_done(),
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
        let shown = |group: Group| group != Group::Done || frame.done == DoneTasks::Shown;
        let mut lines: Vec<Line> = own
            .iter()
            .filter(|(group, _)| shown(*group))
            .map(|(group, entry)| row(*group, entry, frame))
            .collect();
        let done: Vec<&Entry> =
            own.iter().filter(|(group, _)| !shown(*group)).map(|(_, entry)| *entry).collect();
        lines.extend(counted(&done, frame));
        blocks.push((repo, lines));
    }
    let mut out = table::render(&blocks, frame.width);
    out.push_str(&table::wrapped(&total(entries, frame), frame.width, DIM));
    out
}

fn row(group: Group, entry: &Entry, frame: &Frame) -> Line {
    let brief = &entry.brief;
    let messages = frame.messages;
    let next = |before: &str, after: &str| {
        Some(Next { before: before.to_owned(), name: brief.name.clone(), after: after.to_owned() })
    };
    let own = kind_words::of(&brief.kind);
    let (style, mut what, next) = match group {
        Group::NeedsYou => {
            let question = brief.needs.as_ref().map(|needs| needs::question(needs, messages));
            let question = words::line(&question.unwrap_or_default(), words::WHOLE);
            let next = if brief.is_blocked() {
                next("dacapo resume", &format!("\"{}\"", messages.list_your_answer()))
            } else {
                next("dacapo status", "")
            };
            (WARN, question, next)
        }
        Group::Ready => {
            (if brief.verified { GOOD } else { BOLD }, proof(brief, messages), next("dacapo merge", ""))
        }
        Group::Stopped => {
            let (fact, before, after) = stopped(brief, messages);
            let style = if brief.status == Status::Failed { BAD } else { WARN };
            (style, fact, next(before, after))
        }
        Group::Running => {
            let at = || match brief.max_iterations {
                Some(max) => format!("{}/{max}", brief.iteration),
                None => messages.iterations(u64::from(brief.iteration)),
            };
            let mut fact = own.and_then(|own| own.under_way(brief, messages)).unwrap_or_else(at);
            if brief.status == Status::Waiting {
                let agent = words::line(&brief.agent, 20);
                let waits = match brief.waiting_until {
                    Some(at) => messages.list_waiting_until(&time(at, frame.now, &frame.zone), &agent),
                    None => messages.list_waiting(&agent),
                };
                fact = messages.list_facts(&fact, &waits);
            }
            (BOLD, at_work(fact, brief, frame), next("dacapo attach", ""))
        }
        Group::Queued => (DIM, messages.list_queues(), next("dacapo attach", "")),
        Group::Done => (DIM, done(brief, messages), next("dacapo status", "")),
    };
    if let Some(cost) = brief.cost_usd.filter(|cost| *cost > 0.0) {
        let cost = words::money(cost);
        // `✓ proven $1.20`, as one speaks.
        what =
            if group == Group::Ready { format!("{what} {cost}") } else { messages.list_facts(&what, &cost) };
    }
    let mut facts: Vec<String> = Vec::new();
    facts.extend(brief.broken_record.as_ref().map(|_| messages.list_record_broken()));
    let radar = entry.radar.as_ref().filter(|_| group == Group::Ready);
    facts.extend(radar.map(|radar| conflicts(radar, messages)));
    facts.extend(brief.pull_request.as_deref().map(|url| offered(url, messages)));
    facts.extend(entry.occupies.filter(|bytes| frame.sizes.shows(*bytes)).map(words::bytes));
    let what = facts.iter().fold(what, |what, fact| messages.list_facts(&what, fact));
    let room = match group {
        Group::NeedsYou if brief.is_blocked() => Room::All,
        // What it was asked to do may be long.
        Group::Running if brief.status == Status::Running => Room::Column,
        _ => Room::Line,
    };
    let green = if brief.verified { proof(brief, messages) } else { String::new() };
    Line { title: group.title(messages), style, name: brief.name.clone(), what, green, room, next }
}

/// What became of one that needs nothing any more.
fn done(brief: &Brief, messages: Messages) -> String {
    let proof = proof(brief, messages);
    match &brief.merged_into {
        Some(branch) => {
            let merged = messages.list_merged_into(&words::line(words::branch(branch), 30));
            messages.list_facts(&merged, &proof)
        }
        None if brief.own_branch.is_some() => messages.list_facts(&proof, &messages.list_no_changes()),
        None => messages.list_facts(&proof, &messages.list_in_checkout()),
    }
}

/// `4/10, 3m12s, claude works: Fix the failing tests`; the prompt last, where a narrow terminal cuts.
fn at_work(fact: String, brief: &Brief, frame: &Frame) -> String {
    if brief.status != Status::Running {
        return fact;
    }
    let messages = frame.messages;
    let since = brief.last_at.map(|at| frame.now.duration_since(at));
    let since = since.and_then(|since| Duration::try_from(since).ok()).unwrap_or_default();
    let elapsed = Duration::from_secs_f64(brief.elapsed_seconds.max(0.0)) + since;
    let mut out = fact;
    if elapsed >= Duration::from_secs(1) {
        out = messages.list_facts(&out, &words::duration(elapsed));
    }
    if let Some(doing) = &brief.doing {
        out = messages.list_facts(&out, &words::line(doing, 40));
    }
    let prompt = words::line(&brief.prompt, words::WHOLE);
    if prompt.is_empty() || (brief.doing.is_some() && brief.own.is_some()) {
        return out;
    }
    messages.list_about(&out, &prompt)
}

fn proof(brief: &Brief, messages: Messages) -> String {
    match brief.status {
        Status::Completed if brief.verified => format!("✓ {}", messages.ended_proven()),
        Status::Completed => messages.ended_unverified(),
        status => words::status(status, messages),
    }
}

/// What stopped it, and what to type.
fn stopped(brief: &Brief, messages: Messages) -> (String, &'static str, &'static str) {
    let progress = kind_words::of(&brief.kind).and_then(|own| own.progress(brief, messages));
    let at = match (progress, brief.max_iterations) {
        (Some(progress), _) => progress,
        (None, Some(max)) => messages.list_at(brief.iteration, max),
        (None, None) => messages.iterations(u64::from(brief.iteration)),
    };
    let at = |why: String| messages.list_facts(&at, &why);
    let message =
        brief.detail.as_ref().map(|detail| ends::detail(detail, &brief.name, messages)).unwrap_or_default();
    let message = words::line(&message, words::WHOLE);
    let resume = "dacapo resume";
    // What has used all its iterations goes on only with more of them.
    let more = match brief.max_iterations {
        Some(max) if brief.iteration >= max && brief.status.has_ended() => "--iter 5",
        _ => "",
    };
    match (brief.status, brief.outcome) {
        _ if brief.stop_reason == Some(StopReason::Abandoned) => {
            (at(messages.ended_abandoned()), "dacapo drop", "")
        }
        (Status::Completed, _) if brief.left_by_hand > 0 => {
            let left = messages.list_left_by_takeover(brief.left_by_hand);
            (messages.list_facts(&left, &proof(brief, messages)), resume, "--iter 1")
        }
        (Status::Paused, _) if brief.is_paused_by_hand() => {
            (at(messages.ended_paused_by_you()), resume, more)
        }
        (Status::Failed, _) if message.is_empty() => (at(messages.list_failed()), "dacapo status", ""),
        (Status::Failed, _) => (messages.list_failed_because(&message), "dacapo status", ""),
        (_, Some(Outcome::MaxReached)) if brief.red => (at(messages.list_still_red()), resume, "--iter 5"),
        (_, Some(Outcome::MaxReached)) => (at(messages.list_not_done()), resume, "--iter 5"),
        (_, Some(Outcome::Stalled)) => (at(messages.list_no_progress()), resume, "--iter 5"),
        (_, Some(Outcome::TimeElapsed)) if brief.stop_reason == Some(StopReason::LimitWait) => {
            (at(messages.list_limit_too_long()), resume, more)
        }
        (_, Some(Outcome::TimeElapsed)) => (at(messages.list_time_up()), resume, more),
        (_, Some(Outcome::BudgetExhausted)) => (at(messages.list_budget_used()), resume, more),
        (status, _) => (at(words::status(status, messages)), resume, more),
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
    let (at, now) = (at.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
    let format = if at.date() == now.date() { "%H:%M" } else { "%b %-d %H:%M" };
    at.strftime(format).to_string()
}

/// Those that need nothing any more, in one line.
fn counted(all: &[&Entry], frame: &Frame) -> Option<Line> {
    let newest = all.first()?;
    let messages = frame.messages;
    let merged = all.iter().filter(|entry| entry.brief.merged_into.is_some()).count();
    let own = |entry: &&&Entry| entry.brief.merged_into.is_none() && entry.brief.own_branch.is_some();
    let unchanged = all.iter().filter(own).count();
    // Of what was merged the worktrees went with the merge.
    let command = if unchanged > 0 { "dacapo prune" } else { "dacapo list --done" };
    let next = Some(Next { before: command.into(), name: String::new(), after: String::new() });
    let newest = &newest.brief;
    let (name, what) = match all.len() - 1 {
        0 => (newest.name.clone(), done(newest, messages)),
        more => {
            let here = all.len() - merged - unchanged;
            let counts = [
                (merged > 0).then(|| messages.list_count_merged(merged as u64)),
                (here > 0).then(|| messages.list_count_in_checkout(here as u64)),
                (unchanged > 0).then(|| messages.list_count_unchanged(unchanged as u64)),
            ];
            let counts = counts.into_iter().flatten();
            let mut what =
                counts.reduce(|what, count| messages.list_facts(&what, &count)).unwrap_or_default();
            let unverified = all.iter().filter(|entry| !entry.brief.verified).count();
            if unverified > 0 {
                what += &messages.list_count_unverified(unverified as u64);
            }
            (messages.list_done_and_more(&newest.name, more as u64), what)
        }
    };
    let green = if newest.verified { proof(newest, messages) } else { String::new() };
    let title = Group::Done.title(messages);
    Some(Line { title, style: DIM, name, what, green, room: Room::Line, next })
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
