//! A milestone's definition, flags and settings become a [`TaskSpec`] (M1, M2, M7).

use std::path::Path;

use dacapo_core::git::{MainBranch, Oid, Repo};
use dacapo_core::spec::SessionMode;
use dacapo_core::spec::{
    AgentSpec, Cap, ContextPolicy, LoopPolicy, NewBranch, Place, ProofAt, PullRequest, SPEC_FORMAT, Setup,
    TaskName, TaskSpec, TestsPolicy, random_hex,
};
use dacapo_core::store::RepoDir;
use dacapo_core::task::milestone::{Definition, Details, Flaw, Milestones, Prompts, Template, TemplateKind};
use jiff::Timestamp;

use super::{Around, Checks, Driven, Request, held_out, knows_its_cost, no_price, tests};
use crate::agents::{self, AgentChoice, Chosen};
use crate::config::Config;
use crate::error::Failure;
use crate::messages::{Messages, say};
use crate::milestones::says_something;
use crate::present::errors;
use crate::present::milestone::flaws;

/// What is given to the agents where it exists (M1); a larger one is nothing to read every round.
const LARGEST_BACKGROUND: u64 = 256 << 10;

/// A turn that shows no sign of life; a call has its own, shorter limit.
/// How many failed calls in a row that are nobody's verdict end it.
const MAX_FAILURES: u32 = 10;

/// What a milestone is to bring, as its file says it.
#[derive(Debug)]
pub struct Defined {
    /// Its id, which is the task's name.
    pub id: TaskName,
    /// The file, from the top of the repository.
    pub path: String,
    pub text: String,
    /// What the text says.
    pub definition: Definition,
}

/// What the command line adds to it.
#[derive(Debug, Default)]
pub struct Wish {
    pub developer: Option<String>,
    pub acceptor: Option<String>,
    /// In the user's own checkout.
    pub in_place: bool,
    /// At its end a pull request is wanted, with this title.
    pub pr: Option<String>,
    /// Where its last commit is proven.
    pub proof: ProofAt,
}

/// Puts a request together. Front matter wins over the settings, flags over both.
pub fn milestone(
    defined: Defined,
    wish: &Wish,
    around: &Around<'_>,
    checks: Checks,
) -> Result<Request, Failure> {
    let Around { config, repo, data, driven, .. } = *around;
    let top = repo.toplevel();
    let set = &defined.definition.settings;
    let developer = wish.developer.as_ref().or(set.developer.as_ref());
    let acceptor = wish.acceptor.as_ref().or(set.acceptor.as_ref());
    let developer = agent(developer, "Developer", around)?;
    let (acceptor, mut notes) = match acceptor {
        Some(name) => (agent(Some(name), "Acceptor", around)?.agents.swap_remove(0), Vec::new()),
        None => (developer.agents[0].clone(), vec![say(Messages::milestone_one_agent)]),
    };
    let agents = vec![developer.agents[0].clone(), acceptor];
    let mut policy = policy(&defined, config, &agents, checks.commands)?;
    policy.proof = checks.setup.proof(config, wish.proof);
    policy.tests = TestsPolicy { reviewed: true, ..tests(config, None) };
    policy.proof.hidden_checks = held_out::checks(&[], around)?;
    if policy.checks.is_empty() {
        notes.push(say(Messages::milestone_no_checks));
    }
    let (base_branch, base) = main_branch(repo, config)?;
    let details = Details {
        path: defined.path,
        frozen: defined.definition.frozen(),
        max_rejections: set.max_rejections.unwrap_or(config.milestone.max_consecutive_rejections),
        requires_human_review: set.requires_human_review,
        vision: background(top, &["VISION.md", ".dacapo/VISION.md"])?,
        soul: background(top, &[".dacapo/soul.md"])?,
        memory: memory(top)?,
        prompts: prompts(top)?,
        definition: defined.text,
    };
    let definition = defined.definition;
    let spec = TaskSpec {
        v: SPEC_FORMAT,
        kind: Milestones::NAME.to_owned(),
        created_at: Timestamp::now(),
        tag: random_hex(16),
        top: top.to_owned(),
        base_branch: Some(base_branch),
        foreground: driven == Driven::Here,
        prompt: definition.title.unwrap_or(definition.goal),
        plan: None,
        place: place(wish, checks.setup.setup(config), data, &defined.id, base),
        name: defined.id,
        agents,
        policy,
        // The Developer commits; prompts and summaries are the milestone's own.
        context: ContextPolicy {
            enabled: false,
            auto_commit: false,
            generate_summary: false,
            summary_max_tokens: config.spawn_task.context_passing.summary_max_tokens,
            context_max_tokens: config.spawn_task.context_passing.context_max_tokens,
            loop_prompt: None,
            summary_by: None,
            message_by: None,
        },
        room: config.room.into(),
        env: Vec::new(),
        pull_request: wish.pr.as_deref().map(PullRequest::titled),
        details: serde_json::to_value(details).map_err(|error| Failure::failed(error.to_string()))?,
    };
    Ok(Request { spec, named: true, agent_why: developer.why, notes, secrets: Vec::new() })
}

/// The agent of a role. Nobody takes over for it at a usage limit: it is waited for.
fn agent(name: Option<&String>, role: &str, around: &Around<'_>) -> Result<Chosen, Failure> {
    let wanted = AgentChoice { agent: name.cloned(), answers: around.answers, ..AgentChoice::default() };
    let mut chosen = agents::choose(around.app, &wanted, around.config, around.repo.toplevel())
        .map_err(|failure| failure.kept(say(Messages::kept_nothing_started)))?;
    if chosen.agents.len() > 1 && name.is_some() {
        return Err(Failure::usage(say(|m| m.milestone_one_per_role(role, chosen.agents.len())))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(Messages::milestone_name_one)));
    }
    chosen.agents.truncate(1);
    Ok(chosen)
}

fn policy(
    defined: &Defined,
    config: &Config,
    agents: &[AgentSpec],
    checks: Vec<String>,
) -> Result<LoopPolicy, Failure> {
    let set = &defined.definition.settings;
    let limit = match (set.max_cost, set.max_tokens) {
        (Some(_), _) => Some("max_cost"),
        (None, Some(_)) => Some("max_tokens"),
        (None, None) => None,
    };
    if let Some(limit) = limit
        && let Some(agent) = agents.iter().find(|agent| !agent.reports_usage())
    {
        return Err(Failure::usage(say(|m| m.budget_plain_text(&agent.name, limit)))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(|m| m.milestone_take_limit_out(limit, &defined.path))));
    }
    if let (Some(_), Some(agent)) = (set.max_cost, agents.iter().find(|agent| !knows_its_cost(agent))) {
        return Err(no_price(agent));
    }
    let rounds = set.max_rounds.unwrap_or(config.milestone.max_iterations_per_milestone);
    Ok(LoopPolicy {
        looping: true,
        cap: Some(Cap::by_iter(rounds)),
        checks,
        max_failures: MAX_FAILURES,
        max_cost: set.max_cost,
        max_tokens: set.max_tokens,
        turn_timeout: Some(set.call_timeout.unwrap_or_else(|| config.milestone.call_timeout.duration())),
        session: SessionMode::Resume,
        ..LoopPolicy::default()
    })
}

fn place(wish: &Wish, setup: Setup, data: &RepoDir, id: &TaskName, base: Oid) -> Place {
    if wish.in_place {
        let branch = NewBranch { name: branch_of(id), start: base };
        return Place::InPlace { allow_dirty: false, branch: Some(branch) };
    }
    Place::Worktree {
        path: data.worktree(id),
        branch: branch_of(id),
        with_changes: false,
        base: Some(base),
        setup,
    }
}

fn branch_of(id: &TaskName) -> String {
    format!("refs/heads/milestone/{id}")
}

/// What the project remembers, as its file says it now.
pub fn memory(top: &Path) -> Result<Option<String>, Failure> {
    background(top, &[".dacapo/memory/project.md"])
}

/// A text that agents are given every round.
fn background(top: &Path, names: &[&str]) -> Result<Option<String>, Failure> {
    for name in names {
        let path = top.join(name);
        let Ok(meta) = std::fs::metadata(&path) else { continue };
        if !meta.is_file() {
            continue;
        }
        if meta.len() > LARGEST_BACKGROUND {
            return Err(Failure::usage(say(|m| m.milestone_text_too_long(name, meta.len() >> 10)))
                .kept(say(Messages::kept_nothing_started))
                .hint(say(|m| m.milestone_text_shorten(LARGEST_BACKGROUND >> 10))));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| {
            let error = error.to_string();
            Failure::usage(say(|m| m.cannot_read(name, &error)))
                .kept(say(Messages::kept_nothing_started))
                .hint(say(Messages::milestone_text_utf8))
        })?;
        // The hints of `dacapo init` are comments.
        if says_something(&text) {
            return Ok(Some(text.trim_end().to_owned()));
        }
    }
    Ok(None)
}

/// A file that people write for milestones, and where it does not read.
pub fn not_read(path: &str, line: usize, flaw: &Flaw) -> Failure {
    let place = format!("{path}:{line}");
    let failure = Failure::usage(say(|m| m.error_of(&place, &flaws::flaw(flaw, m))))
        .kept(say(Messages::kept_nothing_started));
    match flaws::cure(flaw, Messages::ENGLISH) {
        Some(_) => failure.hint(say(|m| flaws::cure(flaw, m).unwrap_or_default())),
        None => failure,
    }
}

/// The user's own wording of what the agents are told. What does not read is refused before anything starts.
pub fn prompts(top: &Path) -> Result<Prompts, Failure> {
    let mut prompts = Prompts::default();
    for kind in TemplateKind::ALL {
        let name = format!(".dacapo/prompts/{}", kind.file_name());
        let Some(text) = background(top, &[&name])? else { continue };
        let template =
            Template::parse(kind, &text).map_err(|error| not_read(&name, error.line, &error.flaw))?;
        if !template.is_empty() {
            prompts.set(kind, text);
        }
    }
    Ok(prompts)
}

/// The main branch by its full name, and where it is: `main_branch`, else origin/HEAD, main, master (M2).
fn main_branch(repo: &Repo, config: &Config) -> Result<(String, Oid), Failure> {
    let configured = config.main_branch.as_deref();
    let found = repo
        .main_branch(configured)
        .map_err(|error| Failure::failed(errors::text(&error)).kept(say(Messages::kept_nothing_started)))?;
    if let Some(MainBranch { name, tip }) = found {
        return Ok((name, tip));
    }
    if let Some(name) = configured {
        return Err(
            Failure::usage(say(|m| m.main_branch_unknown(name))).kept(say(Messages::kept_nothing_started))
        );
    }
    Err(Failure::usage(say(Messages::main_branch_none))
        .kept(say(Messages::kept_nothing_started))
        .hint(say(Messages::main_branch_how)))
}
