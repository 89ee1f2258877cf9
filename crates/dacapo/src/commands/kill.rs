//! `dacapo kill`: ends a task and all it started, also when its own process is dead already (S8).

use std::io;
use std::sync::mpsc;
use std::time::Duration;

use dacapo_core::engine::{Answers, Driver, Setting};
use dacapo_core::event::{Command, Event};
use dacapo_core::process::sweep;
use dacapo_core::store::{Lock, LockError, TaskDir, read};
use dacapo_core::task::Kinds;
use dacapo_core::view::Status;

use super::drive;
use super::resume::still_finishing;
use super::{print, task, view};
use crate::args::Kill;
use crate::errand::own_program;
use crate::error::Failure;
use crate::output::log::Tracing;
use crate::output::{report, status};

/// A process that does as it is told is gone well within this: its agent has 3 s to end, then git commits.
const GENTLE: Duration = Duration::from_secs(30);

/// What the kernel ends is gone in a moment, and its guards end the rest.
const FORCED: Duration = Duration::from_secs(20);

pub(super) fn run(args: &Kill) -> Result<u8, Failure> {
    // All names are looked up before any task is touched.
    let tasks = args.names.iter().map(|name| task(Some(name))).collect::<Result<Vec<_>, _>>()?;
    for (_, dir) in &tasks {
        end(dir)?;
        let view = view(dir)?;
        match &view.result {
            _ if args.json => print(&view.to_json().to_string()),
            Some(result) => print(&report::result(&view, result)),
            None => print(&status::status(&view, None, None)),
        }
    }
    Ok(0)
}

fn end(dir: &TaskDir) -> Result<(), Failure> {
    let name = dir.name();
    let io = |error: io::Error| Failure::failed(format!("task '{name}' cannot be reached: {error}"));
    let spec = dir.spec().map_err(|error| Failure::failed(error.to_string()))?;
    if dir.is_driven().map_err(io)? {
        let id = dir.inbox().put("dacapo kill", Command::Kill).map_err(io)?;
        tracing::debug!("command {id} was given to task {name}");
        stop_pushing(dir)?;
        if !is_free_within(dir, GENTLE) {
            force(dir, &id)?;
        }
    }
    let seen = view(dir)?;
    if seen.status.has_ended() {
        // Its process is gone in good order; a tag that is still about belongs to nobody.
        sweep(&spec.tag);
        return Ok(());
    }
    match seen.status {
        Status::Interrupted | Status::Paused => end_the_dead(dir),
        status => Err(Failure::failed(format!("task '{name}' is {} and cannot be ended", status.as_str()))
            .hint(format!("dacapo kill {name} tries again"))),
    }
}

/// Its process lives on after the task has ended, for a pull request: nothing reads the inbox then.
fn stop_pushing(dir: &TaskDir) -> Result<(), Failure> {
    let holder = Lock::holder(&dir.lock_path());
    if let Some(pid) = holder.filter(|pid| Some(*pid) == last_driver(dir))
        && view(dir)?.status.has_ended()
    {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    Ok(())
}

/// It does not listen: stopped, hung on a disk, or of another version. What has the lock for something else than to drive
/// the task is not ours to end: a takeover, a merge, a pull request.
fn force(dir: &TaskDir, command: &str) -> Result<(), Failure> {
    let name = dir.name();
    let status = view(dir)?.status;
    let holder = Lock::holder(&dir.lock_path());
    match holder {
        Some(pid) if status.is_settled() && Some(pid) != last_driver(dir) => {
            let _ = dir.inbox().forget(command);
            return Err(Failure::usage(format!(
                "Task '{name}' is {}, and process {} is at work on it: a takeover, a merge or a pull request",
                status.as_str(),
                pid.as_raw_nonzero()
            ))
            .kept("everything; nothing was ended")
            .hint(format!("dacapo wait {name} waits for it")));
        }
        Some(pid) => {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        None => {}
    }
    if is_free_within(dir, FORCED) { Ok(()) } else { Err(still_finishing(&name)) }
}

/// The process that drove the task last, by its journal.
fn last_driver(dir: &TaskDir) -> Option<rustix::process::Pid> {
    let mut last = None;
    // What does not read names nobody.
    let _ = read(&dir.journal_path(), |line| {
        if let Event::TaskStarted { pid, .. } | Event::Resumed { pid, .. } = line.event {
            last = Some(pid);
        }
    });
    rustix::process::Pid::from_raw(i32::try_from(last?).ok()?)
}

/// Nobody drives it: we do, and the first thing we are told is to end it.
fn end_the_dead(dir: &TaskDir) -> Result<(), Failure> {
    let name = dir.name();
    let _lock = dir.lock().map_err(|error| match error {
        LockError::Held => Failure::usage(format!("Task '{name}' was started again"))
            .hint(format!("dacapo kill {name} ends it")),
        LockError::Lingering => still_finishing(&name),
        LockError::Io { .. } => Failure::failed(error.to_string()),
    })?;
    let inbox = dir.inbox();
    let told = inbox.forget_stops().and_then(|()| inbox.put("dacapo kill", Command::Kill));
    told.map_err(|error| Failure::failed(format!("task '{name}' cannot be told to end: {error}")))?;
    let spec = dir.spec().map_err(|error| Failure::failed(error.to_string()))?;
    let setting = Setting {
        program: own_program(),
        env: std::env::vars_os().collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        limits: super::home()?.limits(),
        more_iterations: None,
        follow_up: None,
        kinds: Kinds::default(),
        answers: Answers::Here,
        places: None,
    };
    let mut sink = Tracing::default();
    let (driver, _) =
        Driver::new(spec, dir.clone(), setting, &mut sink).map_err(|error| drive::failed(&name, error))?;
    driver.run().map(drop).map_err(|error| drive::failed(&name, error))
}

/// Waits for the lock in a thread of its own: nothing else can put an end to waiting for one.
pub(super) fn is_free_within(dir: &TaskDir, time: Duration) -> bool {
    let (tell, told) = mpsc::channel();
    let lock = dir.lock_path();
    std::thread::spawn(move || {
        let _ = tell.send(Lock::wait_until_free(&lock));
    });
    matches!(told.recv_timeout(time), Ok(Ok(())))
}
