//! The settings themselves. Everything else about a key (its place in the schema, its check, its name in the
//! environment, its line in `dacapo config`) is derived from these types, so a new setting is one field here.
//!
//! `x-trust` of a setting says what a project's file could do with it to whoever clones the project (R6): `none`, or the part
//! of the program that would run it, send something to it, or tell it to an agent. Those names are [`Use`](super::Use).
//! `tighten`: a project's value counts unless it is looser than the user's; the choices go from loose to strict. `add`: its list comes on
//! top of the user's. `own`: its file may not set it at all.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dacapo_core::process::Supervision;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judging::{Proofs, RepoSettings, RoomChoice, Tests};
use super::timespan::Timespan;
use crate::messages::Language;

/// The follow-up text of L13 where none is set.
pub const DEFAULT_FOLLOW_UP: &str = "繼續";

/// Settings of Dacapo, from the user's file, the project's file, the environment and flags.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "Dacapo settings")]
pub struct Config {
    /// Which agent runs, or several in the order in which they take over from each other (`claude,codex`). Not
    /// set: the first one that is installed and logged in.
    #[schemars(title = "Agent", length(min = 1), extend("x-trust" = "agents"))]
    pub agent: Option<String>,
    /// The commands that prove the project is right, for `--checks`, `merge` and milestones. Not set: found from
    /// the files of the project. An empty list: none, and none are looked for.
    #[schemars(title = "Checks", inner(length(min = 1)), extend("x-trust" = "checks"))]
    pub checks: Option<Vec<String>>,
    /// The language of the interface.
    #[schemars(title = "Language", extend("x-trust" = "none"))]
    pub language: Language,
    /// The symbols of the terminal app: those of Unicode, or plain ones. `auto`: plain ones where the locale has no others,
    /// or draws them twice as wide (Chinese, Japanese, Korean).
    #[schemars(title = "Symbols", extend("x-trust" = "none"))]
    pub glyphs: GlyphSet,
    /// The mouse belongs to the terminal app: a click selects, a second one opens, dragging marks text and copies it.
    /// Otherwise the terminal selects and copies as everywhere else, and the wheel scrolls.
    #[schemars(title = "Mouse", extend("x-trust" = "none"))]
    pub mouse: bool,
    /// Keep the machine awake while a task runs.
    #[schemars(title = "Keep awake", extend("x-trust" = "none"))]
    pub keep_awake: bool,
    /// What agents, checks and setup commands may change. `guarded`: everything but Dacapo's data, settings and program, and git's
    /// settings and hooks. `strict`: their worktree, temp, their own state and the caches of the project's tools. `none`:
    /// everything. A project's file can only make it stricter.
    #[schemars(title = "Room", extend("x-trust" = "tighten"))]
    pub room: RoomChoice,
    /// The branch milestones start from. Not set: origin/HEAD, main or master.
    #[schemars(title = "Main branch", length(min = 1), extend("x-trust" = "none"))]
    pub main_branch: Option<String>,
    /// The editor that `dacapo open` starts, with its arguments; run by the shell. Not set: $VISUAL, $EDITOR, else one
    /// that is found.
    #[schemars(title = "Editor", length(min = 1), extend("x-trust" = "editor"))]
    pub editor: Option<String>,
    /// Agents by name: settings of the built-in ones, and definitions of your own.
    #[schemars(title = "Agents")]
    pub agents: BTreeMap<String, AgentProfile>,
    /// What a model costs, for agents that report no cost.
    #[schemars(title = "Prices")]
    pub prices: BTreeMap<String, Price>,
    /// Tasks in the background.
    #[schemars(title = "Spawned tasks")]
    pub spawn_task: SpawnTask,
    /// The working copies of tasks.
    #[schemars(title = "Worktrees")]
    pub worktree: Worktree,
    /// Proofs of commits.
    #[schemars(title = "Proofs")]
    pub proof: Proofs,
    /// The tests that judge the work.
    #[schemars(title = "Tests")]
    pub tests: Tests,
    /// Milestones.
    #[schemars(title = "Milestones")]
    pub milestone: Milestone,
    /// How to be told that a task ended or needs you.
    #[schemars(title = "Notifications")]
    pub notify: Notify,
    /// Pull requests.
    #[schemars(title = "Pull requests")]
    pub pr: PullRequests,
    /// Repositories by their path. Only in your own file: what is said here must not come from a repository.
    #[schemars(title = "Repositories")]
    pub repos: BTreeMap<String, RepoSettings>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            agent: None,
            checks: None,
            language: Language::English,
            glyphs: GlyphSet::Auto,
            mouse: false,
            keep_awake: true,
            room: RoomChoice::default(),
            main_branch: None,
            editor: None,
            agents: BTreeMap::new(),
            prices: BTreeMap::new(),
            spawn_task: SpawnTask::default(),
            worktree: Worktree::default(),
            proof: Proofs::default(),
            tests: Tests::default(),
            milestone: Milestone::default(),
            notify: Notify::default(),
            pr: PullRequests::default(),
            repos: BTreeMap::new(),
        }
    }
}

impl Config {
    /// The profile of an agent, with defaults for what no file sets. A built-in agent needs no table of its own.
    pub fn agent_profile(&self, name: &str) -> AgentProfile {
        self.agents.get(name).cloned().unwrap_or_default()
    }

    /// The names in `agent`, in the order in which they take over from each other. Empty: choose one.
    pub fn agent_order(&self) -> Vec<&str> {
        let names = self.agent.iter().flat_map(|list| list.split(','));
        names.map(str::trim).filter(|name| !name.is_empty()).collect()
    }
}

/// Which symbols the terminal app draws.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "a doc comment on a variant would turn the schema's `enum` into a `oneOf`")]
pub enum GlyphSet {
    #[default]
    Auto,
    Unicode,
    Ascii,
}

/// An agent: how it loops (A7), and how it is run where it is not a built-in one (A1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentProfile {
    /// A plain `dacapo exec PROMPT` loops with this agent. While it is false the other loop settings are ignored.
    #[schemars(title = "Loop by default", extend("x-trust" = "none"))]
    pub loop_enabled: bool,
    /// The most iterations of such a loop. A number outside the range is moved to its nearer end, and reported.
    #[schemars(title = "Most iterations", range(min = 1, max = 100), extend("x-clamp" = true, "x-trust" = "none"))]
    pub max_iterations: u32,
    /// The text by which the agent says that it is done.
    #[schemars(title = "Completion promise", extend("x-trust" = "none"))]
    pub completion_promise: Option<String>,
    /// What a follow-up in the agent's own session ends with.
    #[schemars(title = "Follow-up text", extend("x-trust" = "agents"))]
    pub follow_up: String,
    /// A new agent session in every iteration, or follow-ups in one. Not set: fresh; with `loop_enabled` resume,
    /// where the agent can.
    #[schemars(title = "Session", extend("x-trust" = "none"))]
    pub session: Option<Session>,
    /// The program and its arguments.
    #[schemars(title = "Command", length(min = 1), extend("x-trust" = "agents"))]
    pub command: Option<Vec<String>>,
    /// How the prompt goes in.
    #[schemars(title = "Prompt", extend("x-trust" = "agents"))]
    pub prompt: Option<PromptInput>,
    /// How what the agent prints is read.
    #[schemars(title = "Output", extend("x-trust" = "agents"))]
    pub output: Option<OutputFormat>,
    /// The arguments that continue a session; `{session}` stands for its id.
    #[schemars(title = "Resume", extend("x-trust" = "agents"))]
    pub resume: Option<Vec<String>>,
    /// The script of the built-in `rehearsal` agent; for no other.
    #[schemars(title = "Rehearsal script", extend("x-trust" = "agents"))]
    pub script: Option<PathBuf>,
    /// The model, by the agent's own name for it.
    #[schemars(title = "Model", length(min = 1), extend("x-trust" = "none"))]
    pub model: Option<String>,
    /// The kind of endpoint the built-in `native` agent talks to.
    #[schemars(title = "API", extend("x-trust" = "agents"))]
    pub api: Option<Api>,
    /// The address of that endpoint.
    #[schemars(title = "Base URL", url, extend("x-trust" = "agents"))]
    pub base_url: Option<String>,
    /// The environment variable that holds the key for it; never the key itself.
    #[schemars(title = "Key variable", length(min = 1), extend("x-trust" = "agents"))]
    pub key_env: Option<String>,
    /// How many tokens its model takes in, prompt and answer together. Not set: 128000.
    #[schemars(title = "Context size", range(min = 4000, max = 100_000_000), extend("x-trust" = "none"))]
    pub context_tokens: Option<u32>,
    /// Variables to add to the agent's environment.
    #[schemars(title = "Environment", extend("x-secret" = true, "x-trust" = "agents"))]
    pub env: BTreeMap<String, String>,
}

impl Default for AgentProfile {
    fn default() -> Self {
        AgentProfile {
            loop_enabled: false,
            max_iterations: 5,
            completion_promise: None,
            follow_up: DEFAULT_FOLLOW_UP.to_owned(),
            session: None,
            command: None,
            prompt: None,
            output: None,
            resume: None,
            script: None,
            model: None,
            api: None,
            base_url: None,
            key_env: None,
            context_tokens: None,
            env: BTreeMap::new(),
        }
    }
}

impl AgentProfile {
    /// The loop that a plain `dacapo exec PROMPT` runs with this agent; `None` for a single iteration. This is
    /// the one place where `loop_enabled = false` makes the others count for nothing (A7).
    pub fn loop_settings(&self) -> Option<LoopSettings> {
        self.loop_enabled.then(|| LoopSettings {
            max_iterations: self.max_iterations,
            // An empty one says that there is none (L3).
            completion_promise: self.completion_promise.clone().filter(|promise| !promise.is_empty()),
            follow_up: self.follow_up.clone(),
            session: self.session,
        })
    }
}

/// The loop settings of a profile that loops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopSettings {
    /// 1…100.
    pub max_iterations: u32,
    /// Without one the loop runs `max_iterations` times.
    pub completion_promise: Option<String>,
    /// The end of every follow-up prompt.
    pub follow_up: String,
    /// `None`: resume where the agent can, else fresh. Only the agent's own profile knows whether it can.
    pub session: Option<Session>,
}

/// How sessions and iterations go together (L13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "a doc comment on a variant would turn the schema's `enum` into a `oneOf`")]
pub enum Session {
    Fresh,
    Resume,
}

/// How the prompt reaches an agent's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "a doc comment on a variant would turn the schema's `enum` into a `oneOf`")]
pub enum PromptInput {
    Stdin,
    Arg,
    File,
}

/// The language in which an agent prints what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "a doc comment on a variant would turn the schema's `enum` into a `oneOf`")]
pub enum OutputFormat {
    Text,
    Claude,
    Codex,
    Copilot,
    Gemini,
    Opencode,
    Qwen,
    Acp,
    Rehearsal,
}

/// The kinds of model endpoint the built-in `native` agent can use (A6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "a doc comment on a variant would turn the schema's `enum` into a `oneOf`")]
pub enum Api {
    Openai,
    Anthropic,
}

/// What a model costs, in USD per million tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// USD per million input tokens.
    #[schemars(title = "Input", range(min = 0, max = 1_000_000), extend("x-trust" = "agents"))]
    pub input: f64,
    /// USD per million output tokens.
    #[schemars(title = "Output", range(min = 0, max = 1_000_000), extend("x-trust" = "agents"))]
    pub output: f64,
    /// USD per million input tokens read from a cache. Not set: as `input`.
    #[serde(default)]
    #[schemars(title = "Cached", range(min = 0, max = 1_000_000), extend("x-trust" = "agents"))]
    pub cached: Option<f64>,
}

/// Tasks in the background.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SpawnTask {
    /// How many run at once on this machine; more are queued.
    #[schemars(title = "At once", range(min = 1, max = 1000), extend("x-trust" = "none"))]
    pub max_concurrent: u32,
    /// What an iteration is told about the ones before it.
    #[schemars(title = "Context passing")]
    pub context_passing: ContextPassing,
}

impl Default for SpawnTask {
    fn default() -> Self {
        SpawnTask { max_concurrent: 5, context_passing: ContextPassing::default() }
    }
}

/// What an iteration is told about the ones before it (C11).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ContextPassing {
    /// Give every iteration the record of the earlier ones.
    #[schemars(title = "Enabled", extend("x-trust" = "none"))]
    pub enabled: bool,
    /// Commit at the end of every iteration.
    #[schemars(title = "Commit", extend("x-trust" = "none"))]
    pub auto_commit: bool,
    /// Summarise every iteration.
    #[schemars(title = "Summarise", extend("x-trust" = "none"))]
    pub generate_summary: bool,
    /// The most tokens of one summary. With fewer than 20 there would be room for little but the mark that it was cut.
    #[schemars(title = "Summary size", range(min = 20, max = 100_000), extend("x-trust" = "none"))]
    pub summary_max_tokens: u32,
    /// The most tokens of the whole record.
    #[schemars(title = "Context size", range(min = 1, max = 10_000_000), extend("x-trust" = "none"))]
    pub context_max_tokens: u32,
    /// The model that writes commit messages: the agent with this model (`haiku`), or the endpoint of
    /// `[agents.native]` (`native:MODEL`). Not set: they are made from the summary.
    #[schemars(title = "Commit message model", length(min = 1), extend("x-trust" = "none"))]
    pub commit_message_model: Option<String>,
    /// The model that writes summaries, likewise. Not set: the agent's closing message is the summary.
    #[schemars(title = "Summary model", length(min = 1), extend("x-trust" = "none"))]
    pub summary_model: Option<String>,
    /// What follows the prompt from the second iteration on where `enabled` is false.
    #[schemars(title = "Loop prompt", extend("x-trust" = "agents"))]
    pub loop_prompt: Option<String>,
}

impl Default for ContextPassing {
    fn default() -> Self {
        ContextPassing {
            enabled: true,
            auto_commit: true,
            generate_summary: true,
            summary_max_tokens: 500,
            context_max_tokens: 8000,
            commit_message_model: None,
            summary_model: None,
            loop_prompt: None,
        }
    }
}

/// The working copies of tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Worktree {
    /// Commands that make a fresh worktree usable, run in order by `sh -c` before anything else is. Files that git does
    /// not know come along where `.worktreeinclude` names them.
    #[schemars(title = "Setup", inner(length(min = 1)), extend("x-trust" = "setup"))]
    pub setup: Vec<String>,
    /// The limit of each of them.
    #[schemars(title = "Setup timeout", extend("x-trust" = "none"))]
    pub setup_timeout: Timespan,
    /// The limit of one git command, with the filters and hooks that it starts. One that takes longer is ended.
    #[schemars(title = "Git timeout", extend("x-trust" = "none"))]
    pub git_timeout: Timespan,
}

impl Default for Worktree {
    fn default() -> Self {
        Worktree {
            setup: Vec::new(),
            setup_timeout: Timespan::from_secs(900),
            git_timeout: Timespan::from_secs(Supervision::LIMIT.as_secs()),
        }
    }
}

/// Milestones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Milestone {
    /// The most rounds of a milestone.
    #[schemars(title = "Most rounds", range(min = 1, max = 10_000), extend("x-trust" = "none"))]
    pub max_iterations_per_milestone: u32,
    /// The most time one turn of the Developer or the Acceptor may take.
    #[schemars(title = "Turn timeout", extend("x-trust" = "none"))]
    pub call_timeout: Timespan,
    /// After so many rejections in a row a person is asked.
    #[schemars(title = "Rejections in a row", range(min = 1, max = 1000), extend("x-trust" = "none"))]
    pub max_consecutive_rejections: u32,
}

impl Default for Milestone {
    fn default() -> Self {
        Milestone {
            max_iterations_per_milestone: 20,
            call_timeout: Timespan::from_secs(10 * 60),
            max_consecutive_rejections: 3,
        }
    }
}

/// How to be told that a task ended or needs you. A task that is watched at a terminal and ends within a minute tells
/// nobody else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Notify {
    /// A notification on the desktop, where there is one: notify-send, on macOS osascript.
    #[schemars(title = "Desktop", extend("x-trust" = "notify"))]
    pub desktop: bool,
    /// An address that gets a POST with JSON, `text` and `content` for chat rooms among it. Whoever knows it can post, so
    /// it is not shown.
    #[schemars(title = "Webhook", url, extend("x-secret" = true, "x-trust" = "notify"))]
    pub webhook: Option<String>,
    /// A command to run by the shell; what happened is in DACAPO_… variables and, as JSON, on its standard input.
    #[schemars(title = "Command", length(min = 1), extend("x-trust" = "notify"))]
    pub command: Option<String>,
    /// The most time that command may take.
    #[schemars(title = "Command timeout", extend("x-trust" = "notify"))]
    pub command_timeout: Timespan,
}

impl Default for Notify {
    fn default() -> Self {
        Notify { desktop: true, webhook: None, command: None, command_timeout: Timespan::from_secs(60) }
    }
}

/// Pull requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PullRequests {
    /// The program that opens them. Not set: by the host of the remote.
    #[schemars(title = "Program", extend("x-trust" = "pull_requests"))]
    pub cli: Option<PlatformCli>,
}

/// The programs that open pull requests, by the platform they belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "a doc comment on a variant would turn the schema's `enum` into a `oneOf`")]
pub enum PlatformCli {
    Gh,
    Glab,
    Tea,
}
