//! Arguments of `rerun`.

use clap::{Arg, Args};

use super::Exec;

/// Flags of `rerun`.
#[derive(Debug, Args)]
#[command(
    mut_args(as_recorded),
    after_help = "What no flag says is as it was recorded: prompt, plan, agent, checks, limits.
A flag replaces what it names: --check all checks, --env K=V that variable.
It starts from the current commit and runs as it did: `exec` in the foreground,
`spawn` in the background. Secrets of --env are not stored: give them again.

Examples:
  dacapo rerun fix-login                          the same once more
  dacapo rerun fix-login --agent codex --iter 3   with another agent, three times
  dacapo rerun fix-login --dry-run                only show what would run"
)]
pub struct Rerun {
    /// The task whose request it is
    #[arg(id = "task", value_name = "NAME")]
    pub task: String,
    /// What is to be otherwise
    #[command(flatten)]
    pub flags: Exec,
}

/// The defaults of `exec` are not those of a request that was made before.
fn as_recorded(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "name" => arg.help("Name of the new task [default: NAME-2]"),
        "prompt" => arg.help("Another prompt; `-` reads it from standard input"),
        "noworktree" => arg.help("Work in this checkout"),
        // It is as true here.
        "base" => arg,
        _ => {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            match help.split_once(" [default: ") {
                Some((help, _)) => arg.help(help.to_owned()),
                None => arg,
            }
        }
    }
}
