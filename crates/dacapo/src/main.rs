//! The `dacapo` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    dacapo::main()
}
