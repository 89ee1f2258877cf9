//! The one place where git is started.
//!
//! The engine's git must do the same whatever the user's shell, the repository's configuration or the agent
//! has set up: no hooks, no signing, no background maintenance, no prompts, no other repository smuggled in
//! by `GIT_DIR`. Descriptors that the process leaves inheritable (the task's lock) are inherited on purpose:
//! while one of these commands runs, the lock is held.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::SystemTime;

use super::error::{GitError, held_lock};

/// Overrides on every command line; they win over every configuration file.
const OVERRIDES: [&str; 7] = [
    "core.hooksPath=/dev/null",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "i18n.commitEncoding=UTF-8",
];

/// Of these, what does not hold where git acts in the user's own name (C9): at a merge hooks run and commits are signed.
const NOT_FOR_USERS: [&str; 2] = ["core.hooksPath=/dev/null", "commit.gpgSign=false"];

/// And of what is set for every git: hooks would inherit it, and one that looks for `*.rs` find nothing.
const NOT_FOR_HOOKS: [&str; 3] = ["LC_ALL", "GIT_OPTIONAL_LOCKS", "GIT_LITERAL_PATHSPECS"];

/// What of the `GIT_*` environment is kept: how to reach and authenticate, who the user is, which
/// configuration files are theirs. None of it says *which repository*.
const KEPT: [&str; 7] = [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
];

/// So much of what git said on stderr goes into an error.
const STDERR_KEPT: usize = 4096;
/// An empty pipe takes this much without a reader, on every system: no thread is needed to write it.
const PIPE_TAKES: usize = 16 * 1024;

/// How git is to be run: the environment, worked out once.
#[derive(Debug, Clone)]
pub(super) struct Git {
    /// Looked up once: for every call the system would try all of PATH again.
    program: PathBuf,
    removed: Vec<OsString>,
    set: Vec<(OsString, OsString)>,
    /// Of `set`, what was asked for from outside.
    asked: Vec<(OsString, OsString)>,
    /// When the first one started that a signal has ended: it may have left locks.
    killed: Arc<OnceLock<SystemTime>>,
}

impl Git {
    /// Scrubs the process's environment; `overrides` are set on top of it.
    pub(super) fn new(overrides: Vec<(OsString, OsString)>) -> Self {
        let scrubbed = |name: &OsString| {
            let bytes = name.as_encoded_bytes();
            bytes.starts_with(b"GIT_")
                && !bytes.starts_with(b"GIT_SSL")
                && !bytes.starts_with(b"GIT_SSH")
                && !KEPT.iter().any(|kept| name == kept)
        };
        let removed = std::env::vars_os().map(|(name, _)| name).filter(scrubbed).collect();
        let mut set: Vec<(OsString, OsString)> = [
            ("LC_ALL", "C"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_LITERAL_PATHSPECS", "1"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        set.extend(overrides.iter().cloned());
        let path = set.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let path = path.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
        Self { program: on_path("git", &path), removed, set, asked: overrides, killed: Arc::default() }
    }

    /// Since when a git of ours can have left locks because somebody killed it. None: nobody has.
    pub(super) fn killed_since(&self) -> Option<SystemTime> {
        self.killed.get().copied()
    }

    /// Where git is.
    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// The environment for programs of the user's: without what names another repository, and without what is meant for
    /// the engine's own git alone.
    pub(super) fn users_environment(&self) -> Vec<(OsString, OsString)> {
        let ours = |name: &OsString| {
            self.removed.contains(name) || self.asked.iter().any(|(asked, _)| asked == name)
        };
        std::env::vars_os().filter(|(name, _)| !ours(name)).chain(self.asked.iter().cloned()).collect()
    }

    /// A variable as git sees it.
    pub(super) fn variable(&self, name: &str) -> Option<OsString> {
        let set = self.set.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        set.or_else(|| std::env::var_os(name).filter(|_| !self.removed.iter().any(|gone| gone == name)))
    }

    /// The same with one more variable.
    pub(super) fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.set.push((name.into(), value.into()));
        self
    }

    pub(super) fn call(&self, operation: &'static str, dir: &Path) -> Call {
        self.call_with(operation, dir, &OVERRIDES)
    }

    /// As the user would call it: with hooks and signing, still without a prompt that nobody answers.
    pub(super) fn call_as_user(&self, operation: &'static str, dir: &Path) -> Call {
        let overrides: Vec<&str> =
            OVERRIDES.into_iter().filter(|setting| !NOT_FOR_USERS.contains(setting)).collect();
        let mut call = self.call_with(operation, dir, &overrides);
        for name in NOT_FOR_HOOKS {
            // As the user has it; the messages that are looked at are asked for in English all the same.
            match std::env::var_os(name).filter(|_| name == "LC_ALL") {
                Some(value) => call.command.env(name, value),
                None => call.command.env_remove(name),
            };
        }
        call.command.env("LANGUAGE", "C");
        call
    }

    fn call_with(&self, operation: &'static str, dir: &Path, overrides: &[&str]) -> Call {
        let mut command = Command::new(&self.program);
        for name in &self.removed {
            command.env_remove(name);
        }
        for (name, value) in &self.set {
            command.env(name, value);
        }
        command.current_dir(dir);
        for setting in overrides {
            command.arg("-c").arg(setting);
        }
        Call {
            operation,
            dir: dir.to_owned(),
            command,
            overrides: overrides.len(),
            stdin: None,
            hold: None,
            killed: Arc::clone(&self.killed),
        }
    }
}

/// Where a program is; its bare name when it is nowhere, so that starting it says so.
fn on_path(name: &str, path: &OsStr) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    std::env::split_paths(path)
        .map(|dir| dir.join(name))
        .find(|file| {
            file.is_absolute()
                && file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        })
        .unwrap_or_else(|| name.into())
}

/// One git command in the making.
#[derive(Debug)]
pub(super) struct Call {
    operation: &'static str,
    dir: PathBuf,
    command: Command,
    /// So many settings stand before its own words.
    overrides: usize,
    stdin: Option<Vec<u8>>,
    hold: Option<File>,
    killed: Arc<OnceLock<SystemTime>>,
}

impl Call {
    pub(super) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(super) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Out of reach of what is typed at the terminal.
    pub(super) fn apart(mut self) -> Self {
        use std::os::unix::process::CommandExt as _;
        self.command.process_group(0);
        self
    }

    pub(super) fn stdin(mut self, bytes: Vec<u8>) -> Self {
        self.stdin = Some(bytes);
        self
    }

    /// Keeps a locked file open as long as this git lives, even if we do not. It is git's standard input, which a command
    /// that is given none never reads: so no other child can inherit it by chance.
    pub(super) fn holding(mut self, file: File) -> Self {
        self.hold = Some(file);
        self
    }

    /// Starts it; several can run side by side.
    pub(super) fn spawn(mut self) -> Result<Running, GitError> {
        let stdin = match (&self.stdin, self.hold.take()) {
            (Some(_), _) => Stdio::piped(),
            (None, Some(held)) => held.into(),
            (None, None) => Stdio::null(),
        };
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = SystemTime::now();
        let mut child = self.command.spawn().map_err(|source| {
            // A missing directory gives the same code as a missing program.
            if source.kind() == io::ErrorKind::NotFound && self.dir.is_dir() {
                GitError::Missing
            } else {
                GitError::Io { operation: self.operation, path: self.dir.clone(), source }
            }
        })?;
        let mut writer = None;
        if let (Some(bytes), Some(mut pipe)) = (self.stdin.take(), child.stdin.take()) {
            // A child that stops reading says why on stderr and in its exit code; the broken pipe adds nothing.
            let fits = bytes.len() <= PIPE_TAKES;
            let mut feed = move || drop(pipe.write_all(&bytes));
            if fits {
                feed();
            } else {
                let started = std::thread::Builder::new().name("git-stdin".into()).spawn(feed);
                writer = Some(started.map_err(|source| {
                    // Without what it was to read it does nothing; it must not be left waiting either.
                    drop(child.kill());
                    drop(child.wait());
                    GitError::Io { operation: self.operation, path: self.dir.clone(), source }
                })?);
            }
        }
        tracing::debug!(operation = self.operation, command = self.shown(), "git");
        Ok(Running { call: self, child, writer, started })
    }

    /// Starts it ahead of time: it waits for [`Running::finish_with`] to say what it is to do. Let go of before that, it
    /// does nothing.
    pub(super) fn spawn_ahead(mut self) -> Result<Running, GitError> {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = SystemTime::now();
        let child = self.command.spawn().map_err(GitError::io(self.operation, &self.dir))?;
        Ok(Running { call: self, child, writer: None, started })
    }

    /// Runs it to its end, whatever the exit code.
    pub(super) fn output(self) -> Result<Output, GitError> {
        self.spawn()?.output()
    }

    /// Runs it; anything but exit 0 is an error. Gives stdout.
    pub(super) fn stdout(self) -> Result<Vec<u8>, GitError> {
        self.spawn()?.stdout()
    }

    /// The same, but at most `most` bytes of it; none: there would have been more, and git was ended.
    pub(super) fn stdout_within(self, most: usize) -> Result<Option<Vec<u8>>, GitError> {
        let mut running = self.spawn()?;
        let mut read = Vec::new();
        if let Some(pipe) = running.child.stdout.take() {
            let mut bounded = pipe.take(most as u64 + 1);
            let (operation, dir) = (running.call.operation, running.call.dir.clone());
            bounded.read_to_end(&mut read).map_err(GitError::io(operation, &dir))?;
        }
        if read.len() > most {
            // It may have ended by itself meanwhile.
            drop(running.child.kill());
            running.output()?;
            return Ok(None);
        }
        let output = running.output()?;
        if output.exit == Some(0) { Ok(Some(read)) } else { Err(output.error()) }
    }

    /// The command for people: without the overrides.
    fn shown(&self) -> String {
        let mut shown = String::from("git");
        for arg in self.command.get_args().skip(self.overrides * 2) {
            shown.push(' ');
            shown.push_str(&super::display_path(Path::new(arg)));
        }
        shown
    }
}

/// A git command under way.
#[derive(Debug)]
pub(super) struct Running {
    call: Call,
    child: Child,
    writer: Option<JoinHandle<()>>,
    started: SystemTime,
}

impl Running {
    /// Tells a git that waits what to do; anything but exit 0 is an error.
    pub(super) fn finish_with(mut self, words: &str) -> Result<Vec<u8>, GitError> {
        if let Some(mut pipe) = self.child.stdin.take() {
            // One that stopped reading says why.
            drop(pipe.write_all(words.as_bytes()));
        }
        self.stdout()
    }

    pub(super) fn output(self) -> Result<Output, GitError> {
        let Self { call, child, writer, started } = self;
        let result = child.wait_with_output();
        if let Some(writer) = writer {
            // It ends when the child has: the pipe is closed then.
            drop(writer.join());
        }
        let output = result.map_err(GitError::io(call.operation, &call.dir))?;
        if output.status.signal().is_some() {
            call.killed.get_or_init(|| started);
        }
        Ok(Output { call, exit: output.status.code(), stdout: output.stdout, stderr: output.stderr })
    }

    pub(super) fn stdout(self) -> Result<Vec<u8>, GitError> {
        let output = self.output()?;
        if output.exit == Some(0) { Ok(output.stdout) } else { Err(output.error()) }
    }
}

/// How a git command ended.
#[derive(Debug)]
pub(super) struct Output {
    call: Call,
    pub(super) exit: Option<i32>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

impl Output {
    /// The failure as an error, with the kinds a caller decides on told apart.
    pub(super) fn error(self) -> GitError {
        let kept = &self.stderr[..self.stderr.len().min(STDERR_KEPT)];
        let stderr = String::from_utf8_lossy(kept).trim().to_owned();
        if let Some(lock) = held_lock(&self.stderr).map(|lock| self.call.dir.join(lock)) {
            return if lock.ends_with("index.lock") {
                GitError::IndexLocked { lock }
            } else {
                GitError::RefLocked { lock }
            };
        }
        GitError::Failed {
            operation: self.call.operation,
            command: self.call.shown(),
            exit: self.exit,
            stderr,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_input_and_output_do_not_block_each_other() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let text: Vec<u8> = (0..400_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        let out = Git::new(Vec::new())
            .call("strip", dir.path())
            .args(["stripspace"])
            .stdin(text.clone())
            .stdout()
            .expect("stripspace");
        assert_eq!(out.len(), text.len());
    }

    #[test]
    fn a_missing_directory_is_not_a_missing_git() {
        let error = Git::new(Vec::new()).call("look", Path::new("/nonexistent-dir")).arg("version").stdout();
        assert!(matches!(error, Err(GitError::Io { .. })), "{error:?}");
        let missing = Git::new(vec![("PATH".into(), "/nonexistent-dir".into())])
            .call("look", Path::new("/"))
            .arg("version")
            .stdout();
        assert!(matches!(missing, Err(GitError::Missing)), "{missing:?}");
    }
}
