//! What happens in a round of a milestone between the turns of its two agents: the events that only this kind has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Milestones;
use crate::event::{Event, KindStep, TestsDiff};
use crate::git::Oid;

/// A step of a milestone, between the turns of its two agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum MilestoneStep {
    /// The Developer's report is complete, and git agrees with it.
    ReportTaken {
        /// The round, from 0.
        iteration: u32,
        /// The feature, in the Developer's words.
        feature: String,
        /// Which feature of the milestone that is, from 0. Absent if it cannot be told.
        #[serde(rename = "feature_index", default, skip_serializing_if = "Option::is_none")]
        feature_at: Option<usize>,
        /// The commit that was reported.
        #[serde(rename = "commit_id")]
        commit: Oid,
        /// The changes, in the Developer's words: `path: what`.
        changes: Vec<String>,
        /// The files that differ from the start of the round, at most 1000.
        changed_files: Vec<String>,
        /// How many files differ.
        #[serde(rename = "changed_files_total")]
        changed_total: u32,
        /// The commits of the milestone, newest first.
        log: Vec<String>,
        /// Where the branch is.
        #[serde(rename = "tip_commit", default, skip_serializing_if = "Option::is_none")]
        tip: Option<Oid>,
        /// What the round changed. Absent if it is too long.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diff: Option<String>,
        /// What it changed of the files that judge it. Absent if nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tests: Option<TestsDiff>,
        /// Where the main branch is.
        #[serde(rename = "main_commit", default, skip_serializing_if = "Option::is_none")]
        main: Option<Oid>,
    },
    /// The Developer reports that all features are complete, and git agrees with it.
    CompletionTaken {
        /// The round, from 0.
        iteration: u32,
        /// Where the branch is.
        #[serde(rename = "commit_id")]
        commit: Oid,
        /// What was done, in the Developer's words.
        summary: String,
        /// The files that differ from the start of the round, at most 1000.
        changed_files: Vec<String>,
        /// How many files differ.
        #[serde(rename = "changed_files_total")]
        changed_total: u32,
        /// The commits of the milestone, newest first.
        log: Vec<String>,
        /// What the milestone changed of the files that judge it. Absent if nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tests: Option<TestsDiff>,
        /// Where the main branch is.
        #[serde(rename = "main_commit", default, skip_serializing_if = "Option::is_none")]
        main: Option<Oid>,
    },
    /// The report goes back to the Developer, before the Acceptor sees it.
    ReportSentBack {
        /// The round, from 0.
        iteration: u32,
        /// What is wrong with it, a sentence each.
        complaints: Vec<String>,
    },
    /// The verdict goes back to the Acceptor.
    VerdictSentBack {
        /// The round, from 0.
        iteration: u32,
        /// What is wrong with it.
        complaint: String,
    },
    /// The round is accepted.
    Accepted {
        /// The round, from 0.
        iteration: u32,
        /// What the Acceptor said.
        reason: String,
        /// The numbers of the findings that stay open. All others are settled.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        still_open: Vec<u32>,
        /// True if the whole milestone was accepted without a verdict on each criterion.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        not_itemised: bool,
    },
    /// The round is rejected.
    Rejected {
        /// The round, from 0.
        iteration: u32,
        /// Who rejected it.
        by: Judge,
        /// The reason for the rejection.
        reason: String,
        /// The findings that are open from now on. All others are settled. If the engine rejected it, the findings stay as
        /// they were.
        findings: Vec<Finding>,
        /// True if the two agents do not agree by themselves, and a person must decide.
        needs_person: bool,
    },
    /// The worktree was looked at after an interruption, or after the Developer had put it in order.
    TreeLookedAt {
        /// Where HEAD is; null in a repository without commits.
        #[serde(rename = "head_commit")]
        head: Option<Oid>,
        /// The branch that HEAD is on. Absent if it is the milestone's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        astray: Option<String>,
        /// Files that are not committed, at most 1000.
        dirty: Vec<String>,
        /// The commits of the milestone, newest first.
        log: Vec<String>,
        /// Where the milestone's branch is.
        #[serde(rename = "tip_commit", default, skip_serializing_if = "Option::is_none")]
        tip: Option<Oid>,
        /// Where the main branch is.
        #[serde(rename = "main_commit", default, skip_serializing_if = "Option::is_none")]
        main: Option<Oid>,
        /// Locks of git that are in the way.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        locks: Vec<String>,
        /// True if the Developer first gets a turn to put the worktree in order.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cleanup: bool,
    },
    /// The Acceptor, which must not change anything, changed something.
    TreeTouched {
        /// The round, from 0.
        iteration: u32,
        /// The branch that HEAD is on. Absent if it is the milestone's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        astray: Option<String>,
        /// Where the branch was when the Acceptor was asked. Absent if it is still there.
        #[serde(rename = "judged_commit", default, skip_serializing_if = "Option::is_none")]
        judged: Option<Oid>,
        /// Where the branch is now. Absent if it was not moved, or is gone.
        #[serde(rename = "tip_commit", default, skip_serializing_if = "Option::is_none")]
        tip: Option<Oid>,
        /// Files that are not committed, at most 1000.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        dirty: Vec<String>,
    },
    /// The main branch was changed, and nobody can tell by whom. A person is asked.
    MainMoved {
        /// Where it was; null if that is not known.
        #[serde(rename = "old_commit")]
        was: Option<Oid>,
        /// Where it is; null if it is gone.
        #[serde(rename = "new_commit")]
        now: Option<Oid>,
        /// True if commits that were on it are not on it any more.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        lost: bool,
        /// Commits of the milestone that are on it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        commits: Vec<String>,
    },
    /// A person changed what the milestone is held to.
    Refrozen {
        /// The text of its file from now on.
        definition: String,
        /// The SHA-256 of what it is held to.
        frozen: String,
        /// What is different, a line each, as both agents are told. Empty if only settings or the layout changed.
        changes: Vec<String>,
    },
    /// The task was ended, and what was not committed is kept.
    TreeKept {
        /// The ref that keeps it; null if there was nothing.
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

/// Who rejected a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// The Acceptor.
    Acceptor,
    /// Dacapo itself: there was nothing to judge, or no verdict.
    Engine,
}

/// Something that the Acceptor wants to be different.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Its number: 3 for `R3`.
    pub id: u32,
    /// What it is.
    pub text: String,
}
