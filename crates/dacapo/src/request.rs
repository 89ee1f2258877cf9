//! Arguments and settings become a [`TaskSpec`]: everything is decided and refused here, before anything is touched.

use std::io::Read as _;
use std::time::Duration;

use dacapo_core::event::{SessionMode, Writing};
use dacapo_core::git::{GitError, Head, Oid, Repo};
use dacapo_core::spec::{
    Cap, CapSource, ContextPolicy, InvalidName, LoopPolicy, Place, ProofAt, ProofPolicy, PullRequest,
    SPEC_FORMAT, SessionNeed, Setup, TaskName, TaskSpec, parse_duration, random_hex,
};
use dacapo_core::store::RepoDir;
use dacapo_core::task::agent_loop::Loop;
use jiff::Timestamp;

use crate::agents::{self, Chosen};
use crate::args::{Exec, Session};
use crate::config::Config;
use crate::error::{Failure, suggest};
use crate::pull_request::issue;
use crate::writers::{self, Writer};

mod budget;
mod env;
pub mod milestone;
mod plan;

use budget::budget;
pub(crate) use budget::{Budget, can_hold, knows_its_cost, no_price};
pub(crate) use env::{Variables, given_again, variables};

/// A validated request and what the user should hear about it.
#[derive(Debug)]
pub struct Request {
    /// What is asked for.
    pub spec: TaskSpec,
    /// The name was chosen by the user, not made from the prompt.
    pub named: bool,
    /// Why this agent, where nobody chose it.
    pub agent_why: Option<String>,
    /// Clamps and other things that differ from what was typed.
    pub notes: Vec<String>,
    /// Secrets among the variables that were set for it: never stored.
    pub secrets: Vec<(String, String)>,
}

/// The checks of a request: given, from the config, or found.
#[derive(Debug, Clone, Default)]
pub struct Checks {
    /// The commands.
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
            keep: config.proof.keep.clone(),
            setup: self.setup(config),
            suggested_setup: self.suggested.clone(),
        }
    }

    /// For a fresh worktree.
    pub fn setup(&self, config: &Config) -> Setup {
        Setup { commands: self.commands.clone(), timeout: config.worktree.setup_timeout.duration() }
    }
}

/// Puts a request together.
pub fn request(
    args: &Exec,
    config: &Config,
    repo: &Repo,
    data: &RepoDir,
    checks: Checks,
) -> Result<Request, Failure> {
    let mut notes = Vec::new();
    let (prompt, title) = match args.issue {
        Some(number) => {
            let issue = issue(repo, config, number)?;
            notes.push(issue.note());
            (issue.prompt(), Some(issue.title))
        }
        None => (prompt(args)?, None),
    };
    let Variables { env, secrets } = variables(&args.env);
    let chosen = agents::choose(&args.into(), config, repo.toplevel())?;
    let mut policy = policy(args, &chosen, checks.commands, &mut notes)?;
    policy.proof = checks.setup.proof(config, args.proof.into());
    let context = context(args, config, &chosen, &mut notes)?;
    let writers = context.summary_by.iter().chain(&context.message_by);
    budget(args, chosen.agents.iter().chain(writers))?;
    let (name, named) = match &args.name {
        Some(text) => (TaskName::parse(text).map_err(|error| bad_name(text, &error))?, true),
        None => (TaskName::from_prompt(title.as_ref().unwrap_or(&prompt)), false),
    };
    if args.pull_request().is_some() && !args.worktree {
        return Err(Failure::usage("--pr needs a worktree: a pull request is made from a branch of its own")
            .hint("add --worktree")
            .kept("everything; nothing was started"));
    }
    if args.with_changes && !args.worktree {
        return Err(
            Failure::usage("--with-changes takes uncommitted files into a worktree").hint("add --worktree")
        );
    }
    if let Some(title) = &args.pr_title {
        notes.push(format!("\"{title}\" is the title of the pull request, not a part of the prompt"));
    }
    let head = repo.head().map_err(|error| Failure::failed(error.to_string()))?;
    let (base, base_branch) = match &args.base {
        None => (head.commit, head.branch),
        Some(name) => base(args, repo, name, head)?,
    };
    let plan = plan::plan(args, repo, data, &mut notes)?;
    let spec = TaskSpec {
        v: SPEC_FORMAT,
        kind: Loop::NAME.to_owned(),
        created_at: Timestamp::now(),
        tag: random_hex(16),
        top: repo.toplevel().to_owned(),
        base_branch,
        foreground: true,
        plan,
        place: place(args, checks.setup.setup(config), data, (&name, base)),
        prompt,
        name,
        agents: chosen.agents,
        policy,
        context,
        pull_request: args.pull_request().map(|title| PullRequest {
            title: Some(title.trim().to_owned()).filter(|title| !title.is_empty()),
        }),
        env,
        details: serde_json::Value::Null,
    };
    Ok(Request { spec, named, agent_why: chosen.why, notes, secrets })
}

/// Where the task with this name works, and from which commit.
fn place(args: &Exec, setup: Setup, data: &RepoDir, (name, base): (&TaskName, Option<Oid>)) -> Place {
    if args.worktree {
        Place::Worktree {
            path: data.worktree(name),
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
pub(crate) fn base(
    args: &Exec,
    repo: &Repo,
    name: &str,
    head: Head,
) -> Result<(Option<Oid>, Option<String>), Failure> {
    let nothing = "everything; nothing was started";
    if !args.worktree {
        return Err(Failure::usage("--base says where a worktree starts")
            .hint("add --worktree")
            .kept(nothing));
    }
    let failed = |error: GitError| Failure::failed(error.to_string());
    let Some((commit, branch)) = repo.meant_by(name).map_err(failed)? else {
        let names = repo.names_of_commits().map_err(failed)?;
        let failure =
            Failure::usage(format!("--base '{name}' is no branch, tag or commit here")).kept(nothing);
        return Err(match suggest(name, names.iter().map(String::as_str)) {
            Some(close) => failure.hint(format!("did you mean '{close}'?")),
            None => failure.hint("git branch --all shows the branches; git fetch brings those of others"),
        });
    };
    if args.with_changes && head.commit.as_ref() != Some(&commit) {
        return Err(Failure::usage(
            "--with-changes takes changes of the current commit along, not of --base",
        )
        .hint("leave one of them out")
        .kept(nothing));
    }
    Ok((Some(commit), branch.or(head.branch)))
}

fn prompt(args: &Exec) -> Result<String, Failure> {
    let bytes = match (&args.prompt_file, args.prompt.as_slice()) {
        (Some(path), _) => std::fs::read(path).map_err(|error| {
            Failure::usage(format!("cannot read the prompt from {}: {error}", path.display()))
                .hint("--prompt-file names a text file; `-` reads standard input")
        })?,
        (None, [dash]) if dash == "-" => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            read.map_err(|error| {
                Failure::usage(format!("cannot read the prompt from standard input: {error}"))
                    .hint("--prompt-file FILE reads it from a file")
            })?;
            bytes
        }
        (None, words) => words.join(" ").into_bytes(),
    };
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::usage("the prompt is not UTF-8 text").hint("convert it, for example with iconv")
    })?;
    if text.trim().is_empty() {
        return Err(Failure::usage("the prompt is empty").hint(format!(
            "dacapo {} [flags] \"what the agent is to do\"",
            if args.background { "spawn" } else { "exec" }
        )));
    }
    if text.contains('\0') {
        return Err(Failure::usage("the prompt contains a NUL byte").hint("give the prompt as plain text"));
    }
    // The newline that ends a file or `echo` is not part of what was asked.
    Ok(text.strip_suffix('\n').map_or_else(|| text.clone(), str::to_owned))
}

fn bad_name(text: &str, error: &InvalidName) -> Failure {
    Failure::usage(error.to_string()).hint(format!("--name {}", TaskName::from_prompt(text)))
}

fn condition(text: &str) -> Failure {
    Failure::usage(format!(
        "Invalid loop condition: '{text}'. Expected count (e.g., '5') or duration (e.g., '1h')"
    ))
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

pub(crate) fn time(text: &str) -> Result<Duration, Failure> {
    let whole_seconds = |duration: &Duration| duration.subsec_millis() == 0;
    parse_duration(text).ok().filter(whole_seconds).ok_or_else(|| {
        let failure = condition(text);
        if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
            failure.hint(format!("--time {text}s or --time {text}m; for a count: --iter {text}"))
        } else {
            failure.hint("--time 1h30m")
        }
    })
}

fn duration(flag: &str, text: &str) -> Result<Duration, Failure> {
    parse_duration(text)
        .map_err(|error| Failure::usage(format!("{flag}: {error}")).hint(format!("{flag} 15m")))
}

fn policy(
    args: &Exec,
    chosen: &Chosen,
    checks: Vec<String>,
    notes: &mut Vec<String>,
) -> Result<LoopPolicy, Failure> {
    let profile = chosen.profile.loop_settings();
    let iter = args.iter.as_deref().map(count).transpose()?;
    let time = args.time.as_deref().map(time).transpose()?;
    let asked = args.until.is_some() || !checks.is_empty();
    if args.until.as_ref().is_some_and(String::is_empty) {
        return Err(Failure::usage("--until is empty: no text would ever match it")
            .kept("everything; nothing was started")
            .hint("--until 'ALL TESTS PASS', or leave it out"));
    }
    let by_flags = asked || iter.is_some() || time.is_some() || args.max_iterations.is_some();
    let looping = by_flags || profile.is_some();
    let until = match (&args.until, &profile) {
        (Some(text), _) => Some(text.clone()),
        // A profile's own promise holds unless other conditions were asked for; an empty one is none (L3).
        (None, Some(profile)) if !asked => {
            profile.completion_promise.clone().filter(|promise| !promise.is_empty())
        }
        (None, _) => None,
    };
    let completion = until.is_some() || !checks.is_empty();
    let clamped = args.max_iterations.map(|wanted| {
        let used = wanted.clamp(1, 100);
        if used != wanted {
            notes.push(format!("--max-iterations {wanted} is outside 1…100: {used} is used"));
        }
        u32::try_from(used).unwrap_or(1)
    });
    let by_max = |iterations| Some(Cap { iterations, source: CapSource::MaxIterations });
    let cap = match (looping, iter, clamped) {
        (false, _, _) => Some(Cap::by_iter(1)),
        (true, Some(iterations), _) => Some(Cap::by_iter(iterations)),
        (true, None, Some(iterations)) => by_max(iterations),
        (true, None, None) if time.is_some() => None,
        (true, None, None) => by_max(profile.as_ref().map_or(5, |profile| profile.max_iterations)),
    };
    let mut policy = LoopPolicy {
        looping,
        cap,
        time,
        until,
        checks,
        check_timeout: duration("--check-timeout", &args.check_timeout)?,
        baseline: !args.no_baseline,
        proof: ProofPolicy::default(),
        max_failures: 0,
        max_cost: args.max_cost,
        max_tokens: args.max_tokens,
        stall: args.stall.unwrap_or(if completion { 3 } else { 0 }),
        turn_timeout: args
            .turn_timeout
            .as_deref()
            .map(|text| duration("--turn-timeout", text))
            .transpose()?,
        idle_timeout: duration("--idle-timeout", &args.idle_timeout)?,
        session: session(args, chosen)?,
        max_wait: duration("--max-wait", &args.max_wait)?,
    };
    policy.max_failures = args.max_failures.unwrap_or(if policy.is_pure() { 0 } else { 10 });
    Ok(policy)
}

fn session(args: &Exec, chosen: &Chosen) -> Result<SessionMode, Failure> {
    let agent = &chosen.agents[0];
    let can = agent.session_need() != SessionNeed::Impossible;
    let by_profile = chosen.profile.loop_settings().map(|settings| settings.session);
    match (args.session, by_profile) {
        (Some(Session::Resume), _) | (None, Some(Some(crate::config::Session::Resume))) if !can => {
            Err(Failure::usage(format!("agent '{}' cannot continue a session", agent.name))
                .hint(format!("set resume = […] in [agents.{}], or use --session fresh", agent.name)))
        }
        (Some(Session::Resume), _) | (None, Some(Some(crate::config::Session::Resume))) => {
            Ok(SessionMode::Resume)
        }
        (None, Some(None)) if can => Ok(SessionMode::Resume),
        (Some(Session::Fresh), _) | (None, _) => Ok(SessionMode::Fresh),
    }
}

fn context(
    args: &Exec,
    config: &Config,
    chosen: &Chosen,
    notes: &mut Vec<String>,
) -> Result<ContextPolicy, Failure> {
    let set = &config.spawn_task.context_passing;
    let auto_commit = set.auto_commit && !args.no_commit;
    let generate_summary = set.generate_summary && !args.no_summary;
    let summary_model = args.summary_model.as_ref().or(set.summary_model.as_ref());
    let message_model = args.commit_message_model.as_ref().or(set.commit_message_model.as_ref());
    let mut writer = |what, model: Option<&String>, wanted: bool| -> Result<_, Failure> {
        // An empty one on the command line takes back what a config file says.
        let Some(model) = model.filter(|model| wanted && !model.trim().is_empty()) else { return Ok(None) };
        Ok(match writers::writer(what, model.trim(), config, chosen)? {
            Writer::Model(agent) => Some(*agent),
            Writer::OwnWords(why) => {
                notes.push(why);
                None
            }
        })
    };
    Ok(ContextPolicy {
        enabled: set.enabled && !args.no_context,
        auto_commit,
        generate_summary,
        summary_by: writer(Writing::Summary, summary_model, generate_summary)?,
        message_by: writer(Writing::CommitMessage, message_model, auto_commit)?,
        summary_max_tokens: args.summary_max_tokens.unwrap_or(set.summary_max_tokens),
        context_max_tokens: args.context_max_tokens.unwrap_or(set.context_max_tokens),
        loop_prompt: args.loop_prompt.clone().or_else(|| set.loop_prompt.clone()),
    })
}
