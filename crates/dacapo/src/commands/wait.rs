//! `dacapo wait`: follows the tasks until nobody drives them any more.

use std::io;

use dacapo_app::messages::say;
use dacapo_core::follow::{Bell, Hub};
use dacapo_core::store::TaskDir;
use rustix::event::{PollFd, PollFlags, poll};

use super::with_each;
use crate::args::Wait;
use crate::commands::Console;
use crate::error::Failure;
use crate::output::json;
use crate::output::report;

pub(super) fn run(app: &Console, args: &Wait) -> Result<u8, Failure> {
    let all = if args.names.is_empty() { vec![app.task(None)?] } else { app.tasks(&args.names)? };
    let dirs: Vec<TaskDir> = all.into_iter().map(|(_, dir)| dir).collect();
    let several = dirs.len() > 1;
    // Of several it must be seen which one it is.
    let heading = |dir: &TaskDir| if several { format!("{}\n", dir.name()) } else { String::new() };
    let hub = Hub::new().map_err(|error| Failure::failed(say(|m| m.wait_cannot(&error.to_string()))))?;
    if args.any && several {
        let first = first_to_end(&hub, &dirs)?;
        return told(app, first, args, &heading(first));
    }
    with_each(dirs.iter().collect(), |dir| {
        hub.watch(dir).map_err(|error| cannot_wait(dir, &error))?.wait_until_at_rest();
        told(app, dir, args, &heading(dir))
    })
}

fn cannot_wait(dir: &TaskDir, error: &std::io::Error) -> Failure {
    let name = dir.name();
    Failure::failed(say(|m| m.wait_cannot_for(&name, &error.to_string())))
}

/// One that has ended already, in their order; else whichever comes to rest first.
fn first_to_end<'a>(hub: &Hub, dirs: &'a [TaskDir]) -> Result<&'a TaskDir, Failure> {
    let unable = |error: io::Error| Failure::failed(say(|m| m.wait_cannot_for_these(&error.to_string())));
    let bell = Bell::new().map_err(unable)?;
    let mut all = Vec::new();
    for dir in dirs {
        let watched = hub.watch(dir).map_err(|error| cannot_wait(dir, &error))?;
        watched.ring(&bell);
        all.push((dir, watched));
    }
    loop {
        // Before the look, so that what comes meanwhile rings again.
        bell.silence();
        if let Some((dir, _)) = all.iter().find(|(_, watched)| !watched.is_driven()) {
            return Ok(dir);
        }
        match poll(&mut [PollFd::new(&bell, PollFlags::IN)], None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(unable(error.into())),
        }
    }
}

/// How it ended; its exit code.
fn told(app: &Console, dir: &TaskDir, args: &Wait, heading: &str) -> Result<u8, Failure> {
    let view = app.view(dir)?;
    let Some(result) = &view.result else {
        return Err(app.interrupted(dir));
    };
    if args.json {
        app.print(&json::status(&view));
    } else {
        app.print(&format!("{heading}{}", report::result(&view, result, app.messages)));
    }
    Ok(result.outcome.exit_code())
}
