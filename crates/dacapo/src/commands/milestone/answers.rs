//! What a person decides at a pause: `dacapo milestone approve`, `reject`, `abandon` (M10).

use dacapo_core::event::{Command, Needs};
use dacapo_core::git::Repo;
use dacapo_core::store::{LockError, TaskDir};
use dacapo_core::view::{MilestoneView, Status, TaskView};

use super::run::begun;
use crate::args::Show;
use crate::args::milestone::{AbandonMilestone, ApproveMilestone, RejectMilestone};
use crate::commands::orders::write_down;
use crate::commands::resume::{GoOn, go_on, still_finishing, still_running};
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
        | Command::Untell
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

/// Yes to a review, or to what the Acceptor rejected: the milestone goes on with it. With a finding, to that one alone.
pub(crate) fn approve(
    repo: &Repo,
    dir: &TaskDir,
    needs: &Needs,
    finding: Option<usize>,
    show: Show,
) -> Result<u8, Failure> {
    if let Some(number) = finding {
        return settle(dir, number, show);
    }
    if !offers(needs, "approve") {
        return Err(nothing_to_approve(&view(dir)?));
    }
    let answers = vec![("dacapo approve", Command::Approve { choice: None })];
    go_on(repo, dir, GoOn { answers, at_once: needs.kind == "review", show, ..GoOn::default() })
}

/// Whether the pause can be answered by `dacapo WORD`: the machine says what it takes.
pub(super) fn offers(needs: &Needs, word: &str) -> bool {
    let said = |option: &String| {
        option.split_whitespace().find(|word| !matches!(*word, "dacapo" | "milestone")) == Some(word)
    };
    needs.options.iter().any(said)
}

/// One finding after the other can be settled, so nothing goes on by that: it is written down, as `tell` and `set` are.
fn settle(dir: &TaskDir, number: usize, show: Show) -> Result<u8, Failure> {
    let name = dir.name();
    let lock = dir.lock_briefly().map_err(|error| match error {
        LockError::Held => still_running(&name),
        LockError::Lingering => still_finishing(&name),
        LockError::Io { .. } => Failure::failed(error.to_string()),
    })?;
    let seen = view(dir)?;
    let needs = paused_for(&seen)?;
    if needs.kind == "review" {
        return Err(Failure::usage(format!("milestone '{name}' waits for a verdict on the whole of it"))
            .kept("everything; nothing was changed")
            .hint(format!("dacapo milestone approve {name}")));
    }
    seen.milestone.as_ref().map_or(Ok(()), |milestone| is_open(milestone, number))?;
    write_down(dir, &lock, "dacapo approve", &[Command::Approve { choice: Some(number) }])?;
    if show.json {
        print(&view(dir)?.to_json().to_string());
    } else if !show.quiet {
        print(&format!("R{number} of {name} is settled; dacapo milestone resume {name} goes on with it"));
    }
    Ok(0)
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
fn nothing_to_approve(seen: &TaskView) -> Failure {
    let name = &seen.name;
    let rounds = seen.milestone.iter().flat_map(|milestone| &milestone.history);
    let newest = rounds.filter_map(|round| Some((round, round.verdict.as_ref()?))).next_back();
    let failure = match newest {
        Some((round, verdict)) if verdict.accepted => {
            Failure::usage(format!("round {} of milestone '{name}' is accepted already", round.round))
        }
        Some((round, _)) if round.report.is_none() => Failure::usage(format!(
            "round {} of milestone '{name}' brought no report that could be accepted",
            round.round
        )),
        Some(_) | None => {
            Failure::usage(format!("milestone '{name}' has no verdict now that could be overruled"))
        }
    };
    failure
        .kept("everything; nothing was changed")
        .hint(format!("dacapo milestone resume {name} \"what to do\" goes on with guidance"))
        .hint(format!("dacapo milestone show {name} shows where it stands"))
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
    if !offers(needs, "reject") {
        let name = dir.name();
        let failure =
            Failure::usage(format!("milestone '{name}' is not up for your verdict: {}", needs.question))
                .kept("everything; nothing was changed")
                .hint(format!("dacapo milestone resume {name} \"what to do\" goes on with guidance"));
        return Err(match offers(needs, "approve") {
            true => failure.hint(format!("dacapo milestone approve {name} overrules the Acceptor")),
            false => failure,
        });
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
