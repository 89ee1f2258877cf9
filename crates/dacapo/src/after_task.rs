//! What is done when a task is over, whoever drove it: a pull request where one was asked for, then a notification.
//!
//! The task has ended by then and its outcome is on record. Nothing that fails here changes it, or the exit code; it is
//! told, kept in the journal where that can be, and can be had again (`dacapo pr NAME`, `dacapo notify test`).

use std::io::IsTerminal as _;
use std::time::Duration;

use dacapo_core::event::{Event, Outcome};
use dacapo_core::spec::TaskSpec;
use dacapo_core::store::{Lock, TaskDir, note};
use dacapo_core::view::TaskView;

use crate::args::Show;
use crate::config::Config;
use crate::error::Failure;
use crate::notify::{self, Patience};
use crate::output::words::{self, WARN, paint};
use crate::pull_request::{Made, Offered, Plan, Wishes, program};

/// Somebody who watches a task at a terminal is told by the terminal, unless it took so long that they may be elsewhere.
const SHORT: Duration = Duration::from_secs(60);

/// A task that was driven to its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended<'a> {
    /// What was asked.
    pub(crate) spec: &'a TaskSpec,
    /// Its record.
    pub(crate) dir: &'a TaskDir,
    /// The settings as they were before the task began: an agent may have written others since.
    pub(crate) config: &'a Config,
    /// How it was shown.
    pub(crate) show: Show,
    /// How long this process drove it.
    pub(crate) took: Duration,
    /// How it ended.
    pub(crate) outcome: Outcome,
}

/// Opens the pull request and tells people. The lock is given up in between: who waits for the task does not wait for a
/// chat server.
pub(crate) fn after_task(ended: &Ended<'_>, lock: Lock) {
    pull_request(ended, &lock);
    lock.give_up();
    let at_a_terminal = ended.spec.foreground && std::io::stdout().is_terminal() && !ended.show.json;
    if at_a_terminal && ended.took < SHORT {
        return;
    }
    let Ok(view) = TaskView::load(ended.dir) else { return };
    let ways = notify::ways(&ended.config.notify);
    if ways.is_empty() {
        return;
    }
    let patience = if at_a_terminal { Patience::Short } else { Patience::Long };
    let sent = notify::send(&ways, &notify::Message::of_task(&view, ended.spec), patience);
    for sent in sent.iter().filter(|sent| sent.error.is_some()) {
        tell(
            ended.show,
            &format!("nobody was notified by {}: {}", sent.how, sent.error.as_deref().unwrap_or("")),
        );
    }
    // Somebody may have taken the task up again already; then its record is theirs to write. Who does so just now waits.
    let Ok(lock) = ended.dir.lock_briefly() else { return };
    for sent in sent {
        record(ended.dir, &lock, Event::Notified { how: sent.how.to_owned(), error: sent.error });
    }
}

fn pull_request(ended: &Ended<'_>, lock: &Lock) {
    if ended.spec.pull_request.is_none() {
        return;
    }
    let name = ended.spec.name.as_str();
    if ended.outcome != Outcome::Completed {
        let message =
            format!("no pull request: the task is not completed; dacapo pr {name} opens one all the same");
        tell(ended.show, &message);
        record(ended.dir, lock, Event::Notice { message });
        return;
    }
    let offered = Offered { spec: ended.spec, dir: ended.dir, config: ended.config };
    let made = Plan::new(offered, &Wishes::default()).and_then(|plan| {
        say(ended.show, &format!("  pushing {} to {} …", plan.branch, plan.remote));
        plan.carry_out().map(|made| (plan, made))
    });
    match made {
        Ok((plan, made)) => {
            if let Some(note) = plan.note() {
                say(ended.show, &paint(WARN, &format!("  note: {note}")));
            }
            match &made {
                Made::Open { url, .. } => say(ended.show, &format!("  pull request {url}")),
                Made::PushedOnly { .. } => tell(ended.show, &told(&plan, &made)),
            }
            keep(ended.dir, lock, &plan, &made);
        }
        Err(failure) => {
            let message = not_made(&failure, name);
            tell(ended.show, &message);
            record(ended.dir, lock, Event::Notice { message });
        }
    }
}

/// Puts what came of it into the journal of the task, whose lock the caller holds.
pub(crate) fn keep(dir: &TaskDir, lock: &Lock, plan: &Plan, made: &Made) {
    let event = match made {
        Made::Open { url, cli, .. } => Event::PullRequest {
            url: url.clone(),
            branch: plan.branch.clone(),
            base: plan.base.clone(),
            cli: program(*cli).to_owned(),
        },
        Made::PushedOnly { .. } => Event::Notice { message: told(plan, made).replace('\n', " ") },
    };
    record(dir, lock, event);
}

/// For people.
pub(crate) fn told(plan: &Plan, made: &Made) -> String {
    match made {
        Made::Open { url, already: true, .. } => {
            format!("pull request (already open, has the new commits) {url}")
        }
        Made::Open { url, already: false, .. } => format!("pull request {url}"),
        Made::PushedOnly { message, command } => {
            let command = command.as_ref().map_or_else(String::new, |command| format!("\n  {command}"));
            format!(
                "{} is pushed to {}, but no pull request is open: {message}{command}",
                plan.branch, plan.remote
            )
        }
    }
}

fn not_made(failure: &Failure, name: &str) -> String {
    let first = failure.message.replace('\n', " ");
    format!(
        "no pull request: {}; dacapo pr {name} tries again",
        first.trim_start_matches("no pull request: ")
    )
}

/// What fails here is told and that is all: the task is over.
fn record(dir: &TaskDir, lock: &Lock, event: Event) {
    if let Err(error) = note(dir, lock, event) {
        tracing::warn!("{error}");
    }
}

/// For who watches.
fn say(show: Show, line: &str) {
    use std::io::Write as _;
    if !show.json && !show.quiet {
        // A terminal that has gone does not matter any more.
        let _ = writeln!(anstream::stdout(), "{line}");
    }
}

/// For everybody: the JSON lines of a task end with its result, so there it goes to the log.
fn tell(show: Show, message: &str) {
    if show.json || show.quiet {
        tracing::warn!("{message}");
    } else {
        for line in message.lines() {
            say(show, &paint(WARN, &format!("  {}", words::line(line, words::WHOLE))));
        }
    }
}
