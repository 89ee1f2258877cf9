//! `dacapo completions`.

use super::print;
use crate::args::completions::Completions;
use crate::completion;
use crate::error::Failure;

pub(super) fn run(args: &Completions) -> Result<u8, Failure> {
    let script = completion::script(args.shell).map_err(|error| Failure::failed(error.to_string()))?;
    print(script.trim());
    Ok(0)
}
