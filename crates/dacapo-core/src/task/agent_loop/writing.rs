//! Summaries and commit messages that a model of its own writes (C4, C5), between an iteration's last turn and its
//! commit. They are a luxury: whatever comes of them, the iteration is what it is without them.

use super::{AgentLoop, Current, Phase};
use crate::engine::machine::{Effect, Machine as _, WritingPlan};
use crate::event::{TurnEnd, Usage, WritingEnd, WritingRecord};
use crate::spec::Writing;

/// What a record says when the agent said nothing (C5).
const NOTHING_SAID: &str = "No significant actions in this iteration.";
/// What it says when a model was to sum it up and did not.
const NOT_SUMMED_UP: &str = "Summary generation failed";
/// An iteration may have had any number of turns that ran into limits; the newest ones tell what it did.
const MOST_TURNS: usize = 8;

impl AgentLoop {
    /// What comes after the turn, or after this writing: the next writing, or the commit.
    pub(super) fn wrap_up(&self, after: Option<Writing>) -> Phase {
        let later = |what: &Writing| after.is_none_or(|done| *what > done);
        let all = [Writing::Summary, Writing::CommitMessage];
        all.into_iter().filter(later).find(|what| self.wants(*what)).map_or(Phase::Collecting, Phase::Writing)
    }

    /// Only a turn that was done is worth words, and no word is worth going over the budget.
    fn wants(&self, what: Writing) -> bool {
        let done = self.current.as_ref().is_some_and(|current| current.end == TurnEnd::Done && !current.cut);
        done && self.life.verdict.is_none()
            && self.life.spec.context.writer(what).is_some()
            && !self.over_budget(&Usage::default())
    }

    pub(super) fn writing(&self, what: Writing) -> Option<Effect> {
        let current = self.current.as_ref()?;
        Some(Effect::Write(WritingPlan {
            what,
            iteration: current.iteration,
            turns: current.turns.clone(),
            start: current.start.clone(),
            summary: current.told().to_owned(),
            promise: self.promise().map(str::to_owned),
        }))
    }

    pub(super) fn written(&mut self, record: &WritingRecord) {
        self.life.budget.add(&record.usage);
        let Some(current) = self.current.as_mut() else { return };
        current.usage = current.usage.plus(&record.usage);
        match (record.what, &record.end) {
            (Writing::Summary, end) => current.summed_up = Some(end.clone()),
            (Writing::CommitMessage, WritingEnd::Done { text }) => current.worded = Some(text.clone()),
            (
                Writing::CommitMessage,
                WritingEnd::Nothing | WritingEnd::Failed { .. } | WritingEnd::Cancelled,
            ) => {}
        }
        self.phase = self.wrap_up(Some(record.what));
    }

    /// The record of a call that was not made because the loop is to end.
    pub(super) fn never_written(&self, what: Writing) -> WritingRecord {
        WritingRecord {
            iteration: self.current.as_ref().map_or(0, |current| current.iteration),
            what,
            end: WritingEnd::Cancelled,
            by: String::new(),
            usage: Usage::default(),
            duration_ms: 0,
        }
    }
}

impl Current {
    pub(super) fn note_turn(&mut self, turn: u32, agent: usize) {
        self.turns.push((turn, agent));
        let over = self.turns.len().saturating_sub(MOST_TURNS);
        self.turns.drain(..over);
    }

    /// The iteration as its record has it.
    pub(super) fn in_words(&self) -> String {
        match &self.summed_up {
            Some(WritingEnd::Failed { .. }) => NOT_SUMMED_UP.to_owned(),
            _ if self.told().is_empty() => NOTHING_SAID.to_owned(),
            _ => self.told().to_owned(),
        }
    }

    /// The best words there are for what was done: a model's, else the agent's own. A commit needs some even where the
    /// summary has failed.
    pub(super) fn told(&self) -> &str {
        match &self.summed_up {
            Some(WritingEnd::Done { text }) => text,
            Some(WritingEnd::Nothing | WritingEnd::Failed { .. } | WritingEnd::Cancelled) | None => {
                &self.summary
            }
        }
    }
}
