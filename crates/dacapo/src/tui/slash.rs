//! What a line of the command line means: the same parser and the same words as in a shell.

use dacapo_app::operations::diff::DiffPart;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use dacapo_app::messages::say;
use dacapo_app::operations::act::Operation;
use dacapo_app::operations::list::Scope;
use dacapo_app::present::legend;

use super::effect::Pause;
use crate::App;
use crate::args::{self, Cli, Command, ConfigCommand};
use crate::commands;
use crate::config::{Timespan, Whose};
use crate::error::Failure;
use crate::misunderstood::misunderstood;
use crate::request::{self, TaskRequest};

/// Commands that only the app has.
const OWN: [&str; 4] = ["help", "quit", "exit", "q"];

/// Every command by every name that it has, such as `kill`, `stop`, `config set` and `spawn --list`.
pub fn commands() -> Vec<String> {
    let cli = Cli::command();
    let mut all: Vec<String> = OWN.iter().map(|name| (*name).to_owned()).collect();
    for command in cli.get_subcommands().filter(|command| !command.is_hide_set()) {
        for name in command.get_name_and_visible_aliases() {
            all.push(name.to_owned());
            let within = command.get_subcommands().filter(|command| !command.is_hide_set());
            let names = within.flat_map(clap::Command::get_name_and_visible_aliases);
            all.extend(names.map(|own| format!("{name} {own}")));
        }
    }
    all.extend(args::spawn_flags().map(|flag| format!("spawn {flag}")));
    all
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Meaning {
    /// These operations, one after the other.
    Do(Vec<Operation>),
    /// The same, but the user is asked first.
    Ask(Vec<Operation>),
    Home(Scope),
    Task(Option<String>),
    Log(Option<String>),
    Diff {
        task: Option<String>,
        part: DiffPart,
    },
    Settings,
    /// A page with what the program prints.
    Show(Vec<String>),
    /// A page with this text.
    Text(String),
    /// The program itself gets the terminal.
    Run {
        args: Vec<String>,
        pause: Pause,
    },
    Quit,
}

/// What a line stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// `/kill x`
    Command(Vec<String>),
    /// What the selected task is told.
    Text(String),
}

/// Where a command is given: the selected task is meant where none is named.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) directory: Option<PathBuf>,
    pub(crate) selected: Option<String>,
}

/// Reads a line: words behind a slash are a command, any other line is text.
pub(crate) fn parse(line: &str) -> Result<Line, Failure> {
    let line = line.trim();
    match line.strip_prefix('/') {
        Some(command) => split(command).map(Line::Command),
        None => Ok(Line::Text(line.to_owned())),
    }
}

/// Words as a shell splits them: quotes and backslashes, and nothing else.
pub(crate) fn split(line: &str) -> Result<Vec<String>, Failure> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '\\') => match chars.next() {
                Some(next) if quote.is_none() || matches!(next, '"' | '\\' | '$' | '`') => {
                    word.get_or_insert_default().push(next);
                }
                Some(next) => word.get_or_insert_default().extend(['\\', next]),
                None => word.get_or_insert_default().push('\\'),
            },
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(open) = quote {
        return Err(Failure::usage(say(|m| m.tui_quote_open(&open.to_string()))));
    }
    words.extend(word);
    Ok(words)
}

/// What words behind a slash mean.
pub(crate) fn meaning(app: &App, words: &[String], place: &Place) -> Result<Meaning, Failure> {
    match words.first().map(String::as_str) {
        None => return Ok(Meaning::Show(vec!["--help".into()])),
        Some("quit" | "exit" | "q") => return Ok(Meaning::Quit),
        Some("help") if words[1..] == ["symbols"] => return Ok(Meaning::Text(legend::page(app.messages))),
        // A manual page is written for `man`, which lays it out.
        Some("help" | "man") if !words.iter().any(|word| word.starts_with('-')) => {
            let of: Vec<String> = words[1..].iter().cloned().chain(["--help".to_owned()]).collect();
            return meaning(app, &of, place);
        }
        Some(_) => {}
    }
    let argv: Vec<OsString> =
        std::iter::once("dacapo".into()).chain(words.iter().map(OsString::from)).collect();
    let mut argv = args::meant(argv);
    let parsed = Cli::try_parse_from(&argv).or_else(|error| {
        // `/kill` alone is about the selected task.
        let missing = error.kind() == ErrorKind::MissingRequiredArgument && words.len() <= 2;
        let Some(task) = place.selected.as_ref().filter(|_| missing) else { return Err(error) };
        let with: Vec<OsString> = argv.iter().cloned().chain([task.into()]).collect();
        let cli = Cli::try_parse_from(&with).map_err(|_| error)?;
        argv = with;
        Ok(cli)
    });
    let words: Vec<String> = argv[1..].iter().filter_map(|word| word.to_str().map(str::to_owned)).collect();
    match parsed {
        Ok(cli) => of_command(app, &cli.command, words, place),
        // `/milestone` alone says what there is, as `/milestone --help` does.
        Err(error) if is_help(error.kind()) => Ok(Meaning::Text(error.render().to_string())),
        // Who wanted to search, as `/` does elsewhere, is told how; a command that was begun is named.
        Err(error) if error.kind() == ErrorKind::InvalidSubcommand && !begins_a_command(&words) => {
            let word = words.first().cloned().unwrap_or_default();
            Err(Failure::usage(say(|m| m.tui_no_command(&word)))
                .hint(say(|m| m.tui_ctrl_f_searches()))
                .hint(say(|m| m.tui_tab_completes())))
        }
        Err(error) => Err(misunderstood(&error)),
    }
}

fn is_help(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

fn begins_a_command(words: &[String]) -> bool {
    let Some(word) = words.first() else { return false };
    Cli::command().get_subcommands().any(|command| command.get_name().starts_with(word.as_str()))
}

fn of_command(app: &App, command: &Command, words: Vec<String>, place: &Place) -> Result<Meaning, Failure> {
    // What is written for programs is shown as it is.
    if commands::wants_json(command) {
        return Ok(Meaning::Show(words));
    }
    if let Some(operation) = command.own_operation() {
        return Ok(Meaning::Do(vec![operation]));
    }
    if let Some(meaning) = of_starting(app, command, &words, place)? {
        return Ok(meaning);
    }
    if let Some(meaning) = of_orders(command)? {
        return Ok(meaning);
    }
    Ok(of_showing(command, words, place))
}

/// Commands that begin work.
fn of_starting(
    app: &App,
    command: &Command,
    words: &[String],
    place: &Place,
) -> Result<Option<Meaning>, Failure> {
    let named = |name: &Option<String>| name.clone().or_else(|| place.selected.clone());
    Ok(Some(match command {
        Command::Spawn(args) if args.exec.dry_run => Meaning::Show(words.to_vec()),
        Command::Spawn(args) => match commands::offered(&args.exec) {
            Some(pr) => {
                let task = named(&pr.name).unwrap_or_default();
                Meaning::Do(vec![Operation::OpenPullRequest {
                    task,
                    title: None,
                    base: None,
                    draft: false,
                    allow_secret: false,
                }])
            }
            None => {
                let exec = commands::in_background(args.exec.clone());
                let request = TaskRequest { prompt: prompt(&exec)?, ..exec.task_request()? };
                Meaning::Do(vec![Operation::Start { request }])
            }
        },
        Command::Rerun(args) if args.flags.dry_run => Meaning::Show(words.to_vec()),
        Command::Rerun(args) => {
            commands::refuse_a_second_name(&args.task, &args.flags)?;
            let changes = TaskRequest { prompt: prompt(&args.flags)?, ..args.flags.task_request()? };
            Meaning::Do(vec![Operation::Rerun { task: args.task.clone(), changes }])
        }
        Command::Resume(args) => {
            let iter = args.iter.as_deref().map(request::count).transpose()?;
            let said = args.prompt.join(" ");
            let prompt = Some(said).filter(|said| !said.trim().is_empty());
            let proof = args.proof.map(Into::into);
            let names = named(&args.name).ok_or_else(nobody_meant)?;
            let resume =
                |task: &str| Operation::Resume { task: task.to_owned(), iter, prompt: prompt.clone(), proof };
            Meaning::Do(names.split(',').map(resume).collect())
        }
        Command::Merge(args) if args.dry_run => Meaning::Show(words.to_vec()),
        Command::Merge(args) => {
            let mut request = commands::merge_request(app, args)?;
            if args.names.is_none() && !args.ready {
                request.tasks = vec![place.selected.clone().ok_or_else(nobody_meant)?];
            }
            Meaning::Do(vec![Operation::Merge { request }])
        }
        Command::Open(args) if !args.print => {
            Meaning::Do(vec![Operation::Open { task: named(&args.name).ok_or_else(nobody_meant)? }])
        }
        Command::Takeover(args) => {
            let task = named(&args.name).ok_or_else(nobody_meant)?;
            Meaning::Do(vec![Operation::Takeover { task, no_resume: args.no_resume }])
        }
        Command::Pr(args) if args.dry_run => Meaning::Show(words.to_vec()),
        Command::Pr(args) => {
            let task = named(&args.name).ok_or_else(nobody_meant)?;
            let (title, base) = (args.title.clone(), args.base.clone());
            Meaning::Do(vec![Operation::OpenPullRequest {
                task,
                title,
                base,
                draft: args.draft,
                allow_secret: args.allow_secret,
            }])
        }
        // All others are looked at next.
        _ => return Ok(None),
    }))
}

/// Commands that want something of tasks.
fn of_orders(command: &Command) -> Result<Option<Meaning>, Failure> {
    let each = |names: &[String], order: &dyn Fn(String) -> Operation| {
        Meaning::Do(names.iter().cloned().map(order).collect())
    };
    let whose = |project: bool| if project { Whose::Project } else { Whose::User };
    Ok(Some(match command {
        Command::Kill(args) => {
            let kills = args.names.iter().cloned().map(|task| Operation::Kill { task }).collect();
            if args.ask { Meaning::Ask(kills) } else { Meaning::Do(kills) }
        }
        Command::Pause(args) => each(&args.names, &|task| Operation::Pause { task, now: args.now }),
        Command::Tell(args) if args.clear => Meaning::Do(vec![Operation::Untell { task: args.name.clone() }]),
        Command::Tell(args) => {
            let (task, text) = (args.name.clone(), args.text.join(" "));
            Meaning::Do(vec![Operation::Tell { task, text, once: args.once }])
        }
        Command::Set(args) => {
            let (task, changes) = (args.name.clone(), args.changes.clone());
            Meaning::Do(vec![Operation::Set { task, changes }])
        }
        Command::Approve(args) => {
            let choice = args.choice.map(|number| number as usize);
            Meaning::Do(vec![Operation::Approve { task: args.name.clone(), choice }])
        }
        Command::Reject(args) => {
            let reason = args.reason.join(" ");
            let reason = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
            Meaning::Do(vec![Operation::Reject { task: args.name.clone(), reason }])
        }
        Command::Rename(args) => {
            Meaning::Do(vec![Operation::Rename { task: args.name.clone(), name: args.new_name.clone() }])
        }
        Command::Drop(args) => Meaning::Do(vec![Operation::Drop { tasks: args.names.clone() }]),
        Command::Undo(args) if !args.list => Meaning::Do(vec![Operation::Undo { task: args.name.clone() }]),
        Command::Prune(args) if !args.dry_run => {
            let older_than = args.older_than.as_deref();
            let older_than = older_than.map(|text| request::duration("--older-than", text)).transpose()?;
            let older_than = older_than.map(Timespan::from);
            Meaning::Do(vec![Operation::Prune { older_than, all_dropped: args.dropped }])
        }
        Command::Config(args) => match &args.command {
            Some(ConfigCommand::Set { key, value, project }) => {
                let (key, value, file) = (key.clone(), value.clone(), whose(*project));
                Meaning::Do(vec![Operation::SetConfig { key, value, file }])
            }
            Some(ConfigCommand::Unset { key, project }) => {
                Meaning::Do(vec![Operation::UnsetConfig { key: key.clone(), file: whose(*project) }])
            }
            Some(ConfigCommand::Edit { project }) => {
                let mut args = vec!["config".to_owned(), "edit".to_owned()];
                args.extend(project.then(|| "--project".to_owned()));
                Meaning::Run { args, pause: Pause::IfFailed }
            }
            Some(ConfigCommand::Show { .. }) | None => Meaning::Settings,
            Some(ConfigCommand::Schema) => Meaning::Show(vec!["config".into(), "schema".into()]),
            Some(ConfigCommand::Path) => Meaning::Show(vec!["config".into(), "path".into()]),
        },
        Command::Init(args) => Meaning::Do(vec![Operation::Init { import: args.import.clone() }]),
        Command::Trust(args) if args.revoke.is_some() => {
            let hash = args.revoke.clone().flatten();
            Meaning::Do(vec![Operation::RevokeTrust { hash }])
        }
        // All others are looked at next.
        _ => return Ok(None),
    }))
}

/// Commands that show something, or take the terminal.
fn of_showing(command: &Command, words: Vec<String>, place: &Place) -> Meaning {
    let named = |name: &Option<String>| name.clone().or_else(|| place.selected.clone());
    let with_name = |name: &Option<String>| {
        let mut args = words.clone();
        args.extend(named(name).filter(|_| name.is_none()));
        args
    };
    if let Command::List(args) = command {
        // The list of the app has no column for it.
        if args.size {
            return Meaning::Show(words);
        }
        return Meaning::Home(if args.all { Scope::Everywhere } else { Scope::Repository });
    }
    if let Command::Status(args) = command {
        return Meaning::Task(named(&args.name));
    }
    if let Command::Wait(args) = command {
        return Meaning::Task(named(&args.names.first().cloned()));
    }
    if let Command::Logs(args) = command {
        let plain = args.turn.is_none() && args.check.is_none() && !args.stderr && args.since.is_none();
        return if plain { Meaning::Log(named(&args.name)) } else { Meaning::Show(with_name(&args.name)) };
    }
    if let Command::Diff(args) = command {
        let (task, part) = (named(&args.name), args.part());
        return if args.stat { Meaning::Show(with_name(&args.name)) } else { Meaning::Diff { task, part } };
    }
    let (args, pause) = match command {
        Command::Attach(args) => (with_name(&args.name), Pause::ForEnter),
        // They run in the foreground, or ask.
        Command::Exec(_) | Command::Demo(_) | Command::Trust(_) => (words, Pause::ForEnter),
        _ if words.iter().any(|word| word == "--edit") => (words, Pause::IfFailed),
        // Any other command, also one that is yet to come, is shown as what it prints.
        _ => return Meaning::Show(words),
    };
    Meaning::Run { args, pause }
}

/// The prompt of a task that is started here: standard input is the keyboard of the app.
fn prompt(args: &args::Exec) -> Result<Option<String>, Failure> {
    if args.prompt.len() == 1 && args.prompt[0] == "-" {
        return Err(Failure::usage(say(|m| m.tui_no_stdin())).hint(say(|m| m.tui_prompt_file_instead())));
    }
    args.read_prompt()
}

fn nobody_meant() -> Failure {
    Failure::usage(say(|m| m.tui_no_task_selected()))
}

#[cfg(test)]
mod tests;
