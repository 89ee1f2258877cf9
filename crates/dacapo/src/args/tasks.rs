//! Arguments of the commands about tasks that run in the background.

use clap::Args;

use super::Exec;

/// Flags of a loop, refused with `--milestone`: its file and the settings say these things, and a limit that is not held must not be
/// taken. A new flag that a milestone ignores belongs here.
const OF_A_LOOP: [&str; 38] = [
    "prompt",
    "prompt_file",
    "issue",
    "dry_run",
    "env",
    "name",
    "agent",
    "agent_cmd",
    "model",
    "approval",
    "session",
    "iter",
    "time",
    "max_iterations",
    "max_failures",
    "stall",
    "max_cost",
    "max_tokens",
    "turn_timeout",
    "idle_timeout",
    "max_wait",
    "until",
    "check_timeout",
    "no_baseline",
    "base",
    "with_changes",
    "allow_dirty",
    "pr_title",
    "plan",
    "no_plan",
    "no_context",
    "no_commit",
    "no_summary",
    "summary_max_tokens",
    "context_max_tokens",
    "commit_message_model",
    "summary_model",
    "loop_prompt",
];

/// Flags of `spawn`: those of `exec`, with a worktree unless it is not wanted.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dacapo spawn --iter 5 \"improve the docs\"               five iterations
  dacapo spawn --checks --name tests \"fix the tests\"     until the project's checks pass
For all flags (approval, proofs, context, more limits): dacapo spawn --help=all")]
pub struct Spawn {
    /// What is asked for
    #[command(flatten)]
    pub exec: Exec,
    /// Run this milestone instead of a prompt
    #[arg(long, value_name = "ID", conflicts_with_all = OF_A_LOOP)]
    pub milestone: Option<String>,
}

/// Flags of `kill`.
#[derive(Debug, Args)]
pub struct Kill {
    /// The tasks, as a,b
    #[arg(value_name = "NAME", required = true, value_delimiter = ',')]
    pub names: Vec<String>,
    /// Ask first, if there is a terminal (as `dacapo stop` does)
    #[arg(long)]
    pub ask: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `wait`.
#[derive(Debug, Args)]
#[command(after_help = "The exit code is that of the task; with several tasks, the first one that is not 0.")]
pub struct Wait {
    /// The tasks, as a,b [default: the latest of this repository]
    #[arg(value_name = "NAME", value_delimiter = ',')]
    pub names: Vec<String>,
    /// Wait only until the first of them has ended, and exit with its exit code
    #[arg(long)]
    pub any: bool,
    /// Print JSON, one object per task
    #[arg(long)]
    pub json: bool,
}

/// Flags of `pause`.
#[derive(Debug, Args)]
pub struct Pause {
    /// The tasks, as a,b
    #[arg(value_name = "NAME", required = true, value_delimiter = ',')]
    pub names: Vec<String>,
    /// Stop the current iteration now; what it did is committed
    #[arg(long)]
    pub now: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tell`.
#[derive(Debug, Args)]
pub struct Tell {
    /// The task
    pub name: String,
    /// What every iteration from the next on is told; `-` reads it from standard input
    #[arg(required_unless_present = "clear")]
    pub text: Vec<String>,
    /// Tell only the next iteration
    #[arg(long)]
    pub once: bool,
    /// Take back everything that was told
    #[arg(long, conflicts_with_all = ["text", "once"])]
    pub clear: bool,
}

/// Flags of `set`.
#[derive(Debug, Args)]
#[command(
    after_help = "Limits of a loop: iter, time, max-cost, max-tokens, max-failures, stall, turn-timeout, idle-timeout, max-wait.
Limits of a milestone: rounds, rejections, call-timeout, time, max-cost, max-tokens, max-failures, idle-timeout,
max-wait. With a plus sign (iter=+5), iter, time, max-cost, max-tokens, rounds and rejections are raised by that much."
)]
pub struct Set {
    /// The task
    pub name: String,
    /// Limits and their new values: iter=20, max-cost=+5, time=8h
    #[arg(required = true, value_name = "KEY=VALUE")]
    pub changes: Vec<String>,
}

/// Flags of `approve`.
#[derive(Debug, Args)]
pub struct Approve {
    /// The task
    pub name: String,
    /// The number of your choice; in a milestone, a finding to settle: R3
    #[arg(value_name = "CHOICE", value_parser = super::milestone::finding)]
    pub choice: Option<u32>,
}

/// Flags of `reject`.
#[derive(Debug, Args)]
pub struct Reject {
    /// The task
    pub name: String,
    /// What is wrong; the agent is told
    pub reason: Vec<String>,
}
