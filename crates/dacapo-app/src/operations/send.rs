//! What a person wants of a task: that it pauses, hears something, has other limits, gets an answer. A task that runs finds it in its inbox; into the journal
//! of one that does not, it is written here, under the task's lock.

use std::time::Duration;

use dacapo_core::engine::{Kind, Kinds, NotThatKind};
use dacapo_core::event::{Choice, Command, Event, Needs, Received};
use dacapo_core::git::Repo;
use dacapo_core::spec::{Change, InvalidChange, random_hex};
use dacapo_core::store::{Lock, LockError, TaskDir, note};
use dacapo_core::view::Status;
use serde::{Deserialize, Serialize};

use super::kill::is_free_within;
use super::kind::{self, KindOperations};
use super::resume::{GoesOn, Resume, Resumed};
use crate::App;
use crate::error::{Failure, suggest};
use crate::messages::{command, say};
use crate::operations::tasks::{still_finishing, unreachable};
use crate::present::needs::commands;
use crate::present::words;
use crate::present::{errors, kind_words};
use crate::question::{Answers, NotYet};
use crate::request::{Budget, can_hold};

/// A pause ends the turn at work as a kill does.
const AT_ONCE: Duration = Duration::from_secs(30);

/// When the task learns of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// A process drives it.
    Now,
    /// No process drives the task: it is read when the task goes on.
    Later,
}

/// When a task is to pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseAt {
    Now,
    EndOfIteration,
}

/// Which iterations hear what a task is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lasting {
    /// Only the next one.
    Once,
    /// All from the next on.
    FromNowOn,
}

/// What came of a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pausing {
    Paused,
    /// It pauses after this iteration, or as soon as it can.
    Soon,
}

/// What came of telling a task something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TellOutcome {
    pub heard: Delivery,
    /// Only its next iteration hears it.
    pub once: bool,
}

/// What came of an answer to what a task asked.
#[derive(Debug)]
pub enum AnswerOutcome {
    /// The task's process waits for the answer, and gets it.
    Heard,
    /// It is on record, and nothing goes on by that: one of several findings.
    Settled { finding: usize },
    /// The task goes on with it.
    Resumed(Resumed),
}

impl App {
    /// Lets a task that runs pause, after this iteration or at once.
    pub fn pause(&self, dir: &TaskDir, when: PauseAt) -> Result<Pausing, Failure> {
        let name = dir.name();
        if !dir.is_driven().map_err(|error| unreachable(&name, &error))? {
            let status = self.view(dir)?.status;
            return Err(Failure::usage(say(|m| m.task_not_running(&name, &words::status(status, m))))
                .hint(say(|m| m.hint_resume_continues(&name))));
        }
        let now = when == PauseAt::Now;
        let put = dir.inbox().put("dacapo pause", Command::Pause { now });
        put.map_err(|error| unreachable(&name, &error))?;
        Ok(if now && is_free_within(dir, AT_ONCE) { Pausing::Paused } else { Pausing::Soon })
    }

    /// Tells the iterations of a task something, all from now on or the next one.
    pub fn tell(&self, dir: &TaskDir, text: &str, lasting: Lasting) -> Result<TellOutcome, Failure> {
        if text.trim().is_empty() {
            return Err(Failure::usage(say(|m| m.tell_nothing())).hint(say(|m| m.tell_example(&dir.name()))));
        }
        let once = lasting == Lasting::Once;
        let text = text.trim_end().to_owned();
        let heard = give(dir, "dacapo tell", &[Command::Tell { text, standing: !once }])?;
        // Agents that remember hear it once.
        let own = dir.spec().ok().and_then(|spec| self.kinds.view(&spec));
        Ok(TellOutcome { heard, once: once || own.is_some_and(|own| own.remembers_guidance()) })
    }

    /// Takes back what a task was told.
    pub fn untell(&self, dir: &TaskDir) -> Result<Delivery, Failure> {
        give(dir, "dacapo tell", &[Command::Untell])
    }

    /// Changes limits of a task, each `KEY=VALUE`.
    pub fn set(&self, dir: &TaskDir, changes: &[String]) -> Result<Delivery, Failure> {
        let spec = dir.spec().map_err(|error| Failure::failed(errors::text(&error)))?;
        let kind = self.kinds.find(&spec.kind).ok_or_else(|| {
            Failure::usage(NotThatKind::Unknown(spec.kind.clone()).to_string())
                .kept(say(|m| m.kept_nothing_changed()))
        })?;
        let mut commands = Vec::new();
        for change in changes {
            let (key, value) = change.split_once('=').ok_or_else(|| {
                let first = kind.limits().first().copied().unwrap_or("iter");
                Failure::usage(say(|m| m.set_not_key_value(change)))
                    .kept(say(|m| m.kept_nothing_changed()))
                    .hint(command(format_args!("set {} {first}=20", spec.name)))
            })?;
            let parsed = kind.change(key, value).map_err(|error| invalid(self.kinds, &error, kind, value))?;
            let budget = match parsed {
                Change::MaxCost(_) => Some(Budget::Cost),
                Change::MaxTokens(_) => Some(Budget::Tokens),
                _ => None,
            };
            // Whoever writes summaries and messages is paid, too.
            let paid = spec.agents.iter().chain(&spec.context.summary_by).chain(&spec.context.message_by);
            budget
                .map_or(Ok(()), |budget| can_hold(budget, paid))
                .map_err(|failure| failure.kept(say(|m| m.kept_nothing_changed())))?;
            commands.push(Command::Set { key: key.to_owned(), value: value.to_owned() });
        }
        give(dir, "dacapo set", &commands)
    }

    /// Yes to what a task asks, or this choice.
    pub fn approve(
        &self,
        name: &str,
        choice: Option<usize>,
        goes_on: GoesOn,
        answers: &Answers,
    ) -> Result<AnswerOutcome, NotYet> {
        let WaitingTask { repo, dir, needs, runs, own } = asked(self, name)?;
        if let Some(own) = own.filter(|_| !runs) {
            return own.approve(self, (&repo, &dir), choice, goes_on, answers);
        }
        if !runs {
            let approve =
                Resume { at_once: true, ..answered("dacapo approve", Command::Approve { choice }, goes_on) };
            return self.resume(&repo, &dir, &approve, answers).map(AnswerOutcome::Resumed);
        }
        if let Some(number) = choice
            && number > needs.choices.len()
        {
            let all = |messages| {
                let options = commands(&needs, &dir.name(), messages).into_iter().enumerate();
                options.map(|(at, option)| format!("{}: {option}", at + 1)).collect::<Vec<_>>().join(", ")
            };
            return Err(Failure::usage(say(|m| m.approve_no_choice(number)))
                .kept(say(|m| m.approve_kept_waits()))
                .hint(say(|m| m.approve_choices(&all(m))))
                .into());
        }
        Ok(answer(&dir, "dacapo approve", Command::Approve { choice })?)
    }

    /// No to what a task asks.
    pub fn reject(
        &self,
        name: &str,
        reason: Option<String>,
        goes_on: GoesOn,
        answers: &Answers,
    ) -> Result<AnswerOutcome, NotYet> {
        let WaitingTask { repo, dir, runs, own, .. } = asked(self, name)?;
        if let Some(own) = own.filter(|_| !runs) {
            return own.reject(self, (&repo, &dir), reason, goes_on, answers);
        }
        if !runs {
            let reject = answered("dacapo reject", Command::Reject { reason }, goes_on);
            return self.resume(&repo, &dir, &reject, answers).map(AnswerOutcome::Resumed);
        }
        Ok(answer(&dir, "dacapo reject", Command::Reject { reason })?)
    }
}

/// A task that waits for an answer.
struct WaitingTask {
    repo: Repo,
    dir: TaskDir,
    needs: Needs,
    /// Its process waits, in a turn of its agent; else it has paused for the answer.
    runs: bool,
    /// What its kind makes of an answer then.
    own: Option<&'static dyn KindOperations>,
}

fn asked(app: &App, name: &str) -> Result<WaitingTask, Failure> {
    let (repo, dir) = app.task(Some(name))?;
    let view = app.view(&dir)?;
    let own = kind::of(&view.kind);
    match view.needs {
        Some(needs) if view.status == Status::Running => {
            Ok(WaitingTask { repo, dir, needs, runs: true, own })
        }
        Some(needs) if view.status == Status::Paused && (own.is_some() || needs.offers(&Choice::Approve)) => {
            Ok(WaitingTask { repo, dir, needs, runs: false, own })
        }
        _ => {
            Err(Failure::usage(say(|m| m.approve_nothing_asked(&view.name, &words::status(view.status, m))))
                .kept(say(|m| m.kept_nothing_changed()))
                .hint(say(|m| m.status_shows_task(&view.name))))
        }
    }
}

/// A paused task goes on with an answer.
fn answered(by: &'static str, command: Command, goes_on: GoesOn) -> Resume {
    let GoesOn { background, agent_answers } = goes_on;
    Resume { orders: vec![(by, command)], background, agent_answers, ..Resume::default() }
}

fn answer(dir: &TaskDir, by: &str, command: Command) -> Result<AnswerOutcome, Failure> {
    dir.inbox().put(by, command).map_err(|error| unreachable(&dir.name(), &error))?;
    Ok(AnswerOutcome::Heard)
}

fn invalid(kinds: Kinds, error: &InvalidChange, kind: &dyn Kind, value: &str) -> Failure {
    let key = match error {
        InvalidChange::Key(key) => key,
        InvalidChange::Value { .. } => {
            return Failure::usage(errors::text(error)).kept(say(|m| m.kept_nothing_changed()));
        }
    };
    let failure = Failure::usage(say(|m| m.set_unknown_limit(key))).kept(say(|m| m.kept_nothing_changed()));
    if let Some((other, own)) = called_otherwise(kinds, key, value, kind) {
        return failure.hint(say(|m| {
            m.set_called_otherwise(key, &kind_words::name(other, m), &kind_words::name(kind.name(), m), own)
        }));
    }
    match suggest(key, kind.limits().iter().copied()) {
        Some(close) => failure.hint(say(|m| m.hint_did_you_mean(close))),
        None => failure.hint(say(|m| m.set_possible(&kind.limits().join(", ")))),
    }
}

/// The kind of task that knows the key, and what the same limit is called in this one.
fn called_otherwise(
    kinds: Kinds,
    key: &str,
    value: &str,
    kind: &dyn Kind,
) -> Option<(&'static str, &'static str)> {
    let others = kinds.all().iter().filter(|other| other.limits().contains(&key));
    others.filter_map(|other| Some((other.name(), other.change(key, value).ok()?))).find_map(
        |(name, meant)| {
            let own = kind.limits().iter().find(|own| kind.change(own, value) == Ok(meant));
            own.map(|own| (name, *own))
        },
    )
}

fn give(dir: &TaskDir, by: &str, commands: &[Command]) -> Result<Delivery, Failure> {
    let name = dir.name();
    // Not "is it driven?" followed by a write: a driver that starts in between would not know what was written behind
    // its back. Either we have the lock and write, or somebody has it and reads the inbox.
    let lock = match dir.lock_briefly() {
        Ok(lock) => lock,
        Err(LockError::Held) => {
            let inbox = dir.inbox();
            for command in commands {
                inbox.put(by, command.clone()).map_err(|error| unreachable(&name, &error))?;
            }
            return Ok(Delivery::Now);
        }
        Err(LockError::Lingering) => return Err(still_finishing(&name)),
        Err(error @ (LockError::Io { .. } | LockError::RenameUnfinished { .. })) => {
            return Err(Failure::failed(errors::text(&error)));
        }
    };
    if !dir.has_begun() {
        // Of a task that never began there is nothing to write behind.
        for command in commands {
            dir.inbox().put(by, command.clone()).map_err(|error| unreachable(&name, &error))?;
        }
        return Ok(Delivery::Later);
    }
    write_down(dir, &lock, by, commands)?;
    Ok(Delivery::Later)
}

/// Into the journal of a task that nobody drives.
pub(super) fn write_down(dir: &TaskDir, lock: &Lock, by: &str, commands: &[Command]) -> Result<(), Failure> {
    for command in commands {
        let received = Received { id: random_hex(8), by: by.to_owned(), command: command.clone() };
        note(dir, lock, Event::CommandReceived(received))
            .map_err(|error| Failure::failed(errors::text(&error)))?;
    }
    Ok(())
}
