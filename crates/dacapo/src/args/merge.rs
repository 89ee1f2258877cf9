//! The flags of `merge`.

use clap::Args;

use super::Show;

/// Flags of `merge`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dacapo merge auth                        into the branch that is checked out here
  dacapo merge auth,docs,tests --dry-run   only show what would happen, in this order
  dacapo merge --ready                     all that is proven
  dacapo merge auth \"keep both flags\"      an agent joins them, with this in mind")]
pub struct Merge {
    /// The tasks, in the order in which they are merged
    #[arg(value_name = "NAME[,NAME…]")]
    pub names: Option<String>,
    /// What an agent is to heed when it joins them; without it one is asked only to resolve conflicts
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// All tasks that are proven and ready, the oldest first
    #[arg(long, conflicts_with_all = ["names", "query"])]
    pub ready: bool,
    /// One new commit a task, without its history
    #[arg(long)]
    pub squash: bool,
    /// Only show what would happen; exit 1 if something conflicts and no agent is at hand
    #[arg(long)]
    pub dry_run: bool,

    /// Who resolves conflicts: a name from the config [default: the task's own agent]
    #[arg(long, value_name = "NAME", help_heading = "Agent", conflicts_with = "agent_cmd")]
    pub agent: Option<String>,
    /// Any command as agent: run by `sh -c`, prompt on stdin, plain text out
    #[arg(long, value_name = "CMD", help_heading = "Agent")]
    pub agent_cmd: Option<String>,
    /// The model the agent is to use
    #[arg(long, help_heading = "Agent")]
    pub model: Option<String>,
    /// Nobody resolves conflicts: a task that has some is left out
    #[arg(long, help_heading = "Agent", conflicts_with_all = ["agent", "agent_cmd", "model", "query"])]
    pub no_agent: bool,

    /// How it is shown
    #[command(flatten)]
    pub show: Show,
}
