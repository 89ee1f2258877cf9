//! `dacapo open`: the files of a task in the user's editor.

use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;

use dacapo_app::operations::terminal_plan::TerminalPlan;

use crate::args::{Open, Show};
use crate::commands::Console;
use crate::error::Failure;
use crate::messages::{Messages, say};
use crate::question::asking;

pub(super) fn run(app: &Console, args: &Open) -> Result<u8, Failure> {
    let place = app.files_of(args.name.as_deref())?;
    if args.print {
        // Byte for byte: a shell goes there.
        let mut line = place.as_os_str().as_bytes().to_vec();
        line.push(b'\n');
        app.printer.wrote(std::io::stdout().write_all(&line));
        return Ok(0);
    }
    let plan = asking(app, Show::default(), |answers| app.open_files(&place, answers))?;
    Err(become_editor(app, &plan))
}

/// The editor takes our place, and with it the terminal: what comes back is why it did not.
pub(super) fn become_editor(app: &Console, plan: &TerminalPlan) -> Failure {
    let error = plan.command(app).exec().to_string();
    Failure::failed(say(|m| m.editor_cannot_start(&plan.name, &error))).hint(say(Messages::editor_set_it))
}
