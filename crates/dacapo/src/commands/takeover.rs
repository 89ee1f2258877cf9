//! `dacapo takeover`: a person works in the agent's own interactive session, in the task's worktree; then the loop goes
//! on (S2).

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::Duration;

use dacapo_app::operations::background::{self, Instructions};
use dacapo_app::operations::kill::is_free_within;
use dacapo_app::operations::start::{checkout_of, take_workspace};
use dacapo_app::operations::tasks::{still_finishing, still_running};
use dacapo_core::agent;
use dacapo_core::event::{Command, Event};
use dacapo_core::git::Repo;
use dacapo_core::spec::{AgentSpec, Place, TaskSpec};
use dacapo_core::store::{Lock, LockError, TaskDir, note, read};
use dacapo_core::view::{Status, TaskView};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::print;
use crate::App;
use crate::args::Takeover;
use crate::error::Failure;
use crate::output::words::{DIM, WARN, count, paint};

/// A turn that is ended has 3 s for it, and what it left is committed.
const PAUSING: Duration = Duration::from_secs(60);

pub(super) fn run(app: &App, args: &Takeover) -> Result<u8, Failure> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err(Failure::usage("takeover needs a terminal: a person works in it")
            .kept("everything; the task goes on"));
    }
    let (_, dir) = app.task(args.name.as_deref())?;
    let name = dir.name();
    let before = pause(&dir)?;
    let lock = take(&dir)?;
    let seen = app.view(&dir)?;
    let spec = dir.spec().map_err(|error| Failure::failed(error.to_string()))?;
    let place = place(&spec, &seen)?;
    let workspace = checkout_of(app, &spec)?.map(|checkout| take_workspace(&checkout, &name)).transpose()?;
    let sitting = Sitting::of(app, &dir, &spec, &seen);
    print(&paint(DIM, &format!("{} in {}", sitting.words, place.display())));
    sitting.hold(&place).map_err(|error| {
        Failure::failed(format!("cannot run {}: {error}", sitting.argv[0].display()))
            .kept(format!("everything; task '{name}' is not running now"))
            .hint(format!("dacapo resume {name} goes on with it"))
    })?;
    say_what_changed(app, &dir, &lock, &place);
    let at_work = go_on(app, args, &dir, &spec, before)?;
    if at_work {
        background::start(app, &dir, &spec, (&lock, workspace.as_ref()), &Instructions::default())?;
        print(&paint(WARN, &format!("{name} goes on in the background; dacapo attach {name} shows it")));
    }
    Ok(0)
}

/// What the task did before somebody took it over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    AtWork,
    AtRest,
}

/// A task at work pauses at once.
fn pause(dir: &TaskDir) -> Result<Before, Failure> {
    let name = dir.name();
    let unreachable = |error: io::Error| Failure::failed(format!("task '{name}' cannot be reached: {error}"));
    if !dir.is_driven().map_err(unreachable)? {
        return Ok(Before::AtRest);
    }
    print(&paint(DIM, &format!("pausing {name}; what its agent has done is committed")));
    dir.inbox().put("dacapo takeover", Command::Pause { now: true }).map_err(unreachable)?;
    if is_free_within(dir, PAUSING) {
        return Ok(Before::AtWork);
    }
    Err(Failure::failed(format!("task '{name}' does not pause"))
        .kept("everything; it pauses as soon as it can")
        .hint(format!("dacapo takeover {name} once more, when dacapo list shows it as paused"))
        .hint(format!("dacapo kill {name} ends it")))
}

/// Nobody drives the task as long as this is held (R4).
fn take(dir: &TaskDir) -> Result<Lock, Failure> {
    dir.lock().map_err(|error| match error {
        LockError::Held => still_running(&dir.name()),
        LockError::Lingering => still_finishing(&dir.name()),
        LockError::Io { .. } | LockError::RenameUnfinished { .. } => Failure::failed(error.to_string()),
    })
}

/// Where the task works.
fn place(spec: &TaskSpec, view: &TaskView) -> Result<PathBuf, Failure> {
    let path = match &spec.place {
        Place::InPlace { .. } => &spec.top,
        Place::Worktree { path, .. } => path,
    };
    if path.is_dir() {
        return Ok(path.clone());
    }
    let name = &view.name;
    let failure = Failure::usage(format!("task '{name}' has no worktree: {} is not there", path.display()));
    Err(match view.status.has_ended() {
        true => failure.hint("dacapo undo --list shows what can be brought back"),
        false => failure.hint(format!("dacapo resume {name} makes it")),
    })
}

/// What a person works with.
struct Sitting {
    argv: Vec<OsString>,
    env: Vec<(String, String)>,
    task: String,
    words: String,
}

impl Sitting {
    fn of(app: &App, dir: &TaskDir, spec: &TaskSpec, view: &TaskView) -> Self {
        let (name, session) = last_session(dir);
        let name = name.as_ref().unwrap_or(&view.agent);
        let agent = spec.agents.iter().find(|agent| agent.name == *name).or(spec.agents.first());
        let own = agent.and_then(|agent| Some((agent, agent::sitting(agent, session.as_deref())?)));
        let task = spec.name.to_string();
        match own {
            Some((AgentSpec { name, env, .. }, agent::Sitting { argv, continues })) => {
                let which = if continues { "where it left off" } else { "a new session" };
                let words = format!("{name}, {which},");
                let argv = argv.into_iter().map(OsString::from).collect();
                Self { argv, env: env.clone(), task, words }
            }
            None => {
                let shell = app.var("SHELL").filter(|shell| !shell.is_empty()).map(OsStr::to_owned);
                let who = agent.map_or("the agent", |agent| agent.name.as_str());
                let words = format!("{who} has no interactive session that is known: a shell");
                Self { argv: vec![shell.unwrap_or_else(|| "/bin/sh".into())], env: Vec::new(), task, words }
            }
        }
    }

    /// The agent has the terminal until it ends.
    /// It gets nothing of ours: what it leaves running must not keep the task from going on.
    fn hold(&self, place: &Path) -> io::Result<ExitStatus> {
        // Handled, not ignored: who is started does not inherit that. Ctrl-C is the agent's.
        for signal in [SIGINT, SIGQUIT] {
            signal_hook::flag::register(signal, std::sync::Arc::default())?;
        }
        let modes = rustix::termios::tcgetattr(io::stdin()).ok();
        let child = std::process::Command::new(&self.argv[0])
            .args(&self.argv[1..])
            .current_dir(place)
            .env("PWD", place)
            .env("DACAPO_TASK", &self.task)
            .env("DACAPO_WORKSPACE", place)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .spawn()?;
        let ended = wait(child);
        if let Some(modes) = modes {
            // One that was killed leaves the terminal as it had it.
            let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, &modes);
        }
        ended
    }
}

/// Who ends us ends the agent first: the terminal is its.
fn wait(mut child: Child) -> io::Result<ExitStatus> {
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGHUP])?;
    let handle = signals.handle();
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    let passing_on = std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            let signal =
                if signal == SIGHUP { rustix::process::Signal::HUP } else { rustix::process::Signal::TERM };
            let _ = pid.map(|pid| rustix::process::kill_process(pid, signal));
        }
    });
    let ended = child.wait();
    handle.close();
    match passing_on {
        Ok(passing_on) => drop(passing_on.join()),
        // The session is what was asked for; a signal to us then leaves it to itself.
        Err(error) => tracing::warn!("signals were not passed on: {error}"),
    }
    ended
}

/// The agent that had the last turn, and its conversation.
fn last_session(dir: &TaskDir) -> (Option<String>, Option<String>) {
    let (mut agent, mut session) = (None, None);
    let _ = read(&dir.journal_path(), |line| match line.event {
        Event::TurnStarted { agent: name, session: known, .. } => {
            agent = Some(name);
            session = known;
        }
        Event::TurnFinished(record) => session = record.session,
        _ => {}
    });
    (agent, session)
}

/// Also on record: what is in no commit is not ready to be merged.
fn say_what_changed(app: &App, dir: &TaskDir, lock: &Lock, place: &Path) {
    let dirt = Repo::discover(place, &app.env).ok().and_then(|repo| repo.dirt().ok());
    let uncommitted = dirt.map_or(0, |dirt| dirt.count()) as u64;
    if let Err(error) = note(dir, lock, Event::TakenOver { uncommitted }) {
        tracing::warn!("what was left uncommitted is not on record: {error}");
    }
    if uncommitted > 0 {
        print(&format!("{}: part of the next iteration's commit", count(uncommitted, "uncommitted file")));
    }
}

/// Whether the task goes on the way it was started: where it was at work before.
fn go_on(
    app: &App,
    args: &Takeover,
    dir: &TaskDir,
    spec: &TaskSpec,
    before: Before,
) -> Result<bool, Failure> {
    let name = &spec.name;
    let seen = app.view(dir)?;
    if seen.status.has_ended() {
        print(&format!("{name} had ended ({}): dacapo resume {name} \"what to add\"", seen.status.as_str()));
        return Ok(false);
    }
    let wanted = before == Before::AtWork && !args.no_resume && seen.status == Status::Paused;
    if !wanted || spec.foreground {
        print(&format!("{name} is not running: dacapo resume {name} goes on with it"));
        return Ok(false);
    }
    dir.inbox()
        .forget_stops()
        .map_err(|error| Failure::failed(format!("the inbox of task '{name}': {error}")))?;
    Ok(true)
}
