//! The flags of `merge`.

use clap::Args;

use super::Show;

/// Flags of `merge`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dacapo merge auth                        into the current branch
  dacapo merge auth,docs,tests --dry-run   show what would happen, in this order
  dacapo merge --ready                     all tasks that are proven
  dacapo merge auth \"keep both flags\"      an agent merges it, with this in mind")]
pub struct Merge {
    /// The tasks, in the order in which they are merged
    #[arg(value_name = "NAME[,NAME…]")]
    pub names: Option<String>,
    /// Instructions for an agent to do the merge; without them, an agent only resolves conflicts
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// Merge all tasks that are proven and ready, the oldest first
    #[arg(long, conflicts_with_all = ["names", "query"])]
    pub ready: bool,
    /// Make one new commit for each task, without its history
    #[arg(long)]
    pub squash: bool,
    /// Merge commits that hold the value of a secret, too
    #[arg(long)]
    pub allow_secret: bool,
    /// Show what would happen; exit with 1 if there are conflicts and no agent to resolve them
    #[arg(long)]
    pub dry_run: bool,

    /// Agent that resolves conflicts [default: the task's own agent]
    #[arg(long, value_name = "NAME", help_heading = "Agent", conflicts_with = "agent_cmd")]
    pub agent: Option<String>,
    /// Use any command as the agent: prompt on stdin, plain text out
    #[arg(long, value_name = "CMD", help_heading = "Agent")]
    pub agent_cmd: Option<String>,
    /// Model that the agent should use
    #[arg(long, help_heading = "Agent")]
    pub model: Option<String>,
    /// Use no agent: leave out tasks that have conflicts
    #[arg(long, help_heading = "Agent", conflicts_with_all = ["agent", "agent_cmd", "model", "query"])]
    pub no_agent: bool,

    /// How it is shown
    #[command(flatten)]
    pub show: Show,
}
