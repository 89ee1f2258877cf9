//! `dacapo rehearsal`: scripts for the built-in agent.

use dacapo_app::messages::say;

use crate::args::RehearsalCommand;
use crate::commands::Console;
use crate::error::Failure;
use crate::rehearsal;

pub(super) fn run(app: &Console, command: &RehearsalCommand) -> Result<u8, Failure> {
    match command {
        RehearsalCommand::Check { script } => {
            let checked = rehearsal::check(script)
                .map_err(|error| Failure::usage(error.told()).hint(say(|m| m.rehearsal_example_prints())))?;
            let iterations = app.messages.iterations(checked.iterations.len() as u64);
            app.print(&app.messages.rehearsal_fine(&script.display().to_string(), &iterations));
        }
        RehearsalCommand::Example => app.print(rehearsal::EXAMPLE.trim_end()),
        RehearsalCommand::Schema => {
            app.print(&serde_json::to_string_pretty(&rehearsal::schema()).unwrap_or_default());
        }
    }
    Ok(0)
}
