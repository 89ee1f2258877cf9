//! What is to be done, derived from the state alone.

use super::prompts::{AcceptorTold, CleanUp, DeveloperTold, FeatureLine, Rejected, Task};
use super::report::DeveloperReply;
use super::{LimitEnd, Milestone, Phase, Role, Work, feature_id, prompts};
use crate::engine::machine::{CheckPlan, Effect, SetupPlan, TurnPlan, TurnStart, WorkQuery};
use crate::event::{CheckPhase, Outcome};
use crate::spec::{Place, Setup};

/// How the limit of a call is set.
pub(super) const CALL_TIMEOUT: &str = "call_timeout in [milestone]";

impl Milestone {
    pub(super) fn effect(&self) -> Option<Effect> {
        if self.result.is_some() {
            return None;
        }
        if let Some(proving) = &self.proving {
            return Some(proving.effect(&self.policy));
        }
        Some(match &self.phase {
            // Stopped before the agent was started: the turn ends without it.
            Phase::Turn { .. } if self.verdict.is_some() => Effect::Settle,
            Phase::Turn { turn, role, continued } => Effect::RunTurn(self.turn(*turn, *role, *continued)),
            // What was said is taken in, whoever wants to stop: nothing of it starts any work.
            Phase::Reported { reply } => Effect::InspectWork(self.query(self.commits_named_in(reply))),
            Phase::Cleaned => Effect::InspectWork(self.query(Vec::new())),
            // The Acceptor changes nothing: its verdict counts for what it was asked about.
            Phase::Judged { .. } => Effect::InspectWork(self.query(Vec::new())),
            Phase::Overdue { .. } | Phase::Settling => Effect::Settle,
            _ if self.refreezes() => Effect::Settle,
            _ if self.keeps() => Effect::KeepWork,
            _ if self.verdict.is_some() => Effect::Finish { base: self.base.clone() },
            Phase::Fresh => Effect::PrepareWorkspace,
            Phase::Setup { index } => self.setup(*index),
            // A check, too, runs on what was reported, not on what somebody has made of it since.
            Phase::Between | Phase::Asking(_) | Phase::Checking { .. } if self.looks() => {
                Effect::InspectWork(self.query(Vec::new()))
            }
            Phase::Between | Phase::Asking(_) if self.backoff_due => Effect::Settle,
            Phase::Between => self.begin_turn(Role::Developer),
            Phase::Asking(role) => self.begin_turn(*role),
            Phase::Checking { index } => self.check(*index),
            Phase::LimitHit { role, message, end: LimitEnd::Said(resets_at) } => {
                Effect::ShareLimit(self.found_limit(*role, message, *resets_at))
            }
            Phase::LimitHit { .. } => Effect::Settle,
            Phase::Waiting { until, why, .. } => Effect::Sleep { until: *until, why: *why },
            Phase::Probed { role, until, .. } => {
                Effect::AwaitProbe { agent: Self::agent(*role), until: *until }
            }
        })
    }

    /// Nothing is at work, and nothing that was said waits to be taken in.
    fn is_idle(&self) -> bool {
        match self.phase {
            Phase::Turn { .. }
            | Phase::Reported { .. }
            | Phase::Cleaned
            | Phase::Judged { .. }
            | Phase::Overdue { .. }
            | Phase::Settling => false,
            Phase::Fresh
            | Phase::Setup { .. }
            | Phase::Between
            | Phase::Asking(_)
            | Phase::Checking { .. }
            | Phase::LimitHit { .. }
            | Phase::Waiting { .. }
            | Phase::Probed { .. } => true,
        }
    }

    /// The task was ended, or is complete but for what the Acceptor left lying about, and what nobody has committed is not
    /// kept yet (S8).
    pub(super) fn keeps(&self) -> bool {
        let littered = self.disorder.as_ref().is_some_and(|disorder| !disorder.dirty.is_empty());
        let due = self.verdict.is_some_and(|verdict| {
            verdict.outcome == Outcome::Cancelled || (verdict.outcome == Outcome::Completed && littered)
        });
        due && self.ready && !self.kept && self.is_idle()
    }

    pub(super) fn may_finish(&self) -> bool {
        self.verdict.is_some() && self.is_idle() && !self.keeps() && !self.refreezes()
    }

    /// The tree is looked at before the next turn or check.
    pub(super) fn looks(&self) -> bool {
        self.look_due && self.ready && self.verdict.is_none()
    }

    /// git is asked about the work.
    pub(super) fn inspects(&self) -> bool {
        match self.phase {
            Phase::Reported { .. } | Phase::Cleaned | Phase::Judged { .. } => true,
            Phase::Between | Phase::Asking(_) | Phase::Checking { .. } => self.looks(),
            Phase::Fresh
            | Phase::Setup { .. }
            | Phase::Turn { .. }
            | Phase::Overdue { .. }
            | Phase::LimitHit { .. }
            | Phase::Waiting { .. }
            | Phase::Probed { .. }
            | Phase::Settling => false,
        }
    }

    /// A turn may start.
    pub(super) fn begins(&self) -> bool {
        let free = !self.look_due && !self.backoff_due && !self.refreezes();
        self.ready && self.verdict.is_none() && free
    }

    fn begin_turn(&self, role: Role) -> Effect {
        Effect::BeginTurn(TurnStart { agent: Self::agent(role), fresh: !self.continues(role) })
    }

    fn setup(&self, index: usize) -> Effect {
        let Place::Worktree { setup: Setup { commands, timeout }, .. } = &self.spec.place else {
            return Effect::Settle;
        };
        Effect::RunSetup(SetupPlan {
            index: u32::try_from(index).unwrap_or(u32::MAX),
            command: commands.get(index).cloned().unwrap_or_default(),
            timeout: *timeout,
        })
    }

    fn check(&self, index: usize) -> Effect {
        let round = self.round.as_ref();
        Effect::RunCheck(CheckPlan {
            phase: CheckPhase::Iteration,
            iteration: round.map(|round| round.number),
            index: u32::try_from(index).unwrap_or(u32::MAX),
            command: self.policy.checks[index].clone(),
            timeout: self.policy.check_timeout,
            // What the tree is at: a report may name an earlier one.
            commit: round.and_then(|round| {
                round.tip.clone().or_else(|| round.work.as_ref().map(|work| work.commit().clone()))
            }),
        })
    }

    fn commits_named_in(&self, reply: &str) -> Vec<String> {
        let number = self.round.as_ref().map_or(0, |round| round.number);
        let read = DeveloperReply::parse(reply, number.saturating_add(1));
        read.map(|read| read.commits().into_iter().map(str::to_owned).collect()).unwrap_or_default()
    }

    fn query(&self, commits: Vec<String>) -> WorkQuery {
        WorkQuery {
            branch: self.branch.clone(),
            base: self.base.clone(),
            start: self.round.as_ref().and_then(|round| round.start.clone()),
            // The diff is read with a report.
            diff: !commits.is_empty(),
            commits,
            definition: self.details.path.clone(),
            frozen: self.details.definition.clone(),
            main: self.spec.base_branch.clone(),
            main_was: self.main.clone(),
        }
    }

    fn turn(&self, turn: u32, role: Role, continued: bool) -> TurnPlan {
        let (iteration, attempts) =
            self.round.as_ref().map_or((0, 1), |round| (round.number, round.attempts));
        let desk = self.desk(role);
        TurnPlan {
            turn,
            iteration,
            attempt: attempts.saturating_sub(1),
            agent: Self::agent(role),
            prompt: match role {
                Role::Developer => {
                    prompts::developer(&self.developer_is_told(continued), &self.templates.developer)
                }
                Role::Acceptor => {
                    let told = self.acceptor_is_told(continued);
                    prompts::acceptor(&told, self.templates.acceptors(Work::is_final(told.work)))
                }
            },
            session: desk.session.clone(),
            continued,
            promise: None,
            keep_reply: true,
            earlier: desk.session_usage,
            budget: self.policy.max_cost.map(|most| {
                let spent = self.usage_in_allowance().cost_usd.unwrap_or(0.0);
                (most - spent).max(0.0)
            }),
            hard_limit: self.policy.turn_timeout,
            hard_limit_name: CALL_TIMEOUT,
            idle_limit: self.policy.idle_timeout,
        }
    }

    fn task(&self, role: Role, continued: bool) -> Task<'_> {
        let desk = self.desk(role);
        Task {
            id: self.spec.name.as_str(),
            branch: self.branch_name(),
            round: self.round.as_ref().map_or(1, |round| round.number.saturating_add(1)),
            max_rounds: self.max_rounds,
            soul: self.details.soul.as_deref(),
            memory: self.details.memory.as_deref(),
            said: &desk.heard,
            notes: &desk.notes_heard,
            recovering: desk.recovering,
            rounds_done: self.finished,
            log: &self.log,
            findings: &self.findings,
            complaints: self.round.as_ref().map_or(&[], |round| &round.complaints),
            continued,
        }
    }

    fn features(&self) -> Vec<FeatureLine<'_>> {
        let all = self.definition.features.iter().zip(&self.done).enumerate();
        all.map(|(at, (feature, done))| FeatureLine { id: feature_id(at), feature, done: *done }).collect()
    }

    fn developer_is_told(&self, continued: bool) -> DeveloperTold<'_> {
        let rejected = self.last.as_ref().filter(|last| !last.accepted);
        DeveloperTold {
            task: self.task(Role::Developer, continued),
            vision: self.details.vision.as_deref(),
            definition: &self.details.definition,
            path: &self.details.path,
            features: self.features(),
            rejected: rejected.map(|last| Rejected {
                reason: &last.reason,
                by: last.by,
                reported: last.work.is_some(),
            }),
            checks: self
                .last_checks
                .iter()
                .flatten()
                .filter(|check| check.iteration == rejected.map(|last| last.number) && !check.passed())
                .collect(),
            dirty: self.disorder.as_ref().map_or(&[], |disorder| &disorder.dirty),
            astray: self.disorder.as_ref().and_then(|disorder| disorder.astray.as_deref()),
            left: self.disorder.as_ref().map_or(&[], |disorder| &disorder.notes),
            cleanup: self.round.as_ref().filter(|round| round.cleanup).map(|round| match round.work {
                Some(_) => CleanUp::Reported,
                None => CleanUp::Begun,
            }),
        }
    }

    fn acceptor_is_told(&self, continued: bool) -> AcceptorTold<'_> {
        let round = self.round.as_ref();
        let work = round.and_then(|round| round.work.as_ref());
        AcceptorTold {
            task: self.task(Role::Acceptor, continued),
            base: self.base.as_ref(),
            start: round.and_then(|round| round.start.as_ref()),
            work,
            tip: round.and_then(|round| round.tip.as_ref()),
            diff: round.and_then(|round| round.diff.as_deref()),
            vision: self.details.vision.as_deref(),
            definition: &self.details.definition,
            features: match work {
                Some(Work::Feature { at: Some(at), .. }) => {
                    self.features().into_iter().skip(*at).take(1).collect()
                }
                Some(_) | None => self.features(),
            },
            criteria: self.criteria().collect(),
            constraints: &self.definition.constraints,
            others: &self.definition.others,
            checks: round.map_or(&[], |round| &round.checks),
        }
    }
}
