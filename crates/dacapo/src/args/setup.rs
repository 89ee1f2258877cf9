//! Arguments of the commands that set Dacapo up and explain it.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Show;

/// `config` and what can be done with it.
#[derive(Debug, Args)]
pub struct Config {
    /// What to do
    #[command(subcommand)]
    pub command: Option<ConfigCommand>,
}

/// What can be done with the settings.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show every setting, its value and where it comes from
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Set one setting in your config file; the rest of the file stays as it is
    #[command(
        after_help = "KEY is written as `dacapo config show` prints it: spawn_task.max_concurrent, prices.\"gpt-5.5\".input
A list is a TOML array; anything else is its only item. A table is an inline one:
  dacapo config set agent claude,codex
  dacapo config set checks '[\"cargo test\", \"cargo clippy\"]' --project
  dacapo config set prices.my-model '{ input = 0.5, output = 2.0 }'"
    )]
    /// Change a setting in your config file; the rest of the file stays as it is
    Set {
        /// The setting
        key: String,
        /// Its new value
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Change the project's settings (.dacapo/config.toml)
        #[arg(long)]
        project: bool,
    },
    /// Remove a setting, or a whole table, from your config file
    Unset {
        /// The setting
        key: String,
        /// Change the project's settings (.dacapo/config.toml)
        #[arg(long)]
        project: bool,
    },
    /// Open your settings in your editor, and check them afterwards
    Edit {
        /// Edit the project's settings (.dacapo/config.toml)
        #[arg(long)]
        project: bool,
    },
    /// Print the JSON Schema of config.toml, for editors
    Schema,
    /// Print where the config files are
    Path,
}

/// Flags of `doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Check only these agents
    #[arg(value_name = "AGENT")]
    pub agents: Vec<String>,
    /// Run one short, real turn with each agent; this costs a little
    #[arg(long)]
    pub probe: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Keep the scratch repository
    #[arg(long)]
    pub keep: bool,
    /// How it is shown
    #[command(flatten)]
    pub show: Show,
}

/// `rehearsal` and what can be done with it.
#[derive(Debug, Args)]
pub struct Rehearsal {
    /// What to do
    #[command(subcommand)]
    pub command: RehearsalCommand,
}

/// What can be done with rehearsal scripts.
#[derive(Debug, Subcommand)]
pub enum RehearsalCommand {
    /// Check a script without running it
    Check {
        /// The script
        script: PathBuf,
    },
    /// Print an example in which every step is explained
    Example,
    /// Print the JSON Schema of scripts, for editors
    Schema,
}

/// Flags of `man`.
#[derive(Debug, Args)]
#[command(after_help = "Read one:        dacapo man spawn | man -l -
Install them:    dacapo man --out ~/.local/share/man/man1")]
pub struct Man {
    /// The command, for example: spawn, or milestone start
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    pub command: Vec<String>,
    /// Write the pages of all commands into this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}
