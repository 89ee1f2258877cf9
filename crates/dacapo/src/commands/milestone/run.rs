//! `dacapo milestone start`, `resume`, `approve`, `reject`, `abandon`.

use dacapo_app::operations::milestone::{ByItself, Chosen, ResumeMilestone as Resume, Start};

use crate::args::milestone::{
    AbandonMilestone, ApproveMilestone, RejectMilestone, ResumeMilestone, StartMilestone,
};
use crate::args::{Exec, Show};
use crate::commands::Console;
use crate::commands::drive::drive;
use crate::commands::orders::{here, took};
use crate::commands::resume::goes_on;
use crate::commands::spawn as in_background;
use crate::error::Failure;
use crate::output::json;
use crate::output::report;
use crate::question::{self, asking};
use crate::request::Driven;
use crate::request::milestone::Wish;

pub(super) fn start(app: &Console, args: &StartMilestone) -> Result<u8, Failure> {
    let driven = Driven::foreground(!args.spawn);
    let start = Start {
        wish: Wish {
            developer: args.developer.clone(),
            acceptor: args.acceptor.clone(),
            in_place: args.noworktree,
            pr: None,
            proof: args.proof.into(),
        },
        checks: args.check.clone(),
        driven,
        agent_answers: question::answers(args.show, driven),
    };
    if let Some(id) = &args.milestone {
        return begin(app, id, &start, Chosen::ByUser, args.show);
    }
    // That nothing is to be done is no error: nobody asked for a certain one.
    match app.next_milestone()? {
        ByItself::AtWork(name) => {
            say(app, args.show, &app.messages.milestones_at_work(&name));
            Ok(0)
        }
        ByItself::Resume(id) => {
            let as_it_was = only_for_a_new_one(args);
            if !as_it_was.is_empty() && !args.show.quiet {
                let flags = as_it_was.join(", ");
                let note = app.messages.milestones_flags_ignored(&id, &flags);
                complain!("{}{note}", app.messages.label_remark());
            }
            let how = Resume {
                guidance: None,
                refreeze: args.refreeze,
                rounds: None,
                background: args.spawn,
                agent_answers: question::answers(args.show, Driven::Here),
            };
            let resumed = asking(app, args.show, |answers| app.resume_milestone(&id, &how, answers))?;
            goes_on(app, resumed, args.show)
        }
        ByItself::Start(id) => begin(app, &id, &start, Chosen::ByItself, args.show),
        ByItself::Nothing => {
            say(app, args.show, &app.messages.milestones_none_to_start());
            Ok(0)
        }
    }
}

/// Flags that were given and say nothing about a milestone that was begun: who works on it, where, and what it is checked
/// by was decided then. Whoever lets `--auto` choose cannot know, so it is no error.
fn only_for_a_new_one(args: &StartMilestone) -> Vec<&'static str> {
    let flags = [
        ("--developer", args.developer.is_some()),
        ("--acceptor", args.acceptor.is_some()),
        ("--check", !args.check.is_empty()),
        ("--noworktree", args.noworktree),
    ];
    flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag).collect()
}

fn say(app: &Console, show: Show, words: &str) {
    if !show.json && !show.quiet {
        app.print(words);
    }
}

/// `dacapo spawn --milestone ID`.
pub(crate) fn spawn(app: &Console, id: &str, args: &Exec) -> Result<u8, Failure> {
    let start = Start {
        wish: Wish {
            in_place: args.noworktree,
            pr: args.pr.clone(),
            proof: args.proof_in().into(),
            ..Wish::default()
        },
        checks: args.check.clone(),
        driven: Driven::InBackground,
        agent_answers: question::answers(args.show, Driven::InBackground),
    };
    begin(app, id, &start, Chosen::ByUser, args.show)
}

fn begin(app: &Console, id: &str, start: &Start, chosen: Chosen, show: Show) -> Result<u8, Failure> {
    let made = asking(app, show, |answers| app.start_milestone(id, start, chosen, answers))?;
    if start.driven == Driven::InBackground {
        in_background::tell(app, &made.in_background(app)?, show)?;
        return Ok(0);
    }
    drive(app, made.here(), show)
}

pub(super) fn resume(app: &Console, args: &ResumeMilestone) -> Result<u8, Failure> {
    let words = args.guidance.join(" ");
    let how = Resume {
        guidance: (!words.trim().is_empty()).then_some(words),
        refreeze: args.refreeze,
        rounds: args.rounds,
        background: args.spawn,
        agent_answers: question::answers(args.show, Driven::Here),
    };
    let resumed = asking(app, args.show, |answers| app.resume_milestone(&args.milestone, &how, answers))?;
    goes_on(app, resumed, args.show)
}

pub(super) fn approve(app: &Console, args: &ApproveMilestone) -> Result<u8, Failure> {
    let finding = args.finding.map(|number| number as usize);
    let goes_on = here(args.show);
    let given =
        asking(app, args.show, |answers| app.approve_milestone(&args.milestone, finding, goes_on, answers))?;
    took(app, &args.milestone, given, args.show)
}

pub(super) fn reject(app: &Console, args: &RejectMilestone) -> Result<u8, Failure> {
    let words = args.reason.join(" ");
    let reason = Some(words.trim().to_owned()).filter(|words| !words.is_empty());
    let goes_on = here(args.show);
    let given = asking(app, args.show, |answers| {
        app.reject_milestone(&args.milestone, reason.clone(), goes_on, answers)
    })?;
    took(app, &args.milestone, given, args.show)
}

pub(super) fn abandon(app: &Console, args: &AbandonMilestone) -> Result<u8, Failure> {
    let seen = app.abandon_milestone(&args.milestone)?;
    match &seen.result {
        _ if args.json => app.print(&json::status(&seen)),
        Some(result) => app.print(&report::result(&seen, result, app.messages)),
        None => app.print(&app.messages.milestones_abandoned(&seen.name)),
    }
    Ok(0)
}
