//! `dacapo-net`, the program beside `dacapo` for all that needs HTTP, TLS or an async runtime: the agent `native`, webhooks.
//!
//! These double the size of an executable and make it slower to start, by what has to be moved to its place in memory;
//! `dacapo` starts for every guard, every listing and every waiting task, and shall not pay for what it does not use. So
//! `dacapo __native` and `dacapo __deliver` become this other program.

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use dacapo_app::native::{COMMAND, DELIVER};

use crate::native;

/// The program.
const PROGRAM: &str = "dacapo-net";

/// Becomes it when the arguments (without the program's name) ask for that, else `None`.
///
/// To be called in `main` before anything else is set up, as for the scripted agent. An exit code means that it is not
/// there.
pub fn dispatch(args: &[OsString]) -> Option<ExitCode> {
    let command = args.first().filter(|command| *command == COMMAND || *command == DELIVER)?;
    let program = std::env::current_exe().map(|own| own.with_file_name(PROGRAM));
    let (program, error) = match program {
        Ok(program) => {
            let error = Command::new(&program).args(args).exec();
            (program, error)
        }
        Err(error) => (PROGRAM.into(), error),
    };
    let why =
        format!("{}: {error}; it is a program of its own that is installed beside dacapo", program.display());
    if command == DELIVER {
        let _ = writeln!(std::io::stdout(), "{}", serde_json::json!({ "error": why }));
        return Some(ExitCode::FAILURE);
    }
    Some(native::not_started(&format!("agent 'native' cannot be run: {why}")))
}

pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    match args.split_first() {
        Some((command, _)) if command == DELIVER => native::deliver(),
        Some((command, rest)) if command == COMMAND => native::main(rest),
        _ => {
            let _ = writeln!(std::io::stderr(), "dacapo-net is a part of dacapo, which runs it");
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_commands_are_not_its_business() {
        assert!(dispatch(&[]).is_none());
        assert!(dispatch(&["exec".into()]).is_none());
    }
}
