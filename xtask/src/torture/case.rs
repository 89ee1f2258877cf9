//! One case: a home, data directory and repository of its own, the commands that are run in it, and what they said.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::processes;
use super::random::Random;
use super::tally::{Fault, Tally};
use super::tracer::{Plan, Report};
use crate::Outcome;

/// A command that only looks must be done by then, on the busiest machine.
pub(super) const LOOK: Duration = Duration::from_secs(40);

/// A command that works must be done by then.
pub(super) const WORK: Duration = Duration::from_secs(120);

/// Whose process it is, for who looks at the machine from outside.
const TAG: &str = "TORTURE_CASE";

/// Detached housekeeping would outlive the case and look like an orphan of ours.
const GITCONFIG: &str = "[user]\n\tname = Torture\n\temail = torture@example.invalid\n[init]\n\tdefaultBranch = main\n\
                         [gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n";

/// Where a case happens, and what it found.
pub(super) struct Case {
    dir: PathBuf,
    program: PathBuf,
    tracer: Option<PathBuf>,
    tag: String,
    /// Commands run so far.
    commands: u32,
    /// One of them did not end, which ends the case.
    pub(super) hung: bool,
    pub(super) random: Random,
    pub(super) tally: Tally,
    /// The user's git settings, as they were before any agent ran.
    gitconfig: String,
    /// What makes a fresh clone ready for its checks.
    pub(super) setup: Vec<String>,
    /// What is set for strangers alone.
    pub(super) judges_env: Vec<(&'static str, PathBuf)>,
    /// Agents reach what a room keeps from them.
    unconfined: bool,
}

/// How a command ended.
#[derive(Debug, Clone)]
pub(super) struct Ran {
    /// 128 and the signal where one ended it.
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) err: String,
}

impl Ran {
    /// Both outputs, for a message.
    pub(super) fn said(&self) -> String {
        let cut = |text: &str| {
            text.lines().rev().take(12).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n")
        };
        format!("exit {}\n{}\n{}", self.code, cut(&self.out), cut(&self.err)).trim().to_owned()
    }
}

/// A command that runs beside the case.
pub(super) struct Started {
    child: Child,
    /// It is the program itself, not git or a check.
    is_ours: bool,
    label: String,
    out: PathBuf,
    err: PathBuf,
}

impl Started {
    pub(super) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap_or(0)
    }
}

impl Case {
    pub(super) fn new(
        dir: &Path,
        program: &Path,
        tracer: Option<&Path>,
        (seed, number): (u64, u64),
    ) -> Outcome<Self> {
        let case = Self {
            dir: dir.to_owned(),
            program: program.to_owned(),
            tracer: tracer.map(Path::to_owned),
            tag: format!("{seed}-{number}-{}", std::process::id()),
            commands: 0,
            hung: false,
            random: Random::of_case(seed, number),
            tally: Tally::default(),
            gitconfig: GITCONFIG.to_owned(),
            setup: Vec::new(),
            judges_env: Vec::new(),
            unconfined: false,
        };
        for name in ["home", "data", "repo", "tmp", "out", "desk"] {
            let path = case.path(name);
            fs::create_dir_all(&path).map_err(|e| format!("cannot make {}: {e}", path.display()))?;
        }
        case.write("home/.gitconfig", &case.gitconfig)?;
        case.config("")?;
        Ok(case)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub(super) fn repo(&self) -> PathBuf {
        self.path("repo")
    }

    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// Writes a file of the case, and the directories it needs.
    pub(super) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> Outcome<PathBuf> {
        let path = self.path(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, text))
            .map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        Ok(path)
    }

    /// The user's settings.
    pub(super) fn config(&self, more: &str) -> Outcome {
        let text = format!("[notify]\ndesktop = false\n{more}");
        self.write("home/.config/dacapo/config.toml", text).map(drop)
    }

    /// Sets up a fresh worktree or clone by these commands, and adds more settings.
    pub(super) fn set_up_by(&mut self, setup: &[&str], more: &str) -> Outcome {
        self.setup = setup.iter().map(|command| (*command).to_owned()).collect();
        self.config(&format!("[worktree]\nsetup = {:?}\n{more}", self.setup))
    }

    /// Makes the user's home what it was before any agent ran.
    pub(super) fn reset_home(&mut self) -> Outcome {
        let home = self.path("home");
        fs::remove_dir_all(&home).map_err(|e| format!("cannot remove {}: {e}", home.display()))?;
        self.add_git_settings("")?;
        let setup = self.setup.clone();
        self.set_up_by(&setup.iter().map(String::as_str).collect::<Vec<_>>(), "")
    }

    /// Adds to the git settings that are the user's own.
    pub(super) fn add_git_settings(&mut self, more: &str) -> Outcome {
        self.gitconfig.push_str(more);
        self.write("home/.gitconfig", &self.gitconfig).map(drop)
    }

    /// The environment of somebody who has never seen the case: a home and a temporary directory of their own.
    pub(super) fn dress_as_stranger(&self, command: &mut Command) -> Outcome {
        let stranger = self.path("stranger");
        self.write("stranger/home/.gitconfig", &self.gitconfig)?;
        fs::create_dir_all(stranger.join("tmp"))
            .map_err(|e| format!("cannot make {}: {e}", stranger.display()))?;
        self.dress(command);
        command.env("HOME", stranger.join("home")).env("TMPDIR", stranger.join("tmp")).env("CI", "1");
        command.envs(self.judges_env.iter().map(|(name, value)| (name, value)));
        command.env_remove("DACAPO_HOME");
        Ok(())
    }

    /// The environment of the case, for any program.
    pub(super) fn dress<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env_clear()
            .env("PATH", path())
            .env("HOME", self.path("home"))
            .env("DACAPO_HOME", self.path("data"))
            .env("TMPDIR", self.path("tmp"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .env(TAG, &self.tag)
            .envs(self.unconfined.then_some(("DACAPO_ROOM", "none")))
            .current_dir(self.repo())
            .stdin(Stdio::null())
    }

    /// Leaves agents without a room in every second case.
    pub(super) fn open_room_sometimes(&mut self) {
        self.unconfined = self.random.below(2) == 0;
        let room = if self.unconfined { "none" } else { "guarded" };
        self.log(&format!("room = {room}"));
    }

    /// A command line of the program.
    pub(super) fn dacapo<S: AsRef<OsStr>>(&self, words: &[S]) -> Command {
        let mut command = Command::new(&self.program);
        self.dress(&mut command).args(words);
        command
    }

    /// Runs the program to its end, or to `limit`, which is a hang.
    pub(super) fn run<S: AsRef<OsStr>>(&mut self, limit: Duration, words: &[S]) -> Outcome<Ran> {
        let started = self.start(self.dacapo(words))?;
        self.finish(started, limit)
    }

    /// Runs the program under the tracer, with a strike at one call; without a tracer, it just runs.
    pub(super) fn struck<S: AsRef<OsStr>>(&mut self, plan: &Plan, words: &[S]) -> Outcome<(Ran, Report)> {
        let Some(tracer) = self.tracer.clone() else {
            self.tally.remark(
                "no tracer (no C compiler, or ptrace is not allowed): strikes at exact calls were left out",
            );
            return Ok((self.run(WORK, words)?, Report::default()));
        };
        let report = self.path(&format!("out/{:03}.report", self.commands));
        let mut command = Command::new(tracer);
        self.dress(&mut command).args(plan.words()).arg(format!("report={}", report.display()));
        command.arg("--").arg(&self.program).args(words);
        let started = self.start(command)?;
        let ran = self.finish(started, WORK)?;
        if ran.code == 125 {
            self.tally.remark("ptrace is not allowed here: strikes at exact calls were left out");
        }
        let report = Report::read(&fs::read_to_string(&report).unwrap_or_default());
        for class in &report.killed {
            self.tally.count(&format!("killed-{class}"));
        }
        self.tally.count(if report.struck { "strikes" } else { "missed" });
        Ok((ran, report))
    }

    /// Starts a command whose output goes to files, so that nobody is held up by it.
    pub(super) fn start(&mut self, mut command: Command) -> Outcome<Started> {
        let number = self.commands;
        self.commands += 1;
        let (out, err) =
            (self.path(&format!("out/{number:03}.out")), self.path(&format!("out/{number:03}.err")));
        let file =
            |path: &Path| File::create(path).map_err(|e| format!("cannot write {}: {e}", path.display()));
        command.stdout(file(&out)?).stderr(file(&err)?);
        let label = format!("{number:03} {}", crate::shell::shown(&command));
        self.log(&format!("{label} …"));
        let program = Path::new(command.get_program());
        let is_ours = program == self.program || self.tracer.as_deref() == Some(program);
        let child = command.spawn().map_err(|e| format!("cannot start {label}: {e}"))?;
        Ok(Started { child, is_ours, label, out, err })
    }

    /// Waits for a command; one that is not done by its limit is a hang, and is ended.
    pub(super) fn finish(&mut self, started: Started, limit: Duration) -> Outcome<Ran> {
        let pid = started.pid();
        let Started { mut child, is_ours, label, out, err } = started;
        let (end, ended) = mpsc::channel();
        let waiter = thread::spawn(move || {
            let status = child.wait();
            // The other side has gone only when it no longer wants to know.
            let _ = end.send(());
            status
        });
        let hung = ended.recv_timeout(limit).is_err();
        if hung {
            self.hung = true;
            // Not waited for yet, so the number is still its own.
            let below = processes::below(pid);
            processes::end_below(pid);
            processes::kill(pid);
            let left: Vec<String> = below.into_iter().map(|p| p.command).collect();
            self.tally
                .fault(Fault::Hang, format!("`{label}` was not done after {limit:?}; below it: {left:?}"));
        }
        let status = waiter.join().map_err(|_| "the waiting thread broke".to_owned())?;
        let status = status.map_err(|e| format!("lost {label}: {e}"))?;
        let read = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        let ran = Ran { code: code(status), out: read(&out), err: read(&err) };
        self.log(&format!("{label} → {}", ran.code));
        if is_ours {
            self.look_for_panic(&label, &ran);
        }
        // Whatever follows would hang too, and a fault is enough.
        if hung { Err(format!("{label} hung")) } else { Ok(ran) }
    }

    fn look_for_panic(&mut self, label: &str, ran: &Ran) {
        if ran.err.contains("panicked at") || matches!(ran.code, 101 | 134 | 139) {
            self.tally.fault(Fault::Panic, format!("`{label}`: {}", ran.said()));
        }
    }

    /// What the case did so far, for who reads it when it failed.
    pub(super) fn log(&self, line: &str) {
        let file = File::options().append(true).create(true).open(self.path("out/log"));
        // A log that cannot be written must not fail the case.
        let _ = file.and_then(|mut file| writeln!(file, "{line}"));
    }

    /// A git command that must succeed.
    pub(super) fn git(&self, words: &[&str]) -> Outcome<String> {
        self.git_in(&self.repo(), words)
    }

    pub(super) fn git_in(&self, dir: &Path, words: &[&str]) -> Outcome<String> {
        let mut command = Command::new("git");
        let output = self.dress(command.args(words)).current_dir(dir).output();
        let output = output.map_err(|e| format!("cannot start git: {e}"))?;
        if !output.status.success() {
            return Err(format!(
                "git {}: {}",
                words.join(" "),
                String::from_utf8_lossy(&output.stderr).trim()
            ));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    }

    /// `status NAME --json`; none where the program did not give it.
    pub(super) fn status(&mut self, name: &str) -> Outcome<Option<Value>> {
        let ran = self.run(LOOK, &["status", name, "--json"])?;
        if ran.code != 0 {
            return Ok(None);
        }
        match serde_json::from_str(&ran.out) {
            Ok(status) => Ok(Some(status)),
            Err(e) => {
                self.tally
                    .fault(Fault::State, format!("`status {name} --json` is no JSON ({e}): {}", ran.out));
                Ok(None)
            }
        }
    }

    /// Directories of the repositories that the program keeps data of: at most one, in a case.
    pub(super) fn store(&self) -> Option<PathBuf> {
        fs::read_dir(self.path("data/repos")).ok()?.flatten().map(|entry| entry.path()).next()
    }

    /// The directory of a task, if there is one.
    pub(super) fn task_dir(&self, name: &str) -> Option<PathBuf> {
        self.store().map(|store| store.join("tasks").join(name)).filter(|dir| dir.is_dir())
    }

    /// What a check on the way found: told, and the case goes on.
    pub(super) fn fault(&mut self, fault: Fault, text: impl Into<String>) {
        let text = text.into();
        self.log(&format!("FAULT {}: {text}", fault.word()));
        self.tally.fault(fault, text);
    }
}

/// The toolchain itself comes first: what chooses one keeps its settings in a home that is not the case's.
fn path() -> OsString {
    let users = std::env::var_os("PATH").unwrap_or_default();
    let tools = std::env::var_os("CARGO").and_then(|cargo| Some(Path::new(&cargo).parent()?.to_owned()));
    std::env::join_paths(tools.into_iter().chain(std::env::split_paths(&users))).unwrap_or(users)
}

fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}
