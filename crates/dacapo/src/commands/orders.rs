//! `dacapo pause`, `tell`, `set`, `approve`, `reject`: what a person wants of a task.

use std::io::{self, Read as _};

use dacapo_app::operations::resume::GoesOn;
use dacapo_app::operations::send::{AnswerOutcome, Delivery, Lasting, PauseAt, Pausing, TellOutcome};
use dacapo_core::store::TaskDir;

use super::resume::goes_on;
use super::with_each;
use crate::args::{Approve, Pause, Reject, Set, Show, Tell};
use crate::commands::Console;
use crate::error::Failure;
use crate::messages::say;
use crate::output::json;
use crate::question::{self, asking};
use crate::request::Driven;

pub(super) fn pause(app: &Console, args: &Pause) -> Result<u8, Failure> {
    with_each(app.tasks(&args.names)?, |(_, dir)| {
        let pausing = app.pause(&dir, if args.now { PauseAt::Now } else { PauseAt::EndOfIteration })?;
        let name = dir.name();
        if args.json {
            app.print(&json::status(&app.view(&dir)?));
        } else if pausing == Pausing::Paused {
            app.print(&app.messages.pause_done(&name));
        } else if args.now {
            app.print(&app.messages.pause_soon(&name));
        } else {
            app.print(&app.messages.pause_after_iteration(&name));
        }
        Ok(0)
    })
}

pub(super) fn tell(app: &Console, args: &Tell) -> Result<u8, Failure> {
    let (_, dir) = app.task(Some(&args.name))?;
    if args.clear {
        return take_back(app, &dir);
    }
    let mut text = args.text.join(" ");
    if text == "-" {
        text.clear();
        io::stdin().lock().read_to_string(&mut text).map_err(|error| {
            let error = error.to_string();
            Failure::usage(say(|m| m.tell_stdin_unreadable(&error)))
        })?;
    }
    let TellOutcome { heard, once } =
        app.tell(&dir, &text, if args.once { Lasting::Once } else { Lasting::FromNowOn })?;
    let name = dir.name();
    app.print(&match heard {
        Delivery::Now if once => app.messages.tell_next_iteration(&name),
        Delivery::Now => app.messages.tell_every_iteration(&name),
        Delivery::Later if once => app.messages.tell_when_resumed(&name),
        Delivery::Later => app.messages.tell_from_when_resumed(&name),
    });
    Ok(0)
}

fn take_back(app: &Console, dir: &TaskDir) -> Result<u8, Failure> {
    let name = dir.name();
    app.print(&match app.untell(dir)? {
        Delivery::Now => app.messages.tell_cleared_from_next(&name),
        Delivery::Later => app.messages.tell_cleared(&name),
    });
    Ok(0)
}

pub(super) fn set(app: &Console, args: &Set) -> Result<u8, Failure> {
    let (_, dir) = app.task(Some(&args.name))?;
    let heard = app.set(&dir, &args.changes)?;
    let (name, what) = (dir.name(), args.changes.join(", "));
    app.print(&match heard {
        Delivery::Now => format!("{name}: {what}"),
        Delivery::Later => app.messages.set_when_resumed(&name, &what),
    });
    Ok(0)
}

pub(super) fn approve(app: &Console, args: &Approve) -> Result<u8, Failure> {
    let choice = args.choice.map(|number| number as usize);
    let show = Show::default();
    let goes_on = here(show);
    let given = asking(app, show, |answers| app.approve(&args.name, choice, goes_on, answers))?;
    took(app, &args.name, given, show)
}

pub(super) fn reject(app: &Console, args: &Reject) -> Result<u8, Failure> {
    let words = args.reason.join(" ");
    let reason = Some(words.trim().to_owned()).filter(|words| !words.is_empty());
    let show = Show::default();
    let goes_on = here(show);
    let given = asking(app, show, |answers| app.reject(&args.name, reason.clone(), goes_on, answers))?;
    took(app, &args.name, given, show)
}

/// It goes on the way it was started.
pub(super) fn here(show: Show) -> GoesOn {
    GoesOn { background: false, agent_answers: question::answers(show, Driven::Here) }
}

/// Says that a task has its answer, or goes on with it.
pub(super) fn took(app: &Console, name: &str, given: AnswerOutcome, show: Show) -> Result<u8, Failure> {
    match given {
        AnswerOutcome::Heard => app.print(&app.messages.answer_given(name)),
        AnswerOutcome::Resumed(resumed) => return goes_on(app, resumed, show),
        AnswerOutcome::Settled { .. } if show.json => {
            let (_, dir) = app.task(Some(name))?;
            app.print(&json::status(&app.view(&dir)?));
        }
        AnswerOutcome::Settled { finding } if !show.quiet => {
            app.print(&app.messages.answer_settled(finding, name));
        }
        AnswerOutcome::Settled { .. } => {}
    }
    Ok(0)
}
