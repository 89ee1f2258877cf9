//! The process of a task in the background: our own program run again, in a session of its own.
//!
//! Whoever starts it has the task's lock. The child is handed it, by descriptors whose numbers are among its arguments, so
//! the lock is never free in between; it says in one word on its standard output when it is on its own: it has left the
//! terminal's session, it has a slot or its number in the queue, and the journal says that it begins or goes on. So
//! tasks work in the order in which they were started, and no terminal takes one with it.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use dacapo_core::engine::{Answers, Control, Driver, DriverContext, QueueEntry};
use dacapo_core::event::TaskResult;
use dacapo_core::process::{RUNNER_ARGUMENT, can_see_processes, leave};
use dacapo_core::spec::{Place, ProofPolicy, TaskSpec};
use dacapo_core::store::{Lock, TaskDir, WorkspaceLock, files};
use serde::{Deserialize, Serialize};

use super::awake::keep_awake;
use super::repo_slot;
use super::run::{Ended, context, failed, locks, look_for_conflicts};
use crate::App;
use crate::config::{Project, load};
use crate::error::Failure;
use crate::messages::{Messages, command, say};
use crate::notify::{self, Channel, Doorbell};
use crate::operations::tasks::{checkout, last_words, vouched_spec};
use crate::present::errors;
use crate::request::agents_given_again;
use crate::sizes;

const READY: &str = "ready\n";
/// The same, where others come first.
const QUEUED: &str = "queued\n";

/// How a task in the background has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Begun {
    /// It has a slot.
    Running,
    /// It waits for a slot.
    Queued,
}

impl Begun {
    /// What its process says on standard output when it stands on its own.
    pub fn word(self) -> &'static str {
        match self {
            Begun::Running => READY,
            Begun::Queued => QUEUED,
        }
    }
}

/// What the process of a task is told, beyond the task itself. It goes through a pipe: arguments can be read by all.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Instructions {
    /// More iterations than were asked for first.
    pub more_iterations: Option<u32>,
    /// What a person adds to the task.
    pub follow_up: Option<String>,
    /// How commits are proven from now on, where that changes.
    #[serde(default)]
    pub proof: Option<ProofPolicy>,
    /// Secrets that were set for it and are stored nowhere.
    #[serde(default)]
    pub secrets: Vec<(String, String)>,
}

/// Starts the process of a task whose lock the caller holds, and that of its checkout where it works in the user's own, and
/// returns when it stands on its own.
pub fn start(
    app: &App,
    dir: &TaskDir,
    spec: &TaskSpec,
    (lock, workspace): (&Lock, Option<&WorkspaceLock>),
    instructions: &Instructions,
) -> Result<Begun, Failure> {
    let name = spec.name.as_str();
    let log = dir.runner_log_path();
    let failed = |what: &str, error: io::Error| {
        let error = error.to_string();
        Failure::failed(say(|m| m.process_cannot_start(name, what, &error)))
            .kept(say(Messages::process_nothing_runs))
            .hint(say(|m| m.process_resume_tries_again(name)))
    };
    can_see_processes().map_err(|error| failed("spawn", error))?;
    // Each process has a log of its own: what an earlier one said is not why this one ended.
    let errors = files::append(&log);
    let errors = errors.and_then(|file| file.set_len(0).map(|()| file));
    let errors = errors.map_err(|error| failed("log", error))?;
    let mut command = Command::new(&app.program);
    command.arg0("dacapo").arg(RUNNER_ARGUMENT).arg(dir.path());
    command.env_clear().envs(app.env.iter().map(|(name, value)| (name, value)));
    for lock in std::iter::once(lock).chain(workspace.map(WorkspaceLock::lock)) {
        // By descriptor and not by taking it again: between a release here and a lock there somebody else could get
        // the task.
        let numbers = lock.hand_to(&mut command);
        command.arg(numbers);
    }
    command.current_dir(&spec.top).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
    let mut child = command.spawn().map_err(|error| failed("spawn", error))?;
    let told = serde_json::to_vec(instructions).map_err(|error| failed("stdin", error.into()))?;
    // One that is gone already says why in its log.
    let _ = child.stdin.take().map(|mut pipe| pipe.write_all(&told));
    let mut said = String::new();
    // Read to its end, which comes when the child has closed it: after its one word, or by dying. So this cannot hang
    // on a child that neither speaks nor lives.
    let heard = child.stdout.take().map(|mut pipe| pipe.read_to_string(&mut said)).transpose();
    heard.map_err(|error| failed("stdout", error))?;
    for begun in [Begun::Running, Begun::Queued] {
        if said == begun.word() {
            leave(child);
            return Ok(begun);
        }
    }
    let _ = child.wait();
    let why = last_words(dir);
    let message = |m: Messages| {
        let why = why.clone().unwrap_or_else(|| m.process_ended_silently());
        m.process_could_not_start(name, &why)
    };
    Err(Failure::failed(say(message))
        .kept(say(Messages::process_nothing_runs))
        .hint(say(|m| m.process_fix_then_resume(name))))
}

/// What the process of a task does for itself around the driver.
pub struct Process<'a> {
    /// Hears what stops the task from outside.
    pub listen: &'a mut dyn FnMut(Control) -> Result<(), Failure>,
    /// The task stands on its own: whoever started it is told, and has nothing to do with it any more.
    pub stand_alone: &'a mut dyn FnMut(Begun) -> io::Result<()>,
}

/// The whole life of the process of a task, but for what comes after its end.
pub fn run(
    app: &App,
    dir: &TaskDir,
    lock_numbers: &[OsString],
    instructions: Instructions,
    process: &mut Process<'_>,
) -> Result<Ended, Failure> {
    let mut spec = vouched_spec(dir)?;
    let taken = take_over_locks(app, dir, &spec, lock_numbers)
        .map_err(|error| Failure::failed(errors::text(&error)))?;
    let (lock, workspace) = taken.ok_or_else(|| Failure::failed(say(Messages::process_without_its_lock)))?;
    let loaded = load(&app.project_sources(&spec.top))?;
    if let Project::Unconfirmed { brought, .. } = &loaded.project {
        tracing::warn!("{} is not trusted, and what it sets has no effect: dacapo trust", brought.source);
    }
    let command = command(format_args!("resume {}", spec.name));
    agents_given_again(app, &loaded.config, &mut spec, &command)?;
    let slots = app.home()?.slots(loaded.config.spawn_task.max_concurrent);
    let slots = repo_slot::enter(app, dir, &spec, slots)?;
    let _awake = loaded.config.keep_awake.then(|| keep_awake(spec.name.as_str())).flatten();
    let begun = Instant::now();
    // As they are now: an agent may write other settings later.
    let channels = notify::channels(app, &loaded.config.notify);
    let base = context(app)?;
    let supervision = base.supervision.with_limit(loaded.config.worktree.git_timeout.duration());
    let base = DriverContext { supervision, locks: locks(&lock, workspace.as_ref()), ..base };
    let result = drive(app, (dir, spec.clone()), (instructions, base, channels), slots, process)?;
    sizes::remember(dir);
    Ok(Ended { spec, dir: dir.clone(), result, config: loaded.config, took: begun.elapsed(), lock })
}

/// The locks came with us, by these numbers; who looks at them sees from now on that we have them.
fn take_over_locks(
    app: &App,
    dir: &TaskDir,
    spec: &TaskSpec,
    numbers: &[OsString],
) -> io::Result<Option<(Lock, Option<WorkspaceLock>)>> {
    let mut numbers = numbers.iter().filter_map(|numbers| numbers.to_str());
    let lock = numbers.next().map(|numbers| Lock::inherited(&dir.lock_target(), numbers)).transpose()?;
    let Some(lock) = lock.flatten() else { return Ok(None) };
    let workspace = match (&spec.place, numbers.next()) {
        (Place::InPlace { .. }, Some(numbers)) => {
            let repo = checkout(app, &spec.top).map_err(io::Error::other)?;
            WorkspaceLock::inherited(repo.git_dir(), spec.name.as_str(), numbers)?
        }
        (Place::InPlace { .. } | Place::Worktree { .. }, _) => None,
    };
    let complete = workspace.is_some() || matches!(spec.place, Place::Worktree { .. });
    Ok(complete.then_some((lock, workspace)))
}

fn drive(
    app: &App,
    (dir, spec): (&TaskDir, TaskSpec),
    (instructions, base, channels): (Instructions, DriverContext, Vec<Channel>),
    (repo_slot, machine_slot): (Option<QueueEntry>, QueueEntry),
    process: &mut Process<'_>,
) -> Result<TaskResult, Failure> {
    let waits = machine_slot.waits() || repo_slot.as_ref().is_some_and(QueueEntry::waits);
    let begun = if waits { Begun::Queued } else { Begun::Running };
    let mut sink = Doorbell::new(app, channels, dir, &spec);
    let setting = DriverContext {
        env: base.env.with(instructions.secrets),
        more_iterations: instructions.more_iterations,
        follow_up: instructions.follow_up,
        proof: instructions.proof,
        answers: Answers::FromAfar,
        repo_slot,
        machine_slot: Some(machine_slot),
        ..base
    };
    let name = spec.name.to_string();
    let (mut driver, control) =
        Driver::new(spec, dir.clone(), setting, &mut sink).map_err(|error| failed(&name, error))?;
    // Signals are heard before the first line is written: a SIGTERM from here on ends the task in good order.
    (process.listen)(control)?;
    driver.begin().map_err(|error| failed(&name, error))?;
    // Only after the journal says that the task begins: whoever is told "started" can rely on it.
    (process.stand_alone)(begun).map_err(|error| Failure::failed(errors::text(&error)))?;
    let result = driver.run().map_err(|error| failed(&name, error))?;
    look_for_conflicts(app, dir, &result);
    Ok(result)
}
