//! `dacapo takeover`: a person works in the agent's own interactive session, in the task's worktree; then the loop goes
//! on (S2).

use std::io::{self, IsTerminal as _};
use std::process::{Child, ExitStatus};

use dacapo_app::operations::takeover::{Afterwards, Now, TakenOver, With};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::print;
use crate::App;
use crate::args::Takeover;
use crate::error::Failure;
use crate::output::words::{DIM, WARN, count, paint};

pub(super) fn run(app: &App, args: &Takeover) -> Result<u8, Failure> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err(Failure::usage("takeover needs a terminal: a person works in it")
            .kept("everything; the task goes on"));
    }
    let taken = app.take_over(args.name.as_deref(), |name| {
        print(&paint(DIM, &format!("pausing {name}; what its agent has done is committed")));
    })?;
    let name = taken.name.clone();
    print(&paint(DIM, &format!("{} in {}", who(&taken.session.with), taken.place.display())));
    hold(&taken).map_err(|error| {
        Failure::failed(format!("cannot run {}: {error}", taken.session.argv[0].display()))
            .kept(format!("everything; task '{name}' is not running now"))
            .hint(format!("dacapo resume {name} goes on with it"))
    })?;
    let uncommitted = taken.record(app);
    if uncommitted > 0 {
        print(&format!("{}: part of the next iteration's commit", count(uncommitted, "uncommitted file")));
    }
    let afterwards = if args.no_resume { Afterwards::Leave } else { Afterwards::AsBefore };
    match taken.give_back(app, afterwards)? {
        Now::Ended(status) => {
            print(&format!("{name} had ended ({}): dacapo resume {name} \"what to add\"", status.as_str()));
        }
        Now::NotRunning => print(&format!("{name} is not running: dacapo resume {name} goes on with it")),
        Now::InBackground => {
            print(&paint(WARN, &format!("{name} goes on in the background; dacapo attach {name} shows it")));
        }
    }
    Ok(0)
}

fn who(with: &With) -> String {
    match with {
        With::Agent { name, continues: true } => format!("{name}, where it left off,"),
        With::Agent { name, continues: false } => format!("{name}, a new session,"),
        With::Shell { instead_of } => {
            let who = instead_of.as_deref().unwrap_or("the agent");
            format!("{who} has no interactive session that is known: a shell")
        }
    }
}

/// The agent has the terminal until it ends.
fn hold(taken: &TakenOver) -> io::Result<ExitStatus> {
    // Handled, not ignored: who is started does not inherit that. Ctrl-C is the agent's.
    for signal in [SIGINT, SIGQUIT] {
        signal_hook::flag::register(signal, std::sync::Arc::default())?;
    }
    let modes = rustix::termios::tcgetattr(io::stdin()).ok();
    let argv = &taken.session.argv;
    let child = std::process::Command::new(&argv[0])
        .args(&argv[1..])
        .current_dir(&taken.place)
        .env("PWD", &taken.place)
        .env("DACAPO_TASK", &taken.name)
        .env("DACAPO_WORKSPACE", &taken.place)
        .envs(taken.session.env.iter().map(|(name, value)| (name, value)))
        .spawn()?;
    let ended = wait(child);
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
