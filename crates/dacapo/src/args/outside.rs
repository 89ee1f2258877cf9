//! Flags of the commands that reach beyond the repository: pull requests, the editor, notifications.

use clap::{Args, Subcommand};

/// Flags of `pr`.
#[derive(Debug, Default, Args)]
#[command(
    after_help = "The pull request is opened with gh, glab or tea, depending on the remote's host or on [pr] cli in the config.
Without such a program, the branch is pushed and the command to run is shown."
)]
pub struct Pr {
    /// The task [default: the latest of this repository]
    pub name: Option<String>,
    /// Title of the pull request [default: that of --pr=TITLE, or else the first line of the prompt]
    #[arg(long, allow_hyphen_values = true)]
    pub title: Option<String>,
    /// Branch to merge into [default: the branch the task started from]
    #[arg(long, value_name = "BRANCH")]
    pub base: Option<String>,
    /// Open it as a draft
    #[arg(long)]
    pub draft: bool,
    /// Push commits that hold the value of a secret, too
    #[arg(long)]
    pub allow_secret: bool,
    /// Show what would be pushed and opened, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `open`.
#[derive(Debug, Args)]
#[command(
    after_help = "The editor is `editor` in the config, or else $VISUAL, $EDITOR, or one that is installed.
To go there in a shell: cd \"$(dacapo open NAME --print)\""
)]
pub struct Open {
    /// The task [default: the latest of this repository]
    pub name: Option<String>,
    /// Print the directory, and open nothing
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
    /// Send a test notification in every configured way, and show whether it worked
    Test {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
