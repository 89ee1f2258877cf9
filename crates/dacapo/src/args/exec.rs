//! Flags of `exec`. Those that are hidden from its page are on that of `--help=all`, and in the manual.

use std::path::PathBuf;

use clap::Args;

use super::{Approval, ProofIn, Session, Show, TestsIn, env};

/// Flags of `exec`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  dacapo exec \"fix the typo\"                             one run
  dacapo exec --check 'cargo test' \"fix the tests\"       until the check passes
  dacapo exec --iter 5 \"improve the docs\"                five iterations
For all flags (approval, proofs, context, more limits): dacapo exec --help=all")]
pub struct Exec {
    /// What the agent should do; `-` reads it from standard input
    #[arg(value_name = "PROMPT")]
    pub prompt: Vec<String>,
    /// Read the prompt from a file
    #[arg(long, value_name = "FILE", conflicts_with = "prompt", hide_short_help = true)]
    pub prompt_file: Option<PathBuf>,
    /// Use the title and text of an issue as the prompt (needs gh, glab or tea)
    #[arg(long, value_name = "N", conflicts_with_all = ["prompt", "prompt_file"], hide_short_help = true)]
    pub issue: Option<u64>,
    /// Show what would run, and start nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Name of the task [default: made from the prompt]
    #[arg(long, allow_hyphen_values = true)]
    pub name: Option<String>,

    /// Agent to use; with several (a,b), the next one takes over at a usage limit
    #[arg(long, value_name = "NAME", help_heading = "Agent", conflicts_with = "agent_cmd")]
    pub agent: Option<String>,
    /// Use any command as the agent: prompt on stdin, plain text out
    #[arg(long, value_name = "CMD", help_heading = "Agent")]
    pub agent_cmd: Option<String>,
    /// Model that the agent should use
    #[arg(long, help_heading = "Agent")]
    pub model: Option<String>,
    /// What the agent may do without asking: auto, edits, ask, read-only [default: auto]
    #[arg(
        long,
        value_name = "POLICY",
        help_heading = "Agent",
        hide_short_help = true,
        hide_possible_values = true
    )]
    pub approval: Option<Approval>,
    /// Start a new conversation each iteration (fresh), or continue the same one (resume)
    #[arg(
        long,
        value_name = "MODE",
        help_heading = "Agent",
        hide_short_help = true,
        hide_possible_values = true
    )]
    pub session: Option<Session>,

    /// Run N iterations
    #[arg(long, value_name = "N", help_heading = "Limits", allow_hyphen_values = true)]
    pub iter: Option<String>,
    /// Start no new iteration after this long: 30s, 5m, 1h30m, 2d
    #[arg(long, value_name = "D", help_heading = "Limits", allow_hyphen_values = true)]
    pub time: Option<String>,
    /// Stop after N iterations even if it is not done (1 to 100) [default: 5]
    #[arg(long, value_name = "N", help_heading = "Limits", allow_hyphen_values = true)]
    pub max_iterations: Option<i64>,
    /// Stop after K failed iterations in a row; 0 means never [default: 10; 0 with --iter or --time alone]
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "K",
        help_heading = "Limits",
        hide_short_help = true
    )]
    pub max_failures: Option<u32>,
    /// Stop after K iterations in a row without progress; 0 means never [default: 3; 0 without --until or checks]
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "K",
        help_heading = "Limits",
        hide_short_help = true
    )]
    pub stall: Option<u32>,
    /// Stop when this much has been spent
    #[arg(long, allow_negative_numbers = true, value_name = "USD", help_heading = "Limits")]
    pub max_cost: Option<f64>,
    /// Stop when this many tokens have been used
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "N",
        help_heading = "Limits",
        hide_short_help = true
    )]
    pub max_tokens: Option<u64>,
    /// End a turn of the agent after this time
    #[arg(long, value_name = "D", help_heading = "Limits", hide_short_help = true)]
    pub turn_timeout: Option<String>,
    /// End a turn that shows no sign of life (output, processor time) for this long [default: 30m]
    #[arg(long, value_name = "D", help_heading = "Limits", hide_short_help = true)]
    pub idle_timeout: Option<String>,
    /// Wait at most this long, in all, for usage limits to end [default: 24h]
    #[arg(long, value_name = "D", help_heading = "Limits", hide_short_help = true)]
    pub max_wait: Option<String>,

    /// Done when the agent says exactly TEXT (a claim, not a proof)
    #[arg(long, value_name = "TEXT", help_heading = "When it is done", alias = "completion-promise")]
    pub until: Option<String>,
    /// Done when CMD succeeds (repeatable: all must succeed)
    #[arg(long, value_name = "CMD", help_heading = "When it is done")]
    pub check: Vec<String>,
    /// Done when the project's checks succeed (`checks` in the config, or detected)
    #[arg(long, help_heading = "When it is done")]
    pub checks: bool,
    /// Prove the commit by CMD as well; the agent sees neither CMD nor its output (repeatable)
    #[arg(long, value_name = "CMD", help_heading = "When it is done", hide_short_help = true)]
    pub hidden_check: Vec<String>,
    /// Time limit for one run of a check [default: 15m]
    #[arg(long, value_name = "D", help_heading = "When it is done", hide_short_help = true)]
    pub check_timeout: Option<String>,
    /// Do not run the checks before the first iteration
    #[arg(long, help_heading = "When it is done", hide_short_help = true)]
    pub no_baseline: bool,
    /// Where the final run of the checks happens: in a clean checkout of the commit, or in the workspace (not a proof) [default:
    /// checkout]
    #[arg(long, value_name = "WHERE", help_heading = "When it is done", value_enum, hide_short_help = true)]
    pub proof: Option<ProofIn>,
    /// What the agent may do to existing tests, test settings and check scripts: change them, but the work must also pass with
    /// them as they were (original); nothing, they are put back (locked); change them (free) [default: original]
    #[arg(long, value_name = "MODE", help_heading = "When it is done", value_enum, hide_short_help = true)]
    pub tests: Option<TestsIn>,

    /// Let the agent change only its worktree, temp, its state and tool caches
    #[arg(long, help_heading = "Where it works")]
    pub sandbox: bool,
    /// Work in a separate worktree, on branch dacapo/NAME
    #[arg(long, help_heading = "Where it works", conflicts_with = "noworktree")]
    pub worktree: bool,
    /// Work in this checkout (the default of exec)
    #[arg(long, help_heading = "Where it works", hide_short_help = true)]
    pub noworktree: bool,
    /// Start the worktree from this branch, tag or commit [default: the current commit]
    #[arg(
        long,
        value_name = "REF",
        help_heading = "Where it works",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub base: Option<String>,
    /// Copy your uncommitted changes into the worktree
    #[arg(long, help_heading = "Where it works", hide_short_help = true)]
    pub with_changes: bool,
    /// Start despite uncommitted changes; they get their own commit first
    #[arg(long, help_heading = "Where it works")]
    pub allow_dirty: bool,
    /// Push the branch and open a pull request when the task is completed
    #[arg(long, value_name = "TITLE", help_heading = "Where it works", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub pr: Option<String>,
    /// `--pr "TITLE WITH SPACES" PROMPT`
    #[arg(long, value_name = "TITLE", hide = true, conflicts_with = "pr", allow_hyphen_values = true)]
    pub pr_title: Option<String>,

    /// Set a variable for the agent, checks and setup (repeatable); secrets are not stored
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Where it works", value_parser = env::variable, hide_short_help = true)]
    pub env: Vec<(String, String)>,

    /// Plan to give with the prompt [default: the newest in .dacapo/plans/ or .claude/plans/]
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Context",
        conflicts_with = "no_plan",
        hide_short_help = true
    )]
    pub plan: Option<PathBuf>,
    /// Use no plan
    #[arg(long, help_heading = "Context", hide_short_help = true)]
    pub no_plan: bool,
    /// Do not tell later iterations what earlier ones did
    #[arg(long, help_heading = "Context", hide_short_help = true)]
    pub no_context: bool,
    /// Do not commit
    #[arg(long, help_heading = "Context", hide_short_help = true)]
    pub no_commit: bool,
    /// Do not write summaries of iterations
    #[arg(long, help_heading = "Context", hide_short_help = true)]
    pub no_summary: bool,
    /// Length of a summary, in tokens (20 or more)
    #[arg(long, value_name = "N", help_heading = "Context", value_parser = clap::value_parser!(u32).range(20..=100_000), hide_short_help = true)]
    pub summary_max_tokens: Option<u32>,
    /// Maximum tokens in a prompt for earlier iterations and checks
    #[arg(long, value_name = "N", help_heading = "Context", value_parser = clap::value_parser!(u32).range(1..=10_000_000), hide_short_help = true)]
    pub context_max_tokens: Option<u32>,
    /// Model that writes commit messages: a model of the agent (e.g. haiku), or native:MODEL
    #[arg(long, value_name = "MODEL", help_heading = "Context", hide_short_help = true)]
    pub commit_message_model: Option<String>,
    /// Model that writes summaries: a model of the agent (e.g. haiku), or native:MODEL
    #[arg(long, value_name = "MODEL", help_heading = "Context", hide_short_help = true)]
    pub summary_model: Option<String>,
    /// Text to append to the prompt if --no-context is given
    #[arg(long, value_name = "TEXT", help_heading = "Context", hide_short_help = true)]
    pub loop_prompt: Option<String>,

    /// How it is shown
    #[command(flatten)]
    pub show: Show,
    /// Nobody watches: questions are answered by commands
    #[arg(skip)]
    pub background: bool,
}

impl Exec {
    /// The title of the pull request that is wanted, perhaps empty; none: none is.
    pub fn pull_request(&self) -> Option<&str> {
        self.pr.as_deref().or(self.pr_title.as_deref())
    }

    /// Where the last run of the checks happens.
    pub fn proof_in(&self) -> ProofIn {
        self.proof.unwrap_or_default()
    }
}
