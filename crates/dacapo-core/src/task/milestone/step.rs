//! What happens in a round of a milestone between the turns of its two agents: the events that only this kind has.

use serde::{Deserialize, Serialize};

use super::Milestones;
use crate::event::{Event, KindStep};
use crate::git::Oid;

/// A step of a milestone. `iteration` is the round, from 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum MilestoneStep {
    /// The Developer's report fits its form, and git agrees with it.
    ReportTaken {
        /// The round.
        iteration: u32,
        /// The feature, in the Developer's words.
        feature: String,
        /// Which one that is, from 0, where it can be told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feature_at: Option<usize>,
        /// The commit.
        commit: Oid,
        /// `path: what`, by the Developer's word.
        changes: Vec<String>,
        /// What differs from the commit at the start of the round, at most [`crate::engine::machine::WorkFacts::MOST_FILES`].
        changed_files: Vec<String>,
        /// How many they are in truth.
        changed_total: u32,
        /// The commits of the milestone, newest first.
        log: Vec<String>,
        /// Where the branch is: the Acceptor leaves it there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tip: Option<Oid>,
        /// What the round changed, where it is small ([`crate::engine::machine::WorkFacts::MOST_DIFF`]); the Acceptor reads it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diff: Option<String>,
        /// Where the main branch is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        main: Option<Oid>,
    },
    /// The Developer says that all features are complete, and git agrees with it.
    CompletionTaken {
        /// The round.
        iteration: u32,
        /// The tip of the branch.
        commit: Oid,
        /// What was done, by the Developer's word.
        summary: String,
        /// What differs from the commit at the start of the round.
        changed_files: Vec<String>,
        /// How many they are in truth.
        changed_total: u32,
        /// The commits of the milestone, newest first.
        log: Vec<String>,
        /// Where the main branch is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        main: Option<Oid>,
    },
    /// The report goes back to the Developer before the Acceptor sees it.
    ReportSentBack {
        /// The round.
        iteration: u32,
        /// What is wrong with it.
        complaints: Vec<String>,
    },
    /// The verdict goes back to the Acceptor.
    VerdictSentBack {
        /// The round.
        iteration: u32,
        /// What is wrong with it.
        complaint: String,
    },
    /// The round is accepted.
    Accepted {
        /// The round.
        iteration: u32,
        /// What the Acceptor adds.
        reason: String,
        /// Findings that are about something else; all others are settled.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        still_open: Vec<u32>,
        /// The whole milestone, and the Acceptor does not say of each criterion that it is met.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        not_itemised: bool,
    },
    /// The round is rejected.
    Rejected {
        /// The round.
        iteration: u32,
        /// By whom.
        by: Judge,
        /// Why.
        reason: String,
        /// What is open from now on; all other findings are settled. None by the engine: then nothing changes.
        findings: Vec<Finding>,
        /// The two do not come together by themselves: a person is needed.
        needs_person: bool,
    },
    /// The tree was looked at after an interruption, or after it was to be cleaned up.
    TreeLookedAt {
        /// Where HEAD is.
        head: Option<Oid>,
        /// The branch that HEAD is on (full name), where it is not the milestone's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        astray: Option<String>,
        /// Uncommitted paths, at most [`crate::engine::machine::WorkFacts::MOST_FILES`].
        dirty: Vec<String>,
        /// The commits of the milestone, newest first.
        log: Vec<String>,
        /// Where the milestone's branch is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tip: Option<Oid>,
        /// Where the main branch is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        main: Option<Oid>,
        /// See [`crate::engine::machine::WorkFacts::locks`].
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        locks: Vec<String>,
        /// The Developer puts that in order in a turn of its own before its round goes on.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cleanup: bool,
    },
    /// The Acceptor, who changes nothing, left the work otherwise than it found it.
    TreeTouched {
        /// The round.
        iteration: u32,
        /// The branch that HEAD is on (full name), where it is not the milestone's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        astray: Option<String>,
        /// Where the branch was when the Acceptor was asked, if it is not there any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        judged: Option<Oid>,
        /// Where it is instead; none: it is gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tip: Option<Oid>,
        /// Uncommitted paths, at most [`crate::engine::machine::WorkFacts::MOST_FILES`].
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        dirty: Vec<String>,
    },
    /// The main branch is not where a person's work leaves it. Nobody can tell who did it, so a person is asked.
    MainMoved {
        /// Where it was.
        was: Option<Oid>,
        /// Where it is; none: it is gone.
        now: Option<Oid>,
        /// See [`crate::engine::machine::WorkFacts::main_lost`].
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        lost: bool,
        /// See [`crate::engine::machine::WorkFacts::main_moved`].
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        commits: Vec<String>,
    },
    /// A person has changed what the milestone is held to.
    Refrozen {
        /// The text of its file from now on.
        definition: String,
        /// Its hash ([`super::Definition::frozen`]).
        frozen: String,
        /// What is different, a line each, as both agents are told. None: only settings or the layout.
        changes: Vec<String>,
    },
    /// The task was ended: what nobody had committed is kept.
    TreeKept {
        /// The ref that keeps it; none: there was nothing.
        reference: Option<String>,
    },
}

impl MilestoneStep {
    /// None: it is no milestone's, or one of a later version.
    pub fn read(step: &KindStep) -> Option<Self> {
        step.read(Milestones::NAME)
    }

    /// The step that an event is.
    pub fn of(event: &Event) -> Option<Self> {
        match event {
            Event::Own(step) => Self::read(step),
            _ => None,
        }
    }
}

impl From<MilestoneStep> for Event {
    fn from(step: MilestoneStep) -> Self {
        Event::Own(KindStep::new(Milestones::NAME, &step))
    }
}

/// Who judges a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// The agent that is there for it.
    Acceptor,
    /// Dacapo: there was nothing to judge, or no judgement.
    Engine,
}

/// Something that the Acceptor wants to be different.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Its number, given by the engine: `R3`.
    pub id: u32,
    /// What it is.
    pub text: String,
}
