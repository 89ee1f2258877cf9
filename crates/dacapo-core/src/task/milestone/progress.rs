//! Where a milestone stands, for whoever shows or mirrors it: the same fold that decides, so that no surface tells another
//! story than the machine (M8, M10).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Definition, Findings, Last, Milestone, Phase, Role, Work};
use crate::event::{Outcome, StopReason};

/// The status of a milestone that was started. One that was not is `pending`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MilestoneStatus {
    /// It is going on, or its process is gone.
    InProgress,
    /// It goes on when a person resumes it.
    Paused,
    /// It is accepted, and a person wants to see it before it counts as completed.
    AwaitingReview,
    /// It is completed.
    Completed,
    /// It was given up for good.
    Abandoned,
}

impl MilestoneStatus {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            MilestoneStatus::InProgress => "in_progress",
            MilestoneStatus::Paused => "paused",
            MilestoneStatus::AwaitingReview => "awaiting_review",
            MilestoneStatus::Completed => "completed",
            MilestoneStatus::Abandoned => "abandoned",
        }
    }
}

/// The phase of a milestone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum MilestonePhase {
    /// The Developer is working, or about to.
    #[serde(rename = "waiting for Developer")]
    Developer,
    /// The Acceptor is judging a feature, or about to.
    #[serde(rename = "waiting for Acceptor")]
    Acceptor,
    /// The Acceptor is judging the whole milestone, or about to.
    #[serde(rename = "final acceptance")]
    FinalAcceptance,
    /// It is paused.
    #[serde(rename = "paused")]
    Paused,
}

impl MilestonePhase {
    /// The words for it.
    pub fn as_str(self) -> &'static str {
        match self {
            MilestonePhase::Developer => "waiting for Developer",
            MilestonePhase::Acceptor => "waiting for Acceptor",
            MilestonePhase::FinalAcceptance => "final acceptance",
            MilestonePhase::Paused => "paused",
        }
    }
}

/// Who is working on a milestone at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AtWork {
    /// The agent that builds.
    Developer,
    /// The agent that judges.
    Acceptor,
    /// The project's checks.
    Checks,
}

/// Where a milestone stands.
#[derive(Debug, Clone, Copy)]
pub struct MilestoneProgress<'a> {
    pub status: MilestoneStatus,
    /// Its phase; none when it is over.
    pub phase: Option<MilestonePhase>,
    /// Who has the work in hand.
    pub at_work: Option<AtWork>,
    /// The Developer's turn is only for putting the tree in order.
    pub cleaning: bool,
    /// The round at work, from 1.
    pub round: Option<u32>,
    /// The feature that it is about, from 0, once that is reported and where it can be told.
    pub feature_at: Option<usize>,
    /// Rounds that are over.
    pub rounds: u32,
    /// The limit on them.
    pub max_rounds: u32,
    /// Rounds that were accepted.
    pub accepted: u32,
    /// Rejections in a row, those of the whole milestone aside.
    pub rejections: u32,
    /// How many of them need a person.
    pub max_rejections: u32,
    pub definition: &'a Definition,
    /// Which of its features were accepted.
    pub done: &'a [bool],
    pub findings: &'a Findings,
    /// How the newest round that is over ended.
    pub last: Option<LastRound<'a>>,
    /// Its commits, as they were last seen.
    pub commits: usize,
}

/// How a round ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastRound<'a> {
    /// Its number, from 0.
    pub iteration: u32,
    /// By the Acceptor, or by a person against it.
    pub accepted: bool,
    /// Why it was not, or what was added.
    pub reason: &'a str,
}

impl Milestone {
    pub fn progress(&self) -> MilestoneProgress<'_> {
        let status = self.status();
        let goes_on = status == MilestoneStatus::InProgress;
        let at_work = match self.phase {
            Phase::Turn { role: Role::Developer, .. } => Some(AtWork::Developer),
            Phase::Turn { role: Role::Acceptor, .. } => Some(AtWork::Acceptor),
            Phase::Checking { .. } => Some(AtWork::Checks),
            Phase::Preparing
            | Phase::Between
            | Phase::Asking(_)
            | Phase::Reported { .. }
            | Phase::Cleaned
            | Phase::Judged { .. }
            | Phase::Overdue { .. }
            | Phase::Waits { .. }
            | Phase::Settling => None,
        };
        MilestoneProgress {
            status,
            phase: self.shown_phase(status),
            at_work: at_work.filter(|_| goes_on),
            cleaning: self.round.as_ref().is_some_and(|round| round.cleanup),
            round: self.round.as_ref().map(|round| round.number.saturating_add(1)),
            feature_at: match self.round.as_ref().and_then(|round| round.work.as_ref()) {
                Some(Work::Feature { at, .. }) => *at,
                Some(Work::Everything { .. }) | None => None,
            },
            rounds: self.finished,
            max_rounds: self.max_rounds,
            accepted: self.accepted,
            rejections: self.rejections,
            max_rejections: self.max_rejections,
            definition: &self.definition,
            done: &self.done,
            findings: &self.findings,
            last: self.last.as_ref().map(|Last { number, accepted, reason, .. }| LastRound {
                iteration: *number,
                accepted: *accepted,
                reason,
            }),
            commits: self.log.len(),
        }
    }

    /// What ended otherwise than asked for goes on when a person takes it up, whatever ended it: that is a pause.
    fn status(&self) -> MilestoneStatus {
        let ended = self.life.result.as_ref().map(|result| (result.outcome, result.stop_reason));
        match ended {
            Some((Outcome::Completed, _)) => MilestoneStatus::Completed,
            Some((_, StopReason::Abandoned)) => MilestoneStatus::Abandoned,
            // It only has to say so.
            None if !(self.life.is_paused() && self.phase == Phase::Between) => MilestoneStatus::InProgress,
            Some(_) | None if self.in_review() => MilestoneStatus::AwaitingReview,
            Some(_) | None => MilestoneStatus::Paused,
        }
    }

    fn shown_phase(&self, status: MilestoneStatus) -> Option<MilestonePhase> {
        match status {
            MilestoneStatus::Completed | MilestoneStatus::Abandoned => return None,
            MilestoneStatus::Paused | MilestoneStatus::AwaitingReview => return Some(MilestonePhase::Paused),
            MilestoneStatus::InProgress => {}
        }
        let acceptor = match self.phase {
            Phase::Checking { .. } | Phase::Judged { .. } | Phase::Settling => true,
            Phase::Asking(role) | Phase::Turn { role, .. } | Phase::Waits { role, .. } => {
                role == Role::Acceptor
            }
            Phase::Preparing
            | Phase::Between
            | Phase::Reported { .. }
            | Phase::Cleaned
            | Phase::Overdue { .. } => false,
        };
        let is_final = Work::is_final(self.round.as_ref().and_then(|round| round.work.as_ref()));
        Some(match (acceptor, is_final) {
            (false, _) => MilestonePhase::Developer,
            (true, false) => MilestonePhase::Acceptor,
            (true, true) => MilestonePhase::FinalAcceptance,
        })
    }
}
