//! What a task needs a person for, and what can be answered. The words for it, and how an answer is given, are the
//! surface's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ChangedTest, CheckBrief, FewerTests, InlineTest, ProofFailure};
use crate::git::Oid;
use crate::text::cut_chars;

/// What a person must decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Needs {
    /// What it is about.
    #[serde(flatten)]
    pub kind: NeedKind,
    /// The possible answers, the most likely first.
    pub choices: Vec<Choice>,
}

impl Needs {
    /// Whether this can be answered.
    pub fn offers(&self, choice: &Choice) -> bool {
        self.choices.contains(choice)
    }
}

/// What a person is needed for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NeedKind {
    /// Nothing: somebody paused the task, and it goes on when it is resumed.
    Resume {
        /// Who paused it. Absent if that is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// The agent cannot go on without a person.
    Blocked {
        /// What the agent asks.
        question: String,
    },
    /// The agent wants to do something that it may not do without asking.
    Permission {
        /// What it wants to do.
        question: String,
    },
    /// The checks pass where the agent works, and repeatedly fail in a checkout of the commit.
    Proof {
        /// The last such failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<ProofFailure>,
    },
    /// The work passes its checks, but not with the tests as they were.
    TestsChanged {
        /// The files that judge the work and were changed, at most 100.
        changed: Vec<ChangedTest>,
        /// How many files there are.
        changed_total: u64,
        /// Tests in source files that are gone, ignored or changed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        inline: Vec<InlineTest>,
        /// The checks that fail with the tests as they were.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        failed: Vec<CheckBrief>,
        /// How many tests ran before and at the end, if they became fewer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fewer: Option<FewerTests>,
        /// Why the tests must change, in the agent's words; null if it did not say.
        reason: Option<String>,
    },
    /// Too many rounds in a row were rejected.
    Rejections {
        /// The number of rejected rounds.
        times: u32,
        /// Why the last one was rejected.
        reason: String,
    },
    /// The Acceptor rejects a round for nothing but findings that are settled.
    Settled {
        /// What it said.
        reason: String,
    },
    /// The whole milestone was rejected repeatedly, and nothing was committed in between.
    Final {
        /// The number of rejections.
        times: u32,
        /// Why it was rejected last.
        reason: String,
    },
    /// The limit on rounds is reached.
    Rounds {
        /// How many rounds there were.
        used: u32,
        /// Why the last one was rejected. Absent if it was not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The main branch was changed while a milestone ran, and nobody can tell by whom.
    Main {
        /// What happened to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<MainBranch>,
    },
    /// The milestone is accepted, and a person wants to see it before it counts as completed.
    Review {
        /// What happened to the main branch meanwhile. Absent if nothing did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<MainBranch>,
    },
}

impl NeedKind {
    /// The same, with at most `most` characters of what somebody said.
    pub(crate) fn cut(&self, most: usize) -> Self {
        let mut kind = self.clone();
        match &mut kind {
            Self::Blocked { question: said }
            | Self::Permission { question: said }
            | Self::Rejections { reason: said, .. }
            | Self::Settled { reason: said }
            | Self::Final { reason: said, .. }
            | Self::TestsChanged { reason: Some(said), .. }
            | Self::Rounds { reason: Some(said), .. } => *said = cut_chars(said, most),
            Self::Resume { .. }
            | Self::Proof { .. }
            | Self::TestsChanged { reason: None, .. }
            | Self::Rounds { reason: None, .. }
            | Self::Main { .. }
            | Self::Review { .. } => {}
        }
        kind
    }
}

/// What happened to the main branch while a milestone ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MainBranch {
    /// The branch; null if it has no name.
    pub branch: Option<String>,
    /// The round in which it was noticed, from 1.
    pub since_round: u32,
    /// Where the branch was; null if that is not known.
    #[serde(rename = "old_commit")]
    pub was: Option<Oid>,
    /// Where it is; null if it is gone.
    #[serde(rename = "new_commit")]
    pub now: Option<Oid>,
    /// True if commits that were on it are not on it any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// Commits of the milestone that are on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<String>,
}

/// A possible answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "choice", rename_all = "snake_case")]
pub enum Choice {
    /// Go on.
    Resume,
    /// Go on, with an answer to what the agent asks.
    Answer,
    /// Go on, without proving commits.
    ResumeUnproven,
    /// Go on, with another limit on rounds.
    ResumeWithRounds {
        /// The limit.
        rounds: u32,
    },
    /// Raise the limit on rounds. Then it can go on.
    AddRounds {
        /// The number of rounds that are added.
        rounds: u32,
    },
    /// Tell the agents something. Then it can go on.
    Tell,
    /// Accept what was done.
    Approve,
    /// Do not accept what was done.
    Reject,
    /// End the task.
    Kill,
    /// End the milestone for good.
    Abandon,
    /// One of the answers that the agent offers.
    Offered {
        /// What the agent calls it.
        name: String,
    },
}
