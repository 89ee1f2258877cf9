//! The rows of a list as facts: which group a task is in, what is to be said of it, what to do next. No words and no
//! colours, so that every surface shows the same list.

use std::cmp::Reverse;
use std::time::Duration;

use dacapo_core::event::{NeedKind, Outcome, StopDetail, StopReason, TestsMark};
use dacapo_core::overview::Brief;
use dacapo_core::view::{CurrentStep, Status};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{DoneTasks, Entry, Radar, Scope};
use crate::messages::Messages;
use crate::present::act::{ActArgument, ActCommand, MORE_ITERATIONS, NextAct};
use crate::present::role::Role;
use crate::present::{ends, words};

/// What tasks need of a person, in the order in which a list shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// A person must decide something.
    NeedsYou,
    /// Complete, and waiting for nothing but to be merged.
    Ready,
    /// Not complete, and it does not go on by itself.
    Stopped,
    /// At work, or waiting for a usage limit to end.
    Running,
    /// Waiting for its turn, because too many tasks run already.
    Queued,
    /// Nothing is needed any more.
    Done,
}

impl Group {
    pub const ALL: [Group; 6] =
        [Group::NeedsYou, Group::Ready, Group::Stopped, Group::Running, Group::Queued, Group::Done];

    pub fn of(brief: &Brief) -> Self {
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

    pub fn title(self, messages: Messages) -> String {
        match self {
            Group::NeedsYou => messages.list_needs_you(),
            Group::Ready => messages.list_ready(),
            Group::Stopped => messages.list_stopped(),
            Group::Running => messages.list_running(),
            Group::Queued => messages.list_queued(),
            Group::Done => messages.list_done(),
        }
    }

    /// What its title is to the reader, for this task.
    pub fn role(self, brief: &Brief) -> Role {
        match self {
            Group::NeedsYou => Role::Attention,
            Group::Ready if brief.verified => Role::Proven,
            Group::Ready | Group::Running => Role::Strong,
            Group::Stopped if brief.status == Status::Failed => Role::Failed,
            Group::Stopped => Role::Attention,
            Group::Queued | Group::Done => Role::Hint,
        }
    }
}

/// Whether a task waits for nothing but to be merged.
pub fn is_ready(brief: &Brief) -> bool {
    Group::of(brief) == Group::Ready
}

/// One task of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Row<'a> {
    pub group: Group,
    pub entry: &'a Entry,
    /// What is to be said of it, the most important first.
    pub facts: Vec<Fact<'a>>,
    pub cost_usd: Option<f64>,
    /// What is to be said beside that: it holds whatever the task is at.
    pub remarks: Vec<Fact<'a>>,
    pub next: NextAct,
}

impl<'a> Row<'a> {
    pub fn task(&self) -> &'a str {
        &self.entry.brief.name
    }

    /// What the title of its group is to the reader.
    pub fn role(&self) -> Role {
        self.group.role(&self.entry.brief)
    }
}

/// One thing that is to be said of a task.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact<'a> {
    /// What it asks a person.
    Question(&'a NeedKind),
    /// How far it has come, of one that is under way.
    UnderWay {
        iteration: u32,
        max: Option<u32>,
    },
    /// How far it has come, of one that is not.
    Reached {
        iteration: u32,
        max: Option<u32>,
    },
    /// A usage limit of its agent.
    Waits {
        until: Option<Timestamp>,
        agent: &'a str,
    },
    Elapsed(Duration),
    /// What it does at the moment.
    Doing(&'a CurrentStep),
    Prompt(&'a str),
    /// It waits for its turn.
    Queues,
    Ended(Ended),
    MergedInto(&'a str),
    NoChanges,
    /// Its work is in the user's own checkout.
    InCheckout,
    Stopped(Stopped),
    /// It failed, and said why.
    Failed(&'a StopDetail),
    /// Its journal was changed by somebody else, or is damaged.
    BrokenRecord,
    /// It changed the tests that judge it.
    Tests(TestsMark),
    Merges(&'a Radar),
    /// The address of its pull request.
    PullRequest(&'a str),
    /// Bytes on disk.
    Occupies(u64),
}

/// What a task came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Proven,
    /// It is complete with tests that it changed; a person approved them.
    TestsApproved,
    /// It is complete, and no check has proven it.
    Unverified,
    /// It is not complete.
    Otherwise(Status),
}

impl Ended {
    pub fn of(brief: &Brief) -> Self {
        match brief.status {
            Status::Completed if brief.verified => Ended::Proven,
            Status::Completed if brief.has_approved_tests() => Ended::TestsApproved,
            Status::Completed => Ended::Unverified,
            status => Ended::Otherwise(status),
        }
    }
}

/// Why a task does not go on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    Abandoned,
    /// A person who took it over left so many files.
    LeftByHand(u64),
    PausedByHand,
    /// Nobody said why.
    Failed,
    /// Its iterations are used, and its checks still fail.
    StillRed,
    /// Its iterations are used.
    NotDone,
    NoProgress,
    /// A usage limit lasts longer than it may wait.
    LimitTooLong,
    TimeUp,
    BudgetUsed,
    Otherwise(Status),
}

/// The rows of one repository.
#[derive(Debug, Clone, PartialEq)]
pub struct Block<'a> {
    /// The repository; none where the list is of a single one.
    pub repo: Option<&'a str>,
    pub rows: Vec<Row<'a>>,
    /// Tasks that need nothing any more, where those are only counted.
    pub done: Option<DoneCount<'a>>,
}

/// Tasks that need nothing any more.
#[derive(Debug, Clone, PartialEq)]
pub struct DoneCount<'a> {
    pub newest: &'a Entry,
    pub merged: usize,
    /// Complete in the user's own checkout.
    pub in_checkout: usize,
    /// Complete without a change.
    pub unchanged: usize,
    pub unverified: usize,
    pub next: NextAct,
}

impl DoneCount<'_> {
    pub fn total(&self) -> usize {
        self.merged + self.in_checkout + self.unchanged
    }
}

/// All rows, block by block and group by group.
pub fn blocks<'a>(entries: &'a [Entry], scope: Scope, done: DoneTasks, now: Timestamp) -> Vec<Block<'a>> {
    let sorted = sorted(entries);
    let repos: Vec<Option<&str>> = match scope {
        Scope::Here { .. } => vec![None],
        Scope::Everywhere => {
            let mut repos: Vec<&str> = entries.iter().map(|entry| entry.brief.repo.as_str()).collect();
            repos.sort_unstable();
            repos.dedup();
            repos.into_iter().map(Some).collect()
        }
    };
    let block = |repo: Option<&'a str>| {
        let of_repo = |entry: &&Entry| repo.is_none_or(|repo| entry.brief.repo == repo);
        let all = sorted.iter().copied().filter(of_repo);
        let (counted, shown): (Vec<&Entry>, Vec<&Entry>) =
            all.partition(|entry| done == DoneTasks::Counted && Group::of(&entry.brief) == Group::Done);
        let rows = shown.into_iter().map(|entry| row(entry, now)).collect();
        Block { repo, rows, done: count(&counted) }
    };
    repos.into_iter().map(block).collect()
}

/// Group by group, in each the newest first; but those who wait in the order in which they get their turn.
pub fn sorted(entries: &[Entry]) -> Vec<&Entry> {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by_key(|entry| {
        let Brief { created_at, queued_at, .. } = entry.brief;
        let group = Group::of(&entry.brief);
        let since = (group == Group::Queued).then(|| queued_at.unwrap_or(created_at));
        (group, since, Reverse(created_at))
    });
    sorted
}

/// What there is to say of one task at this time.
pub fn row(entry: &Entry, now: Timestamp) -> Row<'_> {
    let brief = &entry.brief;
    let group = Group::of(brief);
    let act = |command| NextAct::of(command, &brief.name);
    let (facts, next) = match group {
        Group::NeedsYou => {
            let next = if brief.is_blocked() {
                act(ActCommand::Resume).with(ActArgument::Answer)
            } else {
                act(ActCommand::Status)
            };
            (brief.needs.iter().map(Fact::Question).collect(), next)
        }
        Group::Ready => (vec![Fact::Ended(Ended::of(brief))], act(ActCommand::Merge)),
        Group::Stopped => stopped(brief),
        Group::Running => (under_way(brief, now), act(ActCommand::Attach)),
        Group::Queued => (vec![Fact::Queues], act(ActCommand::Attach)),
        Group::Done => (done(brief), act(ActCommand::Status)),
    };
    let mut remarks = Vec::new();
    remarks.extend(brief.broken_record.as_ref().map(|_| Fact::BrokenRecord));
    // Where it is what the task came to, or what it asks, it is said already.
    let said = matches!(brief.tests, Some(TestsMark::Approved)) || group == Group::NeedsYou;
    remarks.extend(brief.tests.filter(|_| !said).map(Fact::Tests));
    remarks.extend(entry.radar.as_ref().filter(|_| group == Group::Ready).map(Fact::Merges));
    remarks.extend(brief.pull_request.as_deref().map(Fact::PullRequest));
    remarks.extend(entry.occupies.map(Fact::Occupies));
    Row { group, entry, facts, cost_usd: brief.cost_usd.filter(|cost| *cost > 0.0), remarks, next }
}

/// What became of one that needs nothing any more.
pub(super) fn done(brief: &Brief) -> Vec<Fact<'_>> {
    let ended = Fact::Ended(Ended::of(brief));
    match &brief.merged_into {
        Some(branch) => vec![Fact::MergedInto(branch), ended],
        None if brief.own_branch.is_some() => vec![ended, Fact::NoChanges],
        None => vec![ended, Fact::InCheckout],
    }
}

fn under_way(brief: &Brief, now: Timestamp) -> Vec<Fact<'_>> {
    let mut facts = vec![Fact::UnderWay { iteration: brief.iteration, max: brief.max_iterations }];
    if brief.status == Status::Waiting {
        facts.push(Fact::Waits { until: brief.waiting_until, agent: &brief.agent });
    }
    if brief.status != Status::Running {
        return facts;
    }
    let since = brief.last_at.map(|at| now.duration_since(at));
    let since = since.and_then(|since| Duration::try_from(since).ok()).unwrap_or_default();
    let elapsed = Duration::from_secs_f64(brief.elapsed_seconds.max(0.0)) + since;
    if elapsed >= Duration::from_secs(1) {
        facts.push(Fact::Elapsed(elapsed));
    }
    facts.extend(brief.doing.as_ref().map(Fact::Doing));
    // A kind that says itself what it is about needs no prompt beside it.
    if brief.doing.is_none() || brief.own.is_none() {
        facts.push(Fact::Prompt(&brief.prompt));
    }
    facts
}

/// What stopped it, and what makes it go on.
fn stopped(brief: &Brief) -> (Vec<Fact<'_>>, NextAct) {
    let act = |command| NextAct::of(command, &brief.name);
    let resume = || act(ActCommand::Resume);
    let with_more = || resume().with(ActArgument::Iterations(MORE_ITERATIONS));
    let reached = || Fact::Reached { iteration: brief.iteration, max: brief.max_iterations };
    let at = |why: Stopped| vec![reached(), Fact::Stopped(why)];
    // What has used all its iterations goes on only with more of them.
    let go_on = || match brief.max_iterations {
        Some(max) if brief.iteration >= max && brief.status.has_ended() => with_more(),
        _ => resume(),
    };
    match (brief.status, brief.outcome) {
        _ if brief.stop_reason == Some(StopReason::Abandoned) => {
            (at(Stopped::Abandoned), act(ActCommand::Drop))
        }
        (Status::Completed, _) if brief.left_by_hand > 0 => {
            let left = Fact::Stopped(Stopped::LeftByHand(brief.left_by_hand));
            (vec![left, Fact::Ended(Ended::of(brief))], resume().with(ActArgument::Iterations(1)))
        }
        (Status::Paused, _) if brief.is_paused_by_hand() => (at(Stopped::PausedByHand), go_on()),
        (Status::Failed, _) => {
            let said = brief.detail.as_ref().filter(|detail| says_something(detail, &brief.name));
            (said.map_or_else(|| at(Stopped::Failed), |why| vec![Fact::Failed(why)]), act(ActCommand::Status))
        }
        (_, Some(Outcome::MaxReached)) if brief.red => (at(Stopped::StillRed), with_more()),
        (_, Some(Outcome::MaxReached)) => (at(Stopped::NotDone), with_more()),
        (_, Some(Outcome::Stalled)) => (at(Stopped::NoProgress), with_more()),
        (_, Some(Outcome::TimeElapsed)) if brief.stop_reason == Some(StopReason::LimitWait) => {
            (at(Stopped::LimitTooLong), go_on())
        }
        (_, Some(Outcome::TimeElapsed)) => (at(Stopped::TimeUp), go_on()),
        (_, Some(Outcome::BudgetExhausted)) => (at(Stopped::BudgetUsed), go_on()),
        (status, _) => (at(Stopped::Otherwise(status)), go_on()),
    }
}

/// A detail may hold nothing but what an agent said, and that may be nothing.
fn says_something(detail: &StopDetail, name: &str) -> bool {
    !words::line(&ends::detail(detail, name, Messages::ENGLISH), words::WHOLE).is_empty()
}

/// Those that need nothing any more; none where there are none.
fn count<'a>(all: &[&'a Entry]) -> Option<DoneCount<'a>> {
    let newest = all.first()?;
    let merged = all.iter().filter(|entry| entry.brief.merged_into.is_some()).count();
    let own = |entry: &&&Entry| entry.brief.merged_into.is_none() && entry.brief.own_branch.is_some();
    let unchanged = all.iter().filter(own).count();
    // Of what was merged the worktrees went with the merge.
    let next = if unchanged > 0 {
        NextAct::general(ActCommand::Prune)
    } else {
        NextAct::general(ActCommand::List).with(ActArgument::DoneTasks)
    };
    Some(DoneCount {
        newest,
        merged,
        in_checkout: all.len() - merged - unchanged,
        unchanged,
        unverified: all.iter().filter(|entry| !entry.brief.verified).count(),
        next,
    })
}
