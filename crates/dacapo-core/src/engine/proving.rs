//! The proof of a commit, step by step, for every kind of task that has checks. Pure, like the machines it is a part of.
//!
//! ```text
//! Prepare(caches) ─► Check 0, 1, … ─► all green, and nothing to confirm: proven
//!                         │ red, or green with files gone that the caches may still know; and it started with caches
//!        ┌────────────────┘
//!        ▼
//! Prepare(nothing) ─► Check 0, 1, … ─► all green: proven
//!                         │ red
//!                         └─► Explain ─► failed, with what no commit holds
//! ```
//!
//! A process that takes the task up in the middle begins the proof anew: what the one before it saw is no receipt.

use super::machine::{CheckPlan, Effect, Input, ProofPlan, Step};
use crate::event::{
    CheckBrief, CheckPhase, CheckResult, Event, ProofCache, ProofFailure, ProofState, Unproven,
};
use crate::git::Oid;
use crate::proof::Start;
use crate::spec::{CachePolicy, LoopPolicy};

/// A proof at work.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Proving {
    iteration: u32,
    commit: Oid,
    stage: Stage,
    /// The caches that the checkout started with.
    cache: Option<ProofCache>,
    /// What the checks came to so far.
    checks: Vec<CheckResult>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Prepare(Start),
    Check { index: usize },
    Explain,
}

impl Proving {
    pub(crate) fn new(iteration: u32, commit: Oid) -> Self {
        Self { iteration, commit, stage: Stage::Prepare(Start::Caches), cache: None, checks: Vec::new() }
    }

    /// Another process goes on: it has nothing but the commit.
    pub(crate) fn begin_anew(&mut self) {
        *self = Self::new(self.iteration, self.commit.clone());
    }

    /// What the checks said in the newest try.
    pub(crate) fn checks(&self) -> &[CheckResult] {
        &self.checks
    }

    /// Returns true if the checkout started with caches, so that a red check is not the last word.
    pub(crate) fn is_from_caches(&self) -> bool {
        self.cache.is_some()
    }

    /// Names the next step.
    pub(crate) fn step(&self, policy: &LoopPolicy) -> Step {
        let iteration = self.iteration;
        match self.stage {
            Stage::Prepare(start) => Step::PrepareProof { iteration, start: allowed(start, policy) },
            Stage::Check { index } => Step::RunCheck {
                phase: CheckPhase::Proof,
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
                base: base.cloned(),
                setup: policy.proof.setup.clone(),
            }),
            Stage::Check { index } => Effect::RunCheck(CheckPlan {
                phase: CheckPhase::Proof,
                iteration: Some(self.iteration),
                index: u32::try_from(index).unwrap_or(u32::MAX),
                command: policy.checks.get(index).cloned().unwrap_or_default(),
                timeout: policy.check_timeout,
                commit: Some(self.commit.clone()),
            }),
            Stage::Explain => Effect::FindHidden { iteration: self.iteration },
        }
    }

    /// What follows from an input; none: it is not for the proof.
    pub(crate) fn decide(&self, input: &Input) -> Option<Event> {
        let (iteration, commit_id) = (self.iteration, self.commit.clone());
        match (self.stage, input) {
            (Stage::Prepare(_), Input::ProofReady { set_up, cache }) => {
                Some(Event::ProofStarted { iteration, commit_id, set_up: *set_up, cache: cache.clone() })
            }
            (_, Input::ProofUnavailable { message, cure }) => Some(Event::ProofUnavailable {
                iteration,
                commit_id,
                message: message.clone(),
                cure: cure.clone(),
            }),
            (Stage::Check { index }, Input::CheckDone(result)) if self.awaits(index, result) => {
                Some(Event::CheckFinished(result.clone()))
            }
            (Stage::Explain, Input::HiddenFound { hidden, total }) => Some(Event::ProofFailed {
                iteration,
                commit_id,
                hidden: hidden.clone(),
                hidden_total: *total,
            }),
            (Stage::Prepare(_) | Stage::Check { .. } | Stage::Explain, _) => None,
        }
    }

    fn awaits(&self, index: usize, result: &CheckResult) -> bool {
        result.phase == CheckPhase::Proof
            && result.iteration == Some(self.iteration)
            && result.index as usize == index
            && result.commit.as_ref() == Some(&self.commit)
    }

    /// Takes in what happened. Some: the proof is done, and this is what it came to.
    pub(crate) fn take_in(&mut self, event: &Event, policy: &LoopPolicy) -> Option<ProofState> {
        match event {
            Event::ProofStarted { cache, .. } => {
                self.cache.clone_from(cache);
                self.checks.clear();
                self.stage = Stage::Check { index: 0 };
                None
            }
            Event::CheckFinished(result) if result.phase == CheckPhase::Proof => {
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
        let next = result.index as usize + 1;
        if next < policy.checks.len() {
            self.stage = Stage::Check { index: next };
            return None;
        }
        if !self.checks.iter().all(CheckResult::passed) {
            self.stage = Stage::Explain;
            return None;
        }
        if self.cache.as_ref().is_some_and(|cache| cache.confirm) {
            self.stage = Stage::Prepare(Start::Nothing);
            return None;
        }
        Some(ProofState::Proven {
            commit_id: self.commit.clone(),
            cache: self.cache.clone(),
            exposed: self.checks.iter().find_map(|check| check.exposed.clone()),
        })
    }
}

/// What a checkout starts with, where the user allows it.
fn allowed(start: Start, policy: &LoopPolicy) -> Start {
    match policy.proof.cache {
        CachePolicy::Base => start,
        CachePolicy::None => Start::Nothing,
    }
}
