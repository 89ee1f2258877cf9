//! The built-in scripted agent speaks our own vocabulary: an [`AgentEvent`] a line.

use super::lines::LineReader;
use super::metering::Meter;
use super::raw_json::Object;
use super::{Account, UserEnv};
use crate::event::{AgentEvent, Usage};

/// It has no login; but loops that share an account, and its limits, can be rehearsed too: the variable names it.
pub(super) fn account(user_env: &UserEnv<'_>) -> Account {
    Account {
        logged_in: Some(true),
        credential: user_env.var("REHEARSAL_ACCOUNT").map(str::to_owned),
        ..Account::default()
    }
}

/// A report of usage with amounts that are none: what can be read of it counts, and the rest is unknown.
fn damaged_usage(line: &[u8]) -> Option<AgentEvent> {
    let text = String::from_utf8_lossy(line);
    let report = Object::parse(&text).filter(|report| report.text("kind").as_deref() == Some("usage"))?;
    let mut meter = Meter::default();
    let tokens = report.object("tokens").unwrap_or_default();
    let cost = report.raw("cost_usd").filter(|cost| cost.get() != "null");
    let cost_usd = report.number("cost_usd");
    Some(AgentEvent::Usage(Usage {
        input: meter.optional(tokens.reported("input")),
        output: meter.optional(tokens.reported("output")),
        cached: tokens.reported("cached").known().unwrap_or(0),
        cost_usd,
        tokens_unknown: meter.tokens_unknown(),
        cost_unknown: cost.is_some() && cost_usd.is_none(),
    }))
}

/// Reads JSON lines; anything else it prints is noise.
#[derive(Debug, Clone)]
pub(super) struct RehearsalLines;

impl LineReader for RehearsalLines {
    fn line(&mut self, line: &[u8], sink: &mut dyn FnMut(AgentEvent)) {
        match serde_json::from_slice(line) {
            Ok(event) => sink(event),
            Err(_) => damaged_usage(line).into_iter().for_each(sink),
        }
    }
}
