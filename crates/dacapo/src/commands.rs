//! One file a command, and what they share: which repository, which task.

use std::cell::Cell;
use std::io;
use std::path::PathBuf;

use dacapo_core::dropped::Dropped;
use dacapo_core::git::{DiscoverError, Repo};
use dacapo_core::process::Swept;
use dacapo_core::recovery::end_leftovers;
use dacapo_core::spec::TaskName;
use dacapo_core::store::at_work::{self, AtWork};
use dacapo_core::store::{Home, RepoDir, TaskDir};
use dacapo_core::view::{Status, TaskView, ViewError};

use crate::args::milestone::MilestoneCommand;
use crate::args::{Command, ConfigCommand};
use crate::error::{Failure, suggest};
use crate::inside;

mod attach;
mod background;
mod completions;
mod config;
mod could_not_begin;
mod demo;
mod diff;
mod doctor;
mod drive;
pub(crate) mod drop;
mod dry_run;
mod exec;
mod front_door;
mod init;
mod kill;
mod list;
mod logs;
mod man;
mod merge;
mod milestone;
mod notify;
mod open;
mod orders;
mod pr;
pub(crate) mod prune;
mod rehearsal;
mod rerun;
mod resume;
mod scratch;
mod spawn;
mod start;
mod status;
mod takeover;
mod trust;
mod turn;
pub(crate) mod undo;
mod wait;

pub use background::{ARGUMENT as RUN_ARGUMENT, main as run_in_background};

/// Carries a command out; gives back the exit code.
pub fn run(command: Command) -> Result<u8, Failure> {
    if let Some(order) = order(&command) {
        inside::refuse_order(order)?;
    }
    match command {
        Command::Prompt(args) => front_door::run(args.exec),
        Command::Exec(args) => exec::run(&args),
        Command::Spawn(args) => spawn::run(*args),
        Command::Milestone(args) => milestone::run(args.command),
        Command::List(args) => list::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Logs(args) => logs::run(&args),
        Command::Attach(args) => attach::run(&args),
        Command::Takeover(args) => takeover::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Wait(args) => wait::run(&args),
        Command::Resume(args) => resume::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Kill(args) => kill::run(&args),
        Command::Pause(args) => orders::pause(&args),
        Command::Tell(args) => orders::tell(&args),
        Command::Set(args) => orders::set(&args),
        Command::Approve(args) => orders::approve(&args),
        Command::Reject(args) => orders::reject(&args),
        Command::Drop(args) => drop::run(&args),
        Command::Undo(args) => undo::run(&args),
        Command::Pr(args) => pr::run(&args),
        Command::Open(args) => open::run(&args),
        Command::Notify(args) => notify::run(&args.command),
        Command::Prune(args) => prune::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Config(args) => config::run(&args),
        Command::Trust(args) => trust::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Rehearsal(args) => rehearsal::run(&args.command),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
        Command::Rerun(args) => rerun::run(&args),
    }
}

/// What a command that decides about tasks is called: such orders are a person's (R7). Starting tasks, telling them
/// something, pausing them and looking at them are nothing that an agent could not have without us.
fn order(command: &Command) -> Option<&'static str> {
    match command {
        Command::Set(_) => Some("set"),
        Command::Approve(_) => Some("approve"),
        Command::Reject(_) => Some("reject"),
        Command::Merge(args) => (!args.dry_run).then_some("merge"),
        Command::Resume(_) => Some("resume"),
        Command::Takeover(_) => Some("takeover"),
        Command::Kill(_) => Some("kill"),
        Command::Drop(_) => Some("drop"),
        Command::Undo(_) => Some("undo"),
        Command::Prune(args) => (!args.dry_run).then_some("prune"),
        Command::Pr(args) => (!args.dry_run).then_some("pr"),
        Command::Trust(args) => (!args.list).then_some("trust"),
        // Those that only show settings are no orders.
        Command::Config(args) => {
            matches!(args.command, Some(ConfigCommand::Edit { .. })).then_some("config edit")
        }
        Command::Milestone(args) => match &args.command {
            MilestoneCommand::Resume(_) => Some("milestone resume"),
            MilestoneCommand::Approve(_) => Some("milestone approve"),
            MilestoneCommand::Reject(_) => Some("milestone reject"),
            MilestoneCommand::Abandon(_) => Some("milestone abandon"),
            // Without an ID it goes on with what was cut short.
            MilestoneCommand::Start(args) => args.milestone.is_none().then_some("milestone start"),
            MilestoneCommand::New(_) | MilestoneCommand::List(_) | MilestoneCommand::Show(_) => None,
        },
        Command::Prompt(_)
        | Command::Exec(_)
        | Command::Spawn(_)
        | Command::List(_)
        | Command::Status(_)
        | Command::Logs(_)
        | Command::Attach(_)
        | Command::Diff(_)
        | Command::Wait(_)
        | Command::Pause(_)
        | Command::Tell(_)
        | Command::Open(_)
        | Command::Notify(_)
        | Command::Init(_)
        | Command::Man(_)
        | Command::Rerun(_)
        | Command::Doctor(_)
        | Command::Demo(_)
        | Command::Rehearsal(_)
        | Command::Completions(_) => None,
    }
}

/// Whether the command's output is for programs: then its errors are too.
pub fn wants_json(command: &Command) -> bool {
    match command {
        Command::Exec(args) => args.show.json,
        Command::Prompt(args) | Command::Spawn(args) => args.exec.show.json,
        Command::Kill(args) => args.json,
        Command::Pause(args) => args.json,
        Command::Demo(args) => args.show.json,
        Command::Resume(args) => args.show.json,
        Command::Merge(args) => args.show.json,
        Command::Drop(args) => args.json,
        Command::Undo(args) => args.json,
        Command::Prune(args) => args.json,
        Command::Attach(args) => args.show.json,
        Command::Milestone(args) => args.command.wants_json(),
        Command::List(args) => args.json,
        Command::Status(args) => args.json,
        Command::Wait(args) => args.json,
        Command::Logs(args) => args.json,
        Command::Diff(args) => args.json,
        Command::Doctor(args) => args.json,
        Command::Pr(args) => args.json,
        Command::Trust(args) => args.json,
        Command::Init(args) => args.json,
        Command::Notify(args) => match args.command {
            crate::args::NotifyCommand::Test { json } => json,
        },
        Command::Rerun(args) => args.show.json,
        Command::Takeover(_)
        | Command::Man(_)
        | Command::Config(_)
        | Command::Open(_)
        | Command::Rehearsal(_)
        | Command::Completions(_)
        | Command::Tell(_)
        | Command::Set(_)
        | Command::Approve(_)
        | Command::Reject(_) => false,
    }
}

/// The data directory: `$DACAPO_HOME`, else `dacapo` in the user's data directory.
pub(crate) fn home() -> Result<Home, Failure> {
    use etcetera::BaseStrategy as _;
    match std::env::var_os("DACAPO_HOME").filter(|path| !path.is_empty()) {
        Some(path) => std::path::absolute(PathBuf::from(&path))
            .map(Home::new)
            .map_err(|error| Failure::usage(format!("DACAPO_HOME is not a usable path: {error}"))),
        None => {
            etcetera::choose_base_strategy().map(|base| Home::new(base.data_dir().join("dacapo"))).map_err(
                |_| Failure::usage("there is no home directory to keep tasks in").hint("set DACAPO_HOME"),
            )
        }
    }
}

/// The repository around the current directory and its data.
fn repository() -> Result<(Repo, RepoDir), Failure> {
    let here = current_dir()?;
    let repo = Repo::discover(&here).map_err(|error| not_usable(&error))?;
    let data = home()?.repo(repo.common_dir());
    Ok((repo, data))
}

/// Marks a command that changes the repository as being at work, after clearing up behind those that were killed. A mark that
/// cannot be made keeps nobody from working: without it the locks of a killed command are named, and stay.
fn at_work(repo: &Repo, data: &RepoDir) -> Option<AtWork> {
    use std::io::Write as _;
    let mut err = anstream::stderr();
    for command in at_work::killed(data) {
        match repo.clear_locks_of_command(command.since) {
            Ok(removed) => {
                for notice in removed {
                    let _ = writeln!(err, "note    {notice}, left by a command that was killed");
                }
                command.forget();
            }
            Err(error) => tracing::warn!("{error}"),
        }
    }
    AtWork::mark(data).ok()
}

/// The data of the repository around the current directory, without a git process where that is possible.
fn repository_data() -> Result<RepoDir, Failure> {
    let here = current_dir()?;
    let common_dir = dacapo_core::git::common_dir(&here).map_err(|error| not_usable(&error))?;
    Ok(home()?.repo(&common_dir))
}

fn current_dir() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| {
        Failure::usage(format!("the current directory cannot be used: {error}")).hint("cd somewhere else")
    })
}

fn not_usable(error: &DiscoverError) -> Failure {
    let failure = Failure::usage(error.to_string()).kept("everything; nothing was started");
    match error {
        DiscoverError::NotARepository(_) => {
            failure.hint("git init").hint("-C DIR for a repository elsewhere")
        }
        DiscoverError::Bare(_) => failure.hint("git clone it and work in the clone"),
        DiscoverError::InsideGitDir(_) => failure.hint("cd to the checkout, or -C DIR"),
        DiscoverError::DubiousOwnership { dir, .. } => failure.hint(format!(
            "git config --global --add safe.directory {}, if you trust its owner",
            dir.display()
        )),
        DiscoverError::Git(_) => failure,
    }
}

/// The task that is meant: by its name, or the latest of this repository.
fn task(name: Option<&str>) -> Result<(Repo, TaskDir), Failure> {
    let (repo, data) = repository()?;
    let tasks = data
        .tasks()
        .map_err(|error| Failure::failed(format!("cannot read {}: {error}", data.path().display())))?;
    let Some(name) = name else {
        let latest = tasks
            .into_iter()
            .filter_map(|dir| Some((dir.spec().ok()?.created_at, dir)))
            .max_by_key(|(at, _)| *at);
        return match latest {
            Some((_, dir)) => Ok((repo, dir)),
            None => Err(Failure::usage("this repository has no tasks yet")
                .hint("dacapo exec \"what the agent is to do\"")),
        };
    };
    match TaskName::parse(name).map(|name| data.task(&name)) {
        Ok(dir) if dir.exists() => Ok((repo, dir)),
        _ => {
            let names: Vec<String> = tasks.iter().map(TaskDir::name).collect();
            let failure = Failure::usage(format!("Task '{name}' not found"));
            if is_put_away(&repo, &data, name) {
                return Err(failure.hint(format!("it was dropped: dacapo undo {name} brings it back")));
            }
            Err(match suggest(name, names.iter().map(String::as_str)) {
                Some(close) => failure.hint(format!("did you mean '{close}'?")),
                None => failure.hint("dacapo list shows the tasks of this repository"),
            })
        }
    }
}

/// The tasks that are meant by a list of names: all are looked up before any of them is touched, none twice.
fn tasks(names: &[String]) -> Result<Vec<(Repo, TaskDir)>, Failure> {
    let mut wanted: Vec<&str> = Vec::new();
    for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        if !wanted.contains(&name) {
            wanted.push(name);
        }
    }
    if wanted.is_empty() {
        return Err(Failure::usage("which task?").hint("dacapo list shows the tasks of this repository"));
    }
    wanted.into_iter().map(|name| task(Some(name))).collect()
}

/// Does the same with each of several tasks; what one of them is refused does not keep the others from it. The first error, or
/// the first exit code that is not 0.
fn with_each<T>(all: Vec<T>, mut act: impl FnMut(T) -> Result<u8, Failure>) -> Result<u8, Failure> {
    let mut first: Result<u8, Failure> = Ok(0);
    for one in all {
        match (&first, act(one)) {
            (Ok(0), came) => first = came,
            (_, Ok(_)) => {}
            (_, Err(failure)) => complain!("{failure}"),
        }
    }
    first
}

/// Whether a task of this repository has this name.
pub(crate) fn is_task(name: &str) -> bool {
    let data = repository_data().ok();
    data.zip(TaskName::parse(name).ok()).is_some_and(|(data, name)| data.task(&name).exists())
}

/// Whether `undo` could bring something of this task back.
fn is_put_away(repo: &Repo, data: &RepoDir, name: &str) -> bool {
    Dropped::of(repo, data).all().is_ok_and(|all| all.iter().any(|kept| kept.name == name))
}

pub(crate) fn view(dir: &TaskDir) -> Result<TaskView, Failure> {
    let view = TaskView::load(dir).map_err(|error| unreadable(&error, dir))?;
    if view.status == Status::Interrupted {
        clear_up_behind(dir);
    }
    Ok(view)
}

/// Ends what a task that was found interrupted has left running (R1).
fn clear_up_behind(dir: &TaskDir) {
    tell_of_leftovers(dir, &end_leftovers(dir));
}

/// Says what was ended, and what could not be.
fn tell_of_leftovers(dir: &TaskDir, swept: &Swept) {
    use std::io::Write as _;
    let name = dir.name();
    let mut err = anstream::stderr();
    if !swept.killed.is_empty() {
        let processes = match swept.killed.len() {
            1 => "1 process".to_owned(),
            some => format!("{some} processes"),
        };
        let _ = writeln!(err, "note    ended {processes} left behind by task '{name}'");
    }
    for process in &swept.unreachable {
        let (pid, program) = (process.pid, &process.name);
        let _ = writeln!(
            err,
            "warning: process {pid} ({program}) of task '{name}' cannot be ended: kill -9 {pid}"
        );
    }
}

/// A task whose process ended without an event; in the background it may have said why.
fn interrupted(dir: &TaskDir) -> Failure {
    clear_up_behind(dir);
    let name = dir.name();
    let last = background::last_words(dir).map_or_else(String::new, |words| format!(":\n{words}"));
    Failure::failed(format!("Task '{name}' was interrupted: its process is gone{last}"))
        .kept("all it did; it can go on")
        .hint(format!("dacapo resume {name}"))
}

fn unreadable(error: &ViewError, dir: &TaskDir) -> Failure {
    Failure::failed(format!("task '{}' cannot be read: {error}", dir.name()))
        .kept("everything as it is; nothing was written")
        .hint(format!("look at {}", dir.path().display()))
}

thread_local! {
    /// Why standard output could not be written, of the one thread that prints for a command. Handing it through every command
    /// would hide what they do, and the command must go on: what it shows is not what it does.
    static UNWRITTEN: Cell<Option<io::Error>> = const { Cell::new(None) };
}

/// Prints to standard output, all at once; a reader that has gone is no error.
fn print(text: &str) {
    use std::io::Write as _;
    let mut stdout = io::stdout().lock();
    let mut whole = match anstream::AutoStream::choice(&stdout) {
        anstream::ColorChoice::Never => anstream::adapter::strip_str(text).to_string(),
        _ => text.to_owned(),
    };
    whole.push('\n');
    wrote(stdout.write_all(whole.as_bytes()));
}

/// Whether somebody still takes the output. That some is missing is remembered; a reader that has gone misses nothing.
fn wrote<T>(result: io::Result<T>) -> bool {
    let Err(error) = result else { return true };
    if error.kind() != io::ErrorKind::BrokenPipe {
        UNWRITTEN.with(|unwritten| unwritten.set(Some(error)));
    }
    false
}

/// What is to be said at the end of a command whose output could not be written: a full disk is no success (L15).
pub(crate) fn unwritten() -> Result<(), Failure> {
    match UNWRITTEN.with(Cell::take) {
        Some(error) => Err(not_written(&error)),
        None => Ok(()),
    }
}

/// A failure to show something.
pub(crate) fn not_written(error: &io::Error) -> Failure {
    Failure::failed(format!("standard output cannot be written: {error}"))
        .kept("what the command did; only its output is missing")
        .hint("make room, or let the output go elsewhere, and try again")
}
