//! Driving a task in the process that asked for it, to its end and what comes after.

use std::path::Path;
use std::time::{Duration, Instant};

use dacapo_core::engine::{
    Answers, Control, Driver, DriverContext, DriverError, GuardedPlaces, QueueEntry, Sink,
};
use dacapo_core::event::{StopReason, TaskResult};
use dacapo_core::git::Repo;
use dacapo_core::radar::Radar;
use dacapo_core::spec::{Place, ProofPolicy, TaskSpec};
use dacapo_core::store::{InheritedLocks, JournalError, Lock, SharedLimits, TaskDir, WorkspaceLock};
use dacapo_core::view::TaskView;

use super::awake::keep_awake;
use super::setup_failure;
use super::start::Made;
use crate::App;
use crate::config::Config;
use crate::error::Failure;
use crate::messages::{Messages, Text, say};
use crate::operations::tasks::unreadable;
use crate::present::ends::detail;
use crate::present::errors;
use crate::sizes;
use crate::trust;

/// A task that this process is to drive, with all that it holds for it.
#[derive(Debug)]
pub struct Run {
    pub dir: TaskDir,
    pub spec: TaskSpec,
    /// What the user should hear before it starts.
    pub notes: Vec<Text>,
    /// Why this agent, where nobody chose it.
    pub agent_why: Option<Text>,
    /// More iterations than were asked for first.
    pub more_iterations: Option<u32>,
    pub(super) config: Config,
    pub(super) follow_up: Option<String>,
    /// How commits are proven from now on, where that changes.
    pub(super) proof: Option<ProofPolicy>,
    /// Secrets that were set for it and are stored nowhere.
    pub(super) secrets: Vec<(String, String)>,
    pub(super) lock: Lock,
    /// Held where it works in the user's own checkout.
    pub(super) workspace: Option<WorkspaceLock>,
    /// Its turn, where only one of its kind is at work in the repository.
    pub(super) turn: Option<QueueEntry>,
    /// The repository of a task that was just made: where it is refused at once, nothing of it stays.
    pub(super) just_made: Option<Repo>,
}

impl Made {
    /// This process is to drive it.
    pub fn here(self) -> Run {
        let Made { repo, loaded, asked, dir, lock, workspace, turn } = self;
        Run {
            dir,
            spec: asked.spec,
            notes: asked.notes,
            agent_why: asked.agent_why,
            more_iterations: None,
            config: loaded.config,
            follow_up: None,
            proof: None,
            secrets: asked.secrets,
            lock,
            workspace,
            turn,
            just_made: Some(repo),
        }
    }
}

/// A task that was driven to its end.
#[derive(Debug)]
pub struct Ended {
    pub spec: TaskSpec,
    pub dir: TaskDir,
    pub result: TaskResult,
    /// The settings as they were before the task began: an agent may have written others since.
    pub(super) config: Config,
    /// How long this process drove it.
    pub(super) took: Duration,
    pub(super) lock: Lock,
}

impl Run {
    /// The task before this process drives it.
    pub fn view(&self, app: &App) -> Result<TaskView, Failure> {
        TaskView::load(&self.dir, app.kinds).map_err(|error| unreadable(&error, &self.dir))
    }

    /// Drives it to its end. `listen` gets what stops it from outside.
    pub fn drive(
        self,
        app: &App,
        sink: &mut dyn Sink,
        listen: impl FnOnce(Control) -> Result<(), Failure>,
    ) -> Result<Ended, Failure> {
        let Run { dir, spec, config, lock, workspace, .. } = self;
        let _awake = config.keep_awake.then(|| keep_awake(spec.name.as_str())).flatten();
        let begun = Instant::now();
        let base = context(app)?;
        let setting = DriverContext {
            env: base.env.with(self.secrets),
            supervision: base.supervision.with_limit(config.worktree.git_timeout.duration()),
            locks: locks(&lock, workspace.as_ref()),
            more_iterations: self.more_iterations,
            follow_up: self.follow_up,
            proof: self.proof,
            repo_slot: self.turn,
            ..base
        };
        let name = spec.name.as_str();
        let (driver, control) =
            Driver::new(spec.clone(), dir.clone(), setting, sink).map_err(|error| failed(name, error))?;
        listen(control).map_err(|failure| failure.hint(say(|m| m.process_fix_then_resume(name))))?;
        let result = driver.run().map_err(|error| failed(name, error))?;
        look_for_conflicts(app, &dir, &result);
        if exit_code(&result, &spec.place) == 2 {
            if let Some(repo) = &self.just_made {
                return Err(refused(app, repo, (&spec, &dir, lock), &result));
            }
        } else {
            // What was refused goes without a trace.
            sizes::remember(&dir);
        }
        // The checkout is free again as soon as the task is over, while the pull request may still be under way.
        drop(workspace);
        Ok(Ended { spec, dir, result, config, took: begun.elapsed(), lock })
    }
}

impl Ended {
    /// The exit code of a process that drove it.
    pub fn exit_code(&self) -> u8 {
        exit_code(&self.result, &self.spec.place)
    }
}

/// Nothing was done, so nothing stays behind: no task, no branch, no worktree of its own.
fn refused(
    app: &App,
    repo: &Repo,
    (spec, dir, lock): (&TaskSpec, &TaskDir, Lock),
    result: &TaskResult,
) -> Failure {
    let cure = setup_failure::cure(app, spec, result);
    if let (Place::Worktree { path, branch, .. }, Some(base)) = (&spec.place, &result.base_commit) {
        let _ = repo.remove_worktree(path);
        let _ = repo.delete_branch_at(branch, base);
    }
    // The lock is held until the directory is gone: nobody can resume what is being taken back.
    let _ = dir.discard();
    drop(lock);
    let name = dir.name();
    let message =
        |m: Messages| result.detail.as_ref().map_or_else(|| m.setup_could_not(), |why| detail(why, &name, m));
    Failure::usage(say(message)).kept(say(Messages::kept_task_not_started)).hint(cure)
}

/// What every task is driven with, by whichever operation: where nobody waits for a slot or adds to the task.
pub fn context(app: &App) -> Result<DriverContext, Failure> {
    let home = app.home()?;
    let user_settings =
        app.user_sources().user_file.into_iter().chain([trust::directory(&home)]).chain(app.git_settings());
    let user_settings = user_settings.collect();
    Ok(DriverContext { user_settings, ..context_by(app, home.limits()) })
}

/// The same, with what is known of the accounts' limits.
pub(super) fn context_by(app: &App, limits: SharedLimits) -> DriverContext {
    DriverContext {
        program: app.program.clone(),
        env: app.env.clone(),
        supervision: app.supervision.clone(),
        locks: InheritedLocks::default(),
        user_settings: Vec::new(),
        guarded: app.home().ok().map(|home| GuardedPlaces {
            home: home.path().to_owned(),
            settings: app.user_sources().user_file.and_then(|file| file.parent().map(Path::to_owned)),
        }),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        limits,
        more_iterations: None,
        follow_up: None,
        proof: None,
        kinds: app.kinds,
        answers: Answers::Here,
        repo_slot: None,
        machine_slot: None,
    }
}

/// What is handed to all that works for a task which we hold.
pub(super) fn locks(lock: &Lock, workspace: Option<&WorkspaceLock>) -> InheritedLocks {
    InheritedLocks::of(std::iter::once(lock).chain(workspace.map(WorkspaceLock::lock)))
}

/// Brings the conflict radar up to date with what a task has come to, so that lists can tell. Whatever goes wrong here
/// costs a mark in a list.
pub(super) fn look_for_conflicts(app: &App, dir: &TaskDir, result: &TaskResult) {
    let look = || -> Option<()> {
        let spec = dir.spec().ok().filter(|spec| matches!(spec.place, Place::Worktree { .. }))?;
        let tip = result.last_commit.as_ref().filter(|tip| result.base_commit.as_ref() != Some(tip))?;
        let repo = app.discover(&spec.top).ok()?;
        let data = app.home().ok()?.repo(repo.common_dir());
        let looked = Radar::of(&data).watch(&repo, spec.base_branch.as_deref(), &app.kinds.branches(), tip);
        looked.map_err(|error| tracing::debug!(%error, "the conflict radar")).ok().map(drop)
    };
    let _ = look();
}

/// The exit code of a task that was driven here.
pub fn exit_code(result: &TaskResult, place: &Place) -> u8 {
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

/// A task that its driver could not go on with.
pub fn failed(name: &str, error: DriverError) -> Failure {
    if let DriverError::Journal(JournalError::Removed { .. } | JournalError::Replaced { .. }) = &error {
        return Failure::failed(errors::text(&error))
            .kept(say(|m| m.process_record_lost(name)))
            .hint(say(Messages::process_start_a_new_task))
            .caused_by(error);
    }
    if let DriverError::NoProgress { .. } = &error {
        let why = error.to_string();
        return Failure::failed(say(|m| m.process_no_progress(&why, name)))
            .kept(say(|m| m.kept_all_that_was_done(name)))
            .hint(say(|m| m.process_fix_then_resume(name)))
            .caused_by(error);
    }
    let cure = error.unlock_command().map_or_else(
        || say(|m| m.process_fix_then_resume(name)),
        |command| say(|m| m.process_unlock_then_resume(&command, name)),
    );
    Failure::failed(errors::text(&error))
        .kept(say(|m| m.kept_all_that_was_done(name)))
        .hint(cure)
        .caused_by(error)
}
