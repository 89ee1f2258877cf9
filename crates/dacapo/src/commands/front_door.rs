//! `dacapo "PROMPT"`: `spawn` and `attach` with good defaults, and what they are said before it starts (L0).

use std::cell::RefCell;
use std::io::{IsTerminal as _, Read as _, Write as _};

use dacapo_app::messages::{Messages, say};
use dacapo_app::operations::prompt::{self, Conditions, Ground, Payer};
use dacapo_app::operations::start::left_here;
use dacapo_app::question::{Answer, Answers, NotYet, Question};
use dacapo_core::agent::{self, Billing};
use dacapo_core::spec::{AgentSpec, Approval, Place};
use unicode_width::UnicodeWidthStr as _;

use super::attach::attach;
use super::start::{prepared, questions};
use super::{dry_run, spawn};
use crate::App;
use crate::agents::is_variable;
use crate::args::{Exec, Show};
use crate::commands::Console;
use crate::commands::console::Printer;
use crate::error::{Failure, Kind};
use crate::found_checks::FoundCheck;
use crate::output::human::AlreadyShown;
use crate::output::words::{self, DIM, WARN, paint};
use crate::question::asking;
use crate::request::{Request, TaskRequest, knows_its_cost};
use crate::terminal::{Key, Keys};

pub(super) fn run(app: &Console, mut args: Exec) -> Result<u8, Failure> {
    args.prompt = vec![read(app, args.prompt.first().map_or("", String::as_str))?];
    args = spawn::in_background(args);
    let said = questions(&args);
    let mut request = args.task_request()?;
    request.prompt = args.read_prompt()?;
    let ground = asking(app, said, |answers| app.ground(&request, answers))?;
    let messages = app.messages;
    let out = Lines::new(said, app);
    out.line(&messages.label_agent(), &agents_in_words(app, ground.agents()));
    let conditions = conditions(&ground, &mut request, &out)?;
    out.line(&messages.label_check(), &conditions_in_words(&conditions, messages));
    let payer = ground.payer.as_ref().map(|payer| billed(payer, messages));
    let prepared = prepared(app, &args, &request)?;
    if args.dry_run {
        return dry_run::show(app, &prepared, args.show);
    }
    let uncommitted = ground.repo.dirt().map_or(0, |dirt| dirt.count());
    let made = prepared.claim(app)?;
    let asked = &made.asked;
    asked.spec.plan.iter().for_each(|plan| out.line(&messages.label_plan(), &messages.path(&plan.path)));
    out.line(&messages.label_where(), &place(asked, uncommitted, messages));
    out.line(&messages.label_limits(), &limits(asked, payer.as_deref(), messages));
    let stays = left_here(uncommitted);
    asked.notes.iter().filter(|note| **note != stays).for_each(|note| {
        let note = note.in_words(messages);
        out.add(paint(WARN, &format!("{}{note}", messages.label_note())));
    });
    out.say();
    let started = made.in_background(app)?;
    attach(app, &started.dir, args.show, AlreadyShown::WhatIsAsked)
}

/// When it is done; at a terminal the user is asked which of the checks that were found are meant.
fn conditions(ground: &Ground, request: &mut TaskRequest, out: &Lines) -> Result<Conditions, Failure> {
    let mut answers = Answers::default();
    loop {
        match ground.fill_in(request, &answers) {
            Ok(conditions) => return Ok(conditions),
            Err(NotYet::Refused(failure)) => return Err(failure),
            Err(NotYet::Ask(question)) => {
                let answer = match &*question {
                    Question::ChooseChecks { found } => choose(found, out)?,
                    Question::Trust { .. }
                    | Question::Checks { .. }
                    | Question::Setup { .. }
                    | Question::Plan { .. } => Answer::Unasked,
                };
                answers.give(*question, answer);
            }
        }
    }
}

fn conditions_in_words(conditions: &Conditions, messages: Messages) -> String {
    match conditions {
        Conditions::Checks(checks) => checks.join(" · "),
        Conditions::Promise => messages.start_no_check_promise(),
        Conditions::Configured(checks) if checks.is_empty() => messages.start_no_check_configured(),
        Conditions::Configured(checks) => messages.start_check_configured(&checks.join(" · ")),
        Conditions::Found(found) => in_words(found, messages),
        Conditions::Chosen(own) if own.is_empty() => messages.start_no_check_chosen(),
        Conditions::Chosen(own) => messages.start_check_chosen(&own.join(" · ")),
        Conditions::NothingFound => messages.start_no_check_found(),
    }
}

/// The words themselves, or standard input.
fn read(app: &Console, prompt: &str) -> Result<String, Failure> {
    let mut text = prompt.to_owned();
    if prompt == "-" {
        if std::io::stdin().is_terminal() {
            complain!("{}", app.messages.start_reading_terminal());
        }
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map_err(|error| {
            Failure::usage(say(|m| m.start_stdin_unreadable(&error.to_string())))
                .hint(say(|m| m.start_prompt_file()))
        })?;
        text = String::from_utf8(bytes)
            .map_err(|_| Failure::usage(say(|m| m.start_not_utf8())).hint(say(|m| m.start_convert())))?;
    }
    if text.trim().is_empty() {
        return Err(Failure::usage(say(|m| m.start_prompt_empty()))
            .kept(say(|m| m.start_kept_nothing_started()))
            .hint(say(|m| m.start_prompt_example())));
    }
    Ok(text.strip_suffix('\n').map_or_else(|| text.clone(), str::to_owned))
}

/// What is said before it starts: only to people, and only when nothing was refused, or a question needs it above.
struct Lines {
    printer: Printer,
    show: Show,
    messages: Messages,
    held: RefCell<Vec<String>>,
}

impl Lines {
    fn new(show: Show, app: &Console) -> Self {
        Self { printer: app.printer.clone(), show, messages: app.messages, held: RefCell::default() }
    }

    fn line(&self, label: &str, text: &str) {
        self.add(format!("{} {text}", paint(DIM, &words::padded(label, 7))));
    }

    fn add(&self, text: String) {
        self.held.borrow_mut().push(text);
    }

    fn say(&self) {
        let held = self.held.take();
        if !self.show.json && !self.show.quiet {
            held.iter().for_each(|text| self.printer.print(text));
        }
    }
}

/// `claude · subscription · skips permission prompts`.
pub(super) fn agents_in_words(app: &App, agents: &[AgentSpec]) -> String {
    let messages = app.messages;
    let one = |spec: &AgentSpec| {
        let mut facts = vec![spec.name.clone()];
        facts.extend(spec.model.clone());
        facts.extend(match agent::account(spec, &app.env).billing {
            Billing::Unknown => None,
            Billing::Subscription => Some(messages.start_subscription()),
            Billing::ApiKey(holder) => Some(billed(&Payer(holder), messages)),
        });
        let asks = agent::adapter(spec.output).is_some_and(|adapter| !adapter.unattended().is_empty());
        if asks && spec.approval == Approval::Auto {
            facts.push(messages.start_skips_prompts());
        }
        facts.join(" · ")
    };
    agents.iter().map(one).reduce(|all, next| messages.live_then(&all, &next)).unwrap_or_default()
}

fn billed(Payer(holder): &Payer, messages: Messages) -> String {
    if is_variable(holder) { messages.start_billed_to(holder) } else { messages.start_billed_to_key(holder) }
}

/// Whose key pays, if one does.
pub(super) fn payer(app: &App, agents: &[AgentSpec], messages: Messages) -> Option<String> {
    prompt::payer(app, agents).as_ref().map(|payer| billed(payer, messages))
}

/// Asks whether these are the checks; nobody is asked who cannot be, or has typed something for somebody else.
fn choose(found: &[FoundCheck], out: &Lines) -> Result<Answer, Failure> {
    let Show { json, quiet } = out.show;
    if json || quiet || !std::io::stdout().is_terminal() {
        return Ok(Answer::Unasked);
    }
    if Keys::typed_ahead() {
        out.line(&out.messages.label_note_short(), &out.messages.start_not_asked_about_check());
        return Ok(Answer::Unasked);
    }
    out.say();
    let Some(mut keys) = Keys::open() else { return Ok(Answer::Unasked) };
    let commands: Vec<String> = found.iter().map(|check| check.command.clone()).collect();
    let answer = ask(&mut keys, found, &commands, out);
    show("");
    match answer.unwrap_or(None) {
        Some(used) => Ok(Answer::Use(used)),
        None => Err(Failure::new(Kind::Cancelled, say(|m| m.start_cancelled()))
            .kept(say(|m| m.start_kept_nothing_started()))),
    }
}

/// Which checks the user wants; none: to leave.
fn ask(
    keys: &mut Keys,
    found: &[FoundCheck],
    commands: &[String],
    out: &Lines,
) -> std::io::Result<Option<Vec<String>>> {
    let (columns, messages) = (columns(), out.messages);
    let choices = messages.start_check_keys();
    let check = words::padded(&messages.label_check(), 8);
    let one_line = format!("{check}{}   {choices}", in_words(found, messages));
    // A question that is wider than the terminal could not be taken away again.
    let (question, label) = if one_line.width() < columns {
        (one_line, check.as_str())
    } else {
        out.printer.print(&format!(
            "{} {}",
            paint(DIM, &words::padded(&messages.label_found(), 7)),
            in_words(found, messages)
        ));
        (format!("        {choices}"), "        ")
    };
    loop {
        show(&question);
        match keys.read()? {
            Key::Enter | Key::Char('y' | 'u') => return Ok(Some(commands.to_vec())),
            Key::Char('n') => return Ok(Some(Vec::new())),
            Key::Char('e') => {
                let edited =
                    keys.edit(&commands.join(" && "), columns.saturating_sub(9), |text, cursor| {
                        show(&format!("{label}{text}\r\u{1b}[{}C", label.width() + cursor));
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

fn in_words(found: &[FoundCheck], messages: Messages) -> String {
    let one = |check: &FoundCheck| messages.live_because(&check.command, &check.evidence.to_string());
    found.iter().map(one).collect::<Vec<_>>().join(" · ")
}

/// In place of what stands on the line.
fn show(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = write!(out, "\r\u{1b}[K{text}").and_then(|()| out.flush());
}

pub(super) fn place(asked: &Request, uncommitted: usize, messages: Messages) -> String {
    let Place::Worktree { branch, .. } = &asked.spec.place else { return messages.start_this_checkout() };
    let stay = match uncommitted {
        0 => String::new(),
        files => messages.start_uncommitted_stay(files as u64),
    };
    format!("{}{stay}", words::branch(branch))
}

pub(super) fn limits(asked: &Request, payer: Option<&str>, messages: Messages) -> String {
    let policy = &asked.spec.policy;
    let iterations = policy.cap.map(|cap| messages.iterations(u64::from(cap.iterations)));
    let limits = words::limits(policy, iterations, messages).join(&messages.comma());
    match (payer, policy.max_cost) {
        (Some(payer), None) if asked.spec.agents.iter().all(knows_its_cost) => {
            messages.limits_no_cost_limit(&limits, payer)
        }
        (Some(payer), None) => messages.limits_no_prices(&limits, payer),
        _ => limits,
    }
}
