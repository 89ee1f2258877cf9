//! The process of a task in the background: what its caller gave it on its pipes, and whom it hears.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;

use dacapo_app::messages::{Messages, say};
use dacapo_app::operations::after_task::Watched;
use dacapo_app::operations::background::{self, Begun, Instructions, Process};
use dacapo_core::store::TaskDir;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::drive::{AfterTheEnd, after_task, listen_to};
use crate::App;
use crate::args::Show;
use crate::error::Failure;

/// What makes our program the process of a task.
pub const ARGUMENT: &str = dacapo_core::process::RUNNER_ARGUMENT;

/// The process of a task.
pub fn main(app: &App, args: &[OsString]) -> ExitCode {
    // Already the leader of a session: nothing to leave.
    let _ = rustix::process::setsid();
    let code = match args {
        [dir, locks @ ..] => run(app, &TaskDir::at(dir.into()), locks),
        [] => Err(Failure::usage(format!("{ARGUMENT} takes the directory of a task"))),
    };
    match code {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            complain!("{failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(app: &App, dir: &TaskDir, locks: &[OsString]) -> Result<u8, Failure> {
    let cannot = |error: &dyn std::fmt::Display| Failure::failed(error.to_string());
    let mut told = Vec::new();
    io::stdin().lock().read_to_end(&mut told).map_err(|error| cannot(&error))?;
    let instructions: Instructions = serde_json::from_slice(&told).map_err(|error| cannot(&error))?;
    let mut process = Process {
        listen: &mut |control| {
            // We have no terminal that could be closed; who sends it all the same means the terminal.
            signal_hook::flag::register(SIGHUP, std::sync::Arc::default())
                .map_err(|error| Failure::failed(say(|m| m.signals_unavailable(&error.to_string()))))?;
            listen_to(&[SIGINT, SIGTERM], control, AfterTheEnd::Exit)
        },
        stand_alone: &mut stand_alone,
    };
    let ended = background::run(app, dir, locks, instructions, &mut process)?;
    let code = ended.exit_code();
    ended.settle(app, Watched::Elsewhere, &mut |news| after_task(Show::default(), news, Messages::ENGLISH));
    Ok(code)
}

/// Tells whoever started us, and has nothing to do with their files any more.
fn stand_alone(begun: Begun) -> io::Result<()> {
    let nothing = File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    let mut out = io::stdout().lock();
    out.write_all(begun.word().as_bytes())?;
    out.flush()?;
    // What is printed from now on is for the log; the pipe closes with this.
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(())
}
