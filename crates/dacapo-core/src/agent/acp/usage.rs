//! What a turn used. Agents count over a turn, over the life of their process, or say what the last model call used;
//! money they count over the whole conversation.

use serde::{Deserialize, Serialize};

use super::wire::{Prompted, Tokens};
use crate::agent::metering::{Meter, Reported};
use crate::event::Usage;

/// What the tokens in the answer to a prompt stand for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// This turn alone.
    #[default]
    Turn,
    /// All turns since the process started.
    Process,
    /// The last model call of the turn; what the others used is never said.
    LastCall,
}

impl Counting {
    /// By the name that the agent gives itself.
    pub(super) fn of(name: &str) -> Self {
        match name.to_lowercase().as_str() {
            "copilot" => Self::Process,
            "opencode" | "goose" => Self::LastCall,
            _ => Self::Turn,
        }
    }
}

/// Counts a turn.
#[derive(Debug, Clone, Default)]
pub(super) struct Count {
    pub(super) counting: Counting,
    /// What this process had reported before the turn.
    before: Usage,
    /// What the conversation had cost before the turn, in other processes too.
    cost_before: f64,
    /// What the process has reported by now, for the next turn.
    pub(super) reported: Usage,
    turn: Usage,
}

impl Count {
    /// `before`: what this process has reported; `earlier`: what the conversation had used before this turn.
    pub(super) fn new(counting: Counting, before: Usage, earlier: &Usage) -> Self {
        Self {
            counting,
            before,
            cost_before: before.cost_usd.or(earlier.cost_usd).unwrap_or(0.0),
            reported: before,
            turn: Usage::default(),
        }
    }

    /// The process began with this turn: it has reported nothing before.
    pub(super) fn begins(&mut self, counting: Counting) {
        self.counting = counting;
        let cost_usd = self.before.cost_usd;
        self.before = Usage { cost_usd, ..Usage::default() };
        self.reported = self.before;
    }

    /// What the conversation has cost so far; `None` if that cannot be read.
    pub(super) fn cost(&mut self, amount: Option<f64>) -> Option<Usage> {
        let Some(amount) = amount.filter(|amount| amount.is_finite() && *amount >= 0.0) else {
            self.turn.cost_unknown = true;
            return Some(self.turn);
        };
        self.turn.cost_unknown = false;
        // Less than before: it counts anew.
        let base = if amount < self.cost_before { 0.0 } else { self.cost_before };
        self.reported.cost_usd = Some(amount);
        let cost = Some(amount - base);
        (self.turn.cost_usd != cost).then(|| {
            self.turn.cost_usd = cost;
            self.turn
        })
    }

    /// The turn is over; none when nothing was said about what it used.
    pub(super) fn ended(&mut self, answer: &Prompted) -> Option<Usage> {
        let quota = answer.meta.as_ref().and_then(|meta| meta.quota.as_ref());
        let by_usage = answer.usage.map(counted);
        let by_quota = quota.and_then(|quota| quota.token_count).map(counted);
        // Side calls, for a title for example, are paid for too; they are only in what each model used.
        let models = quota.and_then(|quota| quota.model_usage.as_ref()).into_iter().flatten();
        let by_models = models.filter_map(|model| model.token_count).map(counted).reduce(|a, b| a.plus(&b));
        let told = by_usage.or(by_quota);
        let told = match (told, by_models) {
            (Some(told), Some(models)) if models.tokens() > told.tokens() => Some(models),
            (told, models) => told.or(models),
        };
        let Some(told) = told else { return self.turn.cost_usd.is_some().then_some(self.turn) };
        let Usage { cost_usd, cost_unknown, .. } = self.turn;
        let tokens = if self.counting == Counting::Process { told.since(&self.before) } else { told };
        self.reported = Usage { cost_usd: self.reported.cost_usd, ..told };
        self.turn = Usage { cost_usd, cost_unknown, ..tokens };
        self.turn.tokens_unknown |= self.counting == Counting::LastCall;
        Some(self.turn)
    }

    /// Nothing was used in this turn, as far as is known.
    pub(super) fn is_nothing(&self) -> bool {
        self.turn.tokens() == 0 && self.turn.cost_usd.unwrap_or(0.0) == 0.0
    }
}

/// Tokens in our own terms: cached ones are a part of the input, thoughts of the output. Whether the agent counts them
/// in or beside, its total tells.
fn counted(told: Tokens) -> Usage {
    let mut meter = Meter::default();
    let output = meter.required(told.output_tokens);
    let input = match told.total_tokens {
        Reported::Known(_) => meter.optional(told.input_tokens),
        Reported::Missing | Reported::Unreadable => meter.required(told.input_tokens),
    };
    let (cached, written) =
        (meter.optional(told.cached_read_tokens), meter.optional(told.cached_write_tokens));
    let thoughts = meter.optional(told.thought_tokens);
    meter.optional(told.total_tokens);
    let unknown = Usage { tokens_unknown: meter.tokens_unknown(), ..Usage::default() };
    let sum = |parts: &[u64]| parts.iter().fold(0_u64, |sum, part| sum.saturating_add(*part));
    let beside = sum(&[input, cached, written]);
    let Some(total) = told.total_tokens.known() else {
        // Without a total a cache that is no part of the input is larger than it, or is taken for a part of it.
        let input = if cached > input { beside } else { input };
        return Usage { input, output, cached: cached.min(input), ..unknown };
    };
    let thoughts_beside =
        total == sum(&[beside, output, thoughts]) || total == sum(&[input, output, thoughts]);
    let output = if thoughts_beside { output.saturating_add(thoughts) } else { output };
    let input = match total.checked_sub(output) {
        Some(input) if total > 0 => input,
        _ => beside,
    };
    Usage { input, output, cached: cached.min(input), ..unknown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, output: u64, cached: u64) -> Usage {
        Usage { input, output, cached, ..Usage::default() }
    }

    #[test]
    fn cached_tokens_are_counted_once_whichever_way_they_are_told() {
        let counted = |json: &str| counted(serde_json::from_str(json).unwrap());
        // claude, codex, opencode: beside the input; copilot: in it; gemini: not at all.
        let beside = r#"{"inputTokens":3402,"outputTokens":168,"cachedReadTokens":300,"totalTokens":3870}"#;
        let within = r#"{"inputTokens":3702,"outputTokens":168,"cachedReadTokens":300,"totalTokens":3870}"#;
        assert_eq!(counted(beside), usage(3702, 168, 300));
        assert_eq!(counted(within), usage(3702, 168, 300));
        assert_eq!(counted(r#"{"input_tokens":3702,"output_tokens":168}"#), usage(3702, 168, 0));
        let thoughts = r#"{"inputTokens":10,"outputTokens":5,"thoughtTokens":7,"totalTokens":22}"#;
        assert_eq!(counted(thoughts), usage(10, 12, 0));
        let no_total = r#"{"inputTokens":10,"outputTokens":5,"cachedReadTokens":90}"#;
        assert_eq!(counted(no_total), usage(100, 5, 90));
        assert_eq!(counted(r#"{"totalTokens":1,"outputTokens":18446744073709551615}"#).input, 0);
    }

    #[test]
    fn l10_a_count_over_the_process_becomes_the_turns() {
        let answer: Prompted =
            serde_json::from_str(r#"{"usage":{"inputTokens":300,"outputTokens":30,"totalTokens":330}}"#)
                .unwrap();
        let count = || Count::new(Counting::Process, usage(200, 20, 0), &usage(900, 90, 0));
        let (mut count, mut begun) = (count(), count());
        assert_eq!(count.ended(&answer), Some(usage(100, 10, 0)));
        assert_eq!(count.reported, usage(300, 30, 0));
        begun.begins(Counting::Process);
        assert_eq!(begun.ended(&answer), Some(usage(300, 30, 0)), "a new process counts from nothing");
    }

    #[test]
    fn l10_the_cost_of_a_conversation_becomes_the_turns() {
        let earlier = Usage { cost_usd: Some(0.5), ..Usage::default() };
        let mut count = Count::new(Counting::Turn, Usage::default(), &earlier);
        assert_eq!(count.cost(Some(0.75)).and_then(|usage| usage.cost_usd), Some(0.25));
        assert_eq!(count.cost(Some(0.75)), None, "nothing new");
        for odd in [None, Some(f64::NAN), Some(-1.0)] {
            assert!(count.cost(odd).is_some_and(|usage| !usage.knows_cost()), "{odd:?}");
        }
        let mut anew = Count::new(Counting::Turn, Usage::default(), &earlier);
        assert_eq!(anew.cost(Some(0.1)).and_then(|usage| usage.cost_usd), Some(0.1), "it counts anew");
    }
}
