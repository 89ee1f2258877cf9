//! `dacapo takeover`: a person works in the agent's own interactive session, in the task's worktree; then the loop goes
//! on (S2).

use std::io::{self, IsTerminal as _};
use std::process::{Child, ExitStatus};

use dacapo_app::operations::takeover::{Afterwards, Now, TakenOver, With};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::args::Takeover;
use crate::commands::Console;
use crate::error::Failure;
use crate::messages::{Messages, say};
use crate::output::words::{self, DIM, WARN, paint};

pub(super) fn run(app: &Console, args: &Takeover) -> Result<u8, Failure> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err(
            Failure::usage(say(Messages::takeover_needs_terminal)).kept(say(Messages::kept_task_goes_on))
        );
    }
    let messages = app.messages;
    let taken = app.take_over(args.name.as_deref(), |name| {
        app.print(&paint(DIM, &messages.takeover_pausing(name)));
    })?;
    let name = taken.name.clone();
    app.print(&paint(DIM, &session(&taken, messages)));
    hold(app, &taken).map_err(|error| {
        let error = error.to_string();
        Failure::failed(say(|m| m.takeover_cannot_run(&taken.session.plan.name, &error)))
            .kept(say(|m| m.takeover_kept_not_running(&name)))
            .hint(say(|m| m.hint_resume_continues(&name)))
    })?;
    let uncommitted = taken.record(app);
    if uncommitted > 0 {
        app.print(&messages.takeover_uncommitted(uncommitted));
    }
    let afterwards = if args.no_resume { Afterwards::Leave } else { Afterwards::AsBefore };
    match taken.give_back(app, afterwards)? {
        Now::Ended(status) => {
            app.print(&messages.takeover_had_ended(&name, &words::status(status, messages)));
        }
        Now::NotRunning => app.print(&messages.takeover_not_running(&name)),
        Now::InBackground => {
            app.print(&paint(WARN, &messages.takeover_in_background(&name)));
        }
    }
    Ok(0)
}

fn session(taken: &TakenOver, messages: Messages) -> String {
    let place = messages.path(&taken.place);
    match &taken.session.with {
        With::Agent { name, continues: true } => messages.takeover_continued_session(name, &place),
        With::Agent { name, continues: false } => messages.takeover_new_session(name, &place),
        With::Shell { instead_of } => {
            let agent = instead_of.clone().unwrap_or_else(|| messages.takeover_the_agent());
            messages.takeover_shell(&agent, &place)
        }
    }
}

/// The agent has the terminal until it ends.
fn hold(app: &Console, taken: &TakenOver) -> io::Result<ExitStatus> {
    // Handled, not ignored: who is started does not inherit that. Ctrl-C is the agent's.
    for signal in [SIGINT, SIGQUIT] {
        signal_hook::flag::register(signal, std::sync::Arc::default())?;
    }
    let modes = rustix::termios::tcgetattr(io::stdin()).ok();
    let ended = wait(taken.session.plan.command(app).spawn()?);
    if let Some(modes) = modes {
        // One that was killed leaves the terminal as it had it.
        let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, &modes);
    }
    ended
}

/// Who ends us ends the agent first: the terminal is its.
fn wait(mut child: Child) -> io::Result<ExitStatus> {
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGHUP])?;
    let handle = signals.handle();
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    let passing_on = std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            let signal =
                if signal == SIGHUP { rustix::process::Signal::HUP } else { rustix::process::Signal::TERM };
            let _ = pid.map(|pid| rustix::process::kill_process(pid, signal));
        }
    });
    let ended = child.wait();
    handle.close();
    match passing_on {
        Ok(passing_on) => drop(passing_on.join()),
        // The session is what was asked for; a signal to us then leaves it to itself.
        Err(error) => tracing::warn!("signals were not passed on: {error}"),
    }
    ended
}
