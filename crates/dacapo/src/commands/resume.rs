//! `dacapo resume`: goes on with any task that is not running (S10).

use dacapo_app::operations::background::Begun;
use dacapo_app::operations::resume::{Resume as How, Resumed};

use super::drive::drive;
use super::with_each;
use crate::args::{Resume, Show};
use crate::commands::Console;
use crate::error::Failure;
use crate::output::json;
use crate::question::{self, asking};
use crate::request::{Driven, count};

pub(super) fn run(app: &Console, args: &Resume) -> Result<u8, Failure> {
    let more = args.iter.as_deref().map(count).transpose()?;
    let words = args.prompt.join(" ");
    let follow_up = (!words.trim().is_empty()).then_some(words);
    let all = match &args.name {
        Some(names) => app.tasks(&names.split(',').map(str::to_owned).collect::<Vec<_>>())?,
        None => vec![app.task(None)?],
    };
    let how = How {
        more,
        follow_up,
        proof: args.proof.map(Into::into),
        // Several go on side by side, so none of them can have the terminal.
        background: args.spawn || all.len() > 1,
        agent_answers: question::answers(args.show, Driven::Here),
        ..How::default()
    };
    with_each(all, |(repo, dir)| {
        let resumed = asking(app, args.show, |answers| app.resume(&repo, &dir, &how, answers))?;
        goes_on(app, resumed, args.show)
    })
}

/// Drives a task that goes on here, or says that it goes on elsewhere.
pub(super) fn goes_on(app: &Console, resumed: Resumed, show: Show) -> Result<u8, Failure> {
    let (begun, dir) = match resumed {
        Resumed::Here(run) => return drive(app, *run, show),
        Resumed::InBackground { begun, dir } => (begun, dir),
    };
    if show.json {
        app.print(&json::status(&app.view(&dir)?));
    } else if !show.quiet {
        let name = dir.name();
        app.print(&match begun {
            Begun::Queued => app.messages.resumed_queued(&name),
            Begun::Running => app.messages.resumed_in_background(&name),
        });
    }
    Ok(0)
}
