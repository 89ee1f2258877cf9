//! What is to be done, derived from the state alone: its name, and what doing it needs.

use super::{AgentLoop, Phase};
use crate::context::{self, CommitMessage, PromptParts};
use crate::engine::machine::{CheckPlan, CommitPlan, Effect, Landing, Step, TurnPlan, TurnStart};
use crate::event::{CheckPhase, TimeLimit};

impl AgentLoop {
    pub(super) fn step(&self) -> Option<Step> {
        let iteration = self.current.as_ref().map(|current| current.iteration);
        let check = |phase, index: usize| {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            Step::RunCheck { phase, iteration, index }
        };
        Some(match &self.phase {
            Phase::Over => return None,
            Phase::Preparing => self.life.preparation(),
            Phase::Baseline { index } => check(CheckPhase::Baseline, *index),
            Phase::Between | Phase::Retry if self.life.verdict.is_some() => Step::Finish,
            Phase::Between if self.life.backoff_due => Step::Settle,
            Phase::Between | Phase::Retry => {
                Step::BeginTurn(TurnStart { agent: self.agent, fresh: !self.continues() })
            }
            // Stopped before the agent was started: the turn ends without it.
            Phase::Turn { .. } if self.life.verdict.is_some() => Step::Settle,
            Phase::Turn { turn, .. } => Step::RunTurn { turn: *turn },
            Phase::Settling => Step::Settle,
            Phase::Waits(wait) => self.life.waits(self.agent, wait),
            // Nobody who wants to stop waits for a model.
            Phase::Writing(_) if self.life.verdict.is_some() => Step::Settle,
            Phase::Writing(what) => {
                iteration.map_or(Step::Settle, |iteration| Step::Write { what: *what, iteration })
            }
            Phase::Collecting => {
                iteration.map_or(Step::Settle, |iteration| Step::PrepareCommit { iteration })
            }
            Phase::Landing(planned) => match &planned.commit {
                Some(_) => Step::Land { iteration: planned.iteration },
                None => Step::Settle,
            },
            Phase::Checking { index } => check(CheckPhase::Iteration, *index),
            Phase::Proving => self.life.proves().unwrap_or(Step::Settle),
        })
    }

    pub(super) fn planned(&self, step: Step) -> Effect {
        let own = match step {
            Step::RunCheck {
                phase: phase @ (CheckPhase::Baseline | CheckPhase::Iteration), index, ..
            } => self.check(phase, index),
            Step::RunTurn { .. } => self.turn(),
            Step::Write { what, .. } => self.writing(what),
            Step::PrepareCommit { .. } => self.commit(),
            Step::Land { .. } => self.landing(),
            Step::PrepareWorkspace
            | Step::RunSetup { .. }
            | Step::RunCheck {
                phase: CheckPhase::Proof | CheckPhase::Originals | CheckPhase::HeldOut, ..
            }
            | Step::PrepareProof { .. }
            | Step::FindHidden { .. }
            | Step::BeginTurn(_)
            | Step::InspectWork { .. }
            | Step::KeepWork
            | Step::Sleep { .. }
            | Step::ShareLimit { .. }
            | Step::AwaitProbe { .. }
            | Step::Settle
            | Step::Finish => return self.life.plan(step, self.wait()),
        };
        own.unwrap_or(Effect::Settle)
    }

    fn check(&self, phase: CheckPhase, index: u32) -> Option<Effect> {
        Some(Effect::RunCheck(CheckPlan {
            phase,
            iteration: self.current.as_ref().map(|current| current.iteration),
            index,
            command: self.life.policy.checks.get(index as usize)?.clone(),
            timeout: self.life.policy.check_timeout,
            commit: self.tip.clone(),
        }))
    }

    fn landing(&self) -> Option<Effect> {
        let Phase::Landing(planned) = &self.phase else { return None };
        Some(Effect::Land(Landing {
            iteration: planned.iteration,
            branch: self.life.workspace.branch.clone(),
            commit: planned.commit.clone()?,
            parent: planned.parent.clone(),
        }))
    }

    fn turn(&self) -> Option<Effect> {
        let Phase::Turn { turn, continued } = self.phase else { return None };
        let (iteration, attempts) = self.current.as_ref().map_or((0, 1), |c| (c.iteration, c.attempts));
        Some(Effect::RunTurn(TurnPlan {
            turn,
            iteration,
            attempt: attempts.saturating_sub(1),
            agent: self.agent,
            prompt: context::prompt(&self.prompt_parts(iteration, continued)),
            session: self.conversation.session.clone(),
            continued,
            promise: self.promise().map(str::to_owned),
            keep_reply: false,
            earlier: self.conversation.usage,
            budget: self.life.cost_left(),
            hard_limit: self.life.policy.turn_timeout,
            hard_limit_is: TimeLimit::Turn,
            idle_limit: self.life.policy.idle_timeout,
            wait_left: self.life.wait_left(),
        }))
    }

    fn prompt_parts(&self, iteration: u32, continued: bool) -> PromptParts<'_> {
        PromptParts {
            prompt: &self.life.spec.prompt,
            plan: self.life.spec.plan.as_ref().map(|plan| plan.text.as_str()),
            policy: &self.life.spec.context,
            follow_up: &self.life.spec.agents[self.agent].follow_up,
            iteration,
            cap: self.cap.map(|cap| cap.iterations),
            base: self.life.workspace.base.as_ref(),
            history: &self.history,
            commands: &self.life.policy.checks,
            checks: self.life.last_checks.iter().flatten().collect(),
            shortfall: self.shortfall(),
            tests: self.tests_told(),
            left_out: self.left_out.iter().collect(),
            promise: self.promise(),
            may_block: self.may_block(),
            said: self.follow_ups[..self.follow_ups_heard]
                .iter()
                .chain(&self.guidance.heard)
                .chain(&self.heard)
                .map(String::as_str)
                .collect(),
            continued,
            rule_due: self.rule_due,
        }
    }

    fn commit(&self) -> Option<Effect> {
        let current = self.current.as_ref()?;
        let message = CommitMessage {
            task: self.life.spec.name.as_str(),
            iteration: current.iteration,
            ended: current.ended(),
            summary: if self.life.spec.context.generate_summary { current.told() } else { "" },
            written: current.worded.as_deref(),
        };
        Some(Effect::PrepareCommit(CommitPlan {
            iteration: current.iteration,
            base: self.life.workspace.base.clone(),
            start: current.start.clone(),
            branch: self.life.workspace.branch.clone(),
            tip: self.tip.clone(),
            message: message.render(),
            at: current.ended_at,
            commit: self.life.spec.context.auto_commit,
        }))
    }
}
