//! What agents do, in one vocabulary for all of them (A3).

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fault, Tokens};
use crate::spec::Price;

/// One thing that an agent did in a turn. Every adapter turns what its agent prints into these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgentEvent {
    /// The agent began or resumed a conversation.
    Session {
        /// The id of the conversation.
        #[serde(rename = "session_id")]
        id: String,
    },
    /// The agent says something to the user. A completion promise counts only here.
    Text {
        /// A piece of the message. The pieces of one message follow each other.
        text: String,
    },
    /// The agent thinks aloud.
    Thinking {
        /// A piece of it.
        text: String,
    },
    /// The agent uses a tool.
    ToolCall {
        /// The id of the call: its result has the same one.
        id: String,
        /// The name of the tool.
        name: String,
        /// The call in one line: the command, the path.
        #[serde(default)]
        summary: String,
    },
    /// The tool answered.
    ToolResult {
        /// The id of the call.
        id: String,
        /// True if the tool reported an error.
        #[serde(default)]
        failed: bool,
        /// The beginning of what the tool returned.
        #[serde(default)]
        output: String,
    },
    /// The list of steps that the agent wants to take.
    Plan {
        /// The steps, a line each.
        steps: Vec<String>,
    },
    /// What the turn has used so far. It replaces what an earlier event of the turn said.
    Usage(Usage),
    /// The agent repeats a model call that failed.
    Retry {
        /// Why the call failed.
        message: String,
        /// The HTTP status of the failed call. Absent if the agent does not say it.
        #[serde(rename = "http_status", default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
    },
    /// The agent was not allowed to use a tool.
    Refused {
        /// The tool, and what it was to do.
        what: String,
    },
    /// The agent ran into a usage limit.
    Limit {
        /// What the agent said.
        message: String,
        /// When the limit ends; null if the agent did not say.
        resets_at: Option<Timestamp>,
    },
    /// Something went wrong.
    Error {
        /// Whether trying again can help.
        failure: FailureKind,
        /// What went wrong.
        fault: Fault,
    },
    /// The agent finished its turn.
    End {
        /// The agent's own word for how: `end_turn`, `error`, …
        #[serde(default)]
        reason: String,
    },
}

/// Whether trying again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The next iteration may work.
    Transient,
    /// It does not go away by itself: the agent is not installed, not logged in, not paid for.
    Permanent,
    /// The agent's conversation cannot be continued. A new one can be started.
    SessionLost,
}

/// Tokens and money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "WrittenUsage", into = "WrittenUsage")]
pub struct Usage {
    /// Tokens read, cached ones included.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens of the input that came from a cache.
    pub cached: u64,
    /// What it cost, where the agent says so or prices are configured.
    pub cost_usd: Option<f64>,
    /// The agent reported token counts that are missing in part or cannot be believed: the counts are too low.
    pub tokens_unknown: bool,
    /// The same for the cost.
    pub cost_unknown: bool,
}

/// What a turn used.
#[derive(Serialize, Deserialize, JsonSchema)]
struct WrittenUsage {
    /// The tokens used.
    #[serde(default)]
    tokens: Tokens,
    /// The cost; null if the agent did not report it and no prices are configured.
    #[serde(default)]
    cost_usd: Option<f64>,
    /// True if the agent reported no token counts, or counts that cannot be right: `tokens` is too low.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    tokens_unknown: bool,
    /// True if the agent reported a cost that cannot be right: `cost_usd` is too low.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cost_unknown: bool,
}

impl From<WrittenUsage> for Usage {
    fn from(written: WrittenUsage) -> Self {
        let WrittenUsage { tokens: Tokens { input, output, cached }, cost_usd, .. } = written;
        let WrittenUsage { tokens_unknown, cost_unknown, .. } = written;
        Self { input, output, cached, cost_usd, tokens_unknown, cost_unknown }
    }
}

impl From<Usage> for WrittenUsage {
    fn from(usage: Usage) -> Self {
        let Usage { cost_usd, tokens_unknown, cost_unknown, .. } = usage;
        Self { tokens: usage.in_and_out(), cost_usd, tokens_unknown, cost_unknown }
    }
}

/// No turn uses more tokens than this; a larger count is a mistake of the agent's.
const MOST_TOKENS_PER_TURN: u64 = 1_000_000_000_000;
/// No turn costs more than this.
const MOST_USD_PER_TURN: f64 = 1_000_000.0;

impl Usage {
    /// The usage of a turn without amounts that cannot be true: those are unknown, and count for nothing.
    #[must_use]
    pub fn believable(self) -> Usage {
        let mut usage = self;
        if usage.tokens() > MOST_TOKENS_PER_TURN {
            usage = Usage { cost_usd: usage.cost_usd, cost_unknown: usage.cost_unknown, ..Usage::default() };
            usage.tokens_unknown = true;
        }
        if usage.cost_usd.is_some_and(|cost| !(0.0..=MOST_USD_PER_TURN).contains(&cost)) {
            usage.cost_usd = None;
            usage.cost_unknown = true;
        }
        usage
    }

    /// What it costs at this price.
    pub(crate) fn cost_at(&self, price: &Price) -> f64 {
        let cached = self.cached.min(self.input);
        let fresh = (self.input - cached) as f64 * price.input;
        let from_cache = cached as f64 * price.cached.unwrap_or(price.input);
        (fresh + from_cache + self.output as f64 * price.output) / 1e6
    }

    /// Whether a turn that succeeded says how many tokens it used. No model answers without reading and writing any.
    pub fn knows_tokens(&self) -> bool {
        !self.tokens_unknown && self.tokens() > 0
    }

    /// Whether a turn that succeeded says what it cost.
    pub fn knows_cost(&self) -> bool {
        !self.cost_unknown && self.cost_usd.is_some()
    }

    /// What was read and written.
    pub fn in_and_out(&self) -> Tokens {
        Tokens { input: self.input, output: self.output, cached: self.cached }
    }

    /// Input and output together, what `--max-tokens` counts.
    pub fn tokens(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// What came on top of `earlier`, for agents that count over a whole conversation.
    pub fn since(&self, earlier: &Usage) -> Usage {
        Usage {
            input: self.input.saturating_sub(earlier.input),
            output: self.output.saturating_sub(earlier.output),
            cached: self.cached.saturating_sub(earlier.cached),
            cost_usd: self.cost_usd.map(|cost| (cost - earlier.cost_usd.unwrap_or(0.0)).max(0.0)),
            tokens_unknown: self.tokens_unknown,
            cost_unknown: self.cost_unknown,
        }
    }

    /// The same, but where less is reported than was known before, counting has begun anew: then it is all of it.
    pub fn on_top_of(&self, earlier: &Usage) -> Usage {
        if self.tokens() < earlier.tokens() { *self } else { self.since(earlier) }
    }

    pub fn plus(&self, other: &Usage) -> Usage {
        Usage {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
            cost_usd: match (self.cost_usd, other.cost_usd) {
                (None, None) => None,
                (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
            },
            tokens_unknown: self.tokens_unknown || other.tokens_unknown,
            cost_unknown: self.cost_unknown || other.cost_unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn usage(input: u64, output: u64, cached: u64, cost_usd: Option<f64>) -> Usage {
        Usage { input, output, cached, cost_usd, ..Usage::default() }
    }

    #[test]
    fn l10_what_came_on_top_is_the_difference() {
        let total = usage(100, 20, 50, Some(0.75));
        assert_eq!(total.since(&usage(60, 5, 50, Some(0.5))), usage(40, 15, 0, Some(0.25)));
        assert_eq!(total.since(&Usage::default()), total);
        assert_eq!(usage(100, 20, 50, None).since(&total), usage(0, 0, 0, None), "no cost is no cost");
        assert_eq!(total.since(&usage(0, 0, 0, None)).cost_usd, Some(0.75));
    }

    #[test]
    fn l10_a_count_that_began_anew_is_never_negative() {
        let before = usage(100, 20, 50, Some(0.75));
        assert_eq!(usage(10, 2, 0, Some(0.1)).since(&before), usage(0, 0, 0, Some(0.0)));
        assert_eq!(usage(u64::MAX, 1, 0, None).tokens(), u64::MAX);
    }

    #[test]
    fn l10_amounts_that_cannot_be_true_are_unknown_and_count_for_nothing() {
        let fine = usage(100, 20, 50, Some(0.75));
        assert_eq!(fine.believable(), fine);
        let largest = usage(MOST_TOKENS_PER_TURN, 0, 0, Some(MOST_USD_PER_TURN));
        assert_eq!(largest.believable(), largest);
        for odd in [-0.01, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1_000_000.01, 1e300] {
            let believed = usage(100, 20, 50, Some(odd)).believable();
            assert_eq!(believed, Usage { cost_unknown: true, ..usage(100, 20, 50, None) }, "{odd}");
            assert!(believed.knows_tokens() && !believed.knows_cost());
        }
        for (input, output) in [(MOST_TOKENS_PER_TURN, 1), (u64::MAX, u64::MAX)] {
            let believed = usage(input, output, 50, Some(0.75)).believable();
            assert_eq!(believed, Usage { tokens_unknown: true, ..usage(0, 0, 0, Some(0.75)) });
            assert!(believed.knows_cost() && !believed.knows_tokens());
        }
        assert!(!Usage::default().knows_tokens() && !Usage::default().knows_cost(), "nothing was said");
        assert!(usage(1, 0, 0, Some(0.0)).knows_cost(), "a local model costs nothing");
    }

    #[test]
    fn l10_what_is_unknown_of_a_part_is_unknown_of_the_whole() {
        let part = Usage { tokens_unknown: true, ..usage(100, 20, 50, None) };
        let whole = usage(1, 1, 0, Some(0.5)).plus(&part);
        assert!(!whole.knows_tokens() && whole.knows_cost());
        assert!(whole.since(&usage(1, 1, 0, None)).tokens_unknown);
        let line = serde_json::to_string(&part).unwrap();
        assert_eq!(serde_json::from_str::<Usage>(&line).unwrap(), part);
        let plain = serde_json::to_string(&usage(1, 2, 3, None)).unwrap();
        assert_eq!(plain, r#"{"tokens":{"input":1,"output":2,"cached":3},"cost_usd":null}"#);
    }

    proptest! {
        #[test]
        fn l10_since_takes_back_what_plus_gave(
            a in (0_u64..1 << 40, 0_u64..1 << 40, 0_u64..1 << 40),
            b in (0_u64..1 << 40, 0_u64..1 << 40, 0_u64..1 << 40),
        ) {
            let (a, b) = (usage(a.0, a.1, a.2, None), usage(b.0, b.1, b.2, None));
            prop_assert_eq!(a.plus(&b).since(&a), b);
        }
    }

    #[test]
    fn l10_tokens_have_their_price() {
        let price = Price { input: 1.25, output: 10.0, cached: Some(0.125) };
        let usage = Usage { input: 3_000_000, output: 100_000, cached: 1_000_000, ..Usage::default() };
        assert!(
            (usage.cost_at(&price) - (2.5 + 0.125 + 1.0)).abs() < 1e-9,
            "cached ones are part of the input"
        );
        let plain = Price { cached: None, ..price };
        assert!((usage.cost_at(&plain) - (3.75 + 1.0)).abs() < 1e-9);
        assert!(Usage::default().cost_at(&price).abs() < 1e-9);
    }

    #[test]
    fn l10_more_cached_than_read_is_not_paid_for() {
        let price = Price { input: 1.0, output: 1.0, cached: Some(0.5) };
        let odd = Usage { input: 10, output: 0, cached: u64::MAX, ..Usage::default() };
        assert!((odd.cost_at(&price) - 10.0 * 0.5 / 1e6).abs() < 1e-12);
    }
}
