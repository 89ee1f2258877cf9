//! What every surface shows: the fold of a task's journal.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{KindView, Kinds};
use crate::event::{
    CheckPhase, CheckResult, IterationRecord, Needs, Notice, Outcome, ProofState, SetupResult, StopDetail,
    TaskResult, TestsResult, Tokens, Usage,
};
use crate::git::Oid;
use crate::json::branch;
use crate::spec::{LoopPolicy, Place, ProofPolicy, TaskSpec};
use crate::store::{JournalError, OpenError, Record, TaskDir, read_beside};

mod current_step;
mod fold;
mod own;
mod untracked;

pub use current_step::CurrentStep;
pub use untracked::{TouchedFile, UntrackedView};

/// What a task is doing, or how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It has not started yet, or waits because too many tasks run already.
    Queued,
    /// It is running.
    Running,
    /// It waits for a usage limit to end.
    Waiting,
    /// A person must decide something, or paused it.
    Paused,
    /// It did what was asked.
    Completed,
    /// It reached one of its limits.
    Stopped,
    /// It could not go on.
    Failed,
    /// A person or a signal ended it.
    Cancelled,
    /// Its process is gone. `dacapo resume` continues it.
    Interrupted,
}

impl Status {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Queued => "queued",
            Status::Running => "running",
            Status::Waiting => "waiting",
            Status::Paused => "paused",
            Status::Completed => "completed",
            Status::Stopped => "stopped",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
            Status::Interrupted => "interrupted",
        }
    }

    /// Whether it is over.
    pub fn has_ended(self) -> bool {
        matches!(self, Status::Completed | Status::Stopped | Status::Failed | Status::Cancelled)
    }

    /// Whether it stays so without a process that drives the task.
    pub fn is_settled(self) -> bool {
        self.has_ended() || self == Status::Paused
    }

    fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Completed => Status::Completed,
            Outcome::Failed => Status::Failed,
            Outcome::MaxReached | Outcome::TimeElapsed | Outcome::BudgetExhausted | Outcome::Stalled => {
                Status::Stopped
            }
            Outcome::Paused => Status::Paused,
            Outcome::Cancelled => Status::Cancelled,
        }
    }
}

/// Where a task was merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MergedInto {
    /// The branch that contains its work.
    #[serde(with = "branch")]
    #[schemars(with = "String")]
    pub into: String,
    /// The commit that the branch was moved to.
    #[serde(rename = "commit_id")]
    pub commit: Oid,
    /// True if one new commit holds all changes, without the task's own commits.
    pub squash: bool,
    /// When it was merged.
    #[serde(rename = "merged_at")]
    pub at: Timestamp,
}

/// A turn, as far as one needs to know to read what its agent printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnSeen {
    /// Its number over the whole task.
    pub turn: u32,
    /// The iteration it belongs to.
    pub iteration: u32,
    /// The agent that had the turn.
    pub agent: String,
    /// Nothing comes of it any more.
    pub over: bool,
}

/// A task, as shown.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskView {
    pub name: String,
    /// The checkout it was asked for in.
    pub repo: String,
    pub kind: String,
    pub status: Status,
    pub outcome: Option<Outcome>,
    /// Proven, not merely claimed.
    pub verified: bool,
    /// Whether its record can be relied on (R4); `verified` is false where it cannot.
    pub record: Record,
    /// What a person must decide.
    pub needs: Option<Needs>,
    /// Why its last iteration failed, or all of it.
    pub error: Option<StopDetail>,
    /// What its agent wrote to standard error last, where that turn failed.
    pub stderr_tail: Option<String>,
    /// What a person told and every iteration hears until it is taken back.
    pub guidance: Vec<String>,
    /// How many of these a turn has been given.
    guidance_heard: usize,
    /// Iterations finished.
    pub iteration: u32,
    pub max_iterations: Option<u32>,
    /// Finished iterations in which the agent did its turn.
    pub iterations_succeeded: u32,
    /// Finished iterations in which it did not.
    pub iterations_failed: u32,
    /// Active time: without the time in which no process drove the task, or it waited for a slot.
    pub elapsed_seconds: f64,
    /// Tokens so far.
    pub tokens: Tokens,
    /// Cost so far, where known.
    pub cost_usd: Option<f64>,
    /// The agent at work.
    pub agent: String,
    pub prompt: String,
    /// The branch it started from.
    pub base_branch: Option<String>,
    /// The commit it started from.
    pub base_commit: Option<Oid>,
    pub last_commit: Option<Oid>,
    /// The branch it works on.
    pub branch: Option<String>,
    /// Its worktree, if it has one of its own.
    pub worktree: Option<String>,
    /// The first of the ten ports that are its own while it runs.
    pub port_base: Option<u16>,
    /// The process that drives it.
    pub pid: Option<u32>,
    /// When its limit ends.
    pub waiting_until: Option<Timestamp>,
    pub created_at: Timestamp,
    pub finished_at: Option<Timestamp>,
    /// Where its work went (`dacapo merge`).
    pub merged: Option<MergedInto>,
    /// The pull request that offers its branch.
    pub pull_request: Option<String>,
    /// The name that its branch has there (short): that of the task when it was first offered.
    pub offered_as: Option<String>,
    /// What only its kind has, under the name of that kind.
    own: own::Own,
    /// What happened in each iteration; not part of a list.
    pub iterations: Vec<IterationRecord>,
    /// Every turn, in the order in which they began; not part of a list.
    pub turns: Vec<TurnSeen>,
    /// Every receipt; not part of a list.
    pub checks: Vec<CheckResult>,
    /// What made its worktree usable; not part of a list.
    pub setup: Vec<SetupResult>,
    /// What people should know.
    pub notices: Vec<Notice>,
    /// Agents could read the held-out checks.
    pub held_out_readable: bool,
    /// What checks changed and commits left out; it may still lie in the tree.
    pub uncommitted: Vec<String>,
    /// Files of the user's checkout that were untracked before it.
    pub untracked: UntrackedView,
    pub result: Option<TaskResult>,
    /// Commits made, the agent's own included.
    pub commits: u32,
    /// It loops, rather than run once.
    pub looping: bool,
    /// The iteration at work.
    pub running_iteration: Option<u32>,
    /// What it is doing, where it is running.
    pub doing: Option<CurrentStep>,
    /// Files that a person has left uncommitted in its workspace (`dacapo takeover`).
    pub left_by_hand: u64,
    /// When the newest event happened.
    pub last_at: Option<Timestamp>,
    has_checks: bool,
    /// When it joined the row of those who wait for a place.
    pub queued_at: Option<Timestamp>,
    /// Its limits, as asked for and as changed since.
    pub policy: LoopPolicy,
    /// How its commits are proven.
    pub proof_policy: ProofPolicy,
    /// The hash of what they are proven with, as it was at the start.
    pub start_sha256: Option<String>,
    /// Receipts of the newest proof, made by the process that drives the task or ended it.
    proofs: Vec<CheckResult>,
    started: bool,
    used: Usage,
    kinds: Kinds,
}

/// A task's view cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("cannot read the lock of the task: {0}")]
    Lock(std::io::Error),
}

impl ViewError {
    /// Whether an older Dacapo made the task, in a format that this one does not read.
    pub fn is_older(&self) -> bool {
        matches!(self, Self::Open(OpenError::Older { .. }) | Self::Journal(JournalError::Older { .. }))
    }
}

impl TaskView {
    /// A task of which nothing has happened yet.
    pub fn new(spec: &TaskSpec, kinds: Kinds) -> Self {
        let worktree = match &spec.place {
            Place::InPlace { .. } => None,
            Place::Worktree { path, .. } => Some(path.display().to_string()),
        };
        Self {
            name: spec.name.to_string(),
            repo: spec.top.display().to_string(),
            kind: spec.kind.clone(),
            status: Status::Queued,
            outcome: None,
            verified: false,
            record: Record::Whole,
            needs: None,
            error: None,
            stderr_tail: None,
            guidance: Vec::new(),
            guidance_heard: 0,
            iteration: 0,
            max_iterations: spec.policy.cap.map(|cap| cap.iterations),
            iterations_succeeded: 0,
            iterations_failed: 0,
            elapsed_seconds: 0.0,
            tokens: Tokens::default(),
            cost_usd: None,
            agent: spec.agents.first().map(|agent| agent.name.clone()).unwrap_or_default(),
            prompt: spec.prompt.clone(),
            base_branch: spec.base_branch.clone(),
            base_commit: None,
            last_commit: None,
            branch: None,
            worktree,
            port_base: None,
            pid: None,
            waiting_until: None,
            created_at: spec.created_at,
            finished_at: None,
            merged: None,
            pull_request: None,
            offered_as: None,
            own: own::Own::new(&spec.kind, kinds.view(spec)),
            iterations: Vec::new(),
            turns: Vec::new(),
            checks: Vec::new(),
            setup: Vec::new(),
            notices: Vec::new(),
            held_out_readable: false,
            uncommitted: Vec::new(),
            untracked: UntrackedView::default(),
            result: None,
            commits: 0,
            looping: spec.policy.looping,
            running_iteration: None,
            doing: None,
            left_by_hand: 0,
            last_at: None,
            has_checks: !spec.policy.checks.is_empty(),
            queued_at: None,
            policy: spec.policy.clone(),
            proof_policy: spec.policy.proof.clone(),
            start_sha256: None,
            proofs: Vec::new(),
            started: false,
            used: Usage::default(),
            kinds,
        }
    }

    /// What only its kind shows.
    pub fn own(&self) -> Option<&dyn KindView> {
        self.own.get()
    }

    /// The task in `dir` as it is now.
    pub fn load(dir: &TaskDir, kinds: Kinds) -> Result<Self, ViewError> {
        let view = Self::fold(dir, kinds)?;
        if view.status.has_ended() || dir.is_driven().map_err(ViewError::Lock)? {
            return Ok(view);
        }
        // It may have ended between the two looks: read again before calling it interrupted (K2).
        let mut view = Self::fold(dir, kinds)?;
        if !view.status.is_settled() {
            view.status = Status::Interrupted;
            view.turns.iter_mut().for_each(|turn| turn.over = true);
            view.pid = None;
            view.doing = None;
            view.own.get_mut().into_iter().for_each(|own| own.interrupted());
        }
        Ok(view)
    }

    /// What the journal of the task in `dir` says, whether or not a process still drives it.
    pub fn fold(dir: &TaskDir, kinds: Kinds) -> Result<Self, ViewError> {
        let (spec, spec_sha256) = dir.spec_and_hash()?;
        let mut view = Self::new(&spec, kinds);
        let mut is_empty = true;
        let read = read_beside(dir, &spec_sha256, |line| {
            is_empty = false;
            view.apply(&line);
        });
        match read {
            Err(JournalError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
            done => view.rests_on(done?),
        }
        // Before its first event a task has nothing in its journal either, but then nothing of a turn.
        if is_empty && dir.has_turns() {
            return Err(JournalError::Gone.into());
        }
        Ok(view)
    }

    /// What a record that is not whole says was proven is not believed.
    fn rests_on(&mut self, record: Record) {
        if !record.is_whole() {
            self.verified = false;
            self.result.iter_mut().for_each(|result| result.verified = false);
        }
        self.record = record;
    }

    /// Drops what grows with every iteration, for a surface that has shown it already (P3).
    pub fn forget_details(&mut self) {
        self.iterations.clear();
        self.turns.clear();
        self.checks.clear();
        self.setup.clear();
        self.notices.clear();
        self.own.get_mut().into_iter().for_each(|own| own.forget_details());
    }

    /// Whether this check is known to pass on exactly this commit: in a proof, by the very process that ended the task, and
    /// on record without a gap (L4, R4).
    pub fn proves(&self, check: &str, commit: &Oid) -> bool {
        let state = self.result.as_ref().and_then(|result| result.proof_state.as_ref());
        self.record.is_whole()
            && state.and_then(ProofState::proven) == Some(commit)
            && self.proofs.iter().any(|receipt| {
                receipt.command == check && receipt.passed() && receipt.commit.as_ref() == Some(commit)
            })
    }

    /// Whether it changed the tests that judge it, and what that means; none while it has no result.
    pub fn tests(&self) -> Option<&TestsResult> {
        self.result.as_ref().and_then(|result| result.tests.as_deref())
    }

    /// The checks before the first iteration.
    pub fn baseline(&self) -> impl Iterator<Item = &CheckResult> {
        self.checks.iter().filter(|check| check.phase == CheckPhase::Baseline)
    }
}
