//! `dacapo rerun`: the request of a task anew, under a new name (S17).

use clap::Parser as _;
use dacapo_core::git::Repo;
use dacapo_core::spec::{Change, Place, TaskName, TaskSpec, random_hex};
use dacapo_core::store::RepoDir;
use dacapo_core::task::agent_loop::Loop;
use jiff::Timestamp;

use super::exec::run_here;
use super::spawn::let_run;
use super::start::{Prepared, claim, look_at_tree};
use super::{dry_run, repository, task};
use crate::agents::{self, Wanted};
use crate::args::{Cli, Command, Exec, Rerun};
use crate::config::Loaded;
use crate::error::Failure;
use crate::request::{
    Budget, Request, Variables, base, can_hold, count, given_again, rename, time, variables,
};
use crate::trust::{Gate, Using};

const NOTHING: &str = "everything; nothing was started";

pub(super) fn run(args: &Rerun) -> Result<u8, Failure> {
    let prepared = prepare(args)?;
    if args.dry_run {
        return dry_run::show(&prepared, args.show);
    }
    let Prepared { repo, data, loaded, asked } = prepared;
    let foreground = asked.spec.foreground;
    let made = claim(repo, &data, loaded, asked)?;
    if foreground {
        return run_here(made, args.show);
    }
    let_run(made)?.tell(args.show)?;
    Ok(0)
}

fn prepare(args: &Rerun) -> Result<Prepared, Failure> {
    let (_, dir) = task(Some(&args.name))?;
    let (repo, data) = repository()?;
    let before = dir.spec().map_err(|error| Failure::failed(error.to_string()))?;
    if before.kind != Loop::NAME {
        return Err(Failure::usage(format!(
            "Task '{}' is a {}, which is not rerun",
            before.name, before.kind
        ))
        .kept(NOTHING)
        .hint(format!("dacapo resume {} goes on with it", before.name)));
    }
    let like = flags_like(&before, args)?;
    let gate = Gate { top: repo.toplevel(), show: args.show };
    let loaded = gate.settings(&uses(args, &before))?;
    let Variables { env: given, secrets } = variables(&args.env);
    let mut spec = TaskSpec {
        created_at: Timestamp::now(),
        tag: random_hex(16),
        top: repo.toplevel().to_owned(),
        env: before
            .env
            .iter()
            .filter(|(name, _)| !args.env.iter().any(|(new, _)| new == name))
            .cloned()
            .chain(given)
            .collect(),
        ..before.clone()
    };
    given_again(&spec, &secrets, &format!("dacapo rerun {} (or --env)", before.name))?;
    start_here(&mut spec, &repo, &like)?;
    choose_agents(&mut spec, args, &loaded, &repo)?;
    change_limits(&mut spec, args)?;
    let wanted = match &args.new_name {
        Some(name) => TaskName::parse(name).map_err(|error| {
            Failure::usage(error.to_string())
                .kept(NOTHING)
                .hint(format!("--name {}", TaskName::from_prompt(name)))
        })?,
        None => first_of(&before.name, &data),
    };
    rename(&mut spec, &data, wanted);
    let notes = loaded.warnings.clone();
    let mut asked = Request { spec, named: args.new_name.is_some(), agent_why: None, notes, secrets };
    let dirt = repo.dirt().map_err(|error| Failure::failed(error.to_string()))?;
    look_at_tree(&like, &dirt, &mut asked)?;
    if !asked.named && args.dry_run {
        asked.spec.name = next_free(&asked.spec.name, &data);
        let name = asked.spec.name.clone();
        rename(&mut asked.spec, &data, name);
    }
    Ok(Prepared { repo, data, loaded, asked })
}

/// What the flags of `exec` would have been, as far as they are about the checkout.
fn flags_like(spec: &TaskSpec, args: &Rerun) -> Result<Exec, Failure> {
    let parsed = Cli::try_parse_from(["dacapo", "exec", "--", "PROMPT"]);
    let Command::Exec(mut like) = parsed.map_err(|error| Failure::failed(error.to_string()))?.command else {
        return Err(Failure::failed("`exec` is not understood"));
    };
    match &spec.place {
        Place::InPlace { allow_dirty, .. } => like.allow_dirty = *allow_dirty,
        Place::Worktree { with_changes, .. } => (like.worktree, like.with_changes) = (true, *with_changes),
    }
    like.base.clone_from(&args.base);
    Ok(*like)
}

/// Agents and checks are those of its start, unless a flag says otherwise.
fn uses<'a>(args: &'a Rerun, spec: &TaskSpec) -> Vec<Using<'a>> {
    let mut uses = vec![Using::Notify];
    uses.extend(args.agent.as_deref().map(|names| Using::Agents(Some(names))));
    uses.extend((!spec.policy.checks.is_empty()).then_some(Using::Setup));
    uses.extend(spec.pull_request.as_ref().map(|_| Using::PullRequests));
    uses
}

/// It starts from where the user is now, not from where the other one did.
fn start_here(spec: &mut TaskSpec, repo: &Repo, like: &Exec) -> Result<(), Failure> {
    let head = repo.head().map_err(|error| Failure::failed(error.to_string()))?;
    let (commit, branch) = match &like.base {
        None => (head.commit, head.branch),
        Some(name) => base(like, repo, name, head)?,
    };
    spec.base_branch = branch;
    if let Place::Worktree { base, .. } = &mut spec.place {
        *base = commit;
    }
    Ok(())
}

fn choose_agents(spec: &mut TaskSpec, args: &Rerun, loaded: &Loaded, repo: &Repo) -> Result<(), Failure> {
    if args.agent.is_none() && args.agent_cmd.is_none() && args.model.is_none() {
        return Ok(());
    }
    let same = spec.agents.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>().join(",");
    let wanted = Wanted {
        agent: args.agent.clone().or(args.agent_cmd.is_none().then_some(same)),
        agent_cmd: args.agent_cmd.clone(),
        model: args.model.clone(),
        show: args.show,
        background: !spec.foreground,
        ..Wanted::default()
    };
    spec.agents = agents::choose(&wanted, &loaded.config, repo.toplevel())?.agents;
    Ok(())
}

fn change_limits(spec: &mut TaskSpec, args: &Rerun) -> Result<(), Failure> {
    if let Some(text) = &args.iter {
        count(text)?;
    }
    if let Some(text) = &args.time {
        time(text)?;
    }
    let given = [
        ("iter", &args.iter),
        ("time", &args.time),
        ("max-cost", &args.max_cost),
        ("max-tokens", &args.max_tokens),
    ];
    for (key, value) in given {
        let Some(value) = value else { continue };
        let change = Change::parse(key, value).ok().filter(|_| !value.starts_with('+')).ok_or_else(|| {
            Failure::usage(format!("--{key} {value}: expected a number above 0"))
                .kept(NOTHING)
                .hint(format!("--{key} 5"))
        })?;
        let mut cap = spec.policy.cap;
        change.apply(&mut spec.policy, &mut cap);
        spec.policy.cap = cap;
        spec.policy.looping |= key == "iter" || key == "time";
    }
    let paid = spec.agents.iter().chain(&spec.context.summary_by).chain(&spec.context.message_by);
    match (spec.policy.max_cost, spec.policy.max_tokens) {
        (Some(_), _) => can_hold(Budget::Cost, paid),
        (_, Some(_)) => can_hold(Budget::Tokens, paid),
        (None, None) => Ok(()),
    }
}

/// The name that numbers are put to: `x` for `x-2`, where there is a task `x`.
fn first_of(name: &TaskName, data: &RepoDir) -> TaskName {
    let first = name.as_str().rsplit_once('-').filter(|(_, number)| number.parse::<u32>().is_ok());
    let first = first.and_then(|(first, _)| TaskName::parse(first).ok());
    first.filter(|first| data.task(first).exists()).unwrap_or_else(|| name.clone())
}

/// The name that it would get.
fn next_free(name: &TaskName, data: &RepoDir) -> TaskName {
    (2..)
        .map(|number| name.numbered(number))
        .find(|name| !data.task(name).exists())
        .unwrap_or_else(|| name.clone())
}
