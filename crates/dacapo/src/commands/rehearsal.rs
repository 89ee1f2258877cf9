//! `dacapo rehearsal`: scripts for the built-in agent.

use super::print;
use crate::args::RehearsalCommand;
use crate::error::Failure;
use crate::rehearsal;

pub(super) fn run(command: &RehearsalCommand) -> Result<u8, Failure> {
    match command {
        RehearsalCommand::Check { script } => {
            let checked = rehearsal::check(script).map_err(|error| {
                Failure::usage(error.to_string())
                    .hint("dacapo rehearsal example prints a script with every step")
            })?;
            print(&format!("{} is fine: {} iterations", script.display(), checked.iterations.len()));
        }
        RehearsalCommand::Example => print(rehearsal::EXAMPLE.trim_end()),
        RehearsalCommand::Schema => {
            print(&serde_json::to_string_pretty(&rehearsal::schema()).unwrap_or_default());
        }
    }
    Ok(0)
}
