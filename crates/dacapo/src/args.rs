//! The command line. The doc comments are the help.

use dacapo_app::operations::diff::DiffPart;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod again;
mod alias;
mod asked;
pub mod completions;
mod concealed;
mod env;
mod exec;
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
pub use alias::{meant, spawn_flags};
pub(crate) use concealed::conceal;
pub use exec::Exec;
pub use front_door::{as_command, names_a_command, not_a_prompt, want_json};
pub use help::{page as help_page, wants_all as wants_all_help};
pub use init::Init;
pub use interactive::{Attach, Takeover};
pub use lifecycle::{Drop, Prune, Rename, Undo};
pub use merge::Merge;
pub use outside::{Notify, NotifyCommand, Open, Pr};
pub use setup::{Config, ConfigCommand, Demo, Doctor, Man, Rehearsal, RehearsalCommand};
pub use tasks::{Approve, Kill, Pause, Reject, Set, Spawn, Tell, Wait};

/// What stands for `dacapo "PROMPT"` among the commands.
pub const PROMPT: &str = front_door::COMMAND;

/// Run a coding agent in a loop until your checks prove the work is done.
#[derive(Debug, Parser)]
#[command(name = "dacapo", version, propagate_version = true, arg_required_else_help = true)]
#[command(help_template = help::PAGE)]
#[command(override_usage = "dacapo [SPAWN OPTIONS] \"PROMPT\"\n       dacapo [OPTIONS] <COMMAND>")]
#[command(
    after_help = "dacapo \"fix the failing tests\" runs an agent in the background, in its own worktree, and shows its progress.
dacapo alone opens the terminal app. To try Dacapo for free, without an agent: dacapo demo
What the symbols mean: dacapo help symbols"
)]
pub struct Cli {
    /// Run as if started in DIR
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true, display_order = 900)]
    pub directory: Option<PathBuf>,
    /// Use colours: auto, always, never
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
    /// Run an agent in the background, in a separate worktree, with good defaults, and show it
    #[command(name = front_door::COMMAND, hide = true, override_usage = "dacapo [OPTIONS] \"PROMPT\"")]
    Prompt(Box<Spawn>),
    /// Run an agent in this repository, once or in a loop, in the foreground
    #[command(visible_alias = "run")]
    Exec(Box<Exec>),
    /// Run an agent in the background, in a separate worktree; it keeps running when you close the terminal
    Spawn(Box<Spawn>),
    /// Start a task again under a new name
    Rerun(Box<Rerun>),
    /// Plan larger work as milestones; one agent builds, another judges until it is accepted
    #[command(visible_alias = "ms")]
    Milestone(milestone::Milestone),
    /// Show the tasks of this repository
    #[command(visible_aliases = ["ls", "ps"])]
    List(List),
    /// Show what a task did, what is proven and what it cost
    #[command(visible_alias = "show")]
    Status(TaskArgs),
    /// Show a task's log
    #[command(visible_alias = "log")]
    Logs(Logs),
    /// Watch a running task as if it ran here; Ctrl-C asks what to do
    Attach(Attach),
    /// Work in the agent's own interactive session; the loop goes on when you leave it
    Takeover(Takeover),
    /// Show what a task changed
    Diff(Diff),
    /// Wait for tasks to end, and exit with the first exit code that is not 0
    Wait(Wait),
    /// Continue a task that is not running
    Resume(Resume),
    /// End a running task, its agent and everything it started; its work is committed
    #[command(visible_alias = "stop")]
    Kill(Kill),
    /// Pause running tasks after the current iteration
    Pause(Pause),
    /// Give a task an instruction, from its next iteration on
    Tell(Tell),
    /// Change a task's limits, even while it runs
    Set(Set),
    /// Answer yes to a task's question
    Approve(Approve),
    /// Answer no to a task's question
    Reject(Reject),
    /// Merge tasks into the current branch, if the checks pass on the result
    Merge(Box<Merge>),
    /// Rename a task, its worktree and its branch
    Rename(Rename),
    /// Remove a task with its worktree and branch; `undo` brings it back
    #[command(visible_alias = "rm")]
    Drop(Drop),
    /// Bring back what `drop` or `merge` removed
    Undo(Undo),
    /// Push a task's branch and open a pull request
    Pr(Pr),
    /// Open a task's files in your editor
    Open(Open),
    /// Try out notifications
    Notify(Notify),
    /// Remove worktrees of merged tasks, and what was dropped long ago
    Prune(Prune),
    /// Create .dacapo/ in this repository: settings, milestones, prompts, memory
    Init(Init),
    /// Show the settings and where each comes from, or change them
    Config(Config),
    /// Show what this repository would run on your machine, and confirm it
    Trust(trust::Trust),
    /// Show which agents you can use, who pays for them, and what is missing
    Doctor(Doctor),
    /// Run a whole loop with a scripted agent in a scratch repository: free, and done in seconds
    Demo(Demo),
    /// Check or print scripts for the built-in agent `rehearsal`
    Rehearsal(Rehearsal),
    /// Print the script that completes commands, tasks and agents in your shell
    Completions(completions::Completions),
    /// Print the manual page of a command, or write all of them
    Man(Man),
}

/// How a running task is shown.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Show {
    /// Print JSON, one object per line
    #[arg(long)]
    pub json: bool,
    /// Print only errors
    #[arg(short, long, hide_short_help = true)]
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

/// What the agent may do to tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TestsIn {
    /// Change them, but the work must also pass with them as they were.
    Original,
    /// Nothing: they are put back before every commit.
    Locked,
    /// Change them.
    Free,
}

impl From<TestsIn> for dacapo_core::spec::TestsMode {
    fn from(tests: TestsIn) -> Self {
        match tests {
            TestsIn::Original => Self::Original,
            TestsIn::Locked => Self::Locked,
            TestsIn::Free => Self::Free,
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
    /// Show the tasks of all repositories
    #[arg(long)]
    pub all: bool,
    /// Show every task that is done, not only their number
    #[arg(long)]
    pub done: bool,
    /// Measure how much disk each task uses
    #[arg(long)]
    pub size: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A command about one task.
#[derive(Debug, Args)]
pub struct TaskArgs {
    /// The task [default: the latest of this repository]
    pub name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `logs`.
#[derive(Debug, Args)]
pub struct Logs {
    /// The task [default: the latest of this repository]
    pub name: Option<String>,
    /// Keep showing new lines until the task ends
    #[arg(short, long)]
    pub follow: bool,
    /// Print what the agent printed in turn N (from 0), byte for byte
    #[arg(long, value_name = "N", conflicts_with_all = ["follow", "json", "check", "since"])]
    pub turn: Option<u32>,
    /// Print what agents wrote to standard error; with --turn N, only in that turn
    #[arg(long, conflicts_with_all = ["follow", "json", "check", "since"])]
    pub stderr: bool,
    /// Print what the N-th run of a check (from 1) printed, byte for byte
    #[arg(long, value_name = "N", conflicts_with_all = ["follow", "json", "since"])]
    pub check: Option<u32>,
    /// Show only the last LINES lines
    #[arg(short = 'n', long, value_name = "LINES")]
    pub lines: Option<usize>,
    /// Show only what happened since then: 10m (ago), 14:05 or 2026-11-16T14:05
    #[arg(long, value_name = "D|TIME", value_parser = since::parse)]
    pub since: Option<jiff::Timestamp>,
    /// Print the events as JSON, one per line
    #[arg(long)]
    pub json: bool,
}

/// Flags of `diff`.
#[derive(Debug, Args)]
pub struct Diff {
    /// The task [default: the latest of this repository]
    pub name: Option<String>,
    /// Show only this iteration (from 1)
    #[arg(long, value_name = "N")]
    pub iteration: Option<u32>,
    /// Show only the tests, settings and scripts that judge the work
    #[arg(long, conflicts_with = "iteration")]
    pub tests: bool,
    /// Show only file names and sizes
    #[arg(long)]
    pub stat: bool,
    /// Print the changed files as JSON
    #[arg(long)]
    pub json: bool,
}

impl Diff {
    /// What of the changes is asked for.
    pub fn part(&self) -> DiffPart {
        match self.iteration {
            Some(number) => DiffPart::Iteration(number),
            None if self.tests => DiffPart::Tests,
            None => DiffPart::All,
        }
    }
}

/// Flags of `resume`.
#[derive(Debug, Args)]
pub struct Resume {
    /// The tasks, as a,b [default: the latest of this repository]
    #[arg(value_name = "NAME[,NAME…]")]
    pub name: Option<String>,
    /// What the task should do in addition
    pub prompt: Vec<String>,
    /// Run N more iterations
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub iter: Option<String>,
    /// Where the checks run last from now on: in a checkout of the commit, or in the workspace
    #[arg(long, value_name = "WHERE", value_enum)]
    pub proof: Option<ProofIn>,
    /// Continue in the background, even if the task was started in the foreground
    #[arg(long)]
    pub spawn: bool,
    /// How it is shown
    #[command(flatten)]
    pub show: Show,
}
