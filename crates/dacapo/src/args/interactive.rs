//! Arguments of the commands that work at a terminal: `attach` and `takeover`.

use clap::Args;

use super::Show;

/// Flags of `attach`.
#[derive(Debug, Args)]
pub struct Attach {
    /// The task [default: the latest of this repository]
    pub name: Option<String>,
    /// How it is shown
    #[command(flatten)]
    pub show: Show,
}

/// Flags of `takeover`.
#[derive(Debug, Args)]
pub struct Takeover {
    /// The task [default: the latest of this repository]
    pub name: Option<String>,
    /// Do not resume the task afterwards
    #[arg(long)]
    pub no_resume: bool,
}
