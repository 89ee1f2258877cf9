//! How a task ended: the one fact that every surface shows first, before it is put into words.

use dacapo_core::event::{Outcome, StopReason, TaskResult};
use dacapo_core::view::TaskView;

use super::report::{asks_about_tests, has_no_worktree, is_blocked, is_paused_by_hand};
use super::role::Role;
use crate::messages::Messages;

/// What a task came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// Complete, and its checks passed on its last commit.
    Proven,
    /// Complete with tests that it changed; a person approved them.
    TestsApproved,
    /// Complete by the agent's word alone, or by checks that prove nothing about the commit.
    Unverified,
    Failed(FailedBecause),
    Stopped(StoppedBecause),
    Paused(PausedBecause),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedBecause {
    /// The agent said that trying again does not help.
    PermanentError,
    SetupCommand,
    NoWorktree,
    WorkspaceGone,
    NotStarted,
    AgentFailed,
    /// Too many iterations in a row failed.
    Failures,
    NoSuccess,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoppedBecause {
    Abandoned,
    Cancelled,
    MaxReached,
    /// A usage limit lasts longer than the task may wait.
    LimitTooLong,
    TimeUp,
    BudgetUsed,
    Stalled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PausedBecause {
    /// Its agent cannot go on without an answer.
    AgentBlocked,
    ByHand,
    /// It passes only with tests that it changed.
    TestsChanged,
    NeedsPerson,
}

impl Conclusion {
    pub fn of(view: &TaskView, result: &TaskResult) -> Self {
        match result.outcome {
            Outcome::Cancelled if result.stop_reason == StopReason::Abandoned => {
                Self::Stopped(StoppedBecause::Abandoned)
            }
            Outcome::Completed if result.verified => Self::Proven,
            Outcome::Completed if result.tests.as_ref().is_some_and(|tests| tests.approved) => {
                Self::TestsApproved
            }
            Outcome::Completed => Self::Unverified,
            Outcome::Failed => Self::Failed(FailedBecause::of(view, result)),
            Outcome::MaxReached => Self::Stopped(StoppedBecause::MaxReached),
            Outcome::TimeElapsed if result.stop_reason == StopReason::LimitWait => {
                Self::Stopped(StoppedBecause::LimitTooLong)
            }
            Outcome::TimeElapsed => Self::Stopped(StoppedBecause::TimeUp),
            Outcome::BudgetExhausted => Self::Stopped(StoppedBecause::BudgetUsed),
            Outcome::Stalled => Self::Stopped(StoppedBecause::Stalled),
            Outcome::Paused if is_blocked(view) => Self::Paused(PausedBecause::AgentBlocked),
            Outcome::Paused if is_paused_by_hand(view, result) => Self::Paused(PausedBecause::ByHand),
            Outcome::Paused if asks_about_tests(view) => Self::Paused(PausedBecause::TestsChanged),
            Outcome::Paused => Self::Paused(PausedBecause::NeedsPerson),
            Outcome::Cancelled => Self::Stopped(StoppedBecause::Cancelled),
        }
    }

    /// Readable without colour.
    pub fn sign(self) -> char {
        match self {
            Self::Proven => '✓',
            Self::TestsApproved | Self::Unverified => '●',
            Self::Failed(_) => '✗',
            Self::Stopped(_) => '■',
            Self::Paused(_) => '‖',
        }
    }

    pub fn role(self) -> Role {
        match self {
            Self::Proven => Role::Proven,
            Self::TestsApproved | Self::Unverified => Role::Strong,
            Self::Failed(_) => Role::Failed,
            Self::Stopped(_) | Self::Paused(_) => Role::Attention,
        }
    }

    pub fn words(self, messages: Messages) -> String {
        match self {
            Self::Proven => messages.ended_proven(),
            Self::TestsApproved => messages.ended_tests_approved(),
            Self::Unverified => messages.ended_unverified(),
            Self::Failed(why) => messages.ended_failed(&why.words(messages)),
            Self::Stopped(StoppedBecause::Abandoned) => messages.ended_abandoned(),
            Self::Stopped(StoppedBecause::Cancelled) => messages.ended_cancelled(),
            Self::Stopped(StoppedBecause::MaxReached) => messages.ended_max_reached(),
            Self::Stopped(StoppedBecause::LimitTooLong) => messages.ended_limit_too_long(),
            Self::Stopped(StoppedBecause::TimeUp) => messages.ended_time_up(),
            Self::Stopped(StoppedBecause::BudgetUsed) => messages.ended_budget_used(),
            Self::Stopped(StoppedBecause::Stalled) => messages.ended_stalled(),
            Self::Paused(PausedBecause::AgentBlocked) => messages.ended_agent_blocked(),
            Self::Paused(PausedBecause::ByHand) => messages.ended_paused_by_you(),
            Self::Paused(PausedBecause::TestsChanged) => messages.ended_tests_need_person(),
            Self::Paused(PausedBecause::NeedsPerson) => messages.ended_needs_person(),
        }
    }
}

impl FailedBecause {
    fn of(view: &TaskView, result: &TaskResult) -> Self {
        match result.stop_reason {
            StopReason::PermanentError => Self::PermanentError,
            StopReason::SetupFailed if result.failed_setup.is_some() => Self::SetupCommand,
            StopReason::SetupFailed if has_no_worktree(view) => Self::NoWorktree,
            StopReason::SetupFailed if result.iterations_attempted > 0 => Self::WorkspaceGone,
            StopReason::SetupFailed => Self::NotStarted,
            StopReason::Failures if result.iterations_attempted == 1 => Self::AgentFailed,
            StopReason::Failures => Self::Failures,
            StopReason::Iterations
            | StopReason::Time
            | StopReason::Promise
            | StopReason::Checks
            | StopReason::Budget
            | StopReason::Stall
            | StopReason::LimitWait
            | StopReason::Cancelled
            | StopReason::Abandoned
            | StopReason::NeedsPerson => Self::NoSuccess,
        }
    }

    fn words(self, messages: Messages) -> String {
        match self {
            Self::PermanentError => messages.ended_because_permanent(),
            Self::SetupCommand => messages.ended_because_setup(),
            Self::NoWorktree => messages.ended_because_no_worktree(),
            Self::WorkspaceGone => messages.ended_because_workspace_gone(),
            Self::NotStarted => messages.ended_because_not_started(),
            Self::AgentFailed => messages.ended_because_agent_failed(),
            Self::Failures => messages.ended_because_failures(),
            Self::NoSuccess => messages.ended_because_no_success(),
        }
    }
}
