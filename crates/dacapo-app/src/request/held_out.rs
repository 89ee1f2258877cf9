//! Held-out checks (L3): those of the request, then those of the user's own settings for the repository.

use std::path::{Path, PathBuf};

use dacapo_core::git::Repo;
use dacapo_core::spec::{ContextPolicy, LoopPolicy, ProofAt};
use dacapo_core::task::agent_loop::DEFAULT_PROMISE;

use super::{Around, TaskRequest};
use crate::config::Config;
use crate::error::Failure;
use crate::messages::{Messages, say};

/// The held-out checks of a task, each once.
pub(super) fn checks(asked: &[String], around: &Around<'_>) -> Result<Vec<String>, Failure> {
    if let Some(empty) = asked.iter().find(|command| command.trim().is_empty()) {
        return Err(Failure::usage(say(|m| m.start_check_empty("--hidden-check", empty)))
            .kept(say(Messages::kept_nothing_started))
            .hint("--hidden-check 'sh ~/more-tests.sh'"));
    }
    let set = of_repo(around.config, around.repo, around.app.user_dir.as_deref());
    let mut checks: Vec<String> = Vec::new();
    for command in asked.iter().cloned().chain(set) {
        if !checks.contains(&command) {
            checks.push(command);
        }
    }
    Ok(checks)
}

/// What a request for held-out checks means for the loop. Alone they never run before the agent says that it is done: each
/// run of them tells it whether it has guessed right.
pub(super) fn settle(
    args: &TaskRequest,
    policy: &mut LoopPolicy,
    context: &ContextPolicy,
) -> Result<(), Failure> {
    if args.hidden_checks.is_empty() {
        return Ok(());
    }
    let refuse = |flag: &str| {
        Failure::usage(say(|m| m.held_out_needs_proof(flag))).kept(say(Messages::kept_nothing_started))
    };
    if policy.proof.at == ProofAt::Workspace {
        return Err(refuse("--proof workspace"));
    }
    if !context.auto_commit {
        return Err(refuse("--no-commit"));
    }
    if policy.until.is_none() && policy.checks.is_empty() {
        policy.until = Some(DEFAULT_PROMISE.to_owned());
    }
    Ok(())
}

/// What the user's settings say for this repository, wherever in it a command is given.
fn of_repo(config: &Config, repo: &Repo, home: Option<&Path>) -> Vec<String> {
    // The checkout itself, and the one whose git directory a linked worktree shares.
    let shared = repo.common_dir();
    let main = shared.parent().filter(|_| shared.ends_with(".git"));
    let places: Vec<PathBuf> = [Some(repo.toplevel()), main].into_iter().flatten().map(real).collect();
    let named = config.repos.iter().filter(|(path, _)| places.contains(&real(&expanded(path, home))));
    named.flat_map(|(_, settings)| settings.hidden_checks.clone()).collect()
}

/// `~/x` in the user's home directory.
fn expanded(path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => home.join(below),
        (Some(_) | None, _) => PathBuf::from(path),
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
