//! A person works in a task's own place for a while, in the agent's interactive session; then the loop goes on (S2). Whoever has
//! the terminal runs the session; what comes before and behind it is here.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dacapo_core::agent;
use dacapo_core::event::{Command, Event};
use dacapo_core::spec::{AgentSpec, Place, TaskSpec};
use dacapo_core::store::{Lock, LockError, TaskDir, WorkspaceLock, note, read};
use dacapo_core::view::{Status, TaskView};

use super::background::{self, Instructions};
use super::kill::is_free_within;
use super::start::{checkout_of, take_workspace};
use super::tasks::{self, still_finishing, still_running};
use super::terminal_plan::TerminalPlan;
use crate::App;
use crate::config::load;
use crate::error::Failure;
use crate::messages::{Messages, say};
use crate::present::errors;
use crate::request::fill_agents;

/// A turn that is ended has 3 s for it, and what it left is committed.
const PAUSING: Duration = Duration::from_secs(60);

/// A task that nobody drives as long as this is held (R4).
#[derive(Debug)]
pub struct TakenOver {
    pub name: String,
    pub place: PathBuf,
    pub session: Session,
    dir: TaskDir,
    spec: TaskSpec,
    lock: Lock,
    workspace: Option<WorkspaceLock>,
    before: Before,
}

/// What a person works with. It gets nothing of ours: what it leaves running must not keep the task from going on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub with: With,
    pub plan: TerminalPlan,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum With {
    /// The agent itself, where it left off or in a new session.
    Agent { name: String, continues: bool },
    /// A shell: no interactive session of this agent is known.
    Shell { instead_of: Option<String> },
}

/// What the task did before somebody took it over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    AtWork,
    AtRest,
}

/// What is wanted of the task afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Afterwards {
    /// It goes on where it was at work before.
    AsBefore,
    Leave,
}

/// What the task does now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Now {
    /// It had ended before.
    Ended(Status),
    NotRunning,
    InBackground,
}

impl App {
    /// Takes a task over; without a name, the latest. One that is at work pauses first: `pausing` hears its name.
    pub fn take_over(&self, name: Option<&str>, pausing: impl FnOnce(&str)) -> Result<TakenOver, Failure> {
        let (_, dir) = self.task(name)?;
        let name = dir.name();
        let before = pause(&dir, pausing)?;
        let lock = take(&dir)?;
        let seen = self.view(&dir)?;
        let mut spec = dir.spec().map_err(|error| Failure::failed(errors::text(&error)))?;
        // Settings with a mistake in them keep nobody from looking at the work.
        let config = load(&self.project_sources(&spec.top)).map(|loaded| loaded.config).unwrap_or_default();
        fill_agents(self, &config, &mut spec);
        let place = place(&spec, &seen)?;
        let workspace =
            checkout_of(self, &spec)?.map(|checkout| take_workspace(&checkout, &name)).transpose()?;
        let session = Session::of(self, &dir, (&spec, &place), &seen);
        Ok(TakenOver { name, place, session, dir, spec, lock, workspace, before })
    }
}

impl App {
    /// What takes a task over, for a surface that lives long: our own program at the person's terminal. The session must not
    /// outlive the task's lock, and no such surface holds a lock, so the program holds it. What stands in the way is said now,
    /// before the surface gives its terminal away.
    pub fn takeover_plan(&self, name: &str, afterwards: Afterwards) -> Result<TerminalPlan, Failure> {
        let (_, dir) = self.task(Some(name))?;
        let spec = dir.spec().map_err(|error| Failure::failed(error.to_string()))?;
        place(&spec, &self.view(&dir)?)?;
        let mut arguments = vec!["takeover".into(), dir.name().into()];
        arguments.extend((afterwards == Afterwards::Leave).then(|| "--no-resume".into()));
        let cwd = self.here()?.to_owned();
        Ok(TerminalPlan { name: "dacapo".into(), program: None, arguments, cwd, env: Vec::new() })
    }
}

impl TakenOver {
    /// The session is over. How many files it left that are in no commit: that is on record, for they are not ready to be
    /// merged.
    pub fn record(&self, app: &App) -> u64 {
        let dirt = app.discover(&self.place).ok().and_then(|repo| repo.dirt().ok());
        let uncommitted = dirt.map_or(0, |dirt| dirt.count()) as u64;
        if let Err(error) = note(&self.dir, &self.lock, Event::TakenOver { uncommitted }) {
            tracing::warn!("what was left uncommitted is not on record: {error}");
        }
        uncommitted
    }

    /// Gives the task back. It goes on the way it was started: where it was at work before.
    pub fn give_back(self, app: &App, afterwards: Afterwards) -> Result<Now, Failure> {
        let seen = app.view(&self.dir)?;
        if seen.status.has_ended() {
            return Ok(Now::Ended(seen.status));
        }
        let wanted = match (self.before, afterwards) {
            (Before::AtWork, Afterwards::AsBefore) => seen.status == Status::Paused,
            (Before::AtRest, _) | (_, Afterwards::Leave) => false,
        };
        if !wanted || self.spec.foreground {
            return Ok(Now::NotRunning);
        }
        let stops = self.dir.inbox().forget_stops();
        stops.map_err(|error| {
            let error = error.to_string();
            Failure::failed(say(|m| m.takeover_inbox(&self.name, &error)))
        })?;
        let locks = (&self.lock, self.workspace.as_ref());
        background::start(app, &self.dir, &self.spec, locks, &Instructions::default())?;
        Ok(Now::InBackground)
    }
}

/// A task at work pauses at once.
fn pause(dir: &TaskDir, pausing: impl FnOnce(&str)) -> Result<Before, Failure> {
    let name = dir.name();
    let unreachable = |error: io::Error| tasks::unreachable(&name, &error);
    if !dir.is_driven().map_err(unreachable)? {
        return Ok(Before::AtRest);
    }
    pausing(&name);
    dir.inbox().put("dacapo takeover", Command::Pause { now: true }).map_err(unreachable)?;
    if is_free_within(dir, PAUSING) {
        return Ok(Before::AtWork);
    }
    Err(Failure::failed(say(|m| m.takeover_does_not_pause(&name)))
        .kept(say(Messages::takeover_kept_pauses_soon))
        .hint(say(|m| m.takeover_again_when_paused(&name)))
        .hint(say(|m| m.hint_kill_ends_it(&name))))
}

fn take(dir: &TaskDir) -> Result<Lock, Failure> {
    dir.lock().map_err(|error| match error {
        LockError::Held => still_running(&dir.name()),
        LockError::Lingering => still_finishing(&dir.name()),
        LockError::Io { .. } | LockError::RenameUnfinished { .. } => Failure::failed(errors::text(&error)),
    })
}

fn place(spec: &TaskSpec, view: &TaskView) -> Result<PathBuf, Failure> {
    let path = match &spec.place {
        Place::InPlace { .. } => &spec.top,
        Place::Worktree { path, .. } => path,
    };
    if path.is_dir() {
        return Ok(path.clone());
    }
    let name = &view.name;
    let path = path.display().to_string();
    let failure = Failure::usage(say(|m| m.takeover_no_worktree(name, &path)));
    Err(match view.status.has_ended() {
        true => failure.hint(say(Messages::takeover_undo_list)),
        false => failure.hint(say(|m| m.takeover_resume_makes_it(name))),
    })
}

impl Session {
    fn of(app: &App, dir: &TaskDir, (spec, place): (&TaskSpec, &Path), view: &TaskView) -> Self {
        let (name, session) = last_session(dir);
        let name = name.as_ref().unwrap_or(&view.agent);
        let agent = spec.agents.iter().find(|agent| agent.name == *name).or(spec.agents.first());
        let own =
            agent.and_then(|agent| Some((agent, agent::interactive_command(agent, session.as_deref())?)));
        let mut env: Vec<(OsString, OsString)> = vec![
            ("PWD".into(), place.into()),
            ("DACAPO_TASK".into(), dir.name().into()),
            ("DACAPO_WORKSPACE".into(), place.into()),
        ];
        let (with, mut argv): (With, VecDeque<OsString>) = match own {
            Some((AgentSpec { name, env: own, .. }, agent::InteractiveCommand { argv, continues })) => {
                env.extend(own.iter().map(|(name, value)| (name.into(), value.into())));
                let with = With::Agent { name: name.clone(), continues };
                (with, argv.into_iter().map(OsString::from).collect())
            }
            None => {
                let shell = app.var("SHELL").filter(|shell| !shell.is_empty()).map(OsStr::to_owned);
                let with = With::Shell { instead_of: agent.map(|agent| agent.name.clone()) };
                (with, [shell.unwrap_or_else(|| "/bin/sh".into())].into())
            }
        };
        let program = argv.pop_front().unwrap_or_else(|| "/bin/sh".into());
        let name = program.display().to_string();
        let plan =
            TerminalPlan { name, program: Some(program), arguments: argv.into(), cwd: place.to_owned(), env };
        Self { with, plan }
    }
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
