//! The log lines of a loop (S13), for `dacapo logs` and for `tracing`.

use std::sync::Arc;

use dacapo_core::engine::machine::Machine as _;
use dacapo_core::engine::{Activity, Kinds, Sink};
use dacapo_core::event::{
    AgentEvent, CheckPhase, CheckResult, Ended, Envelope, Event, IterationRecord, Outcome, StopReason,
    TaskResult, TurnEnd, TurnRecord,
};
use dacapo_core::spec::TaskSpec;
use dacapo_core::store::{TaskDir, read_sealed};
use dacapo_core::task::agent_loop::{AgentLoop, DEFAULT_PROMISE, Loop};

use super::kind_words::Unit;
use super::{ends, faults, words, workspace};
use crate::messages::Messages;

mod agent_lines;
mod milestone;
mod plain;

pub use agent_lines::AgentLines;

/// How loud a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Info,
    /// The loop ends by it.
    Error,
}

/// Turns events into log lines; it remembers what later lines need.
#[derive(Debug, Default)]
pub struct LogLines {
    looping: bool,
    max_iterations: Option<u32>,
    promise: Option<String>,
    succeeded: u32,
    failed: u32,
    session: Option<String>,
    /// Runs of checks so far.
    checks: u32,
    /// The failure that was told last.
    told: Option<String>,
    /// An iteration was begun.
    begun: bool,
    /// A turn after the first iteration failed without a word.
    never_began: bool,
    /// What decides whether the loop goes on, folded from the same events.
    machine: Option<AgentLoop>,
    /// It is a milestone, and where that stands.
    rounds: Option<milestone::Rounds>,
}

/// The last lines that a check printed which failed, and how to read the rest; it is the `number`th one that ran.
fn failed_check(check: &CheckResult, number: u32) -> Vec<String> {
    const LINES: usize = 5;
    if check.passed() {
        return Vec::new();
    }
    let said: Vec<String> = check.tail.lines().map(|line| words::line(line, 500)).collect();
    let said: Vec<String> = said.into_iter().filter(|line| !line.is_empty()).collect();
    let last = said.len().saturating_sub(LINES);
    let telling = words::line(&check.telling_line(), 500);
    let telling = (last > 0 && !said[last..].contains(&telling)).then(|| format!("  {telling}"));
    let mut out: Vec<String> = telling.into_iter().collect();
    out.extend(said[last..].iter().map(|line| format!("  {line}")));
    out.extend((last > 0).then(|| format!("  (all of it: dacapo logs --check {number})")));
    out
}

impl LogLines {
    /// Of this task; a milestone needs to be known as one.
    pub fn for_task(spec: &TaskSpec, kinds: Kinds) -> Self {
        let is_loop = spec.kind == Loop::NAME;
        Self {
            looping: is_loop && spec.policy.looping,
            max_iterations: spec.policy.cap.map(|cap| cap.iterations),
            promise: spec.policy.until.clone(),
            machine: is_loop.then(|| AgentLoop::new(Arc::new(spec.clone()))),
            rounds: milestone::Rounds::of(spec, kinds),
            ..Self::default()
        }
    }

    /// The loop is there, by the words of the formats.
    fn registered(&self, task: &str) -> [String; 2] {
        let (max, promise) = (self.of(), &self.promise);
        [
            format!("Registering loop for task {task}: max_iterations={max}, completion_promise={promise:?}"),
            format!("Registered loop state for task {task}: max_iterations={max}"),
        ]
    }

    /// The lines for an event.
    pub fn lines(&mut self, line: &Envelope) -> Vec<(Level, String)> {
        if let Some(rounds) = &mut self.rounds {
            rounds.see(line);
            self.max_iterations = rounds.most();
        }
        if let Some(machine) = &mut self.machine {
            machine.apply(line);
            self.max_iterations = machine.most_iterations();
        }
        let mut out = Vec::new();
        let mut info = |text: String| out.push((Level::Info, text));
        let task = &line.task;
        match &line.event {
            Event::TaskCreated { max_iterations, completion_promise, looping, .. } => {
                self.looping = *looping;
                self.max_iterations = *max_iterations;
                self.promise.clone_from(completion_promise);
                if *looping {
                    self.registered(task).into_iter().for_each(info);
                }
            }
            Event::Resumed { pid, follow_up, .. } => {
                info(format!("Task {task} resumed (pid {pid})"));
                if let Some(text) = follow_up {
                    info(format!("Follow-up: {}", words::line(text, 200)));
                }
                if self.looping {
                    self.registered(task).into_iter().for_each(info);
                }
            }
            Event::WorkspaceFailed { problems } => {
                let message = workspace::all(problems, Messages::ENGLISH);
                let what = if self.begun && self.looping { " for loop follow-up" } else { "" };
                out.push((Level::Error, format!("Failed to prepare workspace{what}: {message}")));
                self.told = Some(message);
            }
            Event::UntrackedTouched(touched) => {
                let unit = if self.rounds.is_some() { Unit::Round } else { Unit::Iteration };
                super::untracked::touched_now(touched, unit, Messages::ENGLISH).into_iter().for_each(info);
            }
            Event::CheckFinished(check) => {
                let took = words::duration(std::time::Duration::from_millis(check.duration_ms));
                let what = match check.phase {
                    CheckPhase::Proof => "Proof",
                    CheckPhase::Originals => "Proof with the tests as they were",
                    CheckPhase::HeldOut => "Held-out check",
                    CheckPhase::Baseline | CheckPhase::Iteration => "Check",
                };
                info(format!("{what} `{}`: {} ({took})", check.command, check.ending()));
                self.checks += 1;
                failed_check(check, self.checks).into_iter().for_each(&mut info);
                if !check.changed_files.is_empty() {
                    info(format!(
                        "The check changed files (not committed): {}",
                        check.changed_files.join(", ")
                    ));
                }
            }
            Event::IterationStarted { iteration, .. } => {
                self.begun = true;
                info(format!("Iteration {iteration}: Starting..."));
            }
            Event::TurnStarted { iteration, continued, session, .. } => {
                self.session.clone_from(session);
                if let Some(rounds) = &self.rounds {
                    info(rounds.turn(iteration + 1, *continued));
                } else if *continued {
                    info(format!("Starting loop follow-up for task {task} (iteration {iteration})"));
                }
            }
            Event::TurnFinished(record) => self.turn_lines(record).into_iter().for_each(info),
            Event::IterationFinished(record) => {
                self.iteration_lines(task, record).into_iter().for_each(info);
            }
            Event::TaskFinished(result) => out.extend(self.finished(task, result)),
            Event::Own(step) => milestone::step(step).into_iter().for_each(info),
            Event::TaskStarted { .. }
            | Event::WorkspaceReady { .. }
            | Event::PortsLeased { .. }
            | Event::RoomTested(_)
            | Event::FilesIncluded { .. }
            | Event::UntrackedFound(_)
            | Event::SetupFinished(_)
            | Event::ProofStarted { .. }
            | Event::ProofUnavailable { .. }
            | Event::ProofFailed { .. }
            | Event::Written(_)
            | Event::CommitIntent(_)
            | Event::NoCommit(_)
            | Event::Committed { .. }
            | Event::LimitKnown(_)
            | Event::Waiting { .. }
            | Event::WaitOver
            | Event::AgentChanged { .. }
            | Event::Asked { .. }
            | Event::Answered
            | Event::Paused { .. }
            | Event::Notice(_)
            | Event::RecordAltered { .. }
            | Event::StopRequested { .. }
            | Event::CommandReceived(_)
            | Event::Queued
            | Event::Dequeued
            | Event::MergeIntent { .. }
            | Event::Renamed { .. }
            | Event::TakenOver { .. }
            | Event::MergeUndone { .. }
            | Event::Merged { .. }
            | Event::PullRequest { .. }
            | Event::Notified { .. } => plain::lines(line).into_iter().for_each(info),
        }
        out
    }

    fn turn_lines(&mut self, record: &TurnRecord) -> Vec<String> {
        let mut out = Vec::new();
        if record.promise {
            let promise = self.promise.as_deref().unwrap_or(DEFAULT_PROMISE);
            out.push(format!("Completion promise '{promise}' detected in output"));
        }
        out.extend(record.blocked.as_ref().map(|why| format!("Agent is blocked: {}", words::line(why, 500))));
        self.told = None;
        self.never_began =
            record.iteration > 0 && record.output_bytes == 0 && matches!(record.end, TurnEnd::Failed { .. });
        match &record.end {
            TurnEnd::Failed { fault, .. } => {
                let message = faults::told(fault, Messages::ENGLISH);
                out.push(format!("Agent failed: {message}"));
                let said = record.stderr_tail.as_deref().unwrap_or_default();
                out.extend(said.lines().map(|line| format!("  stderr: {}", words::line(line, 500))));
                self.told = Some(message);
            }
            TurnEnd::Limit { message, .. } => out.push(format!("Usage limit: {message}")),
            TurnEnd::Cancelled => out.push("Agent stopped: cancelled".into()),
            TurnEnd::Budget => out.push("Agent stopped: budget used up".into()),
            TurnEnd::Interrupted if self.rounds.is_some() => {
                out.push("Turn interrupted: the round goes on".into());
            }
            TurnEnd::Interrupted => out.push("Turn interrupted: the iteration runs again".into()),
            TurnEnd::Done => {}
        }
        out
    }

    fn iteration_lines(&mut self, task: &str, record: &IterationRecord) -> Vec<String> {
        let mut out = Vec::new();
        if record.success {
            self.succeeded += 1;
        } else {
            self.failed += 1;
            // Of a turn that failed by itself the reason stands there already.
            if let (Ended::Failure, Some(error)) = (record.outcome, faults::all(&record.faults, Messages::ENGLISH))
                && self.told.as_ref() != Some(&error)
                // Of a round its verdict.
                && self.rounds.is_none()
            {
                out.push(format!("Iteration {} failed: {error}", record.iteration));
            }
        }
        if !record.summary.is_empty() {
            let summary = words::line(&record.summary, 500);
            out.push(format!("Iteration {} summary: {summary}", record.iteration));
        }
        let number = record.iteration + 1;
        out.push(format!(
            "=== Iteration {number} complete ({} succeeded, {} failed) ===",
            self.succeeded, self.failed
        ));
        if self.looping {
            let can_continue = self.max_iterations.is_none_or(|max| number < max)
                && !self.machine.as_ref().is_some_and(AgentLoop::ends_now);
            out.push(format!(
                "Loop iteration {number} of {} for task {task} (can_continue={can_continue})",
                self.of()
            ));
        }
        out
    }

    fn of(&self) -> String {
        self.max_iterations.map_or_else(|| "ongoing".to_owned(), |max| max.to_string())
    }

    fn finished(&self, task: &str, result: &TaskResult) -> Vec<(Level, String)> {
        let mut out = Vec::new();
        if self.looping {
            let reason = match result.stop_reason {
                StopReason::Promise if self.rounds.is_some() => Some("the whole milestone is accepted"),
                StopReason::Promise => Some("completion promise detected"),
                StopReason::Checks => Some("checks passed"),
                StopReason::Iterations => Some("max iterations reached"),
                StopReason::Time => Some("time elapsed"),
                StopReason::Budget => Some("budget exhausted"),
                StopReason::Stall => Some("no progress"),
                StopReason::Failures => Some("too many failures in a row"),
                StopReason::LimitWait => Some("waiting for the usage limit would take too long"),
                StopReason::PermanentError
                | StopReason::SetupFailed
                | StopReason::Cancelled
                | StopReason::Abandoned
                | StopReason::NeedsPerson => None,
            };
            if let Some(reason) = reason {
                out.push((Level::Info, format!("Loop complete: {reason} for task {task}")));
            }
            if result.outcome == Outcome::Cancelled {
                out.push((Level::Info, format!("Loop cancelled: execution was cancelled for task {task}")));
                out.push((Level::Info, format!("Clearing loop state for task {task} due to stop")));
            }
        }
        if let (Outcome::Failed, Some(detail)) = (result.outcome, &result.detail) {
            let message = ends::detail(detail, task, Messages::ENGLISH);
            let follow_up =
                self.looping && self.never_began && result.stop_reason == StopReason::PermanentError;
            if follow_up {
                out.push((Level::Error, format!("Failed to start loop follow-up: {message}")));
            } else if self.told.as_ref() != Some(&message) || result.stop_reason != StopReason::SetupFailed {
                out.push((Level::Error, message));
            }
        }
        if self.looping {
            out.push((Level::Info, format!("Removed loop state for task {task}")));
        }
        out
    }
}

/// `14:05:09`, by the user's own clock.
pub fn clock(at: jiff::Timestamp) -> String {
    at.to_zoned(jiff::tz::TimeZone::system()).strftime("%H:%M:%S").to_string()
}

/// The same for people, with the day where that is not today: `2026-11-18 14:05:09`.
pub fn moment(at: jiff::Timestamp) -> String {
    moment_seen(at, jiff::Timestamp::now(), &jiff::tz::TimeZone::system(), "%H:%M:%S")
}

/// A time in this format; of another day than `now` with that day.
pub(super) fn moment_seen(
    at: jiff::Timestamp,
    now: jiff::Timestamp,
    zone: &jiff::tz::TimeZone,
    time: &str,
) -> String {
    let (at, now) = (at.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
    let day = if at.date() == now.date() { String::new() } else { format!("{} ", at.date()) };
    format!("{day}{}", at.strftime(time))
}

/// Sends the log lines to `tracing`.
#[derive(Debug, Default)]
pub struct Tracing(LogLines);

impl Tracing {
    pub fn of(spec: &TaskSpec, kinds: Kinds) -> Self {
        Self(LogLines::for_task(spec, kinds))
    }

    /// Of the task in `dir`, which other processes have driven before: what they said is not said again.
    pub fn taking_up(spec: &TaskSpec, dir: &TaskDir, kinds: Kinds) -> Self {
        let mut lines = LogLines::for_task(spec, kinds);
        // Where its journal does not read, the driver says so.
        let _ = read_sealed(dir, |line| drop(lines.lines(&line)));
        Self(lines)
    }
}

impl Sink for Tracing {
    fn event(&mut self, line: &Envelope) {
        for (level, text) in self.0.lines(line) {
            match level {
                Level::Info => tracing::info!("{text}"),
                Level::Error => tracing::error!("{text}"),
            }
        }
    }

    fn agent(&mut self, _: &Envelope, _: u64, event: &AgentEvent) {
        match event {
            AgentEvent::Retry { message, status } => {
                tracing::info!("Agent is {}", words::retrying(message, *status, Messages::ENGLISH));
            }
            AgentEvent::Refused { what } => {
                tracing::info!("Agent was not allowed: {}", words::line(what, 200));
            }
            AgentEvent::Session { .. }
            | AgentEvent::Text { .. }
            | AgentEvent::Thinking { .. }
            | AgentEvent::ToolCall { .. }
            | AgentEvent::ToolResult { .. }
            | AgentEvent::Plan { .. }
            | AgentEvent::Usage(_)
            | AgentEvent::Limit { .. }
            | AgentEvent::Error { .. }
            | AgentEvent::End { .. } => tracing::debug!(?event),
        }
    }

    fn activity(&mut self, _: &Activity<'_>) {}
}

#[cfg(test)]
mod tests;
