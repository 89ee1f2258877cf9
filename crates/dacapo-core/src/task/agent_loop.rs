//! An agent in a loop: the rules of L and C as a pure machine.
//!
//! ```text
//! Preparing ─► Baseline ─► Between ─► Turn ─► (Writing) ─► Collecting ─► Landing ─► Checking ─► (Proving) ─► Settling ─► Between … Over
//!                             ▲  │      │ ▲                                                                        │
//!                             └──┘      ▼ │                                                                        ▼
//!                            backoff    Waits                                                           verdict: goes on or ends
//! ```
//!
//! The state is bounded: iteration 2,000 costs what iteration 20 does (P3). What people read of all iterations is folded
//! by [`crate::view`] from the same journal.

use std::sync::Arc;

use jiff::Timestamp;

use crate::context::History;
use crate::engine::machine::{Effect, Input, Machine, Step};
use crate::engine::{Kind, NotThatKind};
use crate::event::{
    CheckResult, CommitPlanned, Envelope, Event, LeftFile, NotAllowed, ProofState, StopReason, TurnEnd,
    Usage, WritingEnd,
};
use crate::git::Oid;
use crate::spec::{BYTES_PER_TOKEN, Cap, SessionMode, TaskSpec, Writing};
use crate::task::lifecycle::{Company, Conversation, Lifecycle, Wait};

mod apply;
mod changed_tests;
mod commands;
mod decide;
mod guidance;
mod plan;
mod promise_rule;
mod proof;
mod resume;
#[cfg(test)]
mod tests;
mod usage_limits;
mod writing;

pub use promise_rule::PromiseRule;

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
    life: Lifecycle,
    phase: Phase,
    /// The newest commit known to be ours; none until the next iteration starts: whatever HEAD is then.
    tip: Option<Oid>,
    baseline: Vec<CheckResult>,
    /// Checks that were seen red since the present allowance began.
    seen_red: Vec<bool>,
    /// All checks were green before anything was done: they prove nothing by themselves.
    opened_green: bool,
    /// The proof of the newest iteration failed.
    red_proof: Option<proof::RedProof>,
    /// Tests that the agent changed.
    tests: changed_tests::ChangedTests,
    agent: usize,
    conversation: Conversation,
    cap: Option<Cap>,
    /// The iteration at work.
    current: Option<Current>,
    attempted: u32,
    finished: u32,
    succeeded: u32,
    failures_in_row: u32,
    unchanged_in_row: u32,
    same_failure_in_row: u32,
    last_failure: Option<String>,
    /// What people said and every iteration hears.
    guidance: guidance::Guidance,
    /// What people said and no turn has been told yet.
    told: Vec<String>,
    /// It is on record that the task ends before a turn was given these words.
    not_told_said: bool,
    /// What the iteration at work was told.
    heard: Vec<String>,
    /// What people added to the task, and how much of it has been in a prompt.
    follow_ups: Vec<String>,
    follow_ups_heard: usize,
    /// The promise became needed after the conversation began.
    rule_due: bool,
    history: History,
    /// Files that the newest commit left out.
    left_out: Vec<LeftFile>,
    /// What the agent of the newest iteration needs a person for, until one takes the task up again.
    question: Option<String>,
    /// What the agent of the last iteration wrote to standard error, where its turn failed.
    stderr_tail: Option<String>,
}

/// Where the loop stands. Each phase has exactly one step (see `plan.rs`).
#[derive(Debug, Clone, PartialEq)]
enum Phase {
    /// The workspace is made, and made usable.
    Preparing,
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
    /// For a limit, or after a failure.
    Waits(Wait),
    /// A model puts the iteration into words.
    Writing(Writing),
    Collecting,
    Landing(CommitPlanned),
    Checking {
        index: usize,
    },
    /// All checks passed in the workspace; now in a checkout of the commit.
    Proving,
    Settling,
    Over,
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
    /// Why tests must change, by the agent.
    tests_changed: Option<String>,
    end: TurnEnd,
    ended_at: Timestamp,
    planned: Option<CommitPlanned>,
    /// What the agent was not allowed to do.
    not_allowed: Option<NotAllowed>,
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
        Self {
            phase: Phase::Preparing,
            tip: None,
            baseline: Vec::new(),
            seen_red: vec![false; spec.policy.checks.len()],
            opened_green: false,
            red_proof: None,
            tests: changed_tests::ChangedTests::default(),
            agent: 0,
            conversation: Conversation::default(),
            cap: if spec.policy.looping { spec.policy.cap } else { Some(Cap::by_iter(1)) },
            current: None,
            attempted: 0,
            finished: 0,
            succeeded: 0,
            failures_in_row: 0,
            unchanged_in_row: 0,
            same_failure_in_row: 0,
            last_failure: None,
            guidance: guidance::Guidance::default(),
            told: Vec::new(),
            not_told_said: false,
            heard: Vec::new(),
            follow_ups: Vec::new(),
            follow_ups_heard: 0,
            rule_due: false,
            left_out: Vec::new(),
            history: History::within(spec.context.context_max_tokens as usize * BYTES_PER_TOKEN),
            question: None,
            stderr_tail: None,
            life: Lifecycle::new(spec),
        }
    }

    /// The promise that counts: the user's, or the default one where green checks prove nothing.
    pub(crate) fn promise(&self) -> Option<&str> {
        match &self.life.policy.until {
            Some(text) => Some(text),
            None if self.opened_green => Some(DEFAULT_PROMISE),
            None => None,
        }
    }

    /// The limit on iterations, with changes since the start.
    pub fn most_iterations(&self) -> Option<u32> {
        self.cap.map(|cap| cap.iterations)
    }

    /// Whether the agent is told of the honest way out, and heard when it takes it (L18): wherever something is to be
    /// complete. A loop that just does its rounds does them all.
    fn may_block(&self) -> bool {
        let promised = self.promise().is_some_and(|promise| !promise.is_empty());
        self.life.policy.looping && (promised || !self.life.policy.checks.is_empty())
    }

    /// Checks that passed on the commit itself count when they were red before, or when they were green and the promise
    /// stands beside them. All of them together are one proof: it was red while any of them was.
    fn verified(&self) -> bool {
        self.life.verdict.is_some_and(|verdict| verdict.reason == StopReason::Checks)
            && (self.seen_red.contains(&true) || self.promise().is_some())
    }

    /// Whether the next turn goes on in a conversation that an earlier one opened (L13).
    fn continues(&self) -> bool {
        self.life.policy.session == SessionMode::Resume
            && self.conversation.continues(&self.life.spec.agents[self.agent], Company::Alone)
    }

    /// Where the loop stands when the next turn may start: in its iteration, or before one.
    fn before_a_turn(&self) -> Phase {
        if self.current.is_some() { Phase::Retry } else { Phase::Between }
    }
}

impl Machine for AgentLoop {
    fn decide(&self, input: &Input) -> Vec<Event> {
        self.decide_on(input)
    }

    fn apply(&mut self, line: &Envelope) {
        self.take_in(line);
    }

    fn next(&self) -> Option<Step> {
        self.step()
    }

    fn plan(&self, step: Step) -> Effect {
        self.planned(step)
    }

    fn ends_now(&self) -> bool {
        self.life.verdict.is_some()
    }

    fn over_budget(&self, turn: &Usage) -> bool {
        self.life.over_budget(turn)
    }
}
