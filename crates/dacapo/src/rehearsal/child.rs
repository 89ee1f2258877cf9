//! The processes a script leaves behind: this program again, under a hidden name. Leaving a
//! session or losing a parent has to happen inside the new process, and a program of its own can
//! do that without unsafe code between fork and exec.

use std::ffi::OsString;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::CHILD_COMMAND;
use super::play::to_stderr;
use dacapo_app::rehearsal::{ForkLoop, Leak};

/// From here on TERM, INT and HUP do nothing to this process.
pub(super) fn ignore_signals() -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        // A handler that sets a flag nobody reads: all that can be had without unsafe code.
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

/// Starts a process that outlives this one; returns its id, once it is what it was to become.
pub(super) fn leak(leak: &Leak) -> Result<u32, String> {
    let mut command = myself("leak")?;
    command.arg(leak.r#for.0.as_millis().to_string());
    for (wanted, word) in
        [(leak.setsid, "setsid"), (leak.daemon, "daemon"), (leak.ignore_signals, "ignore_signals")]
    {
        if wanted {
            command.arg(word);
        }
    }
    if leak.empty_env {
        command.env_clear();
    }
    command.stdout(if leak.hold_stdout { Stdio::inherit() } else { Stdio::null() });
    // It tells its id on standard error, the one stream it has no other use for.
    command.stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("cannot start a child: {error}"))?;
    let mut told = String::new();
    if let Some(pipe) = child.stderr.take() {
        let _ = std::io::BufRead::read_line(&mut std::io::BufReader::new(pipe), &mut told);
    }
    let pid = told.trim().parse().map_err(|_| format!("the child did not start: {}", told.trim()))?;
    if leak.daemon {
        let _ = child.wait();
    }
    Ok(pid)
}

/// Starts the first of a row of processes and does not wait for any.
pub(super) fn fork_loop(forks: &ForkLoop) -> Result<(), String> {
    if forks.times.0 == 0 {
        return Ok(());
    }
    next(forks.times.0, forks.pause.0.as_millis(), forks.setsid)
}

fn next(times: u32, pause: u128, setsid: bool) -> Result<(), String> {
    let mut command = myself("fork")?;
    command.args([times.to_string(), pause.to_string()]);
    if setsid {
        command.arg("setsid");
    }
    let child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot start a child: {error}"))?;
    drop(child);
    Ok(())
}

fn myself(mode: &str) -> Result<Command, String> {
    let program =
        std::env::current_exe().map_err(|error| format!("cannot find this program again: {error}"))?;
    let mut command = Command::new(program);
    command.args([CHILD_COMMAND, mode]).stdin(Stdio::null());
    Ok(command)
}

/// What the hidden command does.
pub(super) fn main(args: &[OsString]) -> ExitCode {
    let words: Vec<&str> = args.iter().filter_map(|arg| arg.to_str()).collect();
    let done = match words.as_slice() {
        ["leak", millis, flags @ ..] => leaked(millis, flags),
        ["fork", times, pause, flags @ ..] => forked(times, pause, flags),
        _ => Err("this command is not for people".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            to_stderr(&format!("dacapo {CHILD_COMMAND}: {message}"));
            ExitCode::from(2)
        }
    }
}

fn leaked(millis: &str, flags: &[&str]) -> Result<(), String> {
    let life = Duration::from_millis(number(millis)?);
    leave_session(flags)?;
    if flags.contains(&"daemon") {
        // The second of the two forks of a daemon: its parent ends at once, so init takes it.
        let mut command = myself("leak")?;
        command.arg(millis).current_dir("/");
        command.args(flags.iter().filter(|f| **f == "ignore_signals"));
        let child = command.spawn().map_err(|error| format!("cannot start a child: {error}"))?;
        drop(child);
        return Ok(());
    }
    if flags.contains(&"ignore_signals") {
        ignore_signals().map_err(|error| error.to_string())?;
    }
    to_stderr(&std::process::id().to_string());
    std::thread::sleep(life);
    Ok(())
}

fn forked(times: &str, pause: &str, flags: &[&str]) -> Result<(), String> {
    leave_session(flags)?;
    let (left, pause) = (number(times)?, number(pause)?);
    std::thread::sleep(Duration::from_millis(pause));
    match u32::try_from(left) {
        Ok(left @ 2..) => next(left - 1, pause.into(), flags.contains(&"setsid")),
        _ => Ok(()),
    }
}

fn leave_session(flags: &[&str]) -> Result<(), String> {
    if flags.contains(&"setsid") {
        rustix::process::setsid().map_err(|error| format!("setsid: {error}"))?;
    }
    Ok(())
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text} is no number"))
}
