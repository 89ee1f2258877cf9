//! A row in columns, for lists that stay on the screen: how far, what it cost and how long stand below each other there, where
//! `dacapo list` has one sentence.

use std::time::Duration;

use dacapo_core::view::Status;

use super::{Ended, Fact, Frame, Group, Row, joined, said};
use crate::present::{kind_words, words};

/// How a task stands, as one sign says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// A person must decide something.
    NeedsYou,
    /// The only one that is green.
    Proven,
    /// Complete, by its own word.
    Claimed,
    /// Stopped before it was complete.
    Stopped,
    Failed,
    Running,
    /// For a usage limit, or for its turn.
    Waiting,
    /// Nothing is needed any more.
    Over,
}

/// The words of a row, column by column.
#[derive(Debug, Clone, PartialEq)]
pub struct Columns {
    pub sign: Sign,
    /// What it asks, what it came to, what stopped it, what it is at.
    pub what: String,
    /// `4/10`.
    pub progress: Option<String>,
    pub cost: Option<String>,
    /// How long it has worked.
    pub elapsed: Option<Duration>,
}

/// What a row says, in columns.
pub fn columns(row: &Row<'_>, frame: &Frame) -> Columns {
    let brief = &row.entry.brief;
    let messages = frame.messages;
    let own = kind_words::of(&brief.kind);
    // What a kind says of its own progress is a sentence, and so part of what it is at.
    let in_words = own.is_some_and(|own| own.under_way(brief, messages).is_some());
    let is_column = |fact: &&Fact<'_>| match fact {
        Fact::UnderWay { .. } => !in_words,
        Fact::Reached { .. } | Fact::Elapsed(_) => true,
        _ => false,
    };
    let facts: Vec<Fact<'_>> = row.facts.iter().filter(|fact| !is_column(fact)).cloned().collect();
    let what = joined(&facts, brief, frame);
    let what = row
        .remarks
        .iter()
        .filter(|remark| !matches!(remark, Fact::Occupies(bytes) if !frame.sizes.shows(*bytes)))
        .fold(what, |what, remark| messages.list_facts(&what, &said(remark, brief, frame)));
    let progress = own.and_then(|own| own.progress(brief, messages)).filter(|_| !in_words);
    let counted = || match (brief.iteration, brief.max_iterations) {
        (done, Some(max)) => Some(format!("{done}/{max}")),
        (0, None) => None,
        (done, None) => Some(done.to_string()),
    };
    let worked = Duration::from_secs_f64(brief.elapsed_seconds.max(0.0));
    let elapsed = row.facts.iter().find_map(|fact| match fact {
        Fact::Elapsed(elapsed) => Some(*elapsed),
        _ => None,
    });
    Columns {
        sign: sign(row),
        what,
        progress: progress.or_else(|| counted().filter(|_| !in_words)),
        cost: row.cost_usd.map(words::money),
        elapsed: elapsed.or(Some(worked)).filter(|elapsed| *elapsed >= Duration::from_secs(1)),
    }
}

fn sign(row: &Row<'_>) -> Sign {
    let brief = &row.entry.brief;
    match row.group {
        Group::NeedsYou => Sign::NeedsYou,
        Group::Ready if Ended::of(brief) == Ended::Proven => Sign::Proven,
        Group::Ready => Sign::Claimed,
        Group::Stopped if brief.status == Status::Failed => Sign::Failed,
        Group::Stopped => Sign::Stopped,
        Group::Running if brief.status == Status::Waiting => Sign::Waiting,
        Group::Running => Sign::Running,
        Group::Queued => Sign::Waiting,
        Group::Done => Sign::Over,
    }
}
