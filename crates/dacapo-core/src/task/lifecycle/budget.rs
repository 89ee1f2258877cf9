//! What a task has used, and what it may use (L10).

use super::Lifecycle;
use crate::engine::stop;
use crate::event::{Event, Metered, Notice, TurnEnd, TurnRecord, Usage};

/// What was used so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Budget {
    pub(crate) usage: Usage,
    /// Of that, before the present allowance began.
    before: Usage,
    /// Successful turns in a row whose usage is not known under a budget.
    pub(crate) unmetered_in_row: u32,
    /// What was missing in the last of them.
    pub(crate) unmetered: Option<Metered>,
}

impl Budget {
    pub(crate) fn add(&mut self, usage: &Usage) {
        self.usage = self.usage.plus(usage);
    }

    pub(super) fn in_allowance(&self) -> Usage {
        self.usage.since(&self.before)
    }

    pub(super) fn renew(&mut self) {
        self.before = self.usage;
        self.unmetered_in_row = 0;
    }
}

impl Lifecycle {
    /// What the next turn may cost, in USD, where the task has a budget.
    pub(crate) fn cost_left(&self) -> Option<f64> {
        self.policy.max_cost.map(|most| {
            // Of the present allowance alone: who resumes an ended task gives it as much again.
            let spent = self.usage_in_allowance().cost_usd.unwrap_or(0.0);
            (most - spent).max(0.0)
        })
    }

    /// A turn is over: its record, and, the first time, that a budget does not count it.
    pub(crate) fn turn_ended(&self, agent: usize, record: &TurnRecord) -> Vec<Event> {
        let first = self.budget.unmetered_in_row == 0 && record.end == TurnEnd::Done;
        let notice = stop::unmetered(&self.policy, &record.usage).filter(|_| first).map(|amount| {
            Event::Notice(Notice::UsageUnknown { agent: self.spec.agents[agent].name.clone(), amount })
        });
        notice.into_iter().chain([Event::TurnFinished(record.clone())]).collect()
    }

    /// A budget against which nothing is known to count holds nothing back: such turns are counted.
    pub(crate) fn meter(&mut self, record: &TurnRecord) {
        // Only of turns that succeeded: one that failed early has often nothing to report.
        if record.end == TurnEnd::Done {
            let budget = &mut self.budget;
            budget.unmetered = stop::unmetered(&self.policy, &record.usage);
            budget.unmetered_in_row =
                if budget.unmetered.is_some() { budget.unmetered_in_row + 1 } else { 0 };
        }
    }

    /// What nobody knows, where that has gone on for too long.
    pub(crate) fn unknown_usage(&self) -> Option<Metered> {
        self.budget.unmetered.filter(|_| self.budget.unmetered_in_row >= stop::UNMETERED_TURNS)
    }
}
