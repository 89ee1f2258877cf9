//! Starting programs, and where things are.

use std::io::{BufRead as _, BufReader, IsTerminal as _, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use crate::Outcome;

/// The workspace this runner was built in.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// The target directory: this program lies in `TARGET/debug/`, however cargo was told to place it.
pub(crate) fn target() -> Outcome<PathBuf> {
    let exe = std::env::current_exe().map_err(|e| format!("cannot tell where this program is: {e}"))?;
    // An integration test's binary lies one deeper, in `deps`.
    exe.ancestors()
        .skip(1)
        .find(|dir| !dir.ends_with("deps"))
        .and_then(Path::parent)
        .map(Path::to_path_buf)
        .ok_or_else(|| format!("{} is not inside a target directory", exe.display()))
}

/// The cargo that started this program, so that a toolchain chosen with `cargo +X xtask` is kept.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    command
}

/// How a command is written in messages.
pub(crate) fn shown(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let mut text = name.to_string_lossy().into_owned();
    for arg in command.get_args() {
        let arg = arg.to_string_lossy();
        let plain = arg.chars().all(|c| c.is_alphanumeric() || "-_=./:,".contains(c));
        text.push(' ');
        text.push_str(&if plain { arg.into_owned() } else { format!("'{arg}'") });
    }
    text
}

/// Runs to the end, output straight to the terminal.
pub(crate) fn run(mut command: Command) -> Outcome {
    let status = command.status().map_err(|e| format!("cannot start `{}`: {e}", shown(&command)))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` ended with {status}", shown(&command))) }
}

/// First line of what a program says about itself; `None` when it is not there or fails.
pub(crate) fn version(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).current_dir(root()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| text.lines().next().unwrap_or_default().trim().to_owned())
}

/// Runs to the end, passing the output on line by line and keeping it too: the counts are read from it.
pub(crate) fn run_and_keep(mut command: Command) -> (Outcome, String) {
    if std::io::stderr().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(e) => return (Err(format!("cannot start `{}`: {e}", shown(&command))), String::new()),
    };
    let out = child.stdout.take();
    let err = child.stderr.take();
    let (mut kept, kept_err) = thread::scope(|scope| {
        let err = scope.spawn(|| pass_on(err, std::io::stderr()));
        (pass_on(out, std::io::stdout()), err.join().unwrap_or_default())
    });
    kept.push_str(&kept_err);
    let outcome = match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{}` ended with {status}", shown(&command))),
        Err(e) => Err(format!("lost `{}`: {e}", shown(&command))),
    };
    (outcome, kept)
}

fn pass_on(from: Option<impl Read>, mut to: impl Write) -> String {
    let mut kept = String::new();
    let Some(from) = from else { return kept };
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while matches!(from.read_until(b'\n', &mut line), Ok(1..)) {
        // A closed terminal must not end the tests half way.
        let _ = to.write_all(&line).and_then(|()| to.flush());
        kept.push_str(&String::from_utf8_lossy(&line));
        line.clear();
    }
    kept
}

/// Whether this is an automatic run, where nothing may be left out unseen.
pub(crate) fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|v| !v.is_empty() && v != "0" && v != "false")
}
