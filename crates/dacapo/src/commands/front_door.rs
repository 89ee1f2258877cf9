//! `dacapo "PROMPT"`: `spawn` and `attach` with good defaults, and what they are said before it starts (L0).

use std::ffi::OsStr;
use std::io::{BufRead as _, IsTerminal as _, Read as _, Write as _};

use clap::Parser as _;
use dacapo_core::agent::{self, Billing};
use dacapo_core::git::Repo;
use dacapo_core::spec::{AgentSpec, Approval, Place};
use dacapo_core::store::RepoDir;
use dacapo_core::task::agent_loop::DEFAULT_PROMISE;

use super::attach::attach;
use super::start::left_here;
use super::{print, repository, spawn};
use crate::agents::{self, is_variable};
use crate::args::{Cli, Command, Exec, Show};
use crate::config::Config;
use crate::error::{Failure, Kind};
use crate::found_checks::{self, Found, Question, remember, remembered};
use crate::output::human::Told;
use crate::output::words::{self, DIM, WARN, paint};
use crate::request::{Request, knows_its_cost};
use crate::terminal::{Key, Keys};
use crate::trust::{Gate, Using};

const ITERATIONS: i64 = 10;
const TIME: &str = "8h";
/// Where an API key pays.
const COST_USD: f64 = 10.0;

pub(super) fn run(prompt: &OsStr) -> Result<u8, Failure> {
    let prompt = read(prompt)?;
    let (repo, data) =
        repository().map_err(|failure| match failure.hints.iter().any(|hint| hint == "git init") {
            true => failure.hint("then commit what is there: git add -A && git commit -m start"),
            false => failure,
        })?;
    let no_commit = repo.head().is_ok_and(|head| head.commit.is_none());
    if no_commit {
        return Err(Failure::usage("this repository has no commits yet, and a worktree needs one")
            .kept("everything; nothing was started")
            .hint("git add -A && git commit -m start, then try again")
            .hint("dacapo exec --checks \"…\" works in this checkout, without a worktree"));
    }
    let mut args = defaults(prompt)?;
    // All that `spawn` will use of the settings is confirmed first: nothing is to be asked after the agent was announced.
    let gate = Gate { top: repo.toplevel(), show: args.show };
    let uses = [Using::Agents(None), Using::Checks, Using::Setup, Using::Notify];
    let config = gate.settings(&uses)?.config;
    let chosen = agents::choose(&(&args).into(), &config, repo.toplevel())?;
    line("agent", &agents_in_words(&chosen.agents));
    args.check = checks(&config, &repo, &data)?;
    if args.check.is_empty() {
        // Nothing can be proven; then the agent's own word is the end.
        let promise = chosen.profile.loop_settings().and_then(|settings| settings.completion_promise);
        args.until = Some(promise.unwrap_or_else(|| DEFAULT_PROMISE.to_owned()));
    }
    let payer = payer(&chosen.agents);
    let bounded = payer.is_some() && chosen.agents.iter().all(knows_its_cost);
    args.max_cost = bounded.then_some(COST_USD);
    let uncommitted = repo.dirt().map_or(0, |dirt| dirt.count());
    let started = spawn::start(args, |asked| {
        asked.spec.plan.iter().for_each(|plan| line("plan", &plan.path.display().to_string()));
        say_where(asked, uncommitted);
        say_limits(asked, payer.as_deref());
        let stays = left_here(uncommitted);
        asked.notes.iter().filter(|note| **note != stays).for_each(|note| {
            print(&paint(WARN, &format!("note    {note}")));
        });
    })?;
    attach(&started.dir, Show { json: false, quiet: false }, Told::WhatIsAsked)
}

/// The words themselves, or standard input.
fn read(prompt: &OsStr) -> Result<String, Failure> {
    let empty = |text: &str| {
        let failure = Failure::usage("the prompt is empty").kept("everything; nothing was started");
        text.trim().is_empty().then(|| failure.hint("dacapo \"what the agent is to do\""))
    };
    let text = match prompt.to_str() {
        Some("-") => {
            if std::io::stdin().is_terminal() {
                complain!("reading the prompt from this terminal; Ctrl-D on a line of its own ends it");
            }
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).map_err(|error| {
                Failure::usage(format!("cannot read the prompt from standard input: {error}"))
                    .hint("dacapo spawn --prompt-file FILE reads it from a file")
            })?;
            String::from_utf8(bytes).ok()
        }
        other => other.map(str::to_owned),
    };
    let text = text.ok_or_else(|| {
        Failure::usage("the prompt is not UTF-8 text").hint("convert it, for example with iconv")
    })?;
    match empty(&text) {
        Some(failure) => Err(failure),
        None => Ok(text.strip_suffix('\n').map_or_else(|| text.clone(), str::to_owned)),
    }
}

/// What `spawn` would be asked for.
fn defaults(prompt: String) -> Result<Exec, Failure> {
    let words = ["dacapo", "spawn", "--time", TIME, "--", "PROMPT"];
    let parsed = Cli::try_parse_from(words).map_err(|error| Failure::failed(error.to_string()))?;
    let Command::Spawn(spawn) = parsed.command else {
        return Err(Failure::failed("`spawn` is not understood"));
    };
    Ok(Exec { prompt: vec![prompt], max_iterations: Some(ITERATIONS), ..spawn.exec })
}

fn line(label: &str, text: &str) {
    print(&format!("{} {text}", paint(DIM, &format!("{label:<7}"))));
}

fn environment() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    std::env::vars_os().collect()
}

/// `claude · subscription · skips permission prompts`.
fn agents_in_words(agents: &[AgentSpec]) -> String {
    let env = environment();
    let one = |spec: &AgentSpec| {
        let mut facts = vec![spec.name.clone()];
        facts.extend(spec.model.clone());
        facts.extend(match agent::account(spec, &env).billing {
            Billing::Unknown => None,
            Billing::Subscription => Some("subscription".to_owned()),
            Billing::ApiKey(holder) => Some(billed(&holder)),
        });
        let asks = agent::adapter(spec.output).is_some_and(|adapter| !adapter.unattended().is_empty());
        if asks && spec.approval == Approval::Auto {
            facts.push("skips permission prompts".to_owned());
        }
        facts.join(" · ")
    };
    agents.iter().map(one).collect::<Vec<_>>().join(", then ")
}

fn billed(holder: &str) -> String {
    if is_variable(holder) {
        format!("billed to {holder}")
    } else {
        format!("billed to the API key in {holder}")
    }
}

/// Whose key pays, if one does.
fn payer(agents: &[AgentSpec]) -> Option<String> {
    let env = environment();
    agents.iter().find_map(|spec| match agent::account(spec, &env).billing {
        Billing::ApiKey(holder) => Some(billed(&holder)),
        Billing::Unknown | Billing::Subscription => None,
    })
}

/// The project's checks: as configured, as once chosen, else as found; at a terminal the user is asked.
fn checks(config: &Config, repo: &Repo, data: &RepoDir) -> Result<Vec<String>, Failure> {
    if let Some(checks) = &config.checks {
        let shown = if checks.is_empty() { "none".to_owned() } else { checks.join(" · ") };
        line("check", &format!("{shown} (config)"));
        return Ok(checks.clone());
    }
    let found = found_checks::find(repo.toplevel());
    let commands: Vec<String> = found.iter().map(|check| check.command.clone()).collect();
    if found.is_empty() {
        line("check", "none found: it is done when the agent says so, unproven");
        return Ok(Vec::new());
    }
    let used = match remembered(data.path(), Question::Checks, &commands) {
        Some(used) => used,
        None => match asked(&found)? {
            Some(used) => {
                remember(data.path(), Question::Checks, &commands, &used);
                used
            }
            None => commands.clone(),
        },
    };
    line(
        "check",
        &match used.as_slice() {
            same if same == commands => in_words(&found),
            [] => "none, as you chose; checks = […] in .dacapo/config.toml names some".to_owned(),
            own => format!("{} (as you chose)", own.join(" · ")),
        },
    );
    Ok(used)
}

fn in_words(found: &[Found]) -> String {
    let one = |check: &Found| format!("{} ({})", check.command, check.evidence);
    found.iter().map(one).collect::<Vec<_>>().join(" · ")
}

/// Asks whether these are the checks; none where nobody can be asked.
fn asked(found: &[Found]) -> Result<Option<Vec<String>>, Failure> {
    if !std::io::stdout().is_terminal() {
        return Ok(None);
    }
    let Some(mut keys) = Keys::open() else { return Ok(None) };
    let commands = || found.iter().map(|check| check.command.clone()).collect();
    show(&format!("check   {}   [Enter] use  [e]dit  [n]one ", in_words(found)));
    loop {
        match keys.read().unwrap_or(Key::Leave) {
            Key::Enter | Key::Char('y' | 'u') => {
                show("");
                return Ok(Some(commands()));
            }
            Key::Char('n') => {
                show("");
                return Ok(Some(Vec::new()));
            }
            Key::Char('e') => {
                // A line is edited with what the terminal itself offers.
                drop(keys);
                show("check   ");
                let typed = typed().trim().to_owned();
                return Ok(Some(if typed.is_empty() { commands() } else { vec![typed] }));
            }
            Key::Leave => {
                show("");
                return Err(
                    Failure::new(Kind::Cancelled, "cancelled").kept("everything; nothing was started")
                );
            }
            Key::Char(_) | Key::Other => {}
        }
    }
}

/// In place of what stands on the line.
fn show(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = write!(out, "\r\u{1b}[K{text}").and_then(|()| out.flush());
}

/// A line from the terminal, wherever standard input comes from.
fn typed() -> String {
    let mut text = String::new();
    if let Ok(terminal) = std::fs::File::open("/dev/tty") {
        let _ = std::io::BufReader::new(terminal).read_line(&mut text);
    }
    text
}

fn say_where(asked: &Request, uncommitted: usize) {
    let Place::Worktree { branch, .. } = &asked.spec.place else { return };
    let stay = match uncommitted {
        0 => String::new(),
        1 => " · your 1 uncommitted file stays here".to_owned(),
        more => format!(" · your {more} uncommitted files stay here"),
    };
    line("where", &format!("{}{stay}", words::branch(branch)));
}

fn say_limits(asked: &Request, payer: Option<&str>) {
    let policy = &asked.spec.policy;
    let mut limits = Vec::new();
    limits.extend(policy.cap.map(|cap| words::count(u64::from(cap.iterations), "iteration")));
    limits.extend(policy.time.map(words::duration));
    limits.extend(policy.max_cost.map(words::money));
    limits.extend(words::stall(policy));
    let limits = limits.join(", ");
    line(
        "limits",
        &match (payer, policy.max_cost) {
            (Some(payer), None) => format!("{limits}; none on cost: {payer}, and [prices] are not set"),
            _ => limits,
        },
    );
}
