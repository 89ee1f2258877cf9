//! The surfaces, and the programs `dacapo` and `dacapo-net`. What can be done is in `dacapo-app`, the engine in
//! `dacapo-core`; nothing here decides anything about a task.
//!
//! | modules | what they hold |
//! |---|---|
//! | `args`, `misunderstood` | the command line, and what is said when it is wrong |
//! | `commands` | one file per command: convert, call an operation, show the result |
//! | `output`, `terminal`, `question` | lines and JSON that never wait for their reader; keys; questions |
//! | `completion` | Tab completion, which asks this program |
//! | `tui` | the terminal app |
//! | `rehearsal`, `native` | the built-in agents: the scripted one and the small real one |
//! | `net` | `dacapo-net`: everything that needs HTTP, TLS or an async runtime |

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind;

use dacapo_app::messages::{Messages, say};
use dacapo_app::note::Notes;
use dacapo_app::present::legend;
use dacapo_core::engine::Kinds;
use dacapo_core::env::is_of_another_git;
use dacapo_core::process::{Guards, StopSignal, Supervision};

use crate::output::outlet::{LogOutlet, Outlet, Stream};

/// A line on standard error. `eprintln!` panics where that is a file on a full disk, or a pipe that nobody reads, and a
/// message that cannot be shown must not change the exit code.
macro_rules! complain {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(anstream::stderr(), $($words)*);
    }};
}

pub mod args;
pub mod commands;
pub mod completion;
mod misunderstood;
mod native;
pub mod net;
pub mod output;
mod question;
pub mod rehearsal;
pub mod terminal;
pub mod tui;

// The rooms of the application layer, under the names that commands know them by.
pub(crate) use dacapo_app::{
    App, agents, config, error, found_checks, inside_task, messages, milestones, new_files, notify,
    pull_request, request, trust,
};

/// Takes from a command that inherits our environment what would lead git to another repository.
fn scrub(command: &mut std::process::Command) -> &mut std::process::Command {
    let names = std::env::vars_os().map(|(name, _)| name);
    // What the user reads with is no other repository.
    for name in names.filter(|name| is_of_another_git(name) && name != "GIT_PAGER") {
        command.env_remove(name);
    }
    command
}

/// The process's own user: the one place where the environment and the current directory are read.
fn app() -> App {
    // A name that stays right when the file on disk is replaced.
    let program = if cfg!(target_os = "linux") {
        "/proc/self/exe".into()
    } else {
        std::env::current_exe().unwrap_or_else(|_| "dacapo".into())
    };
    let mut app = App {
        env: std::env::vars_os().filter(|(name, _)| !is_of_another_git(name)).collect(),
        cwd: std::env::current_dir().map_err(|error| error.to_string()),
        user_dir: etcetera::home_dir().ok(),
        program,
        supervision: Supervision::default(),
        kinds: Kinds::default(),
        messages: Messages::ENGLISH,
        notes: Notes::default(),
    };
    let guards = Guards::new(app.program.clone());
    let guards = app.home().map_or_else(|_| guards.clone(), |home| guards.clone().for_home(home.path()));
    app.supervision = app.supervision.under(&guards).stopped_by(&StopSignal::default());
    let messages = Messages::new(app.language());
    let messages = app.user_dir.as_deref().map_or(messages, |home| messages.at_home(home));
    app.messages = messages;
    app.notes = Notes::new(move |note| complain!("{}", dacapo_app::present::notes::line(note, messages)));
    app
}

pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    // Guards and built-in agents are our own program run again: before anything else is set up.
    if args.get(1).is_some_and(|word| word == dacapo_core::process::guard::ARGUMENT) {
        dacapo_core::process::guard::main();
    }
    // What our caller has open (a lock, a pipe that somebody reads to its end) is not for tasks that outlive it; what was
    // handed to us by number stays with us.
    dacapo_core::process::keep_descriptors_to_ourselves();
    dacapo_core::process::survive_file_size_limit();
    if args.get(1).is_some_and(|word| word == commands::RUN_ARGUMENT) {
        let log = start_log();
        let code = commands::run_in_background(&app(), &args[2..]);
        log.finish();
        return code;
    }
    if args.get(1).is_some_and(|word| word == dacapo_app::operations::act::ARGUMENT) {
        return act();
    }
    if let Some(code) = rehearsal::dispatch(&args[1..]).or_else(|| net::dispatch(&args[1..])) {
        return code;
    }
    completion::dispatch();
    if args.len() == 1 {
        return without_arguments(&args);
    }
    if matches!(args.get(1..), Some([help, topic]) if help == "help" && topic == "symbols") {
        print_at_the_end(Stream::Stdout, &format!("{}\n", legend::page(app().messages)));
        return ExitCode::SUCCESS;
    }
    if args::wants_all_help(&args) {
        return help(&args);
    }
    let json = args::want_json(&args);
    if let Err(error) = args::conceal(&args) {
        let messages = app().messages;
        complain!("{}{}", messages.label_note(), messages.held_out_in_arguments(&error.to_string()));
    }
    let args = match args::as_command(args::meant(args), |name| app().is_task(name)) {
        Ok(args) => args,
        Err(failure) => return report(&failure, app().messages, json),
    };
    let cli = match args::Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return not_understood(&error, &args),
    };
    match cli.color {
        args::Color::Auto => {}
        args::Color::Always => anstream::ColorChoice::Always.write_global(),
        args::Color::Never => anstream::ColorChoice::Never.write_global(),
    }
    let log = start_log();
    if let Some(directory) = &cli.directory
        && let Err(error) = std::env::set_current_dir(directory)
    {
        let (directory, error) = (directory.display().to_string(), error.to_string());
        let failure = error::Failure::usage(say(|m| m.command_directory(&directory, &error)))
            .hint(say(Messages::command_directory_must_exist));
        return report(&failure, app().messages, false);
    }
    let (json, only_reads) = (commands::wants_json(&cli.command), commands::only_reads(&cli.command));
    let app = commands::Console::new(app());
    let ended = commands::run(&app, cli.command);
    log.finish();
    match ended {
        // How a task ended says more than that it could not be shown.
        Ok(0) => app
            .unwritten()
            .map_or_else(|failure| report(&failure, app.messages, false), |()| ExitCode::SUCCESS),
        Ok(code) => ExitCode::from(code),
        Err(mut failure) => {
            if json {
                print_at_the_end(Stream::Stdout, &format!("{}\n", failure.to_json()));
            }
            // People do not fear for their work when a command only shows something.
            failure.kept = failure.kept.filter(|_| !only_reads);
            report(&failure, app.messages, false)
        }
    }
}

/// `dacapo` alone: the app at a terminal, the help elsewhere.
fn without_arguments(args: &[OsString]) -> ExitCode {
    let app = app();
    match tui::Seat::of(&app) {
        tui::Seat::Terminal => {
            // A line of the log in the middle of a screen helps nobody; one that goes elsewhere does.
            let log = (!std::io::stderr().is_terminal()).then(start_log);
            let ended = tui::run(&app);
            log.iter().for_each(LogOutlet::finish);
            match ended {
                Ok(code) => ExitCode::from(code),
                Err(failure) => report(&failure, app.messages, false),
            }
        }
        seat @ (tui::Seat::DumbTerminal | tui::Seat::Elsewhere) => {
            if seat == tui::Seat::DumbTerminal {
                complain!("{}{}\n", app.messages.label_note(), app.messages.tui_dumb_terminal());
            }
            match args::Cli::try_parse_from(args) {
                Ok(_) => ExitCode::SUCCESS,
                Err(error) => not_understood(&error, args),
            }
        }
    }
}

/// One operation for a surface that lives longer: the call on standard input, on standard output what happens and what came of it.
fn act() -> ExitCode {
    use std::io::Read as _;

    use dacapo_app::operations::act::Line;
    let log = start_log();
    let mut call = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut call);
    // A reader that is slow holds nothing up, and misses nothing.
    let outlet = Outlet::new(Stream::Stdout, None);
    let lines = outlet.clone();
    let say = move |line: &Line| {
        if let Ok(line) = serde_json::to_string(line) {
            lines.keep(format!("{line}\n").into_bytes());
        }
    };
    let code = app().answer_call(read.map_or(&[], |_| &call), say, &commands::halt_by_signals);
    outlet.finish();
    log.finish();
    ExitCode::from(code)
}

fn report(failure: &error::Failure, messages: Messages, json: bool) -> ExitCode {
    if json {
        print_at_the_end(Stream::Stdout, &format!("{}\n", failure.to_json()));
    }
    let plain = anstream::AutoStream::choice(&std::io::stderr()) == anstream::ColorChoice::Never;
    let text = format!("{}\n", failure.shown(messages));
    let text = if plain { anstream::adapter::strip_str(&text).to_string() } else { text };
    print_at_the_end(Stream::Stderr, &text);
    ExitCode::from(failure.exit_code())
}

/// Whoever has stopped reading is not waited for.
fn print_at_the_end(stream: Stream, text: &str) {
    let outlet = Outlet::new(stream, None);
    outlet.keep(text.as_bytes().to_vec());
    outlet.finish();
}

fn not_understood(error: &clap::Error, args: &[OsString]) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp => return help(args),
        ErrorKind::DisplayVersion => return shown(error.print()),
        _ => {}
    }
    let mut failure = misunderstood::misunderstood(error);
    let of_words = matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument);
    if of_words && !args::names_a_command(args) && !args.iter().any(|word| word == args::PROMPT) {
        // Which command was meant it knows better.
        if error.kind() == ErrorKind::InvalidSubcommand {
            failure.hints.clear();
        }
        failure.hints.push(args::not_a_prompt(args));
    }
    let json = args::want_json(args);
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // The help itself, on standard error. Where it cannot be shown, the exit code says it all the same.
        let _ = error.print();
        if json {
            print_at_the_end(Stream::Stdout, &format!("{}\n", failure.to_json()));
        }
        return ExitCode::from(failure.exit_code());
    }
    report(&failure, app().messages, json)
}

fn help(args: &[OsString]) -> ExitCode {
    use std::io::Write as _;
    shown(anstream::stdout().write_all(args::help_page(args).ansi().to_string().as_bytes()))
}

/// Whoever has stopped reading has read enough.
fn shown(printed: std::io::Result<()>) -> ExitCode {
    match printed {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            report(&commands::not_written(&error), app().messages, false)
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Logs go to standard error, by `DACAPO_LOG`, warnings and worse by default (L16).
fn start_log() -> LogOutlet {
    use tracing_subscriber::layer::SubscriberExt as _;
    use tracing_subscriber::util::SubscriberInitExt as _;
    let wanted = std::env::var("DACAPO_LOG").unwrap_or_else(|_| "warn".into());
    let (filter, problem) = match wanted.parse::<tracing_subscriber::filter::Targets>() {
        Ok(filter) => (filter, None),
        Err(error) => {
            (tracing_subscriber::filter::Targets::new().with_default(tracing::Level::WARN), Some(error))
        }
    };
    let log = LogOutlet::new();
    let writer = log.clone();
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .with_target(false);
    let _ = tracing_subscriber::registry().with(lines).with(filter).try_init();
    if let Some(error) = problem {
        tracing::warn!("DACAPO_LOG={wanted} is not understood ({error}): warnings and errors are shown");
    }
    log
}
