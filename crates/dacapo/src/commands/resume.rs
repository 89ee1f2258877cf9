//! `dacapo resume`: goes on with any task that is not running (S10).

use std::path::Path;
use std::time::Instant;

use dacapo_core::engine::astray;
use dacapo_core::engine::machine::Whereabouts;
use dacapo_core::event::{Command, Outcome};
use dacapo_core::git::{Repo, display_path};
use dacapo_core::mirror::{documents, publish};
use dacapo_core::spec::{Approval, Place, ProofAt, ProofPolicy, TaskSpec};
use dacapo_core::store::{Lock, LockError, TaskDir};
use dacapo_core::task::milestone::Milestones;
use dacapo_core::view::{Status, TaskView};

use super::background::{self, Begun, Instructions};
use super::drive::{Drive, drive, exit_code};
use super::orders::write_down;
use super::start::{checkout_of, take_workspace};
use super::{is_put_away, milestone, print, task, tasks, turn, view, with_each};
use crate::after_task::{Ended, after_task};
use crate::agents::somebody_must_answer;
use crate::args::{Resume, Show};
use crate::config::{Config, Loaded};
use crate::error::Failure;
use crate::output::words;
use crate::request::{count, given_again};
use crate::trust::{Gate, Using};

/// How a task is to go on.
#[derive(Debug, Default)]
pub(super) struct GoOn {
    /// More iterations than were asked for first.
    pub(super) more: Option<u32>,
    /// What is to be added to the task.
    pub(super) follow_up: Option<String>,
    /// Where the last run of the checks happens from now on.
    pub(super) proof: Option<ProofAt>,
    /// What it hears first: a person's answers to what it asked.
    pub(super) answers: Vec<(&'static str, Command)>,
    /// It will be over at once, so nobody needs to look for it in the background.
    pub(super) at_once: bool,
    /// In the background, however it was started.
    pub(super) background: bool,
    /// How it is shown.
    pub(super) show: Show,
}

pub(super) fn run(args: &Resume) -> Result<u8, Failure> {
    let more = args.iter.as_deref().map(count).transpose()?;
    let words = args.prompt.join(" ");
    let follow_up = (!words.trim().is_empty()).then_some(words);
    let all = match &args.name {
        Some(names) => tasks(&names.split(',').map(str::to_owned).collect::<Vec<_>>())?,
        None => vec![task(None)?],
    };
    // Several go on side by side, so none of them can have the terminal.
    let background = args.spawn || all.len() > 1;
    let proof = args.proof.map(Into::into);
    with_each(all, |(repo, dir)| {
        let follow_up = follow_up.clone();
        go_on(&repo, &dir, GoOn { more, follow_up, proof, background, show: args.show, ..GoOn::default() })
    })
}

/// Goes on with a task that nobody drives.
pub(super) fn go_on(repo: &Repo, dir: &TaskDir, how: GoOn) -> Result<u8, Failure> {
    let GoOn { more, follow_up, proof, mut answers, at_once, background, show } = how;
    if let Ok(spec) = dir.spec() {
        given_again(&spec, &[], &format!("dacapo resume {}", spec.name))?;
    }
    let lock = dir.lock().map_err(|error| match error {
        LockError::Held => still_running(&dir.name()),
        LockError::Lingering => still_finishing(&dir.name()),
        LockError::Io { .. } => Failure::failed(error.to_string()),
    })?;
    let seen = view(dir)?;
    if let Some(merged) = &seen.merged
        && !seen.worktree.as_ref().is_some_and(|path| Path::new(path).exists())
    {
        let failure = Failure::usage(format!(
            "Task '{}' was merged into {}; its worktree is gone",
            seen.name,
            words::branch(&merged.into)
        ))
        .kept("everything; nothing was started")
        .hint("start a new task: dacapo exec \"what to add\"");
        let data = dir.repo().filter(|data| is_put_away(repo, data, &seen.name));
        return Err(match data {
            Some(_) => failure.hint(format!("dacapo undo {} brings worktree and branch back", seen.name)),
            None => failure,
        });
    }
    let spec = dir.spec().map_err(|error| Failure::failed(error.to_string()))?;
    if spec.kind == Milestones::NAME && seen.status.has_ended() {
        // Its process may have died before it could say so in the checkout (M8).
        publish(&spec, documents(dir, &spec, Whereabouts::Here));
    }
    let loaded = settings(repo, &spec, show)?;
    if answers.is_empty() {
        answers = milestone::left(dir, &seen)?;
    }
    let answered = !answers.is_empty();
    if spec.kind == Milestones::NAME {
        milestone::may_go_on(repo, dir, &seen, &spec, &answers, more.is_some())?;
    }
    let more = if answered { more } else { enough(&seen, &spec, more, follow_up.is_some())? };
    let checkout = checkout_of(&spec)?;
    if let Some(checkout) = &checkout {
        look_at_tree(checkout, &seen, &spec)?;
    }
    let here = at_once || spec.foreground && !background;
    let mut turn = None;
    // Where only an answer is taken in, nothing works.
    if !at_once {
        look_at_branch(&seen, &spec)?;
        if let Some(data) = dir.repo().filter(|_| here) {
            turn = turn::take(&data, &spec)?;
        }
    }
    if here && let Some(asks) = spec.agents.iter().find(|agent| agent.approval == Approval::Ask) {
        somebody_must_answer(show, &asks.name)?;
    }
    let workspace = checkout.map(|checkout| take_workspace(&checkout, spec.name.as_str())).transpose()?;
    let proof = proof_from_now_on(&seen, &loaded.config, proof);
    if !here {
        hand_over(dir, &lock, answers)?;
        let begun = background::start(
            dir,
            &spec,
            &Instructions { more_iterations: more, follow_up, proof, secrets: Vec::new() },
        )?;
        if show.json {
            print(&view(dir)?.to_json().to_string());
        } else if !show.quiet {
            let name = &spec.name;
            let does = match begun {
                Begun::Queued => "is queued and goes on when a place is free",
                Begun::Running => "goes on in the background",
            };
            print(&format!("{name} {does}; dacapo attach {name} shows it"));
        }
        return Ok(0);
    }
    hand_over(dir, &lock, answers)?;
    let with = Drive {
        show,
        notes: &loaded.warnings,
        agent_why: None,
        more_iterations: more,
        follow_up,
        proof,
        keep_awake: loaded.config.keep_awake,
        turn,
        secrets: Vec::new(),
    };
    let begun = Instant::now();
    let result = drive(spec.clone(), dir, with)?;
    drop(workspace);
    let ended = Ended {
        spec: &spec,
        dir,
        config: &loaded.config,
        show,
        took: begun.elapsed(),
        outcome: result.outcome,
    };
    after_task(&ended, lock);
    Ok(exit_code(&result, &spec.place))
}

/// Agents and checks are those of its start; what tells people of its end, offers it, and sets checkouts of proofs up is as set
/// now.
fn settings(repo: &Repo, spec: &TaskSpec, show: Show) -> Result<Loaded, Failure> {
    let mut uses = vec![Using::Notify];
    uses.extend((!spec.policy.checks.is_empty()).then_some(Using::Setup));
    uses.extend(spec.pull_request.as_ref().map(|_| Using::PullRequests));
    Gate { top: repo.toplevel(), show }.settings(&uses)
}

/// What the user has changed about proofs since the task began: a setup that the config has now, a flag.
fn proof_from_now_on(view: &TaskView, config: &Config, at: Option<ProofAt>) -> Option<ProofPolicy> {
    let mut proof = view.proof_policy.clone();
    proof.at = at.unwrap_or(proof.at);
    if !config.worktree.setup.is_empty() {
        proof.setup.commands.clone_from(&config.worktree.setup);
        proof.setup.timeout = config.worktree.setup_timeout.duration();
    }
    if !config.proof.keep.is_empty() {
        proof.keep.clone_from(&config.proof.keep);
    }
    (proof != view.proof_policy).then_some(proof)
}

/// Last of all, when nothing can refuse any more: an answer that was refused must not be heard at the next occasion.
fn hand_over(dir: &TaskDir, lock: &Lock, answers: Vec<(&'static str, Command)>) -> Result<(), Failure> {
    let inbox = dir.inbox();
    let failed = |error| Failure::failed(format!("the inbox of task '{}': {error}", dir.name()));
    inbox.forget_stops().map_err(failed)?;
    for (by, command) in answers {
        // Limits are as `set` would have made them, so that what is shown first speaks of them.
        if matches!(command, Command::Set { .. }) && dir.has_begun() {
            write_down(dir, lock, by, &[command])?;
        } else {
            inbox.put(by, command).map_err(failed)?;
        }
    }
    Ok(())
}

/// S7: how to end it from here.
pub(super) fn still_running(name: &str) -> Failure {
    Failure::usage(format!("Task '{name}' is still running."))
        .kept("everything; nothing was changed")
        .hint(format!("dacapo kill {name} ends it"))
        .hint(format!("dacapo attach {name} shows it, dacapo wait {name} waits for it"))
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
    let dirt = repo.dirt().map_err(|error| Failure::failed(error.to_string()))?;
    let paths = dirt.tracked.iter().chain(&dirt.untracked).chain(&dirt.unmerged);
    let theirs: Vec<String> =
        paths.map(|path| display_path(path)).filter(|path| !view.uncommitted.contains(path)).collect();
    if theirs.is_empty() {
        return Ok(());
    }
    let named: Vec<&str> = theirs.iter().take(3).map(String::as_str).collect();
    let more = if theirs.len() > named.len() { ", …" } else { "" };
    let files = words::count(theirs.len() as u64, "uncommitted file");
    Err(Failure::usage(format!("{files} here since task '{}' ended ({}{more})", view.name, named.join(", ")))
        .kept("everything; nothing was started")
        .hint("commit or stash them first: they would become part of an iteration's commit"))
}

/// A task that has a branch of its own in the user's checkout goes on there, and nowhere else (M2).
pub(super) fn look_at_branch(view: &TaskView, spec: &TaskSpec) -> Result<(), Failure> {
    // Before the branch was made it is on another one.
    if view.branch.is_none() {
        return Ok(());
    }
    match astray(spec).map_err(|error| Failure::failed(error.to_string()))? {
        Some(why) => Err(Failure::usage(why).kept("everything; nothing was started")),
        None => Ok(()),
    }
}

/// What a process that is gone has started, a git in a large repository for one, is not done yet.
pub(super) fn still_finishing(task: &str) -> Failure {
    Failure::usage(format!(
        "The process of task '{task}' is gone, but a git or guard that it started is still at work"
    ))
    .kept("everything; nothing was started")
    .hint(format!("dacapo wait {task} waits for it; then try again"))
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
            Err(Failure::usage(format!("Task '{}' is completed", view.name))
                .hint(format!("dacapo resume {} \"what to add\"", view.name))
                .hint(format!("dacapo resume {} --iter 5", view.name)))
        }
        (Status::Completed, _, None) => Ok(anew),
        (_, Some(Outcome::MaxReached), None) | (_, _, None) if !left && view.status.has_ended() => {
            match follow_up {
                true => Ok(anew),
                false => Err(Failure::usage(format!(
                    "Task '{}' has used all of its {} iterations",
                    view.name,
                    view.max_iterations.unwrap_or(view.iteration)
                ))
                .hint(format!("dacapo resume {} --iter 5", view.name))),
            }
        }
        _ => Ok(None),
    }
}
