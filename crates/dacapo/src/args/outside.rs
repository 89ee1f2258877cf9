//! Flags of the commands that reach beyond the repository: pull requests, the editor, notifications.

use clap::{Args, Subcommand};

/// Flags of `pr`.
#[derive(Debug, Default, Args)]
#[command(
    after_help = "The program is chosen by the remote's host (gh, glab, tea) or by [pr] cli in the config.
Without one the branch is pushed and the command to run is shown."
)]
pub struct Pr {
    /// The task; the latest of this repository if not given
    pub name: Option<String>,
    /// Its title [default: that of --pr=TITLE, else the first line of the prompt]
    #[arg(long, allow_hyphen_values = true)]
    pub title: Option<String>,
    /// The branch it goes to [default: the one the task came from]
    #[arg(long, value_name = "BRANCH")]
    pub base: Option<String>,
    /// Not ready yet
    #[arg(long)]
    pub draft: bool,
    /// Only show what would be pushed, opened and written
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `open`.
#[derive(Debug, Args)]
#[command(
    after_help = "The editor is `editor` in the config, else $VISUAL, $EDITOR, or one that is installed.
In a shell: cd \"$(dacapo open NAME --print)\""
)]
pub struct Open {
    /// The task; the latest of this repository if not given
    pub name: Option<String>,
    /// Only print where they are
    #[arg(long)]
    pub print: bool,
}

/// `notify` and what can be done with it.
#[derive(Debug, Args)]
pub struct Notify {
    /// What to do
    #[command(subcommand)]
    pub command: NotifyCommand,
}

/// What can be done with notifications.
#[derive(Debug, Subcommand)]
pub enum NotifyCommand {
    /// Send one by every way that is set, and say what came of it
    Test {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
