//! The parts of a milestone's state.

use std::sync::Arc;

use jiff::Timestamp;

use super::definition::Definition;
use super::findings::About;
use crate::event::{CheckResult, TestsDiff, Usage};
use crate::git::Oid;
use crate::task::lifecycle::{Conversation, Wait};
use crate::task::milestone::Judge;

/// Who is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Developer,
    Acceptor,
}

impl Role {
    pub(super) fn name(self) -> &'static str {
        match self {
            Role::Developer => "Developer",
            Role::Acceptor => "Acceptor",
        }
    }
}

/// Where the milestone stands. It is not lost when the task ends: whoever takes it up goes on from there.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Phase {
    /// The workspace is made, and made usable.
    Preparing,
    /// No round is at work.
    Between,
    /// In a round, the next turn is this one's.
    Asking(Role),
    Turn {
        turn: u32,
        role: Role,
        continued: bool,
    },
    /// The Developer has replied.
    Reported {
        reply: String,
    },
    /// The Developer says that it has put the tree in order.
    Cleaned,
    Checking {
        index: usize,
    },
    /// The Acceptor has replied.
    Judged {
        reply: String,
    },
    /// A call took too long, or the work was out of order too often.
    Overdue {
        reason: String,
    },
    /// For a limit of this one, or after a failed call.
    Waits {
        role: Role,
        wait: Wait,
    },
    Settling,
}

/// An agent's conversation, and what it has to hear.
#[derive(Debug, Clone, Default)]
pub(super) struct AgentState {
    pub(super) conversation: Conversation,
    /// What people said and no turn has been told yet.
    pub(super) told: Vec<String>,
    /// What the newest turn was told.
    pub(super) heard: Vec<String>,
    /// What has happened and no turn has been told yet: other criteria, a person's no.
    pub(super) notes: Vec<String>,
    /// What the newest turn was told of it.
    pub(super) notes_heard: Vec<String>,
    /// The next turn is told that there was an interruption.
    pub(super) interrupted: bool,
    /// The newest turn was.
    pub(super) recovering: bool,
    /// Its failed calls since its last good one. What the other one brings about says nothing about it.
    pub(super) failures_in_row: u32,
}

/// A round at work.
#[derive(Debug, Clone)]
pub(super) struct Round {
    pub(super) number: u32,
    pub(super) start: Option<Oid>,
    pub(super) started_at: Timestamp,
    pub(super) attempts: u32,
    pub(super) usage: Usage,
    /// What was reported and held against git.
    pub(super) work: Option<Work>,
    /// Where the branch was then.
    pub(super) tip: Option<Oid>,
    /// What the round changed, where it is small.
    pub(super) diff: Option<String>,
    /// What it changed of the files that judge it.
    pub(super) tests: Option<TestsDiff>,
    pub(super) changed_files: Vec<String>,
    pub(super) changed_total: u32,
    /// Reports that were sent back.
    pub(super) reports_sent_back: u32,
    /// Verdicts that were sent back.
    pub(super) verdicts_sent_back: u32,
    /// The newest reply of the Acceptor's that was.
    pub(super) given: Option<String>,
    /// Why something was sent back, for the next prompt.
    pub(super) complaints: Vec<String>,
    /// The Developer is to put the tree in order before anybody goes on.
    pub(super) cleanup: bool,
    /// How often it failed to put the tree in order.
    pub(super) cleanups_failed: u32,
    /// What it is told after that.
    pub(super) held: Vec<String>,
    /// How often since it was taken up the work was not as reported when the Acceptor was to judge it.
    pub(super) disturbed: u32,
    pub(super) checks: Vec<CheckResult>,
    pub(super) judgement: Option<Judgement>,
}

/// What a round is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Work {
    Feature {
        text: String,
        /// Which one, where that can be told.
        at: Option<usize>,
        commit: Oid,
        changes: Vec<String>,
    },
    /// All features are complete.
    Everything { commit: Oid, summary: String },
}

impl Work {
    pub(super) fn commit(&self) -> &Oid {
        match self {
            Work::Feature { commit, .. } | Work::Everything { commit, .. } => commit,
        }
    }

    pub(super) fn about(work: Option<&Self>) -> About {
        match work {
            Some(Work::Feature { at, .. }) => About::Feature(*at),
            Some(Work::Everything { .. }) => About::Milestone,
            None => About::Feature(None),
        }
    }

    pub(super) fn is_final(work: Option<&Self>) -> bool {
        matches!(work, Some(Work::Everything { .. }))
    }
}

/// How a round was judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) accepted: bool,
    pub(super) by: Judge,
    pub(super) reason: String,
    pub(super) needs_person: bool,
}

/// How the newest round ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Last {
    pub(super) number: u32,
    pub(super) work: Option<Work>,
    pub(super) accepted: bool,
    /// Who said so first; a person may have decided otherwise.
    pub(super) by: Judge,
    pub(super) reason: String,
    /// The two do not come together by themselves.
    pub(super) needs_person: bool,
    /// Where the Developer had left the branch, if the Acceptor moved it.
    pub(super) left_at: Option<Oid>,
}

/// What an interruption or the Acceptor left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Disorder {
    pub(super) dirty: Vec<String>,
    /// HEAD is on another branch.
    pub(super) astray: Option<String>,
    /// What else is to be known, a sentence each.
    pub(super) notes: Vec<String>,
}

/// What a person wants the milestone to be held to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NewDefinition {
    pub(super) text: String,
    pub(super) definition: Arc<Definition>,
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Question {
    /// Somebody paused the milestone: is it to go on?
    GoOn { by: Option<String> },
    /// Too many rejections in a row.
    Rejections,
    /// The Acceptor insists on what is settled.
    Settled,
    /// The whole milestone is rejected again and again, and nobody changes anything.
    Final,
    /// All rounds are used.
    Rounds,
    /// Accepted; a person has the last word.
    Review,
    /// The main branch is not where a person's work leaves it.
    Main,
    /// The checks pass here and, once more, not on the commit.
    Proof,
}
