//! The command line. The doc comments are the help.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod again;
mod alias;
mod asked;
pub mod completions;
mod env;
mod front_door;
mod help;
mod init;
mod interactive;
mod lifecycle;
mod merge;
pub mod milestone;
mod outside;
mod setup;
mod since;
mod tasks;
pub mod trust;

pub use again::Rerun;
pub use alias::meant;
pub use front_door::{as_command, names_a_command, not_a_prompt, want_json};
pub use init::Init;
pub use interactive::{Attach, Takeover};
pub use lifecycle::{Drop, Prune, Rename, Undo};
pub use merge::Merge;
pub use outside::{Notify, NotifyCommand, Open, Pr};
pub use setup::{Config, ConfigCommand, Demo, Doctor, Man, Rehearsal, RehearsalCommand};
pub use tasks::{Approve, Kill, Pause, Reject, Set, Spawn, Tell, Wait};

/// What stands for `dacapo "PROMPT"` among the commands.
pub const PROMPT: &str = front_door::COMMAND;

/// Runs coding agents in loops people can trust: until the work is proven done, every iteration in git, nothing lost.
#[derive(Debug, Parser)]
#[command(name = "dacapo", version, propagate_version = true, arg_required_else_help = true)]
#[command(help_template = help::PAGE)]
#[command(override_usage = "dacapo [FLAGS OF SPAWN] \"PROMPT\"\n       dacapo [OPTIONS] <COMMAND>")]
#[command(
    after_help = "dacapo \"fix the failing tests\" starts an agent in the background, in a worktree of its own, and shows it.
Try it without an agent and without cost: dacapo demo"
)]
pub struct Cli {
    /// Run as if started in DIR
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true, display_order = 900)]
    pub directory: Option<PathBuf>,
    /// Colours: auto, always, never
    #[arg(long, value_name = "WHEN", global = true, display_order = 901)]
    #[arg(default_value = "auto", hide_possible_values = true)]
    pub color: Color,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// At a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an agent in the background, in a worktree of its own, with good defaults, and show it
    #[command(name = front_door::COMMAND, hide = true, override_usage = "dacapo [OPTIONS] \"PROMPT\"")]
    Prompt(Box<Spawn>),
    /// Run an agent in this repository, once or in a loop, in the foreground
    #[command(visible_alias = "run")]
    Exec(Box<Exec>),
    /// Run an agent in the background, in a worktree of its own; it outlives the terminal
    Spawn(Box<Spawn>),
    /// Start the request of a task anew, under a new name
    Rerun(Box<Rerun>),
    /// Write milestones down and have them built and judged until accepted
    #[command(visible_alias = "ms")]
    Milestone(milestone::Milestone),
    /// Show the tasks of this repository
    #[command(visible_aliases = ["ls", "ps"])]
    List(List),
    /// Show what a task did, proved and cost
    #[command(visible_alias = "show")]
    Status(TaskArgs),
    /// Show a task's log
    #[command(visible_alias = "log")]
    Logs(Logs),
    /// Show a running task as if it ran here; Ctrl-C asks what to do
    Attach(Attach),
    /// Work in the agent's own interactive session, in the task's worktree; then the loop goes on
    Takeover(Takeover),
    /// Show what a task changed
    Diff(Diff),
    /// Wait for tasks to end; the exit code is the task's
    Wait(Wait),
    /// Go on with a task that is not running
    Resume(Resume),
    /// End a running task: its agent and all it started; what it did is committed
    #[command(visible_alias = "stop")]
    Kill(Kill),
    /// Let running tasks pause after this iteration
    Pause(Pause),
    /// Tell a task something that its next iteration hears
    Tell(Tell),
    /// Change limits of a task, also while it runs
    Set(Set),
    /// Say yes to what a task asks a person for
    Approve(Approve),
    /// Say no to what a task asks a person for
    Reject(Reject),
    /// Bring tasks home: into the branch that is checked out here, each proven first
    Merge(Box<Merge>),
    /// Give a task another name, with its worktree and branch
    Rename(Rename),
    /// Remove a task with its worktree and branch; `undo` brings it back
    #[command(visible_alias = "rm")]
    Drop(Drop),
    /// Bring back what `drop` or `merge` put away, bit for bit
    Undo(Undo),
    /// Push a task's branch and open a pull request with the platform's own program
    Pr(Pr),
    /// Open a task's files in your editor
    Open(Open),
    /// Try how you are told that a task ended or needs you
    Notify(Notify),
    /// Remove worktrees that are merged and what was dropped long ago
    Prune(Prune),
    /// Lay .dacapo/ out in this repository: settings, milestones, prompts, memory
    Init(Init),
    /// Show the settings and where each comes from
    Config(Config),
    /// Show what this repository would run here, and confirm it
    Trust(trust::Trust),
    /// Show which agents can be used here, who pays for them, and what is missing
    Doctor(Doctor),
    /// Run a whole loop with a scripted agent in a scratch repository: free, and over in seconds
    Demo(Demo),
    /// Check or show scripts for the built-in agent `rehearsal`
    Rehearsal(Rehearsal),
    /// Print what a shell needs to complete commands, tasks and agents
    Completions(completions::Completions),
    /// Print the manual page of a command, or write all of them
    Man(Man),
}

/// Flags of `exec`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  dacapo exec --agent-cmd 'mybot --headless' \"fix the typo\"         one run
  dacapo exec --agent mybot --check 'cargo test' \"fix the tests\"    until the check passes
  dacapo exec --agent mybot --iter 5 \"improve the docs\"             five iterations")]
pub struct Exec {
    /// What the agent is to do; `-` reads it from standard input
    #[arg(value_name = "PROMPT")]
    pub prompt: Vec<String>,
    /// Read the prompt from a file
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    pub prompt_file: Option<PathBuf>,
    /// Take title and text of this issue as the prompt, by gh, glab or tea
    #[arg(long, value_name = "N", conflicts_with_all = ["prompt", "prompt_file"])]
    pub issue: Option<u64>,
    /// Only show what would run: command line, prompt, checks, limits, who pays
    #[arg(long)]
    pub dry_run: bool,
    /// Name of the task; made from the prompt if not given
    #[arg(long, allow_hyphen_values = true)]
    pub name: Option<String>,

    /// The agent: a name from the config; several (`a,b`) take over from each other at usage limits
    #[arg(long, value_name = "NAME", help_heading = "Agent", conflicts_with = "agent_cmd")]
    pub agent: Option<String>,
    /// Any command as agent: run by `sh -c`, prompt on stdin, plain text out
    #[arg(long, value_name = "CMD", help_heading = "Agent")]
    pub agent_cmd: Option<String>,
    /// The model the agent is to use
    #[arg(long, help_heading = "Agent")]
    pub model: Option<String>,
    /// Who approves what the agent does: auto, edits, ask, read-only [default: auto]
    #[arg(long, value_name = "POLICY", help_heading = "Agent")]
    pub approval: Option<Approval>,
    /// A new agent session each iteration (fresh), or follow-ups in the same one (resume)
    #[arg(long, value_name = "MODE", help_heading = "Agent")]
    pub session: Option<Session>,

    /// Run N iterations
    #[arg(long, value_name = "N", help_heading = "How long", allow_hyphen_values = true)]
    pub iter: Option<String>,
    /// Start no iteration after D (30s, 5m, 1h30m, 2d)
    #[arg(long, value_name = "D", help_heading = "How long", allow_hyphen_values = true)]
    pub time: Option<String>,
    /// At most N iterations until it is done (1 to 100) [default: 5]
    #[arg(long, value_name = "N", help_heading = "How long", allow_hyphen_values = true)]
    pub max_iterations: Option<i64>,
    /// End after K failed iterations in a row; 0: never [default: 10; 0 for plain --iter/--time]
    #[arg(long, allow_negative_numbers = true, value_name = "K", help_heading = "How long")]
    pub max_failures: Option<u32>,
    /// End after K iterations in a row without progress; 0: never [default: 3; 0 for plain --iter/--time]
    #[arg(long, allow_negative_numbers = true, value_name = "K", help_heading = "How long")]
    pub stall: Option<u32>,
    /// Spend at most so much
    #[arg(long, allow_negative_numbers = true, value_name = "USD", help_heading = "How long")]
    pub max_cost: Option<f64>,
    /// Use at most so many tokens
    #[arg(long, allow_negative_numbers = true, value_name = "N", help_heading = "How long")]
    pub max_tokens: Option<u64>,
    /// Hard limit of one turn of the agent
    #[arg(long, value_name = "D", help_heading = "How long")]
    pub turn_timeout: Option<String>,
    /// End a turn without any sign of life (output, processor time) for so long [default: 30m]
    #[arg(long, value_name = "D", help_heading = "How long")]
    pub idle_timeout: Option<String>,
    /// Wait for usage limits at most so long in all [default: 24h]
    #[arg(long, value_name = "D", help_heading = "How long")]
    pub max_wait: Option<String>,

    /// Done when the agent says exactly this
    #[arg(long, value_name = "TEXT", help_heading = "When is it done", alias = "completion-promise")]
    pub until: Option<String>,
    /// Done when CMD succeeds (repeatable: all must)
    #[arg(long, value_name = "CMD", help_heading = "When is it done")]
    pub check: Vec<String>,
    /// Done when the project's own checks succeed: `checks` in the config, else found from its files
    #[arg(long, help_heading = "When is it done")]
    pub checks: bool,
    /// Limit of one run of a check [default: 15m]
    #[arg(long, value_name = "D", help_heading = "When is it done")]
    pub check_timeout: Option<String>,
    /// Do not run the checks before the first iteration
    #[arg(long, help_heading = "When is it done")]
    pub no_baseline: bool,
    /// Where the last run of the checks happens: in a checkout of the commit, or nowhere (then nothing is proven)
    /// [default: checkout]
    #[arg(long, value_name = "WHERE", help_heading = "When is it done", value_enum)]
    pub proof: Option<ProofIn>,

    /// Work in a worktree of its own, on branch dacapo/NAME
    #[arg(long, help_heading = "Where", conflicts_with = "noworktree")]
    pub worktree: bool,
    /// Work in this checkout (the default of exec)
    #[arg(long, help_heading = "Where")]
    pub noworktree: bool,
    /// With a worktree: start from this branch, tag or commit [default: the current commit]
    #[arg(long, value_name = "REF", help_heading = "Where", allow_hyphen_values = true)]
    pub base: Option<String>,
    /// With --worktree: take uncommitted files along
    #[arg(long, help_heading = "Where")]
    pub with_changes: bool,
    /// Start although tracked files are changed; all that is uncommitted, untracked files too, is set apart in a commit of its own first
    #[arg(long, help_heading = "Where")]
    pub allow_dirty: bool,
    /// Push the branch and open a pull request when it is completed
    #[arg(long, value_name = "TITLE", help_heading = "Where", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub pr: Option<String>,
    /// `--pr "TITLE WITH SPACES" PROMPT`
    #[arg(long, value_name = "TITLE", hide = true, conflicts_with = "pr", allow_hyphen_values = true)]
    pub pr_title: Option<String>,

    /// Set a variable for the agent, its checks and the setup (repeatable); values of secrets are not stored
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Where", value_parser = env::variable)]
    pub env: Vec<(String, String)>,

    /// The plan that goes with the prompt [default: the newest in .dacapo/plans/, else .claude/plans/]
    #[arg(long, value_name = "FILE", help_heading = "Context", conflicts_with = "no_plan")]
    pub plan: Option<PathBuf>,
    /// No plan
    #[arg(long, help_heading = "Context")]
    pub no_plan: bool,
    /// Do not tell later iterations what earlier ones did
    #[arg(long, help_heading = "Context")]
    pub no_context: bool,
    /// Do not commit
    #[arg(long, help_heading = "Context")]
    pub no_commit: bool,
    /// No summaries
    #[arg(long, help_heading = "Context")]
    pub no_summary: bool,
    /// Bound of one summary, in tokens (20 or more)
    #[arg(long, value_name = "N", help_heading = "Context", value_parser = clap::value_parser!(u32).range(20..=100_000))]
    pub summary_max_tokens: Option<u32>,
    /// Bound of what prompts say about earlier iterations and checks, in tokens
    #[arg(long, value_name = "N", help_heading = "Context", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub context_max_tokens: Option<u32>,
    /// A model that writes commit messages: one of the agent's (haiku), or native:MODEL
    #[arg(long, value_name = "MODEL", help_heading = "Context")]
    pub commit_message_model: Option<String>,
    /// A model that writes summaries, likewise
    #[arg(long, value_name = "MODEL", help_heading = "Context")]
    pub summary_model: Option<String>,
    /// What follows the prompt with --no-context
    #[arg(long, value_name = "TEXT", help_heading = "Context")]
    pub loop_prompt: Option<String>,

    /// How it is shown
    #[command(flatten)]
    pub show: Show,
    /// Nobody watches: questions are answered by commands
    #[arg(skip)]
    pub background: bool,
}

impl Exec {
    /// The title of the pull request that is wanted, perhaps empty; none: none is.
    pub fn pull_request(&self) -> Option<&str> {
        self.pr.as_deref().or(self.pr_title.as_deref())
    }

    /// Where the last run of the checks happens.
    pub fn proof_in(&self) -> ProofIn {
        self.proof.unwrap_or_default()
    }
}

/// How a running task is shown.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Show {
    /// Print events as JSON lines and nothing else
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print nothing but errors
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// Who approves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Approval {
    /// The agent's own unattended mode.
    #[default]
    Auto,
    /// Edits are allowed.
    Edits,
    /// A person answers.
    Ask,
    /// Nothing may be changed.
    ReadOnly,
}

impl From<Approval> for dacapo_core::spec::Approval {
    fn from(approval: Approval) -> Self {
        match approval {
            Approval::Auto => Self::Auto,
            Approval::Edits => Self::Edits,
            Approval::Ask => Self::Ask,
            Approval::ReadOnly => Self::ReadOnly,
        }
    }
}

/// Where the last run of the checks happens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ProofIn {
    /// In a checkout of the commit to which no agent writes.
    #[default]
    Checkout,
    /// Nowhere: what passed in the workspace is taken as it is, unproven.
    Workspace,
}

impl From<ProofIn> for dacapo_core::spec::ProofAt {
    fn from(proof: ProofIn) -> Self {
        match proof {
            ProofIn::Checkout => Self::Checkout,
            ProofIn::Workspace => Self::Workspace,
        }
    }
}

/// How sessions go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Session {
    /// A new one each iteration.
    Fresh,
    /// The same one.
    Resume,
}

/// Flags of `list`.
#[derive(Debug, Args)]
pub struct List {
    /// Tasks of all repositories
    #[arg(long)]
    pub all: bool,
    /// Show each task that needs nothing any more, not only how many they are
    #[arg(long)]
    pub done: bool,
    /// Measure now what each task takes on disk
    #[arg(long)]
    pub size: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A command about one task.
#[derive(Debug, Args)]
pub struct TaskArgs {
    /// The task; the latest of this repository if not given
    pub name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `logs`.
#[derive(Debug, Args)]
pub struct Logs {
    /// The task; the latest of this repository if not given
    pub name: Option<String>,
    /// Go on until the task ends
    #[arg(short, long)]
    pub follow: bool,
    /// What the agent printed in turn N (from 0), byte for byte
    #[arg(long, value_name = "N", conflicts_with_all = ["follow", "json", "check", "since"])]
    pub turn: Option<u32>,
    /// What agents wrote to standard error; with --turn N in that turn alone
    #[arg(long, conflicts_with_all = ["follow", "json", "check", "since"])]
    pub stderr: bool,
    /// What the N-th run of a check (from 1) printed, byte for byte
    #[arg(long, value_name = "N", conflicts_with_all = ["follow", "json", "since"])]
    pub check: Option<u32>,
    /// Only the last LINES lines
    #[arg(short = 'n', long, value_name = "LINES")]
    pub lines: Option<usize>,
    /// Only what happened since then: 10m ago, 14:05 or 2026-11-16T14:05
    #[arg(long, value_name = "D|TIME", value_parser = since::parse)]
    pub since: Option<jiff::Timestamp>,
    /// Print the events as JSON lines
    #[arg(long)]
    pub json: bool,
}

/// Flags of `diff`.
#[derive(Debug, Args)]
pub struct Diff {
    /// The task; the latest of this repository if not given
    pub name: Option<String>,
    /// Only one iteration (from 1, as people count)
    #[arg(long, value_name = "N")]
    pub iteration: Option<u32>,
    /// Only file names and sizes
    #[arg(long)]
    pub stat: bool,
    /// Print changed files as JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `resume`.
#[derive(Debug, Args)]
pub struct Resume {
    /// The tasks (a,b); the latest of this repository if not given
    #[arg(value_name = "NAME[,NAME…]")]
    pub name: Option<String>,
    /// What to add to the task
    pub prompt: Vec<String>,
    /// N more iterations
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub iter: Option<String>,
    /// From now on the last run of the checks happens there: in a checkout of the commit, or nowhere
    #[arg(long, value_name = "WHERE", value_enum)]
    pub proof: Option<ProofIn>,
    /// In the background, also a task that was started in the foreground
    #[arg(long)]
    pub spawn: bool,
    /// How it is shown
    #[command(flatten)]
    pub show: Show,
}
