//! Usage limits and the other tasks of this machine: what they found is looked up before a turn, what a turn ran into is
//! told to them, and at the end of a limit one of them tries while the others sleep (K13).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;

use super::driver::{Driver, Message, next_look};
use super::machine::{Effect, FoundLimit, Input};
use super::stop;
use super::surroundings::DriverError;
use crate::agent;
use crate::event::{AgentEvent, KnownLimit, TurnEnd};
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
    pub(super) fn release_unless_needed_for(&mut self, effect: &Effect) {
        let needed = match effect {
            Effect::BeginTurn(_) | Effect::RunTurn(_) | Effect::ShareLimit(_) => true,
            Effect::PrepareWorkspace
            | Effect::RunSetup(_)
            | Effect::RunCheck(_)
            | Effect::PrepareProof(_)
            | Effect::FindHidden { .. }
            | Effect::Write(_)
            | Effect::PrepareCommit(_)
            | Effect::Land(_)
            | Effect::InspectWork(_)
            | Effect::KeepWork
            | Effect::Sleep { .. }
            | Effect::AwaitProbe { .. }
            | Effect::Settle
            | Effect::Finish { .. } => false,
        };
        if !needed {
            self.probe = None;
        }
    }
}

impl Driver<'_> {
    fn account(&self, agent: usize) -> Option<AccountKey> {
        agent::account_key(&self.spec.agents[agent], &self.setting.env)
    }

    /// What other tasks know against a turn of this agent. None: it may start, as a try where the time of a limit has
    /// come and nobody has tried yet.
    pub(super) fn known_limit(&mut self, agent: usize) -> Result<Option<KnownLimit>, DriverError> {
        let mut probe = self.limits.probe.take();
        let Some(account) = self.account(agent) else { return Ok(None) };
        probe = probe.filter(|probe| *probe.lock.account() == account);
        // A second look from under the lock: the one that tried before may just have come to its result.
        while let Some(limit) = self.setting.limits.known(&account, Timestamp::now()) {
            if limit.until > Timestamp::now() {
                return Ok(Some(self.known(agent, &limit, Some(limit.until), &limit.found_by)));
            }
            if let Some(mut probe) = probe {
                probe.lock.name(self.spec.name.as_str());
                self.limits.probe = Some(probe);
                return Ok(None);
            }
            match self.setting.limits.try_probe(&account, self.spec.name.as_str()) {
                Ok(Ok(lock)) => probe = Some(Probe { lock, answer: Answer::default() }),
                Ok(Err(holder)) => {
                    let by = holder.as_deref().unwrap_or(SOMEBODY);
                    return Ok(Some(self.known(agent, &limit, None, by)));
                }
                Err(error) => {
                    self.cannot_share(&error)?;
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    fn known(&self, agent: usize, limit: &SharedLimit, until: Option<Timestamp>, by: &str) -> KnownLimit {
        KnownLimit {
            agent: self.spec.agents[agent].name.clone(),
            message: limit.message.clone(),
            by: by.to_owned(),
            until,
            guesses: limit.guesses,
        }
    }

    /// Tells the other tasks of a limit, and only then lets the next one try.
    pub(super) fn share_limit(&mut self, found: &FoundLimit) -> Result<Input, DriverError> {
        let now = Timestamp::now();
        let probe = self.limits.probe.take();
        if let Some(account) = self.account(found.agent) {
            let until = stop::limit_end(found.resets_at, found.guess, now);
            let (task, agent) = (self.spec.name.as_str(), &self.spec.agents[found.agent].name);
            let mut limit = SharedLimit::new(task, agent, &found.message, until, now);
            if found.resets_at != Some(until) {
                limit.guesses = found.guesses;
            }
            if let Err(error) = self.setting.limits.announce(&account, &limit) {
                self.cannot_share(&error)?;
            }
        }
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
            let (limits, account) = (self.setting.limits.clone(), account.clone());
            let (wanted, outbox) = (Arc::clone(&wanted), self.outbox.clone());
            move || {
                let lock = limits.wait_for_probe(&account);
                if wanted.load(Ordering::Acquire) {
                    let _ = outbox.send(Message::ProbeFree(lock));
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
        while let Some(deadline) = next_look(until) {
            let message = match self.receive(Some(deadline)) {
                // Whether it is over, renewed, or ours to try now, is seen when the turn is about to start.
                Some(Message::ProbeFree(Ok(lock))) if lock.account() == account => {
                    self.limits.probe = Some(Probe { lock, answer: Answer::default() });
                    break;
                }
                Some(Message::ProbeFree(Err(error))) => {
                    self.cannot_share(&error)?;
                    break;
                }
                Some(message) => message,
                None => continue,
            };
            if self.absorb(message)? {
                return Ok(None);
            }
        }
        Ok(Some(Input::WaitOver))
    }

    /// The first answer of the model proves that the limit is over: the others need not wait for the end of the turn.
    pub(super) fn probe_sees(&mut self, event: &AgentEvent) -> Result<(), DriverError> {
        let probe = self.limits.probe.as_mut();
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
                self.limits.probe = None;
            }
        }
        Ok(())
    }

    fn limit_is_over(&mut self) -> Result<(), DriverError> {
        if let Some(probe) = self.limits.probe.take()
            && let Err(error) = self.setting.limits.lift(probe.lock.account())
        {
            self.cannot_share(&error)?;
        }
        Ok(())
    }

    /// Said once: the loop goes on, by itself.
    fn cannot_share(&mut self, error: &io::Error) -> Result<(), DriverError> {
        if std::mem::replace(&mut self.limits.complained, true) {
            return Ok(());
        }
        let place = display_path(self.setting.limits.path());
        self.input(&Input::Notice(format!(
            "usage limits are not shared with other tasks: {place} cannot be used ({error})"
        )))
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
