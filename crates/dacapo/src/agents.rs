//! Which agents a task runs with: names from the config, built-in ones, or a command given on the spot.

use std::path::{Path, PathBuf};

use dacapo_core::agent;
use dacapo_core::spec::{AgentCommand, AgentSpec, OutputFormat, PromptBy};

use crate::args::{Approval, Exec};
use crate::config::{self, AgentProfile, Config, DEFAULT_FOLLOW_UP};
use crate::error::{Failure, suggest};
use crate::rehearsal;

/// Agents that people run and that this version drives only as commands.
const KNOWN: [(&str, &str); 6] = [
    ("claude", "claude -p --dangerously-skip-permissions"),
    ("codex", "codex exec --full-auto -"),
    ("copilot", "copilot --allow-all -p \"$(cat)\""),
    ("gemini", "gemini --yolo"),
    ("opencode", "opencode run"),
    ("qwen", "qwen --yolo"),
];

/// The agents of a task, and the profile of the first.
#[derive(Debug)]
pub struct Chosen {
    /// The first one, and those who take over.
    pub agents: Vec<AgentSpec>,
    /// Loop settings come from here.
    pub profile: AgentProfile,
}

/// Chooses by flags, then by the config.
pub fn choose(args: &Exec, config: &Config, top: &Path) -> Result<Chosen, Failure> {
    if let Some(command) = &args.agent_cmd {
        let agent = on_the_spot(command)?;
        return refuse_what_commands_cannot(
            args,
            Chosen { agents: vec![agent], profile: AgentProfile::default() },
        );
    }
    let listed = args.agent.as_deref().or(config.agent.as_deref());
    let Some(listed) = listed else {
        return Err(Failure::usage("no agent is chosen")
            .hint("--agent-cmd 'CMD' runs any command; --agent NAME one from the config")
            .hint("dacapo demo shows a whole loop without any agent"));
    };
    let names: Vec<&str> = listed.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let mut agents = names.iter().map(|name| named(name, config, top)).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = names.first() else {
        return Err(Failure::usage("--agent needs a name").hint("--agent NAME, or --agent-cmd 'CMD'"));
    };
    if let Some(twice) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        return Err(Failure::usage(format!("agent '{}' is named twice", names[twice]))
            .hint("name each agent once: when one hits its limit, another takes over"));
    }
    // Scripts of the one built-in agent are agents of their own: the journal tells them apart by name.
    for at in 1..agents.len() {
        let same = agents[..at].iter().filter(|other| other.name == agents[at].name).count();
        if same > 0 {
            agents[at].name = format!("{}-{}", agents[at].name, same + 1);
        }
    }
    let profile = config.agent_profile(first.split(':').next().unwrap_or(first));
    refuse_what_commands_cannot(args, Chosen { agents, profile })
}

fn refuse_what_commands_cannot(args: &Exec, chosen: Chosen) -> Result<Chosen, Failure> {
    let name = &chosen.agents[0].name;
    if args.model.is_some() {
        return Err(Failure::usage(format!("agent '{name}' is a command: Dacapo cannot choose its model"))
            .hint("put the model into the command itself"));
    }
    if args.approval != Approval::Auto {
        return Err(Failure::usage(format!("agent '{name}' is a command: it cannot ask for approval"))
            .hint("--approval auto, and put the agent's own flags into the command"));
    }
    Ok(chosen)
}

fn on_the_spot(command: &str) -> Result<AgentSpec, Failure> {
    if command.trim().is_empty() {
        return Err(Failure::usage("--agent-cmd is empty").hint("--agent-cmd 'mybot --headless'"));
    }
    // A plain first word must be something that `sh` can find; anything fancier is the shell's own business.
    let word = command.split_whitespace().next().unwrap_or_default();
    let plain = word.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-/+".contains(&b));
    if plain && !shell_knows(word) {
        return Err(not_found(word, "--agent-cmd"));
    }
    Ok(AgentSpec {
        name: Path::new(word)
            .file_name()
            .map_or_else(|| "command".into(), |name| name.to_string_lossy().into_owned()),
        command: AgentCommand::Shell(command.to_owned()),
        prompt: PromptBy::Stdin,
        output: OutputFormat::Text,
        resume: None,
        follow_up: DEFAULT_FOLLOW_UP.to_owned(),
        env: Vec::new(),
    })
}

fn shell_knows(word: &str) -> bool {
    let asked = std::process::Command::new("sh")
        .args(["-c", "command -v -- \"$1\" >/dev/null 2>&1", "sh", word])
        .stdin(std::process::Stdio::null())
        .status();
    // Where even `sh` cannot be run, the start itself will say so.
    asked.map_or(true, |status| status.success())
}

fn not_found(program: &str, origin: &str) -> Failure {
    Failure::usage(format!("agent not found: '{program}' ({origin}) is not on PATH"))
        .kept("everything; nothing was started")
        .hint("install it, or give its full path")
        .hint("dacapo demo works without any agent")
}

fn named(name: &str, config: &Config, top: &Path) -> Result<AgentSpec, Failure> {
    let (base, script) = name.split_once(':').map_or((name, None), |(base, script)| (base, Some(script)));
    if base == "rehearsal" {
        return scripted(script, config, top);
    }
    let Some(profile) = config.agents.get(base) else {
        return Err(unknown(base, config));
    };
    let settings = profile.loop_settings();
    let Some(command) = profile.command.clone().filter(|command| !command.is_empty()) else {
        return Err(unknown(base, config));
    };
    let output = match profile.output {
        None | Some(config::OutputFormat::Text) => OutputFormat::Text,
        Some(config::OutputFormat::Rehearsal) => OutputFormat::Rehearsal,
        Some(other) => {
            return Err(Failure::usage(format!(
                "[agents.{base}] output = \"{}\" is not available yet in this version",
                format!("{other:?}").to_lowercase()
            ))
            .hint("output = \"text\""));
        }
    };
    let agent = AgentSpec {
        name: base.to_owned(),
        command: AgentCommand::Argv(command),
        prompt: match profile.prompt {
            None | Some(config::PromptInput::Stdin) => PromptBy::Stdin,
            Some(config::PromptInput::Arg) => PromptBy::Arg,
            Some(config::PromptInput::File) => PromptBy::File,
        },
        output,
        resume: profile.resume.clone(),
        follow_up: settings.map_or_else(|| DEFAULT_FOLLOW_UP.to_owned(), |settings| settings.follow_up),
        env: profile.env.clone().into_iter().collect(),
    };
    match agent::program(&agent) {
        Some(program) if !found(&program, top) => {
            Err(not_found(&program.to_string_lossy(), &format!("[agents.{base}] command")))
        }
        _ => Ok(agent),
    }
}

fn unknown(name: &str, config: &Config) -> Failure {
    if let Some((_, command)) = KNOWN.iter().find(|(known, _)| *known == name) {
        return Failure::usage(format!("agent '{name}' is not built in yet in this version"))
            .hint(format!("run it as a command: --agent-cmd '{command}'"));
    }
    let names: Vec<&str> =
        config.agents.keys().map(String::as_str).chain(["rehearsal"]).chain(KNOWN.map(|k| k.0)).collect();
    let failure = Failure::usage(format!("unknown agent '{name}'"));
    let failure = match suggest(name, names.iter().copied()) {
        Some(close) => failure.hint(format!("did you mean '{close}'?")),
        None => failure,
    };
    failure.hint(format!("define it in config.toml: [agents.{name}] command = [\"…\"]"))
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
        Failure::usage(format!("agent 'rehearsal' has no usable script: {error}"))
            .hint("--agent rehearsal:FILE.yaml; `dacapo rehearsal example` prints one")
    })?;
    let settings = profile.loop_settings();
    Ok(AgentSpec {
        name: "rehearsal".into(),
        command: AgentCommand::Rehearsal(path),
        prompt: PromptBy::Stdin,
        output: match script.output {
            rehearsal::Output::Events => OutputFormat::Rehearsal,
            rehearsal::Output::Text => OutputFormat::Text,
        },
        resume: Some(vec!["--session".into(), "{session}".into()]),
        follow_up: settings.map_or_else(|| DEFAULT_FOLLOW_UP.to_owned(), |settings| settings.follow_up),
        env: Vec::new(),
    })
}

/// Whether a program is there: on PATH, or at its path seen from the workspace.
fn found(program: &Path, top: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let runnable = |path: &Path| {
        path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    if program.components().count() > 1 {
        return runnable(&top.join(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| runnable(&dir.join(program)))
}
