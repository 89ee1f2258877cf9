//! What a turn leaves behind: conversations, replies, failures, what was used.

use super::plan::CALL_TIMEOUT;
use super::{LimitEnd, Milestone, Phase, Role};
use crate::engine::stop;
use crate::event::{FailureKind, Outcome, StopReason, TurnEnd, TurnRecord, Usage};
use crate::spec::OutputFormat;

impl Milestone {
    pub(super) fn turn_started(&mut self, turn: u32, session: Option<&str>, continued: bool) {
        let Some(role) = self.to_ask() else { return };
        self.turns = turn + 1;
        let desk = self.desk_mut(role);
        if !continued {
            desk.session = session.map(str::to_owned);
            desk.session_usage = Usage::default();
        }
        desk.conversed = true;
        // From here on the prompt of this turn is fixed: what is said later is for a later one.
        desk.heard.append(&mut desk.told);
        desk.notes_heard.append(&mut desk.notes);
        desk.recovering |= std::mem::take(&mut desk.interrupted);
        if let Some(round) = self.round.as_mut() {
            round.attempts += 1;
        }
        self.question = None;
        self.phase = Phase::Turn { turn, role, continued };
    }

    pub(super) fn turn_finished(&mut self, record: &TurnRecord) {
        let Phase::Turn { role, continued, .. } = self.phase else { return };
        self.usage = self.usage.plus(&record.usage);
        let uncertain = !continued && self.may_never_have_begun(role, record);
        let desk = self.desk_mut(role);
        desk.session_usage = desk.session_usage.plus(&record.usage);
        if record.session.is_some() {
            desk.session.clone_from(&record.session);
        }
        if uncertain {
            desk.session = None;
            desk.conversed = false;
        }
        if let Some(round) = self.round.as_mut() {
            round.usage = round.usage.plus(&record.usage);
        }
        if !matches!(record.end, TurnEnd::Limit { .. }) {
            self.limits_in_row = 0;
        }
        self.phase = Phase::Asking(role);
        // Nobody knows in what state it left the tree.
        let cut_short = record.end != TurnEnd::Done && (role == Role::Acceptor || record.timed_out);
        self.look_due |= cut_short;
        match &record.end {
            TurnEnd::Done => self.turn_done(role, record),
            TurnEnd::Failed { message, .. } if record.timed_out => {
                // As the first journals have it.
                let message = message.replace("--turn-timeout", CALL_TIMEOUT);
                let reason = format!("the {}'s call was ended before it was done: {message}", role.name());
                self.phase = Phase::Overdue { reason };
            }
            // What it knew is lost, not what was done: it begins anew with the full context (M3).
            TurnEnd::Failed { failure: FailureKind::SessionLost, .. } if continued => {
                let desk = self.desk_mut(role);
                desk.session = None;
                desk.conversed = false;
                desk.interrupted = true;
            }
            TurnEnd::Failed { failure: FailureKind::Permanent | FailureKind::SessionLost, message } => {
                self.end(Outcome::Failed, StopReason::PermanentError, message);
            }
            TurnEnd::Failed { failure: FailureKind::Transient, message } => {
                let desk = self.desk_mut(role);
                desk.failures_in_row = desk.failures_in_row.saturating_add(1);
                let failures = desk.failures_in_row;
                self.backoff_due = true;
                if self.policy.max_failures > 0 && failures >= self.policy.max_failures {
                    self.end(Outcome::Failed, StopReason::Failures, message);
                }
            }
            TurnEnd::Limit { message, resets_at } => {
                let (message, end) = (message.clone(), LimitEnd::Said(*resets_at));
                self.phase = Phase::LimitHit { role, message, end };
            }
            TurnEnd::Budget => {
                self.end(Outcome::BudgetExhausted, StopReason::Budget, "the budget is used up");
            }
            TurnEnd::Cancelled | TurnEnd::Interrupted => {}
        }
        if self.verdict.is_none() && stop::over_budget(&self.policy, &self.usage_in_allowance()) {
            self.end(Outcome::BudgetExhausted, StopReason::Budget, "the budget is used up");
        }
        if record.end == TurnEnd::Done {
            self.meter(role, record);
        }
    }

    /// A budget against which nothing is known to count holds nothing back.
    fn meter(&mut self, role: Role, record: &TurnRecord) {
        let Some(what) = stop::unmetered(&self.policy, &record.usage) else {
            self.unmetered_in_row = 0;
            return;
        };
        self.unmetered_in_row += 1;
        if self.verdict.is_none() && self.unmetered_in_row >= stop::UNMETERED_TURNS {
            let message = stop::usage_unknown(&self.spec.agents[Self::agent(role)].name, what);
            self.end(Outcome::BudgetExhausted, StopReason::Budget, &message);
        }
    }

    fn turn_done(&mut self, role: Role, record: &TurnRecord) {
        let round = self.round.as_ref().filter(|_| role == Role::Developer);
        let cleaned = round.filter(|round| round.cleanup).map(|round| round.work.is_some());
        let desk = self.desk_mut(role);
        desk.failures_in_row = 0;
        if let Some(reported) = cleaned {
            // Whoever only cleaned up hears the rest when its round goes on.
            desk.told.splice(0..0, std::mem::take(&mut desk.heard));
            desk.notes.splice(0..0, std::mem::take(&mut desk.notes_heard));
            desk.interrupted |= desk.recovering && !reported;
        }
        desk.heard.clear();
        desk.notes_heard.clear();
        desk.recovering = false;
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

    /// A conversation whose id we chose ourselves is known to exist only when a turn in it went well; one over ACP may
    /// have lived in its process alone. Who takes up one that does not exist fails for ever.
    fn may_never_have_begun(&self, role: Role, record: &TurnRecord) -> bool {
        let uncertain = match record.end {
            TurnEnd::Failed { .. } | TurnEnd::Cancelled | TurnEnd::Interrupted => true,
            TurnEnd::Limit { .. } => record.usage.tokens() == 0,
            TurnEnd::Done | TurnEnd::Budget => false,
        };
        let agent = &self.spec.agents[Self::agent(role)];
        uncertain && (agent.presets_session() || agent.output == OutputFormat::Acp)
    }
}
