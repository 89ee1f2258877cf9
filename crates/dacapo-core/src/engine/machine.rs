//! What every kind of task is to the driver: a pure machine (rule 1 of the architecture).
//!
//! `decide` turns an input into events, `apply` is the only change of state, and `next` derives what is to be done from
//! the state alone. So after a crash the same step is derived again from the journal, and none is lost. Prompts and
//! messages are built by `plan`, once, when the driver is about to act.

use std::time::Duration;

use jiff::Timestamp;

use crate::event::{
    CheckPhase, CheckResult, CommitPlanned, Envelope, Event, KnownLimit, Notice, ProofCache, Received,
    SetupResult, TestsChange, TurnRecord, Usage, WaitReason, WorkspaceProblem, WritingRecord,
};
use crate::event::{Hidden, TimeLimit};
use crate::git::Oid;
use crate::mirror::Document;
use crate::proof::{ProofRun, Start};
use crate::spec::{ProofPolicy, Setup, Writing};

pub use super::step::Step;
pub use super::work::{NamedCommit, WorkFacts, WorkQuery};

/// A kind of task. No I/O, no clock, no randomness: all that comes in as [`Input`].
pub trait Machine {
    /// What follows from `input`, as events. An input that does not fit the state has no consequence.
    fn decide(&self, input: &Input) -> Vec<Event>;

    /// Takes in what happened. The only way the state ever changes.
    fn apply(&mut self, line: &Envelope);

    /// What is to be done now; none when the task is over. Cheap: nothing is built but the step's name.
    fn next(&self) -> Option<Step>;

    /// All that doing it needs: prompts, messages, commands. `step` is what [`Machine::next`] names at this state; of another
    /// one nothing is known, and it becomes [`Effect::Settle`].
    fn plan(&self, step: Step) -> Effect;

    /// Whether what is at work is to end now: the task itself is to.
    fn ends_now(&self) -> bool;

    /// Whether the turn in flight must end now that it has used this much on top of the turns before.
    fn over_budget(&self, turn: &Usage) -> bool;

    /// Whether each of its agents has a conversation that stays open while another one is at work. False: they only take over
    /// from one another.
    fn agents_converse_by_turns(&self) -> bool {
        false
    }

    /// Whether it starts where its base branch is when its turn has come. False: from the commit that was there when it was
    /// asked for.
    fn starts_from_base_branch(&self) -> bool {
        false
    }

    /// What files of the main checkout are to say of the task; none: nothing.
    fn published(&self, whereabouts: Whereabouts) -> Vec<Document> {
        let _ = whereabouts;
        Vec::new()
    }
}

/// Where a task is that files tell of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whereabouts {
    /// In its own directory.
    Here,
    Dropped,
}

/// What the world tells the machine.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A process begins to drive the task, or takes it up again.
    Begin(Begin),
    /// The workspace is there.
    WorkspaceReady {
        path: String,
        /// The branch, none when detached.
        branch: Option<String>,
        /// The tip of the branch.
        base: Option<Oid>,
        /// The rescue ref that keeps the user's own changes.
        kept_changes: Option<String>,
        /// The first of the task's ports.
        port_base: Option<u16>,
        /// The SHA-256 of what proofs are made with.
        start_sha256: Option<String>,
    },
    /// It cannot be made.
    WorkspaceFailed(Vec<WorkspaceProblem>),
    /// A command of the setup has its result.
    SetupDone(SetupResult),
    /// A check has its result.
    CheckDone(CheckResult),
    /// The checkout of the commit is ready for its checks.
    ProofReady {
        /// The setup ran there just now.
        set_up: bool,
        /// The caches that it starts with.
        cache: Option<ProofCache>,
        /// What the commit changes of what judges it.
        tests: Option<TestsChange>,
    },
    /// It cannot be had.
    ProofUnavailable { message: String, cure: Option<String> },
    /// What the workspace has and the commit does not.
    HiddenFound {
        /// The first of these files.
        hidden: Vec<Hidden>,
        /// How many they are in truth.
        total: u64,
    },
    /// A turn is about to start.
    TurnBegins {
        head: Option<Oid>,
        /// The session, where Dacapo chooses its id.
        session: Option<String>,
    },
    /// No turn is about to start: another task knows that it would run into a limit.
    LimitKnown(KnownLimit),
    /// A turn is over.
    TurnEnded(TurnRecord),
    /// A model was asked for a summary or a commit message.
    Written(WritingRecord),
    /// The tree was looked at, the commit object made if there is something to commit.
    Prepared(CommitPlanned),
    /// The branch has moved.
    Landed,
    /// The branch could not be moved; the commit is kept elsewhere.
    LandedElsewhere {
        /// What happened and where the commit is.
        problem: WorkspaceProblem,
    },
    /// What git says about the work.
    Inspected(WorkFacts),
    /// What nobody had committed is kept.
    Kept {
        /// The ref that keeps it; none: there was nothing.
        reference: Option<String>,
    },
    /// The sleep is over.
    WaitOver,
    /// Nothing but the time: the machine has something to settle by itself.
    Settle {
        /// By the wall clock.
        now: Timestamp,
    },
    /// All that is needed for the result is known.
    Finishing {
        /// The tip of the work.
        last_commit: Option<Oid>,
        /// Changed tests, CI files and checks.
        trust_files: Vec<String>,
        /// Active time of the task.
        elapsed: Duration,
    },
    /// A person or a signal ends the task.
    Stop { by: String },
    /// A person wants something of the task.
    Command(Received),
    /// Something a person should know.
    Notice(Notice),
}

/// How a process takes a task up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Begin {
    pub pid: u32,
    pub version: String,
    /// More iterations than were asked for first.
    pub more_iterations: Option<u32>,
    /// What a person adds to the task.
    pub follow_up: Option<String>,
    /// How commits are proven from now on, where that changes.
    pub proof: Option<ProofPolicy>,
}

/// What the driver is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Make the place to work in.
    PrepareWorkspace,
    /// Run a command that makes the fresh worktree usable.
    RunSetup(SetupPlan),
    RunCheck(CheckPlan),
    /// Have a checkout of the commit, to which no agent writes, and make it usable.
    PrepareProof(ProofPlan),
    /// Find what the workspace has and that checkout does not.
    FindHidden {
        iteration: u32,
    },
    /// Look whether the agent's account is known to be limited, where HEAD is, and choose a session id: the next turn is
    /// to start.
    BeginTurn(TurnStart),
    /// Give the agent its turn.
    RunTurn(TurnPlan),
    /// Have a model put into words what the iteration did.
    Write(WritingPlan),
    /// Stage what the iteration left and make a commit object of it.
    PrepareCommit(CommitPlan),
    Land(Landing),
    /// Ask git about the work. Nothing is changed.
    InspectWork(WorkQuery),
    /// Keep what nobody has committed under a rescue ref, and leave it where it is.
    KeepWork,
    Sleep {
        until: Timestamp,
        why: WaitReason,
    },
    /// Tell all tasks with the same account of the limit that the last turn ran into, then come back with
    /// [`Input::Settle`].
    ShareLimit(FoundLimit),
    /// Sleep while another task tries whether the limit of this agent's account is over.
    AwaitProbe {
        /// Index of the agent in the task's list.
        agent: usize,
        /// At the latest until then.
        until: Timestamp,
    },
    /// Come back with [`Input::Settle`].
    Settle,
    /// Force everything to disk and gather what the result needs.
    Finish {
        /// What changed since is looked through for tests and checks.
        base: Option<Oid>,
    },
}

/// One command of the setup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupPlan {
    /// Position in the list of commands, from 0.
    pub index: u32,
    /// What is run by `sh -c`.
    pub command: String,
    pub timeout: Duration,
}

/// One run of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckPlan {
    pub phase: CheckPhase,
    pub iteration: Option<u32>,
    /// Position in the list of commands, from 0.
    pub index: u32,
    /// What is run by `sh -c`.
    pub command: String,
    pub timeout: Duration,
    pub commit: Option<Oid>,
}

/// A checkout that a commit is to be proven in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofPlan {
    pub iteration: u32,
    pub commit: Oid,
    /// What it starts with.
    pub start: Start,
    /// With which tests it is judged.
    pub run: ProofRun,
    /// The commit that the task started from.
    pub base: Option<Oid>,
    /// What makes it usable.
    pub setup: Setup,
}

/// A turn that is to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnStart {
    /// Index of the agent in the task's list.
    pub agent: usize,
    /// A new conversation begins.
    pub fresh: bool,
}

/// A limit that a turn ran into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLimit {
    /// Index of the agent in the task's list.
    pub agent: usize,
    pub message: String,
    /// When the limit ends, by its word.
    pub resets_at: Option<Timestamp>,
    /// How long it is taken to last where the agent does not say.
    pub guess: Duration,
    /// How many limits in a row had no end that the agent named, with this one; from 1.
    pub guesses: u32,
}

/// One turn of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnPlan {
    /// Its number over the whole task.
    pub turn: u32,
    pub iteration: u32,
    /// Which turn of this iteration, from 0.
    pub attempt: u32,
    /// Index of the agent in the task's list.
    pub agent: usize,
    pub prompt: String,
    /// The conversation, where its id is known.
    pub session: Option<String>,
    /// It is one that an earlier turn opened.
    pub continued: bool,
    /// What is looked for in what it says.
    pub promise: Option<String>,
    /// All of the agent's closing message is wanted in the record.
    pub keep_reply: bool,
    /// What earlier turns of this conversation used.
    pub earlier: Usage,
    /// What it may cost, in USD, where the task has a budget.
    pub budget: Option<f64>,
    pub hard_limit: Option<Duration>,
    /// Which setting the hard limit comes from.
    pub hard_limit_is: TimeLimit,
    /// Without any sign of life for so long it is ended.
    pub idle_limit: Duration,
    /// How long the task may still wait for limits.
    pub wait_left: Duration,
}

/// Something that a model is to write about an iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WritingPlan {
    pub what: Writing,
    pub iteration: u32,
    /// The turns it had, the newest ones if they were many, each with its agent.
    pub turns: Vec<(u32, usize)>,
    /// HEAD at the beginning of the iteration.
    pub start: Option<Oid>,
    /// What is known of it in words.
    pub summary: String,
    /// What must not be said again: only the agent can promise something.
    pub promise: Option<String>,
}

/// A commit that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitPlan {
    pub iteration: u32,
    /// Where the task began.
    pub base: Option<Oid>,
    /// Where the iteration began.
    pub start: Option<Oid>,
    /// The branch that HEAD ought to be on.
    pub branch: Option<String>,
    /// The newest commit that is known to be on it.
    pub tip: Option<Oid>,
    pub message: String,
    /// Its date, from the journal: the same commit made twice has the same id.
    pub at: Timestamp,
    /// False: only look what changed.
    pub commit: bool,
}

/// A move of the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landing {
    pub iteration: u32,
    /// The branch, none when detached.
    pub branch: Option<String>,
    /// The commit that the branch is moved to.
    pub commit: Oid,
    /// The commit that the branch must be at before.
    pub parent: Option<Oid>,
}
