//! The process of a task in the background: our own program run again, in a session of its own.
//!
//! Whoever starts it has the task's lock. The child inherits it, so the lock is never free in between, and says in one
//! word on its standard output when it is on its own: it has left the terminal's session, it has a place to work or its
//! number in the row, and the journal says that it begins or goes on. So tasks work in the order in which they were
//! started, and no terminal takes one with it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use dacapo_core::engine::{Answers, Driver, Row, Setting};
use dacapo_core::event::TaskResult;
use dacapo_core::process::can_see_processes;
use dacapo_core::spec::{Place, ProofPolicy, TaskSpec};
use dacapo_core::store::{Lock, TaskDir, WorkspaceLock, files};
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::drive::{self, AfterTheEnd, exit_code, keep_awake, listen_to};
use super::turn;
use crate::after_task::{Ended, after_task};
use crate::args::Show;
use crate::config::{Project, Sources, load};
use crate::errand::own_program;
use crate::error::Failure;
use crate::notify::{self, Doorbell, Way};

/// What makes our program the process of a task.
pub const ARGUMENT: &str = "__run";

const READY: &str = "ready\n";
/// The same, where others come first.
const QUEUED: &str = "queued\n";

/// How a task in the background has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begun {
    /// It has a place.
    Running,
    /// Others come first.
    Queued,
}

/// What the process of a task is told, beyond the task itself. It goes through a pipe: arguments can be read by all.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Instructions {
    /// More iterations than were asked for first.
    pub(super) more_iterations: Option<u32>,
    /// What a person adds to the task.
    pub(super) follow_up: Option<String>,
    /// How commits are proven from now on, where that changes.
    #[serde(default)]
    pub(super) proof: Option<ProofPolicy>,
    /// Secrets that were set for it and are stored nowhere.
    #[serde(default)]
    pub(super) secrets: Vec<(String, String)>,
}

/// Starts the process of a task whose lock the caller holds, and returns when it stands on its own.
pub(super) fn start(dir: &TaskDir, spec: &TaskSpec, instructions: &Instructions) -> Result<Begun, Failure> {
    let name = spec.name.as_str();
    let log = dir.runner_log_path();
    let failed = |what: &str, error: io::Error| {
        Failure::failed(format!("cannot start task '{name}' in the background: {what}: {error}"))
            .kept("all that is there; nothing runs")
            .hint(format!("dacapo resume {name} tries again"))
    };
    can_see_processes().map_err(|error| failed("its process", error))?;
    // Each process has a log of its own: what an earlier one said is not why this one ended.
    let errors = files::append(&log);
    let errors = errors.and_then(|file| file.set_len(0).map(|()| file));
    let errors = errors.map_err(|error| failed("its log", error))?;
    let mut child = Command::new(own_program())
        .arg0("dacapo")
        .arg(ARGUMENT)
        .arg(dir.path())
        .current_dir(&spec.top)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(errors)
        .spawn()
        .map_err(|error| failed("its process", error))?;
    let told = serde_json::to_vec(instructions).map_err(|error| failed("what it is told", error.into()))?;
    // One that is gone already says why in its log.
    let _ = child.stdin.take().map(|mut pipe| pipe.write_all(&told));
    let mut said = String::new();
    let heard = child.stdout.take().map(|mut pipe| pipe.read_to_string(&mut said)).transpose();
    heard.map_err(|error| failed("its first word", error))?;
    match said.as_str() {
        READY => return Ok(Begun::Running),
        QUEUED => return Ok(Begun::Queued),
        _ => {}
    }
    let _ = child.wait();
    let why = last_words(dir).unwrap_or_else(|| "it ended without a word".into());
    Err(Failure::failed(format!("task '{name}' could not be started in the background: {why}"))
        .kept("all that is there; nothing runs")
        .hint(format!("mend the cause, then dacapo resume {name}")))
}

/// What the process of a task in the background said last, if it said anything.
pub(super) fn last_words(dir: &TaskDir) -> Option<String> {
    let bytes = dacapo_core::process::tail(&dir.runner_log_path(), 2000).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(3)..].join("\n");
    (!last.is_empty()).then_some(last)
}

/// The process of a task.
pub fn main(args: &[OsString]) -> ExitCode {
    // Already the leader of a session: nothing to leave.
    let _ = rustix::process::setsid();
    let code = match args {
        [dir] => run(&TaskDir::at(dir.into())),
        _ => Err(Failure::usage(format!("{ARGUMENT} takes the directory of a task"))),
    };
    match code {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            complain!("{failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(dir: &TaskDir) -> Result<u8, Failure> {
    let cannot = |error: &dyn std::fmt::Display| Failure::failed(error.to_string());
    let mut told = Vec::new();
    io::stdin().lock().read_to_end(&mut told).map_err(|error| cannot(&error))?;
    let instructions: Instructions = serde_json::from_slice(&told).map_err(|error| cannot(&error))?;
    let spec = dir.spec().map_err(|error| cannot(&error))?;
    let lock = take_over_locks(dir, &spec).map_err(|error| cannot(&error))?;
    let lock = lock.ok_or_else(|| Failure::failed("the lock of the task did not come with its process"))?;
    let loaded = load(&Sources::for_repo(&spec.top))?;
    if let Project::Unconfirmed { brought, .. } = &loaded.project {
        tracing::warn!("{} is not trusted, and what it sets has no effect: dacapo trust", brought.source);
    }
    let places = super::home()?.places(loaded.config.spawn_task.max_concurrent);
    let rows = turn::enter(dir, &spec, places)?;
    let _awake = loaded.config.keep_awake.then(|| keep_awake(spec.name.as_str())).flatten();
    let begun = Instant::now();
    // As they are now: an agent may write other settings later.
    let ways = notify::ways(&loaded.config.notify);
    let result = drive(dir, spec.clone(), instructions, rows, ways)?;
    super::list::remember_size(dir);
    let ended = Ended {
        spec: &spec,
        dir,
        config: &loaded.config,
        show: Show { json: false, quiet: false },
        took: begun.elapsed(),
        outcome: result.outcome,
    };
    after_task(&ended, lock);
    Ok(exit_code(&result, &spec.place))
}

/// The locks came with us; who looks at them is to see who has them now.
fn take_over_locks(dir: &TaskDir, spec: &TaskSpec) -> io::Result<Option<Lock>> {
    let lock = Lock::inherited(&dir.lock_target())?;
    Lock::name_holder(&dir.lock_target())?;
    if let Place::InPlace { .. } = spec.place {
        let repo = dacapo_core::git::Repo::discover(&spec.top).map_err(io::Error::other)?;
        WorkspaceLock::name_holder(repo.git_dir(), spec.name.as_str())?;
    }
    Ok(lock)
}

/// Tells whoever started us, and has nothing to do with their files any more.
fn stand_alone(begun: Begun) -> io::Result<()> {
    let nothing = File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    let mut out = io::stdout().lock();
    let word = match begun {
        Begun::Running => READY,
        Begun::Queued => QUEUED,
    };
    out.write_all(word.as_bytes())?;
    out.flush()?;
    // What is printed from now on is for the log; the pipe closes with this.
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(())
}

fn drive(
    dir: &TaskDir,
    spec: TaskSpec,
    instructions: Instructions,
    (turn, place): (Option<Row>, Row),
    ways: Vec<Way>,
) -> Result<TaskResult, Failure> {
    let waits = place.waits() || turn.as_ref().is_some_and(Row::waits);
    let begun = if waits { Begun::Queued } else { Begun::Running };
    let mut sink = Doorbell::new(ways, dir, &spec);
    let mut setting = Setting {
        more_iterations: instructions.more_iterations,
        follow_up: instructions.follow_up,
        proof: instructions.proof,
        answers: Answers::FromAfar,
        turn,
        places: Some(place),
        ..drive::setting(super::home()?.limits())
    };
    drive::add(&mut setting.env, instructions.secrets);
    let name = spec.name.to_string();
    let (mut driver, control) =
        Driver::new(spec, dir.clone(), setting, &mut sink).map_err(|error| drive::failed(&name, error))?;
    // We have no terminal that could be closed; who sends it all the same means the terminal.
    signal_hook::flag::register(SIGHUP, std::sync::Arc::default())
        .map_err(|error| Failure::failed(format!("cannot listen to signals: {error}")))?;
    listen_to(&[SIGINT, SIGTERM], control, AfterTheEnd::Exit)?;
    driver.begin().map_err(|error| drive::failed(&name, error))?;
    stand_alone(begun).map_err(|error| Failure::failed(error.to_string()))?;
    let result = driver.run().map_err(|error| drive::failed(&name, error))?;
    drive::look_for_conflicts(dir, &result);
    Ok(result)
}
