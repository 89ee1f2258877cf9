//! How a turn ended: what the process, the stream and we ourselves have to say becomes one record.

use std::io;
use std::time::Duration;

use super::driver::Driver;
use super::machine::{Input, TurnPlan};
use crate::agent::{self, Adapter, Ending, GiveUp, Observed, weigh};
use crate::context::summarize;
use crate::event::{AgentEvent, TurnRecord};
use crate::process::{Exit, Finished, tail};
use crate::spec::{AgentCommand, Approval};

/// So much of what an agent wrote to standard error may tell why it ended.
const LAST_WORDS: usize = 16 << 10;

/// Why we end a turn ourselves.
#[derive(Debug)]
pub(super) enum Why {
    Cancelled,
    Budget,
    TimedOut(String),
    GaveUp(GiveUp),
}

impl Driver<'_> {
    pub(super) fn adapter(&self, plan: &TurnPlan) -> Option<&'static dyn Adapter> {
        agent::adapter(self.spec.agents[plan.agent].output)
    }

    /// Where an agent's stream gives no reason, its exit code and its last words on standard error may.
    pub(super) fn diagnosed(&self, plan: &TurnPlan, ending: &Ending, mut seen: Observed) -> Observed {
        let Ending::Exited(code) = *ending else { return seen };
        let unexplained = seen.error.is_none() && seen.limit.is_none() && (code != 0 || seen.end.is_none());
        if let Some(adapter) = self.adapter(plan).filter(|_| unexplained) {
            let words = tail(&self.dir.turn_path(plan.turn, "err"), LAST_WORDS).unwrap_or_default();
            match adapter.diagnose(code, &String::from_utf8_lossy(&words)) {
                Some(AgentEvent::Error { failure, message }) => seen.error = Some((failure, message)),
                Some(AgentEvent::Limit { message, resets_at }) => seen.limit = Some((message, resets_at)),
                _ => {}
            }
        }
        seen
    }

    /// What the agent was not allowed to do, with what would have helped. One that was to read only has what it was
    /// given.
    fn refused(&self, plan: &TurnPlan, seen: &Observed) -> Option<String> {
        let agent = &self.spec.agents[plan.agent];
        if seen.refused.is_empty() || agent.approval == Approval::ReadOnly {
            return None;
        }
        let flag = self.adapter(plan).and_then(|adapter| adapter.unattended().first());
        let helps = match (&agent.command, flag) {
            (AgentCommand::Argv(_), Some(flag)) if agent.approval == Approval::Auto => {
                format!("put {flag} into the agent's command")
            }
            _ => "use --approval auto".to_owned(),
        };
        let what = seen.refused.join(", ");
        Some(format!("{} was not allowed to use {what} and changed nothing; {helps}", agent.name))
    }

    pub(super) fn ended(
        &self,
        plan: &TurnPlan,
        ending: &Ending,
        seen: Observed,
        duration: Duration,
    ) -> Input {
        let final_event = self.adapter(plan).is_some_and(Adapter::has_final_event);
        let end = weigh(ending, &seen, final_event);
        let refused = self.refused(plan, &seen);
        let summary = summarize(&seen.closing, self.spec.context.summary_max_tokens, plan.promise.as_deref());
        Input::TurnEnded(TurnRecord {
            turn: plan.turn,
            iteration: plan.iteration,
            end,
            session: seen.session.or_else(|| plan.session.clone()),
            promise: seen.promise,
            summary: if self.spec.context.generate_summary { summary } else { String::new() },
            usage: seen.usage,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            output_bytes: 0,
            exit_code: None,
            refused,
        })
    }
}

pub(super) fn ending(why: Option<Why>, finished: &Finished) -> Ending {
    match (why, &finished.exit) {
        (_, Exit::SpawnFailed { kind, message, .. }) => Ending::NotStarted {
            permanent: matches!(
                kind,
                io::ErrorKind::NotFound
                    | io::ErrorKind::PermissionDenied
                    | io::ErrorKind::ArgumentListTooLong
            ),
            message: message.clone(),
        },
        (Some(Why::Cancelled), _) => Ending::Cancelled,
        (Some(Why::Budget), _) => Ending::OverBudget,
        (Some(Why::TimedOut(message)), _) => Ending::TimedOut(message),
        (Some(Why::GaveUp(given_up)), _) => Ending::GaveUp(given_up),
        (None, _) if finished.guard_lost => Ending::GuardLost,
        (None, Exit::Code(code)) => Ending::Exited(*code),
        (None, Exit::Signal(signal)) => Ending::Signalled(*signal),
        (None, Exit::Lost) => Ending::GuardLost,
    }
}
