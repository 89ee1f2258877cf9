//! The flags of commands that move tasks, put them away and bring them back.

use clap::Args;

/// Flags of `rename`.
#[derive(Debug, Args)]
#[command(
    after_help = "The branch becomes dacapo/NEW and the worktree is moved, too. What was proven stays proven.
If a rename is interrupted, the next command that names the task finishes it."
)]
pub struct Rename {
    /// The task
    #[arg(value_name = "OLD")]
    pub name: String,
    /// Its new name
    #[arg(value_name = "NEW")]
    pub new_name: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `drop`.
#[derive(Debug, Args)]
pub struct Drop {
    /// The tasks, as a,b
    #[arg(value_name = "NAME", required = true, value_delimiter = ',')]
    pub names: Vec<String>,
    /// Print what was dropped as JSON, one object per line
    #[arg(long)]
    pub json: bool,
}

/// Flags of `undo`.
#[derive(Debug, Args)]
pub struct Undo {
    /// The task, or an id from --list [default: what was removed last]
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
    after_help = "This removes worktrees of merged tasks, dropped tasks that are merged or older than 30 days, and checkouts for
proofs that were not used for 7 days (or for D). What git can keep is first kept under refs/dacapo/rescue/NAME/."
)]
pub struct Prune {
    /// Show what would be removed, and remove nothing
    #[arg(long, short = 'n')]
    pub dry_run: bool,
    /// Remove only what is older than D (12h, 30d)
    #[arg(long, value_name = "D")]
    pub older_than: Option<String>,
    /// Remove everything that was dropped, merged or not
    #[arg(long)]
    pub dropped: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
