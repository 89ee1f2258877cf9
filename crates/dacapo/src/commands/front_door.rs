//! `dacapo "PROMPT"`: `spawn` and `attach` with good defaults, and what they are said before it starts (L0).

use std::cell::RefCell;
use std::io::{IsTerminal as _, Read as _, Write as _};

use dacapo_core::agent::{self, Billing};
use dacapo_core::git::Repo;
use dacapo_core::spec::{AgentSpec, Approval, Place};
use dacapo_core::store::RepoDir;
use dacapo_core::task::agent_loop::DEFAULT_PROMISE;
use unicode_width::UnicodeWidthStr as _;

use super::attach::attach;
use super::start::{left_here, prepare, uses};
use super::{dry_run, print, repository, spawn};
use crate::agents::{self, Chosen, is_variable};
use crate::args::{Exec, Show};
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

pub(super) fn run(mut args: Exec) -> Result<u8, Failure> {
    args.prompt = vec![read(args.prompt.first().map_or("", String::as_str))?];
    args = spawn::in_background(args);
    let (repo, data) =
        repository().map_err(|failure| match failure.hints.iter().any(|hint| hint == "git init") {
            true => failure.hint("then commit what is there: git add -A && git commit -m start"),
            false => failure,
        })?;
    let no_commit = repo.head().is_ok_and(|head| head.commit.is_none());
    if no_commit && args.worktree {
        return Err(Failure::usage("this repository has no commits yet, and a worktree needs one")
            .kept("everything; nothing was started")
            .hint("git add -A && git commit -m start, then try again")
            .hint("dacapo exec --checks \"…\" works in this checkout, without a worktree"));
    }
    // All that `spawn` will use of the settings is confirmed first: nothing is to be asked after the agent was announced.
    let said = Show { quiet: args.show.quiet || args.dry_run, ..args.show };
    let gate = Gate { top: repo.toplevel(), show: said };
    let mut uses = uses(&args);
    uses.extend([Using::Checks, Using::Setup]);
    let config = gate.settings(&uses)?.config;
    let chosen = agents::choose(&(&args).into(), &config, repo.toplevel())?;
    let out = Lines::new(said);
    out.line("agent", &agents_in_words(&chosen.agents));
    conditions(&mut args, &out, &config, (&repo, &data), &chosen)?;
    let payer = payer(&chosen.agents);
    let bounded = payer.is_some() && chosen.agents.iter().all(knows_its_cost);
    args.max_cost = args.max_cost.or(bounded.then_some(COST_USD));
    args.time.get_or_insert_with(|| TIME.to_owned());
    if args.iter.is_none() {
        args.max_iterations.get_or_insert(ITERATIONS);
    }
    let show = args.show;
    if args.dry_run {
        return dry_run::show(&prepare(&args)?, show);
    }
    let uncommitted = repo.dirt().map_or(0, |dirt| dirt.count());
    let started = spawn::start(args, |asked| {
        asked.spec.plan.iter().for_each(|plan| out.line("plan", &plan.path.display().to_string()));
        out.line("where", &place(asked, uncommitted));
        out.line("limits", &limits(asked, payer.as_deref()));
        let stays = left_here(uncommitted);
        asked.notes.iter().filter(|note| **note != stays).for_each(|note| {
            out.add(paint(WARN, &format!("note    {note}")));
        });
        out.say();
    })?;
    attach(&started.dir, show, Told::WhatIsAsked)
}

/// When it is done: what the flags say; where they say nothing the project's checks, else the agent's own word.
fn conditions(
    args: &mut Exec,
    out: &Lines,
    config: &Config,
    (repo, data): (&Repo, &RepoDir),
    chosen: &Chosen,
) -> Result<(), Failure> {
    let said = !args.check.is_empty() || args.until.is_some();
    if args.checks || !said {
        let own = Own { out, wanted: args.checks }.checks(config, repo, data)?;
        args.check
            .extend(own.into_iter().filter(|command| !args.check.contains(command)).collect::<Vec<_>>());
        args.checks = false;
    } else if args.check.is_empty() {
        out.line("check", "none: it is done when the agent says so, unproven");
    } else {
        out.line("check", &args.check.join(" · "));
    }
    if args.check.is_empty() && args.until.is_none() {
        // Nothing can be proven; then the agent's own word is the end.
        let promise = chosen.profile.loop_settings().and_then(|settings| settings.completion_promise);
        args.until = Some(promise.unwrap_or_else(|| DEFAULT_PROMISE.to_owned()));
    }
    Ok(())
}

/// The words themselves, or standard input.
fn read(prompt: &str) -> Result<String, Failure> {
    let mut text = prompt.to_owned();
    if prompt == "-" {
        if std::io::stdin().is_terminal() {
            complain!("reading the prompt from this terminal; Ctrl-D on a line of its own ends it");
        }
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map_err(|error| {
            Failure::usage(format!("cannot read the prompt from standard input: {error}"))
                .hint("dacapo spawn --prompt-file FILE reads it from a file")
        })?;
        text = String::from_utf8(bytes).map_err(|_| {
            Failure::usage("the prompt is not UTF-8 text").hint("convert it, for example with iconv")
        })?;
    }
    if text.trim().is_empty() {
        return Err(Failure::usage("the prompt is empty")
            .kept("everything; nothing was started")
            .hint("dacapo \"what the agent is to do\""));
    }
    Ok(text.strip_suffix('\n').map_or_else(|| text.clone(), str::to_owned))
}

/// What is said before it starts: only to people, and only when nothing was refused, or a question needs it above.
struct Lines {
    show: Show,
    held: RefCell<Vec<String>>,
}

impl Lines {
    fn new(show: Show) -> Self {
        Self { show, held: RefCell::default() }
    }

    fn line(&self, label: &str, text: &str) {
        self.add(format!("{} {text}", paint(DIM, &format!("{label:<7}"))));
    }

    fn add(&self, text: String) {
        self.held.borrow_mut().push(text);
    }

    fn say(&self) {
        let held = self.held.take();
        if !self.show.json && !self.show.quiet {
            held.iter().for_each(|text| print(text));
        }
    }
}

fn environment() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    std::env::vars_os().collect()
}

/// `claude · subscription · skips permission prompts`.
pub(super) fn agents_in_words(agents: &[AgentSpec]) -> String {
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
pub(super) fn payer(agents: &[AgentSpec]) -> Option<String> {
    let env = environment();
    agents.iter().find_map(|spec| match agent::account(spec, &env).billing {
        Billing::ApiKey(holder) => Some(billed(&holder)),
        Billing::Unknown | Billing::Subscription => None,
    })
}

/// The project's own checks.
#[derive(Clone, Copy)]
struct Own<'a> {
    out: &'a Lines,
    /// `--checks`: then a "none" of earlier does not hold any more.
    wanted: bool,
}

impl Own<'_> {
    /// As configured, as once chosen, else as found; at a terminal the user is asked.
    fn checks(self, config: &Config, repo: &Repo, data: &RepoDir) -> Result<Vec<String>, Failure> {
        if let Some(checks) = &config.checks {
            let shown = if checks.is_empty() { "none".to_owned() } else { checks.join(" · ") };
            self.out.line("check", &format!("{shown} (config)"));
            return Ok(checks.clone());
        }
        let found = found_checks::find(repo.toplevel());
        let commands: Vec<String> = found.iter().map(|check| check.command.clone()).collect();
        if found.is_empty() {
            self.out.line("check", "none found: it is done when the agent says so, unproven");
            return Ok(Vec::new());
        }
        let known = remembered(data.path(), Question::Checks, &commands);
        let used = match known.filter(|used| !used.is_empty() || !self.wanted) {
            Some(used) => used,
            None => match self.asked(&found)? {
                Some(used) => {
                    remember(data.path(), Question::Checks, &commands, &used);
                    used
                }
                None => commands.clone(),
            },
        };
        let said = match used.as_slice() {
            same if same == commands => in_words(&found),
            [] => "none, as you chose (--checks asks again): unproven".to_owned(),
            own => format!("{} (as you chose)", own.join(" · ")),
        };
        self.out.line("check", &said);
        Ok(used)
    }

    /// Asks whether these are the checks; none where nobody can be asked, or has typed something for somebody else.
    fn asked(self, found: &[Found]) -> Result<Option<Vec<String>>, Failure> {
        let Show { json, quiet } = self.out.show;
        if json || quiet || !std::io::stdout().is_terminal() {
            return Ok(None);
        }
        if Keys::typed_ahead() {
            self.out.line("note", "not asked about the check, because input was waiting: used this time");
            return Ok(None);
        }
        self.out.say();
        let Some(mut keys) = Keys::open() else { return Ok(None) };
        let commands: Vec<String> = found.iter().map(|check| check.command.clone()).collect();
        let answer = ask(&mut keys, found, &commands);
        show("");
        match answer.unwrap_or(None) {
            Some(used) => Ok(Some(used)),
            None => Err(Failure::new(Kind::Cancelled, "cancelled").kept("everything; nothing was started")),
        }
    }
}

const CHOICES: &str = "[Enter] use  [e]dit  [n]one ";

/// Which checks the user wants; none: to leave.
fn ask(keys: &mut Keys, found: &[Found], commands: &[String]) -> std::io::Result<Option<Vec<String>>> {
    let columns = columns();
    let one_line = format!("check   {}   {CHOICES}", in_words(found));
    // A question that is wider than the terminal could not be taken away again.
    let (question, label) = if one_line.width() < columns {
        (one_line, "check   ")
    } else {
        print(&format!("{} {}", paint(DIM, "found  "), in_words(found)));
        (format!("        {CHOICES}"), "        ")
    };
    loop {
        show(&question);
        match keys.read()? {
            Key::Enter | Key::Char('y' | 'u') => return Ok(Some(commands.to_vec())),
            Key::Char('n') => return Ok(Some(Vec::new())),
            Key::Char('e') => {
                let edited =
                    keys.edit(&commands.join(" && "), columns.saturating_sub(9), |text, cursor| {
                        show(&format!("{label}{text}\r\u{1b}[{}C", label.len() + cursor));
                    })?;
                match edited.as_deref().map(str::trim) {
                    // Nothing was decided.
                    None | Some("") => {}
                    Some(same) if same == commands.join(" && ") => return Ok(Some(commands.to_vec())),
                    Some(own) => return Ok(Some(vec![own.to_owned()])),
                }
            }
            Key::Leave => return Ok(None),
            Key::Char(_) | Key::Other => {}
        }
    }
}

fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(80)
}

fn in_words(found: &[Found]) -> String {
    let one = |check: &Found| format!("{} ({})", check.command, check.evidence);
    found.iter().map(one).collect::<Vec<_>>().join(" · ")
}

/// In place of what stands on the line.
fn show(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = write!(out, "\r\u{1b}[K{text}").and_then(|()| out.flush());
}

pub(super) fn place(asked: &Request, uncommitted: usize) -> String {
    let Place::Worktree { branch, .. } = &asked.spec.place else { return "this checkout".to_owned() };
    let stay = match uncommitted {
        0 => String::new(),
        1 => " · your 1 uncommitted file stays here".to_owned(),
        more => format!(" · your {more} uncommitted files stay here"),
    };
    format!("{}{stay}", words::branch(branch))
}

pub(super) fn limits(asked: &Request, payer: Option<&str>) -> String {
    let policy = &asked.spec.policy;
    let mut limits = Vec::new();
    limits.extend(policy.cap.map(|cap| words::count(u64::from(cap.iterations), "iteration")));
    limits.extend(policy.time.map(words::duration));
    limits.extend(policy.max_cost.map(words::money));
    limits.extend(words::stall(policy));
    let limits = limits.join(", ");
    match (payer, policy.max_cost) {
        (Some(payer), None) => format!("{limits}; none on cost: {payer}, and [prices] are not set"),
        _ => limits,
    }
}
