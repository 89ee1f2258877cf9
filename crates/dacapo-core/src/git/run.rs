//! The one place where git is started.
//!
//! The engine's git must do the same whatever the user's shell, the repository's configuration or the agent
//! has set up: no hooks, no signing, no background maintenance, no prompts, no other repository smuggled in
//! by `GIT_DIR`. None runs for ever, and one that can start other programs, a filter for one, does so under a guard
//! (`reach.rs`, `process/supervised.rs`). Of what this process has open it gets the locks that were handed to it ([`InheritedLocks`]), and nothing else:
//! while one of these commands runs, they are held.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::SystemTime;

use super::error::{GitError, SpecialKind, held_lock};
use super::places::Places;
use super::reach::{self, Hooks};
use crate::env::{Env, is_of_another_git};
use crate::inherited_locks::InheritedLocks;
use crate::process::{Cut, Ended, Group, Reach, Reading, Supervised, Supervision, Take, With};

/// Overrides on every command line; they win over every configuration file.
const OVERRIDES: [&str; 7] = [
    // An agent can write hooks, and a hook would run as part of the engine, outside of any guard.
    "core.hooksPath=/dev/null",
    "commit.gpgSign=false",
    // A `git gc` in the background would inherit the locks that are handed to git, and keep the task locked after all
    // else has ended.
    "gc.auto=0",
    "maintenance.auto=false",
    // A monitor is a program of the repository's choice, and a daemon that stays.
    "core.fsmonitor=false",
    // Paths come back as their bytes, also in the few messages that are read.
    "core.quotePath=false",
    "i18n.commitEncoding=UTF-8",
];

/// Of these, what does not hold where git acts in the user's own name (C9): at a merge hooks run and commits are signed.
const NOT_FOR_USERS: [&str; 2] = ["core.hooksPath=/dev/null", "commit.gpgSign=false"];

/// And of what is set for every git: hooks would inherit it, and one that looks for `*.rs` find nothing.
const NOT_FOR_HOOKS: [&str; 3] = ["LC_ALL", "GIT_OPTIONAL_LOCKS", "GIT_LITERAL_PATHSPECS"];

/// How much of what git said on stderr goes into an error.
const STDERR_KEPT: usize = 4096;
/// An empty pipe takes this much without a reader, on every system: no thread is needed to write it.
const PIPE_TAKES: usize = 16 * 1024;

/// How git is to be run: the environment, worked out once.
#[derive(Debug, Clone)]
pub(super) struct Git {
    /// Looked up once: for every call the system would try all of PATH again.
    program: PathBuf,
    /// The user's, without what names another repository.
    users: Env,
    /// The same with what is meant for the engine's own git alone.
    env: Env,
    /// What each of them holds as long as it lives.
    handed: InheritedLocks,
    /// When the first one started that a signal has ended: it may have left locks.
    killed: Arc<OnceLock<SystemTime>>,
    supervision: Supervision,
    /// Where they read, if that is known.
    places: Option<Arc<Places>>,
}

impl Git {
    /// Scrubs the user's environment.
    pub(super) fn new(env: &Env, supervision: &Supervision) -> Self {
        let users = env.without(is_of_another_git);
        let env = users.with([
            // Some failures can be told apart only by what git says, so it has to say it in English.
            ("LC_ALL", "C"),
            ("GIT_TERMINAL_PROMPT", "0"),
            // `git status` would otherwise refresh the index and hold `index.lock` for that, in the user's way.
            ("GIT_OPTIONAL_LOCKS", "0"),
            // A file may be called `*` or `:(top)`: names that we pass are names, never patterns.
            ("GIT_LITERAL_PATHSPECS", "1"),
        ]);
        // From the PATH of the user, not of this process: in a background task the two can differ.
        let program = on_path("git", users.get("PATH").unwrap_or_default());
        Self {
            program,
            users,
            env,
            handed: InheritedLocks::default(),
            killed: Arc::default(),
            supervision: supervision.clone(),
            places: None,
        }
    }

    /// The same for a repository whose files are read there.
    pub(super) fn reading(mut self, places: Places) -> Self {
        self.places = Some(Arc::new(places));
        self
    }

    pub(super) fn places(&self) -> Option<&Places> {
        self.places.as_deref()
    }

    /// Set to when the first git of ours started that was killed.
    pub(super) fn killed(&self) -> &Arc<OnceLock<SystemTime>> {
        &self.killed
    }

    /// Since when a git of ours can have left locks because somebody killed it. None: nobody has.
    pub(super) fn killed_since(&self) -> Option<SystemTime> {
        self.killed.get().copied()
    }

    /// What each of them holds as long as it lives.
    pub(super) fn handed(&self) -> &InheritedLocks {
        &self.handed
    }

    /// The same, with other locks to hold.
    pub(super) fn holding(mut self, handed: &InheritedLocks) -> Self {
        self.handed = handed.clone();
        self
    }

    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// The environment for programs of the user's: without what names another repository, and without what is meant for
    /// the engine's own git alone.
    pub(super) fn users_environment(&self) -> &Env {
        &self.users
    }

    /// A variable as git sees it.
    pub(super) fn variable(&self, name: &str) -> Option<OsString> {
        self.env.get(name).map(OsStr::to_owned)
    }

    /// The same with one more variable.
    pub(super) fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env = self.env.with([(name, value)]);
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
            match self.users.get(name).filter(|_| name == "LC_ALL") {
                Some(value) => call.command.env(name, value),
                None => call.command.env_remove(name),
            };
        }
        // LANGUAGE wins over LC_ALL for messages alone, so hooks keep the user's locale for everything else.
        call.command.env("LANGUAGE", "C");
        call
    }

    fn call_with(&self, operation: &'static str, dir: &Path, overrides: &[&str]) -> Call {
        let mut command = Command::new(&self.program);
        self.env.dress(&mut command).current_dir(dir);
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
            group: Group::Ours,
            handed: self.handed.clone(),
            killed: Arc::clone(&self.killed),
            supervision: self.supervision.clone(),
            places: self.places.clone(),
            hooks: if overrides.len() == OVERRIDES.len() { Hooks::None } else { Hooks::Users },
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
    /// How many settings stand before its own arguments.
    overrides: usize,
    stdin: Option<Vec<u8>>,
    hold: Option<File>,
    group: Group,
    handed: InheritedLocks,
    killed: Arc<OnceLock<SystemTime>>,
    supervision: Supervision,
    places: Option<Arc<Places>>,
    hooks: Hooks,
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

    /// Out of reach of what is typed at the terminal, and of a first stop.
    pub(super) fn apart(mut self) -> Self {
        self.group = Group::Own;
        self.supervision = self.supervision.heedless();
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
        let bytes = self.stdin.take();
        let stdin = match (&bytes, self.hold.take()) {
            (Some(_), _) => Input::Pipe,
            (None, Some(held)) => Input::From(held),
            (None, None) => Input::Nothing,
        };
        let mut running = self.start(stdin)?;
        if let (Some(bytes), Some(mut pipe)) = (bytes, running.stdin.take()) {
            // A child that stops reading says why on stderr and in its exit code; the broken pipe adds nothing.
            let fits = bytes.len() <= PIPE_TAKES;
            let mut feed = move || drop(pipe.write_all(&bytes));
            if fits {
                feed();
            } else {
                let started = std::thread::Builder::new().name("git-stdin".into()).spawn(feed);
                match started {
                    Ok(writer) => running.writer = Some(writer),
                    Err(source) => {
                        // Without what it was to read it does nothing; it must not be left waiting either.
                        let Running { call, child, .. } = running;
                        child.kill();
                        return Err(GitError::Io { operation: call.operation, path: call.dir, source });
                    }
                }
            }
        }
        tracing::debug!(operation = running.call.operation, command = running.call.shown(), "git");
        Ok(running)
    }

    fn start(mut self, stdin: Input) -> Result<Running, GitError> {
        let started = SystemTime::now();
        let mut reach = reach::of(self.command.get_args().skip(self.overrides * 2), self.hooks);
        match (&self.places, reach) {
            (Some(places), Reach::OtherPrograms) => places.refuse_special_files(self.operation)?,
            (Some(places), Reach::Itself) => reach = places.reach(),
            (None, _) => {}
        }
        let start = || -> io::Result<_> {
            let (theirs, stdin) = match stdin {
                Input::Pipe => io::pipe().map(|(theirs, ours)| (theirs.into(), Some(ours)))?,
                Input::From(held) => (held.into(), None),
                Input::Nothing => (File::open("/dev/null")?.into(), None),
            };
            let (stdout, their_stdout) = io::pipe()?;
            let (stderr, their_stderr) = io::pipe()?;
            // `held` must live until the child has started: it is what keeps the descriptors open that are handed
            // over by number.
            let held = self.handed.held();
            let handed: Vec<_> = held.iter().flat_map(|files| files.iter()).map(File::as_fd).collect();
            let streams = [theirs, their_stdout.into(), their_stderr.into()];
            let with = With { streams, handed: &handed, group: self.group };
            Ok((self.supervision.start(&mut self.command, with, reach)?, stdin, stdout, stderr))
        };
        match start() {
            Ok((child, stdin, stdout, stderr)) => {
                Ok(Running { call: self, child, stdin, stdout, stderr, writer: None, started })
            }
            Err(source) => Err(self.not_run(source)),
        }
    }

    fn not_run(&self, source: io::Error) -> GitError {
        // A missing directory gives the same code as a missing program.
        if source.kind() == io::ErrorKind::NotFound && self.dir.is_dir() {
            return GitError::Missing;
        }
        GitError::Io { operation: self.operation, path: self.dir.clone(), source }
    }

    /// Starts it ahead of time: it waits for [`Running::finish_with`] to say what it is to do. Let go of before that, it
    /// does nothing.
    pub(super) fn spawn_ahead(self) -> Result<Running, GitError> {
        self.start(Input::Pipe)
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
        let output = self.spawn()?.output_within(most as u64 + 1)?;
        match output.exit {
            _ if output.stdout.len() > most => Ok(None),
            Some(0) => Ok(Some(output.stdout)),
            _ => Err(output.error()),
        }
    }

    fn cut_short(
        &self,
        cut: Cut,
        programs: Vec<String>,
        special: Option<(PathBuf, SpecialKind)>,
    ) -> GitError {
        if let Some((path, kind)) = special {
            return GitError::SpecialFile { operation: self.operation, path, kind };
        }
        let command = self.shown();
        GitError::CutShort { operation: self.operation, command, cut, programs }
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

/// What a git command reads.
enum Input {
    Pipe,
    From(File),
    Nothing,
}

/// A git command under way.
#[derive(Debug)]
pub(super) struct Running {
    call: Call,
    child: Supervised,
    stdin: Option<io::PipeWriter>,
    stdout: io::PipeReader,
    stderr: io::PipeReader,
    writer: Option<JoinHandle<()>>,
    started: SystemTime,
}

impl Running {
    /// Tells a git that waits what to do; anything but exit 0 is an error.
    pub(super) fn finish_with(mut self, words: &str) -> Result<Vec<u8>, GitError> {
        if let Some(mut pipe) = self.stdin.take() {
            // One that stopped reading says why.
            drop(pipe.write_all(words.as_bytes()));
        }
        self.stdout()
    }

    pub(super) fn output(self) -> Result<Output, GitError> {
        self.output_within(u64::MAX)
    }

    /// Ends it as soon as it has said this many bytes on stdout.
    fn output_within(self, most: u64) -> Result<Output, GitError> {
        self.see_to_end(most, None)
    }

    fn see_to_end(self, most: u64, take: Option<Take<'_>>) -> Result<Output, GitError> {
        let Self { call, child, stdin, stdout, stderr, writer, started } = self;
        drop(stdin);
        let mut special = None;
        let ended = child.finish(Reading { pipes: [stdout, stderr], most, take }, || {
            special = call.places.as_ref().and_then(|places| places.any_special_file());
            special.is_some()
        });
        if let Some(writer) = writer {
            // It ends when the child has: the pipe is closed then.
            drop(writer.join());
        }
        let Ended { code, signal, stdout, stderr, cut, flooded } =
            ended.map_err(|error| call.not_run(error))?;
        // What we end because nobody reads any more of it only reads. Taken for one that somebody killed, it would make a
        // lock of the user's look as if a git of ours had left it.
        if !flooded && was_killed(signal, code) {
            call.killed.get_or_init(|| started);
        }
        if let Some((cut, programs)) = cut {
            return Err(call.cut_short(cut, programs, special));
        }
        Ok(Output { call, exit: code, stdout, stderr })
    }

    /// Hands on what it prints as it comes, for answers that are too large to keep.
    pub(super) fn each_piece(self, take: &mut dyn FnMut(&[u8])) -> Result<(), GitError> {
        let output = self.see_to_end(u64::MAX, Some(take))?;
        if output.exit == Some(0) { Ok(()) } else { Err(output.error()) }
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

/// Whether a signal ended git, or a git that it had started: of that it passes on the code that a shell would.
fn was_killed(signal: Option<i32>, code: Option<i32>) -> bool {
    // 128 and 129 are git's own: it failed, or was called wrongly.
    signal.is_some() || code.is_some_and(|code| (130..160).contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_input_and_output_do_not_block_each_other() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let text: Vec<u8> = (0..400_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        let out = Git::new(&std::env::vars_os().collect(), &Supervision::default())
            .call("strip", dir.path())
            .args(["stripspace"])
            .stdin(text.clone())
            .stdout()
            .expect("stripspace");
        assert_eq!(out.len(), text.len());
    }

    #[test]
    fn r1_a_git_that_says_its_own_git_was_killed_counts_as_killed() {
        assert!(was_killed(Some(9), None));
        assert!(was_killed(None, Some(137)), "`git worktree add` whose `git reset` died of SIGKILL");
        for code in [0, 1, 127, 128, 129, 255] {
            assert!(!was_killed(None, Some(code)), "{code}");
        }
    }

    #[test]
    fn a_missing_directory_is_not_a_missing_git() {
        let env: Env = std::env::vars_os().collect();
        let error = Git::new(&env, &Supervision::default())
            .call("look", Path::new("/nonexistent-dir"))
            .arg("version")
            .stdout();
        assert!(matches!(error, Err(GitError::Io { .. })), "{error:?}");
        let missing = Git::new(&env.with([("PATH", "/nonexistent-dir")]), &Supervision::default())
            .call("look", Path::new("/"))
            .arg("version")
            .stdout();
        assert!(matches!(missing, Err(GitError::Missing)), "{missing:?}");
    }
}
