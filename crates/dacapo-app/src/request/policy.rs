//! How long a loop goes on and what proves it done: from a request, and back from what is on record.

use dacapo_core::spec::SessionMode;
use dacapo_core::spec::{Cap, CapSource, LoopPolicy, ProofPolicy, SessionNeed, TestsPolicy};

use super::TaskRequest;
use crate::agents::Chosen;
use crate::config::Timespan;
use crate::error::Failure;
use crate::messages::{Messages, Text, say};

/// The cap of a loop that nobody capped (L5).
const MAX_ITERATIONS: u32 = 5;

pub(super) fn condition(text: &str) -> Failure {
    Failure::usage(say(|m| m.condition_invalid(text))).kept(say(Messages::kept_nothing_started))
}

pub(super) fn policy(
    args: &TaskRequest,
    chosen: &Chosen,
    checks: Vec<String>,
    notes: &mut Vec<Text>,
) -> Result<LoopPolicy, Failure> {
    let profile = chosen.profile.loop_settings();
    let iter = match args.iter {
        Some(0) => return Err(condition("0").hint("--iter 5")),
        iter => iter,
    };
    let time = args.time.map(Timespan::duration);
    let asked = args.until.is_some() || !checks.is_empty() || !args.hidden_checks.is_empty();
    if args.until.as_ref().is_some_and(String::is_empty) {
        return Err(Failure::usage(say(Messages::until_empty))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(Messages::until_how)));
    }
    let by_flags = asked || iter.is_some() || time.is_some() || args.max_iterations.is_some();
    let looping = by_flags || profile.is_some();
    let until = match (&args.until, &profile) {
        (Some(text), _) => Some(text.clone()),
        // A profile's own promise holds unless other conditions were asked for; an empty one is none (L3).
        (None, Some(profile)) if !asked => {
            profile.completion_promise.clone().filter(|promise| !promise.is_empty())
        }
        (None, _) => None,
    };
    let completion = until.is_some() || !checks.is_empty() || !args.hidden_checks.is_empty();
    let clamped = args.max_iterations.map(|wanted| {
        let used = wanted.clamp(1, 100);
        if used != wanted {
            notes.push(say(|m| m.iterations_clamped(wanted, used)));
        }
        u32::try_from(used).unwrap_or(1)
    });
    let by_max = |iterations| Some(Cap { iterations, source: CapSource::MaxIterations });
    let cap = match (looping, iter, clamped) {
        (false, _, _) => Some(Cap::by_iter(1)),
        (true, Some(iterations), _) => Some(Cap::by_iter(iterations)),
        (true, None, Some(iterations)) => by_max(iterations),
        (true, None, None) if time.is_some() => None,
        (true, None, None) => {
            by_max(profile.as_ref().map_or(MAX_ITERATIONS, |profile| profile.max_iterations))
        }
    };
    let unset = LoopPolicy::default();
    let mut policy = LoopPolicy {
        looping,
        cap,
        time,
        until,
        checks,
        check_timeout: args.check_timeout.map_or(unset.check_timeout, Timespan::duration),
        baseline: !args.no_baseline,
        proof: ProofPolicy::default(),
        tests: TestsPolicy::default(),
        max_failures: 0,
        max_cost: args.max_cost,
        max_tokens: args.max_tokens,
        stall: args.stall.unwrap_or(default_stall(completion)),
        turn_timeout: args.turn_timeout.map(Timespan::duration),
        idle_timeout: args.idle_timeout.map_or(unset.idle_timeout, Timespan::duration),
        session: session(args, chosen)?,
        max_wait: args.max_wait.map_or(unset.max_wait, Timespan::duration),
    };
    policy.max_failures = args.max_failures.unwrap_or(default_failures(&policy));
    Ok(policy)
}

/// How many failures in a row end a loop of this kind (L8).
fn default_failures(policy: &LoopPolicy) -> u32 {
    if policy.is_pure() { 0 } else { 10 }
}

/// How many iterations without progress end a loop with or without a completion condition (L11).
fn default_stall(completion: bool) -> u32 {
    if completion { 3 } else { 0 }
}

fn session(args: &TaskRequest, chosen: &Chosen) -> Result<SessionMode, Failure> {
    let agent = &chosen.agents[0];
    let can = agent.session_need() != SessionNeed::Impossible;
    let by_profile = chosen.profile.loop_settings().map(|settings| settings.session);
    match (args.session, by_profile) {
        (Some(SessionMode::Resume), _) | (None, Some(Some(crate::config::Session::Resume))) if !can => {
            Err(Failure::usage(say(|m| m.session_cannot_continue(&agent.name)))
                .kept(say(Messages::kept_nothing_started))
                .hint(say(|m| m.session_set_resume(&agent.name))))
        }
        (Some(SessionMode::Resume), _) | (None, Some(Some(crate::config::Session::Resume))) => {
            Ok(SessionMode::Resume)
        }
        (None, Some(None)) if can => Ok(SessionMode::Resume),
        (Some(SessionMode::Fresh), _) | (None, _) => Ok(SessionMode::Fresh),
    }
}

/// What the request for a task with this policy said. A recorded value that equals its default counts as not given, so that the new
/// task computes its own default.
pub(super) fn as_recorded(policy: &LoopPolicy, given: &TaskRequest, flags: &mut TaskRequest) {
    if given.iter.is_none() && given.max_iterations.is_none() && policy.looping {
        match policy.cap {
            Some(Cap { iterations, source: CapSource::Iter }) => flags.iter = Some(iterations),
            // Where nobody set a cap, `--time` goes without (L5).
            Some(Cap { iterations: MAX_ITERATIONS, .. }) if given.time.is_some() => {}
            Some(Cap { iterations, source: CapSource::MaxIterations }) => {
                flags.max_iterations = Some(iterations.into());
            }
            None => {}
        }
    }
    flags.time = flags.time.or(policy.time.map(Timespan::from));
    flags.turn_timeout = flags.turn_timeout.or(policy.turn_timeout.map(Timespan::from));
    flags.idle_timeout = flags.idle_timeout.or(Some(policy.idle_timeout.into()));
    flags.max_wait = flags.max_wait.or(Some(policy.max_wait.into()));
    flags.check_timeout = flags.check_timeout.or(Some(policy.check_timeout.into()));
    let unless = |recorded, default| (recorded != default).then_some(recorded);
    flags.max_failures = flags.max_failures.or(unless(policy.max_failures, default_failures(policy)));
    flags.stall = flags.stall.or(unless(policy.stall, default_stall(policy.has_completion())));
    flags.max_cost = flags.max_cost.or(policy.max_cost);
    flags.max_tokens = flags.max_tokens.or(policy.max_tokens);
    flags.until = flags.until.take().or_else(|| policy.until.clone());
    if !given.project_checks && given.checks.is_empty() {
        flags.checks.clone_from(&policy.checks);
    }
    if given.hidden_checks.is_empty() && policy.has_completion() {
        flags.hidden_checks.clone_from(&policy.proof.hidden_checks);
    }
    flags.no_baseline |= !policy.baseline;
    flags.proof = flags.proof.or(Some(policy.proof.at));
    flags.tests = flags.tests.or(Some(policy.tests.mode));
    flags.session = flags.session.or(Some(policy.session));
}
