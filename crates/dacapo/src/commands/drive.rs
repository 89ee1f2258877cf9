//! Driving a task in the foreground: signals, sinks, the exit code.

use dacapo_app::messages::Messages;
use dacapo_app::operations::after_task::{AfterTask, Watched};
use dacapo_app::operations::run::Run;
use dacapo_app::present::ends;
use dacapo_core::engine::{Control, Sink};
use dacapo_core::store::read_sealed;
use dacapo_core::task::agent_loop::PromiseRule;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::IsTerminal as _;

use crate::args::Show;
use crate::commands::Console;
use crate::error::Failure;
use crate::messages::{Text, say as text};
use crate::output::Fan;
use crate::output::human::Human;
use crate::output::jsonl::JsonLines;
use crate::output::log::Tracing;
use crate::output::words::{self, WARN, paint};

/// Drives the task to its end, and sees to what comes after; the exit code.
pub(super) fn drive(app: &Console, run: Run, show: Show) -> Result<u8, Failure> {
    let mut tracing = Tracing::taking_up(&run.spec, &run.dir, app.kinds);
    let mut json = show.json.then(|| JsonLines::new(run.dir.path()));
    let mut human = match show {
        Show { json: false, quiet: false } => {
            let mut promise = PromiseRule::of(&run.spec);
            // Where its journal does not read, the driver says so.
            let _ = read_sealed(&run.dir, |line| promise.see(&line));
            let mut human = Human::new(run.view(app)?, run.dir.path(), promise, app.messages);
            let in_words = |text: &Text| text.in_words(app.messages).to_owned();
            let why = run.agent_why.as_ref().map(in_words);
            let notes: Vec<String> = run.notes.iter().map(in_words).collect();
            human.preamble(&run.spec, why.as_deref(), &notes, run.more_iterations);
            Some(human)
        }
        _ => None,
    };
    if show.json {
        // Standard output belongs to the events; what the user should hear goes to the log.
        run.notes.iter().for_each(|note| tracing::warn!("{note}"));
        run.agent_why.iter().for_each(|why| tracing::info!("agent {} ({why})", run.spec.agents[0].name));
    }
    // Who is told by words for people does not need the log's; unless they asked for it.
    let logged = human.is_none() || app.var("DACAPO_LOG").is_some();
    let mut sinks: Vec<&mut dyn Sink> = Vec::new();
    sinks.extend(logged.then_some(&mut tracing as &mut dyn Sink));
    sinks.extend(json.as_mut().map(|json| json as &mut dyn Sink));
    sinks.extend(human.as_mut().map(|human| human as &mut dyn Sink));
    let mut fan = Fan(sinks);
    let ended = run.drive(app, &mut fan, |control| listen(control, AfterTheEnd::Exit));
    json.iter_mut().for_each(JsonLines::finish);
    human.iter_mut().for_each(Human::finish);
    let ended = ended?;
    let code = ended.exit_code();
    let watched = std::io::stdout().is_terminal() && !show.json;
    let watched = if watched { Watched::AtTerminal } else { Watched::Elsewhere };
    ended.settle(app, watched, &mut |news| after_task(show, news, app.messages));
    Ok(code)
}

/// What comes after the end of a task.
pub(super) fn after_task(show: Show, news: &AfterTask, messages: Messages) {
    match news {
        AfterTask::Pushing { branch, remote } => {
            say(show, &format!("  {}", messages.pr_pushing(branch, remote)));
        }
        AfterTask::Remark(note) => {
            let note = note.in_words(messages);
            say(show, &paint(WARN, &format!("  {}{note}", messages.label_remark())));
        }
        AfterTask::Opened { url } => say(show, &format!("  {}", messages.pr_opened(url))),
        // The JSON lines of a task end with its result, so there it goes to the log.
        AfterTask::Problem(message) if show.json || show.quiet => tracing::warn!("{message}"),
        AfterTask::Problem(message) => {
            for line in message.in_words(messages).lines() {
                say(show, &paint(WARN, &format!("  {}", words::line(line, words::WHOLE))));
            }
        }
    }
}

fn say(show: Show, line: &str) {
    use std::io::Write as _;
    if !show.json && !show.quiet {
        // A terminal that has gone does not matter any more.
        let _ = writeln!(anstream::stdout(), "{line}");
    }
}

/// What a first signal does that comes when the task is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterTheEnd {
    /// It ends the program: only a push or a notification is still under way, and either can be had again.
    Exit,
    /// Something else is going on that is told by itself.
    Nothing,
}

/// The first signal stops the task in good order, the second at once: our end is the guards' signal to end all.
pub(super) fn listen(control: Control, after: AfterTheEnd) -> Result<(), Failure> {
    listen_to(&[SIGINT, SIGTERM, SIGHUP], control, after)
}

/// The same, for these signals alone.
pub(super) fn listen_to(which: &[i32], control: Control, after: AfterTheEnd) -> Result<(), Failure> {
    let mut signals = Signals::new(which)
        .map_err(|error| Failure::failed(text(|m| m.signals_unavailable(&error.to_string()))))?;
    let listening = std::thread::Builder::new().name("signals".into()).spawn(move || {
        let mut stopping = false;
        for signal in signals.forever() {
            // Without clearing up: the end of our sockets makes the guards kill everything, and the journal says how
            // far it came.
            if std::mem::replace(&mut stopping, true) {
                std::process::exit(130);
            }
            let heard = control.stop(match signal {
                SIGINT => "Ctrl-C",
                SIGHUP => ends::TERMINAL_CLOSED,
                _ => "SIGTERM",
            });
            if !heard && after == AfterTheEnd::Exit {
                std::process::exit(130);
            }
        }
    });
    listening.map(drop).map_err(|error| no_more_threads(&error))
}

/// `ulimit -u`, `ulimit -v`, or a machine that is full.
pub(super) fn no_more_threads(error: &std::io::Error) -> Failure {
    Failure::failed(text(|m| m.thread_unavailable(&error.to_string())))
        .kept(text(Messages::thread_kept))
        .hint(text(Messages::thread_raise_limits))
}
