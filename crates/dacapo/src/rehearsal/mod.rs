//! `rehearsal`: a scripted agent that costs nothing (A5).
//!
//! It is a real program, run as a real child process: it reads a prompt on standard input, tells
//! what it does as JSON lines on standard output and acts in its working directory. So a loop that
//! survives it has survived what agents do, lies, hangs, leaks and broken repositories included,
//! and people can try their checks and workflows before they pay for a model.
//!
//! Dacapo says which turn this is by the environment: `DACAPO_TASK`, `DACAPO_ITERATION` and
//! `DACAPO_ATTEMPT` (both from 0), `DACAPO_WORKSPACE`. Loops with the same `REHEARSAL_ACCOUNT` in their
//! environment share the usage limits that they run into, as those with the same login do.

mod child;
mod demo;
mod emit;
mod files;
mod misbehave;
mod play;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

pub use dacapo_app::rehearsal::{
    At, BigFile, Bytes, COMMAND, Capped, Claim, Exit, Fail, Flood, ForkLoop, Hang, Leak, Limit, MAX_BYTES,
    Output, Retry, Run, Script, ScriptError, Span, Split, Step, Tool, UsageReport, Write, check, parse,
    schema,
};
pub use demo::{DEMO, EXAMPLE, demo_files};

/// The hidden command of the processes a script leaves behind.
const CHILD_COMMAND: &str = "__rehearse-child";

/// Plays a script when the arguments (without the program's name) ask for that, else `None`.
///
/// To be called first in `main`, before argument parsing, signal handlers and logging: the agent
/// must be a plain process, or rehearsing signals and leaks would rehearse Dacapo's own.
pub fn dispatch(args: &[OsString]) -> Option<ExitCode> {
    let (command, rest) = args.split_first()?;
    if command == COMMAND {
        Some(command_line(rest))
    } else if command == CHILD_COMMAND {
        Some(child::main(rest))
    } else {
        None
    }
}

fn command_line(args: &[OsString]) -> ExitCode {
    match arguments(args) {
        Ok((script, session)) => play::play(&script, session),
        Err(message) => {
            play::complain(&format!("{message}\nusage: dacapo {COMMAND} SCRIPT.yaml [--session ID] <PROMPT"));
            ExitCode::from(2)
        }
    }
}

fn arguments(args: &[OsString]) -> Result<(PathBuf, Option<String>), String> {
    let mut script = None;
    let mut session = None;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let text = arg.to_str().unwrap_or_default();
        if text == "--session" {
            let id = args.next().ok_or("--session wants an id")?;
            session = Some(id.to_string_lossy().into_owned());
        } else if let Some(id) = text.strip_prefix("--session=") {
            session = Some(id.to_owned());
        } else if text == "-" {
            return Err("the script cannot come from standard input: that is the prompt's place".into());
        } else if text.starts_with('-') {
            return Err(format!("there is no option {text}"));
        } else if script.replace(PathBuf::from(arg)).is_some() {
            return Err("there is one script at a time".into());
        }
    }
    match script {
        Some(script) => Ok((script, session)),
        None => Err("no script is given".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(list: &[&str]) -> Vec<OsString> {
        list.iter().map(OsString::from).collect()
    }

    #[test]
    fn other_commands_are_not_its_business() {
        assert!(dispatch(&[]).is_none());
        assert!(dispatch(&args(&["run"])).is_none());
    }

    #[test]
    fn a_session_may_be_given_both_ways() {
        for list in [&["s", "--session", "x"][..], &["--session=x", "s"]] {
            assert_eq!(arguments(&args(list)), Ok((PathBuf::from("s"), Some("x".into()))));
        }
        for list in [&[][..], &["-"], &["a", "b"], &["a", "--session"], &["a", "--x"]] {
            assert!(arguments(&args(list)).is_err(), "{list:?}");
        }
    }

    #[test]
    fn the_schema_knows_every_step() {
        let schema = schema().to_value().to_string();
        for step in ["say", "half_merge", "fork_loop", "close_stdout", "attempts"] {
            assert!(schema.contains(&format!("\"{step}\"")), "{step}");
        }
    }
}
