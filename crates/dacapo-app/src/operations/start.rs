//! What every way to start a task shares: everything is checked first, then the task is made.

use std::io;
use std::path::Path;

use dacapo_core::engine::QueueEntry;
use dacapo_core::git::{Dirt, Repo, display_path};
use dacapo_core::spec::{Place, ProofAt, RoomMode, TaskSpec};
use dacapo_core::store::{
    CreateError, Lock, LockError, RepoDir, TaskDir, Unfit, WorkspaceLock, can_lock, fit,
};

use super::found::{Consent, fresh_setup, project_checks};
use super::in_the_way::in_the_way;
use super::rename::finish_all;
use super::repo_slot;
use super::rooms;
use crate::App;
use crate::agents;
use crate::config::Loaded;
use crate::error::Failure;
use crate::messages::{Messages, Text, say};
use crate::operations::tasks::{checkout, still_finishing};
use crate::present::errors;
use crate::present::untracked;
use crate::present::words::shell_word;
use crate::pull_request;
use crate::question::{Answer, Answers, NotYet, Question};
use crate::request::{
    Around, Checks, Driven, FreshSetup, OldPlan, PlanAnswer, Request, TaskRequest, rename, request,
};
use crate::trust::{Using, names_a_script, of_script, other_programs};

/// Who has a checkout while a merge is under way in it. No task can have this name.
pub const MERGE_HOLDER: &str = "(merge)";

/// A name made from the prompt gets a number when it is taken. This is the last number that is tried.
const NUMBERED: u32 = 1000;

/// Whether something is to be done, or only shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    Act,
    DryRun,
}

/// What a surface wants to start.
#[derive(Debug, Clone)]
pub struct Start<'a> {
    pub request: &'a TaskRequest,
    /// Which process drives it.
    pub driven: Driven,
    /// Who can answer what its agents ask.
    pub agent_answers: agents::Answers,
    pub intent: Intent,
    /// What the surface itself has to say about the request.
    pub notes: Vec<Text>,
}

/// A task that could be made.
#[derive(Debug)]
pub struct Prepared {
    pub repo: Repo,
    pub data: RepoDir,
    pub loaded: Loaded,
    pub asked: Request,
}

/// A task that is there under its name, and that nobody but us can drive.
#[derive(Debug)]
pub struct Made {
    pub repo: Repo,
    pub loaded: Loaded,
    pub asked: Request,
    pub dir: TaskDir,
    pub(super) lock: Lock,
    /// Held where the task works in the user's own checkout.
    pub(super) workspace: Option<WorkspaceLock>,
    /// Its turn, where only one of its kind is at work in the repository and a person waits for this one.
    pub(super) turn: Option<QueueEntry>,
}

impl App {
    /// Checks everything; nothing is made yet.
    pub fn prepare(&self, start: &Start<'_>, answers: &Answers) -> Result<Prepared, NotYet> {
        let Start { request: task, driven, .. } = *start;
        if let Some(own) = self.home()?.task_around(self.here()?) {
            let top = self.place()?.display().to_string();
            return Err(Failure::usage(say(|m| m.start_in_own_worktree(&own.name())))
                .kept(say(Messages::kept_nothing_started))
                .hint(format!("cd {}", shell_word(&top)))
                .into());
        }
        let (repo, data) = self.repository()?;
        let loaded = self.settings(repo.toplevel(), &uses(task, driven), answers)?;
        if names_a_script([&task.agent, &loaded.config.agent]) {
            self.brought(repo.toplevel(), of_script(repo.toplevel()).as_ref(), answers)?;
        }
        let mut checks = checks(task, &loaded, (&repo, &data), answers)?;
        let proves = !checks.commands.is_empty() && task.proof_at() == ProofAt::Checkout;
        if proves || task.in_worktree(driven) {
            let consent = if task.project_checks { Consent::Given } else { Consent::None };
            checks.setup = fresh_setup(&loaded.config, (&repo, &data), consent, answers)?;
        }
        let config = &loaded.config;
        let around =
            Around { app: self, config, repo: &repo, data: &data, driven, answers: start.agent_answers };
        ask_about_plan(task, &around, answers)?;
        let mut asked = request(task, &around, checks)?;
        asked.notes.extend(start.notes.iter().cloned());
        asked.notes.splice(0..0, other_programs(&asked.spec.agents, &loaded));
        look_over(&repo, &loaded, &mut asked, start.intent)?;
        Ok(Prepared { repo, data, loaded, asked })
    }
}

/// The rest of what is looked at before a task is made, by whichever way it was asked for.
pub(super) fn look_over(
    repo: &Repo,
    loaded: &Loaded,
    asked: &mut Request,
    intent: Intent,
) -> Result<(), Failure> {
    asked.notes.splice(0..0, loaded.warnings.iter().cloned());
    let dirt = repo.dirt().map_err(|error| Failure::failed(errors::text(&error)))?;
    look_at_tree(&dirt, asked)?;
    if intent == Intent::DryRun || !asked.spec.foreground {
        say_what_is_untracked(&dirt, asked);
    }
    refuse_unborn(&asked.spec, repo)?;
    say_what_text_means(asked);
    Ok(())
}

/// An old plan is used only after the user said so once; asked where a person waits for the task.
fn ask_about_plan(task: &TaskRequest, around: &Around<'_>, answers: &Answers) -> Result<(), NotYet> {
    if around.driven == Driven::InBackground {
        return Ok(());
    }
    let Some(old) = OldPlan::unasked(task, around.repo, around.data) else { return Ok(()) };
    match answers.to(Question::Plan { path: old.name.clone() })? {
        Answer::Yes => old.keep(around.data, PlanAnswer::Use),
        Answer::No => old.keep(around.data, PlanAnswer::LeaveOut),
        Answer::Unasked | Answer::Use(_) => {}
    }
    Ok(())
}

/// A worktree starts from a commit.
fn refuse_unborn(spec: &TaskSpec, repo: &Repo) -> Result<(), Failure> {
    if matches!(spec.place, Place::Worktree { .. }) && repo.head().is_ok_and(|head| head.commit.is_none()) {
        return Err(Failure::usage(say(Messages::start_no_commits_no_worktree))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(Messages::start_commit_or_noworktree)));
    }
    Ok(())
}

/// What a task with these flags uses of the settings, up to its end.
pub fn uses(task: &TaskRequest, driven: Driven) -> Vec<Using<'_>> {
    let agents = if task.agent_cmd.is_some() { Some("") } else { task.agent.as_deref() };
    let mut uses = vec![Using::Agents(agents), Using::Notify];
    uses.extend(task.project_checks.then_some(Using::Checks));
    // A proof checkout is set up as a fresh worktree is.
    let checked = task.project_checks || !task.checks.is_empty();
    let proves = checked && task.proof_at() == ProofAt::Checkout;
    uses.extend((task.in_worktree(driven) || proves).then_some(Using::Setup));
    let asks_platform = task.pr.is_some() || task.issue.is_some();
    uses.extend(asks_platform.then_some(Using::PullRequests));
    uses
}

impl Prepared {
    /// The task is made, and is ours to drive.
    pub fn claim(self, app: &App) -> Result<Made, Failure> {
        claim(app, self.repo, &self.data, self.loaded, self.asked)
    }
}

fn claim(app: &App, repo: Repo, data: &RepoDir, loaded: Loaded, mut asked: Request) -> Result<Made, Failure> {
    look_at_file_systems(&repo, data, &asked.spec)
        .map_err(|failure| rooms::inside(app).unwrap_or(failure))?;
    if asked.spec.room == RoomMode::Strict {
        // A worktree is a repository of its own, and has nothing of the user's git directory to protect in it.
        let in_place = matches!(asked.spec.place, Place::InPlace { .. });
        rooms::refuse_unless_held(app, in_place.then_some(&repo))?;
    }
    if asked.spec.pull_request.is_some() {
        let notes = pull_request::look_ahead(app, &repo, &asked.spec, &loaded.config)?;
        asked.notes.extend(notes.into_iter().map(Text::from));
    }
    let turn = if asked.spec.foreground { repo_slot::take(app, data, &asked.spec)? } else { None };
    let mut workspace = match asked.spec.place {
        Place::InPlace { .. } => Some(take_workspace(&repo, asked.spec.name.as_str())?),
        Place::Worktree { .. } => None,
    };
    let (dir, lock) = create(app, &repo, data, &mut asked)?;
    if let Some(workspace) = &mut workspace {
        // Only so that others can say who is at work here.
        let _ = workspace.name(asked.spec.name.as_str());
    }
    repo.hand_down(&lock);
    Ok(Made { repo, loaded, asked, dir, lock, workspace, turn })
}

/// Locks and renames are what everything rests on: a file system without them is told here, not in the middle.
fn look_at_file_systems(repo: &Repo, data: &RepoDir, spec: &TaskSpec) -> Result<(), Failure> {
    fit(data.path()).map_err(|error| unfit(&error).hint(say(Messages::start_home_on_local_disk)))?;
    if let Place::Worktree { .. } = spec.place {
        can_lock(repo.common_dir())
            .map_err(|error| unfit(&error).hint(say(Messages::start_clone_to_local_disk)))?;
    }
    Ok(())
}

fn unfit(error: &Unfit) -> Failure {
    let words = |path: &Path, source: &io::Error| (path.display().to_string(), source.to_string());
    let failure = match error {
        Unfit::Unwritable { path, source } => {
            let (path, error) = words(path, source);
            Failure::failed(say(|m| m.start_cannot_write(&path, &error)))
        }
        Unfit::NoLocks { path, source } => {
            let (path, error) = words(path, source);
            Failure::usage(say(|m| m.start_no_locks(&path, &error)))
        }
        Unfit::NoRenames { path, source } => {
            let (path, error) = words(path, source);
            Failure::usage(say(|m| m.start_no_renames(&path, &error)))
        }
    };
    failure.kept(say(Messages::kept_nothing_started))
}

/// The checkout that a task works in, where that is the user's own: also from another checkout of the repository.
pub fn checkout_of(app: &App, spec: &TaskSpec) -> Result<Option<Repo>, Failure> {
    match spec.place {
        Place::InPlace { .. } => checkout(app, &spec.top).map(Some),
        Place::Worktree { .. } => Ok(None),
    }
}

/// One loop per workspace (S7).
pub fn take_workspace(repo: &Repo, task: &str) -> Result<WorkspaceLock, Failure> {
    WorkspaceLock::take(repo.git_dir(), task).map_err(|(error, holder)| match holder {
        Some(holder) if holder == MERGE_HOLDER => Failure::usage(say(Messages::start_merge_under_way))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(Messages::start_wait_or_worktree)),
        Some(holder) if matches!(error, LockError::Lingering) => still_finishing(&holder),
        Some(holder) => Failure::usage(say(|m| m.start_checkout_taken(&holder)))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(Messages::start_worktree_beside))
            .hint(say(|m| m.hint_wait_waits(&holder))),
        None => {
            let error = error.to_string();
            Failure::usage(say(|m| m.start_checkout_not_locked(&error)))
        }
    })
}

fn checks(
    task: &TaskRequest,
    loaded: &Loaded,
    (repo, data): (&Repo, &RepoDir),
    answers: &Answers,
) -> Result<Checks, NotYet> {
    Ok(Checks { commands: commands(task, loaded, (repo, data), answers)?, setup: FreshSetup::default() })
}

/// The checks that were asked for, the project's own among them where they are wanted.
pub(super) fn commands(
    task: &TaskRequest,
    loaded: &Loaded,
    (repo, data): (&Repo, &RepoDir),
    answers: &Answers,
) -> Result<Vec<String>, NotYet> {
    let mut commands = task.checks.clone();
    if let Some(empty) = commands.iter().find(|command| command.trim().is_empty()) {
        return Err(Failure::usage(say(|m| m.start_check_empty("--check", empty)))
            .kept(say(Messages::kept_nothing_started))
            .hint("--check 'cargo test'")
            .into());
    }
    if task.project_checks {
        let own = project_checks(&loaded.config, (repo, data), answers)?;
        if own.is_empty() {
            return Err(Failure::usage(say(Messages::start_no_checks_found))
                .kept(say(Messages::kept_nothing_started))
                .hint(say(Messages::start_how_to_set_checks))
                .into());
        }
        commands.extend(own.into_iter().filter(|command| !task.checks.contains(command)));
    }
    Ok(commands)
}

/// What is said of changes that a task in a worktree does not see.
pub fn left_here(files: usize) -> Text {
    say(|m| m.start_left_here(files as u64))
}

/// C10: uncommitted changes are never mixed into an iteration's commit. What git does not track is left out of them.
fn look_at_tree(dirt: &Dirt, asked: &mut Request) -> Result<(), Failure> {
    let nothing = || say(Messages::kept_nothing_started);
    let allow_dirty = match asked.spec.place {
        Place::Worktree { with_changes, .. } => {
            if dirt.count() > 0 && !with_changes {
                asked.notes.push(left_here(dirt.count()));
            }
            return Ok(());
        }
        Place::InPlace { allow_dirty, .. } => allow_dirty,
    };
    if let Some(operation) = dirt.operation.as_ref().map(ToString::to_string) {
        return Err(Failure::usage(say(|m| m.start_operation_in_progress(&operation)))
            .kept(nothing())
            .hint(say(Messages::start_finish_or_worktree)));
    }
    if let Some(path) = dirt.unmerged.first() {
        let path = display_path(path);
        return Err(Failure::usage(say(|m| m.start_conflicts(&path)))
            .kept(nothing())
            .hint(say(Messages::start_resolve_or_worktree)));
    }
    if allow_dirty || !asked.spec.context.auto_commit {
        return Ok(());
    }
    if dirt.tracked.is_empty() {
        return Ok(());
    }
    let mut named: Vec<String> = dirt.tracked.iter().take(3).map(|path| display_path(path)).collect();
    if dirt.tracked.len() > named.len() {
        named.push("…".into());
    }
    let (files, names) = (dirt.tracked.len() as u64, named.join(", "));
    Err(Failure::usage(say(|m| m.start_uncommitted(files, &names)))
        .kept(nothing())
        .hint(say(Messages::start_commit_them))
        .hint(say(Messages::start_worktree_of_its_own))
        .hint(say(Messages::start_allow_dirty)))
}

/// What is said of untracked files where the task is not driven before the user's eyes: there it says so itself.
fn say_what_is_untracked(dirt: &Dirt, asked: &mut Request) {
    let left_out = match asked.spec.place {
        Place::InPlace { allow_dirty, .. } => !allow_dirty && asked.spec.context.auto_commit,
        Place::Worktree { .. } => false,
    };
    if left_out && !dirt.untracked.is_empty() {
        let names: Vec<String> = dirt.untracked.iter().map(|path| display_path(path)).collect();
        let left_out = |m| untracked::left_out(names.iter().map(String::as_str), names.len() as u64, m);
        asked.notes.push(say(left_out));
    }
}

/// L7: for a plain-text agent a promise counts anywhere in its output; that is said once.
fn say_what_text_means(asked: &mut Request) {
    let spec = &asked.spec;
    let text = spec.agents.iter().find(|agent| !agent.reports_usage());
    if let (Some(agent), Some(_)) = (text, &spec.policy.until) {
        let note = say(|m| m.start_plain_text_promise(&agent.name));
        asked.notes.push(note);
    }
}

/// Claims the name. One that was made from the prompt is numbered when it is taken; one that was given is not.
fn create(app: &App, repo: &Repo, data: &RepoDir, asked: &mut Request) -> Result<(TaskDir, Lock), Failure> {
    let wanted = asked.spec.name.clone();
    for number in 1..=NUMBERED {
        if number > 1 {
            rename(&mut asked.spec, data, wanted.numbered(number));
        }
        let dir = data.task(&asked.spec.name);
        let mut taken = in_the_way(repo, &asked.spec);
        // The task that had the name may be about to leave it.
        if taken.is_some() && !dir.exists() && finish_all(app, repo, data) {
            taken = in_the_way(repo, &asked.spec);
        }
        match taken {
            Some(_) if !asked.named && !dir.exists() => continue,
            Some(failure) if !dir.exists() => return Err(failure),
            _ => {}
        }
        // The look above is for the message alone; that the name is free is decided here, atomically.
        match dir.create(&asked.spec) {
            Ok(lock) => return Ok((dir, lock)),
            Err(CreateError::Exists(_)) if !asked.named => {}
            Err(CreateError::Exists(name)) => {
                return Err(Failure::usage(say(|m| m.task_already_exists(&name)))
                    .kept(say(Messages::kept_nothing_started))
                    .hint(say(|m| m.start_resume_or_another_name(&name))));
            }
            Err(error) => {
                let (why, path) = (error.to_string(), data.path().display().to_string());
                let name = asked.spec.name.as_str();
                return Err(Failure::failed(say(|m| m.start_cannot_create(name, &why)))
                    .kept(say(Messages::kept_nothing_started))
                    .hint(say(|m| m.hint_look_at(&path)))
                    .caused_by(error));
            }
        }
    }
    Err(Failure::usage(say(Messages::start_name_used_up))
        .kept(say(Messages::kept_nothing_started))
        .hint(say(Messages::start_choose_name)))
}
