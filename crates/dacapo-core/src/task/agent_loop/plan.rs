//! What is to be done, derived from the state alone.

use super::{AgentLoop, LimitEnd, Phase};
use crate::context::{self, CommitMessage, Told};
use crate::engine::machine::{CheckPlan, CommitPlan, Effect, Landing, TurnPlan, TurnStart};
use crate::event::CheckPhase;

impl AgentLoop {
    pub(super) fn effect(&self) -> Option<Effect> {
        Some(match &self.phase {
            Phase::Over => return None,
            Phase::Fresh => Effect::PrepareWorkspace,
            Phase::Setup { index } => self.setup(*index),
            Phase::Baseline { index } => self.check(CheckPhase::Baseline, *index),
            Phase::Between | Phase::Retry if self.verdict.is_some() => {
                Effect::Finish { base: self.base.clone() }
            }
            Phase::Between if self.backoff_due => Effect::Settle,
            Phase::Between | Phase::Retry => {
                Effect::BeginTurn(TurnStart { agent: self.agent, fresh: !self.continues() })
            }
            // Stopped before the agent was started: the turn ends without it.
            Phase::Turn { .. } if self.verdict.is_some() => Effect::Settle,
            Phase::Turn { turn, continued } => Effect::RunTurn(self.turn(*turn, *continued)),
            Phase::LimitHit { message, end: LimitEnd::Said(resets_at) } => {
                Effect::ShareLimit(self.found_limit(message, *resets_at))
            }
            Phase::LimitHit { .. } | Phase::Settling => Effect::Settle,
            Phase::Waiting { until, why } => Effect::Sleep { until: *until, why: *why },
            Phase::Probed { until, .. } => Effect::AwaitProbe { agent: self.agent, until: *until },
            // Nobody who wants to stop waits for a model.
            Phase::Writing(_) if self.verdict.is_some() => Effect::Settle,
            Phase::Writing(what) => self.writing(*what),
            Phase::Collecting => self.commit(),
            Phase::Landing(planned) => match &planned.commit {
                Some(commit) => Effect::Land(Landing {
                    iteration: planned.iteration,
                    branch: self.branch.clone(),
                    commit: commit.clone(),
                    parent: planned.parent.clone(),
                }),
                None => Effect::Settle,
            },
            Phase::Checking { index } => self.check(CheckPhase::Iteration, *index),
            Phase::Proving(proving) => proving.effect(&self.policy),
        })
    }

    fn check(&self, phase: CheckPhase, index: usize) -> Effect {
        Effect::RunCheck(CheckPlan {
            phase,
            iteration: self.current.as_ref().map(|current| current.iteration),
            index: u32::try_from(index).unwrap_or(u32::MAX),
            command: self.policy.checks[index].clone(),
            timeout: self.policy.check_timeout,
            commit: self.tip.clone(),
        })
    }

    fn turn(&self, turn: u32, continued: bool) -> TurnPlan {
        let (iteration, attempts) = self.current.as_ref().map_or((0, 1), |c| (c.iteration, c.attempts));
        TurnPlan {
            turn,
            iteration,
            attempt: attempts.saturating_sub(1),
            agent: self.agent,
            prompt: context::prompt(&self.told_to_the_agent(iteration, continued)),
            session: self.session.clone(),
            continued,
            promise: self.promise().map(str::to_owned),
            keep_reply: false,
            earlier: self.session_usage,
            budget: self.policy.max_cost.map(|most| {
                let spent = self.usage_in_allowance().cost_usd.unwrap_or(0.0);
                (most - spent).max(0.0)
            }),
            hard_limit: self.policy.turn_timeout,
            hard_limit_name: "--turn-timeout",
            idle_limit: self.policy.idle_timeout,
        }
    }

    fn told_to_the_agent(&self, iteration: u32, continued: bool) -> Told<'_> {
        Told {
            prompt: &self.spec.prompt,
            plan: self.spec.plan.as_ref().map(|plan| plan.text.as_str()),
            policy: &self.spec.context,
            follow_up: &self.spec.agents[self.agent].follow_up,
            iteration,
            cap: self.cap.map(|cap| cap.iterations),
            base: self.base.as_ref(),
            history: &self.history,
            commands: &self.policy.checks,
            checks: self.last_checks.iter().flatten().collect(),
            shortfall: self.shortfall(),
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

    fn commit(&self) -> Effect {
        let Some(current) = &self.current else { return Effect::Settle };
        let message = CommitMessage {
            task: self.spec.name.as_str(),
            iteration: current.iteration,
            ended: current.ended(),
            summary: if self.spec.context.generate_summary { current.told() } else { "" },
            written: current.worded.as_deref(),
        };
        Effect::PrepareCommit(CommitPlan {
            iteration: current.iteration,
            start: current.start.clone(),
            branch: self.branch.clone(),
            tip: self.tip.clone(),
            message: message.render(),
            at: current.ended_at,
            commit: self.spec.context.auto_commit,
        })
    }
}
