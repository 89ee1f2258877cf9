//! Flags of `trust`.

use clap::Args;

/// Flags of `trust`.
#[derive(Debug, Args)]
#[command(
    after_help = "What a repository brings runs, or is told to agents, only after you confirmed it: settings of .dacapo/config.toml that run
something or name an address or a key, prompts, milestones that start by themselves. Any change of it asks again.
Where nobody can be asked, DACAPO_TRUST=HASH confirms exactly one content; the refusal and --list name the hash."
)]
pub struct Trust {
    /// Confirm without asking; all of it is shown all the same
    #[arg(long, short, conflicts_with_all = ["list", "revoke"])]
    pub yes: bool,
    /// Only show what there is, and what of it is confirmed
    #[arg(long, conflicts_with = "revoke")]
    pub list: bool,
    /// Take back all that was confirmed for this repository, or what has this hash
    #[arg(long, value_name = "HASH", num_args = 0..=1)]
    pub revoke: Option<Option<String>>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
