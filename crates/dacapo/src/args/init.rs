//! Flags of `init`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `init`.
#[derive(Debug, Args)]
#[command(
    after_help = "Existing files are never overwritten, and nothing is added to git. You can run it again at any time."
)]
pub struct Init {
    /// Import a .anima directory: milestones and their results, soul, vision, memory
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".anima")]
    pub import: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
