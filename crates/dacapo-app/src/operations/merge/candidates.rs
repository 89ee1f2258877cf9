//! Which tasks are meant, and whether each can be merged. Whatever is wrong is said before anything is touched.

use std::path::Path;

use dacapo_core::agent;
use dacapo_core::git::{GitError, Looked, Oid, Repo, WorktreeError};
use dacapo_core::merge::Candidate;
use dacapo_core::overview::Brief;
use dacapo_core::recovery::end_leftovers_of;
use dacapo_core::spec::{AgentSpec, Approval, Place, TaskSpec};
use dacapo_core::store::{Lock, LockError, RepoDir, TaskDir};
use dacapo_core::view::{MergedInto, TaskView};

use super::{MergeRequest, unmerged};
use crate::App;
use crate::agents::{self, AgentChoice, Answers};
use crate::committed_secrets::{self, Leaving};
use crate::config::Config;
use crate::error::Failure;
use crate::messages::{command, say};
use crate::note::Note;
use crate::operations::list::glance;
use crate::operations::tasks::{still_finishing, vouched_spec};
use crate::present::errors;
use crate::present::listing::is_ready;
use crate::present::words;
use crate::request::fill_agents;

/// The tasks that are meant.
pub(super) struct Gathered {
    /// Those that can be merged, in order.
    pub(super) candidates: Vec<Candidate>,
    /// Those that have been merged before, and where they went.
    pub(super) merged: Vec<(String, MergedInto)>,
}

pub(super) fn gather(
    app: &App,
    request: &MergeRequest,
    (repo, data): (&Repo, &RepoDir),
    config: &Config,
    into: &str,
) -> Result<Gathered, Failure> {
    let names = names(app, request, data)?;
    let top = repo.toplevel();
    let asked = asked_for(app, request, config, top)?;
    let helpers = Helpers { app, request, config, top, asked };
    let mut gathered = Gathered { candidates: Vec::new(), merged: Vec::new() };
    for name in &names {
        let (_, dir) = app.task(Some(name)).map_err(|failure| failure.kept(unmerged()))?;
        let mut spec = vouched_spec(&dir).map_err(|failure| failure.kept(unmerged()))?;
        fill_agents(app, config, &mut spec);
        let lock = lock(&dir)?;
        repo.hand_down(&lock);
        app.tell_of_leftovers(&dir, &end_leftovers_of(&dir, &lock, app.kinds));
        let view = app.view(&dir)?;
        // One whose branch is still there was cut short at the very end: merging it again puts that away.
        if let Some(merged) = &view.merged
            && !(merged.into == into && stands(repo, &spec))
        {
            gathered.merged.push((name.clone(), merged.clone()));
            continue;
        }
        app.carry(repo, &spec).map_err(|error| not_carried(&error))?;
        let (branch, tip) = branch(repo, &spec, &view, into)?;
        if let Some(refused) = secrets(app, request, (repo, into), (&spec, &view, &tip))? {
            if !request.ready {
                return Err(refused);
            }
            app.note(&Note::SecretNotMerged { task: name.clone(), why: refused.message });
            continue;
        }
        let candidate = Candidate {
            checks: checks(&spec, config),
            agents: helpers.agents(&spec),
            dir,
            spec,
            view,
            branch,
            tip,
            lock,
        };
        gathered.candidates.push(candidate);
    }
    Ok(gathered)
}

/// Whether a task has a branch of its own, which goes last.
fn stands(repo: &Repo, spec: &TaskSpec) -> bool {
    let Place::Worktree { branch, .. } = &spec.place else { return false };
    repo.read_ref(branch).is_ok_and(|tip| tip.is_some())
}

fn names(app: &App, request: &MergeRequest, data: &RepoDir) -> Result<Vec<String>, Failure> {
    let names: Vec<String> =
        request.tasks.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    if request.ready {
        let lands = |brief: &Brief| brief.verified || brief.has_approved_tests();
        let proven: Vec<String> =
            ready(app, data)?.into_iter().filter(lands).map(|brief| brief.name).collect();
        return if proven.is_empty() {
            Err(Failure::usage(say(|m| m.merge_none_ready()))
                .kept(unmerged())
                .hint(say(|m| m.merge_list_shows_status())))
        } else {
            Ok(proven)
        };
    }
    if names.is_empty() {
        return Err(offered(Failure::usage(say(|m| m.merge_which())).kept(unmerged()), &ready(app, data)?));
    }
    if let Some(twice) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        return Err(Failure::usage(say(|m| m.merge_named_twice(&names[twice])))
            .kept(unmerged())
            .hint(say(|m| m.merge_name_each_once())));
    }
    Ok(names)
}

/// What waits for nothing but to be merged, the oldest first.
fn ready(app: &App, data: &RepoDir) -> Result<Vec<Brief>, Failure> {
    let mut ready: Vec<Brief> = glance::<Brief>(app, data)?.into_iter().filter(is_ready).collect();
    ready.sort_by_key(|brief| brief.created_at);
    Ok(ready)
}

/// What could be meant, a line each.
fn offered(failure: Failure, ready: &[Brief]) -> Failure {
    const MOST: usize = 8;
    if ready.is_empty() {
        return failure.hint(say(|m| m.merge_nothing_ready()));
    }
    let mut failure = ready.iter().take(MOST).fold(failure, |failure, brief| {
        failure.hint(match brief.verified {
            true => say(|m| m.merge_offer_proven(&brief.name)),
            false => say(|m| m.merge_offer_unverified(&brief.name)),
        })
    });
    if let Some(more) = ready.len().checked_sub(MOST).filter(|more| *more > 0) {
        failure = failure.hint(say(|m| m.merge_offer_more(more)));
    }
    if ready.iter().any(|brief| brief.verified) {
        failure = failure.hint(say(|m| m.merge_offer_all_ready()));
    }
    failure
}

fn lock(dir: &TaskDir) -> Result<Lock, Failure> {
    let name = dir.name();
    dir.lock().map_err(|error| match error {
        LockError::Held => Failure::usage(say(|m| m.task_still_running(&name)))
            .kept(unmerged())
            .hint(say(|m| m.merge_wait_for(&name)))
            .hint(say(|m| m.kill_it_first(&name))),
        LockError::Lingering => still_finishing(&name).kept(unmerged()),
        LockError::Io { .. } | LockError::RenameUnfinished { .. } => {
            Failure::failed(errors::text(&error)).kept(unmerged())
        }
    })
}

/// The branch with the task's work, and its tip.
fn branch(repo: &Repo, spec: &TaskSpec, view: &TaskView, into: &str) -> Result<(String, Oid), Failure> {
    let name = spec.name.as_str();
    if let Place::InPlace { branch: Some(own), .. } = &spec.place {
        let branch = words::branch(&own.name);
        return Err(Failure::usage(say(|m| m.merge_has_own_branch_here(name, branch)))
            .kept(unmerged())
            .hint(say(|m| m.merge_by_git(branch))));
    }
    let Place::Worktree { branch, path, .. } = &spec.place else {
        let on = view.branch.as_deref().map(words::branch);
        let message = say(|m| match on {
            Some(branch) => m.merge_worked_here(name, branch),
            None => m.merge_worked_here(name, &m.merge_detached_head()),
        });
        return Err(Failure::usage(message).kept(unmerged()).hint(say(|m| m.merge_start_with_worktree())));
    };
    if branch == into {
        let at = repo.toplevel().display().to_string();
        return Err(Failure::usage(say(|m| m.worktree_checked_out(words::branch(branch), &at)))
            .kept(unmerged())
            .hint(say(|m| m.drop_switch_branch(&at))));
    }
    let tip =
        repo.read_ref(branch).map_err(|error| Failure::failed(errors::text(&error)).kept(unmerged()))?;
    if let Some(tip) = tip {
        return Ok((branch.clone(), tip));
    }
    let short = words::branch(branch);
    let failure = Failure::usage(say(|m| m.merge_branch_gone(short, name))).kept(unmerged());
    Err(match &view.last_commit {
        Some(last) if repo.has_commit(last).unwrap_or(false) => {
            failure.hint(say(|m| m.merge_restore_branch(short, last.short())))
        }
        _ if path.exists() => failure.hint(say(|m| m.hint_look_at(&path.display().to_string()))),
        _ => failure.hint(say(|m| m.merge_never_committed())),
    })
}

fn not_carried(error: &WorktreeError) -> Failure {
    let failure = Failure::failed(errors::text(error)).kept(unmerged());
    match error {
        WorktreeError::CheckedOut { at, .. } => {
            failure.hint(say(|m| m.drop_switch_branch(&at.display().to_string())))
        }
        _ => failure,
    }
}

/// Why the commits of a task are not merged, where they bring a known secret.
fn secrets(
    app: &App,
    request: &MergeRequest,
    (repo, into): (&Repo, &str),
    (spec, view, tip): (&TaskSpec, &TaskView, &Oid),
) -> Result<Option<Failure>, Failure> {
    if request.allow_secret {
        return Ok(None);
    }
    let failed = |error: GitError| Failure::failed(errors::text(&error)).kept(unmerged());
    let onto = repo.read_ref(into).map_err(failed)?;
    let leaving = Leaving { repo, spec, view, onto: onto.as_ref(), tip };
    let looked = if request.squash { Looked::Result } else { Looked::EachCommit };
    let found = leaving.secrets(app, looked).map_err(failed)?;
    let name = spec.name.as_str();
    let squash = if request.squash { " --squash" } else { "" };
    let allow = command(format_args!("merge {name}{squash} --allow-secret"));
    let refused = committed_secrets::refused(name, &found, unmerged(), allow);
    // Only the history has it.
    let by_squash = refused.is_some()
        && looked == Looked::EachCommit
        && leaving.secrets(app, Looked::Result).map_err(failed)?.is_empty();
    Ok(refused.map(|refused| match by_squash {
        true => refused.hint(say(|m| m.secret_squash_leaves_it_out(name))),
        false => refused,
    }))
}

/// The task's own, and the project's.
fn checks(spec: &TaskSpec, config: &Config) -> Vec<String> {
    let mut checks = spec.policy.checks.clone();
    for check in config.checks.iter().flatten() {
        if !checks.contains(check) {
            checks.push(check.clone());
        }
    }
    checks
}

/// By flags. None of them: each task has its own.
fn asked_for(
    app: &App,
    request: &MergeRequest,
    config: &Config,
    top: &Path,
) -> Result<Option<Vec<AgentSpec>>, Failure> {
    if request.agent.is_none() && request.agent_cmd.is_none() && request.model.is_none() {
        return Ok(None);
    }
    chosen(app, request, config, top).map(Some).map_err(|failure| failure.kept(unmerged()))
}

fn chosen(app: &App, request: &MergeRequest, config: &Config, top: &Path) -> Result<Vec<AgentSpec>, Failure> {
    let wanted = AgentChoice {
        agent: request.agent.clone(),
        agent_cmd: request.agent_cmd.clone(),
        model: request.model.clone(),
        answers: Answers::Nobody,
        ..AgentChoice::default()
    };
    Ok(agents::choose(app, &wanted, config, top)?.agents)
}

/// Chooses the agents that resolve conflicts.
struct Helpers<'a> {
    app: &'a App,
    request: &'a MergeRequest,
    config: &'a Config,
    top: &'a Path,
    asked: Option<Vec<AgentSpec>>,
}

impl Helpers<'_> {
    /// Those that were asked for, else the task's own, else the config's.
    fn agents(&self, spec: &TaskSpec) -> Vec<AgentSpec> {
        if self.request.no_agent {
            return Vec::new();
        }
        if let Some(asked) = &self.asked {
            return asked.clone();
        }
        let own: Vec<AgentSpec> = spec.agents.iter().filter(|agent| self.can_work(agent)).cloned().collect();
        if !own.is_empty() {
            return own;
        }
        chosen(self.app, self.request, self.config, self.top).unwrap_or_default()
    }

    /// One that may not edit, would ask, or lacks a secret that it was started with, resolves nothing here.
    fn can_work(&self, agent: &AgentSpec) -> bool {
        let there = agent::program(agent)
            .is_none_or(|program| agent::find_on_path(&program, self.app.var("PATH"), self.top).is_some());
        let has_secrets = agent.env.missing().next().is_none();
        there && has_secrets && matches!(agent.approval, Approval::Auto | Approval::Edits)
    }
}
