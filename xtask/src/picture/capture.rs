//! A command's output with the colours and redraws it has at a terminal.

use std::process::{Command, Stdio};

use super::Size;
use crate::{Outcome, shell};

/// What came out, and how it was had.
pub(super) struct Captured {
    pub(super) bytes: Vec<u8>,
    pub(super) by: &'static str,
    pub(super) status: String,
}

/// Runs the command to its end in the best terminal there is.
pub(super) fn capture(command: &[String], size: Size) -> Outcome<Captured> {
    if shell::version("script", &["--version"]).is_some_and(|v| v.contains("util-linux")) {
        by_script(command, size)
    } else if shell::version("tmux", &["-V"]).is_some() {
        by_tmux(command, size)
    } else {
        by_pipe(command, size)
    }
}

fn by_script(command: &[String], size: Size) -> Outcome<Captured> {
    // A pseudo-terminal made without a parent terminal has no size until it is given one.
    let line = format!("stty cols {} rows {}; exec {}", size.cols, size.rows, quoted(command));
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    let output =
        with_terminal(&mut script, size).output().map_err(|e| format!("cannot start script: {e}"))?;
    Ok(Captured { bytes: output.stdout, by: "script", status: output.status.to_string() })
}

fn by_tmux(command: &[String], size: Size) -> Outcome<Captured> {
    let socket = std::env::temp_dir().join(format!("xtask-picture-{}", std::process::id()));
    let tmux = |args: &[&str]| {
        let mut tmux = Command::new("tmux");
        tmux.args(["-f", "/dev/null", "-S"]).arg(&socket).args(args);
        with_terminal(&mut tmux, size).output().map_err(|e| format!("cannot start tmux: {e}"))
    };
    // The pane stays until it was read: `done` tells that the command ended, the read holds the shell.
    let own = quoted(&[socket.to_string_lossy().into_owned()]);
    let line = format!("{}; tmux -S {own} wait-for -S done; read -r _", quoted(command));
    let (cols, rows) = (size.cols.to_string(), size.rows.to_string());
    let captured = (|| {
        tmux(&["new-session", "-d", "-x", &cols, "-y", &rows, "sh", "-c", &line])?;
        tmux(&["wait-for", "done"])?;
        tmux(&["capture-pane", "-p", "-e", "-S", "-"])
    })();
    // Its own server, by its own socket: no other session is touched.
    let ended = tmux(&["kill-server"]);
    // It leaves its socket behind; that there is none is no fault.
    let _ = std::fs::remove_file(&socket);
    let output = captured?;
    ended?;
    let bytes = String::from_utf8_lossy(&output.stdout).replace('\n', "\r\n").into_bytes();
    Ok(Captured { bytes, by: "tmux", status: "an exit status tmux does not tell".to_owned() })
}

fn by_pipe(command: &[String], size: Size) -> Outcome<Captured> {
    let line = format!("exec {} 2>&1", quoted(command));
    let mut sh = Command::new("sh");
    sh.args(["-c", &line]).env("CLICOLOR_FORCE", "1");
    let output = with_terminal(&mut sh, size).output().map_err(|e| format!("cannot start sh: {e}"))?;
    // No terminal turned line ends into carriage returns.
    let bytes = String::from_utf8_lossy(&output.stdout).replace('\n', "\r\n").into_bytes();
    Ok(Captured { bytes, by: "a pipe", status: output.status.to_string() })
}

fn with_terminal(command: &mut Command, size: Size) -> &mut Command {
    command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .env_remove("NO_COLOR")
        .env_remove("CI")
        .env_remove("TMUX")
        // `script` gives the line to the user's shell, which may read quotes in its own way.
        .env("SHELL", "/bin/sh")
        .env("TERM", "xterm-256color")
        .env("COLUMNS", size.cols.to_string())
        .env("LINES", size.rows.to_string())
}

fn quoted(command: &[String]) -> String {
    let quote = |word: &String| format!("'{}'", word.replace('\'', r"'\''"));
    command.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use super::*;

    const SIZE: Size = Size { cols: NonZeroU16::new(40).unwrap(), rows: NonZeroU16::new(10).unwrap() };

    fn sh(script: &str) -> Vec<String> {
        ["sh", "-c", script].map(str::to_owned).to_vec()
    }

    #[test]
    fn a_pipe_gives_both_streams_and_returns() {
        let captured = by_pipe(&sh("echo 'it'\"'\"'s'; echo two >&2; exit 3"), SIZE).unwrap();
        assert_eq!(String::from_utf8_lossy(&captured.bytes), "it's\r\ntwo\r\n");
        assert!(captured.status.contains('3'), "{}", captured.status);
    }

    #[test]
    fn the_best_terminal_here_shows_the_output() {
        let captured = capture(&sh("echo one; stty size 2>/dev/null"), SIZE).unwrap();
        let text = String::from_utf8_lossy(&captured.bytes).into_owned();
        assert!(text.contains("one"), "{text}");
        if captured.by != "a pipe" {
            assert!(text.contains("10 40"), "{} had another size: {text}", captured.by);
        }
    }
}
