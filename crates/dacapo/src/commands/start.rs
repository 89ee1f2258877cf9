//! What every way to start a task shares: everything is checked first, then the task is made.

use dacapo_core::engine::Row;
use dacapo_core::git::{Dirt, Repo, display_path};
use dacapo_core::spec::{Place, TaskSpec};
use dacapo_core::store::{
    CreateError, Lock, LockError, RepoDir, TaskDir, Unfit, WorkspaceLock, can_lock, fit,
};
use dacapo_core::task::milestone::Milestones;

use super::repository;
use super::resume::still_finishing;
use super::turn;
use crate::args::{Exec, ProofIn, Show};
use crate::config::{Config, Loaded};
use crate::error::Failure;
use crate::found_checks::{self, Question};
use crate::output::words::count;
use crate::pull_request;
use crate::question::{self, Audience, Default};
use crate::request::{Checks, FreshSetup, Request, rename, request};
use crate::trust::{Gate, Using, names_a_script, of_script, other_programs};

/// A name made from the prompt gets a number when it is taken; so many are tried.
const NUMBERED: u32 = 1000;

/// A task that is there under its name, and that nobody but us can drive.
pub(super) struct Made {
    pub(super) repo: Repo,
    pub(super) loaded: Loaded,
    pub(super) asked: Request,
    pub(super) dir: TaskDir,
    pub(super) lock: Lock,
    /// Held where the task works in the user's own checkout.
    pub(super) _workspace: Option<WorkspaceLock>,
    /// Its turn, where only one of its kind is at work in the repository and a person waits for this one.
    pub(super) turn: Option<Row>,
}

/// A task that could be made.
pub(super) struct Prepared {
    pub(super) repo: Repo,
    pub(super) data: RepoDir,
    pub(super) loaded: Loaded,
    pub(super) asked: Request,
}

/// Checks everything, then makes the task. Whatever is refused has changed nothing.
pub(super) fn make(args: &Exec) -> Result<Made, Failure> {
    let Prepared { repo, data, loaded, asked } = prepare(args)?;
    claim(repo, &data, loaded, asked)
}

/// Checks everything; nothing is made yet.
pub(super) fn prepare(args: &Exec) -> Result<Prepared, Failure> {
    let (repo, data) = repository()?;
    // Nothing is asked where nothing starts: an answer would be remembered.
    let show = Show { quiet: args.show.quiet || args.dry_run, ..args.show };
    let gate = Gate { top: repo.toplevel(), show };
    let loaded = gate.settings(&uses(args))?;
    if names_a_script([&args.agent, &loaded.config.agent]) {
        gate.brought(of_script(repo.toplevel()).as_ref())?;
    }
    let mut checks = checks(args, show, &loaded.config, &repo, &data)?;
    let proves = !checks.commands.is_empty() && args.proof == ProofIn::Checkout;
    if proves || args.worktree {
        let consent = if args.checks { Consent::Given } else { Consent::None };
        checks.setup = fresh_setup(&loaded.config, &repo, &data, show, consent);
    }
    let mut asked = request(args, &loaded.config, &repo, &data, checks)?;
    asked.notes.splice(0..0, other_programs(&asked.spec.agents, &loaded));
    asked.spec.foreground = !args.background;
    asked.notes.splice(0..0, loaded.warnings.iter().cloned());
    let dirt = repo.dirt().map_err(|error| Failure::failed(error.to_string()))?;
    look_at_tree(args, &dirt, &mut asked)?;
    if args.worktree && repo.head().is_ok_and(|head| head.commit.is_none()) {
        return Err(Failure::usage("a repository without commits cannot have a worktree")
            .hint("commit something first, or work here without a worktree: --noworktree"));
    }
    say_what_text_means(&mut asked);
    Ok(Prepared { repo, data, loaded, asked })
}

/// What a task with these flags uses of the settings, up to its end.
pub(super) fn uses(args: &Exec) -> Vec<Using<'_>> {
    let agents = if args.agent_cmd.is_some() { Some("") } else { args.agent.as_deref() };
    let mut uses = vec![Using::Agents(agents), Using::Notify];
    uses.extend(args.checks.then_some(Using::Checks));
    // A proof checkout is set up as a fresh worktree is.
    let proves = args.proof == ProofIn::Checkout && (args.checks || !args.check.is_empty());
    uses.extend((args.worktree || proves).then_some(Using::Setup));
    let asks_platform = args.pull_request().is_some() || args.issue.is_some();
    uses.extend(asks_platform.then_some(Using::PullRequests));
    uses
}

/// The task is made, and is ours to drive.
pub(super) fn claim(repo: Repo, data: &RepoDir, loaded: Loaded, mut asked: Request) -> Result<Made, Failure> {
    look_at_file_systems(&repo, data, &asked.spec)?;
    if asked.spec.pull_request.is_some() {
        asked.notes.extend(pull_request::look_ahead(&repo, &asked.spec, &loaded.config)?);
    }
    let turn = if asked.spec.foreground { turn::take(data, &asked.spec)? } else { None };
    let mut workspace = match asked.spec.place {
        Place::InPlace { .. } => Some(take_workspace(&repo, asked.spec.name.as_str())?),
        Place::Worktree { .. } => None,
    };
    let (dir, lock) = create(&repo, data, &mut asked)?;
    if let Some(workspace) = &mut workspace {
        // Only so that others can say who is at work here.
        let _ = workspace.name(asked.spec.name.as_str());
    }
    Ok(Made { repo, loaded, asked, dir, lock, _workspace: workspace, turn })
}

/// Locks and renames are what everything rests on: a file system without them is told here, not in the middle.
fn look_at_file_systems(repo: &Repo, data: &RepoDir, spec: &TaskSpec) -> Result<(), Failure> {
    let home = "DACAPO_HOME=DIR keeps tasks elsewhere: on a local disk";
    fit(data.path()).map_err(|error| unfit(&error).hint(home))?;
    if let Place::Worktree { .. } = spec.place {
        can_lock(repo.common_dir())
            .map_err(|error| unfit(&error).hint("clone the repository to a local disk and work there"))?;
    }
    Ok(())
}

fn unfit(error: &Unfit) -> Failure {
    let failure = match error {
        Unfit::Unwritable { .. } => Failure::failed(error.to_string()),
        Unfit::NoLocks { .. } | Unfit::NoRenames { .. } => Failure::usage(error.to_string()),
    };
    failure.kept("everything; nothing was started")
}

/// The checkout that a task works in, where that is the user's own: also from another checkout of the repository.
pub(super) fn checkout_of(spec: &TaskSpec) -> Result<Option<Repo>, Failure> {
    match spec.place {
        Place::InPlace { .. } => Repo::discover(&spec.top)
            .map(Some)
            .map_err(|error| Failure::usage(error.to_string()).kept("everything; nothing was started")),
        Place::Worktree { .. } => Ok(None),
    }
}

/// One loop per workspace (S7).
pub(super) fn take_workspace(repo: &Repo, task: &str) -> Result<WorkspaceLock, Failure> {
    WorkspaceLock::take(repo.git_dir(), task).map_err(|(error, holder)| match holder {
        Some(holder) if holder == super::merge::HOLDER => {
            Failure::usage("a merge is under way in this checkout")
                .kept("everything; nothing was started")
                .hint("wait until it is done, or work beside it: --worktree")
        }
        Some(holder) if matches!(error, LockError::Lingering) => still_finishing(&holder),
        Some(holder) => Failure::usage(format!(
            "Task '{holder}' is at work in this checkout; there is one loop per workspace"
        ))
        .kept("everything; nothing was started")
        .hint("--worktree works beside it")
        .hint(format!("dacapo wait {holder} waits for it")),
        None => Failure::usage(format!("this checkout cannot be locked: {error}")),
    })
}

fn checks(args: &Exec, show: Show, config: &Config, repo: &Repo, data: &RepoDir) -> Result<Checks, Failure> {
    let mut commands = args.check.clone();
    if let Some(empty) = commands.iter().find(|command| command.trim().is_empty()) {
        return Err(Failure::usage(format!("--check '{empty}' is empty")).hint("--check 'cargo test'"));
    }
    if args.checks {
        let own = projects_own(config, repo, data, show)?;
        if own.is_empty() {
            return Err(Failure::usage("--checks: this project has no checks that could be found")
                .hint("--check 'CMD', or checks = [\"CMD\"] in .dacapo/config.toml"));
        }
        commands.extend(own.into_iter().filter(|command| !args.check.contains(command)));
    }
    Ok(Checks { commands, setup: FreshSetup::default() })
}

/// The project's own checks: from the config, else found; there may be none.
pub(super) fn projects_own(
    config: &Config,
    repo: &Repo,
    data: &RepoDir,
    show: Show,
) -> Result<Vec<String>, Failure> {
    match &config.checks {
        Some(checks) => Ok(checks.clone()),
        None => confirmed(&found_checks::find(repo.toplevel()), data, show),
    }
}

/// Found checks are shown, and at a terminal confirmed once per repository.
fn confirmed(found: &[found_checks::Found], data: &RepoDir, show: Show) -> Result<Vec<String>, Failure> {
    let commands: Vec<String> = found.iter().map(|check| check.command.clone()).collect();
    // Who asks for checks has not said that there are to be none.
    let known =
        found_checks::remembered(data.path(), Question::Checks, &commands).filter(|used| !used.is_empty());
    if commands.is_empty() {
        return Ok(commands);
    }
    if let Some(used) = known {
        return Ok(used);
    }
    for check in found {
        complain!("check   {} ({})", check.command, check.evidence);
    }
    let them = if commands.len() == 1 { "it" } else { "them" };
    match Audience::now(show) {
        Audience::Person if question::yes(&format!("use {them}? [Enter] yes  [n]o"), Default::Yes) => {}
        Audience::Person => {
            return Err(Failure::usage("the checks that were found are not wanted")
                .hint("--check 'CMD', or checks = [\"CMD\"] in .dacapo/config.toml"));
        }
        Audience::TypedAhead => {
            complain!("note    not asked whether to use {them}, because input was waiting: used this time");
            return Ok(commands);
        }
        Audience::Nobody => return Ok(commands),
    }
    found_checks::remember(data.path(), Question::Checks, &commands, &commands);
    Ok(commands)
}

/// Whether the user wants the project's own commands run, where nobody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consent {
    /// `--checks`, or the like.
    Given,
    /// Nothing was said.
    None,
}

/// What makes a fresh checkout usable: from the config, else by lock files; that is shown, and at a terminal confirmed once
/// per repository.
pub(super) fn fresh_setup(
    config: &Config,
    repo: &Repo,
    data: &RepoDir,
    show: Show,
    consent: Consent,
) -> FreshSetup {
    if !config.worktree.setup.is_empty() {
        return FreshSetup { commands: config.worktree.setup.clone(), suggested: Vec::new() };
    }
    let found = found_checks::find_setup(repo.toplevel());
    let commands: Vec<String> = found.iter().map(|setup| setup.command.clone()).collect();
    if commands.is_empty() {
        return FreshSetup::default();
    }
    if let Some(used) = found_checks::remembered(data.path(), Question::Setup, &commands) {
        let suggested = if used.is_empty() { commands } else { Vec::new() };
        return FreshSetup { commands: used, suggested };
    }
    if Audience::now(show) != Audience::Person {
        return match consent {
            Consent::Given => FreshSetup { commands, suggested: Vec::new() },
            Consent::None => FreshSetup { commands: Vec::new(), suggested: commands },
        };
    }
    for setup in &found {
        anstream::eprintln!("setup   {} ({})", setup.command, setup.evidence);
    }
    let it = if commands.len() == 1 { "it" } else { "them" };
    let asked = format!("run {it} in fresh checkouts, so that checks can be proven? [Enter] yes  [n]o");
    let wanted = question::yes(&asked, Default::Yes);
    let used = if wanted { commands.clone() } else { Vec::new() };
    found_checks::remember(data.path(), Question::Setup, &commands, &used);
    let suggested = if wanted { Vec::new() } else { commands };
    FreshSetup { commands: used, suggested }
}

/// What is said of changes that a task in a worktree does not see.
pub(super) fn left_here(files: usize) -> String {
    format!("{} left here; --with-changes takes them along", count(files as u64, "uncommitted file"))
}

/// C10: uncommitted changes are never mixed into an iteration's commit.
pub(super) fn look_at_tree(args: &Exec, dirt: &Dirt, asked: &mut Request) -> Result<(), Failure> {
    let nothing = "everything; nothing was started";
    if args.worktree {
        if dirt.count() > 0 && !args.with_changes {
            asked.notes.push(left_here(dirt.count()));
        }
        return Ok(());
    }
    if let Some(operation) = &dirt.operation {
        return Err(Failure::usage(format!("this checkout is in the middle of something: {operation}"))
            .kept(nothing)
            .hint("finish or abort it first, or work elsewhere: --worktree"));
    }
    if let Some(path) = dirt.unmerged.first() {
        return Err(Failure::usage(format!("{} has conflicts that are not resolved", display_path(path)))
            .kept(nothing)
            .hint("resolve them first, or work elsewhere: --worktree"));
    }
    if dirt.is_clean() || args.allow_dirty || !asked.spec.context.auto_commit {
        return Ok(());
    }
    let mut named: Vec<String> =
        dirt.tracked.iter().chain(&dirt.untracked).take(3).map(|path| display_path(path)).collect();
    if dirt.count() > named.len() {
        named.push("…".into());
    }
    Err(Failure::usage(format!(
        "{} here ({})",
        count(dirt.count() as u64, "uncommitted file"),
        named.join(", ")
    ))
    .kept(nothing)
    .hint("commit them first")
    .hint("--worktree works in a checkout of its own")
    .hint("--allow-dirty sets them apart in a commit of their own"))
}

/// L7: for a plain-text agent a promise counts anywhere in its output; that is said once.
fn say_what_text_means(asked: &mut Request) {
    let spec = &asked.spec;
    let text = spec.agents.iter().find(|agent| !agent.reports_usage());
    if let (Some(agent), Some(_)) = (text, &spec.policy.until) {
        asked.notes.push(format!(
            "agent '{}' prints plain text: the promise counts anywhere in its output (a repeated prompt aside)",
            agent.name
        ));
    }
}

/// Claims the name. One that was made from the prompt is numbered when it is taken; one that was given is not.
fn create(repo: &Repo, data: &RepoDir, asked: &mut Request) -> Result<(TaskDir, Lock), Failure> {
    let wanted = asked.spec.name.clone();
    for number in 1..=NUMBERED {
        if number > 1 {
            rename(&mut asked.spec, data, wanted.numbered(number));
        }
        let dir = data.task(&asked.spec.name);
        match in_the_way(repo, &asked.spec) {
            Some(_) if !asked.named && !dir.exists() => continue,
            Some(failure) if !dir.exists() => return Err(failure),
            _ => {}
        }
        match dir.create(&asked.spec) {
            Ok(lock) => return Ok((dir, lock)),
            Err(CreateError::Exists(_)) if !asked.named => {}
            Err(CreateError::Exists(name)) => {
                return Err(Failure::usage(format!("Task '{name}' already exists"))
                    .kept("everything; nothing was started")
                    .hint(format!("dacapo resume {name}, or choose another --name")));
            }
            Err(error) => {
                return Err(Failure::failed(format!("cannot make task '{}': {error}", asked.spec.name))
                    .kept("everything; nothing was started")
                    .hint(format!("look at {}", data.path().display()))
                    .caused_by(error));
            }
        }
    }
    Err(Failure::usage("too many tasks have this name").hint("choose one with --name"))
}

/// A branch or a directory that is there already is somebody's: the task of this name cannot have it.
fn in_the_way(repo: &Repo, spec: &TaskSpec) -> Option<Failure> {
    let (path, branch) = match &spec.place {
        Place::InPlace { branch: None, .. } => return None,
        Place::InPlace { branch: Some(new), .. } => (None, &new.name),
        Place::Worktree { path, branch, .. } => (Some(path), branch),
    };
    let short = branch.strip_prefix("refs/heads/").unwrap_or(branch);
    let taken = if let Some(path) = path.filter(|path| path.symlink_metadata().is_ok()) {
        Failure::usage(format!("Worktree for task '{}' already exists", spec.name))
            .hint(format!("git worktree remove {} when nothing in it is needed", path.display()))
    } else if repo.read_ref(branch).is_ok_and(|at| at.is_some()) {
        Failure::usage(format!("branch '{short}' already exists"))
            .hint(format!("git branch -m {short} NEW, or git branch -d {short} when it is merged"))
    } else if let Some(above) = branch_above(repo, branch) {
        // Another name of the task would not help.
        return Some(
            Failure::usage(format!("branch '{above}' leaves git no room for '{short}'"))
                .kept("everything; nothing was started")
                .hint(format!("git branch -m {above} NEW, or git branch -d {above} when it is merged")),
        );
    } else {
        return None;
    };
    let another = if spec.kind == Milestones::NAME {
        "or give the milestone's file another name"
    } else {
        "choose another --name"
    };
    Some(taken.kept("everything; nothing was started").hint(another))
}

/// A branch `a`, where `a/b` is wanted.
fn branch_above(repo: &Repo, branch: &str) -> Option<String> {
    let mut name = branch;
    while let Some((above, _)) = name.rsplit_once('/') {
        let short = above.strip_prefix("refs/heads/")?;
        if repo.read_ref(above).is_ok_and(|at| at.is_some()) {
            return Some(short.to_owned());
        }
        name = above;
    }
    None
}
