//! `--dry-run`: what would run, and nothing runs (S17).

use std::path::Path;

use dacapo_app::messages::Messages;
use dacapo_app::operations::start::Prepared;
use dacapo_app::present::json::Object;
use dacapo_app::present::json::objects::{DryRun, DryRunAgent, DryRunVariable};
use dacapo_core::agent::{self, TurnRequest};
use dacapo_core::spec::{AgentSpec, Place, PromptBy, TaskSpec};

use super::front_door::{agents_in_words, limits, payer, place};
use crate::App;
use crate::args::Show;
use crate::commands::Console;
use crate::error::Failure;
use crate::output::words::shell_word;
use crate::output::words::{self, BOLD, DIM, paint};
use crate::request::Request;
use crate::trust::visible;

/// Shows a task that could be made.
pub(super) fn show(app: &Console, prepared: &Prepared, show: Show) -> Result<u8, Failure> {
    let Prepared { repo, asked, .. } = prepared;
    if show.json {
        app.print(&Object::DryRun(object(app, asked)).line());
        return Ok(0);
    }
    let uncommitted = repo.dirt().map_or(0, |dirt| dirt.count());
    let mut lines = in_words(app, asked, uncommitted);
    lines.push(paint(DIM, &app.messages.dry_run_nothing_started()));
    app.print(&lines.join("\n"));
    Ok(0)
}

/// What would run, in painted lines.
fn in_words(app: &App, asked: &Request, uncommitted: usize) -> Vec<String> {
    let (spec, messages) = (&asked.spec, app.messages);
    let name = paint(BOLD, spec.name.as_str());
    let head =
        if spec.foreground { messages.dry_run_foreground(&name) } else { messages.dry_run_background(&name) };
    [vec![head], details(app, asked, uncommitted)].concat()
}

/// The same below its first line.
pub(crate) fn details(app: &App, asked: &Request, uncommitted: usize) -> Vec<String> {
    let (spec, messages) = (&asked.spec, app.messages);
    let mut lines = Vec::new();
    let mut line = |label: &str, text: &str| {
        lines.push(format!("{} {}", paint(DIM, &words::padded(label, 7)), visible(text)));
    };
    let agents = agents_in_words(app, &spec.agents);
    let agents = match &asked.agent_why {
        Some(why) => messages.live_because(&agents, why.in_words(messages)),
        None => agents,
    };
    line(&messages.label_agent(), &agents);
    spec.agents.iter().for_each(|agent| line(&messages.label_command(), &command(agent, spec, messages)));
    let from = match &spec.place {
        Place::Worktree { base: Some(base), .. } => messages.dry_run_from(base.short()),
        Place::Worktree { base: None, .. } | Place::InPlace { .. } => String::new(),
    };
    line(&messages.label_where(), &format!("{}{from}", place(asked, uncommitted, messages)));
    spec.place.setup().iter().for_each(|command| line(&messages.label_setup(), command));
    let policy = &spec.policy;
    policy.checks.iter().for_each(|check| line(&messages.label_check(), check));
    policy.until.iter().for_each(|until| line(&messages.label_until(), &messages.dry_run_agent_says(until)));
    if !policy.has_completion() {
        line(&messages.label_check(), &messages.dry_run_no_check());
    } else if policy.checks.is_empty() {
        line(&messages.label_check(), &messages.dry_run_word_counts());
    }
    let payer = payer(app, &spec.agents, messages);
    line(&messages.label_limits(), &limits(asked, payer.as_deref(), messages));
    spec.plan.iter().for_each(|plan| line(&messages.label_plan(), &messages.path(&plan.path)));
    let secret = messages.dry_run_secret();
    for (name, value) in &spec.env {
        // The value of a secret is not shown.
        let value = value.as_deref().unwrap_or(&secret);
        line(&messages.label_env(), &format!("{name}={value}"));
    }
    asked.notes.iter().for_each(|note| line(&messages.label_note_short(), note.in_words(messages)));
    let mut prompt = spec.prompt.lines();
    line(&messages.label_prompt(), prompt.next().unwrap_or_default());
    prompt.for_each(|more| line("", more));
    lines
}

/// The command line of the first turn. What only a turn has is shown by its name.
fn command(agent: &AgentSpec, spec: &TaskSpec, messages: Messages) -> String {
    let argv = argv(agent, spec);
    let words = argv.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
    match agent.prompt {
        PromptBy::Stdin => messages.dry_run_stdin(&words),
        PromptBy::Arg | PromptBy::File => words,
    }
}

fn argv(agent: &AgentSpec, spec: &TaskSpec) -> Vec<String> {
    let turn = TurnRequest {
        prompt: "PROMPT",
        prompt_file: Path::new("PROMPT_FILE"),
        session: agent.presets_session().then_some("SESSION"),
        continued: false,
        own_program: Path::new("dacapo"),
        usage_file: Path::new("USAGE_FILE"),
        budget: spec.policy.max_cost,
    };
    let argv = agent::invocation(agent, &turn).map(|invocation| invocation.argv).unwrap_or_default();
    argv.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

fn object(app: &Console, asked: &Request) -> DryRun {
    let spec = &asked.spec;
    let agent = |agent: &AgentSpec| DryRunAgent {
        name: agent.name.clone(),
        model: agent.model.clone(),
        command: argv(agent, spec),
        billing: payer(app, std::slice::from_ref(agent), Messages::ENGLISH),
    };
    let branch = match &spec.place {
        Place::Worktree { branch, .. } => Some(words::branch(branch).to_owned()),
        Place::InPlace { .. } => None,
    };
    let variable = |(name, value): &(String, Option<String>)| DryRunVariable {
        name: name.clone(),
        value: value.clone(),
    };
    let policy = &spec.policy;
    DryRun {
        name: spec.name.to_string(),
        foreground: spec.foreground,
        branch,
        agents: spec.agents.iter().map(agent).collect(),
        prompt: spec.prompt.clone(),
        plan: spec.plan.as_ref().map(|plan| plan.path.display().to_string()),
        setup: spec.place.setup().to_vec(),
        checks: policy.checks.clone(),
        completion_promise: policy.until.clone(),
        max_iterations: policy.cap.map(|cap| cap.iterations),
        time_seconds: policy.time.map(|time| time.as_secs_f64()),
        max_cost_usd: policy.max_cost,
        max_tokens: policy.max_tokens,
        env: spec.env.iter().map(variable).collect(),
        notes: asked.notes.iter().map(|note| note.english().to_owned()).collect(),
    }
}
