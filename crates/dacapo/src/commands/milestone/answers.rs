//! What a person decides at a pause: `dacapo milestone approve`, `reject`, `abandon` (M10).

use dacapo_core::event::{Command, Needs};
use dacapo_core::git::Repo;
use dacapo_core::store::TaskDir;
use dacapo_core::view::{MilestoneView, Status, TaskView};

use super::run::begun;
use crate::args::Show;
use crate::args::milestone::{AbandonMilestone, ApproveMilestone, RejectMilestone};
use crate::commands::resume::{GoOn, go_on};
use crate::commands::{kill, print, view};
use crate::error::Failure;
use crate::output::report;

/// What a person had answered when a death kept it from being taken in: it still counts, while nobody says otherwise.
/// In a turn an answer is for its agent's question, and that is asked anew.
pub(crate) fn left(dir: &TaskDir, seen: &TaskView) -> Result<Vec<(&'static str, Command)>, Failure> {
    if seen.milestone.as_ref().is_none_or(|milestone| milestone.at_work.is_some()) {
        return Ok(Vec::new());
    }
    let letters = dir.inbox().look().map_err(|error| {
        Failure::failed(format!("the inbox of task '{}': {error}", dir.name()))
            .kept("everything; nothing was started")
    })?;
    let answers = letters.into_iter().filter_map(|letter| match letter.command {
        Command::Approve { .. } => Some(("dacapo approve", letter.command)),
        Command::Reject { .. } => Some(("dacapo reject", letter.command)),
        Command::Kill
        | Command::Abandon
        | Command::Pause { .. }
        | Command::Tell { .. }
        | Command::Set { .. }
        | Command::Refreeze { .. } => None,
    });
    Ok(answers.collect())
}

pub(super) fn approved(args: &ApproveMilestone) -> Result<u8, Failure> {
    let (repo, dir) = begun(&args.milestone)?;
    let needs = paused_for(&view(&dir)?)?;
    let finding = args.finding.map(|number| number as usize);
    approve(&repo, &dir, &needs, finding, args.show)
}

/// Yes to a review, or to what the Acceptor rejected; with a finding, to that one alone. The milestone goes on with it.
pub(crate) fn approve(
    repo: &Repo,
    dir: &TaskDir,
    needs: &Needs,
    finding: Option<usize>,
    show: Show,
) -> Result<u8, Failure> {
    let review = needs.kind == "review";
    let name = dir.name();
    if review && finding.is_some() {
        return Err(Failure::usage(format!("milestone '{name}' waits for a verdict on the whole of it"))
            .kept("everything; nothing was changed")
            .hint(format!("dacapo milestone approve {name}")));
    }
    if needs.kind == "resume" && finding.is_none() {
        return Err(Failure::usage(format!("milestone '{name}' was paused by a person and asks nothing"))
            .kept("everything; nothing was changed")
            .hint(format!("dacapo milestone resume {name} goes on with it")));
    }
    if !review && let Some(milestone) = &view(dir)?.milestone {
        match finding {
            Some(number) => is_open(milestone, number)?,
            None => is_to_overrule(milestone, &name)?,
        }
    }
    let answers = vec![("dacapo approve", Command::Approve { choice: finding })];
    go_on(repo, dir, GoOn { answers, at_once: review, show, ..GoOn::default() })
}

fn is_open(milestone: &MilestoneView, number: usize) -> Result<(), Failure> {
    let id = format!("R{number}");
    let open: Vec<&str> =
        milestone.findings.iter().filter(|finding| finding.open).map(|finding| finding.id.as_str()).collect();
    if open.contains(&id.as_str()) {
        return Ok(());
    }
    let failure = Failure::usage(format!("no finding {id} is open")).kept("everything; nothing was changed");
    Err(match open.as_slice() {
        [] => failure.hint("all findings are settled"),
        open => failure.hint(format!("open are {}", open.join(", "))),
    })
}

/// A round without a report that fits has nothing in it to accept, and one that was accepted needs no more.
fn is_to_overrule(milestone: &MilestoneView, name: &str) -> Result<(), Failure> {
    let Some(newest) = milestone.history.iter().rfind(|round| round.verdict.is_some()) else {
        return Ok(());
    };
    let round = newest.round;
    let failure = if newest.verdict.as_ref().is_some_and(|verdict| verdict.accepted) {
        Failure::usage(format!("round {round} of milestone '{name}' is accepted already"))
    } else if newest.report.is_none() {
        Failure::usage(format!(
            "round {round} of milestone '{name}' brought no report that could be accepted"
        ))
    } else {
        return Ok(());
    };
    Err(failure
        .kept("everything; nothing was changed")
        .hint(format!("dacapo milestone resume {name} \"what to do\" goes on with guidance"))
        .hint(format!("dacapo milestone show {name} shows where it stands")))
}

pub(super) fn rejected(args: &RejectMilestone) -> Result<u8, Failure> {
    let (repo, dir) = begun(&args.milestone)?;
    let needs = paused_for(&view(&dir)?)?;
    let words = args.reason.join(" ");
    let reason = Some(words.trim().to_owned()).filter(|words| !words.is_empty());
    reject(&repo, &dir, &needs, reason, args.show)
}

/// No to a review: the Developer hears why, and goes on.
pub(crate) fn reject(
    repo: &Repo,
    dir: &TaskDir,
    needs: &Needs,
    reason: Option<String>,
    show: Show,
) -> Result<u8, Failure> {
    if needs.kind != "review" {
        let name = dir.name();
        return Err(Failure::usage(format!("milestone '{name}' is rejected already: {}", needs.question))
            .kept("everything; nothing was changed")
            .hint(format!("dacapo milestone resume {name} \"what to do\" goes on with guidance"))
            .hint(format!("dacapo milestone approve {name} overrules the Acceptor")));
    }
    let answers = vec![("dacapo reject", Command::Reject { reason })];
    go_on(repo, dir, GoOn { answers, show, ..GoOn::default() })
}

pub(super) fn abandon(args: &AbandonMilestone) -> Result<u8, Failure> {
    let (_, dir) = begun(&args.milestone)?;
    let name = dir.name();
    if view(&dir)?.status == Status::Completed {
        return Err(Failure::usage(format!("milestone '{name}' is completed"))
            .kept("everything; nothing was changed")
            .hint(format!("dacapo drop {name} removes it; dacapo undo {name} brings it back")));
    }
    kill::abandon(&dir)?;
    let seen = view(&dir)?;
    match &seen.result {
        _ if args.json => print(&seen.to_json().to_string()),
        Some(result) => print(&report::result(&seen, result)),
        None => print(&format!("{name} is abandoned")),
    }
    Ok(0)
}

fn paused_for(seen: &TaskView) -> Result<Needs, Failure> {
    match &seen.needs {
        Some(needs) if seen.status == Status::Paused => Ok(needs.clone()),
        _ => {
            let name = &seen.name;
            let failure =
                Failure::usage(format!("milestone '{name}' asks nothing ({})", seen.status.as_str()))
                    .kept("everything; nothing was changed");
            // What it may have asked or been answered before is on record, and is not lost.
            let failure = match seen.status {
                Status::Interrupted => {
                    failure.hint(format!("dacapo milestone resume {name} goes on with it"))
                }
                _ => failure,
            };
            Err(failure.hint(format!("dacapo milestone show {name} shows where it stands")))
        }
    }
}
