//! Which budgets can be held with which agents (L10).

use dacapo_core::agent;
use dacapo_core::spec::{AgentCommand, AgentSpec, OutputFormat};

use super::TaskRequest;
use crate::error::Failure;
use crate::messages::{Messages, say};

/// A budget that cannot be held is refused before any of it is spent (L10).
pub(super) fn budget<'a>(
    args: &TaskRequest,
    agents: impl Iterator<Item = &'a AgentSpec> + Clone,
) -> Result<(), Failure> {
    if let Some(cost) = args.max_cost
        && !(cost.is_finite() && cost > 0.0)
    {
        return Err(Failure::usage(say(|m| m.budget_cost_not_positive(cost)))
            .kept(say(Messages::kept_nothing_started))
            .hint("--max-cost 2.50"));
    }
    if args.max_tokens == Some(0) {
        return Err(Failure::usage(say(Messages::budget_tokens_not_positive))
            .kept(say(Messages::kept_nothing_started))
            .hint("--max-tokens 500000"));
    }
    match (args.max_cost, args.max_tokens) {
        (Some(_), _) => can_hold(Budget::Cost, agents),
        (_, Some(_)) => can_hold(Budget::Tokens, agents),
        _ => Ok(()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// `--max-cost`.
    Cost,
    /// `--max-tokens`.
    Tokens,
}

/// Whether all of these agents say what a budget counts.
pub fn can_hold<'a>(
    budget: Budget,
    mut agents: impl Iterator<Item = &'a AgentSpec> + Clone,
) -> Result<(), Failure> {
    let flag = match budget {
        Budget::Cost => "--max-cost",
        Budget::Tokens => "--max-tokens",
    };
    if let Some(agent) = agents.clone().find(|agent| !agent.reports_usage()) {
        return Err(Failure::usage(say(|m| m.budget_plain_text(&agent.name, flag)))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(|m| m.budget_other_limits(flag))));
    }
    match agents.find(|agent| budget == Budget::Cost && !knows_its_cost(agent)) {
        Some(agent) => Err(no_price(agent)),
        None => Ok(()),
    }
}

pub fn knows_its_cost(agent: &AgentSpec) -> bool {
    let says_so = match agent::adapter(agent.output) {
        Some(adapter) => adapter.reports_cost(),
        // A script says what it likes; an endpoint counts tokens, not money.
        None => agent.output == OutputFormat::Rehearsal && !matches!(agent.command, AgentCommand::Own(_)),
    };
    says_so || agent.price.is_some()
}

pub fn no_price(agent: &AgentSpec) -> Failure {
    let key = agent.model.as_ref().unwrap_or(&agent.name);
    Failure::usage(say(|m| m.budget_no_price(&agent.name)))
        .hint(say(|m| m.budget_set_prices(key)))
        .hint(say(Messages::budget_tokens_need_no_prices))
        .kept(say(Messages::kept_nothing_started))
}
