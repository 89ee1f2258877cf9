//! The proof of a commit, step by step, for every kind of task that has checks. Pure, like the machines it is a part of.
//!
//! ```text
//! Prepare(caches) ─► Check 0, 1, … ─► all green ─► HeldOut 0, 1, … ─► all green, and nothing to confirm: passed
//!                         │ red, or green with files gone that the caches may still know; and it started with caches
//!        ┌────────────────┘
//!        ▼
//! Prepare(nothing) ─► Check 0, 1, … ─► all green ─► HeldOut 0, 1, … ─► all green: passed
//!                         │ red
//!                         └─► Explain ─► failed, with what no commit holds
//! ```
//!
//! A commit that passed with its own tests, and changes what was there of them, goes through the same once more with the tests
//! as they were (L20). There, red is the last word: nothing is explained.
//!
//! A process that takes the task up in the middle begins the proof anew: what the one before it saw is no receipt.

use super::machine::{CheckPlan, Effect, Input, ProofPlan, Step};
use crate::event::{
    CheckBrief, CheckPhase, CheckResult, Event, Exposed, FewerTests, Originals, ProofCache, ProofFailure,
    ProofState, TestsChange, TestsResult, Unproven,
};
use crate::git::Oid;
use crate::proof::{ProofRun, Start};
use crate::spec::{CachePolicy, LoopPolicy, TestsMode};

/// A proof at work.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Proving {
    iteration: u32,
    commit: Oid,
    run: ProofRun,
    stage: Stage,
    /// The caches that the checkout started with.
    cache: Option<ProofCache>,
    /// What the checks of this run came to so far.
    checks: Vec<CheckResult>,
    /// What the commit changes of what judges it.
    tests: Option<TestsChange>,
    /// What the run with the tests of the commit came to, once it is green.
    passed: Option<Passed>,
    /// How many tests each check ran before anything was done.
    before: Vec<Option<u64>>,
    fewer: Option<FewerTests>,
}

/// A green run with the tests of the commit.
#[derive(Debug, Clone, PartialEq)]
struct Passed {
    cache: Option<ProofCache>,
    checks: Vec<CheckResult>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Prepare(Start),
    Check { index: usize },
    HeldOut { index: usize },
    Explain,
}

impl Proving {
    /// `before`: how many tests each check ran before anything was done.
    pub(crate) fn new(iteration: u32, commit: Oid, before: Vec<Option<u64>>) -> Self {
        Self {
            iteration,
            commit,
            run: ProofRun::Commit,
            stage: Stage::Prepare(Start::Caches),
            cache: None,
            checks: Vec::new(),
            tests: None,
            passed: None,
            before,
            fewer: None,
        }
    }

    /// Another process goes on: it has nothing but the commit.
    pub(crate) fn begin_anew(&mut self) {
        *self = Self::new(self.iteration, self.commit.clone(), std::mem::take(&mut self.before));
    }

    /// What the checks said in the newest try of each run.
    pub(crate) fn checks(&self) -> impl Iterator<Item = &CheckResult> {
        self.passed.iter().flat_map(|passed| &passed.checks).chain(&self.checks)
    }

    /// Returns true if the checkout started with caches, so that a red check is not the last word.
    pub(crate) fn is_from_caches(&self) -> bool {
        self.cache.is_some()
    }

    /// What it says about the tests, once it is over with this.
    pub(crate) fn tests(&self, state: &ProofState, policy: &LoopPolicy) -> Option<TestsResult> {
        let change = self.tests.as_ref()?;
        let red = state.has_changed_tests();
        let asked = self.run == ProofRun::Originals && !self.checks.is_empty();
        Some(TestsResult {
            mode: policy.tests.mode,
            changed: change.changed.clone(),
            changed_total: change.total,
            inline: change.inline.clone(),
            affected: change.affects_originals || self.fewer.is_some(),
            originals: match state {
                ProofState::TestsChanged { .. } => Originals::Red,
                ProofState::Proven { .. } if asked => Originals::Green,
                ProofState::Proven { .. } | ProofState::PassedHere(_) => Originals::NotRun,
            },
            failed: self.checks.iter().filter(|check| red && !check.passed()).map(CheckBrief::from).collect(),
            reason: None,
            approved: false,
            fewer: self.fewer,
        })
    }

    /// Names the next step.
    pub(crate) fn step(&self, policy: &LoopPolicy) -> Step {
        let (iteration, run) = (self.iteration, self.run);
        match self.stage {
            Stage::Prepare(start) => Step::PrepareProof { iteration, start: allowed(start, policy), run },
            Stage::Check { index } => Step::RunCheck {
                phase: self.phase(),
                iteration: Some(iteration),
                index: u32::try_from(index).unwrap_or(u32::MAX),
            },
            Stage::HeldOut { index } => Step::RunCheck {
                phase: CheckPhase::HeldOut,
                iteration: Some(iteration),
                index: u32::try_from(index).unwrap_or(u32::MAX),
            },
            Stage::Explain => Step::FindHidden { iteration },
        }
    }

    pub(crate) fn effect(&self, policy: &LoopPolicy, base: Option<&Oid>) -> Effect {
        match self.stage {
            Stage::Prepare(start) => Effect::PrepareProof(ProofPlan {
                iteration: self.iteration,
                commit: self.commit.clone(),
                start: allowed(start, policy),
                run: self.run,
                base: base.cloned(),
                setup: policy.proof.setup.clone(),
            }),
            Stage::Check { index } => self.check(self.phase(), index, (&policy.checks, policy)),
            Stage::HeldOut { index } => {
                self.check(CheckPhase::HeldOut, index, (&policy.proof.hidden_checks, policy))
            }
            Stage::Explain => Effect::FindHidden { iteration: self.iteration },
        }
    }

    fn check(&self, phase: CheckPhase, index: usize, of: (&[String], &LoopPolicy)) -> Effect {
        Effect::RunCheck(CheckPlan {
            phase,
            iteration: Some(self.iteration),
            index: u32::try_from(index).unwrap_or(u32::MAX),
            command: of.0.get(index).cloned().unwrap_or_default(),
            timeout: of.1.check_timeout,
            commit: Some(self.commit.clone()),
        })
    }

    fn phase(&self) -> CheckPhase {
        match self.run {
            ProofRun::Commit => CheckPhase::Proof,
            ProofRun::Originals => CheckPhase::Originals,
        }
    }

    /// What follows from an input; none: it is not for the proof.
    pub(crate) fn decide(&self, input: &Input) -> Option<Event> {
        let (iteration, commit_id) = (self.iteration, self.commit.clone());
        match (self.stage, input) {
            (Stage::Prepare(_), Input::ProofReady { set_up, cache, tests }) => Some(Event::ProofStarted {
                iteration,
                commit_id,
                set_up: *set_up,
                cache: cache.clone(),
                tests: tests.clone(),
                originals: self.run == ProofRun::Originals,
            }),
            (_, Input::ProofUnavailable { message, cure }) => Some(Event::ProofUnavailable {
                iteration,
                commit_id,
                message: message.clone(),
                cure: cure.clone(),
            }),
            (Stage::Check { index }, Input::CheckDone(result))
                if self.awaits(self.phase(), index, result) =>
            {
                Some(Event::CheckFinished(result.clone()))
            }
            (Stage::HeldOut { index }, Input::CheckDone(result))
                if self.awaits(CheckPhase::HeldOut, index, result) =>
            {
                Some(Event::CheckFinished(result.clone()))
            }
            (Stage::Explain, Input::HiddenFound { hidden, total }) => Some(Event::ProofFailed {
                iteration,
                commit_id,
                hidden: hidden.clone(),
                hidden_total: *total,
            }),
            (Stage::Prepare(_) | Stage::Check { .. } | Stage::HeldOut { .. } | Stage::Explain, _) => None,
        }
    }

    fn awaits(&self, phase: CheckPhase, index: usize, result: &CheckResult) -> bool {
        result.phase == phase
            && result.iteration == Some(self.iteration)
            && result.index as usize == index
            && result.commit.as_ref() == Some(&self.commit)
    }

    /// Takes in what happened. Some: the proof is done, and this is what it came to.
    pub(crate) fn take_in(&mut self, event: &Event, policy: &LoopPolicy) -> Option<ProofState> {
        match event {
            Event::ProofStarted { cache, tests, .. } => {
                self.cache.clone_from(cache);
                self.checks.clear();
                self.tests.clone_from(tests);
                self.stage = match self.first_check(0, policy) {
                    // Held-out checks alone.
                    index if index == policy.checks.len() => Stage::HeldOut { index: 0 },
                    index => Stage::Check { index },
                };
                None
            }
            Event::CheckFinished(result)
                if result.phase == self.phase() || result.phase == CheckPhase::HeldOut =>
            {
                self.check_finished(result, policy)
            }
            Event::ProofUnavailable { message, cure, .. } => {
                let (message, cure) = (message.clone(), cure.clone().or_else(|| policy.proof.suggestion()));
                Some(ProofState::PassedHere(Unproven::Unavailable { message, cure }))
            }
            Event::ProofFailed { hidden, hidden_total, .. } => {
                let failed = self.checks.iter().filter(|check| !check.passed());
                Some(ProofState::PassedHere(Unproven::Failed(ProofFailure {
                    commit_id: self.commit.clone(),
                    checks: failed.map(CheckBrief::from).collect(),
                    hidden: hidden.clone(),
                    hidden_total: *hidden_total,
                    cure: policy.proof.suggestion(),
                })))
            }
            _ => None,
        }
    }

    fn check_finished(&mut self, result: &CheckResult, policy: &LoopPolicy) -> Option<ProofState> {
        self.checks.push(result.clone());
        if !result.passed() && self.cache.is_some() {
            // The caches may be to blame.
            self.stage = Stage::Prepare(Start::Nothing);
            return None;
        }
        let is_held_out = result.phase == CheckPhase::HeldOut;
        let held_out = policy.proof.hidden_checks.len();
        let next = match is_held_out {
            true => Stage::HeldOut { index: result.index as usize + 1 },
            false => Stage::Check { index: self.first_check(result.index as usize + 1, policy) },
        };
        let is_last = match next {
            Stage::Check { index } => index >= policy.checks.len(),
            Stage::HeldOut { index } => index >= held_out,
            Stage::Prepare(_) | Stage::Explain => true,
        };
        if !is_last {
            self.stage = next;
            return None;
        }
        if !self.checks.iter().all(CheckResult::passed) {
            if self.run == ProofRun::Originals {
                return Some(self.tests_changed());
            }
            self.stage = Stage::Explain;
            return None;
        }
        if !is_held_out && self.run == ProofRun::Commit && held_out > 0 {
            self.stage = Stage::HeldOut { index: 0 };
            return None;
        }
        if self.cache.as_ref().is_some_and(|cache| cache.confirm) {
            self.stage = Stage::Prepare(Start::Nothing);
            return None;
        }
        match self.run {
            ProofRun::Commit => self.commit_passed(policy),
            ProofRun::Originals => Some(self.all_passed(policy)),
        }
    }

    /// The checks pass with the tests of the commit; whether that is enough depends on what it did to them.
    fn commit_passed(&mut self, policy: &LoopPolicy) -> Option<ProofState> {
        let judged = policy.tests.mode != TestsMode::Free && !policy.tests.reviewed;
        let asks = self.tests.as_ref().filter(|tests| judged && tests.affects_originals);
        if asks.is_some_and(|tests| !tests.inline.is_empty()) {
            return Some(self.tests_changed());
        }
        let applies = |tests: &TestsChange| {
            (0..policy.checks.len())
                .any(|index| !tests.not_for_originals.iter().any(|one| *one as usize == index))
        };
        if !asks.is_some_and(applies) {
            return Some(self.all_passed(policy));
        }
        self.passed = Some(Passed { cache: self.cache.take(), checks: std::mem::take(&mut self.checks) });
        self.run = ProofRun::Originals;
        self.stage = Stage::Prepare(Start::Caches);
        None
    }

    /// The last run is green. Where fewer tests ran in it than before, some of them were kept from judging.
    fn all_passed(&mut self, policy: &LoopPolicy) -> ProofState {
        self.fewer = self.fewer_tests();
        let judged = policy.tests.mode != TestsMode::Free && !policy.tests.reviewed;
        if judged && self.fewer.is_some() {
            return self.tests_changed();
        }
        let passed = self.passed.as_ref();
        ProofState::Proven {
            commit_id: self.commit.clone(),
            cache: passed.map_or(&self.cache, |passed| &passed.cache).clone(),
            exposed: self.exposed(),
        }
    }

    fn exposed(&self) -> Option<Exposed> {
        self.checks().find_map(|check| check.exposed.clone())
    }

    fn tests_changed(&self) -> ProofState {
        ProofState::TestsChanged { commit_id: self.commit.clone() }
    }

    /// By the numbers of those checks that said one before and now.
    fn fewer_tests(&self) -> Option<FewerTests> {
        let shown = self.checks.iter().filter(|check| check.phase != CheckPhase::HeldOut);
        let pairs = shown.filter_map(|check| {
            let before = self.before.get(check.index as usize).copied().flatten()?;
            Some((before, check.tests_run?))
        });
        let (before, after) = pairs.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        (after < before).then_some(FewerTests { before, after })
    }

    /// The first check from this one on that runs in this run.
    fn first_check(&self, from: usize, policy: &LoopPolicy) -> usize {
        let left_out = self.tests.iter().filter(|_| self.run == ProofRun::Originals);
        let left_out: Vec<u32> = left_out.flat_map(|tests| &tests.not_for_originals).copied().collect();
        let runs = |index: &usize| !left_out.iter().any(|one| *one as usize == *index);
        (from..policy.checks.len()).find(runs).unwrap_or(policy.checks.len())
    }
}

/// What a checkout starts with, where the user allows it.
fn allowed(start: Start, policy: &LoopPolicy) -> Start {
    match policy.proof.cache {
        CachePolicy::Base => start,
        CachePolicy::None => Start::Nothing,
    }
}
