//! The flags of commands that move tasks, put them away and bring them back.

use clap::Args;

/// Flags of `rename`.
#[derive(Debug, Args)]
#[command(
    after_help = "Its branch becomes dacapo/NEW, its worktree moves along, and OLD is free again. What was proven stays proven.
A rename that was cut short is finished by the next command that names the task."
)]
pub struct Rename {
    /// The task
    #[arg(value_name = "OLD")]
    pub name: String,
    /// The name it gets
    #[arg(value_name = "NEW")]
    pub new_name: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `drop`.
#[derive(Debug, Args)]
pub struct Drop {
    /// The tasks: a,b
    #[arg(value_name = "NAME", required = true, value_delimiter = ',')]
    pub names: Vec<String>,
    /// Print what was dropped as JSON lines
    #[arg(long)]
    pub json: bool,
}

/// Flags of `undo`.
#[derive(Debug, Args)]
pub struct Undo {
    /// The task, or an id of --list; what was put away last if not given
    pub name: Option<String>,
    /// Show what can be brought back
    #[arg(long, conflicts_with = "name")]
    pub list: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `prune`.
#[derive(Debug, Args)]
#[command(
    after_help = "Worktrees of merged tasks go, and of what was dropped all that is merged or older than 30 days.
Proof checkouts go that no proof has used for 7 days (or for D); the next proof makes another.
What git can keep of it is under refs/dacapo/rescue/NAME/ first. Nothing else goes unless it is asked for."
)]
pub struct Prune {
    /// Show what would go, and remove nothing
    #[arg(long, short = 'n')]
    pub dry_run: bool,
    /// Only what is older than D (12h, 30d)
    #[arg(long, value_name = "D")]
    pub older_than: Option<String>,
    /// All that was dropped, merged or not
    #[arg(long)]
    pub dropped: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
