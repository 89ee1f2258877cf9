//! An agent in a loop: the rules of L and C as a pure machine.
//!
//! ```text
//! Fresh ─► (Setup) ─► Baseline ─► Between ─► Turn ─► (Writing) ─► Collecting ─► Landing ─► Checking ─► (Proving) ─► Settling ─► Between … Over
//!                                  ▲  │      │ ▲                                                                        │
//!                                  └──┘      ▼ │                                                                        ▼
//!                                backoff   LimitHit ─► Waiting, Probed                                           verdict: goes on or ends
//! ```
//!
//! The state is bounded: iteration 2,000 costs what iteration 20 does (P3). What people read of all iterations is folded
//! by [`crate::view`] from the same journal.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::context::History;
use crate::engine::machine::{Effect, Input, Machine};
use crate::engine::proving::Proving;
use crate::engine::stop::{self, Metered, Verdict};
use crate::event::{
    CheckResult, CommitPlanned, Envelope, Event, ProofState, SessionMode, TaskResult, TurnEnd, Usage,
    WaitReason, Writing, WritingEnd,
};
use crate::git::Oid;
use crate::spec::{BYTES_PER_TOKEN, Cap, LoopPolicy, SessionNeed, TaskSpec};
use crate::task::{Kind, NotThatKind};

mod apply;
mod commands;
mod decide;
mod guidance;
mod limits;
mod plan;
mod proof;
mod resume;
mod setup;
#[cfg(test)]
mod tests;
mod writing;

/// The promise that is asked for when checks were green before anything was done (L4).
pub const DEFAULT_PROMISE: &str = "<promise>COMPLETE</promise>";

/// The kind of task that [`AgentLoop`] decides for.
#[derive(Debug)]
pub struct Loop;

impl Loop {
    /// The word for it.
    pub const NAME: &'static str = "loop";
}

impl Kind for Loop {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn machine(&self, spec: Arc<TaskSpec>) -> Result<Box<dyn Machine + Send>, NotThatKind> {
        Ok(Box::new(AgentLoop::new(spec)))
    }
}

/// The state of an agent loop: the fold of its journal.
#[derive(Debug, Clone)]
pub struct AgentLoop {
    spec: Arc<TaskSpec>,
    /// As asked for, and as changed since.
    policy: LoopPolicy,
    phase: Phase,
    /// The workspace was made.
    ready: bool,
    /// So many commands have made it usable.
    set_up: usize,
    branch: Option<String>,
    base: Option<Oid>,
    /// The newest commit known to be ours; none until the next iteration starts: whatever HEAD is then.
    tip: Option<Oid>,
    baseline: Vec<CheckResult>,
    /// The newest result of each check, by its index.
    last_checks: Vec<Option<CheckResult>>,
    /// Checks that were seen red since the present allowance began.
    seen_red: Vec<bool>,
    /// All checks were green before anything was done: they prove nothing by themselves.
    opened_green: bool,
    /// What the newest iteration's proof came to, where it came to one.
    proof_state: Option<ProofState>,
    /// The proof of the newest iteration failed.
    red_proof: Option<proof::RedProof>,
    /// Proofs that failed in a row.
    red_proofs: u32,
    agent: usize,
    session: Option<String>,
    /// What the turns of this conversation used.
    session_usage: Usage,
    /// The present agent has had a turn.
    conversed: bool,
    cap: Option<Cap>,
    turns: u32,
    /// The iteration at work.
    current: Option<Current>,
    attempted: u32,
    finished: u32,
    succeeded: u32,
    failures_in_row: u32,
    unchanged_in_row: u32,
    same_failure_in_row: u32,
    last_failure: Option<String>,
    limits_in_row: u32,
    limit_wait: Duration,
    limited_until: Vec<Option<Timestamp>>,
    /// Another task tries whether the limit of this agent is over.
    probed: Vec<bool>,
    backoff_due: bool,
    usage: Usage,
    /// Successful turns in a row whose usage is not known under a budget, and what was missing in the last of them.
    unmetered_in_row: u32,
    unmetered: Option<Metered>,
    /// What was used and how much time had passed when the present allowance began.
    usage_before: Usage,
    elapsed_before: Duration,
    /// What people said and every iteration hears.
    guidance: guidance::Guidance,
    /// What people said and no turn has been told yet.
    told: Vec<String>,
    /// What the iteration at work was told.
    heard: Vec<String>,
    /// What people added to the task, and how much of it has been in a prompt.
    follow_ups: Vec<String>,
    follow_ups_heard: usize,
    /// The promise became needed after the conversation began.
    rule_due: bool,
    history: History,
    verdict: Option<Verdict>,
    /// What the agent of the newest iteration needs a person for, until one takes the task up again.
    question: Option<String>,
    /// Who wants it to pause when this iteration is over.
    pausing: Option<String>,
    message: Option<String>,
    /// What the agent of the last iteration wrote to standard error, where its turn failed.
    stderr_tail: Option<String>,
    result: Option<TaskResult>,
}

/// Where the loop stands. Each phase has exactly one effect (see `plan.rs`).
#[derive(Debug, Clone, PartialEq)]
enum Phase {
    Fresh,
    /// A command makes the fresh worktree usable.
    Setup {
        index: usize,
    },
    Baseline {
        index: usize,
    },
    Between,
    /// The iteration goes on with another turn.
    Retry,
    Turn {
        turn: u32,
        continued: bool,
    },
    LimitHit {
        message: String,
        end: LimitEnd,
    },
    Waiting {
        until: Timestamp,
        why: WaitReason,
    },
    /// Another task tries whether the limit is over.
    Probed {
        until: Timestamp,
        since: Timestamp,
        elapsed: Duration,
    },
    /// A model puts the iteration into words.
    Writing(Writing),
    Collecting,
    Landing(CommitPlanned),
    Checking {
        index: usize,
    },
    /// All checks passed in the workspace; now in a checkout of the commit.
    Proving(Proving),
    Settling,
    Over,
}

/// What is known of the end of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LimitEnd {
    /// A turn of this task ran into it, and this is what its agent said.
    Said(Option<Timestamp>),
    /// Another task did, and knows its end.
    Shared(Timestamp),
    /// Another task is trying whether it has come.
    Probed,
}

/// The iteration at work.
#[derive(Debug, Clone)]
struct Current {
    iteration: u32,
    start: Option<Oid>,
    started_at: Timestamp,
    attempts: u32,
    /// Its turns and their agents, the newest ones.
    turns: Vec<(u32, usize)>,
    usage: Usage,
    /// The agent's closing words.
    summary: String,
    /// What came of asking a model for a summary.
    summed_up: Option<WritingEnd>,
    /// The commit message that a model wrote.
    worded: Option<String>,
    promise: bool,
    /// Why the agent cannot go on without a person.
    blocked: Option<String>,
    end: TurnEnd,
    ended_at: Timestamp,
    planned: Option<CommitPlanned>,
    /// What the agent was not allowed to do.
    refused: Option<String>,
    /// What it wrote to standard error last, where its turn failed.
    stderr_tail: Option<String>,
    checks: Vec<CheckResult>,
    /// What its proof came to.
    proof: Option<ProofState>,
    /// Ended from outside between two turns.
    cut: bool,
}

impl AgentLoop {
    /// A loop of which nothing has happened yet.
    pub fn new(spec: Arc<TaskSpec>) -> Self {
        let checks = spec.policy.checks.len();
        Self {
            policy: spec.policy.clone(),
            phase: Phase::Fresh,
            ready: false,
            set_up: 0,
            branch: None,
            base: None,
            tip: None,
            baseline: Vec::new(),
            last_checks: vec![None; checks],
            seen_red: vec![false; checks],
            opened_green: false,
            proof_state: None,
            red_proof: None,
            red_proofs: 0,
            agent: 0,
            session: None,
            session_usage: Usage::default(),
            conversed: false,
            cap: if spec.policy.looping { spec.policy.cap } else { Some(Cap::by_iter(1)) },
            turns: 0,
            current: None,
            attempted: 0,
            finished: 0,
            succeeded: 0,
            failures_in_row: 0,
            unchanged_in_row: 0,
            same_failure_in_row: 0,
            last_failure: None,
            limits_in_row: 0,
            limit_wait: Duration::ZERO,
            limited_until: vec![None; spec.agents.len()],
            probed: vec![false; spec.agents.len()],
            backoff_due: false,
            usage: Usage::default(),
            unmetered_in_row: 0,
            unmetered: None,
            usage_before: Usage::default(),
            elapsed_before: Duration::ZERO,
            guidance: guidance::Guidance::default(),
            told: Vec::new(),
            heard: Vec::new(),
            follow_ups: Vec::new(),
            follow_ups_heard: 0,
            rule_due: false,
            history: History::within(spec.context.context_max_tokens as usize * BYTES_PER_TOKEN),
            verdict: None,
            question: None,
            pausing: None,
            message: None,
            stderr_tail: None,
            result: None,
            spec,
        }
    }

    /// The promise that counts: the user's, or the default one where green checks prove nothing.
    pub(crate) fn promise(&self) -> Option<&str> {
        match &self.policy.until {
            Some(text) => Some(text),
            None if self.opened_green => Some(DEFAULT_PROMISE),
            None => None,
        }
    }

    /// At most so many iterations, by now.
    pub fn most_iterations(&self) -> Option<u32> {
        self.cap.map(|cap| cap.iterations)
    }

    /// Whether the agent is told of the honest way out, and heard when it takes it (L18): wherever something is to be
    /// complete. A loop that just does its rounds does them all.
    fn may_block(&self) -> bool {
        let promised = self.promise().is_some_and(|promise| !promise.is_empty());
        self.policy.looping && (promised || !self.policy.checks.is_empty())
    }

    /// Checks that passed on the commit itself count when they were red before, or when they were green and the promise
    /// stands beside them. All of them together are one proof: it was red while any of them was.
    fn verified(&self, verdict: Verdict, last_commit: Option<&Oid>) -> bool {
        verdict.outcome == crate::event::Outcome::Completed
            && verdict.reason == crate::event::StopReason::Checks
            // What came since is not proven by it.
            && self.proof_state.as_ref().and_then(ProofState::proven).is_some_and(|at| Some(at) == last_commit)
            && (self.seen_red.contains(&true) || self.promise().is_some())
    }

    /// Whether the next turn goes on in a conversation that an earlier one opened (L13).
    fn continues(&self) -> bool {
        self.policy.session == SessionMode::Resume
            && self.conversed
            && match self.spec.agents[self.agent].session_need() {
                SessionNeed::Impossible => false,
                SessionNeed::Id => self.session.is_some(),
                SessionNeed::Nothing => true,
            }
    }

    /// Where the loop stands when the next turn may start: in its iteration, or before one.
    fn before_a_turn(&self) -> Phase {
        if self.current.is_some() { Phase::Retry } else { Phase::Between }
    }

    fn usage_in_allowance(&self) -> Usage {
        self.usage.since(&self.usage_before)
    }
}

impl Machine for AgentLoop {
    fn decide(&self, input: &Input) -> Vec<Event> {
        self.decide_on(input)
    }

    fn apply(&mut self, line: &Envelope) {
        self.take_in(line);
    }

    fn next(&self) -> Option<Effect> {
        self.effect()
    }

    fn ends_now(&self) -> bool {
        self.verdict.is_some()
    }

    fn over_budget(&self, turn: &Usage) -> bool {
        stop::over_budget(&self.policy, &self.usage_in_allowance().plus(turn))
    }
}
