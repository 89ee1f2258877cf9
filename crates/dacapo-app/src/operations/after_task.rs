//! What is done when a task is over, whoever drove it: a pull request where one was asked for, then a notification.
//!
//! The task has ended by then and its outcome is on record. Nothing that fails here changes it, or the exit code; it is
//! told, kept in the journal where that can be, and can be had again (`dacapo pr NAME`, `dacapo notify test`).

use std::time::Duration;

use dacapo_core::event::{Event, Notice, Outcome};
use dacapo_core::store::{Lock, TaskDir, note};
use dacapo_core::view::TaskView;

use super::run::Ended;
use crate::App;
use crate::error::Failure;
use crate::messages::{Messages, Text, say};
use crate::notify::{self, Patience};
use crate::present::notices;
use crate::pull_request::{Made, Offered, Plan, Wishes, program};

/// Somebody who watches a task at a terminal is told by the terminal, unless it took so long that they may be elsewhere.
const SHORT: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    /// Somebody at a terminal.
    AtTerminal,
    /// Perhaps nobody.
    Elsewhere,
}

/// What goes on after a task, as it happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AfterTask {
    /// Its branch is pushed.
    Pushing { branch: String, remote: String },
    /// Something about the pull request that is good to know.
    Remark(Text),
    /// The pull request is open.
    Opened { url: String },
    /// Something was not done, and why.
    Problem(Text),
}

impl Ended {
    /// Opens the pull request and tells people; `tell` hears what comes of it. The lock is given up in between: who waits for
    /// the task does not wait for a chat server.
    pub fn settle(self, app: &App, watched: Watched, tell: &mut dyn FnMut(&AfterTask)) {
        pull_request(app, &self, tell);
        let Ended { spec, dir, config, took, lock, .. } = self;
        lock.give_up();
        let watched = spec.foreground && watched == Watched::AtTerminal;
        if watched && took < SHORT {
            return;
        }
        let Ok(view) = TaskView::load(&dir, app.kinds) else { return };
        let channels = notify::channels(app, &config.notify);
        if channels.is_empty() {
            return;
        }
        let patience = if watched { Patience::Short } else { Patience::Long };
        let sent = notify::send(app, &channels, &notify::Message::of_task(app, &view, &spec), patience);
        for sent in sent.iter().filter(|sent| sent.error.is_some()) {
            let error = sent.error.as_deref().unwrap_or("");
            tell(&AfterTask::Problem(say(|m| m.notify_not_sent(sent.how, error))));
        }
        // Somebody may have taken the task up again already; then its record is theirs to write. Who does so just now waits.
        let Ok(lock) = dir.lock_briefly() else { return };
        for sent in sent {
            record(&dir, &lock, Event::Notified { how: sent.how.to_owned(), error: sent.error });
        }
    }
}

fn pull_request(app: &App, ended: &Ended, tell: &mut dyn FnMut(&AfterTask)) {
    if ended.spec.pull_request.is_none() {
        return;
    }
    let name = ended.spec.name.as_str();
    if ended.result.outcome != Outcome::Completed {
        tell(&AfterTask::Problem(say(|m| notices::told(&Notice::NoPullRequest, name, m))));
        record(&ended.dir, &ended.lock, Event::Notice(Notice::NoPullRequest));
        return;
    }
    let offered = Offered { spec: &ended.spec, dir: &ended.dir, config: &ended.config };
    let made = Plan::new(app, offered, &Wishes::default()).and_then(|plan| {
        tell(&AfterTask::Pushing { branch: plan.branch.clone(), remote: plan.remote.clone() });
        plan.carry_out().map(|made| (plan, made))
    });
    match made {
        Ok((plan, made)) => {
            if let Some(note) = plan.note() {
                tell(&AfterTask::Remark(note));
            }
            tell(&match &made {
                Made::Open { url, .. } => AfterTask::Opened { url: url.clone() },
                Made::PushedOnly { .. } => AfterTask::Problem(say(|m| told(&plan, &made, m))),
            });
            keep(&ended.dir, &ended.lock, &plan, &made);
        }
        Err(failure) => {
            let message = not_made(&failure, name);
            tell(&AfterTask::Problem(message.clone()));
            let message = message.english().to_owned();
            record(&ended.dir, &ended.lock, Event::Notice(Notice::PullRequestNotOpened { message }));
        }
    }
}

/// Puts what came of it into the journal of the task, whose lock the caller holds.
pub(super) fn keep(dir: &TaskDir, lock: &Lock, plan: &Plan, made: &Made) {
    let event = match made {
        Made::Open { url, cli, .. } => Event::PullRequest {
            url: url.clone(),
            branch: plan.branch.clone(),
            base: plan.base.clone(),
            cli: program(*cli).to_owned(),
        },
        Made::PushedOnly { .. } => {
            let message = told(plan, made, Messages::ENGLISH).replace('\n', " ");
            Event::Notice(Notice::PullRequestNotOpened { message })
        }
    };
    record(dir, lock, event);
}

pub fn told(plan: &Plan, made: &Made, messages: Messages) -> String {
    match made {
        Made::Open { url, already: true, .. } => messages.pr_already_open(url),
        Made::Open { url, already: false, .. } => messages.pr_opened(url),
        Made::PushedOnly { message, command } => {
            let command = command.as_ref().map_or_else(String::new, |command| format!("\n  {command}"));
            let message = message.in_words(messages);
            format!("{}{command}", messages.pr_pushed_only(&plan.branch, &plan.remote, message))
        }
    }
}

fn not_made(failure: &Failure, name: &str) -> Text {
    say(|m| {
        let message = failure.message.in_words(m).replace('\n', " ");
        let begins = m.pr_none("");
        let message = if message.starts_with(&begins) { message } else { m.pr_none(&message) };
        m.pr_tries_again(&message, name)
    })
}

/// What fails here is told and that is all: the task is over.
fn record(dir: &TaskDir, lock: &Lock, event: Event) {
    if let Err(error) = note(dir, lock, event) {
        tracing::warn!("{error}");
    }
}
