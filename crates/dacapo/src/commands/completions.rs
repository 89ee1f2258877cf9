//! `dacapo completions`.

use crate::args::completions::Completions;
use crate::commands::Console;
use crate::completion;
use crate::error::Failure;

pub(super) fn run(app: &Console, args: &Completions) -> Result<u8, Failure> {
    let script = completion::script(args.shell).map_err(|error| Failure::failed(error.to_string()))?;
    app.print(script.trim());
    Ok(0)
}
