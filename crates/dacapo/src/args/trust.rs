//! Flags of `trust`.

use clap::Args;

/// Flags of `trust`.
#[derive(Debug, Args)]
#[command(
    after_help = "A repository's settings that run something or name an address or a key, its prompts, and its milestones that start
automatically are used only after you have confirmed them. If they change, you are asked again.
In scripts, DACAPO_TRUST=HASH confirms exactly one content; --list shows the hash."
)]
pub struct Trust {
    /// Confirm without asking; everything is still shown
    #[arg(long, short, conflicts_with_all = ["list", "revoke"])]
    pub yes: bool,
    /// Show what there is and what is confirmed, and confirm nothing
    #[arg(long, conflicts_with = "revoke")]
    pub list: bool,
    /// Take back everything that was confirmed for this repository, or only HASH
    #[arg(long, value_name = "HASH", num_args = 0..=1)]
    pub revoke: Option<Option<String>>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
