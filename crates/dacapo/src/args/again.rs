//! Arguments of `rerun`.

use clap::{Arg, Args};

use super::Exec;

/// Flags of `rerun`.
#[derive(Debug, Args)]
#[command(
    mut_args(as_recorded),
    after_help = "Prompt, plan, agent, checks and limits are those of the task, unless a flag changes them. --check replaces all
checks, --env only the variable it names. The new task starts from the current commit, in the foreground
or background like the old one. Secrets of --env are not stored: give them again.

Examples:
  dacapo rerun fix-login                          the same again
  dacapo rerun fix-login --agent codex --iter 3   with another agent, three iterations
All flags: dacapo rerun --help=all"
)]
pub struct Rerun {
    /// The task to start again
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
        "prompt" => arg.help("A different prompt; `-` reads it from standard input"),
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
