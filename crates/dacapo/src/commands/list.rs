//! `dacapo list`: grouped by what needs the user.

use dacapo_core::event::Outcome;
use dacapo_core::store::TaskDir;
use dacapo_core::view::{Status, TaskView};

use super::{home, print, repository, unreadable};
use crate::args::List;
use crate::error::Failure;
use crate::output::words::{self, BAD, BOLD, DIM, GOOD, WARN, paint};

pub(super) fn run(args: &List) -> Result<u8, Failure> {
    let tasks: Vec<TaskDir> = if args.all {
        let repos = home()?
            .repos()
            .map_err(|error| Failure::failed(format!("cannot read the data directory: {error}")))?;
        repos.iter().flat_map(|repo| repo.tasks().unwrap_or_default()).collect()
    } else {
        let (_, data) = repository()?;
        data.tasks()
            .map_err(|error| Failure::failed(format!("cannot read {}: {error}", data.path().display())))?
    };
    let mut views = Vec::new();
    for dir in &tasks {
        match TaskView::load(dir) {
            Ok(view) => views.push(view),
            // One task that does not read must not hide the others.
            Err(error) => anstream::eprintln!("{}", unreadable(&error, dir)),
        }
    }
    views.sort_by_key(|view| (group(view), std::cmp::Reverse(view.created_at)));
    if args.json {
        print(&serde_json::to_string(&views).unwrap_or_default());
        return Ok(0);
    }
    if views.is_empty() {
        print("no tasks yet; dacapo exec \"what the agent is to do\" starts one");
        return Ok(0);
    }
    let width = views.iter().map(|view| view.name.len()).max().unwrap_or(0).min(40);
    for view in &views {
        print(&row(view, width, args.all));
    }
    print(&paint(DIM, &total(&views, args.all)));
    Ok(0)
}

fn group(view: &TaskView) -> u8 {
    match view.status {
        Status::Paused => 0,
        Status::Completed => 1,
        Status::Interrupted | Status::Failed | Status::Stopped | Status::Cancelled => 2,
        Status::Running | Status::Waiting => 3,
        Status::Queued => 4,
    }
}

fn row(view: &TaskView, width: usize, with_repo: bool) -> String {
    let (title, style) = match view.status {
        Status::Paused => ("NEEDS YOU", WARN),
        Status::Completed => ("READY", GOOD),
        Status::Interrupted => ("STOPPED", WARN),
        Status::Failed => ("STOPPED", BAD),
        Status::Stopped | Status::Cancelled => ("STOPPED", WARN),
        Status::Running | Status::Waiting => ("RUNNING", BOLD),
        Status::Queued => ("QUEUED", DIM),
    };
    let of = view.max_iterations.map_or_else(String::new, |max| format!("/{max}"));
    let at = format!("{}{of}", view.iteration);
    let cost = view.cost_usd.map_or_else(String::new, |cost| format!(", {}", words::money(cost)));
    let name = &view.name;
    let (what, next) = match (view.status, view.outcome) {
        (Status::Completed, _) if view.verified => (format!("✓ proven{cost}"), format!("dacapo diff {name}")),
        (Status::Completed, _) => (format!("finished, unverified{cost}"), format!("dacapo diff {name}")),
        (Status::Stopped, Some(Outcome::MaxReached)) => {
            (format!("{at}, not done{cost}"), format!("dacapo resume {name} --iter 5"))
        }
        (Status::Stopped, Some(outcome)) => {
            (format!("{at}, {}{cost}", word(outcome)), format!("dacapo resume {name}"))
        }
        (Status::Waiting, _) => {
            let until = view
                .waiting_until
                .map_or_else(String::new, |at| format!(" until {}", crate::output::log::clock(at)));
            (format!("{at}, waiting{until} (usage limit){cost}"), format!("dacapo logs -f {name}"))
        }
        (Status::Running | Status::Queued, _) => (format!("{at}{cost}"), format!("dacapo logs -f {name}")),
        (Status::Paused, _) => {
            let question =
                view.needs.as_ref().map_or_else(String::new, |needs| words::line(&needs.question, 60));
            (format!("{at}, {question}"), format!("dacapo status {name}"))
        }
        (status, _) => (format!("{at}, {}{cost}", status.as_str()), format!("dacapo resume {name}")),
    };
    // What is offered is looked at there.
    let next = view.pull_request.as_ref().filter(|_| view.status == Status::Completed).unwrap_or(&next);
    let repo = if with_repo { format!("  {}", view.repo) } else { String::new() };
    format!(
        "{}  {name:<width$}  {what:<34}  {}{repo}",
        paint(style, &format!("{title:<9}")),
        paint(DIM, next)
    )
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::TimeElapsed => "time is up",
        Outcome::BudgetExhausted => "budget used up",
        Outcome::Stalled => "no progress",
        _ => "stopped",
    }
}

fn total(views: &[TaskView], all: bool) -> String {
    let iterations: u64 = views.iter().map(|view| u64::from(view.iteration)).sum();
    let cost: f64 = views.iter().filter_map(|view| view.cost_usd).sum();
    let mut parts = vec![words::count(views.len() as u64, "task"), words::count(iterations, "iteration")];
    if cost > 0.0 {
        parts.push(words::money(cost));
    }
    parts.push(if all { "all repositories".into() } else { "this repository (--all: everywhere)".into() });
    parts.join(" · ")
}
