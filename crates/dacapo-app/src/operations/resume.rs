//! Goes on with any task that is not running (S10).

use std::path::Path;

use dacapo_core::engine::machine::Whereabouts;
use dacapo_core::engine::mirroring::documents;
use dacapo_core::engine::{astray, untracked_before};
use dacapo_core::event::{Command, Outcome};
use dacapo_core::git::{Repo, display_path};
use dacapo_core::mirror::publish;
use dacapo_core::spec::{Approval, Place, ProofAt, ProofPolicy, TaskSpec};
use dacapo_core::store::{Lock, LockError, TaskDir};
use dacapo_core::view::{Status, TaskView};

use super::background::{self, Begun, Instructions};
use super::kind::{self, Order, Resuming};
use super::repo_slot;
use super::run::Run;
use super::send::write_down;
use super::start::{checkout_of, take_workspace};
use crate::App;
use crate::agents::{self, nobody_answers};
use crate::config::{Config, Loaded};
use crate::error::Failure;
use crate::messages::{command, say};
use crate::operations::tasks::{is_put_away, still_finishing, still_running, vouched_spec};
use crate::present::errors;
use crate::present::words;
use crate::question::{Answers, NotYet};
use crate::request::{agents_given_again, given_again};
use crate::trust::Using;

/// How a task is to go on.
#[derive(Debug)]
pub struct Resume {
    /// More iterations than were asked for first.
    pub more: Option<u32>,
    /// What is to be added to the task.
    pub follow_up: Option<String>,
    /// Where the last run of the checks happens from now on.
    pub proof: Option<ProofAt>,
    /// What it hears first: a person's answers to what it asked.
    pub orders: Vec<Order>,
    /// It will be over at once, so nobody needs to look for it in the background.
    pub at_once: bool,
    /// In the background, however it was started.
    pub background: bool,
    /// Who can answer what its agents ask, where this process drives it.
    pub agent_answers: agents::Answers,
}

impl Default for Resume {
    fn default() -> Self {
        Self {
            more: None,
            follow_up: None,
            proof: None,
            orders: Vec::new(),
            at_once: false,
            background: false,
            agent_answers: agents::Answers::Nobody,
        }
    }
}

/// Who drives a task that goes on with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoesOn {
    /// In the background, however it was started.
    pub background: bool,
    /// Who can answer what its agents ask, where this process drives it.
    pub agent_answers: agents::Answers,
}

/// A task that goes on.
#[derive(Debug)]
pub enum Resumed {
    /// When this process drives it.
    Here(Box<Run>),
    /// A process of its own drives it.
    InBackground {
        /// Whether it has a place.
        begun: Begun,
        dir: TaskDir,
    },
}

impl App {
    /// Goes on with a task that nobody drives.
    pub fn resume(
        &self,
        repo: &Repo,
        dir: &TaskDir,
        how: &Resume,
        answers: &Answers,
    ) -> Result<Resumed, NotYet> {
        go_on(self, repo, dir, how, answers)
    }
}

fn go_on(app: &App, repo: &Repo, dir: &TaskDir, how: &Resume, answers: &Answers) -> Result<Resumed, NotYet> {
    if let Ok(spec) = dir.spec() {
        given_again(app, &spec, &[], &command(format_args!("resume {}", spec.name)))?;
    }
    let lock = dir.lock().map_err(|error| match error {
        LockError::Held => still_running(&dir.name()),
        LockError::Lingering => still_finishing(&dir.name()),
        LockError::Io { .. } | LockError::RenameUnfinished { .. } => Failure::failed(errors::text(&error)),
    })?;
    // Read under the lock: what is decided below must still be true when the task goes on.
    let seen = app.view(dir)?;
    refuse_merged(app, repo, dir, &seen)?;
    let mut spec = vouched_spec(dir)?;
    if seen.status.has_ended() && app.kinds.publish(&spec.kind) {
        // Its process may have died before it could say so in the checkout (M8).
        publish(&spec, documents(dir, &spec, Whereabouts::Here, app.kinds), &app.env);
    }
    let loaded = settings(app, repo, &spec, answers)?;
    let command = command(format_args!("resume {}", spec.name));
    agents_given_again(app, &loaded.config, &mut spec, &command)?;
    let mut orders = how.orders.clone();
    let mut remember = None;
    if let Some(own) = kind::of(&spec.kind) {
        if orders.is_empty() {
            orders = own.left_answers(dir, &seen)?;
        }
        let (view, orders) = (&seen, orders.as_slice());
        let told = own.may_go_on(&Resuming { repo, dir, spec: &spec, view, orders, more: how.more })?;
        remember = told.filter(|_| !how.at_once);
    }
    let more =
        if orders.is_empty() { enough(&seen, &spec, how.more, how.follow_up.is_some())? } else { how.more };
    let checkout = checkout_of(app, &spec)?;
    if let Some(checkout) = &checkout {
        look_at_tree(checkout, &seen, &spec)?;
    }
    let here = how.at_once || spec.foreground && !how.background;
    let mut turn = None;
    // Where only an answer is taken in, nothing works.
    if !how.at_once {
        look_at_branch(app, &seen, &spec, dir)?;
        if let Some(data) = dir.repo().filter(|_| here) {
            turn = repo_slot::take(app, &data, &spec)?;
        }
    }
    if here
        && let Some(asks) = spec.agents.iter().find(|agent| agent.approval == Approval::Ask)
        && how.agent_answers == agents::Answers::Nobody
    {
        return Err(nobody_answers(&asks.name).into());
    }
    let workspace = checkout.map(|checkout| take_workspace(&checkout, spec.name.as_str())).transpose()?;
    let proof = proof_from_now_on(&seen, &loaded.config, how.proof);
    hand_over(dir, &lock, orders, remember)?;
    let (dir, follow_up) = (dir.clone(), how.follow_up.clone());
    if !here {
        let instructions = Instructions { more_iterations: more, follow_up, proof, secrets: Vec::new() };
        let begun = background::start(app, &dir, &spec, (&lock, workspace.as_ref()), &instructions)?;
        return Ok(Resumed::InBackground { begun, dir });
    }
    Ok(Resumed::Here(Box::new(Run {
        dir,
        spec,
        notes: loaded.warnings,
        agent_why: None,
        more_iterations: more,
        config: loaded.config,
        follow_up,
        proof,
        secrets: Vec::new(),
        lock,
        workspace,
        turn,
        just_made: None,
    })))
}

/// What is merged and gone does not go on.
fn refuse_merged(app: &App, repo: &Repo, dir: &TaskDir, seen: &TaskView) -> Result<(), Failure> {
    let there = || seen.worktree.as_ref().is_some_and(|path| Path::new(path).exists());
    let Some(merged) = seen.merged.as_ref().filter(|_| !there()) else { return Ok(()) };
    let failure = Failure::usage(say(|m| m.resume_was_merged(&seen.name, words::branch(&merged.into))))
        .kept(say(|m| m.kept_nothing_started()))
        .hint(say(|m| m.resume_start_new()));
    let data = dir.repo().filter(|data| is_put_away(app, repo, data, &seen.name));
    Err(match data {
        Some(_) => failure.hint(say(|m| m.resume_undo_merge(&seen.name))),
        None => failure,
    })
}

/// Agents and checks are those of its start; what tells people of its end, offers it, and sets checkouts of proofs up is as set
/// now.
fn settings(app: &App, repo: &Repo, spec: &TaskSpec, answers: &Answers) -> Result<Loaded, NotYet> {
    let mut uses = vec![Using::Notify];
    uses.extend((!spec.policy.checks.is_empty()).then_some(Using::Setup));
    uses.extend(spec.pull_request.as_ref().map(|_| Using::PullRequests));
    app.settings(repo.toplevel(), &uses, answers)
}

/// What the user has changed about proofs since the task began: a setup that the config has now, a flag.
fn proof_from_now_on(view: &TaskView, config: &Config, at: Option<ProofAt>) -> Option<ProofPolicy> {
    let mut proof = view.proof_policy.clone();
    proof.at = at.unwrap_or(proof.at);
    if !config.worktree.setup.is_empty() {
        proof.setup.commands.clone_from(&config.worktree.setup);
        proof.setup.timeout = config.worktree.setup_timeout.duration();
    }
    proof.cache = config.proof.cache.into();
    (proof != view.proof_policy).then_some(proof)
}

/// Last of all, when nothing can refuse any more: an answer that was refused must not be heard at the next occasion.
fn hand_over(
    dir: &TaskDir,
    lock: &Lock,
    orders: Vec<Order>,
    remember: Option<Command>,
) -> Result<(), Failure> {
    let inbox = dir.inbox();
    let failed =
        |error: std::io::Error| Failure::failed(say(|m| m.inbox_failed(&dir.name(), &error.to_string())));
    inbox.forget_stops().map_err(failed)?;
    for (by, command) in orders.into_iter().chain(remember.map(|command| ("dacapo resume", command))) {
        // Limits are as `set` would have made them, so that what is shown first speaks of them; and what is remembered is
        // in the first prompt.
        let first = matches!(command, Command::Set { .. } | Command::Remember { .. });
        if first && dir.has_begun() {
            write_down(dir, lock, by, &[command])?;
        } else {
            inbox.put(by, command).map_err(failed)?;
        }
    }
    Ok(())
}

/// All that the task did is committed, so what lies uncommitted in the user's checkout now is the user's (C10).
fn look_at_tree(repo: &Repo, view: &TaskView, spec: &TaskSpec) -> Result<(), Failure> {
    let committed = view.status.has_ended() && view.iterations.last().is_none_or(|last| last.success);
    if !matches!(spec.place, Place::InPlace { allow_dirty: false, .. })
        || !spec.context.auto_commit
        || !committed
    {
        return Ok(());
    }
    let dirt = repo.dirt().map_err(|error| Failure::failed(errors::text(&error)))?;
    // What is untracked is left out of commits.
    let paths = dirt.tracked.iter().chain(&dirt.unmerged);
    let theirs: Vec<String> =
        paths.map(|path| display_path(path)).filter(|path| !view.uncommitted.contains(path)).collect();
    if theirs.is_empty() {
        return Ok(());
    }
    let named: Vec<&str> = theirs.iter().take(3).map(String::as_str).collect();
    let more = if theirs.len() > named.len() { ", …" } else { "" };
    let (files, names) = (theirs.len() as u64, format!("{}{more}", named.join(", ")));
    Err(Failure::usage(say(|m| m.resume_uncommitted(files, &view.name, &names)))
        .kept(say(|m| m.kept_nothing_started()))
        .hint(say(|m| m.resume_commit_first())))
}

/// A task that has a branch of its own in the user's checkout goes on there, and nowhere else (M2).
fn look_at_branch(app: &App, view: &TaskView, spec: &TaskSpec, dir: &TaskDir) -> Result<(), Failure> {
    // Before the branch was made it is on another one.
    if view.branch.is_none() {
        return Ok(());
    }
    let before = untracked_before(dir, &view.untracked.lists);
    match astray(spec, &app.env, &before).map_err(|error| Failure::failed(errors::text(&error)))? {
        Some(why) => Err(Failure::usage(errors::text(&why))
            .kept(say(|m| m.kept_nothing_started()))
            .hint(say(|m| m.astray_commit_or_stash(&view.name)))),
        None => Ok(()),
    }
}

/// How many iterations are added. A task that has none left must be given some.
fn enough(
    view: &TaskView,
    spec: &TaskSpec,
    more: Option<u32>,
    follow_up: bool,
) -> Result<Option<u32>, Failure> {
    // A follow-up is a new piece of work: it gets as many iterations as the first one had.
    let anew = spec.policy.cap.map(|cap| cap.iterations.max(1));
    let left = view.max_iterations.is_none_or(|max| view.iteration < max);
    match (view.status, view.outcome, more) {
        (_, _, Some(more)) => Ok(Some(more)),
        (Status::Completed, _, None) if !follow_up => {
            Err(Failure::usage(say(|m| m.resume_completed(&view.name)))
                .hint(say(|m| m.resume_follow_up(&view.name)))
                .hint(command(format_args!("resume {} --iter 5", view.name))))
        }
        (Status::Completed, _, None) => Ok(anew),
        (_, Some(Outcome::MaxReached), None) | (_, _, None) if !left && view.status.has_ended() => {
            match follow_up {
                true => Ok(anew),
                false => Err(Failure::usage(say(|m| {
                    m.resume_used_up(&view.name, view.max_iterations.unwrap_or(view.iteration))
                }))
                .hint(command(format_args!("resume {} --iter 5", view.name)))),
            }
        }
        _ => Ok(None),
    }
}
