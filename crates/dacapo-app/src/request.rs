//! A request and the settings become a [`TaskSpec`]: everything is decided and refused here, before anything is touched.

use std::time::Duration;

use dacapo_core::git::{GitError, Head, Oid, Repo};
use dacapo_core::spec::{
    AgentSpec, ContextPolicy, InvalidName, Place, ProofAt, ProofPolicy, PullRequest, SPEC_FORMAT, Setup,
    TaskName, TaskSpec, TestsMode, TestsPolicy, parse_duration, random_hex,
};
use dacapo_core::spec::{RoomMode, Writing};
use dacapo_core::store::RepoDir;
use dacapo_core::task::agent_loop::Loop;
use jiff::Timestamp;

use crate::App;
use crate::agents::{self, AgentChoice, Answers, Chosen};
use crate::config::Config;
use crate::error::{Failure, suggest};
use crate::messages::{Messages, Text, say};
use crate::present::errors::{self, InWords as _};
use crate::pull_request::issue;
use crate::writers::{self, Writer};

pub mod again;
mod asked;
mod budget;
mod env;
mod held_out;
pub mod milestone;
mod plan;
mod policy;

pub use asked::{Driven, TaskRequest, schema};
use budget::budget;
pub use budget::{Budget, can_hold, knows_its_cost, no_price};
pub use env::{Variables, agents_given_again, fill_agents, given_again, variables};
pub use plan::{Answer as PlanAnswer, OldPlan};
use policy::{condition, policy};

/// A validated request and what the user should hear about it.
#[derive(Debug)]
pub struct Request {
    pub spec: TaskSpec,
    /// The name was chosen by the user, not made from the prompt.
    pub named: bool,
    /// Why this agent, where nobody chose it.
    pub agent_why: Option<Text>,
    /// Clamps and other things that differ from what was typed.
    pub notes: Vec<Text>,
    /// Secrets among the variables that were set for it: never stored.
    pub secrets: Vec<(String, String)>,
}

/// The checks of a request: given, from the config, or found.
#[derive(Debug, Clone, Default)]
pub struct Checks {
    pub commands: Vec<String>,
    /// What a fresh checkout needs before they can run there.
    pub setup: FreshSetup,
}

/// What makes a fresh checkout usable.
#[derive(Debug, Clone, Default)]
pub struct FreshSetup {
    /// From the config, or found and confirmed.
    pub commands: Vec<String>,
    /// Found, and confirmed by nobody: named where it would help.
    pub suggested: Vec<String>,
}

impl FreshSetup {
    /// For the policy of a task.
    pub fn proof(&self, config: &Config, at: ProofAt) -> ProofPolicy {
        ProofPolicy {
            at,
            cache: config.proof.cache.into(),
            setup: self.setup(config),
            suggested_setup: self.suggested.clone(),
            hidden_checks: Vec::new(),
        }
    }

    /// For a fresh worktree.
    pub fn setup(&self, config: &Config) -> Setup {
        Setup { commands: self.commands.clone(), timeout: config.worktree.setup_timeout.duration() }
    }
}

/// What the agent may do to tests: as the user says here, else by the settings.
pub(crate) fn tests(config: &Config, asked: Option<TestsMode>) -> TestsPolicy {
    let mode = asked.unwrap_or_else(|| config.tests.mode.into());
    TestsPolicy { mode, protect: config.tests.protect.clone(), reviewed: false }
}

/// Where a request is made, and by whom.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    pub app: &'a App,
    /// The settings in effect.
    pub config: &'a Config,
    pub repo: &'a Repo,
    pub data: &'a RepoDir,
    /// Who drives the task.
    pub driven: Driven,
    /// Who can answer what its agents ask.
    pub answers: Answers,
}

/// Puts a request together.
pub fn request(args: &TaskRequest, around: &Around<'_>, checks: Checks) -> Result<Request, Failure> {
    let Around { app, config, repo, data, driven, .. } = *around;
    let mut notes = Vec::new();
    let (prompt, title) = text(args, around, &mut notes)?;
    let Variables { env, secrets } = variables(&args.env);
    let chosen = agents::choose(app, &wanted(args, around), config, repo.toplevel())?;
    let mut policy = policy(args, &chosen, checks.commands, &mut notes)?;
    policy.proof = checks.setup.proof(config, args.proof_at());
    policy.tests = tests(config, args.tests);
    policy.proof.hidden_checks = held_out::checks(&args.hidden_checks, around)?;
    let context = context(args, config, &chosen, &mut notes)?;
    held_out::settle(args, &mut policy, &context)?;
    let writers = context.summary_by.iter().chain(&context.message_by);
    budget(args, chosen.agents.iter().chain(writers))?;
    let (name, named) = match &args.name {
        Some(text) => (TaskName::parse(text).map_err(|error| bad_name(text, &error))?, true),
        None => (TaskName::from_prompt(title.as_ref().unwrap_or(&prompt)), false),
    };
    refuse_without_worktree(args, driven)?;
    let head = repo.head().map_err(|error| Failure::failed(errors::text(&error)))?;
    let (base, base_branch) = match &args.base {
        None => (head.commit, head.branch),
        Some(name) => base(args, around, name, head)?,
    };
    let plan = plan::plan(args, repo, data, &mut notes)?;
    let spec = TaskSpec {
        v: SPEC_FORMAT,
        kind: Loop::NAME.to_owned(),
        created_at: Timestamp::now(),
        tag: random_hex(16),
        top: repo.toplevel().to_owned(),
        base_branch,
        foreground: driven == Driven::Here,
        plan,
        place: place(args, around, checks.setup.setup(config), (&name, base)),
        prompt,
        name,
        agents: chosen.agents,
        policy,
        context,
        room: room(args, config),
        pull_request: args.pr.as_deref().map(PullRequest::titled),
        env,
        details: serde_json::Value::Null,
    };
    Ok(Request { spec, named, agent_why: chosen.why, notes, secrets })
}

/// What its commands may change.
fn room(args: &TaskRequest, config: &Config) -> RoomMode {
    if args.sandbox { RoomMode::Strict } else { config.room.into() }
}

/// Who is to do the work.
fn wanted(args: &TaskRequest, around: &Around<'_>) -> AgentChoice {
    AgentChoice {
        agent: args.agent.clone(),
        agent_cmd: args.agent_cmd.clone(),
        model: args.model.clone(),
        approval: args.approval.unwrap_or_default(),
        answers: around.answers,
    }
}

/// What is asked for, and the title where it has one.
fn text(
    args: &TaskRequest,
    around: &Around<'_>,
    notes: &mut Vec<Text>,
) -> Result<(String, Option<String>), Failure> {
    let Some(number) = args.issue else { return Ok((prompt(args, around.driven)?, None)) };
    let issue = issue(around.app, around.repo, around.config, number)?;
    notes.push(issue.note());
    Ok((issue.prompt(), Some(issue.title)))
}

fn refuse_without_worktree(args: &TaskRequest, driven: Driven) -> Result<(), Failure> {
    if args.in_worktree(driven) {
        return Ok(());
    }
    if args.pr.is_some() {
        return Err(Failure::usage(say(Messages::request_pr_needs_worktree))
            .hint(say(Messages::hint_add_worktree))
            .kept(say(Messages::kept_nothing_started)));
    }
    if args.with_changes {
        return Err(Failure::usage(say(Messages::request_changes_need_worktree))
            .hint(say(Messages::hint_add_worktree))
            .kept(say(Messages::kept_nothing_started)));
    }
    Ok(())
}

/// Where the task with this name works, and from which commit.
fn place(
    args: &TaskRequest,
    around: &Around<'_>,
    setup: Setup,
    (name, base): (&TaskName, Option<Oid>),
) -> Place {
    if args.in_worktree(around.driven) {
        Place::Worktree {
            path: around.data.worktree(name),
            branch: branch_of(name),
            with_changes: args.with_changes,
            base,
            setup,
        }
    } else {
        Place::InPlace { allow_dirty: args.allow_dirty, branch: None }
    }
}

fn branch_of(name: &TaskName) -> String {
    format!("refs/heads/dacapo/{name}")
}

/// The task gets another name.
pub fn rename(spec: &mut TaskSpec, data: &RepoDir, name: TaskName) {
    if let Place::Worktree { path, branch, .. } = &mut spec.place {
        *path = data.worktree(&name);
        *branch = branch_of(&name);
    }
    spec.name = name;
}

/// `--base`: the commit, and the branch that the work is for. A tag or a commit is for the branch the user is on.
pub fn base(
    args: &TaskRequest,
    around: &Around<'_>,
    name: &str,
    head: Head,
) -> Result<(Option<Oid>, Option<String>), Failure> {
    let (nothing, repo) = (|| say(Messages::kept_nothing_started), around.repo);
    if !args.in_worktree(around.driven) {
        return Err(Failure::usage(say(Messages::request_base_needs_worktree))
            .hint(say(Messages::hint_add_worktree))
            .kept(nothing()));
    }
    let failed = |error: GitError| Failure::failed(errors::text(&error));
    let Some((commit, branch)) = repo.meant_by(name).map_err(failed)? else {
        let names = repo.names_of_commits().map_err(failed)?;
        let failure = Failure::usage(say(|m| m.request_base_unknown(name))).kept(nothing());
        return Err(match suggest(name, names.iter().map(String::as_str)) {
            Some(close) => failure.hint(say(|m| m.hint_did_you_mean(close))),
            None => failure.hint(say(Messages::request_show_branches)),
        });
    };
    if args.with_changes && head.commit.as_ref() != Some(&commit) {
        return Err(Failure::usage(say(Messages::request_changes_not_of_base))
            .hint(say(Messages::request_leave_one_out))
            .kept(nothing()));
    }
    Ok((Some(commit), branch.or(head.branch)))
}

fn prompt(args: &TaskRequest, driven: Driven) -> Result<String, Failure> {
    let text = args.prompt.as_deref().unwrap_or_default();
    if text.trim().is_empty() {
        let command = match driven {
            Driven::Here => "exec [flags]",
            Driven::InBackground => "spawn [flags]",
        };
        return Err(Failure::usage(say(Messages::prompt_empty))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(|m| m.prompt_how(&m.command(command)))));
    }
    if text.contains('\0') {
        return Err(Failure::usage(say(Messages::prompt_has_nul))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(Messages::prompt_plain_text)));
    }
    // The newline that ends a file or `echo` is not part of what was asked.
    Ok(text.strip_suffix('\n').unwrap_or(text).to_owned())
}

fn bad_name(text: &str, error: &InvalidName) -> Failure {
    Failure::usage(say(|m| m.task_invalid_name(&error.0)))
        .kept(say(Messages::kept_nothing_started))
        .hint(format!("--name {}", TaskName::from_prompt(text)))
}

/// `--iter`: a count, at least 1.
pub fn count(text: &str) -> Result<u32, Failure> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let refuse = || {
        let failure = condition(text);
        if parse_duration(text).is_ok() {
            failure.hint(format!("--time {text}"))
        } else {
            failure.hint("--iter 5")
        }
    };
    text.parse().ok().filter(|count| digits && *count >= 1).ok_or_else(refuse)
}

/// `--time`: whole seconds.
pub fn time(text: &str) -> Result<Duration, Failure> {
    let whole_seconds = |duration: &Duration| duration.subsec_millis() == 0;
    parse_duration(text).ok().filter(whole_seconds).ok_or_else(|| {
        let failure = condition(text);
        if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
            failure.hint(say(|m| m.condition_time_or_count(text)))
        } else {
            failure.hint("--time 1h30m")
        }
    })
}

/// Another limit of time, by its flag.
pub fn duration(flag: &str, text: &str) -> Result<Duration, Failure> {
    parse_duration(text).map_err(|error| {
        Failure::usage(say(|m| m.error_of(flag, &error.in_words(m)))).hint(format!("{flag} 15m"))
    })
}

fn context(
    args: &TaskRequest,
    config: &Config,
    chosen: &Chosen,
    notes: &mut Vec<Text>,
) -> Result<ContextPolicy, Failure> {
    let set = &config.spawn_task.context_passing;
    let auto_commit = set.auto_commit && !args.no_commit;
    let generate_summary = set.generate_summary && !args.no_summary;
    let summary_model = args.summary_model.as_ref().or(set.summary_model.as_ref());
    let message_model = args.commit_message_model.as_ref().or(set.commit_message_model.as_ref());
    let mut by = |what, model: Option<&String>, wanted: bool| match model.filter(|_| wanted) {
        Some(model) => writer(what, model, config, chosen, notes),
        None => Ok(None),
    };
    Ok(ContextPolicy {
        enabled: set.enabled && !args.no_context,
        auto_commit,
        generate_summary,
        summary_by: by(Writing::Summary, summary_model, generate_summary)?,
        message_by: by(Writing::CommitMessage, message_model, auto_commit)?,
        summary_max_tokens: args.summary_max_tokens.unwrap_or(set.summary_max_tokens),
        context_max_tokens: args.context_max_tokens.unwrap_or(set.context_max_tokens),
        loop_prompt: args.loop_prompt.clone().or_else(|| set.loop_prompt.clone()),
    })
}

/// Who writes `what` with this model; none: the agent's own words are used.
fn writer(
    what: Writing,
    model: &str,
    config: &Config,
    chosen: &Chosen,
    notes: &mut Vec<Text>,
) -> Result<Option<AgentSpec>, Failure> {
    // An empty one on the command line takes back what a config file says.
    if model.trim().is_empty() {
        return Ok(None);
    }
    Ok(match writers::writer(what, model.trim(), config, chosen)? {
        Writer::Model(agent) => Some(*agent),
        Writer::OwnWords(why) => {
            notes.push(why);
            None
        }
    })
}
