//! Flags of the commands that reach beyond the repository: the editor, notifications.

use clap::{Args, Subcommand};

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
