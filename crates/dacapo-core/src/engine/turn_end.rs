//! How a turn ended: what the process, the stream and we ourselves have to say becomes one record.

use std::io;
use std::path::Path;
use std::time::Duration;

use super::driver::Driver;
use super::machine::{Input, TurnPlan};
use super::turn::Parsed;
use crate::agent::{self, Adapter, Billing, Ending, GiveUp, Observed, Surroundings, weigh};
use crate::context::{last_lines, question, summarize};
use crate::event::{AgentEvent, FailureKind, TurnEnd, TurnRecord};
use crate::process::{Exit, Finished, tail};
use crate::spec::{AgentCommand, AgentSpec, Approval};

/// So much of what an agent wrote to standard error may tell why it ended.
const LAST_WORDS: usize = 16 << 10;
/// So much of it goes into the record of a turn that failed.
const LINES_KEPT: usize = 10;
const BYTES_KEPT: usize = 2 << 10;

/// Why we end a turn ourselves.
#[derive(Debug)]
pub(super) enum Why {
    Cancelled,
    Budget,
    TimedOut(String),
    GaveUp(GiveUp),
}

/// What is known of the end of a call: its process is gone, and all that it printed was read, in either order.
#[derive(Default)]
pub(super) struct CallEnded {
    pub(super) gone: Option<Box<Finished>>,
    pub(super) parsed: Option<Box<Parsed>>,
}

impl CallEnded {
    /// Both, once there are both.
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
    fn with_key_named(&self, plan: &TurnPlan, end: TurnEnd) -> TurnEnd {
        let (TurnEnd::Failed { failure: failure @ FailureKind::Permanent, message }, Some(adapter)) =
            (&end, self.adapter(plan))
        else {
            return end;
        };
        let agent = &self.spec.agents[plan.agent];
        let mut env = self.context.env.to_vec();
        env.extend(agent.env.iter().map(|(name, value)| (name.into(), value.into())));
        let account = adapter.account(&Surroundings { env: &env });
        match key_refused(message, adapter.how_to_log_in(), &account.billing) {
            Some(message) => TurnEnd::Failed { failure: *failure, message },
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
        let refused = refused(agent, &seen);
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
            summary: if self.spec.context.generate_summary { summary } else { String::new() },
            usage: seen.usage,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            output_bytes: 0,
            exit_code: None,
            refused,
            reply: plan.keep_reply.then_some(seen.closing),
            timed_out: matches!(ending, Ending::TimedOut(_)),
            stderr_tail: failed.then_some(seen.stderr_tail),
        })
    }
}

/// Who has set a key and is refused need not be told to set it. `advice` is how one logs in, as the message ends.
fn key_refused(message: &str, advice: &str, billing: &Billing) -> Option<String> {
    let Billing::ApiKey(holder) = billing else { return None };
    let said = message.strip_prefix("not logged in")?.strip_suffix(advice)?.trim_end_matches([';', ' ']);
    let said = said.trim_start_matches([':', ' ']);
    let said = if said.is_empty() { String::new() } else { format!(": {said}") };
    Some(format!("the key in {holder} was refused{said}; see that it is right, or take it away and log in"))
}

/// What an agent wrote to standard error last, as a record keeps it. The file holds no secrets that are known.
fn last_said(stderr: &Path) -> String {
    let words = tail(stderr, LAST_WORDS).unwrap_or_default();
    last_lines(&String::from_utf8_lossy(&words), LINES_KEPT, BYTES_KEPT)
}

/// What the agent was not allowed to do, with what would have helped. One that was to read only has what it was given.
fn refused(agent: &AgentSpec, seen: &Observed) -> Option<String> {
    let adapter = agent::adapter(agent.output);
    if agent.approval == Approval::ReadOnly {
        return None;
    }
    let what = if !seen.refused.is_empty() {
        format!("was not allowed to use {}", seen.refused.join(", "))
    } else if adapter.is_some_and(|adapter| adapter.lacks_tools(agent)) {
        "was given no tools that change anything".to_owned()
    } else {
        return None;
    };
    let helps = match (&agent.command, adapter.and_then(|adapter| adapter.unattended().first())) {
        (AgentCommand::Argv(_), Some(flag)) if agent.approval == Approval::Auto => {
            format!("put {flag} into the agent's command")
        }
        _ => "use --approval auto".to_owned(),
    };
    Some(format!("{} {what} and changed nothing; {helps}", agent.name))
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
        Some(AgentEvent::Error { failure, message }) => seen.error = Some((failure, message)),
        Some(AgentEvent::Limit { message, resets_at }) => seen.limit = Some((message, resets_at)),
        _ => {}
    }
    seen
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

#[cfg(test)]
mod tests {
    use super::*;
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
            env: Vec::new(),
            model: None,
            price: None,
            approval,
        }
    }

    #[test]
    fn a8_what_was_refused_is_told_with_what_would_have_helped() {
        let seen = Observed { refused: vec!["write a".into(), "shell".into()], ..Observed::default() };
        let told = refused(&agent(Approval::Edits), &seen);
        assert_eq!(
            told.as_deref(),
            Some("bot was not allowed to use write a, shell and changed nothing; use --approval auto")
        );
        assert_eq!(refused(&agent(Approval::Auto), &Observed::default()), None);
    }

    #[test]
    fn u6_who_has_set_a_key_is_not_told_to_set_it() {
        let advice = "run `x login`, or set X_KEY";
        let by_key = Billing::ApiKey("X_KEY".into());
        let told = |message: &str, billing| key_refused(message, advice, billing);
        assert_eq!(
            told(&format!("not logged in: 401 invalid x-api-key; {advice}"), &by_key).as_deref(),
            Some(
                "the key in X_KEY was refused: 401 invalid x-api-key; see that it is right, or take it away and log in"
            )
        );
        assert_eq!(
            told(&format!("not logged in; {advice}"), &by_key).as_deref(),
            Some("the key in X_KEY was refused; see that it is right, or take it away and log in")
        );
        assert_eq!(told(&format!("not logged in: 401; {advice}"), &Billing::Subscription), None);
        assert_eq!(told("not paid for: no credit", &by_key), None);
    }

    #[test]
    fn a8_one_that_was_to_read_only_is_not_blamed_for_it() {
        let seen = Observed { refused: vec!["write a".into()], ..Observed::default() };
        assert_eq!(refused(&agent(Approval::ReadOnly), &seen), None);
    }

    #[test]
    fn a8_a_built_in_agents_own_command_names_its_own_flag() {
        let seen = Observed { refused: vec!["write".into()], ..Observed::default() };
        for adapter in agent::BUILT_IN {
            let Some(flag) = adapter.unattended().first() else { continue };
            let own = AgentSpec { output: adapter.format(), ..agent(Approval::Auto) };
            let told = refused(&own, &seen).unwrap();
            assert!(told.ends_with(&format!("put {flag} into the agent's command")), "{told}");
        }
    }
}
