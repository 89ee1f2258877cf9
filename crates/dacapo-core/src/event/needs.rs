//! What a task needs a person for, and what can be answered. The words for it, and how an answer is given, are the
//! surface's.

use serde::{Deserialize, Serialize};

use super::ProofFailure;
use crate::git::Oid;
use crate::text::cut_chars;

/// What a person must decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Needs {
    /// What for.
    #[serde(flatten)]
    pub kind: NeedKind,
    /// What can be answered, the most likely first.
    pub choices: Vec<Choice>,
}

impl Needs {
    /// Whether this can be answered.
    pub fn offers(&self, choice: &Choice) -> bool {
        self.choices.contains(choice)
    }
}

/// What a person is needed for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NeedKind {
    /// Somebody paused it; nothing is asked.
    Resume {
        /// Who or what; none: it is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// The agent cannot go on without a person (L18).
    Blocked {
        /// What it asks, in its own words.
        question: String,
    },
    /// The agent wants to do something that it may not do unasked.
    Permission {
        /// What, in its own words.
        question: String,
    },
    /// The checks passed where the agent works, and again and again not in a checkout of the commit.
    Proof {
        /// The newest of these proofs; none: it is not on record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<ProofFailure>,
    },
    /// The work was rejected too often in a row.
    Rejections {
        /// How often.
        times: u32,
        /// What was said about it last.
        reason: String,
    },
    /// Who judges insists on what was settled before.
    Settled {
        /// What was said about it.
        reason: String,
    },
    /// The whole of it was rejected again and again, and nothing was committed in between.
    Final {
        /// How often.
        times: u32,
        /// What was said about it last.
        reason: String,
    },
    /// All rounds are used.
    Rounds {
        /// How many.
        used: u32,
        /// Why the last one was rejected, where it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The main branch is not where a person's work leaves it.
    Main {
        /// What became of it; none: it is not on record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<MainBranch>,
    },
    /// All is accepted, and a person wanted to see it before it counts.
    Review {
        /// What became of the main branch meanwhile, where a person should know.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<MainBranch>,
    },
}

impl NeedKind {
    /// The same with at most so many characters of what somebody said.
    pub(crate) fn cut(&self, most: usize) -> Self {
        let mut kind = self.clone();
        match &mut kind {
            Self::Blocked { question: said }
            | Self::Permission { question: said }
            | Self::Rejections { reason: said, .. }
            | Self::Settled { reason: said }
            | Self::Final { reason: said, .. }
            | Self::Rounds { reason: Some(said), .. } => *said = cut_chars(said, most),
            Self::Resume { .. }
            | Self::Proof { .. }
            | Self::Rounds { reason: None, .. }
            | Self::Main { .. }
            | Self::Review { .. } => {}
        }
        kind
    }
}

/// What became of the main branch, which no task touches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MainBranch {
    /// Its short name; none: it has none.
    pub branch: Option<String>,
    /// The round in which it was seen.
    pub since_round: u32,
    /// Where it was, where that is known.
    pub was: Option<Oid>,
    /// Where it is; none: it is gone.
    pub now: Option<Oid>,
    /// What was on it is not on it any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// Commits of the task that are on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<String>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "choice", rename_all = "snake_case")]
pub enum Choice {
    /// It goes on.
    Resume,
    /// It goes on with the answer to what its agent asks.
    Answer,
    /// It goes on, and its commits are not proven.
    ResumeUnproven,
    /// It goes on with another limit.
    ResumeWithRounds {
        /// So many rounds in all.
        rounds: u32,
    },
    /// Its limit is raised; then it can go on.
    AddRounds {
        /// By so many rounds.
        rounds: u32,
    },
    /// Its agents are told something; then it can go on.
    Tell,
    /// What was done is accepted.
    Approve,
    /// What was done is not accepted.
    Reject,
    /// It ends.
    Kill,
    /// It ends for good.
    Abandon,
    /// One of the answers that its agent offers.
    Offered {
        /// What the agent calls it.
        name: String,
    },
}
