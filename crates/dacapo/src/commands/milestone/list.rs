//! `dacapo milestone list`: a line for each.

use std::io::Write as _;

use dacapo_app::messages::{Messages, say};
use dacapo_app::present::json::Versioned;
use unicode_width::UnicodeWidthStr as _;

use super::told;
use crate::args::milestone::ListMilestones;
use crate::commands::Console;
use crate::error::Failure;
use crate::milestones::{Catalog, Entry, Status};
use crate::output::words::{self, BOLD, DIM, GOOD, WARN, paint};

pub(super) fn run(app: &Console, args: &ListMilestones) -> Result<u8, Failure> {
    let (repo, data) = app.repository()?;
    let catalog = Catalog::read(&repo, &data, app.kinds)
        .map_err(|error| Failure::failed(say(|m| m.milestones_unreadable(&error.to_string()))))?;
    catalog.entries().for_each(|entry| super::clear_up(app, &repo, entry));
    if args.json {
        let all: Vec<_> = catalog.entries().map(|entry| Versioned::new(told::brief(entry))).collect();
        app.print(&serde_json::to_string(&all).unwrap_or_default());
        return Ok(0);
    }
    let entries: Vec<&Entry> = catalog.entries().collect();
    if entries.is_empty() {
        app.print(&app.messages.milestones_none_yet());
        return Ok(0);
    }
    app.print(&table(&entries, app.messages));
    for entry in entries {
        for problem in entry.problems() {
            let name = words::line(&entry.name, 80);
            let _ = writeln!(
                anstream::stderr(),
                "{}{name}: {}",
                app.messages.label_warning(),
                words::line(problem.in_words(app.messages), words::WHOLE)
            );
        }
    }
    Ok(0)
}

/// The columns are as wide as what is in them: nothing is cut but titles, which come last.
fn table(entries: &[&Entry], messages: Messages) -> String {
    let rows: Vec<[String; 7]> = entries.iter().map(|entry| row(entry, messages)).collect();
    let mut widths = [0; 7];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let mut lines = Vec::new();
    for (row, entry) in rows.iter().zip(entries) {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
            if width == 0 {
                continue;
            }
            let style = match at {
                0 => BOLD,
                1 => colour(entry),
                _ => anstyle::Style::new(),
            };
            line.push_str(&paint(style, cell));
            line.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width()) + 2));
        }
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}

/// Only proof is green.
fn colour(entry: &Entry) -> anstyle::Style {
    match entry.status() {
        Status::COMPLETED if entry.task().is_some_and(|told| told.view.verified) => GOOD,
        Status::COMPLETED => BOLD,
        Status::PAUSED | Status::AWAITING_REVIEW => WARN,
        Status::ABANDONED => DIM,
        Status::Pending | Status::IN_PROGRESS => anstyle::Style::new(),
    }
}

/// `login  in_progress  1/3 features  round 3 of 20  claude, codex  $1.20  Users can log in`
fn row(entry: &Entry, messages: Messages) -> [String; 7] {
    let features = told::features(entry).map_or_else(String::new, |(done, total)| match done {
        Some(done) => messages.milestones_features_of(done, total),
        None => messages.features(total as u64),
    });
    let round = told::rounds(entry).map_or_else(String::new, |(at, of)| match of {
        Some(of) => messages.milestones_round_of(at, of),
        None => messages.rounds(u64::from(at)),
    });
    let agents = match told::agents(entry) {
        (Some(developer), Some(acceptor)) => format!("{developer}, {acceptor}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => String::new(),
    };
    let wrong = entry.definition().is_none();
    let title = entry.definition().and_then(|definition| definition.title.clone());
    let title =
        title.unwrap_or_else(|| if wrong { messages.milestones_cannot_be_read() } else { String::new() });
    [
        words::line(&entry.name, 80),
        told::status(entry, messages),
        features,
        round,
        words::line(&agents, 60),
        told::cost(entry).map_or_else(String::new, words::money),
        words::line(&title, 80),
    ]
}
