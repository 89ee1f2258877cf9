//! Usage limits and the other tasks of this machine: what they found is looked up before a turn, what a turn ran into is
//! told to them, and at the end of a limit one of them tries while the others sleep (K13).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;

use super::context::DriverError;
use super::driver::Driver;
use super::listen::{Waited, Wakeup, look_again, next_look};
use super::machine::{FoundLimit, Input, Step};
use super::mailbox::Report;
use super::stop;
use crate::agent;
use crate::event::{AgentEvent, KnownLimit, Notice, TurnEnd};
use crate::git::display_path;
use crate::store::{AccountKey, ProbeLock, SharedLimit};

/// Who tries, where nobody says so.
const SOMEBODY: &str = "of another process";

/// What this process has to do with limits that are shared.
#[derive(Debug, Default)]
pub(super) struct Limits {
    probe: Option<Probe>,
    /// It was said that nothing can be shared.
    complained: bool,
}

/// This task is the one that tries whether a limit is over.
#[derive(Debug)]
struct Probe {
    lock: ProbeLock,
    answer: Answer,
}

/// Whether the model has answered. Some agents put the refusal of a limit into the very words of their answer, so words
/// count only when something follows them that is not the limit itself.
#[derive(Debug, Default)]
struct Answer {
    words: bool,
}

impl Answer {
    fn is_proven_by(&mut self, event: &AgentEvent) -> bool {
        match event {
            AgentEvent::Thinking { .. }
            | AgentEvent::ToolCall { .. }
            | AgentEvent::ToolResult { .. }
            | AgentEvent::Plan { .. } => true,
            AgentEvent::Text { .. } => std::mem::replace(&mut self.words, true),
            AgentEvent::Session { .. }
            | AgentEvent::Usage(_)
            | AgentEvent::Retry { .. }
            | AgentEvent::Refused { .. }
            | AgentEvent::Limit { .. }
            | AgentEvent::Error { .. }
            | AgentEvent::End { .. } => false,
        }
    }
}

impl Limits {
    /// The others are not kept waiting by what is no part of the try.
    pub(super) fn release_unless_needed_for(&mut self, step: Step) {
        let needed = match step {
            Step::BeginTurn(_) | Step::RunTurn { .. } | Step::ShareLimit { .. } => true,
            Step::PrepareWorkspace
            | Step::RunSetup { .. }
            | Step::RunCheck { .. }
            | Step::PrepareProof { .. }
            | Step::FindHidden { .. }
            | Step::Write { .. }
            | Step::PrepareCommit { .. }
            | Step::Land { .. }
            | Step::InspectWork { .. }
            | Step::KeepWork
            | Step::Sleep { .. }
            | Step::AwaitProbe { .. }
            | Step::Settle
            | Step::Finish => false,
        };
        if !needed {
            self.probe = None;
        }
    }
}

impl Driver<'_> {
    fn account(&self, agent: usize) -> Option<AccountKey> {
        agent::account_key(&self.spec.agents[agent], &self.context.env)
    }

    /// What other tasks know against a turn of this agent. None: it may start, as a try where the time of a limit has
    /// come and nobody has tried yet.
    pub(super) fn known_limit(&mut self, agent: usize) -> Result<Option<KnownLimit>, DriverError> {
        // Taken out first: on every way out that does not put it back, the lock is free for the next task.
        let mut probe = self.turns.limits.probe.take();
        let Some(account) = self.account(agent) else { return Ok(None) };
        probe = probe.filter(|probe| *probe.lock.account() == account);
        let name = &self.spec.agents[agent].name;
        // A second look from under the lock: the one that tried before may just have come to its result.
        while let Some(limit) = self.context.limits.known(&account, Timestamp::now()) {
            if limit.until > Timestamp::now() {
                return Ok(Some(known(name, &limit, Some(limit.until), &limit.found_by)));
            }
            if let Some(mut probe) = probe {
                probe.lock.name(self.spec.name.as_str());
                self.turns.limits.probe = Some(probe);
                return Ok(None);
            }
            match self.context.limits.try_probe(&account, self.spec.name.as_str()) {
                Ok(Ok(lock)) => probe = Some(Probe { lock, answer: Answer::default() }),
                Ok(Err(holder)) => {
                    let by = holder.as_deref().unwrap_or(SOMEBODY);
                    return Ok(Some(known(name, &limit, None, by)));
                }
                Err(error) => {
                    self.cannot_share(&error)?;
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    /// Tells the other tasks of a limit, and only then lets the next one try.
    pub(super) fn share_limit(&mut self, found: &FoundLimit) -> Result<Input, DriverError> {
        let now = Timestamp::now();
        let probe = self.turns.limits.probe.take();
        if let Some(account) = self.account(found.agent) {
            let until = stop::limit_end(found.resets_at, found.guess, now);
            let (task, agent) = (self.spec.name.as_str(), &self.spec.agents[found.agent].name);
            let mut limit = SharedLimit::new(task, agent, &found.message, until, now);
            if found.resets_at != Some(until) {
                limit.guesses = found.guesses;
            }
            if let Err(error) = self.context.limits.announce(&account, &limit) {
                self.cannot_share(&error)?;
            }
        }
        // After the announcement: freed before, the next task would look, find the old limit expired, and try as
        // well.
        drop(probe);
        Ok(Input::Settle { now })
    }

    /// Sleeps on the lock of the account, in a thread that nothing can wake but the lock itself: when it is not waited
    /// for any more, it just lets go.
    pub(super) fn await_probe(
        &mut self,
        agent: usize,
        until: Timestamp,
    ) -> Result<Option<Input>, DriverError> {
        let Some(account) = self.account(agent) else { return Ok(Some(Input::WaitOver)) };
        let wanted = Arc::new(AtomicBool::new(true));
        let asleep = std::thread::Builder::new().name("probe".into()).spawn({
            let (limits, account) = (self.context.limits.clone(), account.clone());
            let (wanted, outbox) = (Arc::clone(&wanted), self.mailbox.outbox());
            move || {
                let lock = limits.wait_for_probe(&account);
                // Otherwise the lock is dropped here, and with it given to the next that waits.
                if wanted.load(Ordering::Acquire) {
                    outbox.report(Report::ProbeFree(lock));
                }
            }
        });
        if let Err(error) = asleep {
            self.cannot_share(&error)?;
            return Ok(Some(Input::WaitOver));
        }
        let input = self.until_probe_is_free(&account, until);
        wanted.store(false, Ordering::Release);
        input
    }

    fn until_probe_is_free(
        &mut self,
        account: &AccountKey,
        until: Timestamp,
    ) -> Result<Option<Input>, DriverError> {
        let Some(first) = next_look(until) else { return Ok(Some(Input::WaitOver)) };
        self.wait(Some(first), |driver, heard| {
            match heard {
                // Whether it is over, renewed, or ours to try now, is seen when the turn is about to start.
                Wakeup::Report(Report::ProbeFree(Ok(lock))) if lock.account() == account => {
                    driver.turns.limits.probe = Some(Probe { lock, answer: Answer::default() });
                    return Ok(Waited::Break(Some(Input::WaitOver)));
                }
                Wakeup::Report(Report::ProbeFree(Err(error))) => {
                    driver.cannot_share(&error)?;
                    return Ok(Waited::Break(Some(Input::WaitOver)));
                }
                Wakeup::Stop => return Ok(Waited::Break(None)),
                other @ (Wakeup::Commands | Wakeup::Report(_) | Wakeup::Deadline) => {
                    driver.nobody_waits_for(other);
                }
            }
            Ok(look_again(until, Some(Input::WaitOver)))
        })
    }

    /// The first answer of the model proves that the limit is over: the others need not wait for the end of the turn.
    pub(super) fn probe_sees(&mut self, event: &AgentEvent) -> Result<(), DriverError> {
        let probe = self.turns.limits.probe.as_mut();
        if probe.is_some_and(|probe| probe.answer.is_proven_by(event)) {
            self.limit_is_over()?;
        }
        Ok(())
    }

    /// What a turn without an answer says about the limit. One that failed says nothing: the next task may try.
    pub(super) fn probe_ended(&mut self, ended: &Input) -> Result<(), DriverError> {
        let Input::TurnEnded(record) = ended else { return Ok(()) };
        match &record.end {
            TurnEnd::Done => self.limit_is_over()?,
            // Kept until the others have been told.
            TurnEnd::Limit { .. } => {}
            TurnEnd::Failed { .. } | TurnEnd::Cancelled | TurnEnd::Budget | TurnEnd::Interrupted => {
                self.turns.limits.probe = None;
            }
        }
        Ok(())
    }

    fn limit_is_over(&mut self) -> Result<(), DriverError> {
        if let Some(probe) = self.turns.limits.probe.take()
            && let Err(error) = self.context.limits.lift(probe.lock.account())
        {
            self.cannot_share(&error)?;
        }
        Ok(())
    }

    /// Said once: the loop goes on, by itself.
    fn cannot_share(&mut self, error: &io::Error) -> Result<(), DriverError> {
        if std::mem::replace(&mut self.turns.limits.complained, true) {
            return Ok(());
        }
        let path = display_path(self.context.limits.path());
        self.input(&Input::Notice(Notice::LimitsNotShared { path, error: error.to_string() }))
    }
}

fn known(agent: &str, limit: &SharedLimit, until: Option<Timestamp>, by: &str) -> KnownLimit {
    KnownLimit {
        agent: agent.to_owned(),
        message: limit.message.clone(),
        by: by.to_owned(),
        until,
        guesses: limit.guesses,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proven(events: &[AgentEvent]) -> bool {
        let mut answer = Answer::default();
        events.iter().any(|event| answer.is_proven_by(event))
    }

    #[test]
    fn k13_a_refusal_in_words_is_no_answer() {
        let text = |text: &str| AgentEvent::Text { text: text.into() };
        let limit = AgentEvent::Limit { message: "limit reached".into(), resets_at: None };
        let session = AgentEvent::Session { id: "s".into() };
        let retry = AgentEvent::Retry { message: "429".into(), status: Some(429) };
        let end = AgentEvent::End { reason: "error".into() };
        assert!(!proven(&[session, retry, text("You've hit your limit"), limit, end]));
        let call = AgentEvent::ToolCall { id: "1".into(), name: "sh".into(), summary: String::new() };
        assert!(proven(&[call]));
        assert!(proven(&[AgentEvent::Thinking { text: "hm".into() }]));
        assert!(proven(&[text("I'll "), text("start")]));
    }
}
