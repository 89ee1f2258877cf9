//! What is to be done next, by name alone: cheap to ask for, to compare and to show. What doing it needs is built once,
//! by [`Machine::plan`](super::machine::Machine::plan).

use jiff::Timestamp;

use super::machine::TurnStart;
#[cfg(test)]
use super::machine::{Effect, Machine};
use crate::event::{CheckPhase, WaitReason};
use crate::proof::{ProofRun, Start};
use crate::spec::Writing;

/// What is to be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Make the place to work in.
    PrepareWorkspace,
    /// Run a command that makes the fresh worktree usable.
    RunSetup {
        /// Its place among the commands.
        index: u32,
    },
    RunCheck {
        /// What it is run for.
        phase: CheckPhase,
        iteration: Option<u32>,
        /// Its place among the checks.
        index: u32,
    },
    /// Have a checkout of the commit, to which no agent writes, and make it usable.
    PrepareProof {
        /// The iteration that made the commit.
        iteration: u32,
        /// What it starts with.
        start: Start,
        /// With which tests it is judged.
        run: ProofRun,
    },
    /// Find what the workspace has and that checkout does not.
    FindHidden {
        /// The iteration that made the commit.
        iteration: u32,
    },
    /// A turn of an agent is to start.
    BeginTurn(TurnStart),
    /// Give the agent its turn.
    RunTurn {
        /// Its number over the whole task.
        turn: u32,
    },
    /// Have a model put into words what the iteration did.
    Write {
        /// A summary, or a commit message.
        what: Writing,
        /// The iteration that it is about.
        iteration: u32,
    },
    /// Stage what the iteration left and make a commit object of it.
    PrepareCommit {
        /// The iteration that left it.
        iteration: u32,
    },
    Land {
        /// The iteration that made the commit.
        iteration: u32,
    },
    /// Ask git about the work.
    InspectWork {
        /// The iteration at work.
        iteration: Option<u32>,
    },
    /// Keep what nobody has committed under a rescue ref.
    KeepWork,
    Sleep {
        /// At the latest until then.
        until: Timestamp,
        why: WaitReason,
    },
    /// Tell all tasks with the same account of a limit.
    ShareLimit {
        /// Which of the task's agents ran into it.
        agent: usize,
    },
    /// Sleep while another task tries whether the limit of this agent's account is over.
    AwaitProbe {
        /// Index of the agent in the task's list.
        agent: usize,
        /// At the latest until then.
        until: Timestamp,
    },
    /// Come back with the time.
    Settle,
    /// Force everything to disk and gather what the result needs.
    Finish,
}

impl Step {
    /// Returns true if it is a part of a proof: its checkout is needed, and no process of an agent may be at work meanwhile,
    /// for it could answer the checks or write into the checkout (L4).
    pub(crate) fn is_of_proof(self) -> bool {
        match self {
            Step::PrepareProof { .. } | Step::FindHidden { .. } => true,
            Step::RunCheck { phase, .. } => phase.is_of_proof(),
            Step::PrepareWorkspace
            | Step::RunSetup { .. }
            | Step::BeginTurn(_)
            | Step::RunTurn { .. }
            | Step::Write { .. }
            | Step::PrepareCommit { .. }
            | Step::Land { .. }
            | Step::InspectWork { .. }
            | Step::KeepWork
            | Step::Sleep { .. }
            | Step::ShareLimit { .. }
            | Step::AwaitProbe { .. }
            | Step::Settle
            | Step::Finish => false,
        }
    }
}

#[cfg(test)]
impl Effect {
    /// The step that this is the plan of.
    pub(crate) fn step(&self) -> Step {
        match self {
            Self::PrepareWorkspace => Step::PrepareWorkspace,
            Self::RunSetup(plan) => Step::RunSetup { index: plan.index },
            Self::RunCheck(plan) => {
                Step::RunCheck { phase: plan.phase, iteration: plan.iteration, index: plan.index }
            }
            Self::PrepareProof(plan) => {
                Step::PrepareProof { iteration: plan.iteration, start: plan.start, run: plan.run }
            }
            Self::FindHidden { iteration } => Step::FindHidden { iteration: *iteration },
            Self::BeginTurn(start) => Step::BeginTurn(*start),
            Self::RunTurn(plan) => Step::RunTurn { turn: plan.turn },
            Self::Write(plan) => Step::Write { what: plan.what, iteration: plan.iteration },
            Self::PrepareCommit(plan) => Step::PrepareCommit { iteration: plan.iteration },
            Self::Land(landing) => Step::Land { iteration: landing.iteration },
            Self::InspectWork(query) => Step::InspectWork { iteration: query.iteration },
            Self::KeepWork => Step::KeepWork,
            Self::Sleep { until, why } => Step::Sleep { until: *until, why: *why },
            Self::ShareLimit(found) => Step::ShareLimit { agent: found.agent },
            Self::AwaitProbe { agent, until } => Step::AwaitProbe { agent: *agent, until: *until },
            Self::Settle => Step::Settle,
            Self::Finish { .. } => Step::Finish,
        }
    }
}

/// For tests: what the driver would do now.
#[cfg(test)]
pub(crate) trait Planned {
    /// Whatever step is named can be planned, as just that step.
    fn effect(&self) -> Option<Effect>;
}

#[cfg(test)]
impl<M: Machine + ?Sized> Planned for M {
    fn effect(&self) -> Option<Effect> {
        let step = self.next()?;
        let effect = self.plan(step);
        assert_eq!(effect.step(), step, "the plan of a step is of that step");
        Some(effect)
    }
}
