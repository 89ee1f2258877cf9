//! What was asked for, validated once. A [`TaskSpec`] is written to `spec.json` and never changed: what the task does
//! tomorrow does not depend on a config file edited today.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::git::Oid;
use crate::json::{branch, optional_branch, optional_span, span};
use crate::random;

mod agent_env;
mod change;
mod context_policy;
mod duration;
mod expected;
mod name;
mod proof;
mod reading;
mod room;
mod tests_policy;

pub use agent_env::AgentEnv;
pub use change::{Amount, Change, InvalidChange};
pub use context_policy::ContextPolicy;
pub use duration::{InvalidDuration, duration_text, parse_duration};
pub use expected::{ExpectedValue, ValueKind};
pub use name::{InvalidName, TaskName};
pub use proof::{CachePolicy, ProofAt, ProofPolicy, setup_line};
pub use reading::InvalidSpec;
pub use room::RoomMode;
pub use tests_policy::{TestsMode, TestsPolicy};

/// The version of `spec.json`.
pub const SPEC_FORMAT: u32 = 4;

/// What was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskSpec {
    /// The version of this file.
    pub v: u32,
    /// The task's name. It is unique in its repository.
    pub name: TaskName,
    /// The kind of task: `loop` or `milestone`.
    pub kind: String,
    /// When the task was created.
    pub created_at: Timestamp,
    /// An id of the task: the value of `DACAPO_RUN` in the environment of its processes.
    pub tag: String,
    /// The checkout in which the task was started.
    pub top: PathBuf,
    /// The branch that the user was on; null if HEAD was detached.
    #[serde(with = "optional_branch", default)]
    #[schemars(with = "Option<String>")]
    pub base_branch: Option<String>,
    /// True if a person waits at the terminal that started it.
    pub foreground: bool,
    /// The prompt of the task.
    pub prompt: String,
    /// The plan that goes with the prompt; null if there is none.
    pub plan: Option<Plan>,
    /// Where the task works.
    pub place: Place,
    /// The agents, in the order in which they take over at a usage limit. In a milestone: the Developer and the Acceptor.
    pub agents: Vec<AgentSpec>,
    /// How long the task goes on.
    pub policy: LoopPolicy,
    /// What its agents, checks and setup commands may change.
    #[serde(default)]
    pub room: RoomMode,
    /// What the next iteration is told, and what is committed.
    pub context: ContextPolicy,
    /// Additional environment of agents, checks and setup: pairs of a name and a value. A secret has no value here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, Option<String>)>,
    /// What only this kind of task has.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub details: serde_json::Value,
    /// The pull request that is to be opened at the end. Absent if none is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<PullRequest>,
}

/// The pull request that is to be opened at the end of a task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RequestedPullRequest")]
pub struct PullRequest {
    /// Its title. Absent if it is made from the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

impl PullRequest {
    /// One with this title; an empty one is none.
    pub fn titled(title: &str) -> Self {
        Self { title: Some(title.trim().to_owned()).filter(|title| !title.is_empty()) }
    }
}

/// A plan, as it was when the task was created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The file it came from.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
    /// True if the user named it, false if it was found.
    pub named: bool,
}

/// Where a task works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "place", rename_all = "snake_case")]
pub enum Place {
    /// In the user's own checkout.
    InPlace {
        /// True if the user's uncommitted changes are set aside first.
        allow_dirty: bool,
        /// A new branch that the checkout is switched to first. Absent if the task works on the branch that is checked out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<NewBranch>,
    },
    /// In a worktree of its own, on a branch of its own.
    Worktree {
        /// The directory.
        path: PathBuf,
        /// The branch.
        #[serde(with = "branch")]
        #[schemars(with = "String")]
        branch: String,
        /// True if the user's uncommitted changes are copied into it.
        with_changes: bool,
        /// The commit it starts from. Absent if that is where HEAD is when the task starts.
        #[serde(rename = "base_commit", default, skip_serializing_if = "Option::is_none")]
        base: Option<Oid>,
        /// What makes it usable.
        #[serde(default)]
        setup: Setup,
    },
}

/// A branch that is made for a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewBranch {
    /// Its name.
    #[serde(with = "branch")]
    #[schemars(with = "String")]
    pub name: String,
    /// The commit it starts from.
    #[serde(rename = "start_commit")]
    pub start: Oid,
}

/// What makes a new worktree usable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setup {
    /// Commands that are run one after the other by `sh -c`, before anything else.
    pub commands: Vec<String>,
    /// The time limit of each command.
    #[serde(rename = "timeout_seconds", with = "span")]
    #[schemars(with = "f64")]
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

/// How an agent is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentSpec {
    /// The name of the agent.
    pub name: String,
    /// What is run. `{usage_file}` in it stands for a file that the agent writes its usage to, and `{budget}` for what the
    /// turn may cost in US dollars: an argument that contains it is left out if there is no budget.
    pub command: AgentCommand,
    /// Additional arguments for a new conversation. `{session}` in them stands for the id that Dacapo chose for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start: Vec<String>,
    /// How the agent gets the prompt.
    pub prompt: PromptBy,
    /// How its output is read.
    pub output: OutputFormat,
    /// Additional arguments that continue a conversation; null if the agent cannot. `{session}` in them stands for its id.
    pub resume: Option<Vec<String>>,
    /// What the agent is told when a conversation goes on.
    pub follow_up: String,
    /// Additional environment: pairs of a name and a value. A secret has no value here; it comes from the settings.
    pub env: AgentEnv,
    /// The model. Absent if none was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What its tokens cost, for an agent that does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// What it may do without asking.
    #[serde(default)]
    pub approval: Approval,
}

/// What an agent may do without asking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// Everything that its own unattended mode allows.
    #[default]
    Auto,
    /// Edit files, and nothing else that changes something.
    Edits,
    /// Nothing: a person is asked.
    Ask,
    /// Read files.
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

/// What a model costs, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Price {
    /// Tokens that are read.
    pub input: f64,
    /// Tokens that are written.
    pub output: f64,
    /// Tokens that are read from a cache. Absent if they cost as much as others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
}

/// How an agent's conversation goes on from iteration to iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionMode {
    /// Every iteration is a new conversation.
    Fresh,
    /// Iterations continue the same conversation.
    Resume,
}

/// What a model other than the agent is asked to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Writing {
    /// A summary of the iteration (`summary_model`).
    Summary,
    /// The commit message (`commit_message_model`).
    CommitMessage,
}

/// What is run for an agent: exactly one of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentCommand {
    /// A command for `sh -c`.
    Shell(String),
    /// A program and its arguments.
    Argv(Vec<String>),
    /// The built-in scripted agent, with the path of its script.
    Rehearsal(PathBuf),
    /// Dacapo itself, with these arguments.
    Own(Vec<String>),
}

/// How an agent gets the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptBy {
    /// On standard input.
    Stdin,
    /// As an argument: in place of `{prompt}`, or else as the last one.
    Arg,
    /// In a file, whose path is an argument: in place of `{prompt_file}`, or else as the last one.
    File,
}

/// How an agent's output is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputFormat {
    /// Plain text: everything is what the agent says.
    Text,
    /// The events on this page, one JSON object per line: what the built-in agents print.
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
    Impossible,
    Id,
    /// Nothing: the agent continues its newest one in this place.
    Nothing,
}

/// How long a task goes on, and what proves that it is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoopPolicy {
    /// False if there is exactly one iteration.
    pub looping: bool,
    /// The limit on iterations; null if there is none.
    pub cap: Option<Cap>,
    /// No iteration starts after this time; null if there is no limit.
    #[serde(rename = "time_seconds", with = "optional_span", default)]
    #[schemars(with = "Option<f64>")]
    pub time: Option<Duration>,
    /// The text by which the agent says that it is done; null if it is not asked for one.
    #[serde(rename = "completion_promise")]
    pub until: Option<String>,
    /// The commands that must pass.
    pub checks: Vec<String>,
    /// The time limit of one run of a check.
    #[serde(rename = "check_timeout_seconds", with = "span")]
    #[schemars(with = "f64")]
    pub check_timeout: Duration,
    /// True if the checks run before the first iteration, too.
    pub baseline: bool,
    /// How commits are proven.
    #[serde(default)]
    pub proof: ProofPolicy,
    /// What the agent may do to the tests that judge its work.
    #[serde(default)]
    pub tests: TestsPolicy,
    /// After how many failed iterations in a row the task ends; 0 means never.
    pub max_failures: u32,
    /// The budget; null if there is none.
    #[serde(rename = "max_cost_usd")]
    pub max_cost: Option<f64>,
    /// The budget in tokens; null if there is none.
    pub max_tokens: Option<u64>,
    /// After how many iterations in a row without progress the task ends; 0 means never.
    pub stall: u32,
    /// The time limit of a turn; null if there is none.
    #[serde(rename = "turn_timeout_seconds", with = "optional_span", default)]
    #[schemars(with = "Option<f64>")]
    pub turn_timeout: Option<Duration>,
    /// How long a turn may show no sign of life.
    #[serde(rename = "idle_timeout_seconds", with = "span")]
    #[schemars(with = "f64")]
    pub idle_timeout: Duration,
    /// How the agent's conversation goes on.
    pub session: SessionMode,
    /// How long the task may wait for usage limits, in all.
    #[serde(rename = "max_wait_seconds", with = "span")]
    #[schemars(with = "f64")]
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
            tests: TestsPolicy::default(),
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

    /// Whether commits are proven when everything else that was asked for holds. Held-out checks alone are no condition: they
    /// judge what the agent calls done.
    pub fn is_judged(&self) -> bool {
        !self.checks.is_empty() || (self.until.is_some() && !self.proof.hidden_checks.is_empty())
    }

    /// A pure `--iter`/`--time` loop just does its rounds: using them up is success (L15).
    pub fn is_pure(&self) -> bool {
        !self.has_completion() && !matches!(self.cap, Some(Cap { source: CapSource::MaxIterations, .. }))
    }
}

/// A limit on iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cap {
    /// The limit.
    pub iterations: u32,
    /// Where it comes from.
    pub source: CapSource,
}

impl Cap {
    /// A cap by `--iter`.
    pub fn by_iter(iterations: u32) -> Self {
        Self { iterations, source: CapSource::Iter }
    }
}

/// Where a limit on iterations comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapSource {
    /// `--iter`, or a single run. Reaching it is success.
    Iter,
    /// `--max-iterations`, or the settings of the agent.
    MaxIterations,
}

/// A token is taken for four bytes throughout (C7).
pub const BYTES_PER_TOKEN: usize = 4;

/// This many random bytes, in hexadecimal.
pub fn random_hex(bytes: usize) -> String {
    random::hex(bytes)
}
