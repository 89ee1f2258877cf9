//! What was asked for, validated once. A [`TaskSpec`] is written to `spec.json` and never changed: what the task does
//! tomorrow does not depend on a config file edited today.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::git::Oid;
use crate::random;

mod change;
mod duration;
mod expected;
mod name;
mod proof;

pub use change::{Amount, Change, InvalidChange};
pub use duration::{InvalidDuration, duration_text, millis, optional_millis, parse_duration};
pub use expected::{ExpectedValue, ValueKind};
pub use name::{InvalidName, TaskName};
pub use proof::{ProofAt, ProofPolicy, setup_line};

/// The version of `spec.json`.
pub const SPEC_FORMAT: u32 = 2;

/// One piece of work that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskSpec {
    /// Version of the format.
    pub v: u32,
    /// The task's name, unique in its repository.
    pub name: TaskName,
    /// The kind of task: the name of one that is registered in [`crate::task`].
    pub kind: String,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// Ties processes to the task: the value of `DACAPO_RUN` in their environment.
    pub tag: String,
    /// The directory it was asked for in: the top of the user's checkout.
    pub top: PathBuf,
    /// The branch the user was on, by its full name.
    pub base_branch: Option<String>,
    /// Whether a person waits at the terminal that started it.
    pub foreground: bool,
    /// The user's own words.
    pub prompt: String,
    /// The plan that goes with them.
    pub plan: Option<Plan>,
    /// Where the work is done.
    pub place: Place,
    /// Who does it: the first one, and those who take over at a usage limit.
    pub agents: Vec<AgentSpec>,
    /// How long it goes on.
    pub policy: LoopPolicy,
    /// What the next iteration is told, what is committed.
    pub context: ContextPolicy,
    /// More environment for its agents, checks and setup. Without a value: a secret, which is never stored; it comes from the
    /// environment of whoever drives the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, Option<String>)>,
    /// What only this kind of task knows how to read.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub details: serde_json::Value,
    /// At its end a pull request is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<PullRequest>,
}

/// The pull request that is wanted at the end of a task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequest {
    /// Its title; none: made from the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

impl PullRequest {
    /// One with this title; an empty one is none.
    pub fn titled(title: &str) -> Self {
        Self { title: Some(title.trim().to_owned()).filter(|title| !title.is_empty()) }
    }
}

/// A plan file, kept as it was at the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Where it came from.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
    /// The user named it; else it was found.
    pub named: bool,
}

/// Where the work is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "place", rename_all = "snake_case")]
pub enum Place {
    /// In the user's own checkout.
    InPlace {
        /// The user's uncommitted changes are set apart first.
        allow_dirty: bool,
        /// A new branch that the checkout is put on first; none: the work is done on the one it is on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<NewBranch>,
    },
    /// In a worktree of its own, on a branch of its own.
    Worktree {
        /// The directory.
        path: PathBuf,
        /// The branch, by its full name.
        branch: String,
        /// The user's uncommitted changes come along.
        with_changes: bool,
        /// The commit it starts from; none: wherever the user's HEAD is by then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<Oid>,
        /// What makes it usable.
        #[serde(default)]
        setup: Setup,
    },
}

/// A branch that is made for a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewBranch {
    /// Its full name.
    pub name: String,
    /// The commit it starts from.
    pub start: Oid,
}

/// What makes a fresh worktree usable (S3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// Run one after the other by `sh -c`, before anything else is.
    pub commands: Vec<String>,
    /// The limit of each.
    #[serde(with = "millis")]
    pub timeout: Duration,
}

impl Default for Setup {
    fn default() -> Self {
        Self { commands: Vec::new(), timeout: Duration::from_secs(15 * 60) }
    }
}

impl Place {
    /// The commands that a fresh worktree needs; none in the user's own checkout.
    pub fn setup(&self) -> &[String] {
        match self {
            Place::InPlace { .. } => &[],
            Place::Worktree { setup, .. } => &setup.commands,
        }
    }
}

/// How to run an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentSpec {
    /// What people call it.
    pub name: String,
    /// What is run. In its arguments `{usage_file}` stands for a file of the turn that the agent writes its usage to, and
    /// `{budget}` for what the turn may cost in USD: an argument that holds it is left out where there is no budget.
    pub command: AgentCommand,
    /// Arguments that only a new conversation gets; `{session}` stands for the id that Dacapo chose for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start: Vec<String>,
    /// How the prompt goes in.
    pub prompt: PromptBy,
    /// How its output is read.
    pub output: OutputFormat,
    /// Arguments that continue a conversation; `{session}` stands for its id. None: it cannot.
    pub resume: Option<Vec<String>>,
    /// What a follow-up says.
    pub follow_up: String,
    /// More environment.
    pub env: Vec<(String, String)>,
    /// The model, where one was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What its tokens cost, for an agent that does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// What it may do without asking.
    #[serde(default)]
    pub approval: Approval,
}

/// What an agent may do without asking (A8).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// All that its own unattended mode allows.
    #[default]
    Auto,
    /// Edit files, and nothing else that changes anything.
    Edits,
    /// A person answers.
    Ask,
    /// Read.
    ReadOnly,
}

impl Approval {
    /// The word for it on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Approval::Auto => "auto",
            Approval::Edits => "edits",
            Approval::Ask => "ask",
            Approval::ReadOnly => "read-only",
        }
    }
}

/// What a model costs, in USD per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Tokens read.
    pub input: f64,
    /// Tokens written.
    pub output: f64,
    /// Tokens read from a cache; none: as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
}

/// How an agent's conversation goes on from iteration to iteration (L13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionMode {
    /// A new conversation each iteration; what was learnt comes with the prompt.
    Fresh,
    /// A follow-up in the agent's own conversation.
    Resume,
}

/// What a model of its own may be asked to put into words, in the order in which it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Writing {
    /// What was done in an iteration (`summary_model`).
    Summary,
    /// The message of its commit (`commit_message_model`).
    CommitMessage,
}

/// What is run for an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentCommand {
    /// By `sh -c`.
    Shell(String),
    /// As it is.
    Argv(Vec<String>),
    /// The built-in scripted agent, with its script.
    Rehearsal(PathBuf),
    /// Our own program, with these arguments.
    Own(Vec<String>),
}

/// How the prompt reaches the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptBy {
    /// On standard input.
    Stdin,
    /// As an argument: where `{prompt}` stands, else the last one.
    Arg,
    /// In a file whose path is an argument: where `{prompt_file}` stands, else the last one.
    File,
}

/// How an agent's output is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputFormat {
    /// All of stdout is what the agent says.
    Text,
    /// The vocabulary of [`crate::event::AgentEvent`] as JSON lines: what the built-in agents print.
    Rehearsal,
    /// `claude --output-format stream-json`.
    Claude,
    /// `codex exec --json`.
    Codex,
    /// `copilot --output-format json`.
    Copilot,
    /// `gemini -o stream-json`.
    Gemini,
    /// `opencode run --format json`.
    Opencode,
    /// `qwen -o stream-json`.
    Qwen,
    /// The Agent Client Protocol.
    Acp,
}

impl AgentSpec {
    /// Whether this agent says what it used.
    pub fn reports_usage(&self) -> bool {
        self.output != OutputFormat::Text
    }

    /// What it takes to continue a conversation with this agent.
    pub fn session_need(&self) -> SessionNeed {
        match &self.resume {
            // A conversation over ACP is open in its process, or is opened again by its id.
            _ if self.output == OutputFormat::Acp => SessionNeed::Id,
            None => SessionNeed::Impossible,
            Some(args) if args.iter().any(|arg| arg.contains("{session}")) => SessionNeed::Id,
            Some(_) => SessionNeed::Nothing,
        }
    }

    /// Whether Dacapo chooses the id of a new conversation.
    pub fn presets_session(&self) -> bool {
        let names_it = |args: &[String]| args.iter().any(|arg| arg.contains("{session}"));
        names_it(&self.start) || matches!(&self.command, AgentCommand::Argv(argv) if names_it(argv))
    }
}

/// What it takes to continue a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionNeed {
    /// The agent cannot.
    Impossible,
    /// Its id.
    Id,
    /// Nothing: the agent continues its newest one in this place.
    Nothing,
}

/// How long a loop goes on, and what proves it done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoopPolicy {
    /// False: exactly one iteration, nothing registered.
    pub looping: bool,
    /// At most so many iterations.
    pub cap: Option<Cap>,
    /// No iteration starts after this time.
    #[serde(with = "optional_millis", default)]
    pub time: Option<Duration>,
    /// The promise that is asked for.
    pub until: Option<String>,
    /// The commands that judge.
    pub checks: Vec<String>,
    /// The limit of one run of a check.
    #[serde(with = "millis")]
    pub check_timeout: Duration,
    /// Run the checks before the first iteration.
    pub baseline: bool,
    /// How what passed in the workspace is proven on the commit.
    #[serde(default)]
    pub proof: ProofPolicy,
    /// So many failures in a row end it; 0: never.
    pub max_failures: u32,
    /// Spend at most.
    pub max_cost: Option<f64>,
    /// Use at most.
    pub max_tokens: Option<u64>,
    /// So many iterations in a row without progress end it; 0: never.
    pub stall: u32,
    /// The hard limit of a turn.
    #[serde(with = "optional_millis", default)]
    pub turn_timeout: Option<Duration>,
    /// A turn without any sign of life for so long is ended.
    #[serde(with = "millis")]
    pub idle_timeout: Duration,
    /// How the conversation goes on.
    pub session: SessionMode,
    /// Wait for usage limits at most, in all.
    #[serde(with = "millis")]
    pub max_wait: Duration,
}

/// One iteration that nothing proves, with the limits that hold where nobody sets any.
impl Default for LoopPolicy {
    fn default() -> Self {
        Self {
            looping: false,
            cap: Some(Cap::by_iter(1)),
            time: None,
            until: None,
            checks: Vec::new(),
            check_timeout: Duration::from_secs(15 * 60),
            baseline: false,
            proof: ProofPolicy::default(),
            max_failures: 0,
            max_cost: None,
            max_tokens: None,
            stall: 0,
            turn_timeout: None,
            idle_timeout: Duration::from_secs(30 * 60),
            session: SessionMode::Fresh,
            max_wait: Duration::from_secs(24 * 60 * 60),
        }
    }
}

impl LoopPolicy {
    /// Whether anything can prove or claim this loop done.
    pub fn has_completion(&self) -> bool {
        self.until.is_some() || !self.checks.is_empty()
    }

    /// A pure `--iter`/`--time` loop just does its rounds: using them up is success (L15).
    pub fn is_pure(&self) -> bool {
        !self.has_completion() && !matches!(self.cap, Some(Cap { source: CapSource::MaxIterations, .. }))
    }
}

/// The cap on iterations and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cap {
    /// At most so many.
    pub iterations: u32,
    /// By which flag.
    pub source: CapSource,
}

impl Cap {
    /// A cap by `--iter`.
    pub fn by_iter(iterations: u32) -> Self {
        Self { iterations, source: CapSource::Iter }
    }
}

/// Which setting capped the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapSource {
    /// `--iter`, or a single run.
    Iter,
    /// `--max-iterations` or a profile.
    MaxIterations,
}

/// What goes from one iteration to the next, and into git (C11).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextPolicy {
    /// Prompts carry what earlier iterations did.
    pub enabled: bool,
    /// The engine commits.
    pub auto_commit: bool,
    /// Iterations are summed up.
    pub generate_summary: bool,
    /// Bound of one summary.
    pub summary_max_tokens: u32,
    /// Bound of what earlier iterations and checks take in a prompt.
    pub context_max_tokens: u32,
    /// What follows the prompt where context is off.
    pub loop_prompt: Option<String>,
    /// Who sums iterations up (C5); none: the agent's own closing message is the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_by: Option<AgentSpec>,
    /// Who writes commit messages (C4); none: they are made from the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_by: Option<AgentSpec>,
}

impl ContextPolicy {
    /// Who puts this into words, where it is wanted and not left to the agent itself.
    pub(crate) fn writer(&self, what: Writing) -> Option<&AgentSpec> {
        match what {
            Writing::Summary => self.summary_by.as_ref().filter(|_| self.generate_summary),
            Writing::CommitMessage => self.message_by.as_ref().filter(|_| self.auto_commit),
        }
    }
}

/// A token is taken for four bytes throughout (C7).
pub const BYTES_PER_TOKEN: usize = 4;

/// So many random bytes, in hexadecimal.
pub fn random_hex(bytes: usize) -> String {
    random::hex(bytes)
}
