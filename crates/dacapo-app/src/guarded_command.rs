//! One foreign program, run to its end under a guard: a push, a platform's own command, a notification, a question about a
//! version. One that hangs, floods or starts others must not keep the user waiting, so it has a limit of time, and only the
//! beginning of what it says is read.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use dacapo_core::process::{
    Content, Exit, Follower, Job, Launcher, Masker, Running, Stderr, Stop, TAG_VARIABLE,
};
use dacapo_core::spec::random_hex;

use crate::App;
use crate::messages::{Messages, Text, say};
use crate::present::errors::{self, InWords};

/// How long a stopped program may take to be gone.
const GRACE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub struct GuardedCommand {
    /// The command line; a program without a slash is looked up in the `PATH` of `env`.
    pub argv: Vec<OsString>,
    pub cwd: PathBuf,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    pub stdin: Vec<u8>,
    /// It is ended after so long.
    pub limit: Duration,
    /// It is killed when it has printed this many bytes: nobody reads more.
    pub most: u64,
}

/// What came of it, known secrets masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutput {
    pub end: CommandEnd,
    /// The beginning of what it printed.
    pub stdout: String,
    /// The beginning of its complaints.
    pub stderr: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandEnd {
    Code(i32),
    /// It printed more than anybody reads, and was ended.
    Flood,
    /// No end within its limit; it was ended, with all it had started.
    TimeLimit,
    /// It could not be run, or was ended from outside.
    Impossible(Text),
}

impl GuardedCommand {
    /// Runs it; its output passes through files in `scratch`, which must not be used by another command.
    pub fn run(self, app: &App, scratch: &Path) -> CommandOutput {
        let masker = Arc::new(Masker::from_env(self.env.iter().cloned()));
        let (output, errors) = (scratch.join("out"), scratch.join("err"));
        let end = self.launch(app, masker, &output, &errors);
        CommandOutput { stdout: beginning(&output), stderr: beginning(&errors), end }
    }

    /// The same in a directory of its own.
    pub fn run_alone(self, app: &App) -> CommandOutput {
        match tempfile::Builder::new().prefix("dacapo-command-").tempdir() {
            Ok(scratch) => self.run(app, scratch.path()),
            Err(error) => CommandOutput {
                end: CommandEnd::Impossible(say(|m| m.errand_no_directory(&error.to_string()))),
                stdout: String::new(),
                stderr: String::new(),
            },
        }
    }

    fn launch(self, app: &App, masker: Arc<Masker>, output: &Path, errors: &Path) -> CommandEnd {
        let impossible = |error: &dyn InWords| CommandEnd::Impossible(errors::text(error));
        let mut launcher = match Launcher::new(app.program.clone(), masker) {
            Ok(launcher) => launcher,
            Err(error) => return impossible(&error),
        };
        if let Ok(home) = app.home() {
            launcher = launcher.for_home(home.path());
        }
        let mut env = self.env;
        if !env.iter().any(|(name, _)| name == TAG_VARIABLE) {
            // A tag of its own, so that what it leaves can be told from the processes of tasks.
            env.push((TAG_VARIABLE.into(), random_hex(16).into()));
        }
        let job = Job {
            argv: self.argv,
            cwd: self.cwd,
            env,
            stdin: self.stdin.into(),
            stdout: output.to_owned(),
            content: Content::Text,
            index: None,
            stderr: Stderr::File(errors.to_owned()),
            grace: Duration::from_secs(1),
            holds: Vec::new(),
            room: None,
        };
        let (sender, receiver) = mpsc::channel();
        let running = match launcher.launch(job, move |finished| drop(sender.send(finished))) {
            Ok(running) => running,
            Err(error) => return impossible(&error),
        };
        if let Err(error) = stop_a_flood(&running, self.most) {
            running.stop(Stop::Now);
            let _ = receiver.recv_timeout(GRACE);
            return CommandEnd::Impossible(say(|m| m.errand_not_watched(&error.to_string())));
        }
        let Ok(finished) = receiver.recv_timeout(self.limit) else {
            running.stop(Stop::Gentle);
            let _ = receiver.recv_timeout(GRACE);
            return CommandEnd::TimeLimit;
        };
        match finished.exit {
            Exit::Code(code) => CommandEnd::Code(code),
            Exit::Signal(_) if finished.stopped.is_some() => CommandEnd::Flood,
            Exit::Signal(signal) => CommandEnd::Impossible(say(|m| m.errand_signal(signal))),
            Exit::SpawnFailed { message, .. } => CommandEnd::Impossible(message.into()),
            Exit::Lost => CommandEnd::Impossible(say(Messages::errand_ended_outside)),
        }
    }
}

impl App {
    /// Where a program is, by the user's `PATH`.
    pub fn on_path(&self, name: &str) -> Option<PathBuf> {
        on_path(name, &self.env)
    }
}

/// Where a program is, in the `PATH` of this environment.
pub fn on_path(name: &str, env: &[(OsString, OsString)]) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let path = env.iter().rev().find(|(known, _)| known == "PATH").map(|(_, value)| value)?;
    directories(path).map(|dir| dir.join(name)).find(|file| {
        file.is_absolute()
            && file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    })
}

/// The directories of a `PATH`.
pub fn directories(path: &OsStr) -> impl Iterator<Item = PathBuf> {
    path.as_bytes().split(|byte| *byte == b':').map(|dir| PathBuf::from(OsStr::from_bytes(dir)))
}

/// Ends a program that prints more than anybody reads.
fn stop_a_flood(running: &Running, most: u64) -> std::io::Result<()> {
    for progress in [Some(running.progress()), running.stderr_progress()].into_iter().flatten() {
        let Ok(mut follower) = Follower::live(progress, 0) else { continue };
        let running = running.clone();
        std::thread::Builder::new().name("flood".into()).spawn(move || {
            let (mut buffer, mut read) = (Vec::new(), 0);
            while let Ok(true) = follower.next(&mut buffer) {
                read += buffer.len() as u64;
                if read > most {
                    running.stop(Stop::Now);
                    break;
                }
            }
        })?;
    }
    Ok(())
}

fn beginning(path: &Path) -> String {
    /// How much of its output is read back from the file.
    const READ: u64 = 256 << 10;
    let mut bytes = Vec::new();
    // What cannot be read says nothing.
    let _ = std::fs::File::open(path).and_then(|file| file.take(READ).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}
