//! How a turn ended: what the process, the stream and we ourselves have to say becomes one record.

use std::io;
use std::path::Path;
use std::time::Duration;

use super::driver::Driver;
use super::machine::{Input, TurnPlan};
use super::turn::Parsed;
use crate::agent::{self, Adapter, Billing, Ending, GiveUp, Observed, UserEnv, weigh};
use crate::context::{last_lines, question, reason, summarize};
use crate::event::{AgentEvent, FailureKind, Fault, NotAllowed, TurnEnd, TurnRecord};
use crate::process::{Exit, Finished, tail};
use crate::spec::{AgentCommand, AgentSpec, Approval};

/// How much of what an agent wrote to standard error may tell why it ended.
const LAST_WORDS: usize = 16 << 10;
/// How much of it goes into the record of a turn that failed.
const LINES_KEPT: usize = 10;
const BYTES_KEPT: usize = 2 << 10;

/// Why we end a turn ourselves.
#[derive(Debug)]
pub(super) enum StoppedBy {
    Cancelled,
    Budget,
    TimedOut(Fault),
    GaveUp(GiveUp),
}

/// What is known of the end of a call: its process is gone, and all that it printed was read, in either order.
#[derive(Default)]
pub(super) struct CallEnded {
    pub(super) gone: Option<Box<Finished>>,
    pub(super) parsed: Option<Box<Parsed>>,
}

impl CallEnded {
    /// Gives both, once both are there.
    pub(super) fn both(&mut self) -> Option<(Box<Finished>, Box<Parsed>)> {
        match (self.gone.take(), self.parsed.take()) {
            (Some(gone), Some(parsed)) => Some((gone, parsed)),
            (gone, parsed) => {
                (self.gone, self.parsed) = (gone, parsed);
                None
            }
        }
    }
}

impl Driver<'_> {
    /// Who has set a key and is refused need not be told to set it.
    fn with_key_named(&self, plan: &TurnPlan, end: TurnEnd) -> TurnEnd {
        let (TurnEnd::Failed { failure: failure @ FailureKind::Permanent, fault }, Some(adapter)) =
            (&end, self.adapter(plan))
        else {
            return end;
        };
        let agent = &self.spec.agents[plan.agent];
        let mut env = self.context.env.to_vec();
        env.extend(agent.env.iter().map(|(name, value)| (name.into(), value.into())));
        let account = adapter.account(&UserEnv { env: &env });
        match key_refused(fault, adapter.name(), &account.billing) {
            Some(fault) => TurnEnd::Failed { failure: *failure, fault },
            None => end,
        }
    }

    pub(super) fn adapter(&self, plan: &TurnPlan) -> Option<&'static dyn Adapter> {
        agent::adapter(self.spec.agents[plan.agent].output)
    }

    pub(super) fn ended(
        &self,
        plan: &TurnPlan,
        ending: &Ending,
        mut seen: Observed,
        duration: Duration,
    ) -> Input {
        seen.stderr_tail = last_said(&self.dir.turn_path(plan.turn, "err"));
        let final_event = self.adapter(plan).is_some();
        let end = self.with_key_named(plan, weigh(ending, &seen, final_event));
        let agent = &self.spec.agents[plan.agent];
        let not_allowed = not_allowed(agent, &seen);
        let most = self.spec.context.summary_max_tokens;
        let summary = summarize(&seen.closing, agent.output, most, plan.promise.as_deref());
        let failed = matches!(end, TurnEnd::Failed { .. }) && !seen.stderr_tail.is_empty();
        Input::TurnEnded(TurnRecord {
            turn: plan.turn,
            iteration: plan.iteration,
            end,
            session: seen.session.or_else(|| plan.session.clone()),
            promise: seen.promise,
            blocked: seen.blocked.as_deref().map(question),
            tests_changed: seen.tests_changed.as_deref().and_then(reason),
            summary: if self.spec.context.generate_summary { summary } else { String::new() },
            usage: seen.usage,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            output_bytes: 0,
            exit_code: None,
            not_allowed,
            reply: plan.keep_reply.then_some(seen.closing),
            timed_out: matches!(ending, Ending::TimedOut(_)),
            stderr_tail: failed.then_some(seen.stderr_tail),
        })
    }
}

/// The login of `agent` that was refused is a key that was set.
fn key_refused(fault: &Fault, agent: &str, billing: &Billing) -> Option<Fault> {
    let (Fault::NotLoggedIn { said, log_in: Some(log_in) }, Billing::ApiKey(holder)) = (fault, billing)
    else {
        return None;
    };
    let own = log_in.agent.as_deref() == Some(agent);
    own.then(|| Fault::KeyRefused { holder: holder.clone(), said: said.clone() })
}

/// What an agent wrote to standard error last, as a record keeps it. The file holds no secrets that are known.
fn last_said(stderr: &Path) -> String {
    let words = tail(stderr, LAST_WORDS).unwrap_or_default();
    last_lines(&String::from_utf8_lossy(&words), LINES_KEPT, BYTES_KEPT)
}

/// What the agent was not allowed to do. One that was to read only has what it was given.
fn not_allowed(agent: &AgentSpec, seen: &Observed) -> Option<NotAllowed> {
    let adapter = agent::adapter(agent.output);
    if agent.approval == Approval::ReadOnly {
        return None;
    }
    if seen.refused.is_empty() && !adapter.is_some_and(|adapter| adapter.lacks_tools(agent)) {
        return None;
    }
    let argument = match (&agent.command, adapter.and_then(|adapter| adapter.unattended().first())) {
        (AgentCommand::Argv(_), Some(flag)) if agent.approval == Approval::Auto => Some((*flag).to_owned()),
        _ => None,
    };
    Some(NotAllowed { agent: agent.name.clone(), tools: seen.refused.clone(), argument })
}

/// Where an agent's stream gives no reason, or none that is certain, its exit code and its last words on standard error
/// may.
pub(super) fn diagnosed(
    adapter: Option<&dyn Adapter>,
    stderr: &Path,
    ending: &Ending,
    mut seen: Observed,
) -> Observed {
    let Ending::Exited(code) = *ending else { return seen };
    let certain = matches!(seen.error, Some((FailureKind::Permanent | FailureKind::SessionLost, _)))
        || seen.limit.is_some();
    if certain || (code == 0 && seen.end.is_some()) {
        return seen;
    }
    let Some(adapter) = adapter else { return seen };
    let words = tail(stderr, LAST_WORDS).unwrap_or_default();
    match adapter.diagnose(code, &String::from_utf8_lossy(&words)) {
        // The stream has said as much.
        Some(AgentEvent::Error { failure: FailureKind::Transient, .. }) if seen.error.is_some() => {}
        Some(AgentEvent::Error { failure, fault }) => seen.error = Some((failure, fault)),
        Some(AgentEvent::Limit { message, resets_at }) => seen.limit = Some((message, resets_at)),
        _ => {}
    }
    seen
}

pub(super) fn ending(why: Option<StoppedBy>, finished: &Finished) -> Ending {
    match (why, &finished.exit) {
        (_, Exit::SpawnFailed { kind, message, .. }) => Ending::NotStarted {
            permanent: matches!(
                kind,
                io::ErrorKind::NotFound
                    | io::ErrorKind::PermissionDenied
                    | io::ErrorKind::ArgumentListTooLong
            ),
            fault: message.as_str().into(),
        },
        (Some(StoppedBy::Cancelled), _) => Ending::Cancelled,
        (Some(StoppedBy::Budget), _) => Ending::OverBudget,
        (Some(StoppedBy::TimedOut(fault)), _) => Ending::TimedOut(fault),
        (Some(StoppedBy::GaveUp(given_up)), _) => Ending::GaveUp(given_up),
        (None, _) if finished.guard_lost => Ending::GuardLost,
        (None, Exit::Code(code)) => Ending::Exited(*code),
        (None, Exit::Signal(signal)) => Ending::Signalled(*signal),
        (None, Exit::Lost) => Ending::GuardLost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::LogIn;
    use crate::spec::{OutputFormat, PromptBy};

    fn agent(approval: Approval) -> AgentSpec {
        AgentSpec {
            name: "bot".into(),
            command: AgentCommand::Argv(vec!["bot".into()]),
            start: Vec::new(),
            prompt: PromptBy::Stdin,
            output: OutputFormat::Rehearsal,
            resume: None,
            follow_up: String::new(),
            env: Vec::new().into(),
            model: None,
            price: None,
            approval,
        }
    }

    fn refused(tools: &[&str]) -> Observed {
        Observed { refused: tools.iter().map(|tool| (*tool).to_owned()).collect(), ..Observed::default() }
    }

    #[test]
    fn a8_what_was_refused_is_told_with_what_would_have_helped() {
        let seen = refused(&["write a", "shell"]);
        let told = NotAllowed { agent: "bot".into(), tools: seen.refused.clone(), argument: None };
        assert_eq!(not_allowed(&agent(Approval::Edits), &seen), Some(told));
        assert_eq!(not_allowed(&agent(Approval::Auto), &Observed::default()), None);
    }

    #[test]
    fn u6_who_has_set_a_key_is_not_told_to_set_it() {
        let by_key = Billing::ApiKey("X_KEY".into());
        let login = |agent: &str| Fault::not_logged_in("401", Some(LogIn::of(agent)));
        let refused = Fault::KeyRefused { holder: "X_KEY".into(), said: "401".into() };
        assert_eq!(key_refused(&login("x"), "x", &by_key), Some(refused));
        assert_eq!(key_refused(&login("y"), "x", &by_key), None, "it is the key of another");
        assert_eq!(key_refused(&login("x"), "x", &Billing::Subscription), None);
        let unpaid = Fault::NotPaidFor { said: "no credit".into() };
        assert_eq!(key_refused(&unpaid, "x", &by_key), None);
    }

    #[test]
    fn a8_one_that_was_to_read_only_is_not_blamed_for_it() {
        assert_eq!(not_allowed(&agent(Approval::ReadOnly), &refused(&["write a"])), None);
    }

    #[test]
    fn a8_a_built_in_agents_own_command_names_its_own_flag() {
        for adapter in agent::BUILT_IN {
            let Some(flag) = adapter.unattended().first() else { continue };
            let own = AgentSpec { output: adapter.format(), ..agent(Approval::Auto) };
            let told = not_allowed(&own, &refused(&["write"])).unwrap();
            assert_eq!(told.argument.as_deref(), Some(*flag));
        }
    }
}
