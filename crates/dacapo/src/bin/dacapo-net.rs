//! All that needs HTTP, TLS or an async runtime; `dacapo` becomes this program where it is asked for that.

use std::process::ExitCode;

fn main() -> ExitCode {
    dacapo::net::main()
}
