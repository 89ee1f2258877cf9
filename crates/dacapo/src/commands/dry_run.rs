//! `--dry-run`: what would run, and nothing runs (S17).

use std::path::Path;

use dacapo_app::operations::start::Prepared;
use dacapo_core::agent::{self, TurnRequest};
use dacapo_core::event::FORMAT;
use dacapo_core::spec::{AgentSpec, Place, PromptBy, TaskSpec};
use serde_json::{Value, json};

use super::front_door::{agents_in_words, limits, payer, place};
use super::print;
use crate::App;
use crate::args::Show;
use crate::error::Failure;
use crate::messages::Text;
use crate::output::words::shell_word;
use crate::output::words::{self, BOLD, DIM, paint};
use crate::request::Request;
use crate::trust::visible;

/// Shows a task that could be made.
pub(super) fn show(app: &App, prepared: &Prepared, show: Show) -> Result<u8, Failure> {
    let Prepared { repo, asked, .. } = prepared;
    if show.json {
        print(&to_json(app, asked).to_string());
        return Ok(0);
    }
    let uncommitted = repo.dirt().map_or(0, |dirt| dirt.count());
    print(&in_words(app, asked, uncommitted));
    Ok(0)
}

fn in_words(app: &App, asked: &Request, uncommitted: usize) -> String {
    let spec = &asked.spec;
    let how = if spec.foreground { "in the foreground" } else { "in the background" };
    let mut lines = vec![format!("{} would run {how}", paint(BOLD, spec.name.as_str()))];
    let mut line = |label: &str, text: &str| {
        lines.push(format!("{} {}", paint(DIM, &format!("{label:<7}")), visible(text)));
    };
    let language = app.messages.language();
    let why = asked.agent_why.as_ref();
    let why = why.map_or_else(String::new, |why| format!(" ({})", why.in_language(language)));
    line("agent", &format!("{}{why}", agents_in_words(app, &spec.agents)));
    spec.agents.iter().for_each(|agent| line("command", &command(agent, spec)));
    let from = match &spec.place {
        Place::Worktree { base: Some(base), .. } => format!(", from {}", base.short()),
        Place::Worktree { base: None, .. } | Place::InPlace { .. } => String::new(),
    };
    line("where", &format!("{}{from}", place(asked, uncommitted)));
    spec.place.setup().iter().for_each(|command| line("setup", command));
    let policy = &spec.policy;
    policy.checks.iter().for_each(|check| line("check", check));
    policy.until.iter().for_each(|until| line("until", &format!("the agent says {until}")));
    if !policy.has_completion() {
        line("check", "none: nothing would be proven");
    }
    line("limits", &limits(asked, payer(app, &spec.agents).as_deref(), app.messages));
    spec.plan.iter().for_each(|plan| line("plan", &plan.path.display().to_string()));
    spec.env.iter().for_each(|(name, value)| line("env", &format!("{name}={}", shown(value.as_deref()))));
    asked.notes.iter().for_each(|note| line("note", note.in_language(language)));
    let mut prompt = spec.prompt.lines();
    line("prompt", prompt.next().unwrap_or_default());
    prompt.for_each(|more| line("", more));
    lines.push(paint(DIM, "nothing was started; without --dry-run it is"));
    lines.join("\n")
}

/// The value of a secret is not shown.
fn shown(value: Option<&str>) -> &str {
    value.unwrap_or("… (a secret: not stored)")
}

/// The command line of the first turn. What only a turn has is shown by its name.
fn command(agent: &AgentSpec, spec: &TaskSpec) -> String {
    let argv = argv(agent, spec);
    let words = argv.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
    match agent.prompt {
        PromptBy::Stdin => format!("{words}   (prompt on standard input)"),
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

fn to_json(app: &App, asked: &Request) -> Value {
    let spec = &asked.spec;
    let agents = spec.agents.iter().map(|agent| {
        json!({"name": agent.name, "model": agent.model, "command": argv(agent, spec), "billing": payer(app, std::slice::from_ref(agent))})
    });
    let branch = match &spec.place {
        Place::Worktree { branch, .. } => Some(words::branch(branch)),
        Place::InPlace { .. } => None,
    };
    let policy = &spec.policy;
    json!({
        "v": FORMAT,
        "type": "dry_run",
        "name": spec.name.as_str(),
        "foreground": spec.foreground,
        "branch": branch,
        "agents": agents.collect::<Vec<_>>(),
        "prompt": spec.prompt,
        "plan": spec.plan.as_ref().map(|plan| &plan.path),
        "setup": spec.place.setup(),
        "checks": policy.checks,
        "until": policy.until,
        "max_iterations": policy.cap.map(|cap| cap.iterations),
        "time_seconds": policy.time.map(|time| time.as_secs()),
        "max_cost": policy.max_cost,
        "max_tokens": policy.max_tokens,
        "env": spec.env.iter().map(|(name, value)| json!({"name": name, "value": value})).collect::<Vec<_>>(),
        "notes": asked.notes.iter().map(Text::english).collect::<Vec<_>>(),
    })
}
