//! The agent `native`; `dacapo __native` becomes this program.

use std::process::ExitCode;

fn main() -> ExitCode {
    dacapo::native::main()
}
