//! The `dacapo` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    if args.first().is_some_and(|word| word == dacapo_core::process::guard::ARGUMENT) {
        dacapo_core::process::guard::main();
    }
    dacapo::rehearsal::dispatch(&args).unwrap_or(ExitCode::SUCCESS)
}
