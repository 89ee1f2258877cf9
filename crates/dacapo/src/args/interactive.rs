//! Arguments of the commands that work at a terminal: `attach` and `takeover`.

use clap::Args;

use super::Show;

/// Flags of `attach`.
#[derive(Debug, Args)]
pub struct Attach {
    /// The task; the latest of this repository if not given
    pub name: Option<String>,
    /// How it is shown
    #[command(flatten)]
    pub show: Show,
}

/// Flags of `takeover`.
#[derive(Debug, Args)]
pub struct Takeover {
    /// The task; the latest of this repository if not given
    pub name: Option<String>,
    /// Leave the task as it is afterwards
    #[arg(long)]
    pub no_resume: bool,
}
