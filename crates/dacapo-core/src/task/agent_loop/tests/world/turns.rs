//! What an agent may do in a turn.

use std::time::Duration;

use jiff::Timestamp;

use crate::event::{FailureKind, NotAllowed, TurnEnd, Usage};

/// What an agent does in a turn.
#[derive(Debug, Clone)]
pub(in super::super) struct Turn {
    pub(in super::super) end: TurnEnd,
    pub(in super::super) promise: bool,
    pub(in super::super) blocked: Option<String>,
    pub(in super::super) tests_changed: Option<String>,
    pub(in super::super) summary: String,
    pub(in super::super) session: Option<String>,
    pub(in super::super) usage: Usage,
    pub(in super::super) takes: Duration,
    pub(in super::super) not_allowed: Option<NotAllowed>,
    pub(in super::super) stderr_tail: Option<String>,
}

pub(in super::super) fn done() -> Turn {
    Turn {
        end: TurnEnd::Done,
        promise: false,
        blocked: None,
        tests_changed: None,
        summary: "Did a part.".into(),
        session: None,
        usage: Usage { input: 10, output: 5, cached: 0, ..Usage::default() },
        takes: Duration::from_secs(60),
        not_allowed: None,
        stderr_tail: None,
    }
}

pub(in super::super) fn promised() -> Turn {
    Turn { promise: true, ..done() }
}

pub(in super::super) fn blocked(why: &str) -> Turn {
    Turn { blocked: Some(why.into()), ..done() }
}

/// The agent says why tests must change.
pub(in super::super) fn tests_changed(why: &str) -> Turn {
    Turn { tests_changed: Some(why.into()), ..done() }
}

pub(in super::super) fn ended(end: TurnEnd) -> Turn {
    Turn { end, ..done() }
}

pub(in super::super) fn failed() -> Turn {
    ended(TurnEnd::Failed { failure: FailureKind::Transient, fault: "exit 1".into() })
}

pub(in super::super) fn broken() -> Turn {
    ended(TurnEnd::Failed { failure: FailureKind::Permanent, fault: "not logged in: run `one login`".into() })
}

/// A usage limit that ends at `resets_at`.
pub(in super::super) fn limited(resets_at: Option<Timestamp>) -> Turn {
    ended(TurnEnd::Limit { message: "limit reached".into(), resets_at })
}
