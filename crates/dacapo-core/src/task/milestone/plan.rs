//! What is to be done, derived from the state alone: its name, and what doing it needs.

use super::prompts::{AcceptorTold, CleanUp, DeveloperTold, FeatureLine, Rejected, Task};
use super::report::DeveloperReply;
use super::{Milestone, Phase, Role, Wait, Work, feature_id, prompts};
use crate::engine::machine::{CheckPlan, Effect, Step, TurnPlan, TurnStart, WorkQuery};
use crate::event::{CheckPhase, Outcome, TimeLimit};

impl Milestone {
    pub(super) fn next_step(&self) -> Option<Step> {
        if self.life.result.is_some() {
            return None;
        }
        if let Some(step) = self.life.proves() {
            return Some(step);
        }
        let iteration = self.round.as_ref().map(|round| round.number);
        let inspect = Step::InspectWork { iteration };
        Some(match &self.phase {
            // Stopped before the agent was started: the turn ends without it.
            Phase::Turn { .. } if self.life.verdict.is_some() => Step::Settle,
            Phase::Turn { turn, .. } => Step::RunTurn { turn: *turn },
            // What was said is taken in, whoever wants to stop: nothing of it starts any work.
            Phase::Reported { .. } | Phase::Cleaned => inspect,
            // The Acceptor changes nothing: its verdict counts for what it was asked about.
            Phase::Judged { .. } => inspect,
            Phase::Overdue { .. } | Phase::Settling => Step::Settle,
            _ if self.refreezes() => Step::Settle,
            _ if self.keeps() => Step::KeepWork,
            _ if self.life.verdict.is_some() => Step::Finish,
            Phase::Preparing => self.life.preparation(),
            // A check, too, runs on what was reported, not on what somebody has made of it since.
            Phase::Between | Phase::Asking(_) | Phase::Checking { .. } if self.looks() => inspect,
            Phase::Between | Phase::Asking(_) if self.life.backoff_due => Step::Settle,
            Phase::Between => self.begin_turn(Role::Developer),
            Phase::Asking(role) => self.begin_turn(*role),
            Phase::Checking { index } => Step::RunCheck {
                phase: CheckPhase::Iteration,
                iteration,
                index: u32::try_from(*index).unwrap_or(u32::MAX),
            },
            Phase::Waits { role, wait } => self.life.waits(Self::agent(*role), wait),
        })
    }

    pub(super) fn planned(&self, step: Step) -> Effect {
        let own = match step {
            Step::RunTurn { .. } => self.turn(),
            Step::InspectWork { .. } => Some(Effect::InspectWork(self.query())),
            Step::RunCheck { phase: CheckPhase::Baseline | CheckPhase::Iteration, index, .. } => {
                self.check(index)
            }
            Step::PrepareWorkspace
            | Step::RunSetup { .. }
            | Step::RunCheck {
                phase: CheckPhase::Proof | CheckPhase::Originals | CheckPhase::HeldOut, ..
            }
            | Step::PrepareProof { .. }
            | Step::FindHidden { .. }
            | Step::BeginTurn(_)
            | Step::Write { .. }
            | Step::PrepareCommit { .. }
            | Step::Land { .. }
            | Step::KeepWork
            | Step::Sleep { .. }
            | Step::ShareLimit { .. }
            | Step::AwaitProbe { .. }
            | Step::Settle
            | Step::Finish => return self.life.plan(step, self.wait()),
        };
        own.unwrap_or(Effect::Settle)
    }

    fn wait(&self) -> Option<&Wait> {
        match &self.phase {
            Phase::Waits { wait, .. } => Some(wait),
            _ => None,
        }
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
            Phase::Preparing
            | Phase::Between
            | Phase::Asking(_)
            | Phase::Checking { .. }
            | Phase::Waits { .. } => true,
        }
    }

    /// The task was ended, or is complete but for what the Acceptor left lying about, and what nobody has committed is not
    /// kept yet (S8).
    pub(super) fn keeps(&self) -> bool {
        let littered = self.disorder.as_ref().is_some_and(|disorder| !disorder.dirty.is_empty());
        let due = self.life.verdict.is_some_and(|verdict| {
            verdict.outcome == Outcome::Cancelled || (verdict.outcome == Outcome::Completed && littered)
        });
        due && self.life.workspace.ready && !self.kept && self.is_idle()
    }

    pub(super) fn may_finish(&self) -> bool {
        self.life.verdict.is_some() && self.is_idle() && !self.keeps() && !self.refreezes()
    }

    /// The tree is looked at before the next turn or check.
    pub(super) fn looks(&self) -> bool {
        self.look_due && self.life.workspace.ready && self.life.verdict.is_none()
    }

    /// git is asked about the work.
    pub(super) fn inspects(&self) -> bool {
        match self.phase {
            Phase::Reported { .. } | Phase::Cleaned | Phase::Judged { .. } => true,
            Phase::Between | Phase::Asking(_) | Phase::Checking { .. } => self.looks(),
            Phase::Preparing
            | Phase::Turn { .. }
            | Phase::Overdue { .. }
            | Phase::Waits { .. }
            | Phase::Settling => false,
        }
    }

    /// A turn may start.
    pub(super) fn begins(&self) -> bool {
        let free = !self.look_due && !self.life.backoff_due && !self.refreezes();
        self.life.workspace.ready && self.life.verdict.is_none() && free
    }

    fn begin_turn(&self, role: Role) -> Step {
        Step::BeginTurn(TurnStart { agent: Self::agent(role), fresh: !self.continues(role) })
    }

    fn check(&self, index: u32) -> Option<Effect> {
        let round = self.round.as_ref();
        Some(Effect::RunCheck(CheckPlan {
            phase: CheckPhase::Iteration,
            iteration: round.map(|round| round.number),
            index,
            command: self.life.policy.checks.get(index as usize)?.clone(),
            timeout: self.life.policy.check_timeout,
            // What the tree is at: a report may name an earlier one.
            commit: round.and_then(|round| {
                round.tip.clone().or_else(|| round.work.as_ref().map(|work| work.commit().clone()))
            }),
        }))
    }

    fn query(&self) -> WorkQuery {
        let number = self.round.as_ref().map_or(0, |round| round.number);
        let read = match &self.phase {
            Phase::Reported { reply } => DeveloperReply::parse(reply, number.saturating_add(1)).ok(),
            _ => None,
        };
        let commits = read.iter().flat_map(DeveloperReply::commits).map(str::to_owned).collect::<Vec<_>>();
        // A feature is compared with where its round began, the whole with where the milestone did.
        let base = self.life.workspace.base.as_ref();
        let since = match &read {
            Some(DeveloperReply::Report(_)) => {
                self.round.as_ref().and_then(|round| round.start.as_ref()).or(base)
            }
            Some(DeveloperReply::Completion(_)) => base,
            None => None,
        };
        WorkQuery {
            tests_since: since.filter(|_| !self.life.policy.checks.is_empty()).cloned(),
            branch: self.life.workspace.branch.clone(),
            base: self.life.workspace.base.clone(),
            iteration: self.round.as_ref().map(|round| round.number),
            start: self.round.as_ref().and_then(|round| round.start.clone()),
            // The diff is read with a report.
            diff: !commits.is_empty(),
            commits,
            definition: self.details.path.clone(),
            frozen: self.details.definition.clone(),
            main: self.life.spec.base_branch.clone(),
            main_was: self.main.clone(),
        }
    }

    fn turn(&self) -> Option<Effect> {
        let Phase::Turn { turn, role, continued } = self.phase else { return None };
        let (iteration, attempts) =
            self.round.as_ref().map_or((0, 1), |round| (round.number, round.attempts));
        let state = self.agent_state(role);
        Some(Effect::RunTurn(TurnPlan {
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
            session: state.conversation.session.clone(),
            continued,
            promise: None,
            keep_reply: true,
            earlier: state.conversation.usage,
            budget: self.life.cost_left(),
            hard_limit: self.life.policy.turn_timeout,
            hard_limit_is: TimeLimit::Call,
            idle_limit: self.life.policy.idle_timeout,
            wait_left: self.life.wait_left(),
        }))
    }

    fn task(&self, role: Role, continued: bool) -> Task<'_> {
        let state = self.agent_state(role);
        Task {
            id: self.life.spec.name.as_str(),
            branch: self.branch_name(),
            round: self.round.as_ref().map_or(1, |round| round.number.saturating_add(1)),
            max_rounds: self.max_rounds,
            soul: self.details.soul.as_deref(),
            memory: self.details.memory.as_deref(),
            said: &state.heard,
            notes: &state.notes_heard,
            recovering: state.recovering,
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
                .life
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
            base: self.life.workspace.base.as_ref(),
            start: round.and_then(|round| round.start.as_ref()),
            work,
            tip: round.and_then(|round| round.tip.as_ref()),
            diff: round.and_then(|round| round.diff.as_deref()),
            tests: round.and_then(|round| round.tests.as_ref()),
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
