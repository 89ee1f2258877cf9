//! Why a loop goes on or ends: completion, limits, budgets, stall, backoff. Pure rules over plain numbers.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::event::{Metered, Outcome, StopDetail, StopReason, Usage};
use crate::spec::{Cap, LoopPolicy};

/// What the rules look at when an iteration is over.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts {
    /// The iteration's agent did its turn and left the tree in order.
    pub success: bool,
    /// The promise that counts was said in this iteration.
    pub promise: bool,
    /// A promise is needed.
    pub promise_needed: bool,
    /// All checks ran and passed in this iteration.
    pub checks: bool,
    /// The task has checks.
    pub checks_needed: bool,
    /// The agent says that it cannot go on without a person.
    pub blocked: bool,
    /// A person added to the task what no iteration has heard yet.
    pub unheard: bool,
    /// The error cannot heal.
    pub permanent: bool,
    /// The budget ended the turn.
    pub cut_by_budget: bool,
    /// Failed iterations in a row.
    pub failures_in_row: u32,
    /// Iterations finished.
    pub finished: u32,
    /// Iterations that succeeded.
    pub succeeded: u32,
    /// Active time that counts against `--time`.
    pub elapsed: Duration,
    /// Usage that counts against the budget.
    pub usage: Usage,
    /// Successful turns in a row whose usage is not known, though there is a budget.
    pub unmetered_in_row: u32,
    /// Successful iterations in a row without a changed file.
    pub unchanged_in_row: u32,
    /// Successful iterations in a row with the same failure of the same check.
    pub same_failure_in_row: u32,
}

/// How a loop ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// For people and the exit code.
    pub outcome: Outcome,
    pub reason: StopReason,
}

const fn end(outcome: Outcome, reason: StopReason) -> Option<Verdict> {
    Some(Verdict { outcome, reason })
}

/// All that was asked for holds in this very iteration (L3).
pub(crate) fn complete(facts: &Facts) -> bool {
    (facts.promise_needed || facts.checks_needed)
        && facts.success
        && !facts.unheard
        && (facts.promise || !facts.promise_needed)
        && (facts.checks || !facts.checks_needed)
}

/// The verdict at the end of an iteration, in the order of L6; none: the loop goes on.
pub(crate) fn verdict(policy: &LoopPolicy, cap: Option<Cap>, facts: &Facts) -> Option<Verdict> {
    // The order of these rules is part of the contract (L6). Success first: a task that is done in its last permitted
    // iteration, or with its last cent, has succeeded.
    if complete(facts) {
        let reason = if facts.checks_needed { StopReason::Checks } else { StopReason::Promise };
        return end(Outcome::Completed, reason);
    }
    if facts.permanent {
        return end(Outcome::Failed, StopReason::PermanentError);
    }
    if facts.blocked {
        return end(Outcome::Paused, StopReason::NeedsPerson);
    }
    let used_up_all = cap.is_some_and(|cap| facts.finished >= cap.iterations);
    // A single iteration that succeeded is what was asked for, whatever it cost; but somebody may have asked for more since.
    let is_all = !policy.looping && facts.success && used_up_all;
    // Before failures and iterations: who set a budget wants to know that it is gone, whatever else is true.
    if facts.cut_by_budget || (!is_all && budget_is_gone(policy, facts)) {
        return end(Outcome::BudgetExhausted, StopReason::Budget);
    }
    if !policy.looping && used_up_all {
        let outcome = if facts.success { Outcome::Completed } else { Outcome::Failed };
        let reason = if facts.success { StopReason::Iterations } else { StopReason::Failures };
        return end(outcome, reason);
    }
    if policy.max_failures > 0 && facts.failures_in_row >= policy.max_failures {
        return end(Outcome::Failed, StopReason::Failures);
    }
    if used_up_all {
        return Some(out_of_iterations(policy, facts.succeeded));
    }
    if let Some(verdict) = out_of_time(policy, facts.elapsed, facts.succeeded) {
        return Some(verdict);
    }
    if policy.stall > 0 && facts.unchanged_in_row.max(facts.same_failure_in_row) >= policy.stall {
        return end(Outcome::Stalled, StopReason::Stall);
    }
    None
}

/// Using all rounds up is what a pure loop is for; to a loop that wanted proof it is a defeat.
fn used_up(policy: &LoopPolicy, succeeded: u32, defeat: Outcome) -> Outcome {
    match (policy.is_pure(), succeeded) {
        (false, _) => defeat,
        (true, 0) => Outcome::Failed,
        (true, _) => Outcome::Completed,
    }
}

/// The verdict when all iterations were had.
pub(crate) fn out_of_iterations(policy: &LoopPolicy, succeeded: u32) -> Verdict {
    Verdict { outcome: used_up(policy, succeeded, Outcome::MaxReached), reason: StopReason::Iterations }
}

/// The verdict when no further iteration may start for want of time.
pub(crate) fn out_of_time(policy: &LoopPolicy, elapsed: Duration, succeeded: u32) -> Option<Verdict> {
    if policy.time.is_some_and(|time| elapsed >= time) {
        return end(used_up(policy, succeeded, Outcome::TimeElapsed), StopReason::Time);
    }
    None
}

/// The money or the tokens are used up.
pub(crate) fn over_budget(policy: &LoopPolicy, usage: &Usage) -> bool {
    // Unknown cost counts as nothing here; that it is unknown ends the loop by `unmetered_in_row`.
    policy.max_cost.is_some_and(|most| usage.cost_usd.unwrap_or(0.0) >= most)
        || policy.max_tokens.is_some_and(|most| usage.tokens() >= most)
}

/// What a turn that succeeded should have reported for the budget to hold, and did not (L10).
pub(crate) fn unmetered(policy: &LoopPolicy, turn: &Usage) -> Option<Metered> {
    if policy.max_cost.is_some() && !turn.knows_cost() {
        Some(Metered::Cost)
    } else if policy.max_tokens.is_some() && !turn.knows_tokens() {
        Some(Metered::Tokens)
    } else {
        None
    }
}

/// How many successful turns in a row may not say what they used before the loop ends.
pub(crate) const UNMETERED_TURNS: u32 = 2;

/// Nothing is left, or nobody knows what is.
fn budget_is_gone(policy: &LoopPolicy, facts: &Facts) -> bool {
    over_budget(policy, &facts.usage) || facts.unmetered_in_row >= UNMETERED_TURNS
}

/// Why the loop ended that could not hold its budget.
pub(crate) fn usage_unknown(agent: &str, amount: Metered) -> StopDetail {
    StopDetail::UsageUnknown { agent: agent.to_owned(), amount, turns: UNMETERED_TURNS }
}

/// The pause after the nth failure in a row: 1 s, 2 s, 4 s … 60 s (L8).
pub(crate) fn backoff(failures_in_row: u32) -> Duration {
    Duration::from_secs((1_u64 << failures_in_row.saturating_sub(1).min(6)).min(60))
}

/// The pause after the nth limit in a row for which the agent names no end: 1 min, 2 min, 4 min … 30 min.
pub(crate) fn limit_backoff(limits_in_row: u32) -> Duration {
    Duration::from_secs(60 * (1_u64 << limits_in_row.saturating_sub(1).min(5)).min(30))
}

/// When a limit ends: by the agent's word, or, where it has none or speaks of the past, after a guess. A reset that has
/// passed is no end: the limit was hit after it.
pub(crate) fn limit_end(resets_at: Option<Timestamp>, guess: Duration, now: Timestamp) -> Timestamp {
    resets_at.filter(|until| *until > now).unwrap_or_else(|| later(now, guess))
}

/// `now` plus `by`, or the end of time.
pub(crate) fn later(now: Timestamp, by: Duration) -> Timestamp {
    let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::ZERO);
    now.checked_add(by).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l9_a_limit_ends_by_the_agents_word_or_by_a_guess() {
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        let guess = Duration::from_secs(60);
        let (minute, hour) = (later(now, guess), later(now, guess * 60));
        assert_eq!(limit_end(Some(hour), guess, now), hour);
        assert_eq!(limit_end(Some(now), guess, now), minute, "what has passed is no end");
        assert_eq!(limit_end(None, guess, now), minute);
        assert_eq!(limit_end(None, guess, Timestamp::MAX), Timestamp::MAX);
    }

    #[test]
    fn l8_backoff_doubles_up_to_a_minute() {
        let seconds: Vec<u64> = (1..=9).map(|n| backoff(n).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(backoff(u32::MAX).as_secs(), 60);
    }

    #[test]
    fn l9_a_limit_without_a_reset_backs_off_up_to_half_an_hour() {
        let minutes: Vec<u64> = (1..=8).map(|n| limit_backoff(n).as_secs() / 60).collect();
        assert_eq!(minutes, [1, 2, 4, 8, 16, 30, 30, 30]);
    }
}
