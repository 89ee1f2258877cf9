//! Arguments of `rerun`.

use clap::Args;

use super::Show;

/// Flags of `rerun`.
#[derive(Debug, Args)]
#[command(
    after_help = "What no flag says is as it was: prompt, plan, agent, checks, limits. It starts from the current commit, and
runs as it did: `exec` in the foreground, `spawn` in the background. Secrets of --env are not stored: give them again."
)]
pub struct Rerun {
    /// The task whose request it is
    pub name: String,
    /// Name of the new task [default: NAME-2]
    #[arg(long = "name", id = "new_name", value_name = "NEW", allow_hyphen_values = true)]
    pub new_name: Option<String>,
    /// Only show what would run
    #[arg(long)]
    pub dry_run: bool,

    /// Another agent
    #[arg(long, value_name = "NAME", help_heading = "Agent", conflicts_with = "agent_cmd")]
    pub agent: Option<String>,
    /// Any command as agent
    #[arg(long, value_name = "CMD", help_heading = "Agent")]
    pub agent_cmd: Option<String>,
    /// Another model
    #[arg(long, help_heading = "Agent")]
    pub model: Option<String>,

    /// Run N iterations
    #[arg(long, value_name = "N", help_heading = "How long", allow_hyphen_values = true)]
    pub iter: Option<String>,
    /// Start no iteration after D
    #[arg(long, value_name = "D", help_heading = "How long", allow_hyphen_values = true)]
    pub time: Option<String>,
    /// Spend at most so much
    #[arg(long, value_name = "USD", help_heading = "How long", allow_hyphen_values = true)]
    pub max_cost: Option<String>,
    /// Use at most so many tokens
    #[arg(long, value_name = "N", help_heading = "How long", allow_hyphen_values = true)]
    pub max_tokens: Option<String>,

    /// With a worktree: start from this branch, tag or commit [default: the current commit]
    #[arg(long, value_name = "REF", help_heading = "Where", allow_hyphen_values = true)]
    pub base: Option<String>,
    /// Set a variable for the agent, its checks and the setup (repeatable)
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Where", value_parser = super::env::variable)]
    pub env: Vec<(String, String)>,

    /// How it is shown
    #[command(flatten)]
    pub show: Show,
}
