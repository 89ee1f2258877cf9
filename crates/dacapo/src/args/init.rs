//! Flags of `init`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `init`.
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing that is there is overwritten, and nothing is added to git. It can be run again at any time."
)]
pub struct Init {
    /// Take over what a .anima directory holds: milestones and what came of them, soul, vision, memory
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".anima")]
    pub import: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
