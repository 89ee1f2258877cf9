//! `dacapo exec`: the task is made, then driven in the foreground.

use std::time::Instant;

use dacapo_core::event::TaskResult;
use dacapo_core::git::Repo;
use dacapo_core::spec::Place;
use dacapo_core::store::{Lock, TaskDir};

use super::could_not_begin;
use super::drive::{Drive, drive, exit_code};
use super::dry_run;
use super::start::{Made, make, prepare};
use crate::after_task::{Ended, after_task};
use crate::args::{Exec, Show};
use crate::error::Failure;
use crate::request::Request;

pub(super) fn run(args: &Exec) -> Result<u8, Failure> {
    if args.dry_run {
        return dry_run::show(&prepare(args)?, args.show);
    }
    run_here(make(args)?, args.show)
}

/// Drives a task that was just made in the foreground.
pub(super) fn run_here(made: Made, show: Show) -> Result<u8, Failure> {
    let Made { repo, loaded, asked, dir, lock, _workspace: workspace, turn } = made;
    let drive_with = Drive {
        show,
        notes: &asked.notes,
        agent_why: asked.agent_why.as_deref(),
        more_iterations: None,
        follow_up: None,
        proof: None,
        keep_awake: loaded.config.keep_awake,
        turn,
        secrets: asked.secrets.clone(),
    };
    let begun = Instant::now();
    let result = drive(asked.spec.clone(), &dir, drive_with)?;
    let code = exit_code(&result, &asked.spec.place);
    if code == 2 {
        return Err(refused(&repo, &asked, &dir, lock, &result));
    }
    drop(workspace);
    let ended = Ended {
        spec: &asked.spec,
        dir: &dir,
        config: &loaded.config,
        show,
        took: begun.elapsed(),
        outcome: result.outcome,
    };
    after_task(&ended, lock);
    Ok(code)
}

/// Nothing was done, so nothing stays behind: no task, no branch, no worktree of its own.
fn refused(repo: &Repo, asked: &Request, dir: &TaskDir, lock: Lock, result: &TaskResult) -> Failure {
    let cure = could_not_begin::cure(&asked.spec, result);
    if let (Place::Worktree { path, branch, .. }, Some(base)) = (&asked.spec.place, &result.base_commit) {
        let _ = repo.remove_worktree(path);
        let _ = repo.delete_branch_at(branch, base);
    }
    let _ = dir.discard();
    drop(lock);
    let message = result.message.as_deref().unwrap_or("the task could not be set up");
    Failure::usage(message.to_owned()).kept("everything; the task was not started").hint(cure)
}
