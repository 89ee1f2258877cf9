//! Whatever may come: specs, turns, commits, inputs that make no sense.

use std::time::Duration;

use jiff::SignedDuration;
use proptest::prelude::*;

use super::super::world::*;
use crate::engine::machine::Input;
use crate::event::{
    CheckPhase, CheckResult, Command, CommitPlanned, InlineChange, InlineTest, KnownLimit, NotAllowed,
    TestsChange, TurnEnd, TurnRecord, Usage, WritingEnd, WritingRecord,
};
use crate::spec::{Cap, CapSource, ProofAt, TaskSpec};
use crate::spec::{SessionMode, Writing};

/// Choices; when they are used up, everything goes well.
pub(super) struct Choices(pub(super) std::vec::IntoIter<u8>);

impl Choices {
    pub(super) fn below(&mut self, n: u8) -> u8 {
        self.0.next().map_or(0, |byte| byte % n)
    }

    pub(super) fn yes(&mut self, of: u8) -> bool {
        self.0.next().is_some_and(|byte| byte % of == 0)
    }
}

pub(in super::super) fn any_spec() -> impl Strategy<Value = TaskSpec> {
    let limits = (1_u32..6, any::<bool>(), proptest::option::of(1_u64..2000), 0_u32..4, 0_u32..4);
    let conditions = (
        proptest::option::of(prop_oneof![Just(String::new()), Just("DONE".to_owned())]),
        0_usize..3,
        any::<bool>(),
        0_u8..12,
    );
    let others = (proptest::option::of(1_u64..100), 1_usize..4, 0_u8..4, any::<bool>(), any::<bool>());
    let writers = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (limits, conditions, others, writers).prop_map(|(limits, conditions, others, writers)| {
        let (cap, by_iter, time, max_failures, stall) = limits;
        let (until, checks, baseline, proof) = conditions;
        let (max_tokens, agents, session, enabled, looping) = others;
        let mut spec = spec();
        let source = if by_iter { CapSource::Iter } else { CapSource::MaxIterations };
        spec.policy.looping = looping;
        spec.policy.cap = Some(Cap { iterations: cap, source });
        spec.policy.time = time.map(Duration::from_secs);
        spec.policy.max_failures = max_failures;
        spec.policy.stall = stall;
        spec.policy.until = until;
        spec.policy.checks = (0..checks).map(|n| format!("check {n}")).collect();
        spec.policy.baseline = baseline;
        if proof % 2 == 0 {
            spec.place = in_worktree();
        }
        if proof % 3 == 0 {
            spec.policy.proof.setup.commands = vec!["install".into()];
        }
        if proof == 11 {
            spec.policy.proof.at = ProofAt::Workspace;
        }
        spec.policy.max_tokens = max_tokens;
        spec.policy.max_wait = Duration::from_secs(7200);
        spec.policy.session = if session > 1 { SessionMode::Resume } else { SessionMode::Fresh };
        spec.context.enabled = enabled;
        let (summary, message, generate_summary, auto_commit) = writers;
        spec.context.summary_by = summary.then(|| agent("summer"));
        spec.context.message_by = message.then(|| agent("worder"));
        spec.context.generate_summary = generate_summary;
        spec.context.auto_commit = auto_commit;
        spec.agents = (0..agents)
            .map(|n| if session % 2 == 0 { agent(&format!("a{n}")) } else { resumable(&format!("a{n}")) })
            .collect();
        spec
    })
}

pub(super) fn any_turn(choices: &mut Choices, now: jiff::Timestamp) -> Turn {
    let turn = match choices.below(12) {
        8 => failed(),
        9 => limited((choices.below(2) == 0).then(|| now + SignedDuration::from_mins(20))),
        10 => ended(match choices.below(3) {
            0 => TurnEnd::Budget,
            1 => TurnEnd::Cancelled,
            _ => TurnEnd::Interrupted,
        }),
        11 if choices.yes(3) => broken(),
        _ => done(),
    };
    let not_allowed =
        choices.yes(9).then(|| NotAllowed { agent: "one".into(), tools: Vec::new(), argument: None });
    let usage = match choices.below(6) {
        3 => Usage::default(),
        4 => Usage { tokens_unknown: true, ..turn.usage },
        5 => Usage { input: 0, output: 0, cost_usd: Some(0.1), ..turn.usage },
        _ => turn.usage,
    };
    let turn = Turn { usage, ..turn };
    Turn { promise: choices.yes(4), session: choices.yes(2).then(|| "s".into()), not_allowed, ..turn }
}

pub(super) fn any_writing(choices: &mut Choices) -> WritingEnd {
    match choices.below(5) {
        3 => WritingEnd::Nothing,
        4 if choices.yes(2) => WritingEnd::Cancelled,
        4 => WritingEnd::Failed { fault: "no".into() },
        _ => WritingEnd::Done { text: "Words.".into() },
    }
}

pub(super) fn any_planned(
    choices: &mut Choices,
    iteration: u32,
    tip: Option<crate::git::Oid>,
) -> CommitPlanned {
    let changed = choices.below(3) < 2;
    CommitPlanned {
        iteration,
        commit: (changed && !choices.yes(4)).then(|| commit_of(iteration)),
        parent: if choices.yes(5) { None } else { tip },
        changed_files: if changed { vec!["a".into()] } else { vec![] },
        changed_total: u32::from(changed),
        problems: if choices.yes(6) { vec!["odd".into()] } else { vec![] },
        ..CommitPlanned::default()
    }
}

/// An input that nobody waits for, with numbers that may or may not fit.
pub(super) fn nonsense(choices: &mut Choices, world: &World) -> Input {
    let number = u32::from(choices.below(6));
    match choices.below(16) {
        12 => Input::ProofReady {
            set_up: choices.yes(2),
            cache: choices.yes(2).then(|| cache(choices.yes(2))),
            tests: changed_tests(choices),
        },
        13 => Input::ProofUnavailable { message: "no".into(), cure: None },
        14 => Input::HiddenFound { hidden: Vec::new(), total: 0 },
        11 => Input::Written(WritingRecord {
            iteration: number,
            what: if choices.yes(2) { Writing::Summary } else { Writing::CommitMessage },
            end: any_writing(choices),
            by: String::new(),
            usage: Usage { input: u64::MAX, output: 1, cached: 0, ..Usage::default() },
            duration_ms: 0,
        }),
        0 => Input::WorkspaceReady {
            path: "/x".into(),
            branch: None,
            base: None,
            kept_changes: None,
            port_base: None,
            start_sha256: None,
        },
        1 => Input::WorkspaceFailed(vec!["no".into()]),
        2 => Input::CheckDone(CheckResult {
            phase: [CheckPhase::Baseline, CheckPhase::Iteration, CheckPhase::Proof, CheckPhase::Originals]
                [choices.below(4) as usize],
            iteration: choices.yes(2).then_some(number),
            index: u32::from(choices.below(4)).wrapping_sub(1),
            command: "check".into(),
            exit_code: Some(0),
            timed_out: choices.yes(2),
            duration_ms: 1,
            commit: None,
            tail: String::new(),
            fingerprint: String::new(),
            changed_files: Vec::new(),
            tests_run: None,
            exposed: None,
        }),
        3 => Input::TurnBegins { head: Some(oid(number)), session: choices.yes(2).then(|| "n".into()) },
        4 => Input::TurnEnded(TurnRecord {
            turn: number,
            iteration: number,
            end: any_turn(choices, world.now).end,
            session: None,
            promise: choices.yes(2),
            blocked: choices.yes(4).then(|| "which?".into()),
            tests_changed: choices.yes(4).then(|| "it was wrong".into()),
            summary: String::new(),
            usage: Usage { input: u64::MAX, output: 1, cached: 0, ..Usage::default() },
            duration_ms: 0,
            output_bytes: 0,
            exit_code: None,
            not_allowed: None,
            reply: None,
            timed_out: false,
            stderr_tail: None,
        }),
        5 => Input::Prepared(any_planned(choices, number, None)),
        6 => Input::Landed,
        7 => Input::LandedElsewhere { problem: "moved".into() },
        8 => Input::WaitOver,
        9 => Input::Settle { now: world.now },
        10 => Input::LimitKnown(any_known(choices, world)),
        _ => Input::Finishing { last_commit: None, trust_files: Vec::new(), elapsed: Duration::MAX },
    }
}

/// What another task may know of the account of the agent that is next.
pub(super) fn any_known(choices: &mut Choices, world: &World) -> KnownLimit {
    let end =
        (choices.below(3) > 0).then(|| world.now + SignedDuration::from_mins(i64::from(choices.below(90))));
    KnownLimit {
        agent: world.spec.agents[choices.below(4) as usize % world.spec.agents.len()].name.clone(),
        message: "limit reached".into(),
        by: "other".into(),
        until: end,
        guesses: u32::from(choices.below(5)),
    }
}

pub(super) fn any_command(choices: &mut Choices) -> Command {
    let set = |key: &str, value: String| Command::Set { key: key.into(), value };
    match choices.below(7) {
        0 => Command::Kill,
        1 => Command::Pause { now: true },
        2 | 3 => Command::Pause { now: false },
        4 => set("iter", format!("{}{}", if choices.yes(2) { "+" } else { "" }, 1 + choices.below(6))),
        5 => set("max-tokens", (1 + u32::from(choices.below(200))).to_string()),
        _ => set("colour", "red".into()),
    }
}

/// What a commit may have changed of its tests.
pub(super) fn changed_tests(choices: &mut Choices) -> Option<TestsChange> {
    choices.yes(2).then(|| TestsChange {
        base_commit: base(),
        changed: Vec::new(),
        total: 0,
        inline: choices
            .yes(4)
            .then(|| InlineTest { path: "src/a.rs".into(), name: "adds".into(), how: InlineChange::Removed })
            .into_iter()
            .collect(),
        affects_originals: choices.yes(2),
        not_for_originals: choices.yes(3).then_some(0).into_iter().collect(),
    })
}
