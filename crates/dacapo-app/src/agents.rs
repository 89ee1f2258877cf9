//! Which agents a task runs with: names from the config, built-in ones, or a command given on the spot.

use std::path::{Path, PathBuf};

use dacapo_core::agent::{self, Adapter, Wish};
use dacapo_core::spec::{AgentCommand, AgentSpec, Approval, OutputFormat, Price, PromptBy};

use crate::App;
use crate::config::{self, AgentProfile, Config};
use crate::error::{Failure, suggest};
use crate::messages::{Messages, Text, say};
use crate::present::refusals;
use crate::{native, rehearsal};

mod found;

pub use found::{billing, how_to_install, is_variable};

/// The agents of a task, and the profile of the first.
#[derive(Debug)]
pub struct Chosen {
    /// The first one, and those who take over.
    pub agents: Vec<AgentSpec>,
    /// Loop settings come from here.
    pub profile: AgentProfile,
    /// Why this one, where nobody chose it.
    pub why: Option<Text>,
}

/// All agents that could be named with `--agent`.
pub fn names(config: &Config) -> Vec<String> {
    let mut names: Vec<String> = agent::BUILT_IN.iter().map(|adapter| adapter.name().to_owned()).collect();
    names.extend(["native".into(), "rehearsal".into()]);
    let own: Vec<String> = config.agents.keys().filter(|name| !names.contains(name)).cloned().collect();
    names.extend(own);
    names
}

/// What a command line says about who works. The default is one that says nothing.
#[derive(Debug, Clone, Default)]
pub struct AgentChoice {
    /// Names, as in `--agent`.
    pub agent: Option<String>,
    /// A command on the spot.
    pub agent_cmd: Option<String>,
    pub model: Option<String>,
    /// Who approves what it does.
    pub approval: Approval,
    /// Who can answer what it asks.
    pub answers: Answers,
}

/// Who can answer what an agent asks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Answers {
    #[default]
    Nobody,
    /// Whoever watches this process at its terminal.
    Here,
    /// Anybody, by a command, whenever it comes.
    ByCommand,
}

/// Chooses by flags, then by the config.
pub fn choose(app: &App, wanted: &AgentChoice, config: &Config, top: &Path) -> Result<Chosen, Failure> {
    if let Some(command) = &wanted.agent_cmd {
        let agent = on_the_spot(app, command, config)?;
        refuse_what_commands_cannot(wanted, &agent.name, agent.output)?;
        return Ok(Chosen { agents: vec![agent], profile: AgentProfile::default(), why: None });
    }
    let (listed, why) = match wanted.agent.as_ref().or(config.agent.as_ref()) {
        Some(listed) => (listed.clone(), None),
        None => {
            let found = found::find(app, wanted, config, top)?;
            (found.name, Some(found.why))
        }
    };
    let names: Vec<&str> = listed.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let mut agents =
        names.iter().map(|name| named(app, name, wanted, config, top)).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = names.first() else {
        return Err(Failure::usage(say(Messages::agent_needs_a_name))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(Messages::agent_name_or_command)));
    };
    if let Some(twice) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        return Err(Failure::usage(say(|m| m.agent_named_twice(names[twice])))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(Messages::agent_name_each_once)));
    }
    // Scripts of the one built-in agent are agents of their own: the journal tells them apart by name.
    for at in 1..agents.len() {
        let same = agents[..at].iter().filter(|other| other.name == agents[at].name).count();
        if same > 0 {
            agents[at].name = format!("{}-{}", agents[at].name, same + 1);
        }
    }
    let profile = config.agent_profile(first.split(':').next().unwrap_or(first));
    Ok(Chosen { agents, profile, why })
}

fn refuse_what_commands_cannot(
    wanted: &AgentChoice,
    name: &str,
    output: OutputFormat,
) -> Result<(), Failure> {
    if wanted.model.is_some() {
        return Err(Failure::usage(say(|m| m.agent_command_no_model(name)))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(Messages::agent_model_into_command)));
    }
    match (wanted.approval, output) {
        (Approval::Auto, _) => Ok(()),
        (Approval::Ask, OutputFormat::Acp) if wanted.answers == Answers::Nobody => {
            Err(nobody_answers(name).hint(say(Messages::agent_approval_edits_or_auto)))
        }
        (_, OutputFormat::Acp) => Ok(()),
        _ => Err(Failure::usage(say(|m| m.agent_command_no_approval(name)))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(Messages::agent_approval_auto_own_flags))
            .hint(say(|m| m.agent_approval_by_acp(name)))),
    }
}

/// Questions are put where the task is shown, and answered there.
pub fn nobody_answers(name: &str) -> Failure {
    Failure::usage(say(|m| m.agent_nobody_answers(name)))
        .kept(say(Messages::kept_nothing_started))
        .hint(say(Messages::agent_run_at_terminal))
}

fn on_the_spot(app: &App, command: &str, config: &Config) -> Result<AgentSpec, Failure> {
    if command.trim().is_empty() {
        return Err(Failure::usage(say(Messages::agent_command_empty))
            .kept(say(Messages::kept_nothing_started))
            .hint("--agent-cmd 'mybot --headless'"));
    }
    // A plain first word must be something that `sh` can find; anything fancier is the shell's own business.
    let ends_a_word = |at: char| at.is_whitespace() || ";|&<>()".contains(at);
    let word = command.trim_start().split(ends_a_word).next().unwrap_or_default();
    let plain = word.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-/+".contains(&b));
    if plain && !word.is_empty() && !shell_knows(app, word) {
        return Err(not_found(word, "--agent-cmd"));
    }
    Ok(AgentSpec {
        name: Path::new(word)
            .file_name()
            .map_or_else(|| "command".into(), |name| name.to_string_lossy().into_owned()),
        command: AgentCommand::Shell(command.to_owned()),
        start: Vec::new(),
        prompt: PromptBy::Stdin,
        output: OutputFormat::Text,
        resume: None,
        follow_up: config.language.follow_up().to_owned(),
        env: Vec::new().into(),
        model: None,
        price: None,
        approval: Approval::Auto,
    })
}

fn shell_knows(app: &App, word: &str) -> bool {
    let asked = std::process::Command::new("sh")
        .env_clear()
        .envs(app.env.iter().map(|(name, value)| (name, value)))
        .args(["-c", "command -v -- \"$1\" >/dev/null 2>&1", "sh", word])
        .stdin(std::process::Stdio::null())
        .status();
    // Where even `sh` cannot be run, the start itself will say so.
    asked.map_or(true, |status| status.success())
}

fn not_found(program: &str, origin: &str) -> Failure {
    Failure::usage(say(|m| m.agent_not_on_path(program, origin)))
        .kept(say(Messages::kept_nothing_started))
        .hint(how_to_install(program).map_or_else(|| say(Messages::agent_install_or_path), Text::from))
        .hint(say(Messages::agent_demo_without_any))
}

fn named(
    app: &App,
    name: &str,
    wanted: &AgentChoice,
    config: &Config,
    top: &Path,
) -> Result<AgentSpec, Failure> {
    let agent = described(app, name, wanted, config, top)?;
    let path = app.var("PATH");
    match agent::program(&agent) {
        Some(program) if agent::find_on_path(&program, path, top).is_none() => {
            let base = name.split(':').next().unwrap_or(name);
            let own = config.agent_profile(base).command.is_some();
            let origin = if own { format!("[agents.{base}] command") } else { "--agent".into() };
            Err(not_found(&program.to_string_lossy(), &origin))
        }
        _ => Ok(agent),
    }
}

/// How the agent of this name is run, whether or not its program is there.
pub fn described(
    app: &App,
    name: &str,
    wanted: &AgentChoice,
    config: &Config,
    top: &Path,
) -> Result<AgentSpec, Failure> {
    let (base, script) = name.split_once(':').map_or((name, None), |(base, script)| (base, Some(script)));
    if base == "rehearsal" {
        refuse_what_commands_cannot(wanted, base, OutputFormat::Rehearsal)?;
        return scripted(script, config, top);
    }
    let profile = config.agent_profile(base);
    let adapter = agent::BUILT_IN.iter().copied().find(|adapter| adapter.name() == base);
    let mut agent = match (profile.command.clone().filter(|command| !command.is_empty()), adapter) {
        (Some(command), _) => {
            let agent = own_command(base, command, &profile)?;
            refuse_what_commands_cannot(wanted, base, agent.output)?;
            AgentSpec { approval: wanted.approval, ..agent }
        }
        (None, Some(adapter)) => built_in(adapter, wanted, &profile)?,
        (None, None) if base == "native" => endpoint(app, wanted, &profile)?,
        (None, None) => return Err(unknown(app, base, config)),
    };
    agent.price = price(&agent, config);
    agent.follow_up = follow_up(&profile, config);
    agent.env.extend(profile.env.clone());
    Ok(agent)
}

/// What a follow-up says (L13): a profile that loops by itself has its own word, else it is that of the user's language.
fn follow_up(profile: &AgentProfile, config: &Config) -> String {
    let own = profile.loop_settings().map(|settings| settings.follow_up);
    own.unwrap_or_else(|| config.language.follow_up().to_owned())
}

/// An agent of the user's own making.
fn own_command(name: &str, command: Vec<String>, profile: &AgentProfile) -> Result<AgentSpec, Failure> {
    let output = profile.output.map_or(OutputFormat::Text, output_format);
    if output == OutputFormat::Acp && (profile.prompt.is_some() || profile.resume.is_some()) {
        return Err(Failure::usage(say(|m| m.agent_acp_has_own_ways(name)))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(Messages::agent_remove_them)));
    }
    Ok(AgentSpec {
        name: name.to_owned(),
        command: AgentCommand::Argv(command),
        start: Vec::new(),
        prompt: match profile.prompt {
            None | Some(config::PromptInput::Stdin) => PromptBy::Stdin,
            Some(config::PromptInput::Arg) => PromptBy::Arg,
            Some(config::PromptInput::File) => PromptBy::File,
        },
        output,
        resume: profile.resume.clone(),
        follow_up: String::new(),
        env: Vec::new().into(),
        model: profile.model.clone(),
        price: None,
        approval: Approval::Auto,
    })
}

fn output_format(set: config::OutputFormat) -> OutputFormat {
    match set {
        config::OutputFormat::Text => OutputFormat::Text,
        config::OutputFormat::Rehearsal => OutputFormat::Rehearsal,
        config::OutputFormat::Claude => OutputFormat::Claude,
        config::OutputFormat::Codex => OutputFormat::Codex,
        config::OutputFormat::Copilot => OutputFormat::Copilot,
        config::OutputFormat::Gemini => OutputFormat::Gemini,
        config::OutputFormat::Opencode => OutputFormat::Opencode,
        config::OutputFormat::Qwen => OutputFormat::Qwen,
        config::OutputFormat::Acp => OutputFormat::Acp,
    }
}

fn built_in(
    adapter: &dyn Adapter,
    wanted: &AgentChoice,
    profile: &AgentProfile,
) -> Result<AgentSpec, Failure> {
    let model = wanted.model.as_deref().or(profile.model.as_deref());
    refuse_option(adapter.name(), model)?;
    let wish = Wish { model, approval: wanted.approval, as_root: rustix::process::geteuid().is_root() };
    adapter.profile(&wish).map_err(|unable| {
        Failure::usage(refusals::unable(&unable))
            .hint(say(Messages::agent_approval_auto))
            .kept(say(Messages::kept_nothing_started))
    })
}

/// Refuses a name of a model that the agent's command line would take for an option of its own.
pub(crate) fn refuse_option(agent: &str, model: Option<&str>) -> Result<(), Failure> {
    match model.filter(|model| model.starts_with('-')) {
        None => Ok(()),
        Some(model) => Err(Failure::usage(say(|m| m.agent_model_is_option(agent, model)))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(|m| m.agent_name_model(agent)))),
    }
}

/// The small agent of our own, at the endpoint that the config names (A6).
fn endpoint(app: &App, wanted: &AgentChoice, profile: &AgentProfile) -> Result<AgentSpec, Failure> {
    let missing = |what: Text| {
        Failure::usage(what)
            .hint(say(Messages::agent_native_settings))
            .kept(say(Messages::kept_nothing_started))
    };
    let api = profile.api.ok_or_else(|| missing(say(Messages::agent_native_no_api)))?;
    let model = wanted.model.as_deref().or(profile.model.as_deref());
    let model = model.ok_or_else(|| {
        missing(say(Messages::agent_native_no_model)).hint(say(Messages::agent_native_name_model))
    })?;
    let settings = native::Settings {
        api,
        base_url: profile.base_url.as_deref(),
        key_env: profile.key_env.as_deref(),
        model,
        context_tokens: profile.context_tokens,
        approval: wanted.approval,
    };
    let mut arguments = settings.arguments().map_err(|unable| {
        Failure::usage(refusals::unable(&unable)).kept(say(Messages::kept_nothing_started))
    })?;
    let sessions = app.home()?.path().join("sessions").join("native");
    arguments.extend(["--sessions".to_owned(), sessions.display().to_string()]);
    Ok(AgentSpec {
        name: "native".into(),
        command: AgentCommand::Own(arguments),
        start: native::START.map(str::to_owned).into(),
        prompt: PromptBy::Stdin,
        output: OutputFormat::Rehearsal,
        resume: Some(native::RESUME.map(str::to_owned).into()),
        follow_up: String::new(),
        env: Vec::new().into(),
        model: Some(model.to_owned()),
        price: None,
        approval: settings.approval,
    })
}

/// By its model, else by its own name: an agent whose model nobody chose has a price too.
pub fn price(agent: &AgentSpec, config: &Config) -> Option<Price> {
    let set = agent.model.as_ref().and_then(|model| config.prices.get(model));
    let set = set.or_else(|| config.prices.get(&agent.name))?;
    Some(Price { input: set.input, output: set.output, cached: set.cached })
}

/// Why a list of agents, as in `--agent`, cannot be used: the first of them that nobody knows.
pub(crate) fn unknown_among(app: &App, listed: &str, config: &Config) -> Option<Failure> {
    let known = names(config);
    let base = |name: &str| name.trim().split(':').next().unwrap_or_default().to_owned();
    let mut all = listed.split(',').map(base).filter(|name| !name.is_empty());
    all.find(|name| !known.contains(name)).map(|name| not_known(app, &name, config))
}

fn unknown(app: &App, name: &str, config: &Config) -> Failure {
    not_known(app, name, config).kept(say(Messages::kept_nothing_started))
}

fn not_known(app: &App, name: &str, config: &Config) -> Failure {
    let built_in = agent::BUILT_IN.iter().map(|adapter| adapter.name());
    let names: Vec<&str> =
        config.agents.keys().map(String::as_str).chain(["native", "rehearsal"]).chain(built_in).collect();
    let failure = Failure::usage(say(|m| m.agent_unknown(name)));
    // One that is in the config without a command is no mistake in its name.
    let failure = match suggest(name, names.iter().copied().filter(|other| *other != name)) {
        Some(close) => failure.hint(say(|m| m.hint_did_you_mean(close))),
        None if config.agents.contains_key(name) => failure,
        None => {
            let known = self::names(config).join(", ");
            failure.hint(say(|m| m.agent_there_are(&known)))
        }
    };
    let file = app.user_sources().user_file.unwrap_or_else(|| "config.toml".into());
    // One line that is TOML wherever it stands before the first table.
    let bare = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    let key = if bare { name.to_owned() } else { format!("{name:?}") };
    failure.hint(say(|m| m.agent_define_it(&m.path(&file), &key)))
}

/// The scripted agent: its script is given after a colon, in the config, or lies in the project.
fn scripted(given: Option<&str>, config: &Config, top: &Path) -> Result<AgentSpec, Failure> {
    let profile = config.agent_profile("rehearsal");
    let path = match (given, &profile.script) {
        (Some(path), _) => PathBuf::from(path),
        (None, Some(path)) => top.join(path),
        (None, None) => top.join(".dacapo/rehearsal.yaml"),
    };
    let path = std::path::absolute(&path).unwrap_or(path);
    let script = rehearsal::check(&path).map_err(|error| {
        let error = error.told();
        Failure::usage(say(|m| m.agent_no_script(error.in_words(m))))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(Messages::agent_script_example))
    })?;
    Ok(AgentSpec {
        name: "rehearsal".into(),
        command: AgentCommand::Rehearsal(path),
        start: Vec::new(),
        prompt: PromptBy::Stdin,
        output: match script.output {
            rehearsal::Output::Events => OutputFormat::Rehearsal,
            rehearsal::Output::Text => OutputFormat::Text,
        },
        resume: Some(vec!["--session".into(), "{session}".into()]),
        follow_up: follow_up(&profile, config),
        env: Vec::new().into(),
        model: None,
        price: None,
        approval: Approval::Auto,
    })
}
