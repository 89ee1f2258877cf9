//! Driving a task in the foreground: signals, sinks, the driver, the exit code.

use std::ffi::OsString;
use std::process::{Child, Command, Stdio};

use dacapo_core::engine::{Answers, Control, Driver, DriverError, Row, Setting, Sink};
use dacapo_core::event::{StopReason, TaskResult};
use dacapo_core::git::Repo;
use dacapo_core::radar::Radar;
use dacapo_core::spec::{Place, ProofPolicy, TaskSpec};
use dacapo_core::store::{JournalError, SharedLimits, TaskDir};
use dacapo_core::task::Kinds;
use dacapo_core::view::TaskView;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::args::Show;
pub(super) use crate::errand::own_program;
use crate::error::Failure;
use crate::output::Fan;
use crate::output::human::Human;
use crate::output::jsonl::JsonLines;
use crate::output::log::Tracing;

/// What a task is driven with.
pub(super) struct Drive<'a> {
    pub(super) show: Show,
    pub(super) notes: &'a [String],
    /// Why this agent, where nobody chose it.
    pub(super) agent_why: Option<&'a str>,
    pub(super) more_iterations: Option<u32>,
    pub(super) follow_up: Option<String>,
    /// How commits are proven from now on, where that changes.
    pub(super) proof: Option<ProofPolicy>,
    pub(super) keep_awake: bool,
    /// Its turn, where only one of its kind is at work in the repository.
    pub(super) turn: Option<Row>,
    /// Secrets that were set for it and are stored nowhere.
    pub(super) secrets: Vec<(String, String)>,
}

/// Drives the task, whose lock the caller holds, to its end.
pub(super) fn drive(spec: TaskSpec, dir: &TaskDir, with: Drive<'_>) -> Result<TaskResult, Failure> {
    let _awake = with.keep_awake.then(|| keep_awake(spec.name.as_str())).flatten();
    let mut tracing = Tracing::taking_up(&spec, dir);
    let mut json = with.show.json.then(|| JsonLines::new(dir.path()));
    let mut human = match with.show {
        Show { json: false, quiet: false } => {
            let view = TaskView::load(dir).map_err(|error| super::unreadable(&error, dir))?;
            let mut human = Human::new(view, dir.path());
            human.preamble(&spec, with.agent_why, with.notes, with.more_iterations);
            Some(human)
        }
        _ => None,
    };
    if with.show.json {
        // Standard output belongs to the events; what the user should hear goes to the log.
        with.notes.iter().for_each(|note| tracing::warn!("{note}"));
        with.agent_why.iter().for_each(|why| tracing::info!("agent {} ({why})", spec.agents[0].name));
    }
    // Who is told by words for people does not need the log's; unless they asked for it.
    let logged = human.is_none() || std::env::var_os("DACAPO_LOG").is_some();
    let mut sinks: Vec<&mut dyn Sink> = Vec::new();
    sinks.extend(logged.then_some(&mut tracing as &mut dyn Sink));
    sinks.extend(json.as_mut().map(|json| json as &mut dyn Sink));
    sinks.extend(human.as_mut().map(|human| human as &mut dyn Sink));
    let mut fan = Fan(sinks);
    let mut setting = Setting {
        more_iterations: with.more_iterations,
        follow_up: with.follow_up,
        proof: with.proof,
        turn: with.turn,
        ..setting(super::home()?.limits())
    };
    add(&mut setting.env, with.secrets);
    let (name, place) = (spec.name.to_string(), spec.place.clone());
    let (driver, control) =
        Driver::new(spec, dir.clone(), setting, &mut fan).map_err(|error| failed(&name, error))?;
    listen(control, AfterTheEnd::Exit)
        .map_err(|failure| failure.hint(format!("dacapo resume {name} goes on, once that is mended")))?;
    let result = driver.run().map_err(|error| failed(&name, error));
    json.iter_mut().for_each(JsonLines::finish);
    human.iter_mut().for_each(Human::finish);
    let result = result?;
    look_for_conflicts(dir, &result);
    // What was refused goes without a trace.
    if exit_code(&result, &place) != 2 {
        super::list::remember_size(dir);
    }
    Ok(result)
}

/// Brings the conflict radar up to date with what a task has come to, so that lists can tell. Whatever goes wrong here
/// costs a mark in a list.
pub(super) fn look_for_conflicts(dir: &TaskDir, result: &TaskResult) {
    let look = || -> Option<()> {
        let spec = dir.spec().ok().filter(|spec| matches!(spec.place, Place::Worktree { .. }))?;
        let tip = result.last_commit.as_ref().filter(|tip| result.base_commit.as_ref() != Some(tip))?;
        let repo = Repo::discover(&spec.top).ok()?;
        let data = super::home().ok()?.repo(repo.common_dir());
        let looked = Radar::of(&data).watch(&repo, spec.base_branch.as_deref(), tip);
        looked.map_err(|error| tracing::debug!(%error, "the conflict radar")).ok().map(drop)
    };
    let _ = look();
}

/// What a first signal does that comes when the task is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterTheEnd {
    /// It ends the program: only a push or a notification is still under way, and either can be had again.
    Exit,
    /// Something else is going on that is told by itself.
    Nothing,
}

/// What every task is driven with, by whichever command: where nobody waits for a place or adds to the task.
pub(super) fn setting(limits: SharedLimits) -> Setting {
    Setting {
        program: own_program(),
        env: std::env::vars_os().collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        limits,
        more_iterations: None,
        follow_up: None,
        proof: None,
        kinds: Kinds::default(),
        answers: Answers::Here,
        turn: None,
        places: None,
    }
}

/// Puts variables into an environment, in place of what was there.
pub(super) fn add(env: &mut Vec<(OsString, OsString)>, more: Vec<(String, String)>) {
    env.retain(|(name, _)| !more.iter().any(|(known, _)| name == known.as_str()));
    env.extend(more.into_iter().map(|(name, value)| (name.into(), value.into())));
}

/// The first signal stops the task in good order, the second at once: our end is the guards' signal to end all.
pub(super) fn listen(control: Control, after: AfterTheEnd) -> Result<(), Failure> {
    listen_to(&[SIGINT, SIGTERM, SIGHUP], control, after)
}

/// The same, for these signals alone.
pub(super) fn listen_to(which: &[i32], control: Control, after: AfterTheEnd) -> Result<(), Failure> {
    let mut signals =
        Signals::new(which).map_err(|error| Failure::failed(format!("cannot listen to signals: {error}")))?;
    let listening = std::thread::Builder::new().name("signals".into()).spawn(move || {
        let mut stopping = false;
        for signal in signals.forever() {
            if std::mem::replace(&mut stopping, true) {
                std::process::exit(130);
            }
            let heard = control.stop(match signal {
                SIGINT => "Ctrl-C",
                SIGHUP => "the terminal was closed",
                _ => "SIGTERM",
            });
            if !heard && after == AfterTheEnd::Exit {
                std::process::exit(130);
            }
        }
    });
    listening.map(drop).map_err(|error| no_more_threads(&error))
}

/// `ulimit -u`, `ulimit -v`, or a machine that is full.
pub(super) fn no_more_threads(error: &std::io::Error) -> Failure {
    Failure::failed(format!("cannot start a thread: {error}"))
        .kept("all that was done; nothing runs")
        .hint("end other programs or raise the limits (ulimit -u, ulimit -v), then try again")
}

pub(super) fn failed(name: &str, error: DriverError) -> Failure {
    if let DriverError::Journal(JournalError::Removed { .. } | JournalError::Replaced { .. }) = &error {
        return Failure::failed(error.to_string())
            .kept(format!("all commits, and the files as they are; the record of task '{name}' is lost"))
            .hint("look at git log and git status, then start a new task")
            .caused_by(error);
    }
    let cure = error.unlock_command().map_or_else(
        || "mend the cause".to_owned(),
        |command| format!("{command}, if no git and no editor is at work in this repository"),
    );
    Failure::failed(error.to_string())
        .kept(format!("all that was done; task '{name}' can go on"))
        .hint(format!("{cure}; then dacapo resume {name}"))
        .caused_by(error)
}

/// The exit code of a task that was driven here.
pub(super) fn exit_code(result: &TaskResult, place: &Place) -> u8 {
    // A worktree that could not be made has no base.
    let no_worktree = matches!(place, Place::Worktree { .. }) && result.base_commit.is_none();
    // Refused before the first iteration is bad usage, not a failed run (L4, L15).
    match result.stop_reason {
        StopReason::SetupFailed
            if result.iterations_attempted == 0 && result.failed_setup.is_none() && !no_worktree =>
        {
            2
        }
        _ => result.outcome.exit_code(),
    }
}

/// A child that keeps the machine awake as long as it lives; it ends with the pipe it reads from, that is with us.
pub(super) struct Awake {
    child: Child,
}

impl Drop for Awake {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

pub(super) fn keep_awake(task: &str) -> Option<Awake> {
    let argv = awake_command(task, "cat")?;
    let mut command = Command::new(&argv[0]);
    command.args(&argv[1..]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    Some(Awake { child: command.spawn().ok()? })
}

/// What keeps the machine awake while `program` runs; none where nothing can.
pub(super) fn awake_command(task: &str, program: &str) -> Option<Vec<OsString>> {
    let why = format!("task {task}");
    let argv: &[&str] = if cfg!(target_os = "macos") {
        &["caffeinate", "-i", program]
    } else if std::path::Path::new("/run/systemd/system").exists() {
        &["systemd-inhibit", "--what=idle:sleep", "--who=dacapo", "--mode=block", "--why", &why, program]
    } else {
        return None;
    };
    Some(argv.iter().map(OsString::from).collect())
}
