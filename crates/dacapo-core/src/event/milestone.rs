//! What happens in a round of a milestone between the turns of its two agents.

use serde::{Deserialize, Serialize};

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
        /// The commit.
        commit: Oid,
        /// `path: what`, by the Developer's word.
        changes: Vec<String>,
        /// What differs from the commit at the start of the round, at most [`WorkFacts::MOST_FILES`].
        changed_files: Vec<String>,
        /// How many they are in truth.
        changed_total: u32,
        /// The commits of the milestone, newest first.
        log: Vec<String>,
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
        /// Uncommitted paths, at most [`WorkFacts::MOST_FILES`].
        dirty: Vec<String>,
        /// The commits of the milestone, newest first.
        log: Vec<String>,
    },
    /// The task was ended: what nobody had committed is kept.
    TreeKept {
        /// The ref that keeps it; none: there was nothing.
        reference: Option<String>,
    },
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

/// What git says about the work of a milestone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkFacts {
    /// Where HEAD is.
    pub head: Option<Oid>,
    /// The branch that HEAD is on (full name); none when detached.
    pub branch: Option<String>,
    /// Paths that are not committed, apart from what checks and the setup left, at most [`WorkFacts::MOST_FILES`].
    pub dirty: Vec<String>,
    /// The commits that were asked about.
    pub commits: Vec<NamedCommit>,
    /// The milestone's own file is not what it was at the base.
    pub definition_changed: bool,
    /// What differs from the commit at the start of the round, at most [`WorkFacts::MOST_FILES`].
    pub changed_files: Vec<String>,
    /// How many they are in truth.
    pub changed_total: u32,
    /// The commits of the milestone as `git log --oneline` shows them, newest first, at most [`WorkFacts::MOST_LOG`].
    pub log: Vec<String>,
}

impl WorkFacts {
    /// More files than this are counted, not listed.
    pub const MOST_FILES: usize = 100;
    /// So many commits are listed.
    pub const MOST_LOG: usize = 200;
}

/// A commit that a report names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedCommit {
    /// As it is named there.
    pub named: String,
    /// The commit; none: there is no such one, or there are several.
    pub found: Option<Oid>,
    /// It is on the milestone's branch, and was not there before the milestone.
    pub on_branch: bool,
}
