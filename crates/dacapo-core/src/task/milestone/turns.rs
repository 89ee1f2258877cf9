//! What a turn leaves behind: conversations, replies, failures, what was used.

use std::sync::Arc;

use super::{Milestone, Phase, Role, Wait};
use crate::context;
use crate::engine::stop;
use crate::event::{FailureKind, Outcome, StopDetail, StopReason, TurnEnd, TurnRecord, Usage};

impl Milestone {
    pub(super) fn turn_started(&mut self, turn: u32, session: Option<&str>, continued: bool) {
        let Some(role) = self.to_ask() else { return };
        self.life.turns = turn + 1;
        let state = self.agent_state_mut(role);
        state.conversation.turn_started(session, continued);
        // From here on the prompt of this turn is fixed: what is said later is for a later one.
        state.heard.append(&mut state.told);
        state.notes_heard.append(&mut state.notes);
        state.recovering |= std::mem::take(&mut state.interrupted);
        if let Some(round) = self.round.as_mut() {
            round.attempts += 1;
        }
        self.question = None;
        self.phase = Phase::Turn { turn, role, continued };
    }

    pub(super) fn turn_finished(&mut self, record: &TurnRecord) {
        let Phase::Turn { role, continued, .. } = self.phase else { return };
        self.life.budget.add(&record.usage);
        self.life.meter(record);
        let spec = Arc::clone(&self.life.spec);
        let agent = &spec.agents[Self::agent(role)];
        self.agent_state_mut(role).conversation.turn_finished(record, agent, continued);
        if let Some(round) = self.round.as_mut() {
            round.usage = round.usage.plus(&record.usage);
        }
        if !matches!(record.end, TurnEnd::Limit { .. }) {
            self.life.limits.none_hit();
        }
        self.phase = Phase::Asking(role);
        // Nobody knows in what state it left the tree.
        let cut_short = record.end != TurnEnd::Done && (role == Role::Acceptor || record.timed_out);
        self.look_due |= cut_short;
        match &record.end {
            TurnEnd::Done => self.turn_done(role, record),
            TurnEnd::Failed { fault: why, .. } if record.timed_out => {
                let why = context::fault(why);
                let reason = format!("the {}'s call was ended before it was done: {why}", role.name());
                self.phase = Phase::Overdue { reason };
            }
            // What it knew is lost, not what was done: it begins anew with the full context (M3).
            TurnEnd::Failed { failure: FailureKind::SessionLost, .. } if continued => {
                let state = self.agent_state_mut(role);
                state.conversation.lost();
                state.interrupted = true;
            }
            TurnEnd::Failed { failure: FailureKind::Permanent | FailureKind::SessionLost, fault } => {
                self.end(Outcome::Failed, StopReason::PermanentError, StopDetail::fault(fault));
            }
            TurnEnd::Failed { failure: FailureKind::Transient, fault } => {
                let state = self.agent_state_mut(role);
                state.failures_in_row = state.failures_in_row.saturating_add(1);
                let failures = state.failures_in_row;
                self.life.backoff_due = true;
                if self.life.policy.max_failures > 0 && failures >= self.life.policy.max_failures {
                    self.end(Outcome::Failed, StopReason::Failures, StopDetail::fault(fault));
                }
            }
            TurnEnd::Limit { message, resets_at } => {
                self.phase = Phase::Waits { role, wait: Wait::said(message, *resets_at) };
            }
            TurnEnd::Budget => {
                self.end(Outcome::BudgetExhausted, StopReason::Budget, StopDetail::BudgetUsed);
            }
            TurnEnd::Cancelled | TurnEnd::Interrupted => {}
        }
        if self.life.verdict.is_none() && self.life.over_budget(&Usage::default()) {
            self.end(Outcome::BudgetExhausted, StopReason::Budget, StopDetail::BudgetUsed);
        }
        if let Some(what) =
            self.life.unknown_usage().filter(|_| self.life.verdict.is_none() && record.end == TurnEnd::Done)
        {
            self.end(Outcome::BudgetExhausted, StopReason::Budget, stop::usage_unknown(&agent.name, what));
        }
    }

    fn turn_done(&mut self, role: Role, record: &TurnRecord) {
        let round = self.round.as_ref().filter(|_| role == Role::Developer);
        let cleaned = round.filter(|round| round.cleanup).map(|round| round.work.is_some());
        let state = self.agent_state_mut(role);
        state.failures_in_row = 0;
        if let Some(reported) = cleaned {
            // Whoever only cleaned up hears the rest when its round goes on.
            state.told.splice(0..0, std::mem::take(&mut state.heard));
            state.notes.splice(0..0, std::mem::take(&mut state.notes_heard));
            state.interrupted |= state.recovering && !reported;
        }
        state.heard.clear();
        state.notes_heard.clear();
        state.recovering = false;
        let reply = record.reply.clone().unwrap_or_else(|| record.summary.clone());
        let Some(round) = self.round.as_mut() else { return };
        round.complaints.clear();
        self.phase = match role {
            Role::Acceptor => Phase::Judged { reply },
            Role::Developer if round.cleanup => Phase::Cleaned,
            Role::Developer => Phase::Reported { reply },
        };
        if role == Role::Developer {
            self.disorder = None;
        }
    }
}
