//! Ends a task and all it started, also when its own process is dead already (S8).

use std::io;
use std::sync::mpsc;
use std::time::Duration;

use dacapo_core::engine::{Driver, DriverContext};
use dacapo_core::event::{Command, Outcome, StopReason};
use dacapo_core::process::{guards_with_open, is_stopped, sweep, waits_for_git, wake};
use dacapo_core::store::{Lock, LockError, TaskDir};
use dacapo_core::view::{Status, TaskView};

use super::run;
use crate::App;
use crate::error::Failure;
use crate::messages::say;
use crate::note::Note;
use crate::operations::tasks::{still_finishing, vouched_spec};
use crate::present::errors;
use crate::present::log::Tracing;
use crate::present::words;

/// A process that does as it is told is gone well within this: its agent has 3 s to end, then git commits.
const GENTLE: Duration = Duration::from_secs(30);

/// Most are gone before this; who waits longer is told what for.
const UNREMARKABLE: Duration = Duration::from_secs(5);

/// A guard that hears of its runner's end has ended all within this time, or is on its way.
const LISTENING: Duration = Duration::from_secs(5);

/// What the kernel ends is gone in a moment, and its guards end the rest.
const FORCED: Duration = Duration::from_secs(20);

/// A command that ends a task.
struct Ending {
    by: &'static str,
    command: Command,
    /// It is for good, so it is put on record also where the task has ended by itself.
    for_good: bool,
}

const KILL: Ending = Ending { by: "dacapo kill", command: Command::Kill, for_good: false };

/// Nobody is to take the task up again by itself.
const ABANDON: Ending = Ending { by: "dacapo milestone abandon", command: Command::Abandon, for_good: true };

impl App {
    /// Ends tasks and all they started; what one of them is refused does not keep the others from it.
    pub fn kill(&self, tasks: Vec<TaskDir>) -> Vec<(TaskDir, Result<Killed, Failure>)> {
        // All are told before the first is waited for: they end side by side.
        let told: Vec<(TaskDir, Before, Result<Notified, Failure>)> = tasks
            .into_iter()
            .map(|dir| {
                let before = self.view(&dir).map_or(Before::Alive, |view| Before::of(&dir, view.status));
                let told = tell(self, &dir, &KILL);
                (dir, before, told)
            })
            .collect();
        told.into_iter()
            .map(|(dir, before, told)| {
                let killed = told.and_then(|told| {
                    end(self, &dir, &told, &KILL)?;
                    Ok(Killed { view: self.view(&dir)?, was_over: before == Before::Ended })
                });
                (dir, killed)
            })
            .collect()
    }

    /// Ends a task for good, whether or not it runs.
    pub fn abandon(&self, dir: &TaskDir) -> Result<TaskView, Failure> {
        let told = tell(self, dir, &ABANDON)?;
        end(self, dir, &told, &ABANDON)?;
        self.view(dir)
    }
}

/// A task that has ended.
#[derive(Debug)]
pub struct Killed {
    /// How it is now.
    pub view: TaskView,
    /// It was over already.
    pub was_over: bool,
}

impl Killed {
    /// Ending what is over is a mistake that changed nothing.
    pub fn refuse_over(self) -> Result<TaskView, Failure> {
        let view = self.view;
        if !self.was_over {
            return Ok(view);
        }
        Err(Failure::usage(say(|m| m.task_not_running(&view.name, &words::status(view.status, m))))
            .kept(say(|m| m.kill_kept_nothing_to_end()))
            .hint(say(|m| m.kill_status_shows_end(&view.name))))
    }
}

/// How a task was when it was to be ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// It ran, or could go on.
    Alive,
    /// It was over, and nothing of it ran.
    Ended,
}

impl Before {
    fn of(dir: &TaskDir, status: Status) -> Self {
        if status.has_ended() && dir.is_driven().is_ok_and(|driven| !driven) {
            Self::Ended
        } else {
            Self::Alive
        }
    }
}

/// How a task has learnt that it is to end.
enum Notified {
    /// By this command in its inbox.
    Command(String),
    /// By SIGTERM to its process.
    Signal,
    /// There is nobody to tell.
    Nobody,
}

fn tell(app: &App, dir: &TaskDir, ending: &Ending) -> Result<Notified, Failure> {
    let name = dir.name();
    let io = |error: io::Error| Failure::failed(say(|m| m.task_unreachable(&name, &error.to_string())));
    if !dir.is_driven().map_err(io)? {
        return Ok(Notified::Nobody);
    }
    let told = match dir.inbox().put(ending.by, ending.command.clone()) {
        Ok(id) => {
            tracing::debug!("command {id} was given to task {name}");
            Notified::Command(id)
        }
        Err(error) => {
            // What fills the disk may be the very agent that is to end: a signal needs no room.
            // Both must agree before anything is signalled: an id from a file may belong to another process by now.
            let driver = dir.holder().filter(|pid| Some(*pid) == dir.last_driver());
            let Some(pid) = driver else { return Err(io(error)) };
            rustix::process::kill_process(pid, rustix::process::Signal::TERM)
                .map_err(|errno| io(errno.into()))?;
            tracing::debug!("task {name} was told by a signal: {error}");
            return Ok(Notified::Signal);
        }
    };
    stop_pushing(app, dir)?;
    wake_all(dir);
    Ok(told)
}

/// Somebody may have stopped the task's process or its guards (Ctrl-Z, SIGSTOP): woken, they hear what they are told.
fn wake_all(dir: &TaskDir) {
    dir.holder().into_iter().chain(guards_with_open(dir.path())).for_each(wake);
}

/// Waits for the end of a task that was told, and ends one that nobody drives.
fn end(app: &App, dir: &TaskDir, told: &Notified, ending: &Ending) -> Result<(), Failure> {
    let name = dir.name();
    let spec = dir.spec().map_err(|error| Failure::failed(errors::text(&error)))?;
    match told {
        Notified::Command(_) | Notified::Signal if is_free_within(dir, UNREMARKABLE) => {}
        Notified::Command(_) | Notified::Signal => {
            let left = GENTLE - UNREMARKABLE;
            let deaf = is_deaf(dir, told);
            if deaf {
                app.note(&Note::NotListening { task: name.clone() });
            } else {
                let killed_in_seconds = left.as_secs();
                app.note(&Note::NotEndedYet { task: name.clone(), killed_in_seconds });
            }
            if deaf || !is_free_within(dir, left) {
                force(app, dir, told, &spec.tag)?;
            }
        }
        Notified::Nobody => {}
    }
    let seen = app.view(dir)?;
    let gone_by_itself = ending.for_good
        && seen.result.as_ref().is_some_and(|result| {
            result.outcome != Outcome::Completed && result.stop_reason != StopReason::Abandoned
        });
    if seen.status.has_ended() && !gone_by_itself {
        // Its process is gone in good order; a tag that is still about belongs to nobody.
        sweep(&spec.tag);
        return Ok(());
    }
    match seen.status {
        _ if gone_by_itself => end_the_dead(app, dir, ending),
        Status::Interrupted | Status::Paused => end_the_dead(app, dir, ending),
        status => Err(Failure::failed(say(|m| m.kill_cannot_end(&name, &words::status(status, m))))
            .hint(say(|m| m.kill_try_again(&name)))),
    }
}

/// Its process lives on after the task has ended, for a pull request: nothing reads the inbox then.
fn stop_pushing(app: &App, dir: &TaskDir) -> Result<(), Failure> {
    let holder = dir.holder();
    if let Some(pid) = holder.filter(|pid| Some(*pid) == dir.last_driver())
        && app.view(dir)?.status.has_ended()
    {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    Ok(())
}

/// It does not listen: stopped, hung on a disk, or of another version. What has the lock for something else than to drive
/// the task is not ours to end: a takeover, a merge, a pull request.
fn force(app: &App, dir: &TaskDir, told: &Notified, tag: &str) -> Result<(), Failure> {
    let name = dir.name();
    let status = app.view(dir)?.status;
    let holder = dir.holder();
    match holder {
        Some(pid) if status.is_settled() && Some(pid) != dir.last_driver() => {
            if let Notified::Command(id) = told {
                let _ = dir.inbox().forget(id);
            }
            return Err(Failure::usage(say(|m| {
                m.kill_process_at_work(&name, &words::status(status, m), pid.as_raw_nonzero().get())
            }))
            .kept(say(|m| m.kept_nothing_ended()))
            .hint(say(|m| m.hint_wait_waits(&name))));
        }
        Some(pid) => {
            // Its guards see the end of their sockets and end what they watch over, before they give up the lock.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        None => {}
    }
    if is_free_within(dir, LISTENING) {
        return Ok(());
    }
    // Guards that hear nothing of its end are stopped or stuck; what they watched over is found by its tag.
    for guard in guards_with_open(dir.path()) {
        let _ = rustix::process::kill_process(guard, rustix::process::Signal::KILL);
    }
    sweep(tag);
    if is_free_within(dir, FORCED) { Ok(()) } else { Err(still_finishing(&name)) }
}

/// A process that listens takes a command at once, unless git keeps it waiting. One that is stopped though it was woken
/// hears nothing, and neither does its guard.
fn is_deaf(dir: &TaskDir, told: &Notified) -> bool {
    if dir.holder().into_iter().chain(guards_with_open(dir.path())).any(is_stopped) {
        return true;
    }
    let Notified::Command(id) = told else { return false };
    let waits = dir.inbox().look().is_ok_and(|waiting| waiting.iter().any(|command| command.id == *id));
    let at_git = || dir.holder().is_some_and(waits_for_git);
    waits && !at_git()
}

/// Nobody drives it: we do, and the first thing we are told is to end it.
fn end_the_dead(app: &App, dir: &TaskDir, ending: &Ending) -> Result<(), Failure> {
    let name = dir.name();
    let lock = dir.lock().map_err(|error| match error {
        LockError::Held => {
            Failure::usage(say(|m| m.kill_started_again(&name))).hint(say(|m| m.hint_kill_ends_it(&name)))
        }
        LockError::Lingering => still_finishing(&name),
        LockError::Io { .. } | LockError::RenameUnfinished { .. } => Failure::failed(errors::text(&error)),
    })?;
    let spec = vouched_spec(dir)?;
    let inbox = dir.inbox();
    // Older stops go first: the record says who ended the task, and that is this command.
    let told = inbox.forget_stops().and_then(|()| inbox.put(ending.by, ending.command.clone()));
    told.map_err(|error| {
        Failure::failed(say(|m| m.kill_not_recorded(&name, &error.to_string())))
            .kept(say(|m| m.kill_kept_nothing_runs()))
            .hint(say(|m| m.kill_fix_then_kill(&name)))
    })?;
    let setting = DriverContext { locks: run::locks(&lock, None), ..run::context(app)? };
    let mut sink = Tracing::taking_up(&spec, dir, app.kinds);
    let (driver, _) =
        Driver::new(spec, dir.clone(), setting, &mut sink).map_err(|error| run::failed(&name, error))?;
    driver.run().map(drop).map_err(|error| run::failed(&name, error))
}

/// Waits for the lock in a thread of its own: nothing else can put an end to waiting for one.
pub fn is_free_within(dir: &TaskDir, time: Duration) -> bool {
    let (tell, told) = mpsc::channel();
    let lock = dir.lock_target();
    let waiting = std::thread::Builder::new().name("lock".into()).spawn(move || {
        let _ = tell.send(Lock::wait_until_free(&lock));
    });
    match waiting {
        Ok(_) => matches!(told.recv_timeout(time), Ok(Ok(()))),
        // A task that has used up all processes must still be killed, so here it is looked again and again.
        Err(_) => is_free_by_looking(dir, time),
    }
}

fn is_free_by_looking(dir: &TaskDir, time: Duration) -> bool {
    const LOOK_EVERY: Duration = Duration::from_millis(20);
    let start = std::time::Instant::now();
    while !dir.is_driven().is_ok_and(|driven| !driven) {
        if start.elapsed() >= time {
            return false;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    true
}
